//! Sets of squares.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use super::{Color, Square};
use crate::geometry::{Geometry, Word};

/// A set of squares, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bitboard<G: Geometry>(pub G::Word);

impl<G: Geometry> Default for Bitboard<G> {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// The bits of the rank with that number (0 = `a`), for a board of that size.
const fn rank_bits(files: usize, ranks: usize, rank: usize) -> u128 {
    let mut bits = 0;
    let mut file = 0;
    while file < files {
        bits |= 1 << (file * ranks + rank);
        file += 1;
    }
    bits
}

/// The bits of ranks `from..to` for a board of that size.
const fn ranks_bits(files: usize, ranks: usize, from: usize, to: usize) -> u128 {
    let mut bits = 0;
    let mut rank = from;
    while rank < to {
        bits |= rank_bits(files, ranks, rank);
        rank += 1;
    }
    bits
}

impl<G: Geometry> Bitboard<G> {
    /// No square.
    pub const EMPTY: Self = Self(G::Word::ZERO);

    const TOP: u128 = rank_bits(G::FILES, G::RANKS, 0);
    const BOTTOM: u128 = rank_bits(G::FILES, G::RANKS, G::RANKS - 1);
    const ALL: u128 = u128::MAX >> (128 - G::SQUARES);

    /// Every square.
    #[inline(always)]
    pub fn all() -> Self {
        Self(G::Word::narrow(Self::ALL))
    }

    /// One square.
    #[inline(always)]
    pub fn of(square: Square) -> Self {
        Self(G::Word::ONE << square.index() as u32)
    }

    /// The `count` ranks that are farthest for `color`.
    #[inline(always)]
    pub fn farthest_ranks(color: Color, count: usize) -> Self {
        match color {
            Color::Black => Self(G::Word::narrow(ranks_bits(G::FILES, G::RANKS, 0, count))),
            Color::White => Self(G::Word::narrow(ranks_bits(G::FILES, G::RANKS, G::RANKS - count, G::RANKS))),
        }
    }

    /// Whether there is no square in the set.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 == G::Word::ZERO
    }

    /// Whether there is a square in the set.
    #[inline(always)]
    pub fn has_any(self) -> bool {
        !self.is_empty()
    }

    /// Whether there are two squares or more.
    #[inline(always)]
    pub fn several(self) -> bool {
        self.0 & self.0.wrapping_sub(G::Word::ONE) != G::Word::ZERO
    }

    /// Number of squares.
    #[inline(always)]
    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the square belongs to the set.
    #[inline(always)]
    pub fn contains(self, square: Square) -> bool {
        (self.0 >> square.index() as u32) & G::Word::ONE != G::Word::ZERO
    }

    /// The square with the lowest number, if any.
    #[inline(always)]
    pub fn first(self) -> Option<Square> {
        self.has_any().then(|| Square::new(self.0.trailing_zeros() as usize))
    }

    /// The first square as `color` counts them: from the other end of the board for White.
    #[inline(always)]
    pub fn first_of(self, color: Color) -> Option<Square> {
        let last = G::Word::BITS - 1;
        match color {
            Color::Black => self.first(),
            Color::White => self.has_any().then(|| Square::new((last - self.0.leading_zeros()) as usize)),
        }
    }

    /// The set moved one step ahead, as `color` looks at the board.
    #[inline(always)]
    pub fn forward(self, color: Color) -> Self {
        match color {
            Color::Black => Self((self.0 & !G::Word::narrow(Self::TOP)) >> 1),
            Color::White => Self((self.0 & !G::Word::narrow(Self::BOTTOM)) << 1),
        }
    }

    /// The set moved one file to either side.
    #[inline(always)]
    pub fn sideways(self) -> Self {
        let left = (self.0 << G::RANKS as u32) & G::Word::narrow(Self::ALL);
        Self(left | (self.0 >> G::RANKS as u32))
    }

    /// All squares of the files on which the set has no square. Each file may hold one square of the set at most.
    #[inline(always)]
    pub fn free_files(self) -> Self {
        // Within each file the subtraction leaves the lowest rank's bit standing only where nothing was taken away.
        let bottom = G::Word::narrow(Self::BOTTOM);
        let free = bottom.wrapping_sub(self.0) & bottom;
        Self(free | free.wrapping_sub(free >> (G::RANKS as u32 - 1)))
    }
}

impl<G: Geometry> Iterator for Bitboard<G> {
    type Item = Square;

    #[inline(always)]
    fn next(&mut self) -> Option<Square> {
        let square = self.first()?;
        self.0 &= self.0.wrapping_sub(G::Word::ONE);
        Some(square)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count(), Some(self.count()))
    }
}

macro_rules! binary_operator {
    ($($trait:ident $method:ident, $assign_trait:ident $assign:ident);*) => {$(
        impl<G: Geometry> $trait for Bitboard<G> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0.$method(other.0))
            }
        }

        impl<G: Geometry> $assign_trait for Bitboard<G> {
            #[inline(always)]
            fn $assign(&mut self, other: Self) {
                self.0.$assign(other.0);
            }
        }
    )*};
}

binary_operator!(BitAnd bitand, BitAndAssign bitand_assign; BitOr bitor, BitOrAssign bitor_assign; BitXor bitxor, BitXorAssign bitxor_assign);

impl<G: Geometry> Not for Bitboard<G> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0 & G::Word::narrow(Self::ALL))
    }
}

impl<G: Geometry> fmt::Debug for Bitboard<G> {
    /// A picture of the board, file 1 on the right, `#` for a square of the set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in 0..G::RANKS {
            for file in (0..G::FILES).rev() {
                let set = self.contains(Square::new(file * G::RANKS + rank));
                f.write_str(if set { "#" } else { "." })?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}
