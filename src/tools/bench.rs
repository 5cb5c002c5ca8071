//! `kozuka bench`: a fixed search whose node count is the signature of the search and whose speed compares machines.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use thiserror::Error;

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
    #[arg(long, default_value_t = 1, value_parser = parse_positive)]
    pub threads: usize,
    /// Size of the transposition table in MiB
    #[arg(long, default_value_t = 16, value_parser = parse_positive)]
    pub hash: usize,
    /// Evaluate by this network instead of the one in the program; the node count is then another
    #[arg(long, value_name = "FILE")]
    pub network: Option<PathBuf>,
}

/// A number from one on.
fn parse_positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

/// Why the bench did not end.
#[derive(Debug, Error)]
pub enum BenchError {
    /// A position of the list cannot be set up.
    #[error("bad position: {0}")]
    Position(#[from] SfenError),
    /// The result cannot be written, or there is no thread to search on.
    #[error(transparent)]
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
    for (index, sfen) in POSITIONS.iter().enumerate() {
        let position = Position::from_sfen(sfen, Rules::default())?;
        searcher.new_game();
        let start = Instant::now();
        let mut nodes = 0;
        searcher.search(&position, &Limits::depth(args.depth), &Control::new(), &mut |report| nodes = report.nodes);
        total.time += start.elapsed();
        total.nodes += nodes;
        writeln!(out, "{:>2}/{} {nodes:>9} {sfen}", index + 1, POSITIONS.len())?;
        out.flush()?;
    }
    let nps = u128::from(total.nodes) * 1_000_000 / total.time.as_micros().max(1);
    writeln!(out, "{} nodes {nps} nps", total.nodes)?;
    Ok(total)
}

/// Openings, middle games with much in hand, and endgames, reached by random play from the usual start.
const POSITIONS: &[&str] = &[
    "rbsgk/4p/5/P4/KGSBR b - 1",
    "rbsgk/p4/5/4P/KGSBR b - 1",
    "1b1gk/1r1sp/1B3/PS2R/KG3 b - 1",
    "rb1gk/3s1/PB2p/5/KGS1R b - 1",
    "1+Bsg1/2bkp/5/G3R/K1S2 w Rp 1",
    "rbs1k/3gp/5/P3R/KGSB1 b - 1",
    "rr2k/1S3/1B1gs/1Kp1b/5 w Gp 59",
    "rbg1k/B1s1p/5/P2S1/KG2R b - 1",
    "r2gk/1s2p/3b1/P4/KGSBR b - 1",
    "rb1gk/B1s1p/5/P4/KGS1R b - 1",
    "rbsgk/4p/5/PS3/KG1BR w - 2",
    "1bgk1/4p/Psr1S/2G2/2KBR w - 26",
    "rb2k/4p/1KS1R/P1G2/SG1b1 w - 17",
    "sr1Sk/+B1Kpp/2G2/B2r1/1g3 b - 43",
    "2rsk/4g/P1sRp/K1B1B/4g b - 59",
    "1b3/R+S2k/S1K1p/pGG2/r2+b1 w - 58",
    "5/Bg2k/R1s1p/P1S2/KG1R1 b B 23",
    "r1s2/1b2p/P1rbk/K4/1G1S1 b G 25",
    "r3k/3g1/P2Sp/K1R2/1BGb1 w S 32",
    "r1sk1/2bb1/1pg1p/3RS/1K3 b G 35",
    "S1+P2/3ks/3bg/+BR3/KR2+p w g 54",
    "rb1gk/1S2p/4R/PK3/3B1 w Sg 12",
    "r1g1k/1s2p/2G2/P3R/1KS2 w Bb 9",
    "2g2/2r2/PrBBk/G4/K1S2 w sp 24",
    "rp3/1sBkp/2r1g/1K3/2S2 b Bg 33",
    "2kr1/2bsp/5/P1KS1/1G1B1 w rg 54",
    "1K3/1b2k/1Gp1p/2gR1/B3S w rs 60",
    "2k1g/2b1p/3p1/G3R/K1S2 b Srb 6",
    "2gk1/G4/s1S1p/P4/KR3 w RBb 26",
    "4k/3rp/4R/P+B1B1/K3g b 2Sg 27",
    "3pk/2B2/Gs3/2R2/K1Pg1 w rbs 44",
    "2G2/2b1k/2S2/PKS1g/3B1 b 2rp 53",
    "5/KBk2/2p1+b/sg3/2R1R w SPg 50",
    "1G1+B1/2S1p/P4/2B2/1K2k w 2RSg 43",
    "1+SB2/2k1p/4s/4R/1K1B1 w R2gp 32",
    "2g1k/K1Rsp/4g/3P1/5 b RBSb 48",
    "2+S1k/P4/2S1G/R4/K3g w RBPb 52",
    "3k1/bs3/5/2G2/K1SB1 b GP2rp 19",
    "4k/3s+r/p4/1b3/1KS2 b GPrbg 33",
    "4k/4g/4s/PP+R2/1K3 w RBSbg 36",
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::movegen::{legal_moves, outcome};

    #[test]
    fn positions_are_playable_and_distinct() {
        let mut keys = HashSet::new();
        for sfen in POSITIONS {
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
