//! The board with both hands and the side to move. Only this file changes pieces, so only it keeps the key.

use super::zobrist;
use crate::types::{Bitboard, Color, Hand, Move, MoveKind, Piece, PieceType, Square, SquareMap};
use crate::variant::Variant;

/// Pieces, hands, side to move, and their Zobrist key. Small enough to be copied at each move.
#[derive(Clone, Copy, Debug)]
pub struct Board<V: Variant> {
    by_color: [Bitboard<V>; 2],
    by_kind: [Bitboard<V>; PieceType::COUNT],
    kinds: SquareMap<V, Option<PieceType>>,
    kings: [Square; 2],
    hands: [Hand; 2],
    side_to_move: Color,
    key: u64,
}

impl<V: Variant> Board<V> {
    /// A board without pieces, Black to move. The squares of the kings mean nothing before both kings are put.
    pub(super) fn empty() -> Self {
        Self {
            by_color: [Bitboard::EMPTY; 2],
            by_kind: [Bitboard::EMPTY; PieceType::COUNT],
            kinds: SquareMap::filled(None),
            kings: [Square::new(0); 2],
            hands: [Hand::EMPTY; 2],
            side_to_move: Color::Black,
            key: 0,
        }
    }

    /// The side to move.
    #[inline(always)]
    pub fn side_to_move(&self) -> Color {
        self.side_to_move
    }

    /// The Zobrist key of all of it.
    #[inline(always)]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The Zobrist key of the pieces on the board and the side to move, whatever is held in hand.
    pub fn key_without_hands(&self) -> u64 {
        let mut key = self.key;
        for color in Color::ALL {
            let hand = self.hand(color);
            if hand.is_empty() {
                continue;
            }
            for kind in PieceType::HAND {
                for count in 1..=hand.count(kind) {
                    key ^= zobrist::hand(color, kind, count);
                }
            }
        }
        key
    }

    /// What that side holds in hand.
    #[inline(always)]
    pub fn hand(&self, color: Color) -> Hand {
        self.hands[color.index()]
    }

    /// Where that side's king stands.
    #[inline(always)]
    pub fn king(&self, color: Color) -> Square {
        self.kings[color.index()]
    }

    /// All squares with a piece of that side.
    #[inline(always)]
    pub fn of_color(&self, color: Color) -> Bitboard<V> {
        self.by_color[color.index()]
    }

    /// All squares with a piece of that type, of either side.
    #[inline(always)]
    pub fn of_kind(&self, kind: PieceType) -> Bitboard<V> {
        self.by_kind[kind.index()]
    }

    /// All squares with a piece of that side and type.
    #[inline(always)]
    pub fn pieces(&self, color: Color, kind: PieceType) -> Bitboard<V> {
        self.of_color(color) & self.of_kind(kind)
    }

    /// All squares with a piece.
    #[inline(always)]
    pub fn occupied(&self) -> Bitboard<V> {
        self.by_color[0] | self.by_color[1]
    }

    /// Pieces of either side that move as a gold.
    #[inline(always)]
    pub fn gold_movers(&self) -> Bitboard<V> {
        let mut golds =
            self.of_kind(PieceType::Gold) | self.of_kind(PieceType::ProPawn) | self.of_kind(PieceType::ProSilver);
        if V::HAS_LANCE {
            golds |= self.of_kind(PieceType::ProLance);
        }
        if V::HAS_KNIGHT {
            golds |= self.of_kind(PieceType::ProKnight);
        }
        golds
    }

    /// The type of the piece on that square.
    #[inline(always)]
    pub fn kind_on(&self, square: Square) -> Option<PieceType> {
        self.kinds[square]
    }

