//! Training of the network on the processor.
//!
//! The first layer has thousands of inputs of which a dozen are active, so it is written out by hand: forward it adds
//! rows up, backward it adds one vector to them. Each thread has its part of a batch and gradients of its own; the
//! optimiser sums those up feature by feature, looking only at rows that were touched.

mod checkpoint;
mod data;
mod model;
mod optimizer;
mod plot;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{End, interrupt, parse_threads, threads_or_cores};
use crate::eval::network::{FormatError, Network};
use crate::eval::simd::{Kernel, Level};
use crate::variant::{Minishogi, Variant};
use checkpoint::write_whole;
pub use checkpoint::{CheckpointError, Journal, LossPoint};
pub use data::{Census, Data, DataError, Example};
use model::{Effective, Gradients, Parameters, backward, loss, quantise};
use optimizer::{Optimizer, Schedule};

/// Between two points of the loss curve, in parts of an epoch.
const POINTS_PER_EPOCH: u64 = 4;

/// Command line of `kozuka train`.
#[derive(Clone, Debug, clap::Args)]
pub struct TrainArgs {
    /// Files of positions from `kozuka datagen`, or directories of such files.
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,
    /// Directory for the network (`net.knnue`), the loss curve (`loss.svg`) and the checkpoint.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How often each position is learned from.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,
    /// Positions a step.
    #[arg(long, default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    /// Highest learning rate.
    #[arg(long, default_value_t = 0.001, value_parser = parse_rate)]
    rate: f32,
    /// Learning rate at the end, to which a cosine leads.
    #[arg(long, default_value_t = 0.000_01, value_parser = parse_rate)]
    last_rate: f32,
    /// Weight decay of AdamW.
    #[arg(long, default_value_t = 0.01, value_parser = parse_rate)]
    decay: f32,
    /// How much of the target is the score of the search; the rest is the result of the game.
    #[arg(long, default_value_t = 0.7, value_parser = parse_rate)]
    score_weight: f32,
    /// Percentage of the positions that are set aside for validation.
    #[arg(long, default_value_t = 3.0, value_parser = parse_share)]
    validation_share: f64,
    /// Threads; as many as there are cores if not given. Another number gives other rounding, and so another network.
    #[arg(long, value_parser = parse_threads)]
    threads: Option<usize>,
    /// Where randomness begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Go on with the run of which `--out` has a checkpoint; the other arguments must be the same.
    #[arg(long)]
    resume: bool,
}

/// A rate, a decay or a weight: none is sensible above one.
fn parse_rate(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        Ok(_) => Err("must be from 0 to 1".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A percentage that leaves something on both sides.
fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.01..=50.0).contains(&number) => Ok(number),
        Ok(_) => Err("must be from 0.01 to 50".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// What determines a run, together with its data.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Settings {
    pub epochs: u32,
    pub batch: u32,
    pub rate: f32,
    pub last_rate: f32,
    pub decay: f32,
    pub score_weight: f32,
    pub validation_share: f64,
    pub threads: usize,
    pub seed: u64,
}

/// Why there is no network.
#[derive(Debug, Error)]
pub enum TrainError {
    /// The positions.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The files of the run.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The directory has a network, and the run is not to go on.
    #[error("{} exists; take another directory, or go on with it by --resume", .0.display())]
    Exists(PathBuf),
    /// The weights cannot be exported.
    #[error("the trained weights cannot be exported: {0}")]
    Export(#[from] FormatError),
    /// The loss curve cannot be drawn.
    #[error("the loss curve cannot be drawn: {0}")]
    Plot(Box<dyn std::error::Error + Send + Sync>),
    /// Ctrl-C cannot be caught.
    #[error("cannot catch the interrupt signal: {0}")]
    Signal(#[from] ctrlc::Error),
    /// Threads cannot be started.
    #[error("threads cannot be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// One thread's part of a batch.
struct Part<'a, V: Variant> {
    data: &'a Data<V>,
    effective: &'a Effective,
    indices: &'a [u32],
    score_weight: f32,
    gradients: &'a mut Gradients,
}

impl<V: Variant> Kernel for Part<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for &index in self.indices {
            backward(self.effective, &self.data.example(index, self.score_weight), self.gradients);
        }
    }
}

/// Losses of some positions, summed.
struct Check<'a, V: Variant> {
    data: &'a Data<V>,
    effective: &'a Effective,
    indices: &'a [u32],
    score_weight: f32,
}

