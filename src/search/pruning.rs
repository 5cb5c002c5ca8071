//! What is not worth a search: the rules by which nodes are settled before any move is made, and moves are left out. Each is
//! a function that decides and searches nothing. All are described in the wiki chessprogramming.org under their names; their
//! numbers are of this game.

use super::params::*;
use super::techniques as with;
use super::tt::Entry;
use crate::types::Score;
use crate::types::score::is_certain;

/// Whether a node stands so far below alpha that quiescence may judge it (razoring).
#[inline(always)]
pub(super) fn razors(depth: i32, eval: Score, alpha: Score) -> bool {
    with::razoring() && depth <= razor_depth() && eval + razor_base() + razor_margin() * depth * depth <= alpha
}

/// Whether a node stands so far above beta that it is left alone (reverse futility).
#[inline(always)]
pub(super) fn stands_above(depth: i32, improving: bool, eval: Score, beta: Score) -> bool {
    let margin = reverse_futility_margin() * depth - if improving { reverse_futility_improving() } else { 0 };
    with::reverse_futility() && depth <= reverse_futility_depth() && eval - margin >= beta && !is_certain(beta)
}

/// How deep to search after passing, if passing may prove that the node fails high (null move).
#[inline(always)]
pub(super) fn null_move_depth(depth: i32, eval: Score, beta: Score) -> Option<i32> {
    let tried = with::null_move() && depth >= null_depth() && eval >= beta && !is_certain(beta);
    let surplus = ((eval - beta) / null_eval_share()).min(3);
    tried.then(|| depth - null_reduction() - depth / null_depth_share() - surplus)
}

/// Whether a cutoff by passing is not believed before some move has held as well: passing may be best where every move harms.
#[inline(always)]
pub(super) fn verifies_null_move(depth: i32) -> bool {
    with::null_verification() && depth >= null_verify_depth()
}

/// What a good capture must reach in a shallow search to settle the node (ProbCut), unless the table speaks against it.
#[inline(always)]
pub(super) fn probcut_bound(depth: i32, beta: Score, known: Option<&Entry>) -> Option<Score> {
    let raised = beta + probcut_margin();
    let hopeful = known.is_none_or(|entry| entry.score >= raised || entry.depth < depth - 3);
    (with::probcut() && depth >= probcut_depth() && !is_certain(beta) && hopeful).then_some(raised)
}

/// Whether a quiet move comes after so many others that it is left out (late move pruning).
#[inline(always)]
pub(super) fn is_late(depth: i32, improving: bool, quiets: usize) -> bool {
    let most = late_move_base() + depth * depth / if improving { 1 } else { 2 };
    with::late_moves() && depth <= late_move_depth() && quiets >= most as usize
}

/// Whether the evaluation is so far below alpha that quiet moves are left out (futility).
#[inline(always)]
pub(super) fn is_futile(depth: i32, eval: Option<Score>, alpha: Score) -> bool {
    with::futility()
        && depth <= futility_depth()
        && eval.is_some_and(|eval| eval + futility_base() + futility_margin() * depth <= alpha)
}

/// Whether a quiet move has done so badly elsewhere that it is left out (history pruning).
#[inline(always)]
pub(super) fn has_bad_history(depth: i32, history: i32) -> bool {
    with::history_pruning() && depth <= history_pruning_depth() && history < -history_pruning_margin() * depth
}

/// Whether a quiet evasion comes after so many others that it is left out.
#[inline(always)]
pub(super) fn is_late_evasion(depth: i32, quiets: usize) -> bool {
    with::late_evasions() && depth <= evasion_depth() && quiets >= (evasion_base() + depth) as usize
}

/// What a move must not lose less than in exchanges on its square, or it is left out (SEE pruning).
#[inline(always)]
pub(super) fn exchange_limit(depth: i32, tactical: bool) -> Option<Score> {
    let margin = if tactical { see_tactical_margin() } else { see_quiet_margin() };
    (with::exchange_pruning() && depth <= see_depth()).then_some(-margin * depth)
}

#[cfg(test)]
mod tests {
    use super::super::tt::Bound;
    use super::*;
    use crate::types::score::mate_in;

    /// Depths of which every rule is asked.
    const DEPTHS: std::ops::RangeInclusive<i32> = 1..=24;

    #[test]
    fn razoring_wants_more_with_each_ply() {
        assert!(razors(1, -1_000, 0) && !razors(1, -500, 0));
        assert!(razors(2, -2_000, 0) && !razors(2, -1_000, 0));
        assert!(!razors(razor_depth() + 1, -20_000, 0));
    }

