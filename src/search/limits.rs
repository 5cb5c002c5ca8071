//! What a search may use: depth, nodes, time.

use std::time::Duration;

use crate::types::{Color, Move};

/// When to stop. All limits that are set hold together; with none the search goes on until it is told to stop.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Plies of iterative deepening.
    pub depth: Option<u32>,
    /// Nodes, over all threads.
    pub nodes: Option<u64>,
    /// Exactly this time.
    pub movetime: Option<Duration>,
    /// The clocks of the game.
    pub clock: Option<Clock>,
    /// Give no answer before being told to stop.
    pub infinite: bool,
    /// As `infinite` until the ponder hit, from when on the other limits count.
    pub ponder: bool,
    /// Only these moves at the root; empty for all.
    pub searchmoves: Vec<Move>,
}

impl Limits {
    /// A search of that depth.
    pub fn depth(depth: u32) -> Self {
        Self { depth: Some(depth), ..Self::default() }
    }

    /// A search of so many nodes.
    pub fn nodes(nodes: u64) -> Self {
        Self { nodes: Some(nodes), ..Self::default() }
    }
}

/// The clocks as the client sent them, in milliseconds; they may be negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Clock {
    /// Time left, by color; `None` if the client did not say.
    pub remaining: [Option<i64>; 2],
    /// Increment per move, by color.
    pub increment: [i64; 2],
    /// Time for each move after the clock has run out.
    pub byoyomi: i64,
    /// Moves until more time comes.
    pub movestogo: Option<u32>,
}

impl Clock {
    /// What one side has.
    pub fn of(&self, color: Color) -> SideClock {
        SideClock {
            remaining: self.remaining[color.index()].unwrap_or(0),
            increment: self.increment[color.index()].max(0),
            byoyomi: self.byoyomi.max(0),
            movestogo: self.movestogo.filter(|&moves| moves > 0),
        }
    }
}

/// One side's clock, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SideClock {
    /// Time left; may be negative.
    pub remaining: i64,
    /// Increment per move.
    pub increment: i64,
    /// Time for each move after the clock has run out.
    pub byoyomi: i64,
    /// Moves until more time comes.
    pub movestogo: Option<u32>,
}
