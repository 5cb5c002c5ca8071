//! The root of a search: its moves, the aspiration window, and when to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::control::Control;
use super::limits::Limits;
use super::params::{ASPIRATION_DEPTH, aspiration_window};
use super::techniques as with;
use super::time::Budget;
use super::worker::{Shared, Worker};
use crate::types::score::{INFINITE, is_certain, is_mate};
use crate::types::{Color, Move, Score};
use crate::variant::Variant;

/// A move of the root with what is known of it.
#[derive(Clone, Debug)]
pub(super) struct RootMove {
    /// The score of this iteration; `-INFINITE` while it is not known to be among the best.
    pub score: Score,
    /// The score of the iteration before.
    pub previous_score: Score,
    /// Moves made below it, in all iterations.
    pub nodes: u64,
    /// The line that begins with the move.
    pub line: Vec<Move>,
}

impl RootMove {
    pub(super) fn new(mv: Move) -> Self {
        Self { score: -INFINITE, previous_score: -INFINITE, nodes: 0, line: vec![mv] }
    }

    pub(super) fn mv(&self) -> Move {
        self.line[0]
    }

    /// The last score that was found, by this iteration or the one before.
    pub(super) fn known(&self) -> Option<Score> {
        [self.score, self.previous_score].into_iter().find(|&score| score > -INFINITE)
    }
}

/// Between looks at the clock.
const POLL_EVERY: u64 = 512;

/// Watches limits, clock and control for the main worker.
pub(super) struct Stopper<'a> {
    control: &'a Control,
    limits: &'a Limits,
    color: Color,
    overhead: Duration,
    pub started: Instant,
    /// `None` while pondering and if nothing limits the time.
    pub budget: Option<Budget>,
    /// From when on the budget's hard limit counts: the start, or the ponder hit.
    counted_from: Instant,
    pub pondering: bool,
}

impl<'a> Stopper<'a> {
    pub(super) fn new(control: &'a Control, limits: &'a Limits, color: Color, overhead: Duration) -> Self {
        let started = Instant::now();
        let pondering = limits.ponder;
        let budget = if pondering { None } else { Budget::of(limits, color, overhead) };
        Self { control, limits, color, overhead, started, budget, counted_from: started, pondering }
    }

    /// Looks whether the ponder hit has come.
    fn notice_hit(&mut self) {
        if !self.pondering {
            return;
        }
        if let Some(hit) = self.control.hit() {
            self.pondering = false;
            self.counted_from = hit.at;
            let clock = hit.clock.or(self.limits.clock);
            self.budget = Budget::of(&Limits { clock, ..self.limits.clone() }, self.color, self.overhead);
        }
    }

    /// Whether nothing may end the search but a command.
    pub(super) fn is_endless(&mut self) -> bool {
        self.notice_hit();
        self.limits.infinite || self.pondering
    }

    /// For work that does not ask at each node: the time that is left for it, and the flag that ends it.
    pub(super) fn leave(&mut self) -> (Option<Duration>, &'a AtomicBool) {
        self.notice_hit();
        let left = self.budget.map(|budget| budget.hard.saturating_sub(self.counted_from.elapsed()));
        (left, self.control.interruption(self.pondering))
    }

    /// Called at each node; if the nodes of helpers count too, with what is shared with them.
    #[inline]
    pub(super) fn should_stop(&mut self, nodes: u64, helped: Option<&Shared<'_>>) -> bool {
        if let Some(limit) = self.limits.nodes.filter(|_| !self.pondering)
            && (nodes >= limit || helped.is_some_and(|shared| shared.have_reached(limit, nodes, 0)))
        {
            return true;
        }
        nodes.is_multiple_of(POLL_EVERY) && self.poll()
    }

    /// Looks at control and clock.
    fn poll(&mut self) -> bool {
        self.notice_hit();
        self.control.is_stopped() || self.budget.is_some_and(|budget| self.counted_from.elapsed() >= budget.hard)
    }