    /// The piece on that square.
    #[inline(always)]
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        let color = if self.by_color[0].contains(square) { Color::Black } else { Color::White };
        Some(Piece::new(color, self.kinds[square]?))
    }

    #[inline(always)]
    fn toggle(&mut self, piece: Piece, square: Square) {
        let bit = Bitboard::of(square);
        self.by_color[piece.color.index()] ^= bit;
        self.by_kind[piece.kind.index()] ^= bit;
        self.key ^= zobrist::piece(piece, square);
    }

    /// Puts a piece on an empty square.
    #[inline(always)]
    pub(super) fn put(&mut self, piece: Piece, square: Square) {
        debug_assert!(self.kinds[square].is_none());
        self.toggle(piece, square);
        self.kinds[square] = Some(piece.kind);
        if piece.kind == PieceType::King {
            self.kings[piece.color.index()] = square;
        }
    }

    #[inline(always)]
    fn remove(&mut self, piece: Piece, square: Square) {
        self.toggle(piece, square);
        self.kinds[square] = None;
    }

    /// Puts one more piece of that type into a hand.
    #[inline(always)]
    pub(super) fn give(&mut self, color: Color, kind: PieceType) {
        let hand = &mut self.hands[color.index()];
        hand.add(kind);
        self.key ^= zobrist::hand(color, kind, hand.count(kind));
    }

    /// Lets the other side move.
    #[inline(always)]
    pub(super) fn pass(&mut self) {
        self.side_to_move = !self.side_to_move;
        self.key ^= zobrist::SIDE;
    }

    /// Makes a legal move.
    #[inline]
    pub fn apply(&mut self, mv: Move) {
        let us = self.side_to_move;
        match mv.unpack() {
            Some(MoveKind::Drop { kind, to }) => {
                let hand = &mut self.hands[us.index()];
                self.key ^= zobrist::hand(us, kind, hand.count(kind));
                hand.take(kind);
                self.put(Piece::new(us, kind), to);
            }
            Some(MoveKind::Board { from, to, promote }) => {
                if let Some(captured) = self.kinds[to] {
                    self.remove(Piece::new(!us, captured), to);
                    self.give(us, captured.base());
                }
                if let Some(kind) = self.kinds[from] {
                    self.remove(Piece::new(us, kind), from);
                    let kind = if promote { kind.promoted().unwrap_or(kind) } else { kind };
                    self.put(Piece::new(us, kind), to);
                }
            }
            None => debug_assert!(false, "no move: {mv:?}"),
        }
        self.pass();
    }

    /// The key computed from nothing, to compare with the one that is kept.
    pub fn computed_key(&self) -> u64 {
        let mut key = if self.side_to_move == Color::White { zobrist::SIDE } else { 0 };
        for square in self.occupied() {
            if let Some(piece) = self.piece_on(square) {
                key ^= zobrist::piece(piece, square);
            }
        }
        for color in Color::ALL {
            for kind in PieceType::HAND {
                for count in 1..=self.hand(color).count(kind) {
                    key ^= zobrist::hand(color, kind, count);
                }
            }
        }
        key
    }

    /// The squares on which the two boards do not hold the same.
    #[inline(always)]
    pub fn differing_squares(&self, other: &Self) -> Bitboard<V> {
        let mut squares = (self.by_color[0] ^ other.by_color[0]) | (self.by_color[1] ^ other.by_color[1]);
        for (mine, theirs) in self.by_kind.iter().zip(&other.by_kind) {
            squares |= *mine ^ *theirs;
        }
        squares
    }

    /// The pieces of `color` that attack the square, if the board were occupied as given.
    #[inline]
    pub fn attackers(&self, color: Color, square: Square, occupied: Bitboard<V>) -> Bitboard<V> {
        let attacks = V::ATTACKS;
        let back = (!color).index();
        let rooks = self.of_kind(PieceType::Rook) | self.of_kind(PieceType::Dragon);
        let bishops = self.of_kind(PieceType::Bishop) | self.of_kind(PieceType::Horse);
        let kings = self.of_kind(PieceType::King) | self.of_kind(PieceType::Dragon) | self.of_kind(PieceType::Horse);
        let mut found = attacks.pawn[back][square] & self.of_kind(PieceType::Pawn)
            | attacks.silver[back][square] & self.of_kind(PieceType::Silver)
            | attacks.gold[back][square] & self.gold_movers()
            | attacks.king[square] & kings
            | attacks.rook(square, occupied) & rooks
            | attacks.bishop(square, occupied) & bishops;
        if V::HAS_KNIGHT {
            found |= attacks.knight[back][square] & self.of_kind(PieceType::Knight);
        }
        if V::HAS_LANCE {
            found |= attacks.lance(!color, square, occupied) & self.of_kind(PieceType::Lance);
        }
        found & self.of_color(color)
    }

    /// The sliders that would attack the king of `color` if nothing stood between.
    #[inline]
    pub fn snipers(&self, color: Color) -> Bitboard<V> {
        let attacks = V::ATTACKS;
        let king = self.king(color);
        let rooks = self.of_kind(PieceType::Rook) | self.of_kind(PieceType::Dragon);
        let bishops = self.of_kind(PieceType::Bishop) | self.of_kind(PieceType::Horse);
        let mut found = attacks.rook_rays(king) & rooks | attacks.bishop_rays(king) & bishops;
        if V::HAS_LANCE {
            found |= attacks.lance_ray(color, king) & self.of_kind(PieceType::Lance);
        }
        found & self.of_color(!color)
    }

    /// All squares that `color` attacks, if the board were occupied as given. Steps are taken by whole sets.
    #[inline]
    pub fn attacked_by(&self, color: Color, occupied: Bitboard<V>) -> Bitboard<V> {
        let own = self.of_color(color);
        let attacks = V::ATTACKS;
        let back = !color;

        let golds = self.gold_movers() & own;
        let silvers = self.of_kind(PieceType::Silver) & own;
        let kings =
            (self.of_kind(PieceType::King) | self.of_kind(PieceType::Horse) | self.of_kind(PieceType::Dragon)) & own;
        let pawns = self.of_kind(PieceType::Pawn) & own;

        let ahead = (golds | silvers | kings | pawns).forward(color);
        let beside_ahead = (golds | silvers | kings).forward(color);
        let behind = (golds | kings).forward(back);
        let beside_behind = (silvers | kings).forward(back);
        let mut found = ahead | behind | (beside_ahead | beside_behind | golds | kings).sideways();

        if V::HAS_KNIGHT {
            let knights = self.of_kind(PieceType::Knight) & own;
            found |= knights.forward(color).forward(color).sideways();
        }
        for square in (self.of_kind(PieceType::Rook) | self.of_kind(PieceType::Dragon)) & own {
            found |= attacks.rook(square, occupied);
        }
        for square in (self.of_kind(PieceType::Bishop) | self.of_kind(PieceType::Horse)) & own {
            found |= attacks.bishop(square, occupied);
        }
        if V::HAS_LANCE {
            for square in self.of_kind(PieceType::Lance) & own {
                found |= attacks.lance(color, square, occupied);
            }
        }
        found
    }
}
