//! The openings of a match: which game begins with which.

use std::hash::Hasher;
use std::path::PathBuf;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rsshogi_usi::PositionSpec;
use thiserror::Error;

use crate::engine::{AnyPosition, GameId};
use crate::position::Rules;
pub use crate::tools::openings::Opening;
use crate::tools::openings::{OpeningsError, read_openings};

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
    /// The file.
    #[error(transparent)]
    File(#[from] OpeningsError),
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
                openings.listed = read_openings(game, rules, path)?;
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
    fn the_usual_start_is_named_as_such() {
        let spec = |sfen: &str| Opening { sfen: sfen.to_owned(), moves: Vec::new() }.spec(GameId::Minishogi);
        assert_eq!(spec("rbsgk/4p/5/P4/KGSBR b - 1"), PositionSpec::StartPos);
        assert!(matches!(spec("rbsgk/4p/5/P4/KGSBR w - 1"), PositionSpec::Sfen { .. }));
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
