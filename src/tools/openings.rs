//! Start positions from a file: one opening a line, as an SFEN, or as a position with moves that lead on from it.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::engine::{AnyPosition, GameId};
use crate::position::Rules;

/// A position and the moves that lead on from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    /// The position from which history counts.
    pub sfen: String,
    /// Moves that are played before anybody thinks.
    pub moves: Vec<String>,
}

/// Why a file of openings cannot be used.
#[derive(Debug, Error)]
pub enum OpeningsError {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
    /// A line is no position to start from.
    #[error("{}:{line}: {text}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        text: String,
    },
    /// There is nothing in it.
    #[error("{}: there are no openings in it", .0.display())]
    Empty(PathBuf),
}

/// Reads a file of openings, each `[position] [sfen] SFEN [moves …]` or `[position] startpos [moves …]`. A remark stands
/// behind a semicolon, or has the line to itself behind a `#`.
///
/// # Errors
/// If the file cannot be read or holds no opening, or if in some line the game does not go on.
pub fn read_openings(game: GameId, rules: Rules, path: &Path) -> Result<Vec<Opening>, OpeningsError> {
    Ok(read_file(game, rules, path)?.into_iter().map(|(opening, _)| opening).collect())
}

/// Reads such a file for whoever needs the positions at the end of the openings only, as SFEN.
///
/// # Errors
/// See [`read_openings`].
pub fn read_positions(game: GameId, rules: Rules, path: &Path) -> Result<Vec<String>, OpeningsError> {
    Ok(read_file(game, rules, path)?.into_iter().map(|(_, position)| position.sfen()).collect())
}

fn read_file(game: GameId, rules: Rules, path: &Path) -> Result<Vec<(Opening, AnyPosition)>, OpeningsError> {
    let text = std::fs::read_to_string(path).map_err(|error| OpeningsError::Io { path: path.to_owned(), error })?;
    let mut openings = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let text = text.split(';').next().unwrap_or_default().trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let opening = read_line(game, rules, text);
        openings.push(opening.map_err(|text| OpeningsError::Line { path: path.to_owned(), line: line + 1, text })?);
    }
    if openings.is_empty() { Err(OpeningsError::Empty(path.to_owned())) } else { Ok(openings) }
}

fn read_line(game: GameId, rules: Rules, text: &str) -> Result<(Opening, AnyPosition), String> {
    let (opening, position) = read_game(game, rules, text)?;
    match position.outcome() {
        Some(outcome) => Err(format!("the game is over there: {outcome}")),
        None => Ok((opening, position)),
    }
}

/// Reads one such line, which may lead to the end of a game; returns the position at the end of it too.
///
/// # Errors
/// If it is no position, or a move is not legal, in words.
pub fn read_game(game: GameId, rules: Rules, text: &str) -> Result<(Opening, AnyPosition), String> {
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
    Ok((Opening { sfen, moves }, position))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const GAME: GameId = GameId::Minishogi;

    fn with_file<T>(text: &str, read: impl FnOnce(&Path) -> T) -> T {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("openings.sfen");
        fs::write(&path, text).expect("written");
        read(&path)
    }

    #[test]
    fn lines_of_every_kind() {
        let text = "# remark\n\nrbsgk/4p/5/P4/KGSBR b - 1 ; plies 0\nstartpos moves 2e3d 4a5b\n\
                    position sfen rbsgk/4p/5/P4/KGSBR w - 1\n";
        let openings = with_file(text, |path| read_openings(GAME, Rules::default(), path)).expect("readable");
        assert_eq!(openings.len(), 3);
        assert_eq!(openings[1].moves, ["2e3d", "4a5b"]);
        let positions = with_file(text, |path| read_positions(GAME, Rules::default(), path)).expect("readable");
        assert_eq!(
            positions,
            ["rbsgk/4p/5/P4/KGSBR b - 1", "r1sgk/b3p/5/P1B2/KGS1R b - 3", "rbsgk/4p/5/P4/KGSBR w - 1"]
        );
    }

    #[test]
    fn wrong_lines_are_named_with_their_number() {
        for (text, part) in [
            ("\nrbsgk/4p/5/P4 b - 1\n", "openings.sfen:2:"),
            ("startpos moves 1a1b\n", "1a1b"),
            ("4k/4G/4P/5/K4 w - 1\n", "over"),
            ("# nothing\n", "no openings"),
        ] {
            let read = with_file(text, |path| read_openings(GAME, Rules::default(), path));
            let error = read.expect_err("must be refused").to_string();
            assert!(error.contains(part), "{error}");
        }
        let missing = read_openings(GAME, Rules::default(), Path::new("no such file")).expect_err("must be refused");
        assert!(missing.to_string().starts_with("no such file: "));
    }
}
