//! Training positions from self-play.
//!
//! Each thread plays its own games with its own searcher, of which nothing is left over from one game to the next.
//! What a game will be follows from seed, thread and number of the game alone; so a run that was stopped goes on
//! exactly where it stood, and machines with different seeds make different games. A shard is a row of records (see
//! [`crate::record::packed`]) and nothing else: shards from anywhere are put together by `cat`.

mod game;
mod shard;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::openings::{OpeningsError, read_positions};
use super::{End, interrupt, network_or_embedded, parse_threads, threads_or_cores};
use crate::engine::GameId;
use crate::eval::network::{Network, NetworkError};
use crate::position::{Rules, Sennichite};
use crate::search::STACK_BYTES;
use crate::types::Score;
use crate::variant::{Minishogi, Variant};
use game::Player;
pub use shard::{Shard, ShardError};

/// Command line of `kozuka datagen`.
#[derive(Clone, Debug, clap::Args)]
pub struct DatagenArgs {
    /// Directory for the shards, one a thread: `SEED-THREAD.kzp`. Shards of several runs and machines are put together
    /// with `cat`, provided that their seeds differ.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Positions to make, over all threads.
    #[arg(long, default_value_t = 1_000_000)]
    positions: u64,
    /// Nodes a move.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Threads, each playing its own games; as many as there are cores if not given.
    #[arg(long, value_parser = parse_threads)]
    threads: Option<usize>,
    /// Where randomness begins. Equal seeds make equal shards, whatever the speed of the machine.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A file of openings, one a line, as for `kozuka match`.
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Percentage of games from the file of openings.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u8).range(0..=100))]
    openings_share: u8,
    /// Fewest random plies at the start of a game.
    #[arg(long, default_value_t = 3)]
    min_random_plies: u32,
    /// Most random plies at the start of a game.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(..=100))]
    max_random_plies: u32,
    /// Openings that the first search thinks decided by more centipawns than this are not played.
    #[arg(long, default_value_t = 1_200)]
    max_opening_score: Score,
    /// A game is drawn after so many plies.
    #[arg(long, default_value_t = 256)]
    max_plies: u32,
    /// Evaluate by this network instead of the one in the program.
    #[arg(long, value_name = "FILE", conflicts_with = "hand_made")]
    network: Option<PathBuf>,
    /// Evaluate by hand-made rules instead of a network, as the first generation did.
    #[arg(long)]
    hand_made: bool,
    /// What repetition means: sente-loses, draw or attacker-deviates.
    #[arg(long, default_value_t)]
    sennichite: Sennichite,
    /// Go on with a run that was stopped; the other arguments must be the same, but for the number of positions.
    #[arg(long)]
    resume: bool,
}

/// What determines the games of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Name of the game.
    pub variant: String,
    /// Nodes a move.
    pub nodes: u64,
    /// Where randomness begins.
    pub seed: u64,
    /// Start positions as SFEN.
    pub openings: Vec<String>,
    /// Percentage of games that begin with one of them.
    pub openings_share: u8,
    /// Fewest and most random plies at the start of a game; half as many after a position from `openings`.
    pub random_plies: (u32, u32),
    /// Games whose first search says more centipawns are not played.
    pub max_opening_score: Score,
    /// Plies after which a game is drawn.
    pub max_plies: u32,
    /// The name of the repetition rule.
    pub sennichite: String,
    /// The network, as a checksum; none for hand-made rules.
    pub network: Option<u64>,
}

impl Settings {
    /// Settings with the defaults of the command line and no openings.
    pub fn new<V: Variant>(nodes: u64, seed: u64) -> Self {
        Self {
            variant: V::NAME.to_owned(),
            nodes,
            seed,
            openings: Vec::new(),
            openings_share: 0,
            random_plies: (3, 12),
            max_opening_score: 1_200,
            max_plies: 256,
            sennichite: Sennichite::default().name().to_owned(),
            network: None,
        }
    }

    fn rules(&self) -> Result<Rules, DatagenError> {
        let sennichite = self.sennichite.parse()?;
        Ok(Rules { sennichite, max_moves: self.max_plies })
    }
}

