//! What the network sees: the one place that knows the feature set, for inference, trainer and data loader alike.
//!
//! Each side has its own view of a position ("NNUE", Yu Nasu, 2018, <https://github.com/ynasu87/nnue>): the board is turned so that the side plays
//! upwards, and mirrored left to right, which the rules allow, if its king stands on the left. Every feature then is one of
//!
//! - a piece of either side on a square, the side's own king left out,
//! - the first, second, … piece of a type in either side's hand,
//!
//! once for each square on which the king may stand after mirroring. Which of the sides is Black is not seen: a position
//! with colors changed is worth the same, and that repetitions are not is left to the search. A feature has a *row* of weights, numbered
//! `bucket * ROWS_PER_BUCKET + feature`.

use super::network::OUTPUT_BUCKETS;
use crate::record::diagram::Diagram;
use crate::types::{Color, Hand, Piece, PieceType, Square};
use crate::variant::Variant;

/// Changes with the meaning of the features.
const VERSION: u64 = 2;
/// Marks a type that the game does not have.
const NO_SLOT: u8 = u8::MAX;

/// The numbering of features, by game.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// A small number for each type on the board, that of the king being the last.
    slots: [u8; PieceType::COUNT],
    /// Number of types on the board.
    kinds: usize,
    /// The first feature of each type in hand, counted from the first one of its owner's hand.
    hand_offsets: [u8; 8],
    /// Features of one side's hand: as many as pieces that may be held.
    hand_features: usize,
    /// Pieces that all hands together may hold.
    max_in_hands: usize,
}

const fn layout<V: Variant>() -> Layout {
    let mut layout = Layout {
        slots: [NO_SLOT; PieceType::COUNT],
        kinds: 0,
        hand_offsets: [0; 8],
        hand_features: 0,
        max_in_hands: 0,
    };
    let mut i = 0;
    while i < V::PIECES.len() {
        let (kind, count) = V::PIECES[i];
        if !matches!(kind, PieceType::King) {
            layout.slots[kind.index()] = layout.kinds as u8;
            layout.kinds += 1;
            if let Some(promoted) = kind.promoted() {
                layout.slots[promoted.index()] = layout.kinds as u8;
                layout.kinds += 1;
            }
            layout.hand_offsets[kind.index()] = layout.hand_features as u8;
            layout.hand_features += count;
        }
        i += 1;
    }
    layout.slots[PieceType::King.index()] = layout.kinds as u8;
    layout.kinds += 1;
    layout.max_in_hands = layout.hand_features;
    layout
}

/// The numbers of the feature set of a game.
#[derive(Debug)]
pub struct Features<V>(std::marker::PhantomData<V>);

impl<V: Variant> Features<V> {
    const LAYOUT: Layout = layout::<V>();
    /// Files on which a king may stand after mirroring.
    const KING_FILES: usize = V::FILES.div_ceil(2);
    const ENEMY_PIECES: usize = (Self::LAYOUT.kinds - 1) * V::SQUARES;
    const OWN_HAND: usize = Self::ENEMY_PIECES + Self::LAYOUT.kinds * V::SQUARES;
    const ENEMY_HAND: usize = Self::OWN_HAND + Self::LAYOUT.hand_features;

    /// Features that one king square has.
    pub const ROWS_PER_BUCKET: usize = Self::ENEMY_HAND + Self::LAYOUT.hand_features;
    /// King squares after mirroring.
    pub const KING_BUCKETS: usize = Self::KING_FILES * V::RANKS;
    /// All features.
    pub const ROWS: usize = Self::KING_BUCKETS * Self::ROWS_PER_BUCKET;
    /// No position has more features in one view: all pieces but the own king.
    pub const MAX_ACTIVE: usize = Self::LAYOUT.max_in_hands + 1;

    /// Tells feature sets apart that have the same size.
    pub const HASH: u64 = {
        let words = [VERSION, V::FILES as u64, V::RANKS as u64, V::KINDS as u64, Self::ROWS as u64];
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let mut i = 0;
        while i < words.len() {
            hash = (hash ^ words[i]).wrapping_mul(0x0000_0100_0000_01b3);
            i += 1;
        }
        hash
    };

    /// Which of the network's outputs is for positions with such hands: the more pieces are held, the higher.
    #[inline(always)]
    pub fn output_bucket(hands: [Hand; 2]) -> usize {
        let held: usize = V::PIECES
            .iter()
            .filter(|(kind, _)| *kind != PieceType::King)
            .map(|&(kind, _)| hands[0].count(kind) + hands[1].count(kind))
            .sum();
        (held * OUTPUT_BUCKETS / (Self::LAYOUT.max_in_hands + 1)).min(OUTPUT_BUCKETS - 1)
    }

