//! A USI client for tests: holds a session with the binary, with a timeout on everything.

#![allow(dead_code)] // Not every test file uses all of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kozuka::engine::{AnyPosition, GameId};
use kozuka::position::Rules;
use rsshogi_usi::{InfoCommand, MateScore, ScoreValue, UsiCommand, parse_line};

/// What must happen at once may take so long on a busy machine.
pub const SOON: Duration = Duration::from_secs(2);
/// What must happen at all may take so long.
pub const LATE: Duration = Duration::from_secs(20);

/// So many milliseconds.
pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The start position of minishogi.
pub const START: &str = "rbsgk/4p/5/P4/KGSBR b - 1";

/// Held for reading by every session, for writing by those that measure time.
static MACHINE: RwLock<()> = RwLock::new(());

/// A share of the machine, or all of it.
enum Share {
    Some(RwLockReadGuard<'static, ()>),
    All(RwLockWriteGuard<'static, ()>),
}

/// Checks that what is measured lies within the range. Other processes may keep the machine busy, so a few attempts are
/// granted.
#[track_caller]
pub fn measure(what: &str, range: Range<Duration>, mut attempt: impl FnMut() -> Duration) {
    let mut times = Vec::new();
    for _ in 0..4 {
        let time = attempt();
        if range.contains(&time) {
            return;
        }
        times.push(time);
    }
    panic!("{what}: {times:?} instead of {range:?}");
}

/// The binary, with its streams connected to the test.
pub fn kozuka() -> Command {
    piped(Path::new(env!("CARGO_BIN_EXE_kozuka")))
}

/// A program, with its streams connected to the test.
pub fn piped(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A session with the engine. The process is killed when the session is dropped.
pub struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    /// All lines so far.
    pub log: Vec<String>,
    /// Lines of the running search that came while silence was expected.
    early: Vec<String>,
    _share: Share,
}

impl Session {
    /// Starts the engine without arguments.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts the engine with arguments.
    pub fn start_with(arguments: &[&str]) -> Self {
        let mut command = kozuka();
        command.args(arguments);
        Self::start_command(command)
    }

    /// Starts the engine by a command of one's own, see [`kozuka`].
    pub fn start_command(command: Command) -> Self {
        Self::spawn(command, Share::Some(MACHINE.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Starts the engine while no other session runs, so that time can be measured.
    pub fn alone() -> Self {
        let mut session = Self::spawn(kozuka(), Share::All(MACHINE.write().unwrap_or_else(PoisonError::into_inner)));
        session.sync();
        session
    }

    fn spawn(mut command: Command, share: Share) -> Self {
        let mut child = command.spawn().expect("the binary starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut stderr_pipe = child.stderr.take().expect("stderr is piped");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.expect("output is UTF-8")).is_err() {
                    break;
                }
            }
        });
        let stderr = thread::spawn(move || {
            let mut text = Vec::new();
            stderr_pipe.read_to_end(&mut text).expect("stderr can be read");
            String::from_utf8_lossy(&text).into_owned()
        });
        Self { child, stdin, lines, stderr: Some(stderr), log: Vec::new(), early: Vec::new(), _share: share }
    }

    /// Starts the engine and gets it ready for a game.
    pub fn ready() -> Self {
        let mut session = Self::start();
        session.send("usi");
        session.expect("usiok");
        session.sync();
        session
    }

    /// The number by which the system knows the process.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Sends one or more lines.
    pub fn send(&mut self, lines: &str) {
        self.send_bytes(format!("{lines}\n").as_bytes());
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the input is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the engine reads");
    }

    /// Closes the input.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// The next line, checked for its form, or `None` if there is none within the time.
    pub fn next_line(&mut self, timeout: Duration) -> Option<String> {
        let line = self.raw_line(timeout)?;
        check_form(&line);
        Some(line)
    }

    fn raw_line(&mut self, timeout: Duration) -> Option<String> {
        match self.lines.recv_timeout(timeout) {
            Ok(line) => {
                self.log.push(line.clone());
                Some(line)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the engine has gone after {:#?}", self.log),
        }
    }

    /// Reads up to a line with that beginning; returns all lines, that one last.
    pub fn expect_within(&mut self, beginning: &str, timeout: Duration) -> Vec<String> {
        let deadline = Instant::now() + timeout;
        let mut seen = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Some(line) = self.next_line(left) else {
                panic!("no '{beginning}' within {timeout:?}; log: {:#?}", self.log);
            };
            seen.push(line.clone());
            if line.starts_with(beginning) {
                return seen;
            }
        }
    }

    /// Reads up to a line with that beginning, which may take its time.
    pub fn expect(&mut self, beginning: &str) -> Vec<String> {
        self.expect_within(beginning, LATE)
    }

    /// Waits until all commands so far have been seen to; returns what came before.
    pub fn sync(&mut self) -> Vec<String> {
        self.send("isready");
        let mut lines = self.expect_within("readyok", LATE);
        lines.pop();
        lines
    }

    /// Sends `go …` and reads the answer.
    pub fn go(&mut self, arguments: &str) -> Answer {
        self.early.clear();
        let start = Instant::now();
        self.send(&format!("go {arguments}"));
        self.answer(start)
    }

    /// Reads the answer of a search that began, or was told to end, at that time.
    pub fn answer(&mut self, start: Instant) -> Answer {
        let mut lines = std::mem::take(&mut self.early);
        lines.extend(self.expect("bestmove"));
        Answer::new(lines, start.elapsed())
    }

    /// Makes sure that nothing but `info` comes for so long.
    pub fn expect_silence(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while let Some(line) = self.next_line(deadline.saturating_duration_since(Instant::now())) {
            assert!(line.starts_with("info "), "unexpected '{line}'; log: {:#?}", self.log);
            self.early.push(line);
        }
    }

    /// What `d` shows, by the word before the colon; `Legal` for the moves.
    pub fn display(&mut self) -> impl Fn(&str) -> String + use<> {
        self.send("d");
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line: &String| !line.starts_with("Outcome: ")) {
            lines.push(self.raw_line(LATE).expect("an outcome"));
        }
        move |word| {
            let line = lines.iter().find(|line| line.starts_with(word)).expect("the line");
            line.split_once(':').expect("a colon").1.trim().to_owned()
        }
    }

    /// Waits for the end of the process.
    pub fn exit_status(&mut self, timeout: Duration) -> ExitStatus {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(status) = self.child.try_wait().expect("the process can be waited for") {
                return status;
            }
            assert!(Instant::now() < deadline, "still running after {timeout:?}; log: {:#?}", self.log);
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Checks that the process ended well within the time, with nothing on stderr; returns the lines not yet read.
    pub fn ended(&mut self, timeout: Duration) -> Vec<String> {
        let status = self.exit_status(timeout);
        assert!(status.success(), "{status}; log: {:#?}", self.log);
        let stderr = self.stderr.take().map(|thread| thread.join().expect("the reader of stderr"));
        assert_eq!(stderr.as_deref().unwrap_or_default(), "", "stderr");
        let rest: Vec<String> = self.lines.iter().collect();
        rest.iter().for_each(|line| check_form(line));
        rest
    }

    /// Checks that the engine still answers, then quits; returns the lines that came in between.
    pub fn finish(mut self) -> Vec<String> {
        let lines = self.sync();
        self.send("quit");
        self.ended(Duration::from_secs(1));
        lines
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Already gone is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A `bestmove` with the lines before it.
#[derive(Debug)]
pub struct Answer {
    /// The move, or `resign` or `win`.
    pub best: String,
    /// The move to ponder on.
    pub ponder: Option<String>,
    /// The lines of search before it.
    pub infos: Vec<InfoCommand>,
    /// Texts before it.
    pub strings: Vec<String>,
    /// Since the command.
    pub time: Duration,
}

impl Answer {
    fn new(lines: Vec<String>, time: Duration) -> Self {
        let last = lines.last().expect("a line").split(' ').map(str::to_owned).collect::<Vec<_>>();
        let infos: Vec<InfoCommand> = lines.iter().filter_map(|line| info_of(line)).collect();
        let (strings, infos) = infos.into_iter().partition(|info: &InfoCommand| info.string.is_some());
        let strings: Vec<InfoCommand> = strings;
        Self {
            best: last[1].clone(),
            ponder: last.get(3).cloned(),
            infos,
            strings: strings.into_iter().filter_map(|info| info.string).collect(),
            time,
        }
    }

    /// The last line of search that is the best one.
    pub fn last_info(&self) -> &InfoCommand {
        let is_first = |info: &&InfoCommand| info.multipv.is_none_or(|rank| rank == 1);
        self.infos.iter().rfind(is_first).unwrap_or_else(|| panic!("no info in {self:?}"))
    }

    /// Checks that the answer is a legal move with lines that lead to it, and that all lines are legal from there and end
    /// where the game does.
    #[track_caller]
    pub fn check(&self, position: &AnyPosition) {
        let is_over = position.outcome().is_some();
        for info in &self.infos {
            let mut line = position.clone();
            for mv in &info.pv {
                assert!(is_over || line.outcome().is_none(), "the line goes on after the end: {info:?}");
                line.play(mv).unwrap_or_else(|error| panic!("{error} in {info:?}"));
            }
        }
        let mut after = position.clone();
        after.play(&self.best).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert_eq!(self.last_info().pv.first(), Some(&self.best), "{self:?}");
        if let Some(ponder) = &self.ponder {
            after.play(ponder).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        }
    }
}

/// The typed `info` of a line, if it is one.
pub fn info_of(line: &str) -> Option<InfoCommand> {
    match parse_line(line) {
        Ok(UsiCommand::Info(info)) => Some(info),
        _ => None,
    }
}

/// What every line of the protocol must be like.
#[track_caller]
fn check_form(line: &str) {
    assert!(line.len() < 1_000, "{} bytes: {line}", line.len());
    assert!(line.split(' ').all(|word| !word.is_empty()), "blanks in '{line}'");
    let command = parse_line(line).unwrap_or_else(|error| panic!("'{line}': {error}"));
    assert!(command.is_engine_to_gui(), "{line}");
    if let UsiCommand::Info(info) = command {
        let odds = info.extras.first().is_some_and(|word| word == "wdl") && info.extras.len() == 4;
        assert!((info.extras.is_empty() || odds) && info.currmove.is_none(), "{line}");
        match &info.string {
            Some(text) => {
                let has = |word| text.split(|c: char| !c.is_alphanumeric()).any(|other| other == word);
                assert!(!has("cp") && !has("mate"), "{line}");
                assert!(!text.starts_with("variant"), "{line}");
            }
            None => {
                // Only the mate solver, on its way, has nothing to say about the score; it shows no moves then.
                let score = info.score.map(|score| score.value);
                assert!(score.is_some() || info.pv.is_empty() && info.depth.is_none(), "no score in {line}");
                assert!(!matches!(score, Some(ScoreValue::Mate(MateScore::UnknownWin | MateScore::UnknownLose))));
                assert!(info.hashfull.is_none_or(|hashfull| hashfull <= 1_000), "{line}");
            }
        }
    }
}

/// A position of minishogi after moves.
pub fn position(sfen: &str, moves: &str) -> AnyPosition {
    let mut position = AnyPosition::from_sfen(GameId::Minishogi, sfen, Rules::default()).expect("a position");
    for mv in moves.split_whitespace() {
        position.play(mv).expect("a legal move");
    }
    position
}
