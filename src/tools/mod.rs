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

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::eval;
use crate::eval::network::{Network, NetworkError};
use crate::search::MAX_THREADS;
use crate::variant::Minishogi;

/// A number from one on.
fn parse_positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

/// As many threads as a search may have.
fn parse_threads(text: &str) -> Result<usize, String> {
    match parse_positive(text)? {
        threads if threads <= MAX_THREADS => Ok(threads),
        _ => Err(format!("must be at most {MAX_THREADS}")),
    }
}

/// As many threads as there are cores, if their number is not given.
fn threads_or_cores(given: Option<usize>) -> usize {
    given.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into))
}

/// The network of the file, or that in the program.
fn network_or_embedded(file: Option<&Path>) -> Result<Option<Network<Minishogi>>, NetworkError> {
    file.map_or_else(|| Ok(eval::embedded()), |path| Network::load(path).map(Some))
}

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