/// Why no positions can be made.
#[derive(Debug, Error)]
pub enum DatagenError {
    /// The files.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// The network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The openings.
    #[error(transparent)]
    Openings(#[from] OpeningsError),
    /// The repetition rule.
    #[error("--sennichite: {0}")]
    Sennichite(#[from] crate::position::UnknownSennichite),
    /// The random plies.
    #[error("--min-random-plies {0} is more than --max-random-plies {1}")]
    RandomPlies(u32, u32),
    /// No game would have a move that is not random.
    #[error("--min-random-plies {0} leaves nothing of a game of --max-plies {1}")]
    NoGame(u32, u32),
    /// Ctrl-C cannot be caught.
    #[error("cannot catch the interrupt signal: {0}")]
    Signal(#[from] ctrlc::Error),
    /// There is no thread to play on.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// What a run has made so far, for whoever watches it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Positions written, those of earlier runs that this one resumes included.
    pub positions: AtomicU64,
    /// Games played.
    pub games: AtomicU64,
}

/// Plays games with that network, or by hand-made rules, on one thread until its shard holds `target` positions or `stop` is set. The shard is then complete as
/// far as it goes, and can be resumed.
///
/// # Errors
/// If the shard cannot be written.
pub fn fill_shard<V: Variant>(
    mut shard: Shard,
    settings: &Settings,
    network: Option<Network<V>>,
    thread: usize,
    target: u64,
    stop: &AtomicBool,
    progress: &Progress,
) -> Result<(), DatagenError> {
    let mut player = Player::<V>::new(settings, settings.rules()?, network);
    progress.positions.fetch_add(shard.positions(), Ordering::Relaxed);
    while shard.positions() < target {
        let Some(samples) = player.play(thread, shard.games(), stop) else { break };
        let added = shard.add_game::<V>(&samples)?;
        progress.positions.fetch_add(added, Ordering::Relaxed);
        progress.games.fetch_add(1, Ordering::Relaxed);
    }
    shard.save()?;
    Ok(())
}

/// `kozuka datagen`.
///
/// # Errors
/// If arguments do not fit together or files cannot be read or written.
pub fn run(args: &DatagenArgs) -> Result<End, DatagenError> {
    let (fewest, most) = (args.min_random_plies, args.max_random_plies);
    if fewest > most {
        return Err(DatagenError::RandomPlies(fewest, most));
    }
    if fewest >= args.max_plies {
        return Err(DatagenError::NoGame(fewest, args.max_plies));
    }
    let network = match &args.network {
        _ if args.hand_made => None,
        file => network_or_embedded(file.as_deref())?,
    };
    let settings = Settings {
        network: network.as_ref().map(Network::checksum),
        openings: match &args.openings {
            Some(path) => read_positions(GameId::Minishogi, Rules::default(), path)?,
            None => Vec::new(),
        },
        openings_share: args.openings_share,
        random_plies: (fewest, most),
        max_opening_score: args.max_opening_score,
        max_plies: args.max_plies,
        sennichite: args.sennichite.name().to_owned(),
        ..Settings::new::<Minishogi>(args.nodes, args.seed)
    };
    let threads = threads_or_cores(args.threads);
    let share = |thread| args.positions / threads as u64 + u64::from((thread as u64) < args.positions % threads as u64);

    let stop = interrupt::catch()?;
    let shards = (0..threads)
        .map(|thread| Shard::open::<Minishogi>(&args.out, &settings, thread, args.resume))
        .collect::<Result<Vec<_>, _>>()?;

    let progress = Progress::default();
    let bar = progress_bar(args.positions);
    let started = Instant::now();
    let resumed_from: u64 = shards.iter().map(Shard::positions).sum();
    let outcome = std::thread::scope(|scope| -> Result<(), DatagenError> {
        let workers: Vec<_> = shards
            .into_iter()
            .enumerate()
            .map(|(thread, shard)| {
                let (settings, network, progress) = (&settings, network.clone(), &progress);
                let target = share(thread);
                let work = move || fill_shard::<Minishogi>(shard, settings, network, thread, target, stop, progress);
                std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)
            })
            .collect::<std::io::Result<_>>()
            // Those that have begun are not to make everything before this is told.
            .inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        while !workers.iter().all(|worker| worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(200));
            show(&bar, &progress, resumed_from, started);
        }
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    bar.abandon();
    outcome?;

    let positions = progress.positions.load(Ordering::Relaxed);
    let made = positions.saturating_sub(resumed_from);
    let seconds = started.elapsed().as_secs_f64();
    let games = progress.games.load(Ordering::Relaxed);
    println!(
        "{positions} positions in {}; {made} of them now, from {games} games in {seconds:.1} s: {:.0} positions/s",
        args.out.display(),
        made as f64 / seconds.max(1e-9),
    );
    Ok(End::told(stop))
}

fn progress_bar(positions: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} [{bar:40}] {human_pos}/{human_len} {msg}");
    ProgressBar::new(positions).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn show(bar: &ProgressBar, progress: &Progress, resumed_from: u64, started: Instant) {
    let positions = progress.positions.load(Ordering::Relaxed);
    let rate = positions.saturating_sub(resumed_from) as f64 / started.elapsed().as_secs_f64().max(1e-9);
    let left = bar.length().unwrap_or(0).saturating_sub(positions) as f64 / rate.max(1e-9);
    bar.set_position(positions);
    if rate > 0.0 {
        bar.set_message(format!("{rate:.0} positions/s, {:.0} min left", left / 60.0));
    }
}

#[cfg(test)]
mod tests;
