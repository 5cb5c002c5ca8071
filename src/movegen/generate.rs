//! The generator: hands sets of legal moves to a sink, piece by piece.
//!
//! Nothing is generated to be thrown away: a pinned piece sees only its line, every piece sees only the squares that
//! answer a check, and the king only squares that no enemy piece would attack once it has left its own. The shape, sets
//! handed to a listener that may stop it, is that of cozy-chess.

use super::legal::{check_evasion_squares, is_pawn_drop_mate};
use crate::position::{Board, Threats};
use crate::types::{Bitboard, Color, Piece, PieceType, Square};
use crate::variant::Variant;

/// Receives legal moves, each exactly once.
pub trait Sink<V: Variant> {
    /// Moves of the piece of type `kind` on `from`: to the squares `plain` without promotion, to `promoting` with it.
    fn board_moves(&mut self, from: Square, kind: PieceType, plain: Bitboard<V>, promoting: Bitboard<V>);
    /// Drops of a piece of that type.
    fn drops(&mut self, kind: PieceType, targets: Bitboard<V>);
    /// Whether enough has been seen.
    #[inline(always)]
    fn done(&self) -> bool {
        false
    }
}

/// The zone in which `color` promotes.
#[inline(always)]
pub fn promotion_zone<V: Variant>(color: Color) -> Bitboard<V> {
    Bitboard::farthest_ranks(color, V::PROMOTION_RANKS)
}

/// Splits the destinations of an unpinned or pinned piece into those without and those with promotion.
#[inline(always)]
fn split<V: Variant>(color: Color, from: Square, kind: PieceType, targets: Bitboard<V>) -> (Bitboard<V>, Bitboard<V>) {
    if kind.promoted().is_none() {
        return (targets, Bitboard::EMPTY);
    }
    let zone = promotion_zone(color);
    let promoting = if zone.contains(from) { targets } else { targets & zone };
    (targets & !Bitboard::farthest_ranks(color, kind.stuck_ranks()), promoting)
}

/// Generates all legal moves of the side to move, whose `threats` are given.
#[inline]
pub fn generate<V: Variant, S: Sink<V>>(board: &Board<V>, threats: &Threats<V>, sink: &mut S) {
    match board.side_to_move() {
        Color::Black => generate_for::<V, S, true>(board, threats, sink),
        Color::White => generate_for::<V, S, false>(board, threats, sink),
    }
}

#[inline]
fn generate_for<V: Variant, S: Sink<V>, const BLACK: bool>(board: &Board<V>, threats: &Threats<V>, sink: &mut S) {
    let us = if BLACK { Color::Black } else { Color::White };
    let own = board.of_color(us);
    let occupied = board.occupied();
    let king = board.king(us);

    let attacked = board.attacked_by(!us, occupied ^ Bitboard::of(king));
    sink.board_moves(king, PieceType::King, V::ATTACKS.king[king] & !own & !attacked, Bitboard::EMPTY);
    if sink.done() {
        return;
    }

    let (targets, drop_targets) = if threats.checkers.is_empty() {
        (!own, !occupied)
    } else if threats.checkers.several() {
        return;
    } else {
        let between = check_evasion_squares(king, threats.checkers);
        (between | threats.checkers, between)
    };

    board_moves::<V, S>(board, us, own & !threats.pinned, occupied, targets, sink);
    if sink.done() {
        return;
    }
    if threats.pinned.has_any() && threats.checkers.is_empty() {
        for pinner in threats.pinners {
            let line = V::ATTACKS.between[king][pinner];
            board_moves::<V, S>(board, us, own & line, occupied, (line | Bitboard::of(pinner)) & !own, sink);
        }
    }
    drops::<V, S>(board, us, drop_targets, sink);
}

/// The moves of `movers`, the king apart, to `targets`.
#[inline(always)]
fn board_moves<V: Variant, S: Sink<V>>(
    board: &Board<V>,
    us: Color,
    movers: Bitboard<V>,
    occupied: Bitboard<V>,
    targets: Bitboard<V>,
    sink: &mut S,
) {
    let attacks = V::ATTACKS;
    let side = us.index();
    let mut emit = |from: Square, kind: PieceType, reached: Bitboard<V>| {
        let (plain, promoting) = split(us, from, kind, reached & targets);
        sink.board_moves(from, kind, plain, promoting);
    };

    for from in movers & board.of_kind(PieceType::Pawn) {
        emit(from, PieceType::Pawn, attacks.pawn[side][from]);
    }
    if V::HAS_LANCE {
        for from in movers & board.of_kind(PieceType::Lance) {
            emit(from, PieceType::Lance, attacks.lance(us, from, occupied));
        }
    }
    if V::HAS_KNIGHT {
        for from in movers & board.of_kind(PieceType::Knight) {
            emit(from, PieceType::Knight, attacks.knight[side][from]);
        }
    }
    for from in movers & board.of_kind(PieceType::Silver) {
        emit(from, PieceType::Silver, attacks.silver[side][from]);
    }
    // Promoted pieces that move as a gold are told apart by the board, not here.
    for from in movers & board.gold_movers() {
        emit(from, PieceType::Gold, attacks.gold[side][from]);
    }
    for from in movers & board.of_kind(PieceType::Bishop) {
        emit(from, PieceType::Bishop, attacks.bishop(from, occupied));
    }
    for from in movers & board.of_kind(PieceType::Rook) {
        emit(from, PieceType::Rook, attacks.rook(from, occupied));
    }
    for from in movers & board.of_kind(PieceType::Horse) {
        emit(from, PieceType::Horse, attacks.of(Piece::new(us, PieceType::Horse), from, occupied));
    }
    for from in movers & board.of_kind(PieceType::Dragon) {
        emit(from, PieceType::Dragon, attacks.of(Piece::new(us, PieceType::Dragon), from, occupied));
    }
}

/// The drops of `us` onto `targets`, which must be empty squares.
#[inline(always)]
fn drops<V: Variant, S: Sink<V>>(board: &Board<V>, us: Color, targets: Bitboard<V>, sink: &mut S) {
    let hand = board.hand(us);
    if hand.is_empty() || targets.is_empty() {
        return;
    }
    if hand.has(PieceType::Pawn) {
        let mut squares = pawn_drop_squares(board, us) & targets;
        let ahead_of_king = V::ATTACKS.pawn[(!us).index()][board.king(!us)];
        if (squares & ahead_of_king).has_any() && is_pawn_drop_mate(board, us, ahead_of_king) {
            squares &= !ahead_of_king;
        }
        sink.drops(PieceType::Pawn, squares);
    }
    for kind in [PieceType::Lance, PieceType::Knight] {
        if V::KINDS >> kind as u16 & 1 != 0 && hand.has(kind) {
            sink.drops(kind, targets & !Bitboard::farthest_ranks(us, kind.stuck_ranks()));
        }
    }
    for kind in [PieceType::Silver, PieceType::Gold, PieceType::Bishop, PieceType::Rook] {
        if hand.has(kind) {
            sink.drops(kind, targets);
        }
    }
}

/// Where nifu and the last rank allow a pawn drop; squares may be occupied.
#[inline(always)]
pub(super) fn pawn_drop_squares<V: Variant>(board: &Board<V>, us: Color) -> Bitboard<V> {
    let pawns = board.pieces(us, PieceType::Pawn);
    pawns.free_files() & !Bitboard::farthest_ranks(us, PieceType::Pawn.stuck_ranks())
}
