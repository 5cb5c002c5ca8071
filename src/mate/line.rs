//! From a proof to the line that is shown.

use super::dfpn::{Node, Search, Thresholds, replies};
use super::table::Value;
use crate::movegen::{checking_moves, is_legal};
use crate::position::{Board, Position};
use crate::types::Move;
use crate::variant::Variant;

impl Search<'_> {
    /// What is known about a position on the line. A proof that the table has lost is found once more.
    fn proof_of<V: Variant>(&mut self, node: &Node<V>) -> Value {
        let value = self.first_look(node);
        if value.is_open() { self.visit(node, Thresholds::NONE, false) } else { value }
    }

    /// A line from a proved position to mate: the attack goes the shortest way that is known, the defence the longest.
    /// `None` if it cannot be had before a limit is reached, or leads in a circle, which can be where proofs of different
    /// lengths were found for the same position.
    pub(super) fn line<V: Variant>(&mut self, root: &Board<V>) -> Option<Vec<Move>> {
        let mut line = Vec::new();
        let mut met = Vec::new();
        let mut node = self.anchored(Node::root(root), 0);
        loop {
            met.push(node.board.key());
            let mut best: Option<(u16, Move)> = None;
            for again in [false, true] {
                if again && (best.is_some() || !self.proof_of_again(&node)) {
                    break;
                }
                for mv in checking_moves(&node.board, &node.threats) {
                    let next = self.anchored(node.after(mv), line.len() + 1);
                    let value = self.first_look(&next);
                    if value.is_proved() && !met.contains(&next.board.key()) {
                        best = best.filter(|&(plies, _)| plies <= value.plies).or(Some((value.plies, mv)));
                    }
                }
            }
            let (_, attack) = best?;
            node = self.anchored(node.after(attack), line.len() + 1);
            met.push(node.board.key());
            line.push(attack);

            let mut longest: Option<(u16, Move)> = None;
            for mv in replies(&node) {
                let next = self.anchored(node.after(mv), line.len() + 1);
                let value = self.proof_of(&next);
                if !value.is_proved() || met.contains(&next.board.key()) {
                    return None;
                }
                longest = longest.filter(|&(plies, _)| plies >= value.plies).or(Some((value.plies, mv)));
            }
            let Some((_, defence)) = longest else { return Some(line) };
            node = self.anchored(node.after(defence), line.len() + 1);
            line.push(defence);
        }
    }

    /// A position of the line as one that is looked into for itself. Its depth counts only where mates must be short.
    fn anchored<V: Variant>(&self, node: Node<V>, depth: usize) -> Node<V> {
        let depth = if self.within.is_some() { depth as u16 } else { 0 };
        Node { depth, way: 0, ..node }
    }

    fn proof_of_again<V: Variant>(&mut self, node: &Node<V>) -> bool {
        self.visit(node, Thresholds::NONE, false).is_proved()
    }
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
    line.len() % 2 == 1 && !crate::movegen::has_legal_move(&position)
}
