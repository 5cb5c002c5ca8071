//! The positions to learn from.

use std::fs;
use std::path::{Path, PathBuf};

use arrayvec::ArrayVec;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rayon::prelude::*;
use thiserror::Error;

use super::model::{Rows, trainer_row};
use crate::eval::features::Features;
use crate::eval::network::CENTIPAWNS;
use crate::record::packed::{PackedError, Sample, decode, position_hash, record_bytes};
use crate::types::Color;
use crate::types::score::is_certain;
use crate::variant::Variant;

/// Positions are set aside for validation by whole runs of so many, since neighbours in a game are much alike.
const RUN: usize = 2_048;

/// Why there is nothing to learn from.
#[derive(Debug, Error)]
pub enum DataError {
    /// The system refuses.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
    /// A record that is none.
    #[error("{}: record {index}: {error}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Number of the record, from 0.
        index: usize,
        /// What is wrong.
        error: PackedError,
    },
    /// Too few positions for training and validation.
    #[error("{0} usable positions are too few")]
    TooFew(usize),
}

/// What was found in the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Census {
    /// Records.
    pub records: usize,
    /// Left out: in check, best move tactical, or a certain score.
    pub noisy: usize,
    /// Left out: seen before.
    pub repeated: usize,
}

/// Positions in memory, packed as they come.
#[derive(Debug)]
pub struct Data<V> {
    records: Vec<u8>,
    /// What was left out.
    pub census: Census,
    /// Numbers of the positions to learn from.
    pub training: Vec<u32>,
    /// Numbers of the positions that are set aside.
    pub validation: Vec<u32>,
    game: std::marker::PhantomData<V>,
}

/// A position as the trainer sees it.
#[derive(Clone, Debug)]
pub struct Example {
    /// The active rows of the side to move and of the other.
    pub rows: [Rows; 2],
    /// Which output is meant.
    pub bucket: usize,
    /// What the output should be after the sigmoid, between 0 and 1.
    pub target: f32,
}

/// Expected points for a score in centipawns.
pub fn expected_points(score: f32) -> f32 {
    1.0 / (1.0 + (-score / CENTIPAWNS as f32).exp())
}

/// A score is worth learning if the position is quiet: the network judges where nothing is about to be taken.
fn is_quiet(sample: &Sample) -> bool {
    !sample.in_check && !sample.tactical && !is_certain(sample.score.into())
}

/// The files that are meant: of a directory, all shards in it.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, DataError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let io = |error| DataError::Io { path: path.clone(), error };
        for entry in fs::read_dir(path).map_err(io)? {
            let entry = entry.map_err(io)?.path();
            if entry.extension().is_some_and(|extension| extension == "kzp") {
                files.push(entry);
            }
        }
    }
    files.sort();
    Ok(files)
}

impl<V: Variant + Sync> Data<V> {
    /// Reads files, or all `*.kzp` of directories, and sets `validation_share` of the positions aside.
    ///
    /// # Errors
    /// If a file cannot be read or is damaged, or too few positions remain.
    pub fn load(paths: &[PathBuf], validation_share: f64) -> Result<Self, DataError> {
        let size = const { record_bytes::<V>() };
        let mut data = Self {
            records: Vec::new(),
            census: Census::default(),
            training: Vec::new(),
            validation: Vec::new(),
            game: std::marker::PhantomData,
        };
        for path in files(paths)? {
            data.add_file(&path)?;
        }
        data.drop_repeated();

        let count = data.records.len() / size;
        let every = (1.0 / validation_share.clamp(1e-6, 1.0)).round() as usize;
        // Data too small for whole runs are split all the same: the first run to be set aside must be among them.
        let run = RUN.min(count / (2 * every)).max(1);
        (data.validation, data.training) =
            (0..count as u32).partition(|&index| index as usize / run % every == every / 2);
        if data.training.is_empty() || data.validation.is_empty() {
            return Err(DataError::TooFew(count));
        }
        Ok(data)
    }

    fn add_file(&mut self, path: &Path) -> Result<(), DataError> {
        let size = const { record_bytes::<V>() };
        let bytes = fs::read(path).map_err(|error| DataError::Io { path: path.to_owned(), error })?;
        let quiet = bytes
            .par_chunks(size)
            .enumerate()
            .map(|(index, record)| match decode::<V>(record) {
                Ok(sample) => Ok(is_quiet(&sample)),
                Err(error) => Err(DataError::Record { path: path.to_owned(), index, error }),
            })
            .collect::<Result<Vec<bool>, _>>()?;
        self.census.records += quiet.len();
        self.census.noisy += quiet.iter().filter(|&&quiet| !quiet).count();
        for (record, _) in bytes.chunks(size).zip(quiet).filter(|(_, quiet)| *quiet) {
            self.records.extend_from_slice(record);
        }
        Ok(())
    }

    /// Keeps the first of equal positions, in the order of the files.
    fn drop_repeated(&mut self) {
        let size = const { record_bytes::<V>() };
        let hashes = self.records.par_chunks(size).map(position_hash::<V>);
        let mut keys: Vec<(u64, u32)> = hashes.enumerate().map(|(index, hash)| (hash, index as u32)).collect();
        keys.par_sort_unstable();
        keys.dedup_by_key(|(hash, _)| *hash);
        let mut kept: Vec<u32> = keys.into_iter().map(|(_, index)| index).collect();
        kept.par_sort_unstable();
        self.census.repeated = self.records.len() / size - kept.len();
        for (to, &from) in kept.iter().enumerate() {
            let from = from as usize * size;
            self.records.copy_within(from..from + size, to * size);
        }
        self.records.truncate(kept.len() * size);
        self.records.shrink_to_fit();
    }

    /// All positions that are worth learning from, packed, in the order of the files.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.records.chunks_exact(const { record_bytes::<V>() })
    }

    /// The position with that number, its target being `score_weight` parts score and the rest result.
    ///
    /// Numbers come from [`Data::training`] and [`Data::validation`].
    pub fn example(&self, index: u32, score_weight: f32) -> Example {
        let size = const { record_bytes::<V>() };
        let record = &self.records[index as usize * size..][..size];
        let Ok(sample) = decode::<V>(record) else { unreachable!("all records were read once") };
        Example::of::<V>(&sample, score_weight)
    }

    /// The positions to learn from in the order of that epoch.
    pub fn shuffled(&self, seed: u64, epoch: u32) -> Vec<u32> {
        let mut order = self.training.clone();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(epoch));
        order.shuffle(&mut rng);
        order
    }
}

impl Example {
    /// The sample as the trainer sees it, its target being `score_weight` parts score and the rest result.
    pub fn of<V: Variant>(sample: &Sample, score_weight: f32) -> Self {
        let diagram = &sample.diagram;
        let rows = |color: Color| {
            let mut rows = ArrayVec::new();
            Features::<V>::rows(diagram, color, |row| rows.push(trainer_row::<V>(row) as u32));
            rows
        };
        let us = diagram.side_to_move;
        let score = expected_points(sample.score.into());
        Self {
            rows: [rows(us), rows(!us)],
            bucket: Features::<V>::output_bucket(diagram.hands),
            target: score_weight * score + (1.0 - score_weight) * sample.result.points(),
        }
    }
}
