//! What tests need that talk to programs: a child process by its lines, programs of Debian packages, a game by the rules.
#![allow(dead_code, reason = "each test uses its own part of it")]

pub mod xboard;

use std::env;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kozuka::engine::{AnyPosition, GameId};
use kozuka::position::{Outcome, Rules};

/// The program under test.
pub const KOZUKA: &str = env!("CARGO_BIN_EXE_kozuka");

/// How long a program may take for an answer. Far more than any needs, for machines that are busy with other things.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A running program that is talked to by lines. It is killed when this is dropped.
pub struct Program {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    /// What was said on both sides, for the message when a test fails.
    transcript: Vec<String>,
}

impl Program {
    /// Starts a program.
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let input = child.stdin.take();
        let (sender, lines) = mpsc::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        // Both threads end when the program closes its streams, at the latest when it is killed.
        thread::spawn(move || output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        let mut errors = child.stderr.take().unwrap();
        let errors = thread::spawn(move || {
            let mut text = Vec::new();
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Self { child, input, lines, errors: Some(errors), transcript: Vec::new() }
    }

    /// Starts Kozuka.
    pub fn kozuka<I: AsRef<OsStr>>(arguments: impl IntoIterator<Item = I>) -> Self {
        Self::start(Command::new(KOZUKA).args(arguments))
    }

    /// Writes a line.
    pub fn send(&mut self, line: &str) {
        self.transcript.push(format!("> {line}"));
        let sent = self.input.as_mut().map(|input| input.write_all(format!("{line}\n").as_bytes()));
        if !matches!(sent, Some(Ok(()))) {
            self.fail("cannot write to it");
        }
    }

    /// The next line, if one comes in time.
    pub fn line(&mut self, timeout: Duration) -> Option<String> {
        let line = self.lines.recv_timeout(timeout).ok()?;
        self.transcript.push(format!("< {line}"));
        Some(line)
    }

    /// Reads up to the first line for which that holds, handing over each line that comes before it as well.
    pub fn wait_for(&mut self, what: &str, mut found: impl FnMut(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.line(deadline.saturating_duration_since(Instant::now())) {
                Some(line) if found(&line) => return line,
                Some(_) => {}
                None => self.fail(&format!("waiting for {what} in vain")),
            }
        }
    }

    /// All lines that come within that time.
    pub fn lines_within(&mut self, time: Duration) -> Vec<String> {
        let deadline = Instant::now() + time;
        let mut lines = Vec::new();
        while let Some(line) = self.line(deadline.saturating_duration_since(Instant::now())) {
            lines.push(line);
        }
        lines
    }

    /// Waits for its end, which was asked for before: it must come soon and cleanly, with nothing said on standard error.
    /// Returns the lines that were still to be read.
    pub fn leave(mut self) -> Vec<String> {
        let mut rest = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            while let Ok(line) = self.lines.try_recv() {
                rest.push(line);
            }
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > deadline => self.fail("it does not end"),
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        rest.extend(self.lines.iter());
        let errors = self.errors.take().unwrap().join().unwrap();
        if !status.success() || !errors.is_empty() {
            self.fail(&format!("{status}, standard error: {errors}"));
        }
        rest
    }

    /// Fails the test with the end of what was said.
    pub fn fail(&self, reason: &str) -> ! {
        let mut text = format!("{reason}\nthe conversation so far:\n");
        for line in self.transcript.iter().rev().take(40).rev() {
            let _ = writeln!(text, "    {line}");
        }
        panic!("{text}");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program of a Debian package, which not every machine has. Where it is missing the test is to be skipped, which is
/// said aloud, unless `KOZUKA_REQUIRE_CLIENTS=1` makes it fail.
pub fn debian_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = env::split_paths(&path).collect();
    // Debian keeps games apart, and not every user has them in the path.
    places.push(PathBuf::from("/usr/games"));
    let found = places.iter().map(|place| place.join(name)).find(|path| path.is_file());
    if found.is_none() {
        let required = env::var_os("KOZUKA_REQUIRE_CLIENTS").is_some_and(|value| value == "1");
        assert!(!required, "{name} is not installed, but KOZUKA_REQUIRE_CLIENTS=1 asks for it");
        // Not by a macro, since the test harness swallows what those print when the test passes.
        let test = thread::current().name().unwrap_or("a test").to_owned();
        let _ = writeln!(io::stderr(), "SKIPPED {test}: {name} is not installed (Debian: apt-get install {name})");
    }
    found
}

/// A game as it is told to an engine, with every move checked by the rules.
pub struct Game {
    start: String,
    moves: Vec<String>,
    position: AnyPosition,
}

impl Game {
    /// A game from the usual start.
    pub fn new(game: GameId) -> Self {
        Self { start: "startpos".to_owned(), moves: Vec::new(), position: AnyPosition::new(game, Rules::default()) }
    }

    /// A game from that position.
    pub fn from_sfen(game: GameId, sfen: &str) -> Self {
        let position = AnyPosition::from_sfen(game, sfen, Rules::default()).unwrap();
        Self { start: format!("sfen {sfen}"), moves: Vec::new(), position }
    }

    /// Plays a move, which must be legal.
    pub fn play(&mut self, mv: &str) {
        if self.position.play(mv).is_err() {
            panic!("illegal move {mv} after {}", self.command());
        }
        self.moves.push(mv.to_owned());
    }

    /// Takes the last move back.
    pub fn take_back(&mut self) {
        self.position.undo();
        self.moves.pop();
    }

    /// The position.
    pub fn position(&self) -> &AnyPosition {
        &self.position
    }

    /// The moves.
    pub fn moves(&self) -> &[String] {
        &self.moves
    }

    /// How the game has ended, if it has. One without end is a fault of whoever plays it.
    pub fn outcome(&self) -> Option<Outcome> {
        assert!(self.moves.len() < 600, "a game without end: {}", self.command());
        self.position.outcome()
    }

    /// The command that tells an engine of it.
    pub fn command(&self) -> String {
        format!("position {} moves {}", self.start, self.moves.join(" "))
    }
}

/// A fixed sequence of arbitrary numbers (SplitMix64).
pub struct Chance(pub u64);

impl Chance {
    /// A number below that one.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ word >> 31) as usize % end
    }

    /// Any legal move.
    pub fn choose(&mut self, position: &AnyPosition) -> String {
        let mut moves = position.legal_moves();
        moves.swap_remove(self.below(moves.len()))
    }
}
