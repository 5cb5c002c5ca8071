//! `kozuka mate`: the mate solver from the shell.

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use thiserror::Error;

use super::interrupt;
use super::openings::read_game;
use crate::engine::{AnyPosition, GameId, dispatch};
use crate::mate::{Limits, OutOfMemory, Progress, STACK_BYTES, Solver, Verdict};
use crate::movegen::is_legal;
use crate::position::{Position, Rules, Sennichite};
use crate::types::Move;
use crate::variant::Variant;

/// Exit code: there is a mate.
pub const EXIT_MATE: u8 = 0;
/// Exit code: there is none. (1 says that the arguments are wrong.)
pub const EXIT_NO_MATE: u8 = 2;
/// Exit code: limits or Ctrl-C came before the answer.
pub const EXIT_UNKNOWN: u8 = 3;

/// The arguments of `kozuka mate`.
#[derive(Args, Clone, Debug)]
pub struct MateArgs {
    /// Position in which the side to move is to give mate: SFEN, or startpos, optionally followed by moves
    /// [default: the start position]
    #[arg(long)]
    pub sfen: Option<String>,
    /// Moves that lead on from it; they count for repetition
    #[arg(long, num_args = 1.., value_name = "MOVE")]
    pub moves: Vec<String>,
    /// Milliseconds to think [default: until it is known]
    #[arg(long, value_name = "MS")]
    pub time: Option<u64>,
    /// Positions to visit
    #[arg(long)]
    pub nodes: Option<u64>,
    /// Count only mates within so many plies
    #[arg(long)]
    pub plies: Option<u32>,
    /// Size of the solver's table in MiB
    #[arg(long, default_value_t = 64, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    pub hash: u32,
    /// What repetition means on 5x5: sente-loses, draw or attacker-deviates
    #[arg(long, default_value_t)]
    pub sennichite: Sennichite,
    /// The game is drawn after so many plies from the position; 0: never
    #[arg(long, default_value_t = 0, value_name = "PLIES")]
    pub max_moves: u32,
    /// Write one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Why nothing was looked for.
#[derive(Debug, Error)]
pub enum MateError {
    /// The position cannot be set up.
    #[error("bad position: {0}")]
    Position(String),
    /// A move that leads on from it is not legal.
    #[error("illegal move '{token}' at ply {ply}")]
    IllegalMove {
        /// The move as it was given.
        token: String,
        /// Its number, from 1.
        ply: usize,
    },
    /// There is not so much memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// Ctrl-C cannot be caught.
    #[error("cannot catch the interrupt signal: {0}")]
    Signal(#[from] ctrlc::Error),
    /// The result cannot be written, or there is no thread to think on.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The solver panicked.
    #[error("the solver has failed")]
    Failed,
}

/// What `--json` writes.
#[derive(Serialize)]
struct Answer {
    /// `mate`, `nomate` or `timeout`, as in USI.
    verdict: &'static str,
    /// The line to mate in USI notation.
    moves: Vec<String>,
    nodes: u64,
    time_ms: u64,
    /// Filling of the table in thousandths.
    hashfull: u32,
}

/// Runs the command and returns the exit code.
///
/// # Errors
/// See [`MateError`].
pub fn run(args: &MateArgs, game: GameId, out: &mut impl Write) -> Result<u8, MateError> {
    let stop = interrupt::catch()?;
    let rules = Rules { sennichite: args.sennichite, max_moves: args.max_moves };
    let sfen = args.sfen.as_deref().unwrap_or("startpos");
    let (_, position) = read_game(game, rules, sfen).map_err(MateError::Position)?;
    let (verdict, answer) = dispatch!(AnyPosition: position, position => solve(args, *position, stop))?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&answer).map_err(io::Error::other)?)?;
    } else {
        match &verdict {
            Verdict::Mate(line) => writeln!(out, "mate in {} plies: {}", line.len(), answer.moves.join(" "))?,
            Verdict::NoMate => match args.plies {
                Some(plies) => writeln!(out, "no mate by checks within {plies} plies")?,
                None => writeln!(out, "no mate by checks")?,
            },
            Verdict::Unknown => writeln!(out, "undecided")?,
        }
        writeln!(out, "{} nodes in {} ms", answer.nodes, answer.time_ms)?;
    }
    Ok(match verdict {
        Verdict::Mate(_) => EXIT_MATE,
        Verdict::NoMate => EXIT_NO_MATE,
        Verdict::Unknown => EXIT_UNKNOWN,
    })
}

fn solve<V: Variant>(
    args: &MateArgs,
    mut position: Position<V>,
    stop: &AtomicBool,
) -> Result<(Verdict, Answer), MateError> {
    for (index, token) in args.moves.iter().enumerate() {
        let mv = Move::from_usi::<V>(token).filter(|&mv| is_legal(&position, mv));
        position.do_move(mv.ok_or_else(|| MateError::IllegalMove { token: token.clone(), ply: index + 1 })?);
    }
    let limits = Limits { time: args.time.map(Duration::from_millis), nodes: args.nodes, plies: args.plies };
    let mut solver = Solver::new(args.hash as usize)?;
    let mut last = Progress { nodes: 0, time: Duration::ZERO, hashfull: 0 };
    let verdict = thread::scope(|scope| {
        let work = || solver.solve(&position, &limits, stop, &mut |progress| last = *progress);
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        thread.join().map_err(|_| MateError::Failed)
    })?;
    let (word, line) = match &verdict {
        Verdict::Mate(line) => ("mate", line.as_slice()),
        Verdict::NoMate => ("nomate", &[][..]),
        Verdict::Unknown => ("timeout", &[][..]),
    };
    let answer = Answer {
        verdict: word,
        moves: line.iter().map(|mv| mv.to_usi::<V>()).collect(),
        nodes: last.nodes,
        time_ms: last.time.as_millis().try_into().unwrap_or(u64::MAX),
        hashfull: last.hashfull,
    };
    Ok((verdict, answer))
}
