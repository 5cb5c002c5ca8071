//! Better scores for positions that were made long ago: each is searched once more by the engine as it is now.
//!
//! The result of its game stays with a position; its score, its best move and whether that captures become those of the
//! new search. Stretches of neighbouring positions are searched by a searcher that has forgotten the stretch before, so
//! that the outcome depends neither on the number of threads nor on where a run was stopped.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use thiserror::Error;

use super::interrupt;
use super::train::{Data, DataError};
use crate::eval;
use crate::eval::network::{Network, NetworkError};
use crate::position::Rules;
use crate::record::packed::{Sample, decode, encode, record_bytes};
use crate::search::{Answer, Control, Limits, STACK_BYTES, SearchOptions, Searcher};
use crate::types::Move;
use crate::variant::{Minishogi, Variant};

/// Positions that are searched one after the other with one table.
const STRETCH: usize = 1_024;

/// Command line of `kozuka rescore`.
#[derive(Clone, Debug, clap::Args)]
pub struct RescoreArgs {
    /// Files of positions from `kozuka datagen`, or directories of such files. Positions that `train` would leave out are
    /// left out.
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,
    /// The file for the positions with their new scores.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Nodes a position.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Threads; as many as there are cores if not given. Their number does not change what is written.
    #[arg(long)]
    threads: Option<usize>,
    /// Evaluate by this network instead of the one in the program.
    #[arg(long, value_name = "FILE")]
    network: Option<PathBuf>,
    /// Go on with a run that was stopped; the other arguments must be the same.
    #[arg(long)]
    resume: bool,
}

/// Why positions cannot be rescored.
#[derive(Debug, Error)]
pub enum RescoreError {
    /// The positions.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The file is there and nobody said to go on with it.
    #[error("{} is there already: go on with --resume, or take another --out", .0.display())]
    Exists(PathBuf),
    /// The system refuses.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// Ctrl-C cannot be caught.
    #[error("cannot catch the interrupt signal: {0}")]
    Signal(#[from] ctrlc::Error),
}

/// The sample with what a search finds; as it was if its position is no longer accepted or has no move.
fn search_again<V: Variant>(mut sample: Sample, searcher: &mut Searcher<V>, limits: &Limits) -> Sample {
    let Ok(position) = sample.diagram.position::<V>(Rules::default()) else { return sample };
    let mut score = None;
    let answer = searcher.search(&position, limits, &Control::new(), &mut |report| score = Some(report.score));
    if let (Answer::Move { best, .. }, Some(score)) = (answer, score) {
        sample.score = score as i16;
        sample.best = best;
        sample.tactical = takes_or_promotes(&sample, best);
    }
    sample
}

fn takes_or_promotes(sample: &Sample, mv: Move) -> bool {
    mv.is_promotion() || !mv.is_drop() && sample.diagram.pieces.iter().any(|&(square, _)| square == mv.to())
}

/// The file to write to, and how many whole stretches it holds already.
fn open<V: Variant>(path: &Path, resume: bool) -> Result<(File, usize), RescoreError> {
    if path.exists() && !resume {
        return Err(RescoreError::Exists(path.to_owned()));
    }
    let io = |error| RescoreError::Io { path: path.to_owned(), error };
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(io)?;
    let stretch = (STRETCH * const { record_bytes::<V>() }) as u64;
    let done = file.metadata().map_err(io)?.len() / stretch;
    file.set_len(done * stretch).map_err(io)?;
    file.seek(SeekFrom::End(0)).map_err(io)?;
    Ok((file, done as usize))
}

/// Searches all positions of `data` again, from the stretch numbered `first` on, and hands the records to `write` in their
/// order. Ends early if `stop` is set; what was written until then are whole stretches.
///
/// # Errors
/// If a thread cannot be started, or `write` fails.
pub fn rescore<V: Variant + Sync>(
    data: &Data<V>,
    network: Option<&Network<V>>,
    nodes: u64,
    threads: usize,
    first: usize,
    stop: &AtomicBool,
    write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let records: Vec<&[u8]> = data.records().collect();
    let stretches: Vec<&[&[u8]]> = records.chunks(STRETCH).collect();
    let next = AtomicUsize::new(first);
    let work = |done: mpsc::SyncSender<(usize, Vec<u8>)>| {
        let mut searcher = Searcher::<V>::new();
        searcher.configure(&SearchOptions { hash_mib: 1, ..SearchOptions::default() });
        searcher.set_network(network.cloned());
        let limits = Limits::nodes(nodes);
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(stretch) = stretches.get(number) else { break };
            searcher.new_game();
            let samples = stretch.iter().filter_map(|record| decode::<V>(record).ok());
            let found = samples.flat_map(|sample| encode::<V>(&search_again(sample, &mut searcher, &limits))).collect();
            if done.send((number, found)).is_err() {
                break;
            }
        }
    };
    std::thread::scope(|scope| {
        let (sender, found) = mpsc::sync_channel(threads);
        for _ in 0..threads {
            let (work, sender) = (&work, sender.clone());
            let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || work(sender));
            started.inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        }
        drop(sender);
        let (mut waiting, mut due) = (BTreeMap::new(), first);
        for (number, records) in found {
            waiting.insert(number, records);
            while let Some(records) = waiting.remove(&due) {
                write(&records).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                due += 1;
            }
        }
        Ok(())
    })
}

