//! The mate solver: does the side to move force mate by checks alone?
//!
//! Depth-first proof-number search (df-pn: Ayumu Nagai, "Df-pn algorithm for searching AND/OR trees and its
//! applications", 2002) over the *check graph*: every move of the attacker, the side to move at the root, gives check, the
//! defender answers with any legal move. The attacker succeeds only with mate. A game that ends in any other way, by
//! repetition or by the limit on plies, whoever wins it, is a failure.
//!
//! **Repetition.** A mate that can be forced can be forced without any position coming twice, by always going on to one
//! that is nearer to mate. So a position that stands on the way from the root counts as a failure when it comes again, and
//! one that has stood on the board three times in the game before the root does so when it comes at all. Proofs therefore
//! hold whatever way led to a position. A disproof may rest on the way; how that is kept apart is told in `dfpn.rs`.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use kozuka::mate::{Limits, Solver, Verdict};
//! use kozuka::position::{Position, Rules};
//! use kozuka::variant::Minishogi;
//!
//! let position = Position::<Minishogi>::from_sfen("4k/5/5/5/K4 b BGSP 1", Rules::default())?;
//! let mut solver = Solver::new(1).unwrap();
//! let Verdict::Mate(line) = solver.solve(&position, &Limits::default(), &AtomicBool::new(false), &mut |_| {}) else {
//!     panic!("there is a mate");
//! };
//! assert_eq!(line.len(), 5);
//! assert_eq!(line[0].to_usi::<Minishogi>(), "B*3c");
//! # Ok::<(), kozuka::position::SfenError>(())
//! ```

mod dfpn;
mod line;
mod table;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub use table::OutOfMemory;

use crate::movegen::outcome;
use crate::position::Position;
use crate::types::Move;
use crate::variant::Variant;
use dfpn::{Finding, Node, Search};
use line::is_mate;
use table::Table;

/// The stack that a thread needs to solve, for lines of [`MAX_PLIES`].
pub const STACK_BYTES: usize = 32 << 20;
/// The longest line that is looked at, in plies.
pub const MAX_PLIES: u32 = 2_000;

/// A limit on plies that is so short spares more work than it makes.
const SHORT_PLIES: u32 = 11;

/// When to give up. All limits that are set hold together; with none the solver goes on until it knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Time for all of it.
    pub time: Option<Duration>,
    /// Positions to visit.
    pub nodes: Option<u64>,
    /// Only mates within so many plies count: whether there is one is part of the question, not of the effort.
    pub plies: Option<u32>,
}

/// What was found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Mate is forced within the length of the line, which is legal and ends in mate. Against its attack, which is not
    /// always the shortest, its defence is the longest.
    Mate(Vec<Move>),
    /// Mate cannot be forced by checks.
    NoMate,
    /// Stopped, out of time or nodes, or too deep or too large to tell.
    Unknown,
}

/// How far the solver has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Positions visited.
    pub nodes: u64,
    /// Since the solver began.
    pub time: Duration,
    /// Filling of the table in thousandths.
    pub hashfull: u32,
}

/// A solver with its memory. It takes nothing over from one position to the next.
#[derive(Debug)]
pub struct Solver {
    table: Table,
}

impl Solver {
    /// A solver with a table of that many MiB, at least one.
    ///
    /// # Errors
    /// If the system refuses so much memory.
    pub fn new(mib: usize) -> Result<Self, OutOfMemory> {
        Ok(Self { table: Table::new(mib)? })
    }

    /// Decides whether the side to move forces mate. Blocks until it knows, a limit is reached, or `stop` is set. Tells
    /// `report` several times a second how far it is, and once more at the end. Needs a stack of [`STACK_BYTES`].
    pub fn solve<V: Variant>(
        &mut self,
        position: &Position<V>,
        limits: &Limits,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&Progress),
    ) -> Verdict {
        let started = Instant::now();
        let mut nodes = 0;
        let verdict = self.decide(position, limits, stop, started, &mut nodes, report);
        report(&Progress { nodes, time: started.elapsed(), hashfull: self.table.hashfull() });
        verdict
    }

    fn decide<V: Variant>(
        &mut self,
        position: &Position<V>,
        limits: &Limits,
        stop: &AtomicBool,
        started: Instant,
        nodes: &mut u64,
        report: &mut dyn FnMut(&Progress),
    ) -> Verdict {
        if outcome(position).is_some() || limits.plies == Some(0) {
            return Verdict::NoMate;
        }
        let max_moves = position.rules().max_moves;
        let game = (max_moves != 0).then(|| max_moves.saturating_sub(position.ply().try_into().unwrap_or(u32::MAX)));
        let within = [limits.plies, game].into_iter().flatten().min();

        let mut attempt = |within: Option<u32>| {
            let mut search = Search::new(&mut self.table, position, within, *limits, stop, started, *nodes, report);
            let finding = search.run(&Node::root(position.board()));
            let line = if let Finding::Proved(_) = finding { search.line(position.board()) } else { None };
            *nodes = search.nodes();
            (finding, line.filter(|line| is_mate(position, line)))
        };
        // Without a limit on plies positions need not be told apart by when they come, which is far less work. Only if the
        // mate that is found may be too long is the question asked with the limit; and where that is short from the first.
        let short = within.filter(|&plies| plies <= SHORT_PLIES);
        let too_long = |line: &[Move]| within.is_some_and(|within| line.len() > within as usize);
        let (finding, line) = match attempt(short) {
            (Finding::Proved(_), Some(line)) if too_long(&line) => attempt(within),
            // With the limit no line can lead in a circle.
            (Finding::Proved(plies), None) => attempt(Some(within.unwrap_or(u32::MAX).min(plies.into()))),
            found => found,
        };
        match (finding, line) {
            (Finding::Proved(_), Some(line)) => Verdict::Mate(line),
            (Finding::Disproved, _) => Verdict::NoMate,
            _ => Verdict::Unknown,
        }
    }
}
