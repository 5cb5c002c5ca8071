//! Shogi (本将棋): 9x9.

use super::{RepetitionRule, Variant};
use crate::attacks::Attacks;
use crate::types::PieceType;
use crate::{attack_tables, geometry};

/// The game on 9x9.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Shogi;

geometry!(Shogi: 9 files, 9 ranks, u128, 128 slots);

static ATTACKS: Attacks<Shogi> = attack_tables!(Shogi, u128, 128);

impl Variant for Shogi {
    const NAME: &'static str = "shogi";
    const ALIASES: &'static [&'static str] = &["9x9", "standard"];
    const START_SFEN: &'static str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    const ATTACKS: &'static Attacks<Self> = &ATTACKS;
    const PROMOTION_RANKS: usize = 3;
    const PIECES: &'static [(PieceType, usize)] = &[
        (PieceType::Pawn, 18),
        (PieceType::Lance, 4),
        (PieceType::Knight, 4),
        (PieceType::Silver, 4),
        (PieceType::Gold, 4),
        (PieceType::Bishop, 2),
        (PieceType::Rook, 2),
        (PieceType::King, 2),
    ];
    const REPETITION: RepetitionRule = RepetitionRule::DrawExceptPerpetual;
    const DECLARATION: bool = true;
}
