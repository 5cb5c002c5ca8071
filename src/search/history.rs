//! What earlier parts of the search say about moves: killers, counter moves, butterfly, capture and continuation histories.

use super::params::{
    EVAL_BONUS_LIMIT, HISTORY_LIMIT, eval_history, history_bonus, history_bonus_limit, prior_bonus, table_bonus,
};
use super::stack::Stack;
use super::techniques as with;
use crate::position::Board;
use crate::types::score::MAX_PLY;
use crate::types::{Color, Move, MoveKind, PieceType, Score};
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

/// A piece of one side on a square, as an index below `COLORED * V::SQUARES`; [`NO_MOVE`] stands for a null move and for
/// what was before the root.
pub(super) type PieceTo = u16;

/// No move: the index of a piece that does not exist, on the first square.
pub(super) const NO_MOVE: PieceTo = 0;

/// The kinds of both sides with room for [`NO_MOVE`] before them.
const COLORED: usize = 2 * PieceType::COUNT + 1;

/// What the move puts where, for the side to move.
#[inline(always)]
pub(super) fn piece_to<V: Variant>(board: &Board<V>, mv: Move) -> PieceTo {
    let kind = moved_kind(board, mv);
    let piece = 1 + board.side_to_move().index() * PieceType::COUNT + kind.index();
    (piece * V::SQUARES + mv.to().index()) as PieceTo
}

/// The kind that stands on the target after the move.
#[inline(always)]
fn moved_kind<V: Variant>(board: &Board<V>, mv: Move) -> PieceType {
    match mv.unpack() {
        Some(MoveKind::Drop { kind, .. }) => kind,
        Some(MoveKind::Board { from, promote, .. }) => {
            let kind = board.kind_on(from).unwrap_or(PieceType::King);
            if promote { kind.promoted().unwrap_or(kind) } else { kind }
        }
        None => PieceType::King,
    }
}

/// Which earlier moves of the line a quiet move is judged after: the last one, the own one before it, and so on.
pub(super) const CONTINUATIONS: [usize; 3] = [1, 2, 4];

/// Where the continuation histories of one node begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Continuation([usize; 3]);

/// The histories of one worker. They last over a game and are forgotten with it.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// By side, origin and destination.
    butterfly: Vec<Weight>,
    /// By side, captured type, origin and destination.
    captures: Vec<Weight>,
    /// By an earlier move of the line, then kind and destination.
    continuations: Vec<Weight>,
    /// Kinds times squares of the board.
    row: usize,
    /// The quiet move that refuted a move, by origin and destination of that move.
    counters: Vec<Option<Move>>,
    /// Two quiet moves a ply that caused cutoffs.
    killers: Vec<[Option<Move>; 2]>,
}

