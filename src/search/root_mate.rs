//! The mate solver at the root: it looks for a mate by checks that the search itself has not seen yet.
//!
//! It works between iterations, on the main worker, for a share of the nodes that the search has made until then or, if
//! their number is limited, will make. Each look has several times the nodes of the one before, so that all of them
//! together cost little more than the last. Counted in nodes, and not in time, looks are the same on every run.
//!
//! What it proves is a floor: from then on the search only asks whether there is a shorter mate.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::limits::Limits;
use super::worker::Worker;
use crate::mate::{self, Solver, Verdict};
use crate::position::Position;
use crate::types::score::{INFINITE, MAX_PLY, is_mate, mate_in};
use crate::types::{Move, Score};
use crate::variant::Variant;

/// One node in so many is for the solver. A position that it visits takes about the time of a node of the search.
const SHARE: u64 = 50;
/// Who stands worse than this is not looked for mates: nine in ten of those that the search overlooked were mates of a side
/// that stood better, and nodes are dearest while a game is open.
const BETTER: Score = 200;
/// Positions that are worth beginning for.
const FEWEST: u64 = 32;
/// A look has so many times the positions of the one before.
const GROWTH: u64 = 4;
/// One node in so many, or such a part of the time, may be for what should be left of the mate that was proved a move ago.
const REST_SHARE: u64 = 4;
/// The solver's table, in MiB.
const TABLE_MIB: usize = 8;

/// The solver, and what it remembers from one search of a game to the next.
#[derive(Debug)]
pub(super) struct MateFinder {
    solver: Solver,
    /// Positions that the last proof took: what is left of that mate should take no more.
    proof: u64,
}

/// The looks of one search.
pub(super) struct Looks<'a> {
    finder: &'a mut MateFinder,
    /// Positions for the next look.
    next: u64,
    /// Nodes that the search may make.
    nodes: Option<u64>,
    over: bool,
}

impl MateFinder {
    /// `None` if there is no memory for it.
    pub(super) fn new() -> Option<Self> {
        Solver::new(TABLE_MIB).ok().map(|solver| Self { solver, proof: 0 })
    }

    /// Forgets the last game.
    pub(super) fn new_game(&mut self) {
        self.proof = 0;
    }

    /// The looks of a search within those limits. A search that is limited by depth alone has none: it is done for its own
    /// sake, to compare or to measure.
    pub(super) fn looks(&mut self, limits: &Limits) -> Option<Looks<'_>> {
        let by_depth_alone = limits.depth.is_some()
            && limits.nodes.is_none()
            && limits.movetime.is_none()
            && limits.clock.is_none()
            && !limits.infinite
            && !limits.ponder;
        let next = FEWEST;
        (!by_depth_alone).then_some(Looks { finder: self, next, nodes: limits.nodes, over: false })
    }
}

impl Looks<'_> {
    /// How many positions may be looked at now, after so many nodes and with that score; none if it is not yet time for it.
    fn visits(&self, nodes: u64, score: Score) -> Option<u64> {
        if self.over || is_mate(score) {
            return None;
        }
        let left = self.nodes.map_or(u64::MAX, |limit| limit.saturating_sub(nodes));
        let share = (nodes.max(self.nodes.unwrap_or(0)) / SHARE).min(left);
        if self.finder.proof > 0 {
            // Whatever the search thinks of it, after the first sacrifices.
            return Some(share.max(self.finder.proof.saturating_mul(2).min(left / REST_SHARE)));
        }
        (score >= BETTER && share >= self.next).then_some(share)
    }

    /// Looks for a mate; returns its line, and how many positions were looked at.
    fn look<V: Variant>(
        &mut self,
        position: &Position<V>,
        visits: u64,
        time: Option<Duration>,
        stop: &AtomicBool,
    ) -> (Option<Vec<Move>>, u64) {
        let mut visited = 0;
        let limits = mate::Limits { time, nodes: Some(visits), plies: None };
        let verdict = self.finder.solver.solve(position, &limits, stop, &mut |progress| visited = progress.nodes);
        self.next = visits * GROWTH;
        self.finder.proof = 0;
        let line = match verdict {
            Verdict::Mate(line) => {
                self.finder.proof = visited;
                Some(line)
            }
            Verdict::NoMate => None,
            Verdict::Unknown => return (None, visited),
        };
        self.over = true;
        (line, visited)
    }
}

impl<V: Variant> Worker<'_, V> {
    /// Looks for a mate with the solver if it is time for it, and puts it first among the root moves.
    pub(super) fn look_for_mate(&mut self, looks: &mut Looks<'_>) {
        let Some(visits) = looks.visits(self.nodes, self.root_moves[0].score) else { return };
        let Some(stopper) = &mut self.stopper else { return };
        let (time, stop) = stopper.leave();
        let time = time.map(|time| time / REST_SHARE as u32);
        let (line, visited) = looks.look(&self.position, visits, time, stop);
        self.nodes += visited;
        let Some(line) = line.filter(|line| line.len() < MAX_PLY) else { return };
        let Some(index) = self.root_moves.iter().position(|root| root.mv() == line[0]) else { return };
        self.root_moves[..=index].rotate_right(1);
        let root = &mut self.root_moves[0];
        root.score = mate_in(line.len());
        root.line = line;
        self.proved = true;
    }

    /// An iteration after a mate was proved, which is that of the first root move: looks for a shorter one.
    pub(super) fn shorten_mate(&mut self, depth: i32) {
        let known = self.root_moves[0].previous_score;
        if self.search_root(known, INFINITE, depth, 0) > known {
            self.root_moves.sort_by_key(|root| std::cmp::Reverse(root.score));
        } else {
            self.root_moves[0].score = known;
        }
    }
}
