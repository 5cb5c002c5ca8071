//! How long to think about a move.

use std::time::Duration;

use super::limits::{Limits, SideClock};
use crate::types::{Color, Score};

/// The least time that is planned for a move, in milliseconds: what remains when there is nothing left at all.
const MINIMUM: i64 = 1;
/// Moves that are still to come when a client names no number, as seen from any point of a game.
const MOVES_AHEAD: i64 = 24;
/// The hard limit in units of the soft one.
const HARD_FACTOR: i64 = 4;

/// The soft limit is stretched so much after a change of the best move, and less by a step for each iteration without.
const STABLE_FROM: f64 = 1.3;
const STABLE_STEP: f64 = 0.07;
const STABLE_LIMIT: u32 = 8;
/// A score that has fallen by this many centipawns doubles the soft limit, but no fall does more than [`DROP_LIMIT`].
const DROP_UNIT: f64 = 300.0;
const DROP_LIMIT: Score = 120;
/// The stretch of a move with no nodes below it, and how much less one with all of them gets.
const EFFORT_FROM: f64 = 1.6;
const EFFORT_SHARE: f64 = 1.0;

/// Two times to stop at: after `soft` no new iteration is begun, at `hard` the search is broken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// When the answer is good enough.
    pub soft: Duration,
    /// When the answer must be given.
    pub hard: Duration,
    /// It is what the client asked for, to be used up however sure the best move is.
    pub whole: bool,
}

fn milliseconds(time: i64) -> Duration {
    Duration::from_millis(time.max(MINIMUM) as u64)
}

/// How sure the best move is, from one iteration to the next.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Certainty {
    /// Iterations since the best move was another one.
    stable: u32,
    /// The score of the iteration before, if there was one.
    score: Option<Score>,
}

impl Certainty {
    /// Takes note of an iteration: whether its best move was that of the one before, its score, and which share of all
    /// nodes so far lies below that move. Returns by how much the soft limit is to be stretched, from about a third to three.
    pub(super) fn after(&mut self, same_move: bool, score: Score, node_share: f64) -> f64 {
        self.stable = if same_move { (self.stable + 1).min(STABLE_LIMIT) } else { 0 };
        let stability = STABLE_FROM - STABLE_STEP * f64::from(self.stable);
        let drop = self.score.map_or(0, |before| (before - score).clamp(-DROP_LIMIT, DROP_LIMIT));
        self.score = Some(score);
        let falling = 1.0 + f64::from(drop) / DROP_UNIT;
        // The others are refuted quickly if nearly everything was spent on the best one.
        let effort = EFFORT_FROM - node_share.clamp(0.0, 1.0) * EFFORT_SHARE;
        stability * falling * effort
    }
}

