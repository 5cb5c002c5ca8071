//! Evaluation: what a position is worth to the side to move, without looking ahead.

pub mod accumulator;
pub mod features;
pub mod file;
mod king_relative;
mod material;
pub mod network;
pub mod simd;

pub use material::{exchange_value, promotion_gain, value};

use std::sync::{Arc, OnceLock};

use crate::position::Position;
use crate::types::Score;
use crate::types::score::MAX_EVAL;
use crate::variant::Variant;
use accumulator::Accumulators;
use network::{Network, Weights};
use simd::Level;

/// The networks in the program, by the game's name.
const EMBEDDED: &[(&str, &[u8])] = &[("minishogi", include_bytes!("nets/minishogi.knnue"))];

/// The network in the program for that game, if there is one.
///
/// # Panics
/// If it does not fit the features, which tests exclude.
pub fn embedded<V: Variant>() -> Option<Network<V>> {
    static READ: [OnceLock<Arc<Weights>>; EMBEDDED.len()] = [const { OnceLock::new() }; EMBEDDED.len()];
    let index = EMBEDDED.iter().position(|(name, _)| *name == V::NAME)?;
    let read = || Network::<V>::from_bytes(EMBEDDED[index].1).expect("the embedded network is sound").into_weights();
    Some(Network::from_checked(Arc::clone(READ[index].get_or_init(read))))
}

/// Evaluates positions for one worker of a search: by a network, or by hand-made rules for games without one.
///
/// It need not be told of moves; see [`accumulator`] for how a network follows the search.
#[derive(Clone, Debug)]
pub struct Evaluator<V: Variant> {
    network: Option<(Network<V>, Accumulators<V>)>,
}

impl<V: Variant> Evaluator<V> {
    /// An evaluator that uses this network, if there is one.
    pub fn new(network: Option<Network<V>>) -> Self {
        Self { network: network.map(|network| (network, Accumulators::new(Level::detect()))) }
    }

    /// The worth of the position to the side to move, in centipawns, within ±[`MAX_EVAL`].
    #[inline]
    pub fn evaluate(&mut self, position: &Position<V>) -> Score {
        let score = match &mut self.network {
            Some((network, accumulators)) => accumulators.evaluate(network, position),
            None => king_relative::evaluate(position),
        };
        score.clamp(-MAX_EVAL, MAX_EVAL)
    }
}

#[cfg(test)]
mod tests;
