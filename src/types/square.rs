//! Squares, and arrays with a slot for each.

use std::fmt::Debug;
use std::ops::{Index, IndexMut};

use crate::geometry::Geometry;

/// A square of some board, numbered as [`mod@crate::geometry`] says. The board gives the number its meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Square(u8);

impl Square {
    /// The square with that number, which must be below `SQUARES` of the board it is used on.
    #[inline(always)]
    pub const fn new(index: usize) -> Self {
        debug_assert!(index < 128);
        Self(index as u8)
    }

    /// The square at that file (0 = USI file `1`) and rank (0 = `a`), or `None` off the board.
    #[inline]
    pub fn at<G: Geometry>(file: usize, rank: usize) -> Option<Self> {
        (file < G::FILES && rank < G::RANKS).then(|| Self::new(file * G::RANKS + rank))
    }

    /// The number of the square.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The file, 0 = USI file `1`.
    #[inline(always)]
    pub const fn file<G: Geometry>(self) -> usize {
        self.index() / G::RANKS
    }

    /// The rank, 0 = `a`.
    #[inline(always)]
    pub const fn rank<G: Geometry>(self) -> usize {
        self.index() % G::RANKS
    }

    /// The square that this one becomes when the board is turned by 180 degrees.
    #[inline(always)]
    pub const fn rotated<G: Geometry>(self) -> Self {
        Self::new(G::SQUARES - 1 - self.index())
    }

    /// The square mirrored left to right.
    #[inline(always)]
    pub const fn mirrored<G: Geometry>(self) -> Self {
        Self::new((G::FILES - 1 - self.file::<G>()) * G::RANKS + self.rank::<G>())
    }

    /// Every square of the board.
    pub fn all<G: Geometry>() -> impl DoubleEndedIterator<Item = Self> {
        (0..G::SQUARES).map(Self::new)
    }

    /// The USI name, such as `5e`.
    pub fn to_usi<G: Geometry>(self) -> String {
        format!("{}{}", self.file::<G>() + 1, (b'a' + self.rank::<G>() as u8) as char)
    }

    /// Reads a USI name from its two bytes; `None` if it names no square of this board.
    pub fn from_usi<G: Geometry>(file: u8, rank: u8) -> Option<Self> {
        let file = file.checked_sub(b'1')?;
        let rank = rank.checked_sub(b'a')?;
        Self::at::<G>(file.into(), rank.into())
    }
}

/// An array with a value for each square of a board.
#[derive(Clone, Copy, Debug)]
pub struct SquareMap<G: Geometry, T: Copy + Debug + Send + Sync>(pub G::PerSquare<T>);

impl<G: Geometry, T: Copy + Debug + Send + Sync> SquareMap<G, T> {
    /// The same value for each square.
    pub fn filled(value: T) -> Self {
        Self(G::filled(value))
    }
}

impl<G: Geometry, T: Copy + Debug + Send + Sync> Index<Square> for SquareMap<G, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, square: Square) -> &T {
        debug_assert!(square.index() < G::SQUARES);
        &self.0.as_ref()[square.index() & (G::SLOTS - 1)]
    }
}

impl<G: Geometry, T: Copy + Debug + Send + Sync> IndexMut<Square> for SquareMap<G, T> {
    #[inline(always)]
    fn index_mut(&mut self, square: Square) -> &mut T {
        debug_assert!(square.index() < G::SQUARES);
        &mut self.0.as_mut()[square.index() & (G::SLOTS - 1)]
    }
}
