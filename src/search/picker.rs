//! The order of moves: the table's move, winning captures, killers, quiet moves by history, losing captures.

use arrayvec::ArrayVec;

use super::history::{Continuation, History};
use super::params::check_order;
use super::see::{see_at_least, victim_first};
use crate::movegen::{CheckInfo, Sink, generate, is_legal};
use crate::position::Position;
use crate::types::{Bitboard, Color, Move, PieceType, Square};
use crate::variant::Variant;

/// Moves with their score for ordering.
type ScoredMoves = ArrayVec<(Move, i32), 600>;

/// Whether a promotion is worth looking at like a capture. A silver's is not: it gains and loses squares.
#[inline(always)]
fn promotes_for_good(kind: PieceType) -> bool {
    matches!(kind, PieceType::Pawn | PieceType::Lance | PieceType::Bishop | PieceType::Rook)
}

/// Whether the legal move is a capture, or a promotion that is searched among captures.
#[inline(always)]
pub(super) fn is_tactical<V: Variant>(position: &Position<V>, mv: Move) -> bool {
    if mv.is_drop() {
        return false;
    }
    let board = position.board();
    board.kind_on(mv.to()).is_some() || mv.is_promotion() && moved_kind(position, mv).is_some_and(promotes_for_good)
}

fn moved_kind<V: Variant>(position: &Position<V>, mv: Move) -> Option<PieceType> {
    match mv.unpack()? {
        crate::types::MoveKind::Board { from, .. } => position.board().kind_on(from),
        crate::types::MoveKind::Drop { kind, .. } => Some(kind),
    }
}

/// Which moves a sink lets through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Tactical,
    Quiet,
}

struct ClassSink<'a, V: Variant> {
    class: Class,
    enemy: Bitboard<V>,
    moves: &'a mut ScoredMoves,
}

impl<V: Variant> Sink<V> for ClassSink<'_, V> {
    #[inline(always)]
    fn board_moves(&mut self, from: Square, kind: PieceType, plain: Bitboard<V>, promoting: Bitboard<V>) {
        let captures = plain & self.enemy;
        let tactical = if promotes_for_good(kind) { promoting } else { promoting & self.enemy };
        let (plain, promoting) = match self.class {
            Class::Tactical => (captures, tactical),
            Class::Quiet => (plain ^ captures, promoting ^ tactical),
        };
        for to in promoting {
            self.moves.push((Move::board(from, to, true), 0));
        }
        for to in plain {
            self.moves.push((Move::board(from, to, false), 0));
        }
    }

    #[inline(always)]
    fn drops(&mut self, kind: PieceType, targets: Bitboard<V>) {
        if self.class == Class::Quiet {
            for to in targets {
                self.moves.push((Move::drop(kind, to), 0));
            }
        }
    }
}

/// Quiet moves that give check.
struct CheckSink<'a, V: Variant> {
    position: &'a Position<V>,
    info: &'a CheckInfo<V>,
    enemy: Bitboard<V>,
    moves: &'a mut ScoredMoves,
}

