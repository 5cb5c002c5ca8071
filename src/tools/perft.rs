//! `kozuka perft`: counts move sequences, or checks a file of such counts.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use thiserror::Error;

use super::openings::read_game;
use crate::engine::{AnyPosition, GameId, dispatch, with_game};
use crate::movegen::perft::{divide, perft};
use crate::position::{Position, Rules};
use crate::variant::Variant;

/// The arguments of `kozuka perft`.
#[derive(Args, Clone, Debug)]
pub struct PerftArgs {
    /// Plies to count; needed unless there is a --suite
    #[arg(required_unless_present = "suite", conflicts_with = "suite")]
    pub depth: Option<u32>,
    /// Position to count from: SFEN, or startpos, optionally followed by moves [default: the start position]
    #[arg(long, conflicts_with = "suite")]
    pub sfen: Option<String>,
    /// Show the count of each first move
    #[arg(long, conflicts_with = "suite")]
    pub divide: bool,
    /// File of lines `SFEN ;D1 n ;D2 n …` to check
    #[arg(long, value_name = "FILE")]
    pub suite: Option<PathBuf>,
}

/// Why there is no count.
#[derive(Debug, Error)]
pub enum PerftError {
    /// The position cannot be set up.
    #[error("bad position: {0}")]
    Position(String),
    /// The suite cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Suite {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The suite holds no position.
    #[error("{} holds no position", .0.display())]
    Empty(PathBuf),
    /// The result cannot be written.
    // Not transparent: a closed pipe is looked for among the causes.
    #[error("{0}")]
    Output(#[from] io::Error),
}

/// Runs the command. Returns whether all went well: a suite with a mismatch did not.
///
/// # Errors
/// See [`PerftError`].
pub fn run(args: &PerftArgs, game: GameId, out: &mut impl Write) -> Result<bool, PerftError> {
    if let Some(path) = &args.suite {
        return with_game!(game, V => suite::<V>(path, out));
    }
    let depth = args.depth.unwrap_or(0);
    let sfen = args.sfen.as_deref().unwrap_or("startpos");
    let (_, position) = read_game(game, Rules::default(), sfen).map_err(PerftError::Position)?;
    dispatch!(AnyPosition: position, position => count(&position, depth, args.divide, out))?;
    Ok(true)
}

fn count<V: Variant>(
    position: &Position<V>,
    depth: u32,
    by_move: bool,
    out: &mut impl Write,
) -> Result<(), PerftError> {
    let start = Instant::now();
    let nodes = if by_move && depth > 0 {
        let mut sum = 0;
        for (mv, nodes) in divide(position, depth) {
            writeln!(out, "{}: {nodes}", mv.to_usi::<V>())?;
            sum += nodes;
        }
        writeln!(out)?;
        sum
    } else {
        perft(position, depth)
    };
    let rate = u128::from(nodes) * 1_000_000 / start.elapsed().as_micros().max(1);
    writeln!(out, "Nodes searched: {nodes}\nNodes/second: {rate}")?;
    Ok(())
}

/// Checks a suite, printing what does not agree.
fn suite<V: Variant>(path: &Path, out: &mut impl Write) -> Result<bool, PerftError> {
    let text = fs::read_to_string(path).map_err(|source| PerftError::Suite { path: path.to_owned(), source })?;
    let (mut positions, mut mismatches) = (0, 0);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        positions += 1;
        for complaint in check_line::<V>(line) {
            writeln!(out, "line {}: {complaint}", index + 1)?;
            mismatches += 1;
        }
        out.flush()?;
    }
    if positions == 0 {
        return Err(PerftError::Empty(path.to_owned()));
    }
    writeln!(out, "{positions} positions, {mismatches} mismatches")?;
    Ok(mismatches == 0)
}

