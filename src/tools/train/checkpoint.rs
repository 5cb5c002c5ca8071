//! Everything that a run needs to go on, in one file.
//!
//! Length of the JSON part (u64), the JSON part (settings, position in the run, losses), the parameters and both
//! moments as f32, and a checksum (u64); little-endian.

use std::fs;
use std::path::{Path, PathBuf};

use bytemuck::Zeroable;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Settings;
use super::model::{Parameters, Wide};
use super::optimizer::Optimizer;
use crate::eval::network::WIDTH;
use crate::variant::Variant;

/// Losses at some point of the run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct LossPoint {
    /// Epochs done, with a fraction.
    pub epoch: f64,
    /// Mean over the positions since the point before.
    pub training: f64,
    /// Mean over the positions that were set aside.
    pub validation: f64,
}

/// How far a run has come.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Journal {
    /// What the run was told.
    pub settings: Settings,
    /// Positions that are learned from and set aside: other data would be another run.
    pub positions: [usize; 2],
    /// Steps done.
    pub steps: u64,
    /// Losses so far.
    pub losses: Vec<LossPoint>,
    /// Seconds spent.
    pub seconds: f64,
}

/// Why a run cannot be saved or go on.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The system refuses.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
    /// The file is damaged, or no checkpoint for this shape of network.
    #[error("{} is damaged, or no checkpoint of this network", .0.display())]
    Damaged(PathBuf),
    /// Another run.
    #[error("{} belongs to a run with other settings or data: {began}", path.display())]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// Its settings.
        began: String,
    },
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0x6b6f_7a75_6b61, |hash: u64, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let mixed = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    })
}

/// Writes a file in one step: it is there whole or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    fs::write(&fresh, bytes)
        .and_then(|()| fs::rename(&fresh, path))
        .map_err(|error| CheckpointError::Io { path: path.to_owned(), error })
}

/// Saves a run.
///
/// # Errors
/// If the system refuses.
pub fn save(
    path: &Path,
    journal: &Journal,
    parameters: &Parameters,
    optimizer: &Optimizer,
) -> Result<(), CheckpointError> {
    let json = serde_json::to_vec(journal)
        .map_err(|error| CheckpointError::Io { path: path.to_owned(), error: error.into() })?;
    let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
    bytes.extend(json);
    for rows in [&parameters.rows, &optimizer.first, &optimizer.second] {
        bytes.extend(rows.iter().flat_map(|row| row.0).flat_map(f32::to_le_bytes));
    }
    let check = checksum(&bytes);
    bytes.extend(check.to_le_bytes());
    write_whole(path, &bytes)
}

fn parse<V: Variant>(bytes: &[u8]) -> Option<(Journal, Parameters, Optimizer)> {
    let (content, check) = bytes.split_last_chunk::<8>()?;
    if checksum(content) != u64::from_le_bytes(*check) {
        return None;
    }
    let (length, rest) = content.split_first_chunk::<8>()?;
    let (json, mut floats) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let journal: Journal = serde_json::from_slice(json).ok()?;
    let count = Parameters::count::<V>();
    if floats.len() != 3 * count * size_of::<Wide>() {
        return None;
    }
    let mut rows = || {
        let (own, rest) = floats.split_at(count * size_of::<Wide>());
        floats = rest;
        let mut rows = vec![Wide::zeroed(); count];
        for (row, bytes) in rows.iter_mut().zip(own.chunks_exact(4 * WIDTH)) {
            for (value, bytes) in row.0.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *value = f32::from_le_bytes(*bytes);
            }
        }
        rows
    };
    let parameters = Parameters { rows: rows() };
    let mut optimizer = Optimizer::new::<V>();
    (optimizer.first, optimizer.second, optimizer.steps) = (rows(), rows(), journal.steps);
    Some((journal, parameters, optimizer))
}

/// Reads a run back that had these settings and so many positions.
///
/// # Errors
/// If the file cannot be read, is damaged, or belongs to another run.
pub fn load<V: Variant>(
    path: &Path,
    settings: &Settings,
    positions: [usize; 2],
) -> Result<(Journal, Parameters, Optimizer), CheckpointError> {
    let bytes = fs::read(path).map_err(|error| CheckpointError::Io { path: path.to_owned(), error })?;
    let found = parse::<V>(&bytes).ok_or_else(|| CheckpointError::Damaged(path.to_owned()))?;
    if found.0.settings != *settings || found.0.positions != positions {
        let began = format!("{:?}, {:?} positions", found.0.settings, found.0.positions);
        return Err(CheckpointError::OtherRun { path: path.to_owned(), began });
    }
    Ok(found)
}
