//! An engine at the board: the USI dialogue, and everything that can go wrong in it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rsshogi_usi::{
    BestMoveKind, GameResult, GoParams, PositionSpec, UsiCommand, UsiOption, format_command, parse_line,
};
use thiserror::Error;

use super::clock::Budget;
use super::info::Thought;
use super::options::{self, OptionError, Wanted};
use super::process::{EngineProcess, Output, UsiLog};
use super::spec::{EngineSpec, SpecError};
use super::supervisor::Supervisor;

/// How long engines are waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For `usiok` and `readyok`.
    pub start: Duration,
    /// For a move that no clock limits.
    pub unclocked_move: Duration,
    /// For the answer to `stop`, and for the end after `quit`.
    pub stop: Duration,
    /// What a move may take beyond its time before it counts as late, if it is not for the time control to say.
    pub margin: Option<Duration>,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            unclocked_move: Duration::from_secs(300),
            stop: Duration::from_secs(2),
            margin: None,
        }
    }
}

/// An engine that could not be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// The command itself.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// The operating system refused.
    #[error("engine '{name}': cannot start {program}: {reason}")]
    Spawn {
        /// The engine.
        name: String,
        /// Its program.
        program: String,
        /// The system's words.
        reason: String,
    },
    /// Its dialogue cannot be logged.
    #[error("cannot write {}: {error}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
    /// It did not say what an engine says.
    #[error("engine '{name}': {what}{}", tail(stderr))]
    Silent {
        /// The engine.
        name: String,
        /// What is missing.
        what: String,
        /// Its last words.
        stderr: Vec<String>,
    },
    /// An option.
    #[error("engine '{name}': {error}")]
    Options {
        /// The engine.
        name: String,
        /// What is wrong.
        error: OptionError,
    },
}

/// The same with the times of the two sides exchanged.
fn swap_clocks(go: GoParams) -> GoParams {
    GoParams { btime: go.wtime, wtime: go.btime, binc: go.winc, winc: go.binc, ..go }
}

fn tail(stderr: &[String]) -> String {
    stderr.iter().map(|line| format!("\n  stderr: {line}")).collect()
}

/// How an engine failed in a game; each loses the game with its own reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// It answered after its time was up.
    TimeForfeit,
    /// It did not answer.
    NoAnswer,
    /// It answered what is no legal move, or declared a win it does not have.
    IllegalMove,
    /// Its process died.
    Crash,
    /// It closed its output, or left of its own accord.
    Disconnect,
}

/// A failure and what is known about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// In words.
    pub detail: String,
}

impl Fault {
    /// A fault with its description.
    pub fn new(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

/// What an engine answered to `go`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// A move, `resign` or `win`.
    pub best: BestMoveKind,
    /// The reply it expects.
    pub ponder: Option<String>,
    /// From `go` or `ponderhit` to the arrival of the line.
    pub elapsed: Duration,
    /// What it said about its search.
    pub thought: Thought,
}

/// An engine in a match.
pub struct Player {
    name: String,
    process: EngineProcess,
    patience: Patience,
    swapped_clocks: bool,
    pondering: Option<String>,
    last_position: String,
    last_go: String,
}

impl Player {
    /// Starts an engine and sets its options.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start(
        spec: &EngineSpec,
        own_program: &Path,
        wanted: &Wanted<'_>,
        patience: Patience,
        supervisor: &Arc<Supervisor>,
        log: Option<UsiLog>,
    ) -> Result<Self, StartError> {
        let (program, arguments) = spec.command_line(own_program)?;
        let mut command = Command::new(&program);
        command.args(arguments);
        if let Some(dir) = &spec.dir {
            command.current_dir(dir);
        }
        let process = EngineProcess::spawn(&mut command, supervisor, log).map_err(|error| StartError::Spawn {
            name: spec.name.clone(),
            program: program.display().to_string(),
            reason: error.to_string(),
        })?;
        let mut player = Self {
            name: spec.name.clone(),
            process,
            patience,
            swapped_clocks: spec.swapped_clocks,
            pondering: None,
            last_position: String::new(),
            last_go: String::new(),
        };
        let listed = player.handshake()?;
        let lines = options::commands(&listed, wanted)
            .map_err(|error| StartError::Options { name: spec.name.clone(), error })?;
        for line in lines {
            player.process.send(line);
        }
        player.ready()?;
        Ok(player)
    }

    fn handshake(&mut self) -> Result<Vec<UsiOption>, StartError> {
        self.process.send(format_command(&UsiCommand::Usi));
        let mut listed = Vec::new();
        self.wait_for("usiok", |line| listed.extend(options::read_option(line)))?;
        Ok(listed)
    }

    fn ready(&mut self) -> Result<(), StartError> {
        self.process.send(format_command(&UsiCommand::IsReady));
        self.wait_for("readyok", |_| ())
    }

