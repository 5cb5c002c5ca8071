//! A thread's file of records, and how far it has come.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Settings;
use crate::record::packed::{self, PackedError, Sample, position_hash, record_bytes};
use crate::variant::Variant;

/// So often the file is written to.
const SAVE_EVERY: Duration = Duration::from_secs(2);
/// Slots of the memory for positions that are written already: a power of two, 32 MiB.
const SEEN_SLOTS: usize = 1 << 22;

/// Why a shard cannot be opened or written.
#[derive(Debug, Error)]
pub enum ShardError {
    /// The system refuses.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
    /// A new run would overwrite an old one.
    #[error("{} is there already: go on with --resume, or take another --seed or --out", .0.display())]
    Exists(PathBuf),
    /// The file that tells how far a run has come makes no sense.
    #[error("{}: {error}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// The run to be resumed had other settings.
    #[error("{} was begun with other settings, {began}", path.display())]
    OtherSettings {
        /// The file.
        path: PathBuf,
        /// The settings.
        began: String,
    },
    /// The shard is shorter than its state says, or damaged.
    #[error("{}: {error}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: PackedError,
    },
}

/// How far a shard has come. Written after the records that it counts, so records beyond it are cut off and made again.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    settings: Settings,
    games: u64,
    positions: u64,
}

/// A row of records that grows game by game, without a position twice.
#[derive(Debug)]
pub struct Shard {
    path: PathBuf,
    state_path: PathBuf,
    file: File,
    state: State,
    /// Records that are not in the file yet.
    pending: Vec<u8>,
    saved: Instant,
    /// A hash of the last position that fell into each slot.
    seen: Vec<u64>,
}

impl Shard {
    /// Opens the shard of that thread, new or, with `resume`, as an earlier run has left it.
    ///
    /// # Errors
    /// If it is there already and not to be resumed, was made with other settings, is damaged, or the system refuses.
    pub fn open<V: Variant>(dir: &Path, settings: &Settings, thread: usize, resume: bool) -> Result<Self, ShardError> {
        let path = dir.join(format!("{}-{thread}.kzp", settings.seed));
        let state_path = path.with_extension("json");
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| ShardError::Io { path, error }
        };
        fs::create_dir_all(dir).map_err(io(dir))?;
        if !resume && path.exists() {
            return Err(ShardError::Exists(path));
        }
        let mut state = State { settings: settings.clone(), games: 0, positions: 0 };
        if resume && state_path.exists() {
            let text = fs::read_to_string(&state_path).map_err(io(&state_path))?;
            let error = |error| ShardError::State { path: state_path.clone(), error };
            state = serde_json::from_str(&text).map_err(error)?;
            if state.settings != *settings {
                let began = Settings { openings: Vec::new(), ..state.settings };
                let began = serde_json::to_string(&began).map_err(error)?;
                return Err(ShardError::OtherSettings { path: state_path, began });
            }
        }
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(io(&path))?;
        let seen = vec![0; SEEN_SLOTS];
        let mut shard = Self { path, state_path, file, state, pending: Vec::new(), saved: Instant::now(), seen };
        shard.reread::<V>()?;
        Ok(shard)
    }

    fn io(&self) -> impl FnOnce(std::io::Error) -> ShardError + use<> {
        let path = self.path.clone();
        move |error| ShardError::Io { path, error }
    }

    /// Remembers what the file holds and cuts off what the state does not count.
    fn reread<V: Variant>(&mut self) -> Result<(), ShardError> {
        let size = const { record_bytes::<V>() };
        let length = self.state.positions * size as u64;
        let mut held = Vec::new();
        (&self.file).take(length).read_to_end(&mut held).map_err(self.io())?;
        if held.len() as u64 != length {
            let error = PackedError::Length { found: held.len(), expected: length as usize };
            return Err(ShardError::Damaged { path: self.path.clone(), error });
        }
        for record in held.chunks_exact(size) {
            if let Err(error) = packed::decode::<V>(record) {
                return Err(ShardError::Damaged { path: self.path.clone(), error });
            }
            self.is_new(position_hash::<V>(record));
        }
        self.file.set_len(length).map_err(self.io())?;
        self.file.seek(SeekFrom::End(0)).map_err(self.io())?;
        Ok(())
    }

    /// Whether the position is not known to have been written, and from now on it is. What the memory has lost room
    /// for is written again; readers that mind find it out.
    fn is_new(&mut self, hash: u64) -> bool {
        let slot = &mut self.seen[hash as usize % SEEN_SLOTS];
        std::mem::replace(slot, hash) != hash
    }

    /// Games played, those that gave no position included.
    pub fn games(&self) -> u64 {
        self.state.games
    }

    /// Positions held.
    pub fn positions(&self) -> u64 {
        self.state.positions
    }

    /// Adds a game's new positions; says how many.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn add_game<V: Variant>(&mut self, samples: &[Sample]) -> Result<u64, ShardError> {
        let mut added = 0;
        for sample in samples {
            let record = packed::encode::<V>(sample);
            if self.is_new(position_hash::<V>(&record)) {
                self.pending.extend_from_slice(&record);
                added += 1;
            }
        }
        self.state.games += 1;
        self.state.positions += added;
        if self.saved.elapsed() >= SAVE_EVERY {
            self.save()?;
        }
        Ok(added)
    }

    /// Writes everything out: first the records, then, in one step, the state that counts them.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn save(&mut self) -> Result<(), ShardError> {
        self.file.write_all(&self.pending).map_err(self.io())?;
        self.file.sync_data().map_err(self.io())?;
        self.pending.clear();
        let error = |error| ShardError::State { path: self.state_path.clone(), error };
        let text = serde_json::to_string_pretty(&self.state).map_err(error)?;
        let fresh = self.state_path.with_extension("json.new");
        fs::write(&fresh, text)
            .and_then(|()| fs::rename(&fresh, &self.state_path))
            .map_err(|error| ShardError::Io { path: self.state_path.clone(), error })?;
        self.saved = Instant::now();
        Ok(())
    }
}