/// The bonus for a move that caused a cutoff at that depth.
#[inline(always)]
fn bonus(depth: i32) -> i32 {
    (history_bonus() * depth - 100).clamp(20, history_bonus_limit())
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
    pub(super) fn new<V: Variant>() -> Self {
        let row = PieceType::COUNT * V::SQUARES;
        Self {
            butterfly: vec![Weight::default(); 2 * ORIGINS * SQUARES],
            captures: vec![Weight::default(); 2 * PieceType::COUNT * SQUARES * 2],
            continuations: vec![Weight::default(); COLORED * V::SQUARES * row],
            row,
            counters: vec![None; ORIGINS * SQUARES],
            killers: vec![[None; 2]; MAX_PLY + 2],
        }
    }

    /// Forgets what belongs to one search only.
    pub(super) fn new_search(&mut self) {
        self.killers.fill([None; 2]);
    }

    /// The continuation histories of the node at that ply.
    #[inline(always)]
    pub(super) fn continuation(&self, stack: &Stack, ply: usize) -> Continuation {
        Continuation(CONTINUATIONS.map(|back| usize::from(stack.before(ply, back).piece_to) * self.row))
    }

    #[inline(always)]
    fn butterfly_index(color: Color, mv: Move) -> usize {
        color.index() * ORIGINS * SQUARES + origin_and_target(mv)
    }

    #[inline(always)]
    fn kind_and_target<V: Variant>(board: &Board<V>, mv: Move) -> usize {
        moved_kind(board, mv).index() * V::SQUARES + mv.to().index()
    }

    /// The score of a quiet move: what its butterfly history and its continuations say, the oldest of these by half.
    #[inline(always)]
    pub(super) fn quiet<V: Variant>(&self, board: &Board<V>, continuation: &Continuation, mv: Move) -> i32 {
        let index = Self::kind_and_target(board, mv);
        let [last, own, older] = continuation.0.map(|start| i32::from(self.continuations[start + index].0));
        let anywhere = i32::from(self.butterfly[Self::butterfly_index(board.side_to_move(), mv)].0);
        let after = last + own + older / 2;
        anywhere * i32::from(with::butterfly_history()) + after * i32::from(with::continuation_history())
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
        if with::capture_history() { i32::from(self.captures[Self::capture_index(board, mv)].0) } else { 0 }
    }

    #[inline(always)]
    pub(super) fn killers(&self, ply: usize) -> [Option<Move>; 2] {
        if with::killers() { self.killers[ply] } else { [None; 2] }
    }

    /// The quiet move that last refuted `previous`.
    #[inline(always)]
    pub(super) fn counter(&self, previous: Option<Move>) -> Option<Move> {
        self.counters[origin_and_target(previous?)].filter(|_| with::counter_moves())
    }

    #[inline(always)]
    fn update_quiet<V: Variant>(&mut self, board: &Board<V>, continuation: &Continuation, mv: Move, bonus: i32) {
        self.update(board.side_to_move(), mv, Self::kind_and_target(board, mv), continuation, bonus);
    }

    /// `index` is that of the move's kind and destination.
    #[inline(always)]
    fn update(&mut self, mover: Color, mv: Move, index: usize, continuation: &Continuation, bonus: i32) {
        self.butterfly[Self::butterfly_index(mover, mv)].update(bonus);
        for start in continuation.0 {
            self.continuations[start + index].update(bonus);
        }
    }

    /// A quiet move caused a cutoff after `tried` did not.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn quiet_cutoff<V: Variant>(
        &mut self,
        board: &Board<V>,
        continuation: &Continuation,
        ply: usize,
        depth: i32,
        best: Move,
        previous: Option<Move>,
        tried: &[Move],
    ) {
        let bonus = bonus(depth);
        self.update_quiet(board, continuation, best, bonus);
        for &mv in tried {
            self.update_quiet(board, continuation, mv, -bonus);
        }
        let killers = &mut self.killers[ply];
        if killers[0] != Some(best) {
            *killers = [Some(best), killers[0]];
        }
        if let Some(previous) = previous {
            self.counters[origin_and_target(previous)] = Some(best);
        }
    }

    /// The table cut off by a quiet move.
    #[inline(always)]
    pub(super) fn table_cutoff<V: Variant>(
        &mut self,
        board: &Board<V>,
        continuation: &Continuation,
        mv: Move,
        depth: i32,
    ) {
        self.update_quiet(board, continuation, mv, bonus(depth) * table_bonus() / 64);
    }

    /// Nothing refuted the quiet move by which `mover` came to the node at that ply ("prior countermove bonus", Stockfish).
    pub(super) fn not_refuted<V: Variant>(&mut self, stack: &Stack, ply: usize, mover: Color, depth: i32) {
        let frame = stack.before(ply, 1);
        let Some(mv) = frame.made else { return };
        let index = usize::from(frame.piece_to) - (1 + mover.index() * PieceType::COUNT) * V::SQUARES;
        let continuation = self.continuation(stack, ply - 1);
        self.update(mover, mv, index, &continuation, bonus(depth) * prior_bonus() / 64);
    }

    /// The quiet move of `mover` made its evaluation better by `gain` centipawns.
    #[inline(always)]
    pub(super) fn changed_eval(&mut self, mover: Color, mv: Move, gain: Score) {
        let bonus = (gain * eval_history() / 4).clamp(-EVAL_BONUS_LIMIT, EVAL_BONUS_LIMIT);
        self.butterfly[Self::butterfly_index(mover, mv)].update(bonus);
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
