//! An engine as a process that takes and gives lines.
//!
//! Three threads serve each engine: one writes, one reads and stamps each line with the time of its arrival, one keeps the
//! last lines of stderr. So neither a full pipe nor an engine that says nothing can hold the match up, and nothing polls.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use shared_child::SharedChild;

use super::supervisor::Supervisor;

/// Longer lines are cut here; 9x9 principal variations stay far below.
const LINE_LIMIT: usize = 64 * 1024;

/// How many lines may wait unread before the engine has to wait too.
const QUEUE_LIMIT: usize = 16 * 1024;

/// How many lines of stderr are kept.
const STDERR_LINES: usize = 20;

/// What came out of an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// A line of stdout, without its end.
    Line(String),
    /// Stdout was closed.
    Closed,
    /// The process ended.
    Ended(Ending),
}

/// How a process ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
    /// Whether it reported success.
    pub success: bool,
    /// In words, such as `exit status: 101` or `signal: 11 (SIGSEGV)`.
    pub text: String,
}

/// An output and when it arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The time at which the reading thread had it.
    pub at: Instant,
    /// What it was.
    pub output: Output,
}

/// The whole dialogue with one engine, in a file.
#[derive(Clone)]
pub struct UsiLog {
    file: Arc<Mutex<BufWriter<File>>>,
    start: Instant,
}

impl UsiLog {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: Arc::new(Mutex::new(BufWriter::new(File::create(path)?))), start: Instant::now() })
    }

    /// Writes a line: milliseconds since the start, `>` for to the engine, `<` for from it, `!` for its stderr, `#` for a
    /// remark of the match. The match does not stop for a log that cannot be written.
    pub fn line(&self, mark: char, text: &str) {
        let millis = self.start.elapsed().as_secs_f64() * 1e3;
        let mut file = lock(&self.file);
        let _ = writeln!(file, "{millis:.3} {mark} {text}");
        if matches!(mark, '>' | '#') {
            let _ = file.flush();
        }
    }
}

/// Which commands were written, and when the last of them was.
#[derive(Clone, Copy)]
struct Written {
    count: u64,
    at: Instant,
}

/// The last lines of stderr, and whether it has been read to its end.
#[derive(Default)]
struct Tail {
    state: Mutex<(VecDeque<String>, bool)>,
    ended: Condvar,
}

/// An engine that runs. Dropping it kills it and what it started.
pub struct EngineProcess {
    child: Arc<SharedChild>,
    supervisor: Arc<Supervisor>,
    input: Sender<String>,
    queued: u64,
    written: Arc<Mutex<Written>>,
    events: Receiver<Event>,
    stderr: Arc<Tail>,
    log: Option<UsiLog>,
}

impl EngineProcess {
    /// Starts the program.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(command: &mut Command, supervisor: &Arc<Supervisor>, log: Option<UsiLog>) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = supervisor.spawn(command)?;
        let missing = || io::Error::other("the engine's pipes are missing");
        let stdin = child.take_stdin().ok_or_else(missing)?;
        let stdout = child.take_stdout().ok_or_else(missing)?;
        let error_output = child.take_stderr().ok_or_else(missing)?;

        let written = Arc::new(Mutex::new(Written { count: 0, at: Instant::now() }));
        let (input, commands) = mpsc::channel();
        let writer = (Arc::clone(&written), log.clone());
        thread::spawn(move || write_lines(stdin, &commands, &writer.0, writer.1.as_ref()));

        let (sender, events) = mpsc::sync_channel(QUEUE_LIMIT);
        let reader = (Arc::clone(&child), log.clone());
        thread::spawn(move || read_lines(stdout, &sender, &reader.0, reader.1.as_ref()));

        let stderr = Arc::new(Tail::default());
        let tail = (Arc::clone(&stderr), log.clone());
        thread::spawn(move || keep_tail(error_output, &tail.0, tail.1.as_ref()));

