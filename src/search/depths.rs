//! How deep to search what is searched: reductions of late moves, extensions of moves that decide, and what a node gives up or
//! gets before its first move. Each rule is a function that decides and searches nothing.

use super::params::*;
use super::techniques as with;
use super::tt::{Bound, Entry};
use crate::movegen::legal_moves;
use crate::position::Position;
use crate::types::Score;
use crate::types::score::is_certain;
use crate::variant::Variant;

/// log2(x) * 32 for x = 0..=63, rounded down, computed in integers so that every machine searches the same tree.
const LOG2_32: [i32; 64] = {
    let mut table = [0; 64];
    let mut x = 1;
    while x < 64 {
        // x^32 as mantissa and exponent: square five times, keeping 32 bits.
        let mut mantissa = x as u64;
        let mut exponent = 0;
        let mut squarings = 0;
        while squarings < 5 {
            mantissa *= mantissa;
            exponent *= 2;
            while mantissa >= 1 << 32 {
                mantissa >>= 1;
                exponent += 1;
            }
            squarings += 1;
        }
        table[x] = exponent + mantissa.ilog2() as i32;
        x += 1;
    }
    table
};

/// By how much the `count`-th move of a node of that depth is reduced, in 1024ths of a ply, before its own merits count.
#[inline(always)]
fn base_reduction(depth: i32, count: usize) -> i32 {
    let log = |x: usize| LOG2_32[x.min(63)];
    lmr_base() + log(depth as usize) * log(count) / 32 * lmr_factor() / 32
}

/// What a late move and its node have that says how deep the move deserves to be searched.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Late {
    /// Depth of the node.
    pub depth: i32,
    /// Which of the node's moves it is, from 1.
    pub count: usize,
    /// A capture or promotion.
    pub tactical: bool,
    /// One that loses the exchange.
    pub bad_tactical: bool,
    /// What histories say of a quiet move.
    pub history: i32,
    /// The table's move is a capture or promotion.
    pub table_tactical: bool,
    /// A killer or counter move.
    pub special: bool,
    pub gives_check: bool,
    /// A drop next to the opponent's king.
    pub near_drop: bool,
    pub in_check: bool,
    /// The node is in the principal variation.
    pub pv: bool,
    /// It is, or once was.
    pub was_pv: bool,
    /// It is expected to fail high.
    pub cut: bool,
    pub improving: bool,
    /// How often its children have failed high.
    pub cutoffs: u32,
    /// To pass would mean to be mated.
    pub threat: bool,
}

impl Late {
    /// By how much to reduce the move, in 1024ths of a ply ("late move reductions"); below zero for not at all.
    #[inline(always)]
    pub(super) fn reduction(&self) -> i32 {
        let mut r = base_reduction(self.depth, self.count);
        if self.tactical {
            r = r * if self.bad_tactical { lmr_tactical() } else { lmr_good_tactical() } / 1024;
        } else {
            r -= self.history * 1024 / lmr_history();
            r += if self.table_tactical { lmr_table_tactical() } else { 0 };
            r -= if self.special { lmr_special() } else { 0 };
        }
        r += if self.cutoffs >= MANY_CUTOFFS { lmr_cutoffs() } else { 0 };
        r += if self.cut { lmr_cut() } else { 0 };
        r += if self.improving { 0 } else { lmr_not_improving() };
        r -= if self.pv { lmr_pv() } else { 0 };
        r -= if self.was_pv && !self.pv { lmr_table_pv() } else { 0 };
        r -= if self.threat { lmr_threat() } else { 0 };
        r -= if self.gives_check { lmr_check() } else { 0 };
        r -= if self.near_drop { lmr_near_drop() } else { 0 };
        r - if self.in_check { lmr_evasion() } else { 0 }
    }

    /// How deep to search it at first, where `full` is the depth of a move that is not late.
    #[inline(always)]
    pub(super) fn reduced(&self, full: i32) -> i32 {
        (full - self.reduction() / 1024).clamp(1.min(full), full)
    }
}

/// Whether the `count`-th move of a node of that depth is a late one.
#[inline(always)]
pub(super) fn is_late(depth: i32, count: usize) -> bool {
    with::late_move_reductions() && depth >= LMR_DEPTH && count > lmr_moves() as usize
}

/// How many plies a node gets, or gives up, because the reduction of the move that led to it was too much, or too little.
/// `loss` is what the evaluation of the side that made it has lost by that move (as in Stockfish, "hindsight").
#[inline(always)]
pub(super) fn hindsight(depth: i32, reduction: i32, loss: Score) -> i32 {
    if !with::hindsight() {
        0
    } else if reduction >= hindsight_deeper() && loss < 0 {
        1
    } else if reduction >= 1 && depth >= 2 && loss > hindsight_margin() {
        -1
    } else {
        0
    }
}