    /// Calls `each` with the row of every feature that `color` sees. Nothing is seen without a king.
    #[inline]
    pub fn rows(diagram: &Diagram, color: Color, mut each: impl FnMut(usize)) {
        let Some(king) = diagram.king(color) else { return };
        let view = View::<V>::of(color, king);
        for &(square, piece) in &diagram.pieces {
            view.piece_row(piece, square).into_iter().for_each(&mut each);
        }
        for owner in Color::ALL {
            for &(kind, _) in V::PIECES.iter().filter(|(kind, _)| *kind != PieceType::King) {
                for count in 1..=diagram.hands[owner.index()].count(kind) {
                    each(view.hand_row(owner, kind, count));
                }
            }
        }
    }
}

/// How one side looks at the board while its king stands where it does.
#[derive(Clone, Copy, Debug)]
pub struct View<V> {
    color: Color,
    mirrored: bool,
    first_row: usize,
    game: std::marker::PhantomData<V>,
}

impl<V: Variant> View<V> {
    /// The view of `color` with its king on that square.
    #[inline(always)]
    pub fn of(color: Color, king: Square) -> Self {
        let mut view = Self { color, mirrored: false, first_row: 0, game: std::marker::PhantomData };
        let turned = view.turned(king);
        view.mirrored = turned >= Features::<V>::KING_BUCKETS;
        view.first_row = view.turned(king) * Features::<V>::ROWS_PER_BUCKET;
        view
    }

    /// The number of the way to look at the board, below 4.
    #[inline(always)]
    fn number(&self) -> usize {
        self.color.index() * 2 + usize::from(self.mirrored)
    }

    /// The number of the square as the side sees it.
    #[inline(always)]
    fn turned(&self, square: Square) -> usize {
        let square = if self.color == Color::White { square.rotated::<V>() } else { square };
        if self.mirrored { square.mirrored::<V>().index() } else { square.index() }
    }

    /// The row of a piece on a square; `None` for the own king, whose square is the bucket.
    #[inline(always)]
    pub fn piece_row(&self, piece: Piece, square: Square) -> Option<usize> {
        let own = piece.color == self.color;
        if own && piece.kind == PieceType::King {
            return None;
        }
        let side = if own { 0 } else { Features::<V>::ENEMY_PIECES };
        let slot = Features::<V>::LAYOUT.slots[piece.kind.index()] as usize;
        debug_assert!(slot < Features::<V>::LAYOUT.kinds);
        Some(self.first_row + side + slot * V::SQUARES + self.turned(square))
    }

    /// The row of the `count`-th piece, from 1, of that type in `owner`'s hand.
    #[inline(always)]
    pub fn hand_row(&self, owner: Color, kind: PieceType, count: usize) -> usize {
        let side = if owner == self.color { Features::<V>::OWN_HAND } else { Features::<V>::ENEMY_HAND };
        self.first_row + side + Features::<V>::LAYOUT.hand_offsets[kind.index()] as usize + count - 1
    }
}

/// No row: the square of a side's own king is its bucket.
const NO_ROW: u16 = u16::MAX;

/// The rows of pieces as a table, for all ways to look at the board: what [`View::piece_row`] computes.
#[derive(Clone, Debug)]
pub struct Numbering<V: Variant> {
    rows: Vec<u16>,
    game: std::marker::PhantomData<V>,
}

impl<V: Variant> Default for Numbering<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Variant> Numbering<V> {
    const OF_VIEW: usize = Piece::COUNT * V::SQUARES;

    /// The table.
    pub fn new() -> Self {
        let mut rows = vec![NO_ROW; 4 * Self::OF_VIEW];
        for (color, mirrored) in Color::ALL.into_iter().flat_map(|color| [(color, false), (color, true)]) {
            let view = View::<V> { color, mirrored, first_row: 0, game: std::marker::PhantomData };
            for kind in PieceType::ALL.into_iter().filter(|kind| V::KINDS >> kind.base().index() & 1 != 0) {
                for (piece, square) in
                    Color::ALL.iter().flat_map(|&side| Square::all::<V>().map(move |at| (Piece::new(side, kind), at)))
                {
                    let place = view.number() * Self::OF_VIEW + piece.index() * V::SQUARES + square.index();
                    rows[place] = view.piece_row(piece, square).map_or(NO_ROW, |row| row as u16);
                }
            }
        }
        Self { rows, game: std::marker::PhantomData }
    }

    /// The part for that view.
    #[inline(always)]
    pub fn of(&self, view: View<V>) -> ViewRows<'_, V> {
        let start = view.number() * Self::OF_VIEW;
        ViewRows { rows: &self.rows[start..start + Self::OF_VIEW], view }
    }
}

/// The rows that one view gives to pieces.
#[derive(Clone, Copy, Debug)]
pub struct ViewRows<'a, V: Variant> {
    rows: &'a [u16],
    view: View<V>,
}