fn check_line<V: Variant>(line: &str) -> Vec<String> {
    let mut fields = line.split(';');
    let sfen = fields.next().unwrap_or_default().trim();
    let position = match Position::<V>::from_sfen(sfen, Rules::default()) {
        Ok(position) => position,
        Err(error) => return vec![format!("bad position: {error}")],
    };
    let check = |field: &str| {
        let (depth, expected) = field.trim().strip_prefix('D')?.split_once(' ')?;
        let (depth, expected): (u32, u64) = (depth.parse().ok()?, expected.trim().parse().ok()?);
        let found = perft(&position, depth);
        Some((found != expected).then(|| format!("{sfen} depth {depth}: {found} instead of {expected}")))
    };
    let mut fields = fields.peekable();
    if fields.peek().is_none() {
        return vec![format!("{sfen}: no counts")];
    }
    fields.filter_map(|field| check(field).unwrap_or_else(|| Some(format!("unreadable field '{field}'")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(depth: u32) -> PerftArgs {
        PerftArgs { depth: Some(depth), sfen: None, divide: false, suite: None }
    }

    fn output(args: &PerftArgs, game: GameId) -> (bool, String) {
        let mut out = Vec::new();
        let good = run(args, game, &mut out).unwrap();
        (good, String::from_utf8(out).unwrap())
    }

    #[test]
    fn counts_are_the_last_lines() {
        let (_, text) = output(&args(3), GameId::Minishogi);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Nodes searched: 2512");
        assert!(lines[1].strip_prefix("Nodes/second: ").is_some_and(|rate| rate.parse::<u64>().is_ok()));
        assert_eq!(lines.len(), 2);
        assert!(output(&args(2), GameId::Shogi).1.starts_with("Nodes searched: 900\n"));
        assert!(output(&args(0), GameId::Shogi).1.starts_with("Nodes searched: 1\n"));
    }

    #[test]
    fn divided_counts_add_up() {
        let (_, text) = output(&PerftArgs { divide: true, ..args(2) }, GameId::Minishogi);
        let counts = text.lines().take_while(|line| !line.is_empty()).map(|line| line.split_once(": ").unwrap());
        let counts: Vec<u64> = counts.map(|(_, count)| count.parse().unwrap()).collect();
        assert_eq!((counts.len(), counts.iter().sum::<u64>()), (14, 181));
        assert!(text.contains("\nNodes searched: 181\n"));
    }

    #[test]
    fn what_happens_to_the_output_is_among_the_causes() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = run(&PerftArgs { divide: true, ..args(2) }, GameId::Minishogi, &mut Closed).unwrap_err();
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<io::Error>());
        assert_eq!(cause.map(io::Error::kind), Some(io::ErrorKind::BrokenPipe));
    }

    #[test]
    fn a_line_of_a_suite_is_checked_at_every_depth() {
        let check = check_line::<crate::variant::Minishogi>;
        assert_eq!(check("rbsgk/4p/5/P4/KGSBR b - 1 ;D1 14 ;D2 181"), Vec::<String>::new());
        let complaints = check("rbsgk/4p/5/P4/KGSBR b - 1 ;D1 15 ;D2 181 ;D3 7");
        assert_eq!(
            complaints,
            [
                "rbsgk/4p/5/P4/KGSBR b - 1 depth 1: 14 instead of 15",
                "rbsgk/4p/5/P4/KGSBR b - 1 depth 3: 2512 instead of 7"
            ]
        );
        assert_eq!(check("rbsgk/4p/5/P4/KGSBR b - 1 ;D1 x").len(), 1);
        assert_eq!(check("nonsense ;D1 1").len(), 1);
        assert_eq!(check("rbsgk/4p/5/P4/KGSBR b - 1"), ["rbsgk/4p/5/P4/KGSBR b - 1: no counts"]);
    }

    #[test]
    fn a_missing_suite_is_an_error() {
        let args = PerftArgs { depth: None, suite: Some(PathBuf::from("no/such/file.epd")), ..args(0) };
        let error = run(&args, GameId::Minishogi, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().starts_with("cannot read no/such/file.epd: "));
    }
}
