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

use std::sync::atomic::{AtomicBool, Ordering};

/// How the work of a tool ended that can be stopped and gone on with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// All of it is done.
    Finished,
    /// It was interrupted; what was done is kept.
    Interrupted,
}

impl End {
    /// The exit code: a script must see whether all of the work is done.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Finished => 0,
            Self::Interrupted => matches::setup::EXIT_INTERRUPTED,
        }
    }

    /// Tells the user if it was interrupted.
    fn told(stop: &AtomicBool) -> Self {
        if !stop.load(Ordering::Relaxed) {
            return Self::Finished;
        }
        println!("stopped; the same command with --resume goes on");
        Self::Interrupted
    }
}
