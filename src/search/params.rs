//! The numbers of the search.

use crate::types::Score;

/// First half-width of the aspiration window.
pub const ASPIRATION_WINDOW: Score = 40;
/// From this depth on the window is narrowed.
pub const ASPIRATION_DEPTH: i32 = 4;
/// From this depth on a null move is tried.
pub const NULL_MOVE_DEPTH: i32 = 3;
/// Plies by which a null move reduces the depth.
pub const NULL_MOVE_REDUCTION: i32 = 3;
/// One ply more of reduction for so many plies of depth.
pub const NULL_MOVE_DEPTH_SHARE: i32 = 4;
/// Up to this depth a node whose evaluation is far above beta is left alone (reverse futility).
pub const REVERSE_FUTILITY_DEPTH: i32 = 6;
/// How far above, per ply of depth.
pub const REVERSE_FUTILITY_MARGIN: Score = 110;
/// Up to this depth quiet moves that cannot reach alpha by much are left out.
pub const FUTILITY_DEPTH: i32 = 5;
/// How far below alpha the evaluation must be, and how much more per ply of depth.
pub const FUTILITY_BASE: Score = 160;
/// See [`FUTILITY_BASE`].
pub const FUTILITY_MARGIN: Score = 120;
/// Up to this depth late quiet moves are left out.
pub const LATE_MOVE_DEPTH: i32 = 6;
/// Quiet moves that are searched at depth 0 of that rule; the square of the depth comes on top.
pub const LATE_MOVE_BASE: usize = 5;
/// Up to this depth moves that lose too much in exchanges are left out.
pub const SEE_DEPTH: i32 = 6;
/// How much a quiet move may lose, per ply of depth.
pub const SEE_QUIET_MARGIN: Score = 60;
/// How much a capture may lose, per ply of depth.
pub const SEE_TACTICAL_MARGIN: Score = 150;
/// From this depth on late moves are reduced.
pub const LMR_DEPTH: i32 = 3;
/// So many moves are searched to full depth.
pub const LMR_MOVES: usize = 3;
/// A reduction is log2(depth) * log2(moves) * this / 1024.
pub const LMR_FACTOR: i32 = 430;
/// A quiet move of this history is reduced by one ply less, of its negative by one more.
pub const LMR_HISTORY: i32 = 6_000;
/// The largest change of a history at once.
pub const HISTORY_BONUS_LIMIT: i32 = 1_600;
/// Histories stay within this distance of zero.
pub const HISTORY_LIMIT: i32 = 16_384;
/// From this depth on a node without a move from the table is searched one ply less deep.
pub const IIR_DEPTH: i32 = 5;
/// Iterations after which a single legal move is played without more thought.
pub const SINGLE_MOVE_DEPTH: u32 = 6;
