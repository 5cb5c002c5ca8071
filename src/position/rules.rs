//! The rules that sites play differently, and how a game ends.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::types::Color;

/// What the fourth occurrence of a position means on 5x5. Shogi on 9x9 does not ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sennichite {
    /// Sente loses; but a side whose every move in the cycle gave check loses, and if both did so it is a draw.
    #[default]
    SenteLoses,
    /// A draw, whatever happened in the cycle.
    Draw,
    /// If just one side gave any check within the cycle it loses; otherwise as [`Sennichite::SenteLoses`].
    AttackerDeviates,
}

/// A word that names no repetition setting.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("'{0}' is none of sente-loses, draw, attacker-deviates")]
pub struct UnknownSennichite(pub String);

impl Sennichite {
    /// All settings, the default first.
    pub const ALL: [Self; 3] = [Self::SenteLoses, Self::Draw, Self::AttackerDeviates];

    /// The word that options and arguments use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SenteLoses => "sente-loses",
            Self::Draw => "draw",
            Self::AttackerDeviates => "attacker-deviates",
        }
    }
}

impl fmt::Display for Sennichite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Sennichite {
    type Err = UnknownSennichite;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|setting| setting.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownSennichite(text.to_owned()))
    }
}

/// The rules of one game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// What repetition means.
    pub sennichite: Sennichite,
    /// The game is drawn after so many plies from the given position; 0 for no limit.
    pub max_moves: u32,
}

/// Why a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// The side to move is in check and has no legal move.
    Checkmate,
    /// The side to move has no legal move without being in check; it loses.
    Stalemate,
    /// The fourth occurrence of a position.
    Repetition,
    /// The fourth occurrence of a position, one side having given check all along.
    PerpetualCheck,
    /// Both sides gave check all along.
    DoublePerpetualCheck,
    /// The limit on plies is reached.
    MaxPlies,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::Repetition => "repetition",
            Self::PerpetualCheck => "perpetual_check",
            Self::DoublePerpetualCheck => "double_perpetual_check",
            Self::MaxPlies => "max_plies",
        })
    }
}

/// The result of a game that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The side that won; `None` for a draw.
    pub winner: Option<Color>,
    /// Why.
    pub reason: Reason,
}

impl Outcome {
    /// A win of that side.
    pub const fn win(winner: Color, reason: Reason) -> Self {
        Self { winner: Some(winner), reason }
    }

    /// A draw.
    pub const fn draw(reason: Reason) -> Self {
        Self { winner: None, reason }
    }
}

impl fmt::Display for Outcome {
    /// As in `gote_wins repetition`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.winner {
            Some(winner) => write!(f, "{}_wins {}", winner.name(), self.reason),
            None => write!(f, "draw {}", self.reason),
        }
    }
}
