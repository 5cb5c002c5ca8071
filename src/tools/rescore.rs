//! Better scores for positions that were made long ago: each is searched once more by the engine as it is now.
//!
//! The result of its game stays with a position; its score, its best move and whether that captures become those of the
//! new search. Stretches of neighbouring positions are searched by a searcher that has forgotten the stretch before, so
//! that the outcome depends neither on the number of threads nor on where a run was stopped.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::train::{Data, DataError};
use super::{End, interrupt, network_or_embedded, parse_threads, threads_or_cores};
use crate::eval::network::{Network, NetworkError};
use crate::position::Rules;
use crate::record::packed::{Sample, decode, encode, record_bytes};
use crate::search::{Answer, Control, Limits, STACK_BYTES, SearchOptions, Searcher};
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
    #[arg(long, value_parser = parse_threads)]
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
    /// The file is not one that a run of this kind has begun.
    #[error("{} was not begun by this command, with these positions, nodes and network", .0.display())]
    OtherRun(PathBuf),
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
        sample.tactical = Sample::captures_or_promotes(position.board(), best);
    }
    sample
}

/// What determines the scores of a run; it stands beside the file, so that a run goes on with its own file only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Settings {
    /// A checksum of the positions.
    data: u64,
    positions: usize,
    nodes: u64,
    /// A checksum of the network; none for hand-made rules.
    network: Option<u64>,
}

impl Settings {
    fn new<V: Variant + Sync>(data: &Data<V>, network: Option<&Network<V>>, nodes: u64) -> Self {
        // The same in every process of one program, which is all that it is for.
        let mut hasher = DefaultHasher::new();
        data.records().for_each(|record| hasher.write(record));
        Self { data: hasher.finish(), positions: data.records().len(), nodes, network: network.map(Network::checksum) }
    }
}

/// The file to write to, and how many of the run's stretches it holds already.
fn open<V: Variant>(path: &Path, settings: &Settings, resume: bool) -> Result<(File, usize), RescoreError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| RescoreError::Io { path, error }
    };
    let mut state = path.as_os_str().to_owned();
    state.push(".json");
    let state = PathBuf::from(state);
    if path.exists() {
        if !resume {
            return Err(RescoreError::Exists(path.to_owned()));
        }
        let began = fs::read(&state).ok().and_then(|text| serde_json::from_slice::<Settings>(&text).ok());
        if began.as_ref() != Some(settings) {
            return Err(RescoreError::OtherRun(path.to_owned()));
        }
    } else {
        fs::write(&state, serde_json::to_vec(settings).map_err(|error| io(&state)(error.into()))?)
            .map_err(io(&state))?;
    }
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(io(path))?;
    let size = const { record_bytes::<V>() };
    let held = file.metadata().map_err(io(path))?.len() as usize / size;
    // The last stretch may be a short one.
    let done = if held >= settings.positions { settings.positions.div_ceil(STRETCH) } else { held / STRETCH };
    file.set_len(((done * STRETCH).min(settings.positions) * size) as u64).map_err(io(path))?;
    file.seek(SeekFrom::End(0)).map_err(io(path))?;
    Ok((file, done))
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
            let running = samples.take_while(|_| !stop.load(Ordering::Relaxed));
            let found = running.flat_map(|sample| encode::<V>(&search_again(sample, &mut searcher, &limits))).collect();
            // Of a stretch that was broken off nothing is kept.
            if stop.load(Ordering::Relaxed) || done.send((number, found)).is_err() {
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
pub fn run(args: &RescoreArgs) -> Result<End, RescoreError> {
    let network = network_or_embedded(args.network.as_deref())?;
    let data = Data::<Minishogi>::load(&args.data, 0.5)?;
    let settings = Settings::new(&data, network.as_ref(), args.nodes);
    let (mut file, done) = open::<Minishogi>(&args.out, &settings, args.resume)?;
    let threads = threads_or_cores(args.threads);
    let stop = interrupt::catch()?;
    let total = settings.positions;
    let held = (done * STRETCH).min(total);
    let bar = ProgressBar::new(total as u64);
    if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} [{bar:40}] {human_pos}/{human_len}, {eta} left")
    {
        bar.set_style(style);
    }
    bar.set_position(held as u64);
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
        held + written,
        args.out.display(),
        written as f64 / seconds.max(1e-9),
    );
    Ok(End::told(stop))
}

#[cfg(test)]
mod tests {
    use super::super::datagen::{self, Progress, Shard, fill_shard};
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
        let settings = datagen::Settings::new::<Minishogi>(10, 9);
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
    fn a_file_is_gone_on_with_from_its_last_whole_stretch_by_its_own_run_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new.kzp");
        let size = record_bytes::<Minishogi>();
        let settings = Settings { data: 1, positions: 2 * STRETCH + 5, nodes: 3, network: None };
        let open = |settings: &Settings, resume| open::<Minishogi>(&path, settings, resume);
        let (mut file, done) = open(&settings, true).unwrap();
        assert_eq!(done, 0);
        file.write_all(&vec![7; STRETCH * size + 100]).unwrap();

        let refused = |error: Result<_, RescoreError>| {
            assert_eq!(fs::read(&path).unwrap().len(), STRETCH * size + 100);
            error.map(|(_, done): (File, usize)| done).unwrap_err()
        };
        assert!(matches!(refused(open(&settings, false)), RescoreError::Exists(_)));
        for other in [
            Settings { data: 2, ..settings.clone() },
            Settings { positions: 5, ..settings.clone() },
            Settings { nodes: 4, ..settings.clone() },
            Settings { network: Some(1), ..settings.clone() },
        ] {
            assert!(matches!(refused(open(&other, true)), RescoreError::OtherRun(_)));
        }

        let (mut file, done) = open(&settings, true).unwrap();
        assert_eq!((done, fs::read(&path).unwrap()), (1, vec![7; STRETCH * size]));
        file.write_all(&vec![8; (STRETCH + 5) * size]).unwrap();
        // There is nothing left to do, and nothing is cut off.
        assert_eq!(open(&settings, true).unwrap().1, 3);
        assert_eq!(fs::read(&path).unwrap().len(), settings.positions * size);
        // A file that no run has begun.
        fs::remove_file(dir.path().join("new.kzp.json")).unwrap();
        assert!(matches!(open(&settings, true), Err(RescoreError::OtherRun(_))));
    }

    #[test]
    fn a_stop_ends_it_within_a_stretch_and_leaves_whole_ones() {
        let dir = tempfile::tempdir().unwrap();
        let settings = datagen::Settings::new::<Minishogi>(10, 9);
        let shard = Shard::open::<Minishogi>(dir.path(), &settings, 0, false).unwrap();
        let stop = AtomicBool::new(false);
        fill_shard::<Minishogi>(shard, &settings, None, 0, 400, &stop, &Progress::default()).unwrap();
        let data = Data::<Minishogi>::load(&[dir.path().to_owned()], 0.1).unwrap();
        stop.store(true, Ordering::Relaxed);
        rescore(&data, None, NODES, 2, 0, &stop, &mut |_| panic!("nothing is whole")).unwrap();
    }
}
