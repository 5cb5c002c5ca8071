//! Evaluation: what a position is worth to the side to move, without looking ahead.

pub mod accumulator;
pub mod features;
mod king_relative;
mod material;
pub mod network;
pub mod simd;

pub use material::{exchange_value, promotion_gain, value};

use crate::position::Position;
use crate::types::Score;
use crate::types::score::MAX_EVAL;
use crate::variant::Variant;

/// Evaluates positions for one worker of a search, which tells it of each move made and taken back.
///
/// The evaluation in use needs to remember nothing between positions; one that does keeps it here.
#[derive(Clone, Debug, Default)]
pub struct Evaluator;

impl Evaluator {
    /// The worth of the position to the side to move, in centipawns, within ±[`MAX_EVAL`].
    pub fn evaluate<V: Variant>(&mut self, position: &Position<V>) -> Score {
        king_relative::evaluate(position).clamp(-MAX_EVAL, MAX_EVAL)
    }
}

#[cfg(test)]
mod tests;