impl Budget {
    /// The time for one move under these limits, `None` if they speak of no time.
    pub fn of(limits: &Limits, color: Color, overhead: Duration) -> Option<Self> {
        let overhead = i64::try_from(overhead.as_millis()).unwrap_or(i64::MAX);
        let by_clock = limits.clock.map(|clock| Self::by_clock(clock.of(color), overhead));
        let by_movetime = limits.movetime.map(|time| {
            let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4);
            // What a client asks for exactly is given almost exactly; short times lose at most half to the overhead.
            let time = milliseconds(time - overhead.min(time / 2));
            Self { soft: time, hard: time, whole: true }
        });
        match (by_clock, by_movetime) {
            (Some(a), Some(b)) if a.soft < b.soft => Some(Self { hard: a.hard.min(b.hard), ..a }),
            (Some(_), Some(b)) => Some(b),
            (a, b) => a.or(b),
        }
    }

    /// Never plans beyond the clock plus byoyomi. Some clients send the clock without the coming increment, some with
    /// it, so the increment counts as usable now only when the clock says that nothing else is left.
    fn by_clock(clock: SideClock, overhead: i64) -> Self {
        const LONGEST: i64 = i64::MAX / 1_024;
        let SideClock { remaining, increment, byoyomi, movestogo } = clock;
        let remaining = remaining.clamp(-LONGEST, LONGEST);
        let (increment, byoyomi) = (increment.min(LONGEST), byoyomi.min(LONGEST));

        let mut usable = remaining + byoyomi;
        if remaining <= 0 {
            usable = usable.max(0) + increment;
        }
        let last = remaining <= 0 && byoyomi > 0;
        let usable = usable - overhead.min(usable / 2);
        let moves = movestogo.map_or(MOVES_AHEAD, |moves| i64::from(moves).min(MOVES_AHEAD));
        let share = remaining.max(0) / moves + increment * 3 / 4;
        // Byoyomi that is not used now is lost: with nothing else left, all of it is for this move, if the move is not sure.
        let soft = if last { usable } else { share + byoyomi * 3 / 4 };
        let hard = share.saturating_mul(HARD_FACTOR) + byoyomi;
        // On a plain clock no single move takes more than a good part of all that is left.
        let most = if byoyomi > 0 || moves == 1 {
            usable
        } else if remaining <= 0 {
            // What is left of an increment is kept for the next move, unlike byoyomi.
            usable - usable / 10
        } else {
            usable * 2 / 5
        };
        Self { soft: milliseconds(soft.min(most)), hard: milliseconds(hard.min(most)), whole: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_that_is_sure_gets_less_time() {
        let mut sure = Certainty::default();
        let sure = (0..10).map(|_| sure.after(true, 50, 0.95)).last().unwrap();
        let mut falling = Certainty::default();
        falling.after(true, 50, 0.5);
        let falling = falling.after(false, -200, 0.3);
        assert!(sure < 0.6 && falling > 2.0, "{sure} {falling}");
        assert!(sure > 0.3 && falling < 3.0, "{sure} {falling}");
    }

    use crate::search::Clock;

    fn budget(remaining: i64, increment: i64, byoyomi: i64) -> Budget {
        let clock = Clock { remaining: [Some(remaining), None], increment: [increment, 0], byoyomi, movestogo: None };
        let limits = Limits { clock: Some(clock), ..Limits::default() };
        Budget::of(&limits, Color::Black, Duration::from_millis(30)).unwrap()
    }

    #[test]
    fn never_more_than_the_clock_and_byoyomi() {
        for remaining in [-5_000, -1, 0, 1, 40, 1_000, 300_000, i64::MAX] {
            for increment in [0, 10, 5_000, i64::MAX] {
                for byoyomi in [0, 1, 1_000, i64::MAX] {
                    let Budget { soft, hard, .. } = budget(remaining, increment, byoyomi);
                    assert!(soft <= hard);
                    let mut usable = remaining.saturating_add(byoyomi).max(1);
                    if remaining <= 0 {
                        usable = usable.saturating_add(increment);
                    }
                    assert!(hard.as_millis() <= usable as u128, "{remaining} {increment} {byoyomi}: {hard:?}");
                }
            }
        }
    }

    #[test]
    fn byoyomi_is_used() {
        let Budget { soft, hard, whole } = budget(0, 0, 1_000);
        assert_eq!((soft, hard, whole), (Duration::from_millis(970), Duration::from_millis(970), false));
        assert_eq!(budget(0, 0, 100).hard, Duration::from_millis(70));
        // A clock that has run over eats into byoyomi.
        let Budget { hard, .. } = budget(-3_000, 0, 10_000);
        assert!(hard < Duration::from_millis(7_000) && hard > Duration::from_millis(5_000));
    }

    #[test]
    fn an_increment_counts_only_on_an_empty_clock() {
        assert_eq!(budget(0, 3_000, 0).hard, Duration::from_millis(2_673));
        assert!(budget(0, 3_000, 0).soft > Duration::from_millis(300));
        assert!(budget(500, 5_000, 0).hard < Duration::from_millis(500));
    }

    #[test]
    fn a_sudden_death_clock_is_shared_out() {
        let Budget { soft, hard, whole } = budget(300_000, 0, 0);
        assert!(!whole && soft > Duration::from_millis(5_000) && hard < Duration::from_millis(150_000));
    }

    #[test]
    fn movetime_is_taken_almost_whole() {
        let limits = Limits { movetime: Some(Duration::from_millis(1_000)), ..Limits::default() };
        let Budget { soft, hard, whole } = Budget::of(&limits, Color::White, Duration::from_millis(30)).unwrap();
        assert_eq!((soft, hard, whole), (Duration::from_millis(970), Duration::from_millis(970), true));
        assert_eq!(Budget::of(&Limits::default(), Color::Black, Duration::ZERO), None);

        let clock = |remaining| {
            let clock = Clock { remaining: [Some(remaining), None], increment: [0, 0], byoyomi: 0, movestogo: None };
            Budget::of(&Limits { clock: Some(clock), ..limits.clone() }, Color::Black, Duration::ZERO).unwrap()
        };
        let (long, short) = (clock(300_000), clock(2_400));
        assert!(long.whole && long.hard == Duration::from_secs(1));
        assert!(!short.whole && short.soft == Duration::from_millis(100) && short.hard < Duration::from_secs(1));
    }
}
