//! The record of a match: JSON Lines, first what is played, then one line for each game.
//!
//! Games are appended and flushed as they end, so that a killed match loses no finished game. Once the match has ended
//! they are put into the order of the schedule, so that equal matches leave equal files whatever their concurrency;
//! only `started_ms`, `duration_ms`, `times_ms` and `clocks_ms` depend on the clock on the wall.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::adjudication::{DrawRule, ResignRule};
use super::clock::TimeControl;
use super::info::Score;
use super::schedule::Format;
use super::spec::EngineSpec;
use super::sprt::Sprt;
use crate::position::Reason as RuleReason;
use crate::types::Color;

/// The version of the format that this program writes.
pub const VERSION: u32 = 1;

/// What is played: the first line of a record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// Marks the file and tells its version.
    pub kozuka_match: u32,
    /// The game, by its name in USI.
    pub variant: String,
    /// The repetition setting.
    pub sennichite: String,
    /// The limit on plies; 0 for none.
    pub max_plies: u32,
    /// Who meets whom.
    pub format: Format,
    /// The time control of engines that have none of their own.
    pub tc: TimeControl,
    /// Whether engines thought on their opponent's time.
    pub ponder: bool,
    /// Where the openings came from.
    pub openings: String,
    /// A hash of the openings, in hexadecimal, so that a match is not resumed with others.
    pub openings_hash: String,
    /// Games in each pairing.
    pub games: u32,
    /// The engines in the order of the schedule.
    pub engines: Vec<EngineSpec>,
    /// Resign adjudication.
    pub resign: Option<ResignRule>,
    /// Draw adjudication.
    pub draw: Option<DrawRule>,
    /// The test that may end the match.
    pub sprt: Option<Sprt>,
}

/// Who won.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GameResult {
    /// Black, who is sente.
    SenteWins,
    /// White, who is gote.
    GoteWins,
    /// Nobody.
    Draw,
}

impl GameResult {
    /// The winner's result; a draw without one.
    pub const fn of(winner: Option<Color>) -> Self {
        match winner {
            Some(Color::Black) => Self::SenteWins,
            Some(Color::White) => Self::GoteWins,
            None => Self::Draw,
        }
    }

    /// Half points that this brings to a side: 2, 1 or 0.
    pub const fn half_points(self, side: Color) -> usize {
        match (self, side) {
            (Self::SenteWins, Color::Black) | (Self::GoteWins, Color::White) => 2,
            (Self::Draw, _) => 1,
            _ => 0,
        }
    }
}

/// Why a game ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Mate.
    Checkmate,
    /// No legal move without being in check; the side to move loses.
    Stalemate,
    /// Fourfold repetition.
    Repetition,
    /// Fourfold repetition with one side giving check all along.
    PerpetualCheck,
    /// Fourfold repetition with both sides giving check all along.
    DoublePerpetualCheck,
    /// The limit on plies.
    MaxPlies,
    /// `bestmove resign`.
    Resign,
    /// `bestmove win`, rightly.
    Declaration,
    /// Agreement of both engines' scores.
    Adjudication,
    /// The answer came too late.
    TimeForfeit,
    /// The answer was no legal move.
    IllegalMove,
    /// The process died.
    Crash,
    /// The process closed its output, or left.
    Disconnect,
    /// There was no answer.
    NoAnswer,
}

impl From<RuleReason> for Reason {
    fn from(reason: RuleReason) -> Self {
        match reason {
            RuleReason::Checkmate => Self::Checkmate,
            RuleReason::Stalemate => Self::Stalemate,
            RuleReason::Repetition => Self::Repetition,
            RuleReason::PerpetualCheck => Self::PerpetualCheck,
            RuleReason::DoublePerpetualCheck => Self::DoublePerpetualCheck,
            RuleReason::MaxPlies => Self::MaxPlies,
        }
    }
}

impl Reason {
    /// Its name in records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::Repetition => "repetition",
            Self::PerpetualCheck => "perpetual_check",
            Self::DoublePerpetualCheck => "double_perpetual_check",
            Self::MaxPlies => "max_plies",
            Self::Resign => "resign",
            Self::Declaration => "declaration",
            Self::Adjudication => "adjudication",
            Self::TimeForfeit => "time_forfeit",
            Self::IllegalMove => "illegal_move",
            Self::Crash => "crash",
            Self::Disconnect => "disconnect",
            Self::NoAnswer => "no_answer",
        }
    }
}

/// What is known about an engine's failure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FaultRecord {
    /// Which engine.
    pub engine: String,
    /// What happened, in words.
    pub detail: String,
    /// The last `position` line it was sent.
    pub position: String,
    /// The last `go` line it was sent.
    pub go: String,
    /// The last lines of its stderr.
    pub stderr: Vec<String>,
}

