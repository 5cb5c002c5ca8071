//! What earlier parts of the search say about moves: killers, counter moves, butterfly and capture histories.

use super::params::{HISTORY_BONUS_LIMIT, HISTORY_LIMIT};
use crate::position::Board;
use crate::types::score::MAX_PLY;
use crate::types::{Color, Move, MoveKind, PieceType};
use crate::variant::Variant;

/// Squares, then the seven types of pieces that can be dropped.
const ORIGINS: usize = 128 + 8;
const SQUARES: usize = 128;

/// A score between ±[`HISTORY_LIMIT`] that moves towards what it is told, the less the farther it is from zero
/// ("history gravity", chessprogramming.org, "History Heuristic").
#[derive(Clone, Copy, Debug, Default)]
struct Weight(i16);

impl Weight {
    #[inline(always)]
    fn update(&mut self, bonus: i32) {
        let old = i32::from(self.0);
        self.0 = (old + bonus - old * bonus.abs() / HISTORY_LIMIT) as i16;
    }
}

/// The histories of one worker. They last over a game and are forgotten with it.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// By side, origin and destination.
    butterfly: Vec<Weight>,
    /// By side, captured type, origin and destination.
    captures: Vec<Weight>,
    /// The quiet move that refuted a move, by origin and destination of that move.
    counters: Vec<Option<Move>>,
    /// Two quiet moves a ply that caused cutoffs.
    killers: Vec<[Option<Move>; 2]>,
}

/// The bonus for a move that caused a cutoff at that depth.
#[inline(always)]
pub(super) fn bonus(depth: i32) -> i32 {
    (160 * depth - 100).clamp(20, HISTORY_BONUS_LIMIT)
}

/// Origin and destination in one index: `origin * 128 + destination`.
#[inline(always)]
fn origin_and_target(mv: Move) -> usize {
    let origin = match mv.unpack() {
        Some(MoveKind::Board { from, .. }) => from.index(),
        Some(MoveKind::Drop { kind, .. }) => 128 + kind.index(),
        None => 0,
    };
    origin * SQUARES + mv.to().index()
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            butterfly: vec![Weight::default(); 2 * ORIGINS * SQUARES],
            captures: vec![Weight::default(); 2 * PieceType::COUNT * SQUARES * 2],
            counters: vec![None; ORIGINS * SQUARES],
            killers: vec![[None; 2]; MAX_PLY + 2],
        }
    }

    /// Forgets what belongs to one search only.
    pub(super) fn new_search(&mut self) {
        self.killers.fill([None; 2]);
    }

    #[inline(always)]
    fn butterfly_index(color: Color, mv: Move) -> usize {
        color.index() * ORIGINS * SQUARES + origin_and_target(mv)
    }

    /// The score of a quiet move.
    #[inline(always)]
    pub(super) fn quiet(&self, color: Color, mv: Move) -> i32 {
        i32::from(self.butterfly[Self::butterfly_index(color, mv)].0)
    }

    #[inline(always)]
    fn capture_index<V: Variant>(board: &Board<V>, mv: Move) -> usize {
        let victim = board.kind_on(mv.to()).map_or(PieceType::King.index(), PieceType::index);
        ((board.side_to_move().index() * 2 + usize::from(mv.is_promotion())) * PieceType::COUNT + victim) * SQUARES
            + mv.to().index()
    }

    /// The score of a capture or promotion.
    #[inline(always)]
    pub(super) fn capture<V: Variant>(&self, board: &Board<V>, mv: Move) -> i32 {
        i32::from(self.captures[Self::capture_index(board, mv)].0)
    }

    #[inline(always)]
    pub(super) fn killers(&self, ply: usize) -> [Option<Move>; 2] {
        self.killers[ply]
    }

    /// The quiet move that last refuted `previous`.
    #[inline(always)]
    pub(super) fn counter(&self, previous: Option<Move>) -> Option<Move> {
        self.counters[origin_and_target(previous?)]
    }

    /// A quiet move caused a cutoff after `tried` did not.
    pub(super) fn quiet_cutoff(
        &mut self,
        color: Color,
        ply: usize,
        depth: i32,
        best: Move,
        previous: Option<Move>,
        tried: &[Move],
    ) {
        let bonus = bonus(depth);
        self.butterfly[Self::butterfly_index(color, best)].update(bonus);
        for &mv in tried {
            self.butterfly[Self::butterfly_index(color, mv)].update(-bonus);
        }
        let killers = &mut self.killers[ply];
        if killers[0] != Some(best) {
            *killers = [Some(best), killers[0]];
        }
        if let Some(previous) = previous {
            self.counters[origin_and_target(previous)] = Some(best);
        }
    }

    /// What captures and promotions learn from a cutoff by `best`, which may be one of them, after `tried` did not.
    pub(super) fn capture_cutoff<V: Variant>(
        &mut self,
        board: &Board<V>,
        depth: i32,
        best: Option<Move>,
        tried: &[Move],
    ) {
        let bonus = bonus(depth);
        if let Some(best) = best {
            self.captures[Self::capture_index(board, best)].update(bonus);
        }
        for &mv in tried {
            self.captures[Self::capture_index(board, mv)].update(-bonus);
        }
    }
}
