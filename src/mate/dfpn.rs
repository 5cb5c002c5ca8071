//! Depth-first proof-number search, and how it stays exact where positions come again.
//!
//! A position is disproved on the way by which it was reached if a loop back into that way is all that saves the defender.
//! Each disproof carries the depth of the first position that it rests on. Once that position itself is disproved the loop
//! is closed: the defender can go round in it for ever, and all of it holds on any way. A disproof that still rests on
//! something above is stored for the very way on which it was found and used on no other. (The problem is that of
//! graph-history interaction; the solution is in the spirit of Akihiro Kishimoto and Martin Müller, "A general solution to
//! the graph history interaction problem", 2004, with the depth of the loop as in Tarjan's components.)
//!
//! Numbers that are too low because positions lead back to others met nearer to the root could keep the search going to
//! and fro for ever. There it is forced to open something new, by thresholds that are raised just enough (Kishimoto,
//! "Dealing with infinite loops, underestimation, and overestimation of depth-first proof-number search", 2010).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::table::{Address, INFINITE, NO_DEPENDENCE, Table, Value};
use super::{Limits, MAX_PLIES, Progress};
use crate::movegen::{ListSink, checking_moves, count_legal, generate};
use crate::position::{Board, Position, Threats};
use crate::types::{Color, Move, MoveList};
use crate::variant::Variant;

/// So many positions are visited between two looks at the clock.
const LOOK_EVERY: u64 = 256;
/// Time between two reports.
const REPORT_EVERY: Duration = Duration::from_millis(250);
/// Slots in which the positions on the way are counted by key.
const SEEN_SLOTS: usize = 1 << 10;

/// What a search has found out about its root.
pub(super) enum Finding {
    /// There is a mate; the bound on its plies that the proof gives.
    Proved(u16),
    Disproved,
    Unknown,
}

/// Up to where a position is to be looked into: until one of the numbers is reached.
#[derive(Clone, Copy)]
pub(super) struct Thresholds {
    proof: u32,
    disproof: u32,
}

impl Thresholds {
    /// Until there is an answer.
    pub(super) const NONE: Self = Self { proof: INFINITE - 1, disproof: INFINITE - 1 };
}

/// A position of the search.
pub(super) struct Node<V: Variant> {
    pub board: Board<V>,
    pub threats: Threats<V>,
    /// Plies from the root.
    pub depth: u16,
    /// Key of the positions from the root to this one, itself excluded, in their order.
    pub way: u64,
}

/// A move with what is known about the position after it.
#[derive(Clone, Copy)]
pub(super) struct Child {
    pub mv: Move,
    pub value: Value,
}

/// The sum of the children of a node.
struct Sum {
    value: Value,
    /// The child to look into, and the number of the next best one by which it was chosen.
    best: usize,
    second: u32,
}

/// One run of the solver.
pub(super) struct Search<'a> {
    table: &'a mut Table,
    attacker: Color,
    /// Keys of positions that end the game when they come once more.
    finals: Vec<u64>,
    /// Mates within so many plies count. Positions are then told apart by their depth.
    pub within: Option<u32>,
    limits: Limits,
    stop: &'a AtomicBool,
    started: Instant,
    reported: Instant,
    report: &'a mut dyn FnMut(&Progress),
    nodes: u64,
    pub stopped: bool,
    /// The children of all nodes on the way, one after the other.
    children: Vec<Child>,
    /// Keys of the positions on the way.
    way: Vec<u64>,
    seen: Box<[u16; SEEN_SLOTS]>,
}

impl<V: Variant> Node<V> {
    /// The root.
    pub(super) fn root(board: &Board<V>) -> Self {
        Self { board: *board, threats: Threats::of(board), depth: 0, way: 0 }
    }

