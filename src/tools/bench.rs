//! `kozuka bench`: a fixed search whose node count is the signature of the search and whose speed compares machines.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use thiserror::Error;

use super::{parse_positive, parse_threads};
use crate::eval::network::{Network, NetworkError};
use crate::position::{Position, Rules, SfenError};
use crate::search::{Control, Limits, STACK_BYTES, SearchOptions, Searcher};
use crate::variant::Minishogi;

/// The arguments of `kozuka bench`.
#[derive(Args, Clone, Debug)]
pub struct BenchArgs {
    /// Plies to search each position
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub depth: u32,
    /// Threads; the node count is the same on each run with one only
    #[arg(long, default_value_t = 1, value_parser = parse_threads)]
    pub threads: usize,
    /// Size of the transposition table in MiB
    #[arg(long, default_value_t = 16, value_parser = parse_positive)]
    pub hash: usize,
    /// Evaluate by this network instead of the one in the program; the node count is then another
    #[arg(long, value_name = "FILE")]
    pub network: Option<PathBuf>,
}

/// Why the bench did not end.
#[derive(Debug, Error)]
pub enum BenchError {
    /// A position of the list cannot be set up.
    #[error("bad position: {0}")]
    Position(#[from] SfenError),
    /// The result cannot be written, or there is no thread to search on.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The network cannot be used.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The search panicked.
    #[error("the search has failed")]
    Failed,
}

/// What a bench counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Total {
    /// Nodes of all searches.
    pub nodes: u64,
    /// Their time.
    pub time: Duration,
}

/// Searches all positions, each from an empty table, and writes the node counts. The last line is
/// `<nodes> nodes <nps> nps`.
///
/// # Errors
/// See [`BenchError`].
pub fn run(args: &BenchArgs, out: &mut (impl Write + Send)) -> Result<Total, BenchError> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        let search = builder.spawn_scoped(scope, || search_all(args, out))?;
        search.join().unwrap_or(Err(BenchError::Failed))
    })
}

fn search_all(args: &BenchArgs, out: &mut impl Write) -> Result<Total, BenchError> {
    let mut searcher = Searcher::<Minishogi>::new();
    let options = SearchOptions { hash_mib: args.hash, threads: args.threads, ..SearchOptions::default() };
    for notice in searcher.configure(&options) {
        writeln!(out, "{notice}")?;
    }
    if let Some(path) = &args.network {
        searcher.set_network(Some(Network::load(path)?));
    }
    let mut total = Total::default();
    for (index, sfen) in positions().enumerate() {
        let position = Position::from_sfen(sfen, Rules::default())?;
        searcher.new_game();
        let start = Instant::now();
        let mut nodes = 0;
        searcher.search(&position, &Limits::depth(args.depth), &Control::new(), &mut |report| nodes = report.nodes);
        total.time += start.elapsed();
        total.nodes += nodes;
        writeln!(out, "{:>2}/{} {nodes:>9} {sfen}", index + 1, positions().count())?;
        out.flush()?;
    }
    let nps = u128::from(total.nodes) * 1_000_000 / total.time.as_micros().max(1);
    writeln!(out, "{} nodes {nps} nps", total.nodes)?;
    Ok(total)
}

/// The positions, one a line; remarks begin with a semicolon.
const POSITIONS: &str = include_str!("../../benches/positions.sfen");

fn positions() -> impl Iterator<Item = &'static str> {
    POSITIONS.lines().filter(|line| !line.is_empty() && !line.starts_with(';'))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::movegen::{legal_moves, outcome};

    #[test]
    fn positions_are_playable_and_distinct() {
        let mut keys = HashSet::new();
        for sfen in positions() {
            let position = Position::<Minishogi>::from_sfen(sfen, Rules::default()).unwrap();
            assert_eq!(outcome(&position), None, "{sfen}");
            assert!(legal_moves(&position).len() > 1, "{sfen}");
            assert_eq!(&position.sfen(), sfen);
            assert!(keys.insert(position.key()), "{sfen}");
        }
    }

    #[test]
    fn the_last_line_sums_up_and_the_count_is_the_same_again() {
        let args = BenchArgs { depth: 3, threads: 1, hash: 1, network: None };
        let mut out = Vec::new();
        let total = run(&args, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let last: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
        assert_eq!((last[0], last[1], last[3]), (total.nodes.to_string().as_str(), "nodes", "nps"));
        assert!(last[2].parse::<u64>().is_ok());
        assert_eq!(run(&args, &mut io::sink()).unwrap().nodes, total.nodes);
    }
}