impl<V: Variant> Sink<V> for CheckSink<'_, V> {
    #[inline(always)]
    fn board_moves(&mut self, from: Square, kind: PieceType, plain: Bitboard<V>, promoting: Bitboard<V>) {
        let board = self.position.board();
        let quiet_plain = plain & !self.enemy;
        let quiet_promoting = if promotes_for_good(kind) { Bitboard::EMPTY } else { promoting & !self.enemy };
        let discovers = self.info.discovers(from);
        for (targets, promote) in [(quiet_promoting, true), (quiet_plain, false)] {
            if targets.is_empty() {
                continue;
            }
            let kind = if promote { kind.promoted().unwrap_or(kind) } else { kind };
            let direct = if kind == PieceType::King { Bitboard::EMPTY } else { self.info.squares(board, kind) };
            for to in targets & direct {
                self.moves.push((Move::board(from, to, promote), 0));
            }
            if discovers {
                for to in targets & !direct {
                    let mv = Move::board(from, to, promote);
                    if self.info.gives_check(board, mv) {
                        self.moves.push((mv, 0));
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn drops(&mut self, kind: PieceType, targets: Bitboard<V>) {
        for to in targets & self.info.squares(self.position.board(), kind) {
            self.moves.push((Move::drop(kind, to), 0));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    TableMove,
    GenerateTactical,
    GoodTactical,
    Killers(usize),
    GenerateQuiet,
    Quiet,
    BadTactical,
    GenerateChecks,
    Checks,
    Done,
}

/// Hands out the legal moves of a node one by one, best guess first, generating each class only when it is needed.
pub(super) struct Picker<V: Variant> {
    stage: Stage,
    table_move: Option<Move>,
    special: [Option<Move>; 3],
    moves: ScoredMoves,
    next: usize,
    bad: ArrayVec<Move, 128>,
    next_bad: usize,
    /// After the captures: all other moves, only those that give check, or none.
    rest: Rest,
    info: CheckInfo<V>,
    continuation: Continuation,
}

/// What follows the captures and promotions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rest {
    /// All other moves, then the losing captures.
    All,
    /// Only quiet moves that give check, and no losing captures.
    Checks,
    /// Nothing, not even the losing captures.
    Nothing,
}

impl<V: Variant> Picker<V> {
    /// `table_move` need not be legal here. `special` are killers and a counter move, which need not be either.
    pub(super) fn new(
        position: &Position<V>,
        table_move: Option<Move>,
        special: [Option<Move>; 3],
        rest: Rest,
        info: CheckInfo<V>,
        continuation: Continuation,
    ) -> Self {
        let table_move =
            table_move.filter(|&mv| (rest != Rest::Nothing || is_tactical(position, mv)) && is_legal(position, mv));
        Self {
            stage: Stage::TableMove,
            table_move,
            special,
            moves: ScoredMoves::new(),
            next: 0,
            bad: ArrayVec::new(),
            next_bad: 0,
            rest,
            info,
            continuation,
        }
    }

    /// Whether the last move handed out is a killer or a counter move.
    pub(super) fn is_special(&self) -> bool {
        matches!(self.stage, Stage::Killers(_))
    }

    /// Whether the last move handed out came from the losing captures.
    pub(super) fn is_bad_tactical(&self) -> bool {
        self.stage == Stage::BadTactical
    }

    fn fill(&mut self, position: &Position<V>, class: Class) {
        self.moves.clear();
        self.next = 0;
        let enemy = position.board().of_color(!position.side_to_move());
        let mut sink = ClassSink { class, enemy, moves: &mut self.moves };
        generate(position.board(), position.threats(), &mut sink);
    }

    /// The best of the moves that are left; of equals the first as the side to move sees the board.
    #[inline]
    fn select(&mut self, us: Color) -> Option<(Move, i32)> {
        let left = self.moves.get_mut(self.next..)?;
        let key = |&(mv, score): &(Move, i32)| (score, mv.order(us));
        let best = (0..left.len()).max_by_key(|&index| key(&left[index]))?;
        left.swap(0, best);
        self.next += 1;
        Some(left[0])
    }

    /// The next move, or `None` after the last.
    pub(super) fn next(&mut self, position: &Position<V>, history: &History) -> Option<Move> {
        let board = position.board();
        let us = position.side_to_move();
        loop {
            match self.stage {
                Stage::TableMove => {
                    self.stage = Stage::GenerateTactical;
                    if self.table_move.is_some() {
                        return self.table_move;
                    }
                }
                Stage::GenerateTactical => {
                    self.fill(position, Class::Tactical);
                    for (mv, score) in &mut self.moves {
                        *score = victim_first(board, *mv) + history.capture(board, *mv) / 16;
                    }
                    self.stage = Stage::GoodTactical;
                }
                Stage::GoodTactical => match self.select(us) {
                    Some((mv, _)) if Some(mv) == self.table_move => {}
                    Some((mv, _)) if see_at_least(board, mv, 0) => return Some(mv),
                    Some((mv, _)) => {
                        if self.rest == Rest::All && self.bad.try_push(mv).is_err() {
                            // More losing captures than anyone needs to postpone: search it now.
                            return Some(mv);
                        }
                    }
                    None => {
                        self.stage = match self.rest {
                            Rest::All => Stage::Killers(0),
                            Rest::Checks => Stage::GenerateChecks,
                            Rest::Nothing => Stage::Done,
                        };
                    }
                },
                Stage::Killers(index) => {
                    let Some(&special) = self.special.get(index) else {
                        self.stage = Stage::GenerateQuiet;
                        continue;
                    };
                    self.stage = Stage::Killers(index + 1);
                    let fresh =
                        special.is_some() && special != self.table_move && !self.special[..index].contains(&special);
                    if let Some(mv) = special.filter(|_| fresh)
                        && is_legal(position, mv)
                        && !is_tactical(position, mv)
                    {
                        return Some(mv);
                    }
                    // Forget it, so that the quiet moves do not leave it out.
                    self.special[index] = None;
                }
                Stage::GenerateQuiet => {
                    self.fill(position, Class::Quiet);
                    for (mv, score) in &mut self.moves {
                        *score = history.quiet(board, &self.continuation, *mv);
                        if self.info.gives_check(board, *mv) && see_at_least(board, *mv, 0) {
                            *score += check_order();
                        }
                    }
                    self.stage = Stage::Quiet;
                }
                Stage::Quiet => match self.select(us) {
                    Some((mv, _)) if Some(mv) == self.table_move || self.special.contains(&Some(mv)) => {}
                    Some((mv, _)) => return Some(mv),
                    None => self.stage = Stage::BadTactical,
                },
                Stage::BadTactical => {
                    let mv = self.bad.get(self.next_bad).copied();
                    self.next_bad += 1;
                    return mv;
                }
                Stage::GenerateChecks => {
                    self.moves.clear();
                    self.next = 0;
                    let enemy = board.of_color(!us);
                    let mut sink = CheckSink { position, info: &self.info, enemy, moves: &mut self.moves };
                    generate(board, position.threats(), &mut sink);
                    for (mv, score) in &mut self.moves {
                        *score = history.quiet(board, &self.continuation, *mv);
                    }
                    self.stage = Stage::Checks;
                }
                Stage::Checks => match self.select(us) {
                    Some((mv, _)) if Some(mv) == self.table_move => {}
                    Some((mv, _)) => return Some(mv),
                    None => self.stage = Stage::Done,
                },
                Stage::Done => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stack::Stack;
    use super::*;
    use crate::movegen::legal_moves;
    use crate::position::Rules;
    use crate::variant::{Minishogi, Shogi};

    fn hands_out_each_legal_move_once<V: Variant>() {
        let mut position = Position::<V>::new(Rules::default());
        let mut seed = 88_172_645_463_325_252_u64;
        let history = History::new::<V>();
        let continuation = history.continuation(&Stack::new(), 0);
        for _ in 0..2_000 {
            let mut legal = legal_moves(&position);
            if legal.is_empty() || position.ply() > 120 {
                position = Position::new(Rules::default());
                continue;
            }
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let pick = |shift: u32| legal[(seed >> shift) as usize % legal.len()];
            let special = [Some(pick(3)), Some(pick(9)), Some(pick(3))];
            let info = CheckInfo::of(position.board());
            let mut picker = Picker::new(&position, Some(pick(20)), special, Rest::All, info, continuation);
            let mut picked = Vec::new();
            while let Some(mv) = picker.next(&position, &history) {
                picked.push(mv);
            }
            assert_eq!(picked[0], pick(20));
            let next = pick(30);
            picked.sort_unstable();
            legal.sort_unstable();
            assert_eq!(picked.as_slice(), legal.as_slice(), "{}", position.sfen());

            let mut picker = Picker::new(&position, None, [None; 3], Rest::Checks, info, continuation);
            let mut checks = Vec::new();
            while let Some(mv) = picker.next(&position, &history) {
                if !is_tactical(&position, mv) {
                    checks.push(mv);
                }
            }
            for &mv in &legal {
                let told = info.gives_check(position.board(), mv);
                let quiet = !is_tactical(&position, mv);
                position.do_move(mv);
                assert_eq!(told, position.in_check(), "{} {}", position.sfen(), mv.to_usi::<V>());
                position.undo_move();
                assert_eq!(checks.contains(&mv), told && quiet, "{} {}", position.sfen(), mv.to_usi::<V>());
            }
            position.do_move(next);
        }
    }

    #[test]
    fn hands_out_each_legal_move_once_on_every_board() {
        hands_out_each_legal_move_once::<Minishogi>();
        hands_out_each_legal_move_once::<Shogi>();
    }
}
