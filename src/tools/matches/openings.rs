//! The positions from which games start.

use std::hash::Hasher;
use std::path::{Path, PathBuf};

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rsshogi_usi::PositionSpec;
use thiserror::Error;

use crate::engine::{AnyPosition, GameId};
use crate::position::Rules;

/// A position and the moves that lead on from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    /// The position from which history counts.
    pub sfen: String,
    /// Moves that are played before the engines begin.
    pub moves: Vec<String>,
}

/// Where openings come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// The start position.
    Start,
    /// A file with one opening on each line.
    File {
        /// The file.
        path: PathBuf,
        /// A seed to shuffle by, if the order of the file is not wanted.
        shuffle: Option<u64>,
    },
    /// Random legal moves from the start position.
    Random {
        /// How many.
        plies: u32,
        /// The seed; equal seeds give equal openings.
        seed: u64,
    },
}

/// Openings that cannot be had.
#[derive(Debug, Error)]
pub enum OpeningError {
    /// The file itself.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
    /// A line of it.
    #[error("{}:{line}: {text}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        text: String,
    },
    /// A file without openings.
    #[error("{}: there are no openings in it", .0.display())]
    Empty(PathBuf),
    /// Random moves that only lead to finished games.
    #[error("no random opening of {0} plies leaves a game to play")]
    NoRandom(u32),
}

/// The openings of a match.
#[derive(Clone, Debug)]
pub struct Openings {
    game: GameId,
    rules: Rules,
    source: Source,
    listed: Vec<Opening>,
}

impl Openings {
    /// Reads and checks them.
    ///
    /// # Errors
    /// See [`OpeningError`].
    pub fn load(game: GameId, rules: Rules, source: Source) -> Result<Self, OpeningError> {
        let mut openings = Self { game, rules, listed: Vec::new(), source };
        match &openings.source {
            Source::Start => openings.listed.push(start(game, rules)),
            Source::File { path, shuffle } => {
                openings.listed = read_file(game, rules, path)?;
                if let Some(seed) = shuffle {
                    openings.listed.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(*seed));
                }
            }
            Source::Random { .. } => {
                openings.get(0)?;
            }
        }
        Ok(openings)
    }

    /// Opening number `index`, from 0; a file starts again when it is used up.
    ///
    /// # Errors
    /// If random moves do not lead to a game.
    pub fn get(&self, index: u32) -> Result<Opening, OpeningError> {
        match self.source {
            Source::Random { plies, seed } => random(self.game, self.rules, plies, seed, index),
            _ => Ok(self.listed[index as usize % self.listed.len()].clone()),
        }
    }

    /// How many different ones there are; `None` for random ones.
    pub fn count(&self) -> Option<usize> {
        (!matches!(self.source, Source::Random { .. })).then_some(self.listed.len())
    }

    /// In words, for the record. The directory of a file is left out, since it differs from machine to machine.
    pub fn describe(&self) -> String {
        match &self.source {
            Source::Start => "start position".to_owned(),
            Source::File { path, shuffle } => {
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                match shuffle {
                    Some(seed) => format!("{name}, shuffled with seed {seed}"),
                    None => name.into_owned(),
                }
            }
            Source::Random { plies, seed } => format!("{plies} random plies, seed {seed}"),
        }
    }

    /// A number that differs for different openings, in hexadecimal.
    pub fn hash(&self) -> String {
        // FNV, because it is the same in every release of the standard library.
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        for opening in &self.listed {
            hash.write(opening.sfen.as_bytes());
            for mv in &opening.moves {
                hash.write(b" ");
                hash.write(mv.as_bytes());
            }
            hash.write(b"\n");
        }
        format!("{:016x}", hash.finish())
    }
}

/// FNV-1a, <http://www.isthe.com/chongo/tech/comp/fnv/>.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Opening {
    /// As the `position` command names its start.
    pub fn spec(&self, game: GameId) -> PositionSpec {
        let words: Vec<_> = self.sfen.split(' ').map(str::to_owned).collect();
        match <[String; 4]>::try_from(words) {
            Ok([board, side_to_move, hands, ply]) if self.sfen != AnyPosition::new(game, Rules::default()).sfen() => {
                PositionSpec::Sfen { board, side_to_move, hands, ply }
            }
            _ => PositionSpec::StartPos,
        }
    }
}

fn start(game: GameId, rules: Rules) -> Opening {
    Opening { sfen: AnyPosition::new(game, rules).sfen(), moves: Vec::new() }
}

fn read_file(game: GameId, rules: Rules, path: &Path) -> Result<Vec<Opening>, OpeningError> {
    let text = std::fs::read_to_string(path).map_err(|error| OpeningError::Io { path: path.to_owned(), error })?;
    let mut openings = Vec::new();
    for (line, text) in text.lines().enumerate() {
        // A remark stands behind a semicolon, or has the line to itself.
        let text = text.split(';').next().unwrap_or_default().trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let opening = read_line(game, rules, text);
        openings.push(opening.map_err(|text| OpeningError::Line { path: path.to_owned(), line: line + 1, text })?);
    }
    if openings.is_empty() { Err(OpeningError::Empty(path.to_owned())) } else { Ok(openings) }
}