impl<V: Variant> Kernel for Check<'_, V> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        self.indices.iter().map(|&index| loss(self.effective, &self.data.example(index, self.score_weight))).sum()
    }
}

/// A run of training.
#[derive(Debug)]
pub struct Trainer<V: Variant> {
    data: Data<V>,
    settings: Settings,
    journal: Journal,
    parameters: Parameters,
    optimizer: Optimizer,
    effective: Effective,
    gradients: Vec<Gradients>,
    level: Level,
}

impl<V: Variant> Trainer<V> {
    /// A run that begins, or goes on from a checkpoint.
    ///
    /// # Errors
    /// If the checkpoint cannot be read or is of another run.
    pub fn new(data: Data<V>, settings: Settings, resume: Option<&Path>) -> Result<Self, TrainError> {
        let positions = [data.training.len(), data.validation.len()];
        let (journal, parameters, optimizer) = match resume {
            Some(path) => checkpoint::load::<V>(path, &settings, positions)?,
            None => {
                let journal = Journal { settings, positions, steps: 0, losses: Vec::new(), seconds: 0.0 };
                (journal, Parameters::random::<V>(settings.seed), Optimizer::new::<V>())
            }
        };
        let effective = parameters.effective::<V>();
        let gradients = vec![Gradients::zero::<V>(); settings.threads.max(1)];
        Ok(Self { data, settings, journal, parameters, optimizer, effective, gradients, level: Level::detect() })
    }

    fn steps_per_epoch(&self) -> u64 {
        self.data.training.len().div_ceil(self.settings.batch as usize) as u64
    }

    fn all_steps(&self) -> u64 {
        self.steps_per_epoch() * u64::from(self.settings.epochs)
    }

    /// How far the run has come.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The network as it stands.
    ///
    /// # Errors
    /// If weights have grown out of the range of the integers.
    pub fn network(&self) -> Result<Network<V>, FormatError> {
        quantise(&self.effective)
    }

    /// The mean loss over the positions that were set aside.
    pub fn validate(&self) -> f64 {
        let parts = self.data.validation.par_chunks(4_096).map(|indices| {
            let (data, effective, score_weight) = (&self.data, &self.effective, self.settings.score_weight);
            self.level.run(Check { data, effective, indices, score_weight })
        });
        // Summed in order, so that the same run says the same.
        parts.collect::<Vec<f64>>().iter().sum::<f64>() / self.data.validation.len() as f64
    }

    /// Learns from a batch.
    fn step(&mut self, batch: &[u32]) {
        let schedule = Schedule {
            rate: self.settings.rate,
            last: self.settings.last_rate,
            warm_up: (self.all_steps() / 50).clamp(1, 200),
            steps: self.all_steps(),
        };
        let share = batch.len().div_ceil(self.gradients.len());
        let (data, effective, level) = (&self.data, &self.effective, self.level);
        let score_weight = self.settings.score_weight;
        self.gradients.par_iter_mut().zip(batch.par_chunks(share)).for_each(|(gradients, indices)| {
            level.run(Part { data, effective, indices, score_weight, gradients });
        });
        let rate = schedule.at(self.journal.steps);
        let (parameters, effective) = (&mut self.parameters, &mut self.effective);
        self.optimizer.step::<V>(parameters, effective, &mut self.gradients, batch.len(), rate, self.settings.decay);
        self.journal.steps += 1;
    }

    /// Learns on until the end or until `stop` is set, calling `tell` after each step with the positions learned from,
    /// and `save` at the end of each epoch.
    ///
    /// # Errors
    /// What `save` returns.
    pub fn train<E>(
        &mut self,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Journal, usize),
        save: &mut dyn FnMut(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let per_epoch = self.steps_per_epoch();
        let point_every = (per_epoch / POINTS_PER_EPOCH).max(1);
        let mut learned = 0;
        let mut started = Instant::now();
        while self.journal.steps < self.all_steps() {
            let epoch = (self.journal.steps / per_epoch) as u32;
            let order = self.data.shuffled(self.settings.seed, epoch);
            let done = (self.journal.steps % per_epoch) as usize;
            for batch in order.chunks(self.settings.batch as usize).skip(done) {
                self.step(batch);
                learned += batch.len();
                let in_epoch = self.journal.steps % per_epoch;
                if in_epoch == 0 || in_epoch.is_multiple_of(point_every) && in_epoch + point_every <= per_epoch {
                    let loss: f64 = self.gradients.iter_mut().map(|part| std::mem::take(&mut part.loss)).sum();
                    let point = LossPoint {
                        epoch: self.journal.steps as f64 / per_epoch as f64,
                        training: loss / learned as f64,
                        validation: self.validate(),
                    };
                    self.journal.losses.push(point);
                    learned = 0;
                }
                self.journal.seconds += std::mem::replace(&mut started, Instant::now()).elapsed().as_secs_f64();
                tell(&self.journal, batch.len());
                if stop.load(Ordering::Relaxed) {
                    return save(self);
                }
            }
            save(self)?;
        }
        Ok(())
    }

