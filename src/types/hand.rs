//! The pieces that a side holds in hand.

use super::PieceType;

/// Counts of the seven types of pieces that can be held, packed into one word: four bits a type, eight for pawns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Hand(u32);

impl Hand {
    /// Nothing in hand.
    pub const EMPTY: Self = Self(0);

    /// Where the count of a type begins. Pawns stand last since they need the widest field.
    #[inline(always)]
    const fn shift(kind: PieceType) -> u32 {
        match kind {
            PieceType::Pawn => 24,
            other => (other.index() as u32 - 1) * 4,
        }
    }

    const fn mask(kind: PieceType) -> u32 {
        match kind {
            PieceType::Pawn => 0xff,
            _ => 0xf,
        }
    }

    /// How many of that (unpromoted) type are held.
    #[inline(always)]
    pub const fn count(self, kind: PieceType) -> usize {
        (self.0 >> Self::shift(kind) & Self::mask(kind)) as usize
    }

    /// All counts in one number, to hash.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether there is one of that type.
    #[inline(always)]
    pub const fn has(self, kind: PieceType) -> bool {
        self.0 & (Self::mask(kind) << Self::shift(kind)) != 0
    }

    /// Whether nothing is held.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One more of that type.
    #[inline(always)]
    pub const fn add(&mut self, kind: PieceType) {
        debug_assert!(self.count(kind) < Self::mask(kind) as usize);
        self.0 += 1 << Self::shift(kind);
    }

    /// One less of that type, of which there must be one.
    #[inline(always)]
    pub const fn take(&mut self, kind: PieceType) {
        debug_assert!(self.has(kind));
        self.0 -= 1 << Self::shift(kind);
    }

    /// The reverse of [`Hand::bits`].
    #[inline(always)]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Whether this hand holds at least what `other` holds, of every type.
    pub fn covers(self, other: Self) -> bool {
        PieceType::HAND.iter().all(|&kind| self.count(kind) >= other.count(kind))
    }
}