    /// The position after a move.
    pub(super) fn after(&self, mv: Move) -> Self {
        let mut board = self.board;
        board.apply(mv);
        let way = (self.way ^ self.board.key()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        Self { board, threats: Threats::of(&board), depth: self.depth + 1, way }
    }
}

/// All legal moves.
pub(super) fn replies<V: Variant>(node: &Node<V>) -> MoveList {
    let mut moves = MoveList::new();
    generate(&node.board, &node.threats, &mut ListSink(&mut moves));
    moves
}

impl<'a> Search<'a> {
    #[allow(clippy::too_many_arguments)] // The parts of one call of `solve`.
    pub(super) fn new<V: Variant>(
        table: &'a mut Table,
        position: &Position<V>,
        within: Option<u32>,
        limits: Limits,
        stop: &'a AtomicBool,
        started: Instant,
        nodes: u64,
        report: &'a mut dyn FnMut(&Progress),
    ) -> Self {
        let finals = position.keys_seen(3);
        table.clear();
        // Where the history of the game matters, hands make a difference of another kind.
        table.dominance = finals.is_empty();
        Self {
            table,
            attacker: position.side_to_move(),
            finals,
            within,
            limits,
            stop,
            started,
            reported: Instant::now(),
            report,
            nodes,
            stopped: false,
            children: Vec::new(),
            way: Vec::new(),
            seen: Box::new([0; SEEN_SLOTS]),
        }
    }

    /// Positions visited, those of earlier runs of the same call included.
    pub(super) fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Looks into the root until there is an answer.
    pub(super) fn run<V: Variant>(&mut self, root: &Node<V>) -> Finding {
        let value = self.visit(root, Thresholds::NONE, false);
        match value {
            _ if self.stopped => Finding::Unknown,
            _ if value.is_proved() => Finding::Proved(value.plies),
            _ if value.is_disproved() => Finding::Disproved,
            _ => Finding::Unknown,
        }
    }

    /// Whether it is time to give up.
    fn should_stop(&mut self) -> bool {
        if self.limits.nodes.is_some_and(|limit| self.nodes >= limit) {
            self.stopped = true;
        }
        if !self.stopped && self.nodes.is_multiple_of(LOOK_EVERY) {
            let now = Instant::now();
            self.stopped = self.stop.load(Ordering::Relaxed)
                || self.limits.time.is_some_and(|time| now.duration_since(self.started) >= time);
            if now.duration_since(self.reported) >= REPORT_EVERY {
                self.reported = now;
                let (nodes, time) = (self.nodes, now.duration_since(self.started));
                (self.report)(&Progress { nodes, time, hashfull: self.table.hashfull() });
            }
        }
        self.stopped
    }

    /// Whether the attacker is to move.
    pub(super) fn is_attack<V: Variant>(&self, node: &Node<V>) -> bool {
        node.board.side_to_move() == self.attacker
    }

    fn address<V: Variant>(&self, node: &Node<V>) -> Address {
        let depth = if self.within.is_some() { u64::from(node.depth) + 1 } else { 0 };
        Address {
            board: node.board.key_without_hands() ^ depth.wrapping_mul(0xd6e8_feb8_6659_fd93),
            hand: node.board.hand(self.attacker),
            way: node.way,
        }
    }

    /// The depth at which the position stands on the way, if it does.
    fn on_the_way(&self, key: u64) -> Option<usize> {
        if self.seen[key as usize % SEEN_SLOTS] == 0 {
            return None;
        }
        self.way.iter().position(|&other| other == key)
    }

    /// What is known about a position before it is looked into.
    pub(super) fn first_look<V: Variant>(&mut self, node: &Node<V>) -> Value {
        let key = node.board.key();
        if self.within.is_none()
            && let Some(depth) = self.on_the_way(key)
        {
            return Value::disproved(depth as u16);
        }
        if self.finals.contains(&key) {
            return Value::disproved(NO_DEPENDENCE);
        }
        if let Some(value) = self.table.probe(&self.address(node)) {
            return value;
        }
        let last = self.within.is_some_and(|within| u32::from(node.depth) >= within);
        if self.is_attack(node) {
            return if last { Value::disproved(NO_DEPENDENCE) } else { Value::open(1, 1, node.depth) };
        }
        match count_legal(&node.board, &node.threats) {
            0 => Value::proved(0),
            _ if last => Value::disproved(NO_DEPENDENCE),
            count => Value::open(count as u32, 1, node.depth),
        }
    }

    /// Puts the children of a node onto the list. One that decides is the only one.
    fn expand<V: Variant>(&mut self, node: &Node<V>, attacks: bool) {
        let first = self.children.len();
        let moves = if attacks { checking_moves(&node.board, &node.threats) } else { replies(node) };
        for mv in moves {
            let value = self.first_look(&node.after(mv));
            let decides = if attacks { value.is_proved() } else { value.is_disproved() };
            if decides {
                self.children.truncate(first);
                self.children.push(Child { mv, value });
                return;
            }
            self.children.push(Child { mv, value });
        }
    }

