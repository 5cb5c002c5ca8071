//! What the user writes in `key=value` words: engines, the SPRT, adjudication.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::adjudication::{DrawRule, ResignRule};
use super::clock::TimeControl;
use super::sprt::{Model, Sprt};

/// An engine as it was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EngineSpec {
    /// Its name in tables and records; unique in a match.
    pub name: String,
    /// The command, or `self`, and its arguments.
    pub cmd: String,
    /// The working directory, if not that of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// Options to set, in this order.
    pub options: Vec<(String, String)>,
    /// Its own time control, if not that of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tc: Option<TimeControl>,
    /// It takes `btime` and `binc` for the clock of the side that moves second, so it is sent the two the other way
    /// round. Debian's fairy-stockfish does so when it is spoken to in USI.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub swapped_clocks: bool,
}

/// Words that make no sense.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct SpecError(String);

impl SpecError {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl EngineSpec {
    /// Reads the words of one `--engine`.
    ///
    /// # Errors
    /// For an unknown key, a key given twice, a bad value, or no `cmd`.
    pub fn parse(words: &[String]) -> Result<Self, SpecError> {
        let (mut name, mut cmd, mut dir, mut tc, mut clocks) = (None, None, None, None, None);
        let mut options: Vec<(String, String)> = Vec::new();
        for (key, value) in words.iter().map(|word| key_value("--engine", word)).collect::<Result<Vec<_>, _>>()? {
            let value = value.to_owned();
            let doubled = match key {
                "name" => name.replace(value).is_some(),
                "cmd" => cmd.replace(value).is_some(),
                "dir" => dir.replace(PathBuf::from(value)).is_some(),
                "tc" => {
                    let control = value.parse::<TimeControl>().map_err(|error| SpecError::new(error.to_string()))?;
                    tc.replace(control).is_some()
                }
                "clocks" => {
                    let swapped = match value.as_str() {
                        "usual" => false,
                        "swapped" => true,
                        _ => {
                            return Err(SpecError::new(format!(
                                "--engine: clocks={value} is neither usual nor swapped"
                            )));
                        }
                    };
                    clocks.replace(swapped).is_some()
                }
                _ => match key.strip_prefix("option.").filter(|option| !option.is_empty()) {
                    Some(option) => {
                        let doubled = options.iter().any(|(other, _)| other == option);
                        options.push((option.to_owned(), value));
                        doubled
                    }
                    None => {
                        return Err(SpecError::new(format!(
                            "--engine: unknown key '{key}'; known are name, cmd, dir, tc, clocks, option.NAME"
                        )));
                    }
                },
            };
            if doubled {
                return Err(SpecError::new(format!("--engine: '{key}' is given twice")));
            }
        }
        let cmd = cmd.filter(|cmd: &String| !cmd.trim().is_empty());
        let cmd = cmd.ok_or_else(|| SpecError::new("--engine: cmd=\"…\" is missing"))?;
        let name = match name {
            Some(name) if name.trim().is_empty() => return Err(SpecError::new("--engine: the name is empty")),
            Some(name) => name,
            None => default_name(&cmd),
        };
        Ok(Self { name, cmd, dir, options, tc, swapped_clocks: clocks.unwrap_or(false) })
    }

    /// Program and arguments; `self` stands for `own_program`.
    ///
    /// # Errors
    /// If quotes in the command are not closed.
    pub fn command_line(&self, own_program: &Path) -> Result<(PathBuf, Vec<String>), SpecError> {
        // A path with blanks need not be quoted if it is all there is.
        if Path::new(&self.cmd).is_file() {
            return Ok((self.absolute(PathBuf::from(&self.cmd)), Vec::new()));
        }
        let mut words = split_words(&self.cmd)
            .ok_or_else(|| {
                SpecError::new(format!("engine '{}': quotes in cmd are not closed: {}", self.name, self.cmd))
            })?
            .into_iter();
        let program = words.next().unwrap_or_default();
        let program = if program == "self" { own_program.to_owned() } else { self.absolute(PathBuf::from(program)) };
        Ok((program, words.collect()))
    }

