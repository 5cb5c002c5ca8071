//! Scores: centipawns, with room above them for wins that are certain.
//!
//! ```text
//!   0 ............... 20000 | 25000 - n          | 30000 - n
//!   evaluation (clamped)    | won by repetition  | mate in n plies
//! ```

/// A score in centipawns from the side to move, or a certain result (see the module's picture).
pub type Score = i32;

/// Beyond every score.
pub const INFINITE: Score = 32_000;
/// Mate now; mate in `n` plies is `MATE - n`.
pub const MATE: Score = 30_000;
/// The deepest line that the search follows, in plies.
pub const MAX_PLY: usize = 246;
/// Every mate score is at least this far from zero.
pub const MATE_BOUND: Score = MATE - 1_000;
/// A game won by the rule of repetition or perpetual check; after `n` plies it is `RULE_WIN - n`.
pub const RULE_WIN: Score = 25_000;
/// Every certain score, by mate or by rule, is at least this far from zero.
pub const CERTAIN_BOUND: Score = RULE_WIN - 1_000;
/// Evaluations are kept within this distance of zero.
pub const MAX_EVAL: Score = 20_000;
/// A drawn game.
pub const DRAW: Score = 0;

/// The score of the side that will mate `ply` plies after the root.
#[inline(always)]
pub const fn mate_in(ply: usize) -> Score {
    MATE - ply as Score
}

/// The score of the side that is mated `ply` plies after the root.
#[inline(always)]
pub const fn mated_in(ply: usize) -> Score {
    ply as Score - MATE
}

/// Whether the score says that one side mates.
#[inline(always)]
pub const fn is_mate(score: Score) -> bool {
    score.abs() >= MATE_BOUND
}

/// Whether the score is certain: a mate or a win by rule.
#[inline(always)]
pub const fn is_certain(score: Score) -> bool {
    score.abs() >= CERTAIN_BOUND
}

/// Plies to the mate, with its sign: positive if the side to move mates. `None` if the score is no mate.
pub const fn mate_distance(score: Score) -> Option<i32> {
    if score >= MATE_BOUND {
        Some(MATE - score)
    } else if score <= -MATE_BOUND {
        Some(-MATE - score)
    } else {
        None
    }
}