    fn wait_for(&mut self, word: &str, mut other: impl FnMut(&str)) -> Result<(), StartError> {
        let deadline = Instant::now() + self.patience.start;
        let what = loop {
            // A flood of lines must not keep the deadline from being looked at.
            let event = self.process.next_event(deadline).filter(|_| Instant::now() < deadline);
            match event.map(|event| event.output) {
                Some(Output::Line(line)) if line.trim() == word => return Ok(()),
                Some(Output::Line(line)) => other(&line),
                Some(Output::Closed) => {
                    let fault = self.fault_of_closing();
                    break format!("{} before it said {word}", fault.detail);
                }
                Some(Output::Ended(ending)) => break format!("it ended ({}) before it said {word}", ending.text),
                None => break format!("no {word} within {:.1} s", self.patience.start.as_secs_f64()),
            }
        };
        Err(StartError::Silent { name: self.name.clone(), what, stderr: self.process.stderr_tail() })
    }

    /// Its name in the match.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The last `position` and `go` lines it was sent.
    pub fn last_commands(&self) -> (&str, &str) {
        (&self.last_position, &self.last_go)
    }

    /// The last lines of its stderr.
    pub fn stderr_tail(&self) -> Vec<String> {
        self.process.stderr_tail()
    }

    /// Writes a remark into the log of its dialogue, if there is one.
    pub fn remark(&self, text: &str) {
        self.process.remark(text);
    }

    /// Gets it ready for another game.
    ///
    /// # Errors
    /// If it does not say so in time.
    pub fn new_game(&mut self) -> Result<(), StartError> {
        self.last_position.clear();
        self.last_go.clear();
        self.process.send(format_command(&UsiCommand::UsiNewGame));
        // Clearing the hash must not be on the clock of the first move.
        self.ready()
    }

    /// Asks for a move and waits for it; `budget` is what the mover's clock allows. If it was pondering on just this position the
    /// search goes on with `ponderhit`.
    ///
    /// # Errors
    /// If there is no answer in time.
    pub fn think(
        &mut self,
        start: &PositionSpec,
        moves: &[String],
        go: GoParams,
        budget: Option<Budget>,
    ) -> Result<Answer, Fault> {
        // Answers that nobody asked for must not be taken for the one that is asked for now.
        if self.pondering.is_none() {
            self.discard_early_lines()?;
        }
        let number = match self.pondering.take() {
            Some(expected) if Some(&expected) == moves.last() => {
                self.process.send(format_command(&UsiCommand::PonderHit))
            }
            Some(_) => {
                self.stop_pondering()?;
                self.go(start, moves, go)
            }
            None => self.go(start, moves, go),
        };
        self.answer(number, budget)
    }

    /// Throws away what has arrived before it was asked.
    fn discard_early_lines(&self) -> Result<(), Fault> {
        while let Some(event) = self.process.next_event(Instant::now()) {
            match event.output {
                Output::Line(line) if read_best_move(&line).is_some() => {
                    self.process.remark("an answer that nobody asked for");
                }
                Output::Line(_) => {}
                Output::Closed => return Err(self.fault_of_closing()),
                Output::Ended(ending) => {
                    return Err(Fault::new(FaultKind::Crash, format!("it ended ({})", ending.text)));
                }
            }
        }
        Ok(())
    }

    /// Lets it think about the position that its expected reply brings.
    pub fn ponder(&mut self, start: &PositionSpec, moves: &[String], go: GoParams) {
        self.pondering = moves.last().cloned();
        self.go(start, moves, GoParams { ponder: true, ..go });
    }

    fn go(&mut self, start: &PositionSpec, moves: &[String], go: GoParams) -> u64 {
        let go = if self.swapped_clocks { swap_clocks(go) } else { go };
        self.last_position = format_command(&UsiCommand::Position { spec: start.clone(), moves: moves.to_vec() });
        self.last_go = format_command(&UsiCommand::Go(go));
        self.process.send(self.last_position.clone());
        self.process.send(self.last_go.clone())
    }