    /// Whether another iteration is worth beginning. `scale` stretches the soft limit when the best move is unsure, and
    /// shrinks it when it is not; it does neither to a time that is to be used whole.
    pub(super) fn is_enough(&mut self, scale: f64) -> bool {
        if self.poll() {
            return true;
        }
        let Some(budget) = self.budget else { return false };
        if budget.whole {
            return self.counted_from.elapsed() >= budget.hard;
        }
        // A ponder hit keeps the work that was done before it.
        self.started.elapsed() >= budget.soft.mul_f64(scale).min(budget.hard)
    }
}

impl<V: Variant> Worker<'_, V> {
    /// Searches the root moves from `first` on, within a window around the score of the iteration before.
    pub(super) fn aspire(&mut self, depth: i32, first: usize) {
        if first == 0 && self.proved {
            return self.shorten_mate(depth);
        }
        let guess = self.root_moves[first].previous_score;
        let mut delta = aspiration_window();
        let (mut alpha, mut beta) = (-INFINITE, INFINITE);
        if with::aspiration() && depth >= ASPIRATION_DEPTH && !is_certain(guess) && guess > -INFINITE {
            (alpha, beta) = (guess - delta, guess + delta);
        }
        loop {
            let score = self.search_root(alpha, beta, depth, first);
            // Stable, so that moves of which nothing new is known keep their order.
            self.root_moves[first..].sort_by_key(|root| std::cmp::Reverse(root.score));
            if self.stopped || alpha < score && score < beta {
                return;
            }
            delta += delta / 2;
            if score <= alpha {
                beta = (alpha + beta) / 2;
                alpha = if is_certain(score) { -INFINITE } else { (score - delta).max(-INFINITE) };
            } else {
                // Should the next attempt be stopped, this is what is known of the move.
                self.root_moves[first].previous_score = if is_mate(score) { self.mate_with_line(first) } else { score };
                beta = if is_certain(score) { INFINITE } else { (score + delta).min(INFINITE) };
            }
        }
    }

    pub(super) fn search_root(&mut self, mut alpha: Score, beta: Score, depth: i32, first: usize) -> Score {
        self.lines[0].clear();
        let mut best_score = -INFINITE;
        self.stack.at(0).eval = if self.position.in_check() { None } else { Some(self.evaluate()) };
        for root in &mut self.root_moves[first..] {
            root.score = -INFINITE;
        }
        for index in first..self.root_moves.len() {
            let mv = self.root_moves[index].mv();
            let before = self.nodes;
            self.make(0, mv);
            let mut score = -INFINITE;
            if index > first {
                score = -self.search::<false>(-alpha - 1, -alpha, depth - 1, 1, true, true);
            }
            if (index == first || score > alpha) && !self.stopped {
                score = -self.search::<true>(-beta, -alpha, depth - 1, 1, false, true);
            }
            self.unmake();
            if self.stopped {
                return best_score;
            }
            let root = &mut self.root_moves[index];
            root.nodes += self.nodes - before;
            if index == first || score > alpha {
                root.score = score;
            }
            // A move that fails low keeps the line of the iteration before: the new one stops at the first bound.
            if score > alpha {
                root.line.truncate(1);
                root.line.extend_from_slice(&self.lines[1]);
            }
            best_score = best_score.max(score);
            alpha = alpha.max(score);
            if alpha >= beta {
                break;
            }
        }
        best_score
    }

    /// What a helper does: deepen until it is told to stop.
    pub(super) fn help(&mut self, max_depth: i32) {
        // Half of the helpers work one ply ahead, so that not all do the same.
        let start = 1 + (self.id as i32 & 1);
        for depth in start..=max_depth {
            self.root_depth = depth;
            self.aspire(depth, 0);
            if self.stopped {
                break;
            }
            for root in &mut self.root_moves {
                root.previous_score = root.score;
            }
        }
        self.shared.nodes[self.id].0.store(self.nodes, Ordering::Relaxed);
    }
}