/// A game. The lists have one entry for each move that an engine made; moves of the opening have none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GameRecord {
    /// Number of the game, from 1.
    pub game: u32,
    /// Number of the pair of games with one opening and colours changed, from 1.
    pub pair: u32,
    /// The engine that played Black.
    pub sente: String,
    /// The engine that played White.
    pub gote: String,
    /// The position from which the moves count.
    pub sfen: String,
    /// How many of the moves belong to the opening.
    pub book_plies: usize,
    /// All moves as USI writes them, with blanks between them.
    pub moves: String,
    /// Who won.
    pub result: GameResult,
    /// Why.
    pub reason: Reason,
    /// Scores from the side of the mover.
    pub scores: Vec<Option<Score>>,
    /// Depths reached.
    pub depths: Vec<Option<u32>>,
    /// Nodes searched.
    pub nodes: Vec<Option<u64>>,
    /// Time of each move in milliseconds.
    pub times_ms: Vec<f64>,
    /// Main time left to the mover after each move, increment added, in milliseconds; null without a clock.
    pub clocks_ms: Vec<Option<u64>>,
    /// When the game started, in milliseconds since 1970.
    pub started_ms: u64,
    /// How long it took in milliseconds, set-up included.
    pub duration_ms: u64,
    /// The failure that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultRecord>,
}

impl GameRecord {
    /// The engine of that side.
    pub fn player(&self, side: Color) -> &str {
        match side {
            Color::Black => &self.sente,
            Color::White => &self.gote,
        }
    }
}

/// A record that cannot be read or written.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The file itself.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// A line that is none of ours.
    #[error("{}:{line}: {text}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        text: String,
    },
}

/// A record as read from a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// What was played.
    pub header: Header,
    /// The games in the order of the file.
    pub games: Vec<GameRecord>,
    /// Length of the part of the file that is whole, in bytes.
    whole: u64,
}

/// Reads a record. A last line without its end, which a killed match may leave, is passed over.
///
/// # Errors
/// If the file cannot be read or any other line is none of a record.
pub fn read(path: &Path) -> Result<Record, RecordError> {
    let io_error = |error| RecordError::Io { path: path.to_owned(), error };
    let mut reader = BufReader::new(File::open(path).map_err(io_error)?);
    let (mut header, mut games, mut whole, mut text) = (None, Vec::new(), 0, String::new());
    for line in 1.. {
        text.clear();
        let length = reader.read_line(&mut text).map_err(io_error)?;
        if !text.ends_with('\n') {
            break;
        }
        let line_error = |text: String| RecordError::Line { path: path.to_owned(), line, text };
        if header.is_none() {
            let read: Header = serde_json::from_str(&text).map_err(|error| line_error(error.to_string()))?;
            if read.kozuka_match != VERSION {
                return Err(line_error(format!("version {} is not known here", read.kozuka_match)));
            }
            header = Some(read);
        } else {
            games.push(serde_json::from_str(&text).map_err(|error| line_error(error.to_string()))?);
        }
        whole += length as u64;
    }
    match header {
        Some(header) => Ok(Record { header, games, whole }),
        None => {
            Err(RecordError::Line { path: path.to_owned(), line: 1, text: "there is no record of a match".to_owned() })
        }
    }
}

/// Appends games to a record.
pub struct Writer {
    path: PathBuf,
    file: File,
}

impl Writer {
    /// Starts a record.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, RecordError> {
        let io_error = |error| RecordError::Io { path: path.to_owned(), error };
        let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(io_error)?;
        file.write_all(&line(header).map_err(io_error)?).map_err(io_error)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Goes on with a record, from the end of its last whole line.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn resume(path: &Path, record: &Record) -> Result<Self, RecordError> {
        let io_error = |error| RecordError::Io { path: path.to_owned(), error };
        let mut file = OpenOptions::new().write(true).open(path).map_err(io_error)?;
        file.set_len(record.whole).map_err(io_error)?;
        file.seek(SeekFrom::End(0)).map_err(io_error)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Adds a game; it is in the file when this returns.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&mut self, game: &GameRecord) -> Result<(), RecordError> {
        // One write for the whole line, so that at most the last line of a killed match is torn.
        line(game).and_then(|line| self.file.write_all(&line)).map_err(|error| self.error(error))
    }

    /// Replaces the file by one that holds these games in their order.
    ///
    /// # Errors
    /// If it cannot be written; the file is then as it was.
    pub fn finish(self, header: &Header, games: &[&GameRecord]) -> Result<(), RecordError> {
        let Self { path, file } = self;
        // Not every Windows replaces a file that is open.
        drop(file);
        let mut name = path.clone().into_os_string();
        name.push(".tmp");
        let temporary = PathBuf::from(name);
        let write = || -> io::Result<()> {
            let mut file = BufWriter::new(File::create(&temporary)?);
            file.write_all(&line(header)?)?;
            for game in games {
                file.write_all(&line(game)?)?;
            }
            file.into_inner()?.sync_all()?;
            std::fs::rename(&temporary, &path)
        };
        write().map_err(|error| {
            // Half a record would only be in the way.
            let _ = std::fs::remove_file(&temporary);
            RecordError::Io { path: path.clone(), error }
        })
    }

