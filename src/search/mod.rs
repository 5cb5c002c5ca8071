//! The search: iterative deepening of a principal variation search, on one thread or several.
//!
//! Three kinds of state are kept apart: what all threads share (the table, the stop flag and the node counters, atomics
//! only), what one worker owns (its position, histories and evaluator), and what the driver of one `go` owns (limits,
//! time, reports). The search prints nothing; it reports through a callback.

mod alphabeta;
mod control;
mod correction;
mod depths;
mod driver;
mod history;
mod limits;
mod mating_line;
#[cfg(not(feature = "tune"))]
mod params;
#[cfg(feature = "tune")]
pub mod params;
mod picker;
mod pruning;
mod quiescence;
mod root;
mod root_mate;
mod see;
mod skill;
mod stack;
#[cfg(not(feature = "tune"))]
mod techniques;
#[cfg(feature = "tune")]
pub mod techniques;
mod time;
mod tt;
mod worker;

use std::time::Duration;

pub use control::Control;
pub use driver::{STACK_BYTES, Searcher, available_mib};
pub use limits::{Clock, Limits, SideClock};
pub use see::see_at_least;
pub use skill::{Level, UnknownLevel};
pub use time::Budget;
pub use tt::{Bound, Entry, OutOfMemory, Table};

use crate::types::{Move, Score};

/// The most threads that a search may have.
pub const MAX_THREADS: usize = 512;

/// What can be set about a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchOptions {
    /// Size of the transposition table in MiB.
    pub hash_mib: usize,
    /// Whether to ask the system for large pages for it.
    pub large_pages: bool,
    /// Number of threads.
    pub threads: usize,
    /// Number of best lines to find.
    pub multipv: usize,
    /// Time kept back for each move.
    pub move_overhead: Duration,
    /// Resign when the score is this far below zero, in centipawns; `None` to resign only when mated.
    pub resign_value: Option<Score>,
    /// How strong to play.
    pub level: Level,
    /// Makes the choices of levels below full strength repeatable; `None` to play differently each time.
    pub level_seed: Option<u64>,
    /// Somebody wants to know about the position: full strength whatever the level, no resignation, and no move that is
    /// played at once because it is the only one or mates.
    pub analyse: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            hash_mib: 64,
            large_pages: true,
            threads: 1,
            multipv: 1,
            move_overhead: Duration::from_millis(30),
            resign_value: None,
            level: Level::FULL,
            level_seed: None,
            analyse: false,
        }
    }
}

impl SearchOptions {
    /// The level that counts.
    pub fn playing_level(&self) -> Level {
        if self.analyse { Level::FULL } else { self.level }
    }
}

/// A line that the search has found, after an iteration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Depth of the iteration in plies.
    pub depth: u32,
    /// The longest line looked at, in plies.
    pub seldepth: u32,
    /// Rank of the line among the best ones, from 1.
    pub multipv: usize,
    /// Its score for the side to move.
    pub score: Score,
    /// Time since the search began.
    pub time: Duration,
    /// Moves made by all threads.
    pub nodes: u64,
    /// Filling of the transposition table in thousandths.
    pub hashfull: u32,
    /// The line; legal throughout. Empty only if there is no legal move, or none is needed.
    pub pv: Vec<Move>,
}

/// What the search decides on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// A legal move.
    Move {
        /// The move.
        best: Move,
        /// The reply that is expected, legal after it.
        ponder: Option<Move>,
    },
    /// There is no legal move, or the position is worse than the resign value.
    Resign,
    /// Victory can be declared.
    Win,
}

#[cfg(test)]
mod tests;