/// `kozuka rescore`.
///
/// # Errors
/// If files cannot be read or written.
pub fn run(args: &RescoreArgs) -> Result<(), RescoreError> {
    let network = match &args.network {
        Some(path) => Some(Network::load(path)?),
        None => eval::embedded::<Minishogi>(),
    };
    let (mut file, done) = open::<Minishogi>(&args.out, args.resume)?;
    let data = Data::<Minishogi>::load(&args.data, 0.5)?;
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into)).max(1);
    let stop = interrupt::catch()?;
    let total = data.records().len();
    let bar = ProgressBar::new(total as u64);
    if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} [{bar:40}] {human_pos}/{human_len}, {eta} left")
    {
        bar.set_style(style);
    }
    bar.set_position((done * STRETCH) as u64);
    bar.reset_eta();
    let started = Instant::now();
    let mut written = 0;
    let outcome = rescore(&data, network.as_ref(), args.nodes, threads, done, stop, &mut |records| {
        let positions = records.len() / const { record_bytes::<Minishogi>() };
        written += positions;
        bar.inc(positions as u64);
        file.write_all(records)
    });
    bar.abandon();
    outcome.and_then(|()| file.sync_data()).map_err(|error| RescoreError::Io { path: args.out.clone(), error })?;
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{} of {total} positions in {}; {written} of them now in {seconds:.1} s: {:.0} positions/s",
        done * STRETCH + written,
        args.out.display(),
        written as f64 / seconds.max(1e-9),
    );
    if stop.load(Ordering::Relaxed) {
        println!("stopped; the same command with --resume goes on");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::datagen::{Progress, Settings, Shard, fill_shard};
    use super::*;

    const NODES: u64 = 40;

    fn rescored(data: &Data<Minishogi>, threads: usize, first: usize) -> Vec<u8> {
        let mut written = Vec::new();
        let mut write = |records: &[u8]| {
            written.extend_from_slice(records);
            Ok(())
        };
        rescore(data, None, NODES, threads, first, &AtomicBool::new(false), &mut write).unwrap();
        written
    }

    #[test]
    fn scores_are_those_of_a_new_search_whatever_the_threads_and_stops() {
        let size = record_bytes::<Minishogi>();
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings::new::<Minishogi>(10, 9);
        let shard = Shard::open::<Minishogi>(dir.path(), &settings, 0, false).unwrap();
        let (stop, progress) = (AtomicBool::new(false), Progress::default());
        fill_shard::<Minishogi>(shard, &settings, None, 0, 4_000, &stop, &progress).unwrap();
        let data = Data::<Minishogi>::load(&[dir.path().to_owned()], 0.1).unwrap();
        assert!(data.records().len() > 2 * STRETCH);

        let all = rescored(&data, 1, 0);
        assert_eq!(all.len(), data.records().len() * size);
        assert_eq!(all, rescored(&data, 3, 0));
        assert_eq!(all[2 * STRETCH * size..], rescored(&data, 2, 2));

        let mut searcher = Searcher::<Minishogi>::new();
        searcher.configure(&SearchOptions { hash_mib: 1, ..SearchOptions::default() });
        searcher.set_network(None);
        searcher.new_game();
        let mut changed = 0;
        for (old, new) in data.records().zip(all.chunks(size)).take(200) {
            let (old, new) = (decode::<Minishogi>(old).unwrap(), decode::<Minishogi>(new).unwrap());
            let mut score = 0;
            let position = old.diagram.position::<Minishogi>(Rules::default()).unwrap();
            searcher.search(&position, &Limits::nodes(NODES), &Control::new(), &mut |report| score = report.score);
            assert_eq!(i32::from(new.score), score, "{}", position.sfen());
            assert_eq!((&old.diagram, old.result, old.ply), (&new.diagram, new.result, new.ply));
            changed += usize::from(old.score != new.score);
        }
        assert!(changed > 100, "{changed}");
    }

    #[test]
    fn a_file_is_gone_on_with_from_its_last_whole_stretch_and_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new.kzp");
        let stretch = STRETCH * record_bytes::<Minishogi>();
        fs::write(&path, vec![7; 2 * stretch + 100]).unwrap();
        assert!(matches!(open::<Minishogi>(&path, false), Err(RescoreError::Exists(_))));
        assert_eq!(fs::read(&path).unwrap().len(), 2 * stretch + 100);
        let (mut file, done) = open::<Minishogi>(&path, true).unwrap();
        assert_eq!(done, 2);
        file.write_all(&[8]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), [vec![7; 2 * stretch], vec![8]].concat());
    }
}