    /// A relative path counts from the directory of the match, also if the engine runs in another one.
    fn absolute(&self, program: PathBuf) -> PathBuf {
        if self.dir.is_some() && program.components().count() > 1 {
            program.canonicalize().unwrap_or(program)
        } else {
            program
        }
    }
}

/// Splits like a shell; `None` if quotes are not closed. On Windows the backslash stands in paths and hides nothing.
fn split_words(text: &str) -> Option<Vec<String>> {
    if cfg!(windows) { split_by_quotes(text) } else { shlex::split(text) }
}

/// Splits at blanks that are not between quotes, single or double; there are no other special letters.
fn split_by_quotes(text: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let (mut open, mut in_word) = (None, false);
    for letter in text.chars() {
        let is_quote = if open.is_some() { open == Some(letter) } else { matches!(letter, '"' | '\'') };
        if open.is_none() && letter.is_whitespace() {
            in_word = false;
            continue;
        }
        if !in_word {
            words.push(String::new());
            in_word = true;
        }
        match words.last_mut() {
            Some(word) if !is_quote => word.push(letter),
            _ => open = if open.is_some() { None } else { Some(letter) },
        }
    }
    open.is_none().then_some(words)
}

/// The file name of the program, without its extension.
fn default_name(cmd: &str) -> String {
    let program = split_words(cmd).and_then(|words| words.into_iter().next()).unwrap_or_else(|| cmd.to_owned());
    let stem = Path::new(&program).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or(program)
}

fn key_value<'a>(option: &str, word: &'a str) -> Result<(&'a str, &'a str), SpecError> {
    word.split_once('=').ok_or_else(|| SpecError::new(format!("{option}: '{word}' is not of the form key=value")))
}

fn number<T: FromStr>(option: &str, key: &str, value: &str) -> Result<T, SpecError> {
    value.parse().map_err(|_| SpecError::new(format!("{option}: {key}={value} is no number of the right kind")))
}

fn unknown_key(option: &str, key: &str, known: &str) -> SpecError {
    SpecError::new(format!("{option}: unknown key '{key}'; known are {known}"))
}

/// Reads the words of `--sprt`: `elo0=0 elo1=5 alpha=0.05 beta=0.05 model=logistic`, each with that default except the
/// two Elo bounds.
///
/// # Errors
/// For unknown keys, bad numbers, bounds out of order or missing.
pub fn parse_sprt(words: &[String]) -> Result<Sprt, SpecError> {
    let option = "--sprt";
    let (mut elo0, mut elo1, mut alpha, mut beta, mut model) = (None, None, 0.05, 0.05, Model::Logistic);
    for word in words {
        match key_value(option, word)? {
            (key @ "elo0", value) => elo0 = Some(number::<f64>(option, key, value)?),
            (key @ "elo1", value) => elo1 = Some(number::<f64>(option, key, value)?),
            (key @ "alpha", value) => alpha = number(option, key, value)?,
            (key @ "beta", value) => beta = number(option, key, value)?,
            ("model", "logistic") => model = Model::Logistic,
            ("model", "normalized" | "normalised") => model = Model::Normalized,
            ("model", value) => {
                return Err(SpecError::new(format!("--sprt: model={value} is neither logistic nor normalized")));
            }
            (key, _) => return Err(unknown_key(option, key, "elo0, elo1, alpha, beta, model")),
        }
    }
    let (Some(elo0), Some(elo1)) = (elo0, elo1) else {
        return Err(SpecError::new("--sprt: elo0 and elo1 are needed, as in --sprt elo0=0 elo1=5"));
    };
    if !(elo0.abs() <= 500.0 && elo1.abs() <= 500.0 && elo0 < elo1) {
        return Err(SpecError::new("--sprt: elo0 must be below elo1, and both within -500..500"));
    }
    let rate = |rate: f64| rate > 0.0 && rate < 0.5;
    if !(rate(alpha) && rate(beta)) {
        return Err(SpecError::new("--sprt: alpha and beta must lie between 0 and 0.5"));
    }
    Ok(Sprt { elo0, elo1, alpha, beta, model })
}

/// Reads the words of `--resign`: `moves=3 score=1000`.
///
/// # Errors
/// For unknown keys, bad numbers or zero moves.
pub fn parse_resign(words: &[String]) -> Result<ResignRule, SpecError> {
    let option = "--resign";
    let mut rule = ResignRule { moves: 3, score: 1000 };
    for word in words {
        match key_value(option, word)? {
            (key @ "moves", value) => rule.moves = number(option, key, value)?,
            (key @ "score", value) => rule.score = number(option, key, value)?,
            (key, _) => return Err(unknown_key(option, key, "moves, score")),
        }
    }
    if rule.moves == 0 || rule.score <= 0 {
        return Err(SpecError::new("--resign: moves and score must be above 0"));
    }
    Ok(rule)
}

