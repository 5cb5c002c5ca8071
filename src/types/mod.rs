//! Small values that everything else is made of. Only [`Bitboard`] and [`SquareMap`] depend on the board.

mod bitboard;
mod color;
mod hand;
mod moves;
mod piece;
pub mod score;
mod square;

pub use bitboard::Bitboard;
pub use color::Color;
pub use hand::Hand;
pub use moves::{Move, MoveKind, MoveList};
pub use piece::{Piece, PieceType};
pub use score::Score;
pub use square::{Square, SquareMap};
