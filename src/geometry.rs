//! The shape of a board: how many files and ranks, and which machine word holds one bit a square.
//!
//! Squares are numbered file by file from the right-hand side (USI file `1`), each file from the top (rank `a`), so
//! that a file is a run of adjacent bits: square = file * RANKS + rank.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Shl, Shr};

/// A machine word with at least one bit for each square of a board.
pub trait Word:
    Copy
    + Eq
    + Ord
    + Hash
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + BitXorAssign
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// No bit set.
    const ZERO: Self;
    /// Bit 0 set.
    const ONE: Self;
    /// Width in bits.
    const BITS: u32;

    /// Number of set bits.
    fn count_ones(self) -> u32;
    /// Index of the lowest set bit; `BITS` if there is none.
    fn trailing_zeros(self) -> u32;
    /// Number of clear bits above the highest set bit; `BITS` if there is none.
    fn leading_zeros(self) -> u32;
    /// Wrapping subtraction.
    fn wrapping_sub(self, other: Self) -> Self;
    /// The low bits of `wide`.
    fn narrow(wide: u128) -> Self;
    /// The same bits in the widest word.
    fn widen(self) -> u128;
}

macro_rules! impl_word {
    ($($word:ty),*) => {$(
        impl Word for $word {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const BITS: u32 = <$word>::BITS;

            #[inline(always)]
            fn count_ones(self) -> u32 {
                self.count_ones()
            }
            #[inline(always)]
            fn trailing_zeros(self) -> u32 {
                self.trailing_zeros()
            }
            #[inline(always)]
            fn leading_zeros(self) -> u32 {
                self.leading_zeros()
            }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn narrow(wide: u128) -> Self {
                wide as $word
            }
            #[inline(always)]
            fn widen(self) -> u128 {
                self as u128
            }
        }
    )*};
}

impl_word!(u32, u64, u128);

/// The dimensions of a board. Implemented by zero-sized marker types, through [`geometry!`](crate::geometry!).
pub trait Geometry: Copy + Eq + Ord + Hash + Debug + Default + Send + Sync + 'static {
    /// The word that holds one bit a square.
    type Word: Word;
    /// An array with a slot for each square, its length the next power of two, so that a masked index needs no check.
    type PerSquare<T: Copy + Debug + Send + Sync>: Copy + Debug + AsRef<[T]> + AsMut<[T]> + Send + Sync;

    /// Number of files, at most 9.
    const FILES: usize;
    /// Number of ranks, at most 9.
    const RANKS: usize;
    /// Number of squares.
    const SQUARES: usize = Self::FILES * Self::RANKS;
    /// Length of a [`Self::PerSquare`] array: the power of two next above `SQUARES`.
    const SLOTS: usize = Self::SQUARES.next_power_of_two();

    /// A per-square array filled with one value.
    fn filled<T: Copy + Debug + Send + Sync>(value: T) -> Self::PerSquare<T>;
}

/// Implements [`Geometry`] for a marker type: `geometry!(Minishogi: 5 files, 5 ranks, u32, 32 slots)`.
#[macro_export]
macro_rules! geometry {
    ($name:ident: $files:literal files, $ranks:literal ranks, $word:ty, $slots:literal slots) => {
        impl $crate::geometry::Geometry for $name {
            type Word = $word;
            type PerSquare<T: Copy + std::fmt::Debug + Send + Sync> = [T; $slots];

            const FILES: usize = $files;
            const RANKS: usize = $ranks;

            #[inline(always)]
            fn filled<T: Copy + std::fmt::Debug + Send + Sync>(value: T) -> [T; $slots] {
                [value; $slots]
            }
        }

        const _: () = assert!(
            $files <= 9
                && $ranks <= 9
                && $slots == ($files * $ranks as usize).next_power_of_two()
                && $files * $ranks <= <$word>::BITS as usize,
            "at most nine files and ranks; slots must be the next power of two, and the word must hold all squares"
        );
    };
}