/// Reads the words of `--draw`: `moves=8 score=10 from=40`.
///
/// # Errors
/// For unknown keys, bad numbers or zero moves.
pub fn parse_draw(words: &[String]) -> Result<DrawRule, SpecError> {
    let option = "--draw";
    let mut rule = DrawRule { moves: 8, score: 10, from: 40 };
    for word in words {
        match key_value(option, word)? {
            (key @ "moves", value) => rule.moves = number(option, key, value)?,
            (key @ "score", value) => rule.score = number(option, key, value)?,
            (key @ "from", value) => rule.from = number(option, key, value)?,
            (key, _) => return Err(unknown_key(option, key, "moves, score, from")),
        }
    }
    if rule.moves == 0 || rule.score < 0 {
        return Err(SpecError::new("--draw: moves must be above 0 and score not below it"));
    }
    Ok(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    fn engine(text: &[&str]) -> Result<EngineSpec, SpecError> {
        EngineSpec::parse(&words(text))
    }

    #[test]
    fn an_engine_with_everything() {
        let spec = engine(&["name=A", "cmd=./a -x 'b c'", "option.USI_Hash=32", "option.Note=a=b", "tc=nodes=100"]);
        let spec = spec.expect("valid");
        assert_eq!(spec.options, [("USI_Hash".into(), "32".into()), ("Note".into(), "a=b".into())]);
        assert_eq!(spec.tc.as_ref().map(ToString::to_string), Some("nodes=100".into()));
        assert!(!spec.swapped_clocks && engine(&["cmd=a", "clocks=swapped"]).expect("valid").swapped_clocks);
        let (program, arguments) = spec.command_line(Path::new("/own")).expect("valid");
        assert_eq!(program, Path::new("./a"));
        assert_eq!(arguments, ["-x", "b c"]);
    }

    #[test]
    fn backslashes_are_letters_where_only_quotes_count() {
        let words = |text: &str| split_by_quotes(text).map(|words| words.join("|"));
        for (text, expected) in [
            (
                r#""C:\Program Files\x.exe" --net 'C:\my nets\a.knnue' -x"#,
                r"C:\Program Files\x.exe|--net|C:\my nets\a.knnue|-x",
            ),
            (r"  C:\x.exe   -a ", r"C:\x.exe|-a"),
            (r#"C:\"a b"\x.exe '' "it's""#, r"C:\a b\x.exe||it's"),
            ("", ""),
        ] {
            assert_eq!(words(text).as_deref(), Some(expected));
        }
        assert_eq!((words("a 'b"), words(r#"a"b"#)), (None, None));
    }

    #[test]
    fn self_is_the_program_itself() {
        let spec = engine(&["name=A", "cmd=self"]).expect("valid");
        assert_eq!(spec.command_line(Path::new("/own")), Ok((PathBuf::from("/own"), vec![])));
    }

    #[test]
    fn a_name_is_made_up_from_the_command() {
        assert_eq!(engine(&["cmd=/usr/games/fairy-stockfish"]).map(|spec| spec.name), Ok("fairy-stockfish".into()));
        assert_eq!(engine(&["cmd=self"]).map(|spec| spec.name), Ok("self".into()));
    }

    #[test]
    fn wrong_words_are_named() {
        let cases: [(&[&str], &str); 7] = [
            (&["name=A"], "cmd"),
            (&["cmd=self", "colour=red"], "colour"),
            (&["cmd=self", "cmd=self"], "twice"),
            (&["cmd=self", "option.X=1", "option.X=2"], "twice"),
            (&["cmd=self", "tc=soon"], "soon"),
            (&["cmd=self", "clocks=fast"], "fast"),
            (&["self"], "key=value"),
        ];
        for (words, part) in cases {
            let error = engine(words).expect_err("must be refused").to_string();
            assert!(error.contains(part), "{error}");
        }
        let open = engine(&["cmd=./a 'b"]).expect("not split yet");
        assert!(open.command_line(Path::new("/own")).is_err());
    }

    #[test]
    fn sprt_words() {
        let sprt = parse_sprt(&words(&["elo0=-3", "elo1=1", "model=normalized"])).expect("valid");
        assert_eq!((sprt.elo0, sprt.elo1, sprt.alpha, sprt.model), (-3.0, 1.0, 0.05, Model::Normalized));
        for bad in [
            &["elo0=0"][..],
            &["elo0=5", "elo1=0"],
            &["elo0=0", "elo1=nan"],
            &["elo0=0", "elo1=5", "alpha=0"],
            &["x=1"],
        ] {
            assert!(parse_sprt(&words(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn adjudication_words() {
        assert_eq!(parse_resign(&words(&["moves=4", "score=700"])), Ok(ResignRule { moves: 4, score: 700 }));
        assert_eq!(parse_draw(&[]), Ok(DrawRule { moves: 8, score: 10, from: 40 }));
        assert!(parse_resign(&words(&["moves=0"])).is_err());
        assert!(parse_draw(&words(&["score=-1"])).is_err());
    }
}
