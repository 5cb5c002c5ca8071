//! Which moves give check.

use super::{Sink, generate};
use crate::position::{Board, Threats};
use crate::types::{Bitboard, Move, MoveKind, MoveList, Piece, PieceType, Square};
use crate::variant::Variant;

/// What is needed to tell checks: where the enemy king is and which own pieces hide a slider from it.
#[derive(Clone, Copy, Debug)]
pub struct CheckInfo<V: Variant> {
    king: Square,
    occupied: Bitboard<V>,
    /// Own pieces that uncover a check when they leave their line.
    discoverers: Bitboard<V>,
}

impl<V: Variant> CheckInfo<V> {
    /// For the side to move.
    #[inline]
    pub fn of(board: &Board<V>) -> Self {
        let us = board.side_to_move();
        let own = board.of_color(us);
        let king = board.king(!us);
        let occupied = board.occupied();
        let mut discoverers = Bitboard::EMPTY;
        for sniper in board.snipers(!us) {
            let blockers = V::ATTACKS.between[king][sniper] & occupied;
            if !blockers.several() {
                discoverers |= blockers & own;
            }
        }
        Self { king, occupied, discoverers }
    }

    /// The squares from which an own piece of that type gives check.
    #[inline(always)]
    pub fn squares(&self, board: &Board<V>, kind: PieceType) -> Bitboard<V> {
        // Seen from the king, the attack of the enemy's piece leads back to the squares it would come from.
        V::ATTACKS.of(Piece::new(!board.side_to_move(), kind), self.king, self.occupied)
    }

    /// Whether a piece that leaves `from` may uncover a check.
    #[inline(always)]
    pub fn discovers(&self, from: Square) -> bool {
        self.discoverers.contains(from)
    }

    /// Whether the legal move gives check.
    #[inline]
    pub fn gives_check(&self, board: &Board<V>, mv: Move) -> bool {
        match mv.unpack() {
            Some(MoveKind::Drop { kind, to }) => self.squares(board, kind).contains(to),
            Some(MoveKind::Board { from, to, promote }) => {
                let us = board.side_to_move();
                let Some(kind) = board.kind_on(from) else { return false };
                let kind = if promote { kind.promoted().unwrap_or(kind) } else { kind };
                let after = (self.occupied ^ Bitboard::of(from)) | Bitboard::of(to);
                // The piece itself may have stood between the king and where it goes.
                if V::ATTACKS.of(Piece::new(us, kind), to, after).contains(self.king) {
                    return true;
                }
                self.discovers(from)
                    && (board.attackers(us, self.king, after) & !Bitboard::of(from) & !Bitboard::of(to)).has_any()
            }
            None => false,
        }
    }
}

/// All legal moves that give check.
pub fn checking_moves<V: Variant>(board: &Board<V>, threats: &Threats<V>) -> MoveList {
    let mut sink = CheckSink { board, info: CheckInfo::of(board), moves: MoveList::new() };
    generate(board, threats, &mut sink);
    sink.moves
}

/// Writes the checks into a list. Drops, which are most of the moves, are looked at as sets.
struct CheckSink<'a, V: Variant> {
    board: &'a Board<V>,
    info: CheckInfo<V>,
    moves: MoveList,
}

impl<V: Variant> Sink<V> for CheckSink<'_, V> {
    #[inline]
    fn board_moves(&mut self, from: Square, _: PieceType, plain: Bitboard<V>, promoting: Bitboard<V>) {
        let moves = promoting.into_iter().map(|to| Move::board(from, to, true));
        for mv in moves.chain(plain.into_iter().map(|to| Move::board(from, to, false))) {
            if self.info.gives_check(self.board, mv) {
                self.moves.push(mv);
            }
        }
    }

    #[inline]
    fn drops(&mut self, kind: PieceType, targets: Bitboard<V>) {
        for to in targets & self.info.squares(self.board, kind) {
            self.moves.push(Move::drop(kind, to));
        }
    }
}
