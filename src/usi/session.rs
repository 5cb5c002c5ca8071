//! The loop: reads commands, tells the engine, writes what it answers.
//!
//! Commands are read on one thread and searched for on another, so none has to wait for the search.

use std::io::{self, BufRead, Read};
use std::mem;
use std::panic;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rsshogi_usi::{GoMate, GoParams, PositionSpec, UsiCommand};

use super::normalize::{Clocks, DISPLAY, Input, few, quote_path, read};
use super::options::Options;
use super::output::{Output, Throttle, bestmove, checkmate, info, mate_info, progress_info};
use crate::engine::{AnyEngine, Event, GameId, MateEvent, MateReply, NetworkChange};
use crate::mate;
use crate::search::{Clock, Limits};

/// Longest line that is read. It holds a game of millions of moves; more is no command.
const LINE_BYTES: u64 = 64 << 20;
/// How long a search may take to answer when the process is to end.
const QUIT_GRACE: Duration = Duration::from_millis(25);

/// Serves a client on the standard streams until it quits or hangs up.
pub fn run(game: GameId) {
    let output = Arc::new(Output::new(io::stdout()));
    report_panics(Arc::clone(&output));
    Session::new(game, output).serve(io::stdin().lock());
}

/// Has every panic told as a text: clients read standard error as if it were output.
fn report_panics(output: Arc<Output>) {
    panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(|location| format!(" at {}:{}", location.file(), location.line()));
        let text = panic.payload_as_str().unwrap_or("panic");
        output.try_say(&format!("internal error{}: {text}", place.unwrap_or_default()));
    }));
}

/// A client's session.
pub struct Session {
    options: Options,
    /// The game of the engine; the options may already ask for another one while a search runs.
    game: GameId,
    engine: AnyEngine,
    output: Arc<Output>,
    /// The number of threads that was last looked at.
    told_threads: usize,
    /// The table that was last told of: its MiB, and whether in large pages.
    told_table: Option<(usize, bool)>,
}

impl Session {
    /// A session that begins with that game.
    pub fn new(game: GameId, output: Arc<Output>) -> Self {
        let options = Options::new(game);
        let engine = AnyEngine::new(game, options.settings().rules);
        Self { options, game, engine, output, told_threads: 1, told_table: None }
    }

