//! Minishogi (5五将棋): 5x5, one of each piece.

use super::{RepetitionRule, Variant};
use crate::attacks::Attacks;
use crate::types::PieceType;
use crate::{attack_tables, geometry};

/// The game on 5x5.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Minishogi;

geometry!(Minishogi: 5 files, 5 ranks, u32, 32 slots);

static ATTACKS: Attacks<Minishogi> = attack_tables!(Minishogi, u32, 32);

impl Variant for Minishogi {
    const NAME: &'static str = "minishogi";
    const ALIASES: &'static [&'static str] = &["mini", "5x5", "5x5+5_shogi"];
    const START_SFEN: &'static str = "rbsgk/4p/5/P4/KGSBR b - 1";
    const ATTACKS: &'static Attacks<Self> = &ATTACKS;
    const PROMOTION_RANKS: usize = 1;
    const PIECES: &'static [(PieceType, usize)] = &[
        (PieceType::Pawn, 2),
        (PieceType::Silver, 2),
        (PieceType::Gold, 2),
        (PieceType::Bishop, 2),
        (PieceType::Rook, 2),
        (PieceType::King, 2),
    ];
    const REPETITION: RepetitionRule = RepetitionRule::Setting;
}
