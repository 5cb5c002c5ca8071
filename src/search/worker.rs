//! One thread's part of a search, and what the threads share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arrayvec::ArrayVec;

use super::correction::{Corrections, Slots};
use super::history::{History, NO_MOVE, piece_to};
use super::limits::Limits;
use super::root::{RootMove, Stopper};
use super::stack::Stack;
use super::techniques as with;
use super::tt::{Entry, Table};
use crate::eval::Evaluator;
use crate::eval::network::Network;
use crate::movegen::{has_legal_move, is_legal};
use crate::position::{Outcome, Position};
use crate::types::score::{DRAW, MAX_EVAL, MAX_PLY, RULE_WIN, mated_in};
use crate::types::{Move, Score};
use crate::variant::Variant;

/// A node counter on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct NodeCounter(pub AtomicU64);

/// What all threads of one search share.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    pub table: &'a Table,
    pub stop: AtomicBool,
    pub nodes: Vec<NodeCounter>,
    /// Nodes after which helpers stop, those of all threads counted.
    limit: Option<u64>,
    /// A thread tells its count, and lets others have their turn, whenever none of these bits is set in it.
    tell_mask: u64,
    /// There are more threads than processors.
    crowded: bool,
}

impl<'a> Shared<'a> {
    pub(super) fn new(table: &'a Table, threads: usize, limits: &Limits) -> Self {
        // A ponder hit may lie ahead, and the limit counts from then on: that is for the main thread to see.
        let limit = limits.nodes.filter(|_| !limits.ponder);
        let crowded = threads > 1 && std::thread::available_parallelism().is_ok_and(|cores| threads > cores.into());
        let most = if crowded { TELL_EVERY_IN_A_CROWD } else { TELL_EVERY };
        // What is not told yet may be an eighth of the limit.
        let tell_every = limit.map_or(most, |limit| (limit / (8 * threads as u64)).clamp(1, most));
        let nodes = (0..threads).map(|_| NodeCounter::default()).collect();
        Self { table, stop: AtomicBool::new(false), nodes, limit, tell_mask: (1 << tell_every.ilog2()) - 1, crowded }
    }

    /// Moves made by the other threads, as they last told.
    pub(super) fn nodes_of_others(&self, id: usize) -> u64 {
        let others = self.nodes.iter().enumerate().filter(|&(other, _)| other != id);
        others.map(|(_, counter)| counter.0.load(Ordering::Relaxed)).sum()
    }

    /// Whether a thread that has made so many moves finds that all together have reached a limit.
    #[inline]
    pub(super) fn have_reached(&self, limit: u64, nodes: u64, id: usize) -> bool {
        nodes & self.tell_mask == 0 && nodes + self.nodes_of_others(id) >= limit
    }
}

/// What a worker remembers from one search of a game to the next.
#[derive(Debug)]
pub(super) struct Memory<V: Variant> {
    pub history: History,
    pub corrections: Corrections,
    pub evaluator: Evaluator<V>,
}

impl<V: Variant> Memory<V> {
    pub(super) fn new(network: Option<Network<V>>) -> Self {
        Self { history: History::new::<V>(), corrections: Corrections::new(), evaluator: Evaluator::new(network) }
    }
}

/// A line of play.
pub(super) type Line = ArrayVec<Move, { MAX_PLY + 1 }>;

/// Every so many nodes a thread tells its count, or more often if it is to stop after a number of them. A power of two.
const TELL_EVERY: u64 = 256;
/// The same where threads must take turns on the processors, which they do at these moments.
const TELL_EVERY_IN_A_CROWD: u64 = 64;

/// One thread's state during one search.
pub(super) struct Worker<'a, V: Variant> {
    pub shared: &'a Shared<'a>,
    pub memory: &'a mut Memory<V>,
    pub position: Position<V>,
    pub root_moves: Vec<RootMove>,
    /// Decides when to stop; only the main worker has one.
    pub stopper: Option<Stopper<'a>>,
    pub id: usize,
    /// Moves made by this worker.
    pub nodes: u64,
    pub seldepth: usize,
    /// Depth of the iteration.
    pub root_depth: i32,
    /// The first root move is proved to mate; only a shorter mate will take its place.
    pub proved: bool,
    /// The position's ply at the root.
    pub root_ply: usize,
    pub stack: Stack,
    /// The best line from each ply.
    pub lines: Vec<Line>,
    pub stopped: bool,
}

impl<'a, V: Variant> Worker<'a, V> {
    pub(super) fn new(
        shared: &'a Shared<'a>,
        memory: &'a mut Memory<V>,
        position: Position<V>,
        root_moves: Vec<RootMove>,
        id: usize,
    ) -> Self {
        memory.history.new_search();
        let root_ply = position.ply();
        Self {
            shared,
            memory,
            position,
            root_moves,
            stopper: None,
            id,
            nodes: 0,
            seldepth: 0,
            root_depth: 0,
            proved: false,
            root_ply,
            stack: Stack::new(),
            lines: vec![Line::new(); MAX_PLY + 2],
            stopped: false,
        }
    }

