//! Corrections of the evaluation by what searches found in positions that share something with this one ("static
//! evaluation correction history", chessprogramming.org; Caissa and Stockfish keep such by pawns and by pieces).

use super::params::{CORRECTION_GRAIN, CORRECTION_LIMIT, correction_generals, correction_hands, correction_moves};
use super::stack::Stack;
use crate::position::Board;
use crate::types::{Color, PieceType, Score};
use crate::variant::Variant;

/// Entries of each table; a power of two.
const SLOTS: usize = 1 << 14;

/// What all corrections of one worker are. They last over a game.
#[derive(Clone, Debug)]
pub(super) struct Corrections {
    /// By side to move and by hash of both hands.
    hands: Vec<i16>,
    /// By side to move and by hash of where kings, golds and silvers stand.
    generals: Vec<i16>,
    /// By the last two moves.
    moves: Vec<i16>,
}

/// The slots that belong to a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots([usize; 3]);

/// A multiplicative hash (Knuth, "The Art of Computer Programming", volume 3, section 6.4).
#[inline(always)]
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline(always)]
fn slot(side: Color, hash: u64) -> usize {
    side.index() * SLOTS + (hash >> 50) as usize % SLOTS
}

impl Corrections {
    pub(super) fn new() -> Self {
        let table = || vec![0; 2 * SLOTS];
        Self { hands: table(), generals: table(), moves: table() }
    }

    /// Where to look for the position at that ply.
    #[inline]
    pub(super) fn slots<V: Variant>(board: &Board<V>, stack: &Stack, ply: usize) -> Slots {
        let us = board.side_to_move();
        // Everything as the side to move sees the board, so that a turned position is corrected alike.
        let hands = [us, !us].into_iter().fold(0, |h, color| mix(h, board.hand(color).bits().into()));
        let mut generals = 0;
        for (side, color) in [us, !us].into_iter().enumerate() {
            for (kind, piece) in [PieceType::King, PieceType::Gold, PieceType::Silver].into_iter().enumerate() {
                for square in board.pieces(color, piece) {
                    let square = if us == Color::White { square.rotated::<V>() } else { square };
                    // Exclusive or, so that the order of squares does not matter.
                    generals ^= mix((8 * side + kind) as u64 + 1, square.index() as u64);
                }
            }
        }
        let [last, own] = [1, 2].map(|back| *stack.before(ply, back));
        let moves = match (last.made, own.made) {
            (Some(last), Some(own)) => mix(u64::from(last.order(!us)), u64::from(own.order(us))),
            _ => 0,
        };
        Slots([slot(us, hands), slot(us, generals), slot(us, moves)])
    }

    /// What is to be added to the evaluation, in centipawns.
    #[inline]
    pub(super) fn get(&self, slots: &Slots) -> Score {
        let [hands, generals, moves] = slots.0;
        let sum = i32::from(self.hands[hands]) * correction_hands()
            + i32::from(self.generals[generals]) * correction_generals()
            + i32::from(self.moves[moves]) * correction_moves();
        sum / (64 * CORRECTION_GRAIN)
    }

    /// Learns that a search of that depth found a score so far above the evaluation.
    #[inline]
    pub(super) fn learn(&mut self, slots: &Slots, depth: i32, error: Score) {
        let weight = (depth + 1).min(16);
        let target = error.clamp(-256, 256) * CORRECTION_GRAIN;
        let [hands, generals, moves] = slots.0;
        for entry in [&mut self.hands[hands], &mut self.generals[generals], &mut self.moves[moves]] {
            let old = i32::from(*entry);
            let new = (old * (256 - weight) + target * weight) / 256;
            *entry = new.clamp(-CORRECTION_LIMIT, CORRECTION_LIMIT) as i16;
        }
    }
}
