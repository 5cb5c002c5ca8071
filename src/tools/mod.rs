//! What the binary offers beside the USI loop.

pub mod bench;
pub mod datagen;
mod interrupt;
pub mod matches;
pub mod openings;
pub mod perft;
pub mod play;
pub mod train;
