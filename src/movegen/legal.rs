//! Legality of single moves, and the drop-pawn mate (uchifuzume).

use super::generate::{pawn_drop_squares, promotion_zone};
use crate::position::{Board, Position, Threats};
use crate::types::{Bitboard, Color, Move, MoveKind, PieceType, Square};
use crate::variant::Variant;

/// The squares between the king and the only checker: where a piece may come between.
#[inline(always)]
pub fn check_evasion_squares<V: Variant>(king: Square, checkers: Bitboard<V>) -> Bitboard<V> {
    checkers.first().map_or(Bitboard::EMPTY, |checker| V::ATTACKS.between[king][checker])
}

/// Whether a pawn of `us` dropped on the one square `pawn`, ahead of the enemy king, would be mate.
pub(super) fn is_pawn_drop_mate<V: Variant>(board: &Board<V>, us: Color, pawn: Bitboard<V>) -> bool {
    let Some(square) = pawn.first() else { return false };
    let them = !us;
    let occupied = board.occupied() | pawn;
    // A king can take an unguarded pawn; that is most often so, and it is cheap to see.
    if board.attackers(us, square, occupied).is_empty() {
        return false;
    }
    let king = board.king(them);
    let king_bit = Bitboard::of(king);
    // A pinned piece cannot take: on the only line that holds the pawn, the pawn itself stands before the king.
    let takers = board.attackers(them, square, occupied) & !king_bit;
    if takers.has_any() && (takers & !pinned_to(board, them, occupied)).has_any() {
        return false;
    }
    let flights = V::ATTACKS.king[king] & !board.of_color(them) & !pawn;
    (flights & !board.attacked_by(us, occupied ^ king_bit)).is_empty()
}

/// The pieces of `color` that are pinned to its king if the board is occupied as given.
fn pinned_to<V: Variant>(board: &Board<V>, color: Color, occupied: Bitboard<V>) -> Bitboard<V> {
    let king = board.king(color);
    let mut pinned = Bitboard::EMPTY;
    for sniper in board.snipers(color) {
        let blockers = V::ATTACKS.between[king][sniper] & occupied;
        if !blockers.several() {
            pinned |= blockers & board.of_color(color);
        }
    }
    pinned
}

/// Whether any 16 bits are a legal move of this position. Needs no list of moves.
pub fn is_legal<V: Variant>(position: &Position<V>, mv: Move) -> bool {
    let board = position.board();
    let threats = position.threats();
    match mv.unpack() {
        _ if mv.to().index() >= V::SQUARES => false,
        Some(MoveKind::Drop { kind, to }) => is_legal_drop(board, threats, kind, to),
        Some(MoveKind::Board { from, to, promote }) => {
            from.index() < V::SQUARES && is_legal_board_move(board, threats, from, to, promote)
        }
        None => false,
    }
}

fn is_legal_drop<V: Variant>(board: &Board<V>, threats: &Threats<V>, kind: PieceType, to: Square) -> bool {
    let us = board.side_to_move();
    if !board.hand(us).has(kind) || board.occupied().contains(to) {
        return false;
    }
    if threats.checkers.has_any() {
        let answers =
            !threats.checkers.several() && check_evasion_squares(board.king(us), threats.checkers).contains(to);
        if !answers {
            return false;
        }
    }
    if kind != PieceType::Pawn {
        return !Bitboard::<V>::farthest_ranks(us, kind.stuck_ranks()).contains(to);
    }
    let ahead_of_king = V::ATTACKS.pawn[(!us).index()][board.king(!us)];
    pawn_drop_squares(board, us).contains(to)
        && !(ahead_of_king.contains(to) && is_pawn_drop_mate(board, us, ahead_of_king))
}

fn is_legal_board_move<V: Variant>(
    board: &Board<V>,
    threats: &Threats<V>,
    from: Square,
    to: Square,
    promote: bool,
) -> bool {
    let us = board.side_to_move();
    let own = board.of_color(us);
    let occupied = board.occupied();
    if !own.contains(from) || own.contains(to) {
        return false;
    }
    let Some(piece) = board.piece_on(from) else { return false };
    if !V::ATTACKS.of(piece, from, occupied).contains(to) {
        return false;
    }
    let promotion_fits = if promote {
        let zone = promotion_zone::<V>(us);
        piece.kind.promoted().is_some() && (zone.contains(from) || zone.contains(to))
    } else {
        !Bitboard::<V>::farthest_ranks(us, piece.kind.stuck_ranks()).contains(to)
    };
    if !promotion_fits {
        return false;
    }
    let king = board.king(us);
    if from == king {
        return board.attackers(!us, to, occupied ^ Bitboard::of(king)).is_empty();
    }
    if threats.checkers.has_any() {
        let answers = !threats.checkers.several()
            && (threats.checkers | check_evasion_squares(king, threats.checkers)).contains(to);
        if !answers || threats.pinned.contains(from) {
            return false;
        }
    }
    if !threats.pinned.contains(from) {
        return true;
    }
    threats.pinners.into_iter().any(|pinner| {
        let line = V::ATTACKS.between[king][pinner];
        line.contains(from) && (line | Bitboard::of(pinner)).contains(to)
    })
}