    /// Makes a move at that ply.
    #[inline]
    pub(super) fn make(&mut self, ply: usize, mv: Move) {
        self.nodes += 1;
        if self.nodes & self.shared.tell_mask == 0 {
            self.shared.nodes[self.id].0.store(self.nodes, Ordering::Relaxed);
            if self.shared.crowded && self.stopper.is_none() {
                // The thread that minds the clock must not wait until all others have used up their slices.
                std::thread::yield_now();
            }
        }
        let piece_to = piece_to(self.position.board(), mv);
        let frame = self.stack.at(ply);
        (frame.made, frame.piece_to, frame.quiet) = (Some(mv), piece_to, false);
        self.position.do_move(mv);
        self.shared.table.prefetch(self.position.key());
    }

    /// Lets the other side move.
    pub(super) fn make_null(&mut self, ply: usize) {
        let frame = self.stack.at(ply);
        (frame.made, frame.piece_to, frame.quiet) = (None, NO_MOVE, false);
        self.position.do_null_move();
    }

    /// Takes the last move back.
    #[inline(always)]
    pub(super) fn unmake(&mut self) {
        self.position.undo_move();
    }

    /// Whether the search is over: everything that is returned from then on is to be ignored.
    #[inline]
    pub(super) fn should_stop(&mut self) -> bool {
        if !self.stopped {
            let (shared, nodes, id) = (self.shared, self.nodes, self.id);
            self.stopped = shared.stop.load(Ordering::Relaxed)
                || match &mut self.stopper {
                    // Helpers may be quick to use up what all have: the main thread still looks at every move once.
                    Some(stopper) => stopper.should_stop(nodes, Some(shared).filter(|_| self.root_depth > 1)),
                    None => shared.limit.is_some_and(|limit| shared.have_reached(limit, nodes, id)),
                };
        }
        self.stopped
    }

    /// The score if the game has ended before the move at that ply, by repetition or by the limit on plies.
    #[inline]
    pub(super) fn game_over(&self, ply: usize) -> Option<Score> {
        if let Some(outcome) = self.position.repetition_in_search(self.root_ply) {
            return Some(self.rule_score(outcome, ply));
        }
        self.ply_limit_reached(ply)
    }

    /// What the side to move can have at least by stepping back to a position of this line, if that is worth `beta`.
    #[inline]
    pub(super) fn repetition_ahead(&mut self, beta: Score, ply: usize) -> Option<Score> {
        let mv = self.position.steps_back(self.root_ply).find(|&mv| is_legal(&self.position, mv))?;
        self.position.do_move(mv);
        let outcome = self.position.repetition_in_search(self.root_ply);
        let score = outcome.map(|outcome| -self.rule_score(outcome, ply + 1));
        self.position.undo_move();
        score.filter(|&score| score >= beta)
    }

    /// The score if the limit on plies has ended the game.
    #[inline]
    pub(super) fn ply_limit_reached(&self, ply: usize) -> Option<Score> {
        let outcome = self.position.ply_limit()?;
        // A mate on the last ply ranks before the limit.
        Some(if has_legal_move(&self.position) { self.rule_score(outcome, ply) } else { mated_in(ply) })
    }

    fn rule_score(&self, outcome: Outcome, ply: usize) -> Score {
        let win = RULE_WIN - ply as Score;
        match outcome.winner {
            None => DRAW,
            Some(winner) if winner == self.position.side_to_move() => win,
            Some(_) => -win,
        }
    }

    /// Whether the table's scores may decide: near the limit on plies they come from games that are not this one.
    #[inline(always)]
    pub(super) fn table_decides(&self, depth: i32) -> bool {
        let limit = self.position.rules().max_moves as usize;
        limit == 0 || self.position.ply() + depth as usize + 16 < limit
    }

    /// The best line from `ply` begins with `mv`.
    #[inline]
    pub(super) fn extend_line(&mut self, ply: usize, mv: Move) {
        let (head, tail) = self.lines.split_at_mut(ply + 1);
        let line = &mut head[ply];
        line.clear();
        line.push(mv);
        for &next in &tail[0] {
            if line.try_push(next).is_err() {
                break;
            }
        }
    }

    /// The uncorrected evaluation, from the table if it is there; `None` in check.
    #[inline]
    pub(super) fn raw_eval(&mut self, known: Option<Entry>) -> Option<Score> {
        if self.position.in_check() {
            return None;
        }
        Some(known.and_then(|entry| entry.eval).unwrap_or_else(|| self.evaluate()))
    }

    /// The evaluation with what is known of its errors.
    #[inline]
    pub(super) fn correct(&self, raw: Score, slots: &Slots) -> Score {
        let correction = if with::correction() { self.memory.corrections.get(slots) } else { 0 };
        (raw + correction).clamp(-MAX_EVAL, MAX_EVAL)
    }

    /// The evaluation of the position as it stands.
    #[inline]
    pub(super) fn evaluate(&mut self) -> Score {
        self.memory.evaluator.evaluate(&self.position)
    }
}