/// Reads `[position] [sfen] SFEN [moves …]` or `[position] startpos [moves …]`.
fn read_line(game: GameId, rules: Rules, text: &str) -> Result<Opening, String> {
    let mut words: Vec<_> = text.split_whitespace().collect();
    if words.first() == Some(&"position") {
        words.remove(0);
    }
    let end = words.iter().position(|word| *word == "moves").unwrap_or(words.len());
    let moves: Vec<_> = words.iter().skip(end + 1).map(|word| (*word).to_owned()).collect();
    let mut position = match &words[..end] {
        ["startpos"] => AnyPosition::new(game, rules),
        ["sfen", sfen @ ..] | sfen => {
            AnyPosition::from_sfen(game, &sfen.join(" "), rules).map_err(|error| error.to_string())?
        }
    };
    let sfen = position.sfen();
    for mv in &moves {
        position.play(mv).map_err(|error| error.to_string())?;
    }
    match position.outcome() {
        Some(outcome) => Err(format!("the game is over there: {outcome}")),
        None => Ok(Opening { sfen, moves }),
    }
}

/// Each opening has a generator of its own, so that it does not matter which games are played, and when.
fn random(game: GameId, rules: Rules, plies: u32, seed: u64, index: u32) -> Result<Opening, OpeningError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ (u64::from(index) << 32 | 0x6b6f_7a75));
    for _ in 0..1000 {
        let mut position = AnyPosition::new(game, rules);
        let mut opening = start(game, rules);
        while position.outcome().is_none() {
            if opening.moves.len() == plies as usize {
                return Ok(opening);
            }
            let moves = position.legal_moves();
            let Some(mv) = moves.get(rng.random_range(0..moves.len().max(1))) else { break };
            if position.play(mv).is_err() {
                break;
            }
            opening.moves.push(mv.clone());
        }
    }
    Err(OpeningError::NoRandom(plies))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/openings/minishogi.sfen");

    fn load(source: Source) -> Result<Openings, OpeningError> {
        Openings::load(GameId::Minishogi, Rules::default(), source)
    }

    fn file(text: &str) -> Result<Openings, OpeningError> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("openings.sfen");
        std::fs::write(&path, text).expect("written");
        load(Source::File { path, shuffle: None })
    }

    #[test]
    fn the_shipped_file_is_read_in_order_and_starts_again() {
        let openings = load(Source::File { path: FILE.into(), shuffle: None }).expect("readable");
        let count = openings.count().expect("a file") as u32;
        assert!(count > 50);
        assert_eq!(openings.get(0).expect("there").sfen, "1b1gk/1r1sp/1B3/PS2R/KG3 b - 1");
        assert_eq!(openings.get(count).expect("there"), openings.get(0).expect("there"));
        let shuffled = load(Source::File { path: FILE.into(), shuffle: Some(7) }).expect("readable");
        let first =
            |openings: &Openings| (0..count).map(|index| openings.get(index).expect("there").sfen).collect::<Vec<_>>();
        let (mut plain, mut mixed) = (first(&openings), first(&shuffled));
        assert_ne!(plain, mixed);
        plain.sort();
        mixed.sort();
        assert_eq!(plain, mixed);
        assert_ne!(openings.hash(), shuffled.hash());
    }

    #[test]
    fn lines_of_every_kind() {
        let text = "# remark\n\nrbsgk/4p/5/P4/KGSBR b - 1 ; plies 0\nstartpos moves 2e3d 4a5b\nposition sfen rbsgk/4p/5/P4/KGSBR w - 1\n";
        let openings = file(text).expect("readable");
        assert_eq!(openings.count(), Some(3));
        assert_eq!(openings.get(0).expect("there").spec(GameId::Minishogi), PositionSpec::StartPos);
        assert_eq!(openings.get(1).expect("there").moves, ["2e3d", "4a5b"]);
        assert!(matches!(openings.get(2).expect("there").spec(GameId::Minishogi), PositionSpec::Sfen { .. }));
    }

    #[test]
    fn wrong_lines_are_named_with_their_number() {
        for (text, part) in [
            ("\nrbsgk/4p/5/P4 b - 1\n", ":2:"),
            ("startpos moves 1a1b\n", "1a1b"),
            ("4k/4G/4P/5/K4 w - 1\n", "over"),
            ("# nothing\n", "no openings"),
        ] {
            let error = file(text).expect_err("must be refused").to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn random_openings_depend_on_seed_and_number_only() {
        let openings = |seed| load(Source::Random { plies: 6, seed }).expect("possible");
        let (one, same, other) = (openings(1), openings(1), openings(2));
        let all: Vec<_> = (0..30).map(|index| one.get(index).expect("possible")).collect();
        assert!((0..30).rev().all(|index| same.get(index).expect("possible") == all[index as usize]));
        assert!((0..30).any(|index| other.get(index).expect("possible") != all[index as usize]));
        assert!(all.iter().all(|opening| opening.moves.len() == 6));
        let different: std::collections::HashSet<_> = all.iter().map(|opening| &opening.moves).collect();
        assert!(different.len() > 25);
    }
}