/// Whether a node is searched a ply less deep because the table knows no move, or, where a cutoff is expected, knows it from
/// much less depth only (internal iterative reduction).
#[inline(always)]
pub(super) fn reduces_internally(depth: i32, cut: bool, known: Option<&Entry>) -> bool {
    let shallow = cut && known.is_some_and(|entry| entry.depth + iir_gap() <= depth);
    with::internal_reduction() && depth >= iir_depth() && (known.is_none_or(|entry| entry.best.is_none()) || shallow)
}

/// What all moves but the table's must stay below for that one to be singular, if the table knows enough to ask.
#[inline(always)]
pub(super) fn singular_target(depth: i32, known: &Entry) -> Option<Score> {
    let knows = known.bound != Bound::Upper && known.depth >= depth - 3 && !is_certain(known.score);
    (with::singular_extensions() && depth >= singular_depth() && knows)
        .then(|| known.score - singular_margin() * depth / 16)
}

/// What the table's move deserves after the others have been searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// So many plies more.
    Extend(i32),
    /// The node fails high with at least this score: others are too good as well (multi-cut).
    Cut(Score),
}

/// What the table's move deserves when the others reach `score`, where they were to stay below `target`.
#[inline(always)]
pub(super) fn singular_verdict(
    (score, target): (Score, Score),
    (table_score, beta): (Score, Score),
    (pv, cut): (bool, bool),
    may_double: bool,
) -> Verdict {
    if score < target {
        let alone = !pv && score < target - singular_double();
        Verdict::Extend(if alone && may_double { 2 } else { 1 })
    } else if target >= beta && with::multi_cut() {
        Verdict::Cut(target)
    } else if table_score >= beta {
        Verdict::Extend(if pv { -1 } else { -2 })
    } else {
        Verdict::Extend(if cut { -1 } else { 0 })
    }
}

/// Whether a check that does not lose the exchange is searched a ply deeper.
#[inline(always)]
pub(super) fn extends_checks(depth: i32) -> bool {
    with::check_extensions() && depth >= check_extension_depth()
}

