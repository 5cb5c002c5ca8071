//! What threatens the king of the side to move.

use super::Board;
use crate::types::{Bitboard, PieceType};
use crate::variant::Variant;

/// The pieces that give check, and the own pieces that a slider pins to the king.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threats<V: Variant> {
    /// Enemy pieces that attack the king.
    pub checkers: Bitboard<V>,
    /// Own pieces that may move only along the line between the king and a slider.
    pub pinned: Bitboard<V>,
    /// The sliders that pin them.
    pub pinners: Bitboard<V>,
}

impl<V: Variant> Threats<V> {
    /// The threats to the side to move.
    #[inline]
    pub fn of(board: &Board<V>) -> Self {
        let attacks = V::ATTACKS;
        let us = board.side_to_move();
        let king = board.king(us);
        let side = us.index();
        let own = board.of_color(us);
        let enemy = board.of_color(!us);
        let occupied = own | enemy;

        let dragons = board.of_kind(PieceType::Dragon);
        let horses = board.of_kind(PieceType::Horse);
        // An enemy king is never adjacent, so it need not be looked for.
        let mut checkers = attacks.pawn[side][king] & board.of_kind(PieceType::Pawn)
            | attacks.silver[side][king] & board.of_kind(PieceType::Silver)
            | attacks.gold[side][king] & board.gold_movers()
            | attacks.king[king] & (dragons | horses);
        if V::HAS_KNIGHT {
            checkers |= attacks.knight[side][king] & board.of_kind(PieceType::Knight);
        }
        checkers &= enemy;

        let mut pinned = Bitboard::EMPTY;
        let mut pinners = Bitboard::EMPTY;
        for sniper in board.snipers(us) {
            let blockers = attacks.between[king][sniper] & occupied;
            if blockers.is_empty() {
                checkers |= Bitboard::of(sniper);
            } else if !blockers.several() && (blockers & own).has_any() {
                pinned |= blockers;
                pinners |= Bitboard::of(sniper);
            }
        }
        Self { checkers, pinned, pinners }
    }
}