    fn error(&self, error: io::Error) -> RecordError {
        RecordError::Io { path: self.path.clone(), error }
    }
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn header() -> Header {
        let engine = |name: &str| EngineSpec {
            name: name.to_owned(),
            cmd: "self".to_owned(),
            dir: None,
            options: vec![("USI_Hash".to_owned(), "16".to_owned())],
            tc: None,
            swapped_clocks: false,
        };
        Header {
            kozuka_match: VERSION,
            variant: "minishogi".to_owned(),
            sennichite: "sente-loses".to_owned(),
            max_plies: 0,
            format: Format::RoundRobin,
            tc: "10+0.1".parse().expect("valid"),
            ponder: false,
            openings: "startpos".to_owned(),
            openings_hash: "0".to_owned(),
            games: 4,
            engines: vec![engine("A"), engine("B")],
            resign: None,
            draw: None,
            sprt: None,
        }
    }

    /// Game `game` of a match of A against B, A playing Black in the first game of each pair.
    pub(in super::super) fn game(game: u32, result: GameResult, reason: Reason) -> GameRecord {
        let (sente, gote) = if game % 2 == 1 { ("A", "B") } else { ("B", "A") };
        GameRecord {
            game,
            pair: game.div_ceil(2),
            sente: sente.to_owned(),
            gote: gote.to_owned(),
            sfen: "rbsgk/4p/5/P4/KGSBR b - 1".to_owned(),
            book_plies: 0,
            moves: "2e3d 4a5b".to_owned(),
            result,
            reason,
            scores: vec!["cp 31".parse().ok(), None],
            depths: vec![Some(8), None],
            nodes: vec![Some(1000), None],
            times_ms: vec![1.5, 0.25],
            clocks_ms: vec![Some(10_098), None],
            started_ms: 1,
            duration_ms: 2,
            fault: None,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out.jsonl");
        let games = [game(1, GameResult::SenteWins, Reason::Checkmate), game(2, GameResult::Draw, Reason::MaxPlies)];
        let mut writer = Writer::create(&path, &header()).expect("new");
        for game in &games {
            writer.append(game).expect("written");
        }
        let record = read(&path).expect("readable");
        assert_eq!((record.header, record.games.as_slice()), (header(), games.as_slice()));
        assert!(Writer::create(&path, &header()).is_err(), "a record is never overwritten");
    }

    #[test]
    fn a_torn_line_is_cut_off_on_resuming() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out.jsonl");
        let (first, second) =
            (game(1, GameResult::SenteWins, Reason::Checkmate), game(2, GameResult::Draw, Reason::MaxPlies));
        Writer::create(&path, &header()).and_then(|mut writer| writer.append(&first)).expect("written");
        let mut file = OpenOptions::new().append(true).open(&path).expect("there");
        file.write_all(b"{\"game\":2,\"pair\":1,\"sen").expect("written");
        let record = read(&path).expect("readable");
        assert_eq!(record.games, std::slice::from_ref(&first));
        Writer::resume(&path, &record).and_then(|mut writer| writer.append(&second)).expect("written");
        assert_eq!(read(&path).expect("readable").games, [first, second]);
    }

    #[test]
    fn finishing_puts_the_games_in_order() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out.jsonl");
        let games = [game(1, GameResult::SenteWins, Reason::Checkmate), game(2, GameResult::Draw, Reason::MaxPlies)];
        let mut writer = Writer::create(&path, &header()).expect("new");
        writer.append(&games[1]).and_then(|()| writer.append(&games[0])).expect("written");
        writer.finish(&header(), &[&games[0], &games[1]]).expect("written");
        assert_eq!(read(&path).expect("readable").games, games);
        assert_eq!(std::fs::read_dir(dir.path()).expect("there").count(), 1);
    }

    #[test]
    fn files_of_another_kind_are_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out.jsonl");
        for text in ["", "hello\n", "{}\n", "{\"kozuka_match\":1}\n"] {
            std::fs::write(&path, text).expect("written");
            assert!(read(&path).is_err(), "{text:?}");
        }
        assert!(read(&dir.path().join("absent")).is_err());
    }

    #[test]
    fn reasons_are_named_as_they_are_written() {
        for reason in
            [Reason::Checkmate, Reason::MaxPlies, Reason::NoAnswer, Reason::DoublePerpetualCheck, Reason::TimeForfeit]
        {
            assert_eq!(serde_json::to_string(&reason).expect("written"), format!("\"{}\"", reason.name()));
        }
    }
}