/// Whether the `count`-th move is the only one in check. It is searched a ply deeper: nothing was there to choose.
#[inline(always)]
pub(super) fn is_only_reply<V: Variant>(position: &Position<V>, count: usize) -> bool {
    with::one_reply_extensions() && count == 1 && position.in_check() && legal_moves(position).len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Rules;
    use crate::types::score::mate_in;
    use crate::types::{Move, PieceType, Square};
    use crate::variant::Minishogi;

    fn entry(score: Score, bound: Bound, depth: i32) -> Entry {
        Entry { best: Some(Move::drop(PieceType::Pawn, Square::new(0))), score, bound, eval: None, depth, pv: false }
    }

    #[test]
    fn only_replies_are_those_in_check() {
        let only = |sfen: &str, count| {
            let position = Position::<Minishogi>::from_sfen(sfen, Rules::default()).unwrap();
            (is_only_reply(&position, count), legal_moves(&position).len())
        };
        // The king must take what gives check, has two squares to go to, or has one but is in no check.
        assert_eq!(only("4k/4G/5/5/K4 w - 1", 1), (true, 1));
        assert_eq!(only("4k/4G/5/5/K4 w - 1", 2), (false, 1));
        assert_eq!(only("4k/3+P1/5/5/K4 w - 1", 1), (true, 1));
        assert_eq!(only("4k/5/4R/5/K4 w - 1", 1), (false, 2));
        assert_eq!(only("4k/5/2G2/3R1/K4 w - 1", 1), (false, 1));
    }

    #[test]
    fn reductions_grow_with_depth_and_number() {
        for depth in 1..80 {
            for count in 1..300 {
                let here = base_reduction(depth, count);
                assert!(here <= base_reduction(depth + 1, count) && here <= base_reduction(depth, count + 1));
            }
        }
        assert_eq!(base_reduction(1, 200), lmr_base());
    }

    #[test]
    fn each_merit_moves_a_reduction_its_own_way() {
        let plain = Late { depth: 10, count: 12, improving: true, ..Late::default() };
        let here = plain.reduction();
        assert!(here > 1024);
        for less in [
            Late { history: 5_000, ..plain },
            Late { special: true, ..plain },
            Late { gives_check: true, ..plain },
            Late { near_drop: true, ..plain },
            Late { in_check: true, ..plain },
            Late { pv: true, was_pv: true, ..plain },
            Late { was_pv: true, ..plain },
            Late { threat: true, ..plain },
            Late { tactical: true, bad_tactical: true, ..plain },
        ] {
            assert!(less.reduction() < here, "{less:?}");
        }
        for more in [
            Late { history: -5_000, ..plain },
            Late { table_tactical: true, ..plain },
            Late { cut: true, ..plain },
            Late { improving: false, ..plain },
            Late { cutoffs: MANY_CUTOFFS, ..plain },
        ] {
            assert!(more.reduction() > here, "{more:?}");
        }
        let bad = Late { tactical: true, bad_tactical: true, ..plain };
        assert!(Late { tactical: true, ..plain }.reduction() < bad.reduction());
        // What histories say of quiet moves is no matter of captures.
        assert_eq!(Late { history: 9_000, ..bad }.reduction(), bad.reduction());
    }

    #[test]
    fn a_reduced_move_keeps_a_ply_and_gains_none() {
        for full in 0..40 {
            for history in [-60_000, 0, 60_000] {
                let late = Late { depth: 40, count: 200, history, cut: true, ..Late::default() };
                let reduced = late.reduced(full);
                assert!((1.min(full)..=full).contains(&reduced));
            }
        }
    }

    #[test]
    fn late_moves_come_after_the_first_and_not_at_the_leaves() {
        assert!(!is_late(LMR_DEPTH, lmr_moves() as usize) && is_late(LMR_DEPTH, lmr_moves() as usize + 1));
        assert!(!is_late(LMR_DEPTH - 1, 100));
    }

    #[test]
    fn hindsight_corrects_only_what_was_reduced() {
        assert_eq!(hindsight(8, 0, -500), 0);
        assert_eq!(hindsight(8, 0, 5_000), 0);
        assert_eq!(hindsight(8, hindsight_deeper(), -1), 1);
        assert_eq!(hindsight(8, hindsight_deeper(), 0), 0);
        assert_eq!(hindsight(8, 1, hindsight_margin() + 1), -1);
        assert_eq!(hindsight(1, 1, hindsight_margin() + 1), 0, "nothing is left to give up");
    }

    #[test]
    fn nodes_are_reduced_where_the_table_knows_too_little() {
        let depth = iir_depth();
        assert!(reduces_internally(depth, false, None));
        assert!(!reduces_internally(depth - 1, false, None));
        let known = entry(0, Bound::Exact, depth);
        assert!(!reduces_internally(depth, true, Some(&known)));
        assert!(reduces_internally(depth, false, Some(&Entry { best: None, ..known })));
        let shallow = Entry { depth: depth - iir_gap(), ..known };
        assert!(reduces_internally(depth, true, Some(&shallow)));
        assert!(!reduces_internally(depth, false, Some(&shallow)), "where no cutoff is expected, a move will do");
    }

    #[test]
    fn singularity_is_asked_of_what_the_table_knows_well() {
        let depth = singular_depth();
        let known = entry(100, Bound::Lower, depth - 3);
        assert!(singular_target(depth, &known).is_some_and(|target| target < 100));
        assert_eq!(singular_target(depth - 1, &known), None);
        assert_eq!(singular_target(depth, &Entry { bound: Bound::Upper, ..known }), None);
        assert_eq!(singular_target(depth, &Entry { depth: depth - 4, ..known }), None);
        assert_eq!(singular_target(depth, &Entry { score: mate_in(7), ..known }), None);
        assert!(singular_target(depth + 9, &Entry { depth: 30, ..known }) < singular_target(depth, &known));
    }

    #[test]
    fn singular_moves_are_extended_and_others_pay_for_it() {
        let others =
            |score, table_score, beta, pv, cut| singular_verdict((score, 50), (table_score, beta), (pv, cut), true);
        assert_eq!(others(49, 80, 1_000, false, false), Verdict::Extend(1));
        assert_eq!(others(49 - singular_double(), 80, 1_000, false, false), Verdict::Extend(2));
        assert_eq!(others(49 - singular_double(), 80, 1_000, true, false), Verdict::Extend(1));
        let tired = singular_verdict((-5_000, 50), (80, 1_000), (false, false), false);
        assert_eq!(tired, Verdict::Extend(1), "a line is not doubled for ever");
        assert_eq!(others(50, 80, 50, false, false), Verdict::Cut(50));
        assert_eq!(others(50, 80, 70, false, true), Verdict::Extend(-2));
        assert_eq!(others(50, 80, 70, true, false), Verdict::Extend(-1));
        assert_eq!(others(50, 80, 90, false, true), Verdict::Extend(-1));
        assert_eq!(others(50, 80, 90, false, false), Verdict::Extend(0));
    }

    #[test]
    fn checks_are_extended_from_some_depth_on() {
        assert!(extends_checks(check_extension_depth()) && !extends_checks(check_extension_depth() - 1));
    }
}
