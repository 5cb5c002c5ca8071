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