    /// Writes network, loss curve and checkpoint.
    ///
    /// # Errors
    /// If the system refuses, or the weights cannot be exported.
    pub fn save(&self, dir: &Path) -> Result<(), TrainError> {
        std::fs::create_dir_all(dir).map_err(|error| CheckpointError::Io { path: dir.to_owned(), error })?;
        checkpoint::save(&dir.join(CHECKPOINT), &self.journal, &self.parameters, &self.optimizer)?;
        write_whole(&dir.join(NETWORK), &self.network()?.to_bytes())?;
        if !self.journal.losses.is_empty() {
            let svg = plot::loss_curve(&self.journal.losses).map_err(TrainError::Plot)?;
            write_whole(&dir.join("loss.svg"), svg.as_bytes())?;
        }
        Ok(())
    }
}

const CHECKPOINT: &str = "checkpoint.bin";
const NETWORK: &str = "net.knnue";

/// `kozuka train`.
///
/// # Errors
/// If data or checkpoint cannot be used, or files cannot be written.
pub fn run(args: &TrainArgs) -> Result<End, TrainError> {
    let settings = Settings {
        epochs: args.epochs,
        batch: args.batch,
        rate: args.rate,
        last_rate: args.last_rate,
        decay: args.decay,
        score_weight: args.score_weight,
        validation_share: args.validation_share / 100.0,
        threads: threads_or_cores(args.threads),
        seed: args.seed,
    };
    // Better now than after an hour.
    std::fs::create_dir_all(&args.out).map_err(|error| CheckpointError::Io { path: args.out.clone(), error })?;
    let existing = [CHECKPOINT, NETWORK].map(|name| args.out.join(name)).into_iter().find(|path| path.exists());
    if let Some(path) = existing.filter(|_| !args.resume) {
        return Err(TrainError::Exists(path));
    }
    let stop = interrupt::catch()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build()?;
    pool.install(|| {
        let data = Data::<Minishogi>::load(&args.data, settings.validation_share)?;
        let Census { records, noisy, repeated } = data.census;
        println!(
            "{records} positions: {noisy} not quiet, {repeated} repeated, {} to learn from, {} set aside",
            data.training.len(),
            data.validation.len()
        );
        let checkpoint = args.out.join(CHECKPOINT);
        let mut trainer = Trainer::new(data, settings, args.resume.then_some(checkpoint.as_path()))?;
        let bar = progress_bar(&trainer);
        let mut told = trainer.journal.losses.len();
        let mut now = (0, 0.0);
        let before = trainer.journal.seconds;
        trainer.train(
            stop,
            &mut |journal, positions| {
                now = (now.0 + positions, journal.seconds - before);
                bar.set_position(journal.steps);
                bar.set_message(format!("{:.0} positions/s", now.0 as f64 / now.1.max(1e-9)));
                if let Some(point) = journal.losses.get(told) {
                    told += 1;
                    bar.suspend(|| {
                        let LossPoint { epoch, training, validation } = point;
                        println!("epoch {epoch:.2}: training {training:.5}, validation {validation:.5}");
                    });
                }
            },
            &mut |trainer| trainer.save(&args.out),
        )?;
        bar.abandon();
        let rate = now.0 as f64 / now.1.max(1e-9);
        println!("{} positions in {:.0} s: {rate:.0} positions/s; see {}", now.0, now.1, args.out.display());
        Ok(End::told(stop))
    })
}

fn progress_bar<V: Variant>(trainer: &Trainer<V>) -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} [{bar:40}] step {pos}/{len}, {msg}, {eta} left");
    ProgressBar::new(trainer.all_steps()).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests;