impl<V: Variant> ViewRows<'_, V> {
    /// The row of a piece on a square, which must not be the side's own king.
    #[inline(always)]
    pub fn piece_row(&self, piece: Piece, square: Square) -> u32 {
        let row = self.rows[piece.index() * V::SQUARES + square.index()];
        debug_assert_ne!(row, NO_ROW);
        self.view.first_row as u32 + u32::from(row)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::position::{Position, Rules};
    use crate::variant::{Minishogi, Shogi};

    fn diagram<V: Variant>(sfen: &str) -> Diagram {
        Diagram::of(Position::<V>::from_sfen(sfen, Rules::default()).unwrap().board())
    }

    fn rows<V: Variant>(sfen: &str, color: Color) -> Vec<usize> {
        let mut rows = Vec::new();
        Features::<V>::rows(&diagram::<V>(sfen), color, |row| rows.push(row));
        rows.sort_unstable();
        rows
    }

    #[test]
    fn the_set_has_the_size_that_the_game_gives_it() {
        assert_eq!(Features::<Minishogi>::KING_BUCKETS, 15);
        assert_eq!(Features::<Minishogi>::ROWS_PER_BUCKET, 19 * 25 + 2 * 10);
        assert_eq!(Features::<Shogi>::KING_BUCKETS, 45);
        assert_eq!(Features::<Shogi>::ROWS_PER_BUCKET, 27 * 81 + 2 * 38);
    }

    #[test]
    fn every_feature_has_a_row_of_its_own() {
        let mut seen = HashSet::new();
        for king in Square::all::<Minishogi>().take(15) {
            let view = View::<Minishogi>::of(Color::Black, king);
            for square in Square::all::<Minishogi>() {
                for kind in PieceType::ALL.into_iter().filter(|kind| Minishogi::KINDS >> kind.base() as u16 & 1 != 0) {
                    for color in Color::ALL {
                        if let Some(row) = view.piece_row(Piece::new(color, kind), square) {
                            assert!(seen.insert(row));
                        }
                    }
                }
            }
            for &(kind, limit) in Minishogi::PIECES.iter().filter(|(kind, _)| *kind != PieceType::King) {
                for owner in Color::ALL {
                    for count in 1..=limit {
                        assert!(seen.insert(view.hand_row(owner, kind, count)));
                    }
                }
            }
        }
        assert_eq!(seen.len(), Features::<Minishogi>::ROWS);
        assert_eq!(seen.into_iter().max(), Some(Features::<Minishogi>::ROWS - 1));
    }

    #[test]
    fn mirrored_positions_look_the_same() {
        let right = "2k2/1p2r/5/P1S2/1B2K b Gsg 1";
        let left = "2k2/r2p1/5/2S1P/K2B1 b Gsg 1";
        assert_eq!(rows::<Minishogi>(right, Color::Black), rows::<Minishogi>(left, Color::Black));
        let right = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSG1GSNK b l 1";
        let left = "lnsgkgsnl/1b5r1/ppppppppp/9/9/9/PPPPPPPPP/1R5B1/KNSG1GSNL b l 1";
        assert_eq!(rows::<Shogi>(right, Color::Black), rows::<Shogi>(left, Color::Black));
    }

    #[test]
    fn a_position_with_colors_changed_looks_the_same() {
        let black = rows::<Minishogi>("2k1r/4p/5/P1S2/1B2K b Gs 1", Color::Black);
        let white = rows::<Minishogi>("k2b1/2s1p/5/P4/R1K2 w gS 1", Color::White);
        assert_eq!(black, white);
    }

    #[test]
    fn promoted_pieces_and_hands_count() {
        let all = ["4k/2+S2/5/5/K4 b - 1", "4k/2G2/5/5/K4 b - 1", "4k/2+P2/5/5/K4 b - 1", "4k/5/5/5/K4 b G 1"];
        let seen: HashSet<_> = all.iter().map(|sfen| rows::<Minishogi>(sfen, Color::White)).collect();
        assert_eq!(seen.len(), all.len());
        let two = rows::<Minishogi>("4k/5/5/5/K4 b 2G 1", Color::White);
        assert!(rows::<Minishogi>(all[3], Color::White).iter().all(|row| two.contains(row)));
    }

    #[test]
    fn output_buckets_follow_the_hands() {
        let bucket = |sfen| Features::<Minishogi>::output_bucket(diagram::<Minishogi>(sfen).hands);
        assert_eq!(bucket("4k/5/5/5/K4 b - 1"), 0);
        assert_eq!(bucket("4k/5/5/5/K4 b 2R2B2G2S2P 1"), OUTPUT_BUCKETS - 1);
        assert!(bucket("4k/5/5/5/K4 b 2Rsp 1") > 0);
    }
}
