//! What a worker notes for each ply of the line it is in.

use super::history::{NO_MOVE, PieceTo};
use crate::types::score::MAX_PLY;
use crate::types::{Move, Score};

/// One ply of the current line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The move made from here; `None` for a null move.
    pub made: Option<Move>,
    /// What that move put where, for histories of continuations.
    pub piece_to: PieceTo,
    /// The corrected evaluation; `None` in check.
    pub eval: Option<Score>,
    /// A move that is left out of the search of this node.
    pub excluded: Option<Move>,
    /// Extensions by more than one ply on the way here.
    pub double_extensions: u32,
    /// Whether that move, made in the main search, is neither a capture nor a promotion that counts as one.
    pub quiet: bool,
    /// How often nodes at this ply have failed high since their parent was entered.
    pub cutoffs: u32,
    /// By how many plies the move is reduced that is being searched.
    pub reduction: i32,
}

const EMPTY: Frame = Frame {
    made: None,
    piece_to: NO_MOVE,
    eval: None,
    excluded: None,
    double_extensions: 0,
    quiet: false,
    cutoffs: 0,
    reduction: 0,
};

/// The farthest look back.
const BEFORE: usize = 5;

/// Frames of all plies; those before the root are empty.
#[derive(Clone, Debug)]
pub(super) struct Stack(Vec<Frame>);

impl Stack {
    pub(super) fn new() -> Self {
        Self(vec![EMPTY; BEFORE + MAX_PLY + 2])
    }

    /// The frame of that ply.
    #[inline(always)]
    pub(super) fn at(&mut self, ply: usize) -> &mut Frame {
        &mut self.0[ply + BEFORE]
    }

    /// The frame `back` plies before, at most four.
    #[inline(always)]
    pub(super) fn before(&self, ply: usize, back: usize) -> &Frame {
        &self.0[ply + BEFORE - back]
    }
}
