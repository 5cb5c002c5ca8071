//! Running the match and looking at what it leaves.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A test's name and what it does.
pub type Test = (&'static str, fn());

/// The path of the match program.
pub const KOZUKA: &str = env!("CARGO_BIN_EXE_kozuka");

/// What a match printed and wrote.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The summary, which is the last line.
    pub fn summary(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{}", self.stderr))
    }
}

/// The command of a scripted engine.
pub fn mock(mode: &str) -> String {
    let own = std::env::current_exe().expect("the path of this program");
    format!("'{}' --mock {mode}", own.display())
}

/// The words of an `--engine`.
pub fn engine(name: &str, mode: &str) -> Vec<String> {
    vec!["--engine".to_owned(), format!("name={name}"), format!("cmd={}", mock(mode))]
}

/// A match of A against B with these modes, and more arguments.
pub fn command(a: &str, b: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(KOZUKA);
    command.arg("match").args(engine("A", a)).args(engine("B", b)).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub fn finish(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub fn run(a: &str, b: &str, arguments: &[&str]) -> Ran {
    finish(command(a, b, arguments).output().expect("the match starts"))
}

/// `kozuka match` with these arguments only.
pub fn kozuka(arguments: &[&str]) -> Ran {
    finish(Command::new(KOZUKA).arg("match").args(arguments).stdin(Stdio::null()).output().expect("the match starts"))
}

pub fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

pub fn file(dir: &TempDir, name: &str) -> (PathBuf, String) {
    let path = dir.path().join(name);
    let text = path.to_string_lossy().into_owned();
    (path, text)
}

/// Header and games of a record.
pub fn record(path: &Path) -> (Value, Vec<Value>) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines =
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    let header = lines.next().expect("a header");
    (header, lines.collect())
}

/// The games without what depends on the clock on the wall.
pub fn timeless(path: &Path) -> Vec<String> {
    let (_, mut games) = record(path);
    for game in &mut games {
        let game = game.as_object_mut().expect("an object");
        for key in ["started_ms", "duration_ms", "times_ms", "clocks_ms"] {
            assert!(game.remove(key).is_some(), "{key}");
        }
    }
    games.iter().map(Value::to_string).collect()
}
