//! Play below full strength: how far each level looks, and which of the moves it has looked at it plays.
//!
//! A weak player does not think longer or shorter than a strong one. He looks less far, finds several moves equally
//! good, and overlooks mates. So a level limits the depth, searches several lines, and draws one of them by lot: the
//! better a move scored, the more often it is played. Whoever is far ahead or behind sees smaller differences, so scores
//! are squeezed before they are compared. Nothing here waits.

use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use thiserror::Error;

use super::SearchOptions;
use crate::types::Score;
use crate::types::score::{MATE, MATE_BOUND, RULE_WIN, is_certain};

/// A level of play, from 0, a beginner's, to 20, which knows no limit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Level(u8);

/// A word that names no level.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("'{0}' is no level; levels are 0 to 20, easy, medium and hard")]
pub struct UnknownLevel(pub String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some((_, level)) = Self::NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
            return Ok(*level);
        }
        let number = text.parse().ok().filter(|&number| number <= Self::FULL.number());
        number.map(Self::new).ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

/// Scores beyond this many centipawns are squeezed to half their differences, beyond three times as many to a quarter.
const SQUEEZE: f64 = 400.0;

impl Level {
    /// The weakest.
    pub const MIN: Self = Self(0);
    /// Full strength.
    pub const FULL: Self = Self(20);
    /// The levels of a site for casual players.
    pub const NAMED: [(&'static str, Self); 3] = [("easy", Self(2)), ("medium", Self(7)), ("hard", Self(12))];
    /// The number of [`Level::MIN`] on the scale of [`Level::elo`].
    pub const MIN_ELO: u32 = 800;
    /// The number of [`Level::FULL`] on the scale of [`Level::elo`].
    pub const MAX_ELO: u32 = 3_000;
    /// The scale of [`Level::elo`]: levels 0, 5, 10, 15 and 20. The distances of the first four are those of matches of
    /// 200 games at 20,000 nodes a move, rounded. The last one depends on the time that full strength has, and is set.
    const SCALE: [u32; 5] = [Self::MIN_ELO, 1_210, 1_940, 2_310, Self::MAX_ELO];

    /// The level of that number; what is beyond full strength is full strength.
    pub fn new(number: u32) -> Self {
        Self(u8::try_from(number).unwrap_or(u8::MAX).min(Self::FULL.0))
    }

    /// Its number, 0 to 20.
    pub fn number(self) -> u32 {
        self.0.into()
    }

    /// The level that is next to that strength on the scale of [`Level::elo`].
    pub fn of_elo(elo: u32) -> Self {
        (0..=Self::FULL.0).map(Self).min_by_key(|level| level.elo().abs_diff(elo)).unwrap_or(Self::FULL)
    }

    /// Its strength relative to the other levels, on a scale that no human player is rated on.
    pub fn elo(self) -> u32 {
        let (mark, beyond) = (usize::from(self.0 / 5), u32::from(self.0 % 5));
        match Self::SCALE[mark..] {
            [from, to, ..] => from + (to - from) * beyond / 5,
            _ => Self::MAX_ELO,
        }
    }

    fn share(self) -> f64 {
        f64::from(self.0) / f64::from(Self::FULL.0)
    }

    /// Plies it looks ahead; the fraction is the chance of one ply more.
    fn depth(self) -> f64 {
        1.0 + 9.0 * self.share() + 4.0 * self.share().powi(2)
    }

    /// How many moves it takes into account.
    fn lines(self) -> usize {
        2 + usize::from(Self::FULL.0 - self.0) * 7 / 10
    }

    /// Of two moves that score so many centipawns apart, in a level position, the better one is played `e` times as
    /// often.
    fn temperature(self) -> f64 {
        300.0 * (1.0 - self.share()).powi(2)
    }

    /// The chance that it sees an end of the game so many plies ahead that the search has found. From the middle level
    /// on nothing is overlooked.
    fn sight(self, plies: Score) -> f64 {
        (0.5 + self.share()).min(1.0).powi(plies)
    }

    /// Chooses one of the moves that score so many centipawns, and returns its index. At full strength, and of moves
    /// that score equally, it is the first of the best. 0 if there are none.
    pub fn choose(self, scores: &[Score], rng: &mut impl RngExt) -> usize {
        let best = (0..scores.len()).rev().max_by_key(|&index| scores[index]).unwrap_or(0);
        if self == Self::FULL {
            return best;
        }
        let seen = self.perceive(scores, rng);
        let top = seen.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = seen.iter().map(|score| ((score - top) / self.temperature()).exp()).collect();
        let mut lot = rng.random::<f64>() * weights.iter().sum::<f64>();
        for (index, weight) in weights.iter().enumerate() {
            lot -= weight;
            if lot < 0.0 {
                return index;
            }
        }
        best
    }

    /// The scores as the level sees them, squeezed. Ends of the game that it overlooks look like any other move. What
    /// is won and what is lost is looked for once each, so that whoever overlooks a threat does so in all lines.
    fn perceive(self, scores: &[Score], rng: &mut impl RngExt) -> Vec<f64> {
        let [wins, losses] = [rng.random::<f64>(), rng.random::<f64>()];
        let mut ordinary: Vec<Score> = scores.iter().copied().filter(|&score| !is_certain(score)).collect();
        ordinary.sort_unstable();
        let usual = ordinary.get(ordinary.len() / 2).copied().unwrap_or(0);
        let perceive = |&score: &Score| match plies_to_end(score) {
            Some(plies) if (if score > 0 { wins } else { losses }) >= self.sight(plies) => squeeze(usual),
            _ => squeeze(score),
        };
        scores.iter().map(perceive).collect()
    }
}

/// Plies to the mate or the win by rule that the score speaks of.
fn plies_to_end(score: Score) -> Option<Score> {
    let far = score.abs();
    match far {
        _ if !is_certain(score) => None,
        MATE_BOUND.. => Some(MATE - far),
        _ => Some((RULE_WIN - far).max(0)),
    }
}

fn squeeze(score: Score) -> f64 {
    let score = f64::from(score);
    score.signum() * SQUEEZE * (score.abs() / SQUEEZE).ln_1p()
}

/// What keeps one search below full strength.
#[derive(Debug)]
pub(super) struct Handicap {
    level: Level,
    rng: Xoshiro256PlusPlus,
}

impl Handicap {
    /// The handicap that the options ask for in the position with that key; `None` for full strength.
    pub(super) fn of(options: &SearchOptions, key: u64) -> Option<Self> {
        let level = options.playing_level();
        if level == Level::FULL {
            return None;
        }
        let seed = match options.level_seed {
            Some(seed) => seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key,
            // The standard library takes the keys of its hash tables from the system's source of chance.
            None => RandomState::new().hash_one(key),
        };
        Some(Self { level, rng: Xoshiro256PlusPlus::seed_from_u64(seed) })
    }

    /// Plies of iterative deepening, this time.
    pub(super) fn depth(&mut self) -> u32 {
        (self.level.depth() + self.rng.random::<f64>()) as u32
    }

    /// Best lines to find.
    pub(super) fn lines(&self) -> usize {
        self.level.lines()
    }

    /// See [`Level::choose`].
    pub(super) fn choose(&mut self, scores: &[Score]) -> usize {
        self.level.choose(scores, &mut self.rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::score::{mate_in, mated_in};

    fn rng() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(1)
    }

    fn levels() -> impl Iterator<Item = Level> {
        (0..=20).map(Level::new)
    }

    /// How often each of the moves is played in so many tries.
    fn counts(level: Level, scores: &[Score], tries: usize) -> Vec<usize> {
        let (mut rng, mut counts) = (rng(), vec![0; scores.len()]);
        (0..tries).for_each(|_| counts[level.choose(scores, &mut rng)] += 1);
        counts
    }

    #[test]
    fn numbers_and_elo_name_the_same_levels() {
        for level in levels() {
            assert_eq!(Level::of_elo(level.elo()), level);
            assert_eq!(Level::new(level.number()), level);
        }
        assert_eq!((Level::MIN.elo(), Level::FULL.elo()), (Level::MIN_ELO, Level::MAX_ELO));
        assert_eq!(
            (Level::of_elo(0), Level::of_elo(u32::MAX), Level::new(u32::MAX)),
            (Level::MIN, Level::FULL, Level::FULL)
        );
    }

    #[test]
    fn levels_are_read_from_words() {
        assert_eq!(("0".parse(), "20".parse(), "Easy".parse()), (Ok(Level::MIN), Ok(Level::FULL), Ok(Level::new(2))));
        for word in ["21", "-1", "", "expert", "3.5"] {
            assert_eq!(word.parse::<Level>(), Err(UnknownLevel(word.to_owned())));
        }
    }

    #[test]
    fn a_higher_level_is_limited_less_in_everything() {
        for (lower, higher) in levels().zip(levels().skip(1)) {
            assert!(lower.depth() < higher.depth() && lower.lines() >= higher.lines());
            assert!(lower.temperature() > higher.temperature());
            assert!((1..10).all(|plies| lower.sight(plies) <= higher.sight(plies)));
        }
    }

    #[test]
    fn a_higher_level_loses_less_by_its_choice() {
        let scores = [120, 90, 60, 20, -50, -150, -300, -900, mated_in(2)];
        let loss = |level: Level| -> i64 {
            let value = |score: Score| i64::from(score.max(-3_000));
            counts(level, &scores, 20_000).iter().zip(scores).map(|(&n, s)| n as i64 * (120 - value(s))).sum()
        };
        let losses: Vec<i64> = levels().map(loss).collect();
        assert!(losses.is_sorted_by(|lower, higher| lower > higher || *higher == 0), "{losses:?}");
        assert_eq!(losses[20], 0);
    }

    #[test]
    fn better_moves_are_played_more_often() {
        for level in levels().take(20) {
            let counts = counts(level, &[300, 250, 200, 150, 0], 20_000);
            assert!(counts.is_sorted_by(|better, worse| better >= worse), "{level:?}: {counts:?}");
        }
    }

    #[test]
    fn whoever_is_far_ahead_sees_smaller_differences() {
        let level = Level::new(8);
        assert!(counts(level, &[2_100, 2_000], 10_000)[1] > counts(level, &[100, 0], 10_000)[1]);
        assert!(counts(level, &[-2_000, -2_100], 10_000)[1] > counts(level, &[100, 0], 10_000)[1]);
    }

    #[test]
    fn mates_are_overlooked_by_low_levels_only() {
        let mating = [mate_in(1), 50, 40, 30];
        let mated = [50, 40, mated_in(2), mated_in(2)];
        let blunders = |level| counts(level, &mated, 10_000)[2..].iter().sum::<usize>();
        let found = |level| counts(level, &mating, 10_000)[0];
        assert!((5_000..8_000).contains(&found(Level::MIN)), "{}", found(Level::MIN));
        assert!((2_000..5_000).contains(&blunders(Level::MIN)), "{}", blunders(Level::MIN));
        let levels: Vec<Level> = levels().step_by(2).collect();
        for pair in levels.windows(2) {
            assert!(found(pair[0]) < found(pair[1]) || found(pair[1]) == 10_000, "{pair:?}");
            assert!(blunders(pair[0]) > blunders(pair[1]) || blunders(pair[1]) == 0, "{pair:?}");
        }
        assert_eq!((found(Level::new(10)), blunders(Level::new(10))), (10_000, 0));
    }

    #[test]
    fn odd_lists_of_moves_are_no_problem() {
        for level in levels() {
            assert_eq!(level.choose(&[], &mut rng()), 0);
            assert_eq!(level.choose(&[-40], &mut rng()), 0);
            let lost = [mated_in(6), mated_in(4), -RULE_WIN, RULE_WIN, mate_in(1)];
            assert!((0..100).all(|_| level.choose(&lost, &mut rng()) < lost.len()));
        }
        assert_eq!(Level::FULL.choose(&[3, 7, 7, 5], &mut rng()), 1);
    }

    #[test]
    fn a_seed_makes_choices_repeatable() {
        let options = SearchOptions { level: Level::new(3), level_seed: Some(7), ..SearchOptions::default() };
        let draw = |options: &SearchOptions, key| {
            let mut handicap = Handicap::of(options, key).expect("not full strength");
            (0..50).map(|_| handicap.choose(&[100, 90, 80, 70])).collect::<Vec<_>>()
        };
        assert_eq!(draw(&options, 1), draw(&options, 1));
        assert_ne!(draw(&options, 1), draw(&options, 2));
        assert_ne!(draw(&options, 1), draw(&SearchOptions { level_seed: Some(8), ..options }, 1));
        let chance = SearchOptions { level_seed: None, ..options };
        assert_ne!(draw(&chance, 1), draw(&chance, 1));
        assert!(Handicap::of(&SearchOptions { analyse: true, ..options }, 1).is_none());
        assert!(Handicap::of(&SearchOptions::default(), 1).is_none());
    }
}