    #[test]
    fn reverse_futility_wants_more_with_each_ply_and_less_while_improving() {
        let least = |depth, improving| (0..5_000).find(|&eval| stands_above(depth, improving, eval, 0));
        for depth in 1..reverse_futility_depth() {
            assert!(least(depth, false) < least(depth + 1, false));
            assert!(least(depth, true) < least(depth, false));
        }
        assert_eq!(least(reverse_futility_depth() + 1, true), None);
    }

    #[test]
    fn nothing_below_certainty_is_cut_off_by_guesses() {
        // An evaluation proves no mate, however high it is.
        for depth in DEPTHS {
            let beta = mate_in(9);
            assert!(!stands_above(depth, true, beta, beta));
            assert_eq!(null_move_depth(depth, beta, beta), None);
            assert_eq!(probcut_bound(depth, beta, None), None);
        }
    }

    #[test]
    fn passing_is_tried_from_above_beta_only_and_reduces_by_depth_and_surplus() {
        for depth in DEPTHS {
            assert_eq!(null_move_depth(depth, -1, 0), None);
            let reduced = null_move_depth(depth, 0, 0);
            assert_eq!(reduced.is_some(), depth >= null_depth());
            if let Some(reduced) = reduced {
                assert!(reduced < depth - 1);
                assert!(null_move_depth(depth, 5_000, 0) == Some(reduced - 3), "not without bounds");
                assert!(null_move_depth(depth + 1, 0, 0) >= Some(reduced));
            }
        }
    }

    #[test]
    fn passing_is_verified_at_high_depths() {
        assert!(!verifies_null_move(null_depth()));
        assert!(verifies_null_move(24));
    }

    #[test]
    fn probcut_needs_depth_and_no_word_of_the_table_against_it() {
        let entry = |score, depth| Entry { best: None, score, bound: Bound::Upper, eval: None, depth, pv: false };
        let depth = probcut_depth();
        let raised = 100 + probcut_margin();
        assert_eq!(probcut_bound(depth - 1, 100, None), None);
        assert_eq!(probcut_bound(depth, 100, None), Some(raised));
        assert_eq!(probcut_bound(depth, 100, Some(&entry(raised - 1, depth - 3))), None);
        assert_eq!(probcut_bound(depth, 100, Some(&entry(raised - 1, depth - 4))), Some(raised));
        assert_eq!(probcut_bound(depth, 100, Some(&entry(raised, depth))), Some(raised));
    }

    #[test]
    fn more_late_moves_are_searched_at_more_depth_and_while_improving() {
        let searched = |depth, improving| (0..200).find(|&quiets| is_late(depth, improving, quiets));
        for depth in 1..late_move_depth() {
            assert!(searched(depth, false) <= searched(depth + 1, false));
            assert!(searched(depth, false) <= searched(depth, true));
            assert!(searched(depth, false) >= Some(1), "one quiet move is searched");
        }
        assert_eq!(searched(late_move_depth() + 1, false), None);
    }

    #[test]
    fn futility_wants_an_evaluation_and_more_with_each_ply() {
        assert!(!is_futile(1, None, 20_000), "there is none in check");
        let most = |depth| (-5_000..5_000).rfind(|&eval| is_futile(depth, Some(eval), 0));
        for depth in 1..futility_depth() {
            assert!(most(depth) > most(depth + 1));
        }
        assert!(most(1) < Some(0));
        assert_eq!(most(futility_depth() + 1), None);
    }

    #[test]
    fn a_bad_history_must_be_worse_with_each_ply() {
        assert!(!has_bad_history(1, 0));
        assert!(
            has_bad_history(1, -history_pruning_margin() - 1) && !has_bad_history(2, -history_pruning_margin() - 1)
        );
        assert!(!has_bad_history(history_pruning_depth() + 1, i32::MIN));
    }

    #[test]
    fn a_few_evasions_are_always_searched() {
        for depth in DEPTHS {
            assert!(!is_late_evasion(depth, evasion_base() as usize));
            assert_eq!(is_late_evasion(depth, 200), depth <= evasion_depth());
        }
    }

    #[test]
    fn captures_may_lose_more_than_quiet_moves_in_exchanges() {
        for depth in 1..=see_depth() {
            assert!(exchange_limit(depth, true) < exchange_limit(depth, false));
            assert!(exchange_limit(depth, false) < Some(0));
        }
        assert_eq!(exchange_limit(see_depth() + 1, true), None);
    }
}
