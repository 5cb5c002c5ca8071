//! Moves and lists of moves.

use std::num::NonZeroU16;

use arrayvec::ArrayVec;

use super::{Color, PieceType, Square};
use crate::geometry::Geometry;

/// A move of a piece on the board or a drop, in 16 bits: to (7 bits), from or dropped type (7), promotion (1), drop (1).
///
/// `Option<Move>` takes no more room, since the word is never zero: a board move from square 0 to square 0 is none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Move(NonZeroU16);

/// A move taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveKind {
    /// A piece goes from one square to another.
    Board {
        /// Where it stood.
        from: Square,
        /// Where it goes.
        to: Square,
        /// Whether it promotes.
        promote: bool,
    },
    /// A piece comes from the hand.
    Drop {
        /// Its type.
        kind: PieceType,
        /// Where it is dropped.
        to: Square,
    },
}

/// The legal moves of a position. No position of a 9x9 game has more than 593.
pub type MoveList = ArrayVec<Move, 600>;

const FROM_SHIFT: u32 = 7;
const SQUARE_MASK: u16 = 0x7f;
const PROMOTE: u16 = 1 << 14;
const DROP: u16 = 1 << 15;

/// The word of a move with its squares counted from the mover's end of the board.
#[inline(always)]
const fn turn(word: u16, mover: Color) -> u16 {
    let squares = if word & DROP != 0 { SQUARE_MASK } else { SQUARE_MASK << FROM_SHIFT | SQUARE_MASK };
    match mover {
        Color::Black => word,
        Color::White => word ^ squares,
    }
}

impl Move {
    #[inline(always)]
    const fn from_word(word: u16) -> Self {
        match NonZeroU16::new(word) {
            Some(word) => Self(word),
            None => panic!("a move must go somewhere"),
        }
    }

    /// A board move. `from` and `to` must differ.
    #[inline(always)]
    pub const fn board(from: Square, to: Square, promote: bool) -> Self {
        debug_assert!(from.index() != to.index());
        let promote = if promote { PROMOTE } else { 0 };
        Self::from_word((from.index() as u16) << FROM_SHIFT | to.index() as u16 | promote)
    }

    /// A drop of that (unpromoted) type.
    #[inline(always)]
    pub const fn drop(kind: PieceType, to: Square) -> Self {
        Self::from_word(DROP | (kind.index() as u16) << FROM_SHIFT | to.index() as u16)
    }

    /// A number that orders moves as their mover sees the board: if it is turned and colors are changed, turned moves
    /// stand in the same order.
    #[inline(always)]
    pub const fn order(self, mover: Color) -> u16 {
        turn(self.0.get(), mover)
    }

    /// The move of which that is the [`Move::order`].
    #[inline(always)]
    pub const fn from_order(order: u16, mover: Color) -> Option<Self> {
        // Turning twice changes nothing.
        match NonZeroU16::new(turn(order, mover)) {
            Some(word) => Some(Self(word)),
            None => None,
        }
    }

    /// The destination.
    #[inline(always)]
    pub const fn to(self) -> Square {
        Square::new((self.0.get() & SQUARE_MASK) as usize)
    }

    /// Whether the piece comes from the hand.
    #[inline(always)]
    pub const fn is_drop(self) -> bool {
        self.0.get() & DROP != 0
    }

    /// Whether the piece promotes.
    #[inline(always)]
    pub const fn is_promotion(self) -> bool {
        self.0.get() & PROMOTE != 0
    }

    /// The move taken apart; `None` if the bits are no move at all (they may come from a table that another thread
    /// was writing to).
    #[inline(always)]
    pub const fn unpack(self) -> Option<MoveKind> {
        let middle = (self.0.get() >> FROM_SHIFT & SQUARE_MASK) as usize;
        if !self.is_drop() {
            return Some(MoveKind::Board { from: Square::new(middle), to: self.to(), promote: self.is_promotion() });
        }
        match PieceType::from_index(middle) {
            Some(kind) if middle < 7 && !self.is_promotion() => Some(MoveKind::Drop { kind, to: self.to() }),
            _ => None,
        }
    }

    /// The move as 16 bits, for tables. Never zero.
    #[inline(always)]
    pub const fn bits(self) -> u16 {
        self.0.get()
    }

    /// The reverse of [`Move::bits`]. The result need not be legal, nor even make sense, in any position.
    #[inline(always)]
    pub const fn from_bits(bits: u16) -> Option<Self> {
        match NonZeroU16::new(bits) {
            Some(word) => Some(Self(word)),
            None => None,
        }
    }

    /// The move in USI notation: `2e2d`, `2b2a+`, `P*3c`.
    pub fn to_usi<G: Geometry>(self) -> String {
        match self.unpack() {
            Some(MoveKind::Board { from, to, promote }) => {
                format!("{}{}{}", from.to_usi::<G>(), to.to_usi::<G>(), if promote { "+" } else { "" })
            }
            Some(MoveKind::Drop { kind, to }) => format!("{}*{}", kind.letter(), to.to_usi::<G>()),
            None => "0000".to_owned(),
        }
    }

    /// Reads USI notation; `None` if it is not a move between squares of this board. Piece letters may be in lower case.
    pub fn from_usi<G: Geometry>(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if let [letter, b'*', file, rank] = *bytes {
            let kind = PieceType::from_letter(letter as char)?;
            return (kind != PieceType::King).then_some(Self::drop(kind, Square::from_usi::<G>(file, rank)?));
        }
        let (squares, promote) = match *bytes {
            [a, b, c, d] => ([a, b, c, d], false),
            [a, b, c, d, b'+'] => ([a, b, c, d], true),
            _ => return None,
        };
        let from = Square::from_usi::<G>(squares[0], squares[1])?;
        let to = Square::from_usi::<G>(squares[2], squares[3])?;
        (from != to).then(|| Self::board(from, to, promote))
    }
}