    /// Carries out commands until `quit` or the end of the input.
    pub fn serve(mut self, mut input: impl BufRead) {
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut input).take(LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return self.engine.close(),
            }
            if line.len() as u64 == LINE_BYTES && !line.ends_with(b"\n") {
                self.output.say("ignoring a line that is too long");
                if input.skip_until(b'\n').is_err() {
                    return self.engine.close();
                }
                continue;
            }
            let Input { command, clocks, notices } = read(&line);
            for notice in notices {
                self.output.say(&notice);
            }
            match command {
                None => {}
                Some(UsiCommand::Quit) => return self.quit(),
                Some(command) => self.execute(command, clocks),
            }
        }
    }

    fn execute(&mut self, command: UsiCommand, clocks: Clocks) {
        match command {
            UsiCommand::Usi => self.introduce(),
            UsiCommand::IsReady => self.get_ready(),
            UsiCommand::SetOption { name, value } => {
                if let Some(notice) = self.options.set(&name, value.as_deref()) {
                    self.output.say(&notice);
                }
                self.settle_if_idle();
            }
            UsiCommand::UsiNewGame => {
                self.settle();
                self.engine.new_game();
            }
            UsiCommand::Position { spec, moves } => {
                self.settle();
                let sfen = match spec {
                    PositionSpec::StartPos => None,
                    PositionSpec::Sfen { .. } => Some(spec.to_sfen()),
                };
                let rules = self.options.settings().rules;
                if let Err(error) = self.engine.set_position(sfen.as_deref(), &moves, rules) {
                    self.output.say(&error.to_string());
                }
            }
            UsiCommand::Go(params) => {
                self.settle();
                self.go(params, clocks);
            }
            UsiCommand::Stop => self.engine.stop(),
            UsiCommand::PonderHit => self.engine.ponderhit(clock(clocks, None)),
            UsiCommand::GameOver(_) => self.engine.finish(),
            UsiCommand::Extension { name, .. } if name == DISPLAY => self.display(),
            // `read` lets no others through.
            _ => {}
        }
    }

    fn introduce(&mut self) {
        self.output.command(&UsiCommand::id_name(concat!("Kozuka ", env!("CARGO_PKG_VERSION"))));
        self.output.command(&UsiCommand::id_author("the Kozuka developers"));
        for option in self.options.listing() {
            self.output.command(&option);
        }
        self.output.command(&UsiCommand::usiok());
    }

    fn get_ready(&mut self) {
        if !self.engine.is_searching() {
            self.settle();
            for notice in self.engine.prepare(&self.options.settings().search) {
                self.output.say(&notice);
            }
            self.tell_of_pages();
            self.warn_of_threads();
            self.load_network(true);
        }
        self.output.command(&UsiCommand::readyok());
    }

    /// Says, once for each, what sort of pages a new table lies in. Only to a client that has set the option: others, and
    /// the people who sit before them, take a text in place of silence for a complaint.
    fn tell_of_pages(&mut self) {
        let Some(table) = self.engine.table().filter(|_| self.options.settings().tell_pages) else { return };
        let told = (table.mib(), table.in_large_pages());
        if self.told_table.replace(told) != Some(told) {
            let (mib, large) = told;
            self.output.say(&format!("hash {mib} MiB in {} pages", if large { "large" } else { "small" }));
        }
    }

    /// Says, once for each number, that there are more threads than the machine can run at a time.
    fn warn_of_threads(&mut self) {
        let threads = self.options.settings().search.threads;
        if threads == mem::replace(&mut self.told_threads, threads) {
            return;
        }
        if let Ok(cores) = thread::available_parallelism()
            && threads > cores.get()
        {
            self.output.say(&format!(
                "Threads {threads} is more than the {cores} processors of this machine; they share them"
            ));
        }
    }

    /// Lets the engine evaluate by the network that the options name. One that was refused is tried again only if asked
    /// for, lest every move of a game begin with the same failure.
    fn load_network(&mut self, retry: bool) {
        match self.engine.use_network(self.options.settings().eval_file.as_deref(), retry) {
            NetworkChange::None | NetworkChange::Internal => {}
            NetworkChange::File(path) => self.output.say(&format!("evaluating by EvalFile {}", quote_path(&path))),
            NetworkChange::Refused(error) => self.output.say(&format!(
                "EvalFile {} not loaded: {}; evaluating as before",
                quote_path(error.path()),
                error.reason()
            )),
        }
    }

    /// Ends a running search and lets the options take effect that waited for its end.
    fn settle(&mut self) {
        self.engine.finish();
        let settings = self.options.settings();
        if settings.game == self.game {
            self.engine.set_rules(settings.rules);
        } else {
            self.game = settings.game;
            self.engine = AnyEngine::new(settings.game, settings.rules);
        }
    }

    /// Lets options take effect, without ending a search that runs.
    fn settle_if_idle(&mut self) {
        if !self.engine.is_searching() {
            self.settle();
        }
    }

    fn go(&mut self, params: GoParams, clocks: Clocks) {
        if let Some(time) = &params.mate {
            return self.go_mate(time, params.nodes);
        }
        self.load_network(false);
        let limits = Limits {
            depth: params.depth,
            nodes: params.nodes,
            movetime: params.movetime.map(Duration::from_millis),
            clock: clock(clocks, params.effective_movestogo()),
            infinite: params.infinite,
            ponder: params.ponder,
            searchmoves: Vec::new(),
        };
        let output = Arc::clone(&self.output);
        let show_wdl = self.options.settings().show_wdl;
        let mut throttle = Throttle::new(Instant::now());
        let sink = move |event| match event {
            Event::Notices(notices) => few(notices).iter().for_each(|notice| output.say(notice)),
            Event::Report(report, pv) => {
                if let Some(line) = throttle.pass(info(&report, &pv, show_wdl), report.multipv == 1, Instant::now()) {
                    output.command(&line);
                }
            }
            Event::Reply(reply) => {
                for line in throttle.rest() {
                    output.command(&line);
                }
                output.command(&bestmove(reply));
            }
        };
        self.engine.go(limits, &params.searchmoves, &self.options.settings().search, sink);
    }

    /// Looks for a mate by checks.
    fn go_mate(&mut self, time: &GoMate, nodes: Option<u64>) {
        let time = match *time {
            GoMate::Infinite => None,
            // The protocol counts milliseconds here, whatever the crate calls them.
            GoMate::Ply(milliseconds) => Some(Duration::from_millis(milliseconds.into())),
        };
        let output = Arc::clone(&self.output);
        let mut last = None;
        let sink = move |event| match event {
            MateEvent::Notice(notice) => output.say(&notice),
            MateEvent::Progress(progress) => {
                // The last one waits for the answer, which says more.
                if let Some(before) = last.replace(progress) {
                    output.command(&progress_info(&before));
                }
            }
            MateEvent::Reply(reply) => {
                if let Some(progress) = last {
                    output.command(&match &reply {
                        MateReply::Mate(line) => mate_info(&progress, line),
                        _ => progress_info(&progress),
                    });
                }
                output.command(&checkmate(reply));
            }
        };
        let limits = mate::Limits { time, nodes, plies: None };
        self.engine.go_mate(limits, self.options.settings().search.hash_mib, sink);
    }

    fn display(&mut self) {
        self.settle_if_idle();
        let position = self.engine.position();
        let moves = position.legal_moves();
        let outcome = position.outcome().map_or_else(|| "none".to_owned(), |outcome| outcome.to_string());
        self.output.line(&format!(
            "{}\nSfen: {}\nKey: {:016x}\nCheckers: {}\nLegal moves ({}): {}\nOutcome: {outcome}",
            position.diagram(),
            position.sfen(),
            position.key(),
            position.checkers().join(" "),
            moves.len(),
            moves.join(" "),
        ));
    }

    fn quit(&mut self) {
        self.engine.stop();
        let deadline = Instant::now() + QUIT_GRACE;
        while self.engine.is_searching() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The clocks as the search takes them; `None` if the client gave no time.
fn clock(clocks: Clocks, movestogo: Option<u64>) -> Option<Clock> {
    (!clocks.is_empty()).then(|| Clock {
        remaining: [clocks.btime, clocks.wtime],
        increment: [clocks.binc.unwrap_or(0), clocks.winc.unwrap_or(0)],
        byoyomi: clocks.byoyomi.unwrap_or(0),
        movestogo: movestogo.map(|moves| moves.try_into().unwrap_or(u32::MAX)),
    })
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::Command;

    use super::*;

    /// Set in the environment of a process that is to panic.
    const PANICS: &str = "KOZUKA_TEST_PANICS";

    #[test]
    fn a_panic_is_told_as_a_text_and_nowhere_else() {
        if env::var_os(PANICS).is_some() {
            report_panics(Arc::new(Output::new(io::stdout())));
            panic!("two\nlines");
        }
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "usi::session::tests::a_panic_is_told_as_a_text_and_nowhere_else"]);
        let output = command.env(PANICS, "1").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let told = |line: &str| line.contains("info string internal error at src") && line.ends_with(": two lines");
        assert!(text.lines().any(told), "{text}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    }
}
