//! What the binary offers beside the USI loop.

pub mod bench;
pub mod datagen;
mod interrupt;
pub mod matches;
pub mod mate;
pub mod openings;
pub mod perft;
pub mod play;
pub mod rescore;
#[cfg(any(feature = "tune", test))]
pub mod spsa;
pub mod train;
#[cfg(feature = "tune")]
pub mod tune;
