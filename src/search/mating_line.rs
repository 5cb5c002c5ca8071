//! The line of a mate that is known by a bound.
//!
//! When a move turns out to mate, above the window, it is searched once more for its line. Should that be stopped, the line
//! is read from the table, where each step of the mate still stands.

use super::tt::Bound;
use super::worker::Worker;
use crate::movegen::{checking_moves, has_legal_move, is_legal, legal_moves};
use crate::types::score::{MAX_EVAL, MAX_PLY, is_mate, mate_in};
use crate::types::{Move, Score};
use crate::variant::Variant;

impl<V: Variant> Worker<'_, V> {
    /// A root move has turned out to mate by a bound: gives it the line to that mate, and returns the score of this line. If
    /// the table does not know all of it, the move is only said to be better than anything that is not certain.
    pub(super) fn mate_with_line(&mut self, index: usize) -> Score {
        let mut line = vec![self.root_moves[index].mv()];
        self.position.do_move(line[0]);
        let complete = self.walk(&mut line);
        for _ in &line {
            self.position.undo_move();
        }
        if !complete {
            return MAX_EVAL;
        }
        let score = mate_in(line.len());
        self.root_moves[index].line = line;
        score
    }

    /// Lengthens a line of one move, which has been made, until its opponent is mated, and makes these moves. False if the
    /// table does not know all of them.
    fn walk(&mut self, line: &mut Vec<Move>) -> bool {
        while line.len() < MAX_PLY {
            if self.game_over(line.len()).is_some_and(|score| !is_mate(score)) {
                return false;
            }
            let next = if line.len() % 2 == 1 {
                let replies = legal_moves(&self.position);
                if replies.is_empty() {
                    return true;
                }
                self.longest_defence(&replies)
            } else {
                self.attack().map(|(_, mv)| mv)
            };
            let Some(mv) = next else { return false };
            line.push(mv);
            self.position.do_move(mv);
        }
        false
    }

    /// The reply to which mate is longest in coming; none if there is one that is not known to be mated.
    fn longest_defence(&mut self, replies: &[Move]) -> Option<Move> {
        let mut longest: Option<(Score, Move)> = None;
        for &reply in replies {
            self.position.do_move(reply);
            let attack = self.attack();
            self.position.undo_move();
            let (score, _) = attack?;
            if longest.is_none_or(|(least, _)| score < least) {
                longest = Some((score, reply));
            }
        }
        longest.map(|(_, mv)| mv)
    }

    /// What the side to move mates by, and its score.
    fn attack(&mut self) -> Option<(Score, Move)> {
        let known = self.shared.table.probe(self.position.key(), 0);
        let mates = known.filter(|entry| entry.score > 0 && is_mate(entry.score) && entry.bound != Bound::Upper);
        if let Some(entry) = mates {
            return entry.best.filter(|&mv| is_legal(&self.position, mv)).map(|mv| (entry.score, mv));
        }
        let checks = checking_moves(self.position.board(), self.position.threats());
        let mate = checks.into_iter().find(|&mv| {
            self.position.do_move(mv);
            let mates = !has_legal_move(&self.position);
            self.position.undo_move();
            mates
        });
        mate.map(|mv| (mate_in(1), mv))
    }
}
