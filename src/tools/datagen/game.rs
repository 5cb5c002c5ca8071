//! One game of self-play.

use std::sync::atomic::{AtomicBool, Ordering};

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::Settings;
use crate::eval::network::Network;
use crate::movegen::{legal_moves, outcome};
use crate::position::{Position, Rules};
use crate::record::diagram::Diagram;
use crate::record::packed::{GameResult, Sample};
use crate::search::{Answer, Control, Limits, SearchOptions, Searcher};
use crate::types::score::{INFINITE, is_mate};
use crate::types::{Color, Score};
use crate::variant::Variant;

/// The game is given up when every search of so many plies …
const HOPELESS_PLIES: usize = 6;
/// … sees one and the same side ahead by so many centipawns.
const HOPELESS_SCORE: Score = 2_500;

/// Plays one game after another.
pub(super) struct Player<'a, V: Variant> {
    settings: &'a Settings,
    rules: Rules,
    searcher: Searcher<V>,
    limits: Limits,
}

/// An independent seed for each game of each thread.
fn game_seed(seed: u64, thread: usize, game: u64) -> u64 {
    [seed, thread as u64, game].into_iter().fold(0, |state: u64, word| {
        let mixed = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    })
}

impl<'a, V: Variant> Player<'a, V> {
    pub(super) fn new(settings: &'a Settings, rules: Rules, network: Option<Network<V>>) -> Self {
        let mut searcher = Searcher::new();
        // A table that a game fills about once: it stays in the cache, and a new one costs next to nothing.
        let hash_mib = (settings.nodes / 1_000).clamp(1, 64) as usize;
        searcher.configure(&SearchOptions { hash_mib, ..SearchOptions::default() });
        searcher.set_network(network);
        Self { settings, rules, searcher, limits: Limits::nodes(settings.nodes) }
    }

    /// A position out of the opening; `None` if chance has ended the game there.
    fn opening(&self, rng: &mut Xoshiro256PlusPlus) -> Option<Position<V>> {
        let settings = self.settings;
        let (fewest, most) = settings.random_plies;
        let mut plies = rng.random_range(fewest..=most);
        let known = !settings.openings.is_empty() && rng.random_range(0..100) < settings.openings_share;
        let mut position = match known {
            true => {
                plies /= 2;
                let sfen = &settings.openings[rng.random_range(0..settings.openings.len())];
                Position::from_sfen(sfen, self.rules).ok()?
            }
            false => Position::new(self.rules),
        };
        for _ in 0..plies {
            let moves = legal_moves(&position);
            if moves.is_empty() {
                return None;
            }
            position.do_move(moves[rng.random_range(0..moves.len())]);
        }
        Some(position)
    }

    /// The positions of a game; none if its opening came to nothing. `None` if the game was broken off by `stop`.
    pub(super) fn play(&mut self, thread: usize, game: u64, stop: &AtomicBool) -> Option<Vec<Sample>> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(game_seed(self.settings.seed, thread, game));
        let Some(mut position) = self.opening(&mut rng) else { return Some(Vec::new()) };
        self.searcher.new_game();

        let mut samples: Vec<Sample> = Vec::new();
        // For how many plies that side has been far ahead.
        let mut ahead: (Option<Color>, usize) = (None, 0);
        let winner = loop {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(outcome) = outcome(&position) {
                break outcome.winner;
            }
            let us = position.side_to_move();
            let mut score = -INFINITE;
            let answer =
                self.searcher.search(&position, &self.limits, &Control::new(), &mut |report| score = report.score);
            let best = match answer {
                Answer::Move { best, .. } => best,
                Answer::Resign => break Some(!us),
                Answer::Win => break Some(us),
            };
            if samples.is_empty() && score.abs() > self.settings.max_opening_score {
                return Some(Vec::new());
            }
            let board = position.board();
            samples.push(Sample {
                diagram: Diagram::of(board),
                score: score as i16,
                best,
                ply: position.ply().min(u16::MAX.into()) as u16,
                // Known only at the end.
                result: GameResult::Draw,
                in_check: position.in_check(),
                tactical: Sample::captures_or_promotes(board, best),
            });

            let leader = if score > 0 { us } else { !us };
            if is_mate(score) {
                break Some(leader);
            }
            ahead = match ahead {
                _ if score.abs() < HOPELESS_SCORE => (None, 0),
                (Some(side), plies) if side == leader => (Some(side), plies + 1),
                _ => (Some(leader), 1),
            };
            if ahead.1 >= HOPELESS_PLIES {
                break Some(leader);
            }
            position.do_move(best);
        };
        for sample in &mut samples {
            sample.result = GameResult::for_side(winner, sample.diagram.side_to_move);
        }
        Some(samples)
    }
}
