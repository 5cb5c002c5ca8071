//! Declaration of victory by entering king.

use crate::position::Position;
use crate::types::{Bitboard, Color, PieceType};
use crate::variant::Variant;

/// Whether the side to move may declare victory under the 27-point rule (CSA): its king and ten more of its pieces
/// stand in the promotion zone, it is not in check, and its pieces there and in hand count 28 points for Black, 27 for
/// White (rook and bishop five, others one).
pub fn can_declare_win<V: Variant>(position: &Position<V>) -> bool {
    if !V::DECLARATION || position.in_check() {
        return false;
    }
    let us = position.side_to_move();
    let board = position.board();
    let zone = Bitboard::farthest_ranks(us, V::PROMOTION_RANKS);
    if !zone.contains(board.king(us)) {
        return false;
    }
    let inside = zone & board.of_color(us) & !Bitboard::of(board.king(us));
    let big_pieces = board.of_kind(PieceType::Rook)
        | board.of_kind(PieceType::Bishop)
        | board.of_kind(PieceType::Dragon)
        | board.of_kind(PieceType::Horse);
    let hand = position.hand(us);
    let in_hand: usize = PieceType::HAND
        .into_iter()
        .map(|kind| hand.count(kind) * if matches!(kind, PieceType::Rook | PieceType::Bishop) { 5 } else { 1 })
        .sum();
    let points = inside.count() + 4 * (inside & big_pieces).count() + in_hand;
    inside.count() >= 10 && points >= if us == Color::Black { 28 } else { 27 }
}
