//! What the games of a match add up to.

use std::collections::BTreeMap;
use std::time::Duration;

use super::record::{GameRecord, GameResult, Reason};
use super::stats::Pentanomial;
use crate::types::Color;

/// The sums of one engine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
    /// Half points as Black, and games as Black; the same as White.
    pub by_color: [(u32, u32); 2],
    /// Its complete pairs of games, against whomever.
    pub pairs: Pentanomial,
    /// Games it lost by an illegal move.
    pub illegal_moves: u32,
    /// Games it lost since its process died or its output was closed.
    pub crashes: u32,
    /// Games it lost on time.
    pub time_forfeits: u32,
    /// Games it lost without an answer.
    pub no_answer: u32,
    depth: (u64, u64),
    nodes: (u64, f64),
    time: (u64, f64),
}

impl Line {
    /// Games it played.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Points, a win counting 1 and a draw one half.
    pub fn points(&self) -> f64 {
        f64::from(self.wins) + f64::from(self.draws) / 2.0
    }

    /// Mean depth of the moves for which it told one.
    pub fn mean_depth(&self) -> Option<f64> {
        (self.depth.1 > 0).then(|| self.depth.0 as f64 / self.depth.1 as f64)
    }

    /// Nodes per second over the moves for which it told the nodes.
    pub fn nodes_per_second(&self) -> Option<f64> {
        (self.nodes.1 > 0.0).then(|| self.nodes.0 as f64 / self.nodes.1 * 1e3)
    }

    /// Mean time of a move.
    pub fn mean_time(&self) -> Option<Duration> {
        (self.time.0 > 0).then(|| Duration::from_secs_f64((self.time.1 / self.time.0 as f64 / 1e3).max(0.0)))
    }

    fn add(&mut self, game: &GameRecord, side: Color) {
        let half_points = game.result.half_points(side);
        *[&mut self.losses, &mut self.draws, &mut self.wins][half_points] += 1;
        let (points, games) = &mut self.by_color[side.index()];
        *points += half_points as u32;
        *games += 1;
        if half_points == 0 {
            match game.reason {
                Reason::IllegalMove => self.illegal_moves += 1,
                Reason::Crash | Reason::Disconnect => self.crashes += 1,
                Reason::TimeForfeit => self.time_forfeits += 1,
                Reason::NoAnswer => self.no_answer += 1,
                _ => {}
            }
        }
        // Who moves first behind the opening stands in the position from which the moves count.
        let white_first = game.sfen.split(' ').nth(1) == Some("w");
        let first = if (game.book_plies % 2 == 1) != white_first { Color::White } else { Color::Black };
        for at in (usize::from(first != side)..game.times_ms.len()).step_by(2) {
            let time = game.times_ms[at];
            self.time = (self.time.0 + 1, self.time.1 + time);
            if let Some(depth) = game.depths.get(at).copied().flatten() {
                self.depth = (self.depth.0 + u64::from(depth), self.depth.1 + 1);
            }
            if let Some(nodes) = game.nodes.get(at).copied().flatten() {
                self.nodes = (self.nodes.0.saturating_add(nodes), self.nodes.1 + time);
            }
        }
    }
}

/// All sums of a match.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Standings {
    /// The engines in the order in which they were given.
    pub engines: Vec<Line>,
    /// Games counted.
    pub games: u32,
    /// Games that Black won.
    pub sente_wins: u32,
    /// Games that White won.
    pub gote_wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// How often games ended for which reason.
    pub reasons: BTreeMap<Reason, u32>,
    half_pairs: BTreeMap<u32, GameRecordHalf>,
}

/// What is kept of the first game of a pair until the second one comes.
#[derive(Clone, PartialEq, Debug)]
struct GameRecordHalf {
    sente: String,
    gote: String,
    result: GameResult,
}

