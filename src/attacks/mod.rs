//! Where each piece attacks: tables for the steps, masks for the lines of the sliders.
//!
//! Sliders need no table of occupancies. On a line through a square, the blocked part lies between the nearest
//! occupied square below it and the nearest above it, and one subtraction gives all bits between two given bits. This
//! is the *obstruction difference* of Gerd Isenberg and Michael Hoffmann (chessprogramming.org, "Obstruction
//! Difference"); it works for any board and any word.

mod tables;

pub use tables::{between_table, line_table, step_table, steps};

use crate::geometry::{Geometry, Word};
use crate::types::{Bitboard, Color, Piece, PieceType, Square, SquareMap};

/// The two rays of one line through a square, without the square itself.
#[derive(Clone, Copy, Debug)]
pub struct Line<G: Geometry> {
    /// The ray towards lower square numbers.
    pub lower: Bitboard<G>,
    /// The ray towards higher square numbers.
    pub upper: Bitboard<G>,
}

impl<G: Geometry> Line<G> {
    /// What a slider attacks on this line, up to and including the first occupied square on either side.
    #[inline(always)]
    fn attacks(&self, occupied: Bitboard<G>) -> Bitboard<G> {
        let lower = (self.lower & occupied).0;
        let upper = (self.upper & occupied).0;
        let nearest_below = (G::Word::ONE << (G::Word::BITS - 1)) >> (lower | G::Word::ONE).leading_zeros();
        let nearest_above = upper & G::Word::ZERO.wrapping_sub(upper);
        let reached = (nearest_above << 1).wrapping_sub(nearest_below);
        Bitboard((self.lower | self.upper).0 & reached)
    }

    /// Both rays.
    #[inline(always)]
    fn whole(&self) -> Bitboard<G> {
        self.lower | self.upper
    }
}

/// The attack tables of one board, made at compile time by [`attack_tables!`](crate::attack_tables!).
#[derive(Debug)]
pub struct Attacks<G: Geometry> {
    /// By color and square.
    pub pawn: [SquareMap<G, Bitboard<G>>; 2],
    /// By color and square.
    pub knight: [SquareMap<G, Bitboard<G>>; 2],
    /// By color and square.
    pub silver: [SquareMap<G, Bitboard<G>>; 2],
    /// By color and square; also the moves of promoted pawns, lances, knights and silvers.
    pub gold: [SquareMap<G, Bitboard<G>>; 2],
    /// By square.
    pub king: SquareMap<G, Bitboard<G>>,
    /// The file and the rank through each square.
    pub orthogonal: [SquareMap<G, Line<G>>; 2],
    /// The two diagonals through each square.
    pub diagonal: [SquareMap<G, Line<G>>; 2],
    /// The squares strictly between two squares of one line; empty for any other two.
    pub between: SquareMap<G, SquareMap<G, Bitboard<G>>>,
}

impl<G: Geometry> Attacks<G> {
    /// What a rook on that square attacks.
    ///
    /// ```
    /// use kozuka::types::{Bitboard, Square};
    /// use kozuka::variant::{Minishogi, Variant};
    ///
    /// let square = |file, rank| Square::from_usi::<Minishogi>(file, rank).unwrap();
    /// let occupied = Bitboard::of(square(b'4', b'c')) | Bitboard::of(square(b'3', b'e'));
    /// let attacks = Minishogi::ATTACKS.rook(square(b'3', b'c'), occupied);
    /// assert_eq!(format!("{attacks:?}"), "..#..\n..#..\n.#.##\n..#..\n..#..\n");
    /// ```
    #[inline(always)]
    pub fn rook(&self, square: Square, occupied: Bitboard<G>) -> Bitboard<G> {
        self.orthogonal[0][square].attacks(occupied) | self.orthogonal[1][square].attacks(occupied)
    }

    /// What a bishop on that square attacks.
    ///
    /// ```
    /// use kozuka::types::{Bitboard, Square};
    /// use kozuka::variant::{Minishogi, Variant};
    ///
    /// let square = |file, rank| Square::from_usi::<Minishogi>(file, rank).unwrap();
    /// let occupied = Bitboard::of(square(b'4', b'b'));
    /// let attacks = Minishogi::ATTACKS.bishop(square(b'3', b'c'), occupied);
    /// assert_eq!(format!("{attacks:?}"), "....#\n.#.#.\n.....\n.#.#.\n#...#\n");
    /// ```
    #[inline(always)]
    pub fn bishop(&self, square: Square, occupied: Bitboard<G>) -> Bitboard<G> {
        self.diagonal[0][square].attacks(occupied) | self.diagonal[1][square].attacks(occupied)
    }

    /// What a lance of that side on that square attacks.
    #[inline(always)]
    pub fn lance(&self, color: Color, square: Square, occupied: Bitboard<G>) -> Bitboard<G> {
        self.orthogonal[0][square].attacks(occupied) & self.lance_ray(color, square)
    }

    /// What a rook attacks on an empty board.
    #[inline(always)]
    pub fn rook_rays(&self, square: Square) -> Bitboard<G> {
        self.orthogonal[0][square].whole() | self.orthogonal[1][square].whole()
    }

    /// What a bishop attacks on an empty board.
    #[inline(always)]
    pub fn bishop_rays(&self, square: Square) -> Bitboard<G> {
        self.diagonal[0][square].whole() | self.diagonal[1][square].whole()
    }

    /// What a lance attacks on an empty board.
    #[inline(always)]
    pub fn lance_ray(&self, color: Color, square: Square) -> Bitboard<G> {
        match color {
            Color::Black => self.orthogonal[0][square].lower,
            Color::White => self.orthogonal[0][square].upper,
        }
    }

    /// What the piece attacks from that square.
    ///
    /// ```
    /// use kozuka::types::{Bitboard, Color, Piece, PieceType, Square};
    /// use kozuka::variant::{Minishogi, Variant};
    ///
    /// let square = Square::from_usi::<Minishogi>(b'3', b'c').unwrap();
    /// let picture = |color, kind| {
    ///     let attacks = Minishogi::ATTACKS.of(Piece::new(color, kind), square, Bitboard::EMPTY);
    ///     format!("{attacks:?}")
    /// };
    /// assert_eq!(picture(Color::Black, PieceType::Silver), ".....\n.###.\n.....\n.#.#.\n.....\n");
    /// assert_eq!(picture(Color::White, PieceType::ProSilver), ".....\n..#..\n.#.#.\n.###.\n.....\n");
    /// assert_eq!(picture(Color::Black, PieceType::Horse), "#...#\n.###.\n.#.#.\n.###.\n#...#\n");
    /// ```
    #[inline(always)]
    pub fn of(&self, piece: Piece, square: Square, occupied: Bitboard<G>) -> Bitboard<G> {
        let side = piece.color.index();
        match piece.kind {
            PieceType::Pawn => self.pawn[side][square],
            PieceType::Lance => self.lance(piece.color, square, occupied),
            PieceType::Knight => self.knight[side][square],
            PieceType::Silver => self.silver[side][square],
            PieceType::Gold
            | PieceType::ProPawn
            | PieceType::ProLance
            | PieceType::ProKnight
            | PieceType::ProSilver => self.gold[side][square],
            PieceType::Bishop => self.bishop(square, occupied),
            PieceType::Rook => self.rook(square, occupied),
            PieceType::King => self.king[square],
            PieceType::Horse => self.bishop(square, occupied) | self.king[square],
            PieceType::Dragon => self.rook(square, occupied) | self.king[square],
        }
    }
}

#[cfg(test)]
mod tests;