    /// Adds up the children from `first` on.
    fn sum(&self, first: usize, attacks: bool, depth: u16) -> Sum {
        let children = &self.children[first..];
        // Seen from either side: the number of which one child is enough, and that of which all are needed.
        let numbers =
            |value: &Value| if attacks { (value.proof, value.disproof) } else { (value.disproof, value.proof) };
        let (mut least, mut second, mut total, mut best) = (INFINITE, INFINITE, 0_u32, 0);
        let mut tie = INFINITE;
        // How long the mate may take, and what a disproof rests on.
        let (mut plies, mut rests_on) = if attacks { (u16::MAX, NO_DEPENDENCE) } else { (0, 0) };
        for (index, Child { value, .. }) in children.iter().enumerate() {
            let (one, all) = numbers(value);
            if one < least || one == least && all < tie {
                second = least;
                least = one;
                tie = all;
                best = index;
            } else {
                second = second.min(one);
            }
            total = (total + all).min(INFINITE);
            if value.is_proved() {
                plies = if attacks { plies.min(value.plies) } else { plies.max(value.plies) };
            }
            if value.is_disproved() {
                rests_on = if attacks { rests_on.min(value.rests_on) } else { rests_on.max(value.rests_on) };
            }
        }
        let value = match (least, total) {
            (0, _) if attacks => Value::proved(plies + 1),
            (0, _) => Value::disproved(rests_on),
            (_, 0) if attacks => Value::disproved(rests_on),
            (_, 0) => Value::proved(if children.is_empty() { 0 } else { plies + 1 }),
            _ if attacks => Value::open(least, total, depth),
            _ => Value::open(total, least, depth),
        };
        Sum { value, best: first + best, second }
    }

    /// Looks into a position until a threshold is reached. `push` forces at least one step.
    pub(super) fn visit<V: Variant>(&mut self, node: &Node<V>, thresholds: Thresholds, push: bool) -> Value {
        if self.should_stop() {
            return Value::open(1, 1, node.depth);
        }
        if u32::from(node.depth) >= MAX_PLIES {
            return Value::open(INFINITE, INFINITE, node.depth);
        }
        self.nodes += 1;
        let before = self.nodes;
        let attacks = self.is_attack(node);
        let address = self.address(node);
        let known = self.table.probe(&address).filter(Value::is_open);
        let first = self.children.len();
        let slot = node.board.key() as usize % SEEN_SLOTS;
        self.way.push(node.board.key());
        self.seen[slot] += 1;
        self.expand(node, attacks);

        let is_old = |child: &Child| child.value.is_open() && child.value.plies <= node.depth;
        let mut push = known.is_some() && (push || self.children[first..].iter().any(is_old));
        let depth = known.map_or(node.depth, |known| known.plies.min(node.depth));
        let mut value = loop {
            let Sum { value, best, second } = self.sum(first, attacks, depth);
            let mut limit = thresholds;
            if push {
                limit.proof = limit.proof.max(value.proof.saturating_add(1));
                limit.disproof = limit.disproof.max(value.disproof.saturating_add(1));
            }
            if self.stopped || !value.is_open() || value.proof >= limit.proof || value.disproof >= limit.disproof {
                break value;
            }
            let child = self.children[best];
            let ahead = second.saturating_add(1 + second / 4);
            let thresholds = if attacks {
                Thresholds {
                    proof: limit.proof.min(ahead),
                    disproof: limit.disproof - value.disproof + child.value.disproof,
                }
            } else {
                Thresholds { proof: limit.proof - value.proof + child.value.proof, disproof: limit.disproof.min(ahead) }
            };
            self.children[best].value = self.visit(&node.after(child.mv), thresholds, push);
            push = false;
        };

        self.children.truncate(first);
        self.way.pop();
        self.seen[slot] -= 1;
        if value.is_disproved() && value.rests_on != NO_DEPENDENCE && value.rests_on >= node.depth {
            // It rests on nothing but itself.
            value.rests_on = NO_DEPENDENCE;
        }
        if !self.stopped {
            self.table.store(&address, value, self.nodes - before + 1);
        }
        value
    }
}