impl Standings {
    /// For engines of these names, which must differ.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let engines = names.into_iter().map(|name| Line { name: name.to_owned(), ..Line::default() }).collect();
        Self { engines, ..Self::default() }
    }

    /// The line of that engine.
    pub fn line(&self, name: &str) -> Option<&Line> {
        self.engines.iter().find(|line| line.name == name)
    }

    /// Counts a game, and its pair once both games are there. Games may come in any order.
    pub fn add(&mut self, game: &GameRecord) {
        self.games += 1;
        match game.result {
            GameResult::SenteWins => self.sente_wins += 1,
            GameResult::GoteWins => self.gote_wins += 1,
            GameResult::Draw => self.draws += 1,
        }
        *self.reasons.entry(game.reason).or_default() += 1;
        for side in Color::ALL {
            if let Some(line) = self.engines.iter_mut().find(|line| line.name == game.player(side)) {
                line.add(game, side);
            }
        }
        match self.half_pairs.remove(&game.pair) {
            Some(other) => {
                let of = |name: &str, sente: &str, result: GameResult| {
                    result.half_points(if name == sente { Color::Black } else { Color::White })
                };
                for name in [&other.sente, &other.gote] {
                    let half_points = of(name, &other.sente, other.result) + of(name, &game.sente, game.result);
                    if let Some(line) = self.engines.iter_mut().find(|line| line.name == *name) {
                        line.pairs.add(half_points);
                    }
                }
            }
            None => {
                let half = GameRecordHalf { sente: game.sente.clone(), gote: game.gote.clone(), result: game.result };
                self.half_pairs.insert(game.pair, half);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::game;
    use super::*;

    fn standings(games: &[GameRecord]) -> Standings {
        let mut standings = Standings::new(["A", "B"]);
        games.iter().for_each(|game| standings.add(game));
        standings
    }

    #[test]
    fn pairs_count_when_both_games_are_there() {
        // A wins as Black, then B does: a split pair.
        let games = [
            game(1, GameResult::SenteWins, Reason::Checkmate),
            game(2, GameResult::SenteWins, Reason::Checkmate),
            game(3, GameResult::SenteWins, Reason::TimeForfeit),
            game(4, GameResult::GoteWins, Reason::IllegalMove),
            game(5, GameResult::Draw, Reason::Repetition),
        ];
        let sums = standings(&games);
        let [a, b] = &sums.engines[..] else { panic!("two engines") };
        assert_eq!((a.wins, a.draws, a.losses, a.points()), (3, 1, 1, 3.5));
        assert_eq!(a.pairs, Pentanomial([0, 0, 1, 0, 1]));
        assert_eq!(b.pairs, Pentanomial([1, 0, 1, 0, 0]));
        assert_eq!((b.time_forfeits, b.illegal_moves, a.illegal_moves), (1, 1, 0));
        assert_eq!((sums.sente_wins, sums.gote_wins, sums.draws), (3, 1, 1));
        assert_eq!(a.by_color, [(5, 3), (2, 2)]);
        assert_eq!(sums.reasons[&Reason::Checkmate], 2);
    }

    #[test]
    fn the_order_of_games_does_not_matter() {
        let mut games = [
            game(1, GameResult::SenteWins, Reason::Checkmate),
            game(2, GameResult::Draw, Reason::Checkmate),
            game(3, GameResult::GoteWins, Reason::Checkmate),
            game(4, GameResult::GoteWins, Reason::Checkmate),
        ];
        let sums = standings(&games);
        games.reverse();
        assert_eq!(standings(&games), sums);
    }

    #[test]
    fn moves_are_counted_for_their_mover() {
        let mut one = game(1, GameResult::SenteWins, Reason::Checkmate);
        one.times_ms = vec![10.0, 20.0, 30.0];
        one.depths = vec![Some(4), Some(8), Some(6)];
        one.nodes = vec![Some(100), None, Some(300)];
        let sums = standings(&[one.clone()]);
        assert_eq!(sums.engines[0].mean_depth(), Some(5.0));
        assert_eq!(sums.engines[0].nodes_per_second(), Some(10_000.0));
        assert_eq!(sums.engines[1].mean_time(), Some(Duration::from_millis(20)));
        assert_eq!(sums.engines[1].nodes_per_second(), None);
        // One ply of opening: White has the first entry.
        one.book_plies = 1;
        assert_eq!(standings(&[one]).engines[1].mean_depth(), Some(5.0));
    }
}