    /// Waits for the answer to command `number`, beyond the deadline if need be, so that the next game starts clean.
    fn answer(&mut self, number: u64, budget: Option<Budget>) -> Result<Answer, Fault> {
        let allowed = match budget {
            Some(budget) => budget.time + self.patience.margin.unwrap_or(budget.margin),
            None => self.patience.unclocked_move,
        };
        let queued = Instant::now();
        let mut thought = Thought::default();
        let mut stopped = false;
        let mut written = None;
        loop {
            if !stopped {
                written = self.process.written_at(number);
            }
            let deadline = match written {
                Some(at) if stopped => at + allowed + self.patience.stop,
                Some(at) => at + allowed,
                // Only if it does not read its input is this looked at again and again.
                None => (queued + allowed).max(Instant::now() + Duration::from_millis(10)),
            };
            match self.process.next_event(deadline).map(|event| (event.at, event.output)) {
                Some((at, Output::Line(line))) => {
                    if let Some((best, ponder)) = read_best_move(&line) {
                        let started = written.or_else(|| self.process.written_at(number)).unwrap_or(queued);
                        // Zero if it ended a ponder search before that was hit.
                        let elapsed = at.saturating_duration_since(started);
                        if elapsed > allowed {
                            return Err(late(elapsed, budget.map_or(allowed, |budget| budget.time)));
                        }
                        let best =
                            best.ok_or_else(|| Fault::new(FaultKind::IllegalMove, format!("'{line}' is no answer")))?;
                        return Ok(Answer { best, ponder, elapsed, thought });
                    }
                    thought.read(&line);
                }
                Some((_, Output::Closed)) => return Err(self.fault_of_closing()),
                Some((_, Output::Ended(ending))) => {
                    return Err(Fault::new(FaultKind::Crash, format!("it ended ({})", ending.text)));
                }
                None => {}
            }
            let now = Instant::now();
            if written.is_none() {
                if now > queued + allowed + self.patience.stop {
                    return Err(Fault::new(FaultKind::NoAnswer, "it does not read its input"));
                }
            } else if now >= deadline {
                if stopped {
                    let waited = now.saturating_duration_since(queued).as_secs_f64();
                    return Err(Fault::new(
                        FaultKind::NoAnswer,
                        format!("no bestmove after {waited:.3} s, nor on stop"),
                    ));
                }
                // The line may be on its way; its time of arrival decides, not this one.
                stopped = true;
                self.process.send(format_command(&UsiCommand::Stop));
            }
        }
    }

    /// Tells a crash from a closed pipe by waiting a moment for the end of the process.
    fn fault_of_closing(&self) -> Fault {
        let deadline = Instant::now() + self.patience.stop;
        match self.process.next_event(deadline).map(|event| event.output) {
            Some(Output::Ended(ending)) if ending.success => {
                Fault::new(FaultKind::Disconnect, format!("it left ({})", ending.text))
            }
            Some(Output::Ended(ending)) => Fault::new(FaultKind::Crash, format!("it died ({})", ending.text)),
            _ => Fault::new(FaultKind::Disconnect, "it closed its output"),
        }
    }

    /// Ends a ponder search and throws its answer away.
    fn stop_pondering(&mut self) -> Result<(), Fault> {
        self.process.send(format_command(&UsiCommand::Stop));
        let deadline = Instant::now() + self.patience.stop;
        while let Some(event) = self.process.next_event(deadline).filter(|_| Instant::now() < deadline) {
            match event.output {
                Output::Line(line) if read_best_move(&line).is_some() => return Ok(()),
                Output::Line(_) => {}
                Output::Closed => return Err(self.fault_of_closing()),
                Output::Ended(ending) => {
                    return Err(Fault::new(FaultKind::Crash, format!("it ended ({})", ending.text)));
                }
            }
        }
        Err(Fault::new(FaultKind::NoAnswer, "no bestmove when its pondering was stopped"))
    }

    /// Tells it that the game is over.
    ///
    /// # Errors
    /// If it has to be restarted, since a search of it could not be stopped.
    pub fn game_over(&mut self, result: GameResult) -> Result<(), Fault> {
        let stopped = if self.pondering.take().is_some() { self.stop_pondering() } else { Ok(()) };
        self.process.send(format_command(&UsiCommand::GameOver(result)));
        stopped
    }

    /// Asks it to quit and kills it if it does not.
    pub fn quit(self) {
        self.process.quit(self.patience.stop);
    }
}

fn late(elapsed: Duration, limit: Duration) -> Fault {
    let over = elapsed.saturating_sub(limit).as_secs_f64() * 1e3;
    Fault::new(
        FaultKind::TimeForfeit,
        format!("bestmove after {:.3} s, {over:.0} ms more than it had", elapsed.as_secs_f64()),
    )
}

/// The answer and the expected reply in a `bestmove` line; an answer of `None` if there is nothing behind the word.
fn read_best_move(line: &str) -> Option<(Option<BestMoveKind>, Option<String>)> {
    if let Ok(UsiCommand::BestMove(best)) = parse_line(line) {
        return Some((Some(best.bestmove), best.ponder));
    }
    let mut words = line.split_whitespace();
    if words.next() != Some("bestmove") {
        return None;
    }
    // Something follows the move that should not; the move counts all the same.
    Some((words.next().map(|word| BestMoveKind::Move(word.to_owned())), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_moves_of_every_shape() {
        let mv = |text: &str| Some(BestMoveKind::Move(text.to_owned()));
        assert_eq!(read_best_move("bestmove 2e5b ponder 3a3b"), Some((mv("2e5b"), Some("3a3b".to_owned()))));
        assert_eq!(read_best_move("  bestmove\tresign "), Some((Some(BestMoveKind::Resign), None)));
        assert_eq!(read_best_move("bestmove win"), Some((Some(BestMoveKind::Win), None)));
        assert_eq!(read_best_move("bestmove 2e5b ponder"), Some((mv("2e5b"), None)));
        assert_eq!(read_best_move("bestmove 2e5b time 3"), Some((mv("2e5b"), None)));
        assert_eq!(read_best_move("bestmove"), Some((None, None)));
        assert_eq!(read_best_move("info string bestmove 2e5b"), None);
        assert_eq!(read_best_move(""), None);
    }
}
