//! What differs between the games: pieces, promotion zone, start position, the judgement of repetitions.
//!
//! A new game is one new file here (see `minishogi.rs`) and one name in `variants!` in `engine/games.rs`.

mod minishogi;
mod shogi;

pub use minishogi::Minishogi;
pub use shogi::Shogi;

use crate::attacks::Attacks;
use crate::geometry::Geometry;
use crate::types::PieceType;

/// Whether, and how, the `Sennichite` setting applies to a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RepetitionRule {
    /// The setting decides.
    Setting,
    /// Always a draw, but a side that gave perpetual check loses.
    DrawExceptPerpetual,
}

/// A game of the shogi family.
pub trait Variant: Geometry {
    /// The name in USI, in lower case.
    const NAME: &'static str;
    /// Other names that clients use for the game.
    const ALIASES: &'static [&'static str];
    /// The usual start position.
    const START_SFEN: &'static str;
    /// Attack tables of the board.
    const ATTACKS: &'static Attacks<Self>;
    /// Number of farthest ranks in which, and out of which, pieces promote.
    const PROMOTION_RANKS: usize;
    /// The unpromoted types of the game with the number of such pieces in the whole set, kings included.
    const PIECES: &'static [(PieceType, usize)];
    /// How repetitions end the game.
    const REPETITION: RepetitionRule;
    /// Whether a side may declare victory by entering king under the 27-point rule.
    const DECLARATION: bool = false;

    /// One bit for each type of [`Self::PIECES`].
    const KINDS: u16 = kinds(Self::PIECES);
    /// Whether the game has lances.
    const HAS_LANCE: bool = Self::KINDS >> PieceType::Lance as u16 & 1 != 0;
    /// Whether the game has knights.
    const HAS_KNIGHT: bool = Self::KINDS >> PieceType::Knight as u16 & 1 != 0;
}

const fn kinds(pieces: &[(PieceType, usize)]) -> u16 {
    let mut mask = 0;
    let mut i = 0;
    while i < pieces.len() {
        // One side may hold them all: there must be room in its hand, and a key for each.
        let room = if matches!(pieces[i].0, PieceType::Pawn) { 18 } else { 15 };
        assert!(pieces[i].1 <= room, "more pieces than a hand can hold");
        mask |= 1 << pieces[i].0 as u16;
        i += 1;
    }
    mask
}
