//! Start positions from a file.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::movegen::outcome;
use crate::position::{Position, Rules};
use crate::variant::Variant;

/// Why a file of openings cannot be used.
#[derive(Debug, Error)]
pub enum OpeningsError {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
    /// A line is no position to start from.
    #[error("{}:{line}: {text}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        text: String,
    },
}

/// Reads start positions: one SFEN a line, up to a `;`. Lines that begin with `#` say nothing.
///
/// # Errors
/// If the file cannot be read, or a line is no position in which the game goes on.
pub fn read_openings<V: Variant>(path: &Path) -> Result<Vec<String>, OpeningsError> {
    let text = std::fs::read_to_string(path).map_err(|error| OpeningsError::Io { path: path.to_owned(), error })?;
    let mut openings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let sfen = line.split(';').next().unwrap_or("").trim();
        if sfen.is_empty() || sfen.starts_with('#') {
            continue;
        }
        let error = |text| OpeningsError::Line { path: path.to_owned(), line: index + 1, text };
        let position =
            Position::<V>::from_sfen(sfen, Rules::default()).map_err(|problem| error(problem.to_string()))?;
        if let Some(outcome) = outcome(&position) {
            return Err(error(format!("the game is over: {outcome}")));
        }
        openings.push(sfen.to_owned());
    }
    Ok(openings)
}
