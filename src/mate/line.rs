//! From a proof to the line that is shown.

use std::collections::{HashMap, HashSet};

use super::dfpn::{Node, Search, Thresholds, replies};
use super::table::Value;
use crate::movegen::{checking_moves, has_legal_move, is_legal};
use crate::position::{Board, Position};
use crate::types::Move;
use crate::variant::Variant;

/// The most positions that a plan may hold; a proof that needs more is not shown.
const PLAN_POSITIONS: usize = 1 << 19;

/// A position of a plan: key and, where mates must be short, depth.
type Spot = (u64, u16);

/// One attack for each position that the defence can bring about, and how long the defence can make it last.
///
/// The plies that the table holds will not do: they are bounds, some of them better than those that were made of them. In
/// a plan no position leads back to itself, since each is finished after all that it leads to.
#[derive(Default)]
struct Plan {
    /// Plies to mate, and the move of whoever is to move; none if it is mated.
    known: HashMap<Spot, (u16, Option<Move>)>,
    begun: HashSet<Spot>,
}

impl Search<'_> {
    /// A line from a proved position to mate. The defence resists as long as it can against this attack, so that mate is
    /// forced within the length of the line. `None` if it cannot be had before a limit is reached, if the proof is too large
    /// or if it leads in a circle, which can be where a position was proved more than once.
    pub(super) fn line<V: Variant>(&mut self, root: &Board<V>) -> Option<Vec<Move>> {
        let mut plan = Plan::default();
        let mut node = Node::root(root);
        self.plan(&node, &mut plan)?;
        let mut line = Vec::new();
        while let (_, Some(mv)) = plan.known.get(&spot(&node))? {
            line.push(*mv);
            node = self.next(&node, *mv);
        }
        Some(line)
    }

    /// Plans the attack from a proved position on; returns the plies to mate.
    fn plan<V: Variant>(&mut self, node: &Node<V>, plan: &mut Plan) -> Option<u16> {
        if let Some(&(plies, _)) = plan.known.get(&spot(node)) {
            return Some(plies);
        }
        if plan.known.len() >= PLAN_POSITIONS || !plan.begun.insert(spot(node)) {
            return None;
        }
        let found = if self.is_attack(node) { self.plan_attack(node, plan) } else { self.plan_defence(node, plan) };
        plan.begun.remove(&spot(node));
        plan.known.insert(spot(node), found?);
        found.map(|(plies, _)| plies)
    }

    /// The shortest attack that is known.
    fn plan_attack<V: Variant>(&mut self, node: &Node<V>, plan: &mut Plan) -> Option<(u16, Option<Move>)> {
        let mut attacks = self.proved_attacks(node);
        if attacks.is_empty() && self.visit(node, Thresholds::NONE, false).is_proved() {
            // The table had lost it.
            attacks = self.proved_attacks(node);
        }
        attacks.sort_by_key(|&(plies, _)| plies);
        attacks.into_iter().find_map(|(_, mv)| Some((self.plan(&self.next(node, mv), plan)? + 1, Some(mv))))
    }

    fn proved_attacks<V: Variant>(&mut self, node: &Node<V>) -> Vec<(u16, Move)> {
        let mut attacks = Vec::new();
        for mv in checking_moves(&node.board, &node.threats) {
            let value = self.first_look(&self.next(node, mv));
            if value.is_proved() {
                attacks.push((value.plies, mv));
            }
        }
        attacks
    }

    /// The longest defence.
    fn plan_defence<V: Variant>(&mut self, node: &Node<V>, plan: &mut Plan) -> Option<(u16, Option<Move>)> {
        let mut longest = (0, None);
        for mv in replies(node) {
            let next = self.next(node, mv);
            if !self.proof_of(&next).is_proved() {
                return None;
            }
            let plies = self.plan(&next, plan)? + 1;
            if plies > longest.0 {
                longest = (plies, Some(mv));
            }
        }
        Some(longest)
    }

    /// What is known about a position. A proof that the table has lost is found once more.
    fn proof_of<V: Variant>(&mut self, node: &Node<V>) -> Value {
        let value = self.first_look(node);
        if value.is_open() { self.visit(node, Thresholds::NONE, false) } else { value }
    }

    /// The position after a move, as one that is looked into for itself: nothing is on the way to it, and its depth counts
    /// only where mates must be short.
    fn next<V: Variant>(&self, node: &Node<V>, mv: Move) -> Node<V> {
        let next = node.after(mv);
        Node { depth: if self.within.is_some() { next.depth } else { 0 }, way: 0, ..next }
    }
}

fn spot<V: Variant>(node: &Node<V>) -> Spot {
    (node.board.key(), node.depth)
}

/// Whether the line is what a line to mate must be, so that not even a clash of keys makes a false one.
pub(super) fn is_mate<V: Variant>(position: &Position<V>, line: &[Move]) -> bool {
    let mut position = position.clone();
    for (index, &mv) in line.iter().enumerate() {
        if !is_legal(&position, mv) {
            return false;
        }
        position.do_move(mv);
        if index % 2 == 0 && !position.in_check() {
            return false;
        }
    }
    line.len() % 2 == 1 && !has_legal_move(&position)
}
