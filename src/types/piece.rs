//! Piece types and coloured pieces.

use super::Color;

/// A type of piece. Unpromoted types are 0–7, a promoted one is its base plus 8.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum PieceType {
    Pawn = 0,
    Lance = 1,
    Knight = 2,
    Silver = 3,
    Gold = 4,
    Bishop = 5,
    Rook = 6,
    King = 7,
    ProPawn = 8,
    ProLance = 9,
    ProKnight = 10,
    ProSilver = 11,
    /// Promoted bishop (`+B`).
    Horse = 13,
    /// Promoted rook (`+R`).
    Dragon = 14,
}

impl PieceType {
    /// Length of an array indexed by [`PieceType::index`].
    pub const COUNT: usize = 16;

    /// Every type of piece.
    pub const ALL: [Self; 14] = [
        Self::Pawn,
        Self::Lance,
        Self::Knight,
        Self::Silver,
        Self::Gold,
        Self::Bishop,
        Self::Rook,
        Self::King,
        Self::ProPawn,
        Self::ProLance,
        Self::ProKnight,
        Self::ProSilver,
        Self::Horse,
        Self::Dragon,
    ];

    /// The types that can be held in hand, in the order of their index.
    pub const HAND: [Self; 7] =
        [Self::Pawn, Self::Lance, Self::Knight, Self::Silver, Self::Gold, Self::Bishop, Self::Rook];

    /// The number of the type, below [`PieceType::COUNT`].
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The type with that index.
    #[inline(always)]
    pub const fn from_index(index: usize) -> Option<Self> {
        Some(match index {
            0 => Self::Pawn,
            1 => Self::Lance,
            2 => Self::Knight,
            3 => Self::Silver,
            4 => Self::Gold,
            5 => Self::Bishop,
            6 => Self::Rook,
            7 => Self::King,
            8 => Self::ProPawn,
            9 => Self::ProLance,
            10 => Self::ProKnight,
            11 => Self::ProSilver,
            13 => Self::Horse,
            14 => Self::Dragon,
            _ => return None,
        })
    }

    /// Whether the piece shows its promoted side.
    #[inline(always)]
    pub const fn is_promoted(self) -> bool {
        self as u8 >= 8
    }

    /// What the piece becomes in hand: the type without its promotion.
    #[inline(always)]
    pub const fn base(self) -> Self {
        match self {
            Self::ProPawn => Self::Pawn,
            Self::ProLance => Self::Lance,
            Self::ProKnight => Self::Knight,
            Self::ProSilver => Self::Silver,
            Self::Horse => Self::Bishop,
            Self::Dragon => Self::Rook,
            other => other,
        }
    }

    /// The promoted type, or `None` for a piece that does not promote (further).
    #[inline(always)]
    pub const fn promoted(self) -> Option<Self> {
        Some(match self {
            Self::Pawn => Self::ProPawn,
            Self::Lance => Self::ProLance,
            Self::Knight => Self::ProKnight,
            Self::Silver => Self::ProSilver,
            Self::Bishop => Self::Horse,
            Self::Rook => Self::Dragon,
            _ => return None,
        })
    }

    /// How many of the farthest ranks leave the unpromoted piece without any move, so that it may not stand there.
    #[inline(always)]
    pub const fn stuck_ranks(self) -> usize {
        match self {
            Self::Pawn | Self::Lance => 1,
            Self::Knight => 2,
            _ => 0,
        }
    }

    /// The SFEN letter of the unpromoted type, in upper case.
    pub const fn letter(self) -> char {
        match self.base() {
            Self::Pawn => 'P',
            Self::Lance => 'L',
            Self::Knight => 'N',
            Self::Silver => 'S',
            Self::Gold => 'G',
            Self::Bishop => 'B',
            Self::Rook => 'R',
            _ => 'K',
        }
    }

    /// The unpromoted type that has that SFEN letter, in either case.
    pub const fn from_letter(letter: char) -> Option<Self> {
        Some(match letter.to_ascii_uppercase() {
            'P' => Self::Pawn,
            'L' => Self::Lance,
            'N' => Self::Knight,
            'S' => Self::Silver,
            'G' => Self::Gold,
            'B' => Self::Bishop,
            'R' => Self::Rook,
            'K' => Self::King,
            _ => return None,
        })
    }
}

/// A piece of one side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Piece {
    /// Whose it is.
    pub color: Color,
    /// What it is.
    pub kind: PieceType,
}

impl Piece {
    /// Length of an array indexed by [`Piece::index`].
    pub const COUNT: usize = 32;

    /// A piece of that side and type.
    #[inline(always)]
    pub const fn new(color: Color, kind: PieceType) -> Self {
        Self { color, kind }
    }

    /// The number of the piece, below [`Piece::COUNT`]: Black's types first, then White's.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.color.index() * PieceType::COUNT + self.kind.index()
    }
}

impl std::fmt::Display for Piece {
    /// As in SFEN: upper case for Black, `+` before a promoted piece.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.kind.is_promoted() {
            f.write_str("+")?;
        }
        match self.color {
            Color::Black => write!(f, "{}", self.kind.letter()),
            Color::White => write!(f, "{}", self.kind.letter().to_ascii_lowercase()),
        }
    }
}
