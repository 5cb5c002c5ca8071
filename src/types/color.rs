//! The two sides.

use std::ops::Not;

/// A side. Black is sente (written `b` in SFEN and moving first in the usual start position), White is gote (`w`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Color {
    /// Sente; moves towards rank `a`.
    Black = 0,
    /// Gote; moves away from rank `a`.
    White = 1,
}

impl Color {
    /// Both sides, Black first.
    pub const ALL: [Self; 2] = [Self::Black, Self::White];

    /// 0 for Black, 1 for White.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The letter that SFEN uses for the side to move.
    pub const fn letter(self) -> char {
        match self {
            Self::Black => 'b',
            Self::White => 'w',
        }
    }

    /// The Japanese name as outcomes spell it: `sente` or `gote`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Black => "sente",
            Self::White => "gote",
        }
    }
}

impl Not for Color {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        match self {
            Self::Black => Self::White,
            Self::White => Self::Black,
        }
    }
}