        Ok(Self { child, supervisor: Arc::clone(supervisor), input, queued: 0, written, events, stderr, log })
    }

    /// Queues a line, without its end, and returns its number, to be asked for with [`Self::written_at`].
    pub fn send(&mut self, line: String) -> u64 {
        self.queued += 1;
        // Fails only if the engine does not read any more, and then it will not answer either.
        let _ = self.input.send(line);
        self.queued
    }

    /// When the line of that number went into the pipe; `None` if it has not yet. Right only until the next line is sent.
    pub fn written_at(&self, number: u64) -> Option<Instant> {
        let written = *lock(&self.written);
        (written.count >= number).then_some(written.at)
    }

    /// The next output, if it comes before the deadline.
    pub fn next_event(&self, deadline: Instant) -> Option<Event> {
        match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            // Everything was read, its end included.
            Err(RecvTimeoutError::Disconnected) => {
                let ending = Ending { success: false, text: "it has ended".to_owned() };
                Some(Event { at: Instant::now(), output: Output::Ended(ending) })
            }
        }
    }

    /// The last lines of stderr. It waits a moment for what may be on its way, and longer if the process has ended.
    pub fn stderr_tail(&self) -> Vec<String> {
        let ended = matches!(self.child.try_wait(), Ok(Some(_)));
        let patience = Duration::from_millis(if ended { 500 } else { 20 });
        let waited = self.stderr.ended.wait_timeout_while(lock(&self.stderr.state), patience, |(_, at_end)| !*at_end);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.0.iter().cloned().collect()
    }

    /// Writes a remark into the log of the dialogue, if there is one.
    pub fn remark(&self, text: &str) {
        if let Some(log) = &self.log {
            log.line('#', text);
        }
    }

    /// Asks the engine to quit and gives it that long before it is killed.
    pub fn quit(mut self, patience: Duration) {
        self.send("quit".to_owned());
        let deadline = Instant::now() + patience;
        // The reading thread tells of the end, so that there is nothing to poll; what is left when this returns is killed.
        while let Some(event) = self.next_event(deadline).filter(|_| Instant::now() < deadline) {
            if matches!(event.output, Output::Ended(_)) {
                return;
            }
        }
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        self.supervisor.end(&self.child);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write_lines(mut stdin: impl Write, commands: &Receiver<String>, written: &Mutex<Written>, log: Option<&UsiLog>) {
    for mut line in commands {
        if let Some(log) = log {
            log.line('>', &line);
        }
        line.push('\n');
        {
            // The clock of a move starts before the line is written, so that the engine never has more than its time.
            let mut written = lock(written);
            written.count += 1;
            written.at = Instant::now();
        }
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: impl Read, events: &SyncSender<Event>, child: &SharedChild, log: Option<&UsiLog>) {
    let mut reader = BufReader::new(stdout);
    while let Some(line) = next_line(&mut reader) {
        let event = Event { at: Instant::now(), output: Output::Line(line) };
        if let (Some(log), Output::Line(line)) = (log, &event.output) {
            log.line('<', line);
        }
        if events.send(event).is_err() {
            break;
        }
    }
    let _ = events.send(Event { at: Instant::now(), output: Output::Closed });
    if let Ok(status) = child.wait() {
        let ending = Ending { success: status.success(), text: status.to_string() };
        let _ = events.send(Event { at: Instant::now(), output: Output::Ended(ending) });
    }
}

fn keep_tail(stderr: impl Read, tail: &Tail, log: Option<&UsiLog>) {
    let mut reader = BufReader::new(stderr);
    while let Some(line) = next_line(&mut reader) {
        if let Some(log) = log {
            log.line('!', &line);
        }
        let (lines, _) = &mut *lock(&tail.state);
        if lines.len() == STDERR_LINES {
            lines.pop_front();
        }
        lines.push_back(line.chars().take(1000).collect());
    }
    lock(&tail.state).1 = true;
    tail.ended.notify_all();
}

/// The next line without its end, cut to [`LINE_LIMIT`], with bytes that are no UTF-8 replaced; `None` at the end.
fn next_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let mut seen_any = false;
    loop {
        let chunk = match reader.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        if chunk.is_empty() {
            return seen_any.then(|| finish_line(line));
        }
        seen_any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(chunk.len());
        let room = LINE_LIMIT - line.len();
        line.extend_from_slice(&chunk[..taken.min(room)]);
        reader.consume(end.map_or(taken, |end| end + 1));
        if end.is_some() {
            return Some(finish_line(line));
        }
    }
}

fn finish_line(mut line: Vec<u8>) -> String {
    while line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8_lossy(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut reader = BufReader::with_capacity(7, bytes);
        std::iter::from_fn(|| next_line(&mut reader)).collect()
    }

    #[test]
    fn lines_of_every_shape_are_read() {
        assert_eq!(lines(b"usiok\nreadyok\r\n\nlast"), ["usiok", "readyok", "", "last"]);
        assert_eq!(lines(b""), Vec::<String>::new());
        assert_eq!(lines(b"\xff\xfe\n"), ["\u{fffd}\u{fffd}"]);
    }

    #[test]
    fn a_huge_line_is_cut_and_the_next_one_is_whole() {
        let mut bytes = vec![b'a'; 3 * LINE_LIMIT];
        bytes.extend_from_slice(b"\nbestmove 2e5b\n");
        let lines = lines(&bytes);
        assert_eq!(lines[0].len(), LINE_LIMIT);
        assert_eq!(lines[1], "bestmove 2e5b");
    }
}
