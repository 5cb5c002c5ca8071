//! A new board is one file: two games that the engine does not know, defined here with its public interface only.

use kozuka::attacks::Attacks;
use kozuka::types::PieceType;
use kozuka::variant::{RepetitionRule, Variant};
use kozuka::{attack_tables, geometry};

/// Goro goro shogi plus (ごろごろどうぶつしょうぎプラス): 5 files, 6 ranks, no sliders but the lance in hand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GoroGoroPlus;

geometry!(GoroGoroPlus: 5 files, 6 ranks, u32, 32 slots);

static GORO_GORO_ATTACKS: Attacks<GoroGoroPlus> = attack_tables!(GoroGoroPlus, u32, 32);

impl Variant for GoroGoroPlus {
    const NAME: &'static str = "gorogoroplus";
    const ALIASES: &'static [&'static str] = &[];
    const START_SFEN: &'static str = "sgkgs/5/1ppp1/1PPP1/5/SGKGS b LNln 1";
    const ATTACKS: &'static Attacks<Self> = &GORO_GORO_ATTACKS;
    const PROMOTION_RANKS: usize = 2;
    const PIECES: &'static [(PieceType, usize)] = &[
        (PieceType::Pawn, 6),
        (PieceType::Lance, 2),
        (PieceType::Knight, 2),
        (PieceType::Silver, 4),
        (PieceType::Gold, 4),
        (PieceType::King, 2),
    ];
    const REPETITION: RepetitionRule = RepetitionRule::Setting;
}

/// Judkins shogi: 6x6, one of each piece but the lance, in a word of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Judkins;

geometry!(Judkins: 6 files, 6 ranks, u64, 64 slots);

static JUDKINS_ATTACKS: Attacks<Judkins> = attack_tables!(Judkins, u64, 64);

impl Variant for Judkins {
    const NAME: &'static str = "judkins";
    const ALIASES: &'static [&'static str] = &[];
    const START_SFEN: &'static str = "rbnsgk/5p/6/6/P5/KGSNBR b - 1";
    const ATTACKS: &'static Attacks<Self> = &JUDKINS_ATTACKS;
    const PROMOTION_RANKS: usize = 2;
    const PIECES: &'static [(PieceType, usize)] = &[
        (PieceType::Pawn, 2),
        (PieceType::Knight, 2),
        (PieceType::Silver, 2),
        (PieceType::Gold, 2),
        (PieceType::Bishop, 2),
        (PieceType::Rook, 2),
        (PieceType::King, 2),
    ];
    const REPETITION: RepetitionRule = RepetitionRule::Setting;
}
