//! What the binary offers beside the USI loop.

pub mod bench;
pub mod datagen;
pub mod matches;
pub mod perft;
