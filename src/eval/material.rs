//! What pieces are worth, on the board and in exchanges.

use crate::types::{PieceType, Score};

const VALUES: [Score; PieceType::COUNT] = [
    100, 280, 300, 380, 480, 620, 760, 0, // P L N S G B R K
    420, 420, 430, 460, 0, 900, 1_080, 0, // +P +L +N +S - +B +R
];

/// The worth of a piece in centipawns; nothing for a king.
#[inline(always)]
pub const fn value(kind: PieceType) -> Score {
    VALUES[kind.index()]
}

/// What a capture changes: the piece is gone from one side, and in the other's hand without its promotion.
#[inline(always)]
pub const fn exchange_value(kind: PieceType) -> Score {
    value(kind) + value(kind.base())
}

/// What a piece gains by promoting.
#[inline(always)]
pub const fn promotion_gain(kind: PieceType) -> Score {
    match kind.promoted() {
        Some(promoted) => value(promoted) - value(kind),
        None => 0,
    }
}
