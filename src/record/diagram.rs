//! A position taken apart: what stands where, without the tables that playing needs.

use arrayvec::ArrayVec;

use crate::position::{Board, Position, Rules, SfenError};
use crate::types::{Color, Hand, Piece, PieceType, Square};
use crate::variant::Variant;

/// No game has more pieces.
pub const MAX_PIECES: usize = 40;

/// The pieces on the board, the hands and the side to move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagram {
    /// The pieces on the board in the order of their squares.
    pub pieces: ArrayVec<(Square, Piece), MAX_PIECES>,
    /// What Black and White hold.
    pub hands: [Hand; 2],
    /// The side to move.
    pub side_to_move: Color,
}

impl Diagram {
    /// What the board shows.
    pub fn of<V: Variant>(board: &Board<V>) -> Self {
        let pieces = board.occupied().filter_map(|square| Some((square, board.piece_on(square)?))).collect();
        Self { pieces, hands: Color::ALL.map(|color| board.hand(color)), side_to_move: board.side_to_move() }
    }

    /// The position that it shows, with nothing known of the moves that led there.
    ///
    /// # Errors
    /// Whatever would make it unplayable: see [`SfenError`].
    pub fn position<V: Variant>(&self, rules: Rules) -> Result<Position<V>, SfenError> {
        Position::from_pieces(self.pieces.iter().copied(), self.hands, self.side_to_move, rules)
    }

    /// Where that side's king stands.
    pub fn king(&self, color: Color) -> Option<Square> {
        let king = Piece::new(color, PieceType::King);
        self.pieces.iter().find_map(|&(square, piece)| (piece == king).then_some(square))
    }

    /// Whether the game has these pieces in these numbers, and each side one king.
    pub fn is_sound<V: Variant>(&self) -> bool {
        let mut counts = [0; PieceType::COUNT];
        let mut kings = [0; 2];
        for &(square, piece) in &self.pieces {
            if square.index() >= V::SQUARES {
                return false;
            }
            counts[piece.kind.base().index()] += 1;
            kings[piece.color.index()] += usize::from(piece.kind == PieceType::King);
        }
        for kind in PieceType::HAND {
            counts[kind.index()] += self.hands[0].count(kind) + self.hands[1].count(kind);
        }
        let mut limits = [0; PieceType::COUNT];
        for &(kind, limit) in V::PIECES {
            limits[kind.index()] = limit;
        }
        kings == [1, 1] && counts.iter().zip(limits).all(|(&count, limit)| count <= limit)
    }
}
