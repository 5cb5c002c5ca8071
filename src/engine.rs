//! An engine for each game behind one type, and nothing of a protocol.
//!
//! [`Engine`] is generic over the game; [`AnyPosition`] and [`AnyEngine`] choose the game at run time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use thiserror::Error;

use crate::eval::network::{Network, NetworkError};
use crate::eval::{self, file};
use crate::mate;
use crate::movegen::{is_legal, legal_moves};
use crate::position::{Position, Rules, SfenError};
use crate::search::{Answer, Clock, Control, Limits, Report, STACK_BYTES, SearchOptions, Searcher, Table};
use crate::types::Move;
use crate::variant::Variant;

mod games;
mod solving;

pub use games::{AnyEngine, AnyPosition, GameId, MoveError, UnknownGame};
pub(crate) use games::{dispatch, with_game};
use solving::Solving;
pub use solving::{MateEvent, MateReply};

/// A position that was not set up, or not wholly.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PositionError {
    /// The SFEN is bad; the old position stands.
    #[error("bad position, keeping the old one: {0}")]
    Sfen(#[from] SfenError),
    /// A move is not legal; the position before it stands.
    #[error("illegal move '{token}' at ply {ply}, stopping before it")]
    IllegalMove {
        /// The move as it was given.
        token: String,
        /// Its number in the list, from 1.
        ply: usize,
    },
}

/// What came of a wish for another network.
#[derive(Debug)]
pub enum NetworkChange {
    /// The one that is in use is the one that is wished for, or there was no reason to try once more.
    None,
    /// The network in the program is in use again.
    Internal,
    /// This file's network is in use from now on.
    File(PathBuf),
    /// The file cannot be used; the network that was in use stays.
    Refused(NetworkError),
}

/// What a running search tells.
#[derive(Clone, Debug)]
pub enum Event {
    /// What there is to say about the search; comes before the answer.
    Notices(Vec<String>),
    /// A line that was searched, with its moves in USI notation.
    Report(Report, Vec<String>),
    /// The end of the search; comes once.
    Reply(Reply),
}

/// The answer of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// A move in USI notation, and the answer that is expected.
    Move {
        /// The move.
        best: String,
        /// The expected answer.
        ponder: Option<String>,
    },
    /// The game is given up.
    Resign,
    /// Victory is declared.
    Win,
}

fn parse_legal<V: Variant>(position: &Position<V>, token: &str) -> Option<Move> {
    Move::from_usi::<V>(token).filter(|&mv| is_legal(position, mv))
}

/// A search on its own thread.
struct Running<V: Variant> {
    /// Gives the searcher back, unless it was lost.
    thread: JoinHandle<Option<Searcher<V>>>,
    control: Arc<Control>,
    infinite: bool,
    ponder: bool,
    /// No limit will end it: after a ponder hit there is nothing left to think about.
    unlimited: bool,
    /// Whether it has replied. Its thread may go on for a moment, which nobody who reads the reply can know.
    replied: Arc<AtomicBool>,
}

/// A position and a searcher, which thinks on a thread of its own.
pub struct Engine<V: Variant> {
    position: Position<V>,
    idle: Option<Searcher<V>>,
    running: Option<Running<V>>,
    solving: Option<Solving>,
    /// What the searcher was last configured with.
    configured: Option<SearchOptions>,
    /// The name of the file whose network the searcher evaluates by; `None` for what is in the program.
    eval_file: Option<String>,
    /// The name of the file that was tried last and could not be used.
    refused: Option<String>,
}

impl<V: Variant> Engine<V> {
    /// An engine at the start position. Tables are allocated by [`Engine::prepare`].
    pub fn new(rules: Rules) -> Self {
        let position = Position::new(rules);
        Self { position, idle: None, running: None, solving: None, configured: None, eval_file: None, refused: None }
    }

    /// The position that the next search begins from.
    pub fn position(&self) -> &Position<V> {
        &self.position
    }

    /// Judges the game by other rules; a running search goes on by the old ones.
    pub fn set_rules(&mut self, rules: Rules) {
        self.position.set_rules(rules);
    }

    /// Sets up a position (the start position if there is no SFEN) and plays moves from it.
    ///
    /// # Errors
    /// See [`PositionError`] for what stands afterwards.
    pub fn set_position(&mut self, sfen: Option<&str>, moves: &[String], rules: Rules) -> Result<(), PositionError> {
        self.position = Position::from_sfen(sfen.unwrap_or(V::START_SFEN), rules)?;
        for (index, token) in moves.iter().enumerate() {
            let Some(mv) = parse_legal(&self.position, token) else {
                return Err(PositionError::IllegalMove { token: token.clone(), ply: index + 1 });
            };
            self.position.do_move(mv);
        }
        Ok(())
    }

    /// Gives the idle searcher these options and whatever memory and threads they ask for; says what it could not get.
    /// Costs nothing if nothing changed, and does nothing while a search runs.
    pub fn prepare(&mut self, options: &SearchOptions) -> Vec<String> {
        if self.is_searching() || self.idle.is_some() && self.configured.as_ref() == Some(options) {
            return Vec::new();
        }
        self.configured = Some(*options);
        self.idle.get_or_insert_with(Searcher::new).configure(options)
    }

    /// The idle searcher's transposition table; `None` before the first [`Engine::prepare`] and while a search runs.
    pub fn table(&self) -> Option<&Table> {
        self.idle.as_ref().map(Searcher::table)
    }

    /// Gives the idle searcher the network of the file with that name (see [`file::find`]), or the one in the program;
    /// it then forgets what it knows. Costs nothing if that is in use already. A file that was refused is tried anew
    /// only if `retry` says so. Does nothing while a search runs.
    pub fn use_network(&mut self, name: Option<&str>, retry: bool) -> NetworkChange {
        let known = name == self.eval_file.as_deref() || !retry && name.is_some() && name == self.refused.as_deref();
        if known || self.is_searching() {
            return NetworkChange::None;
        }
        let (network, change) = match name.map(file::find) {
            None => (eval::embedded(), NetworkChange::Internal),
            Some(path) => match Network::load(&path) {
                Ok(network) => (Some(network), NetworkChange::File(path)),
                Err(error) => {
                    self.refused = name.map(str::to_owned);
                    return NetworkChange::Refused(error);
                }
            },
        };
        self.idle.get_or_insert_with(Searcher::new).set_network(network);
        self.eval_file = name.map(str::to_owned);
        self.refused = None;
        change
    }

    /// Ends the search and forgets what belongs to the last game.
    pub fn new_game(&mut self) {
        self.finish();
        if let Some(searcher) = &mut self.idle {
            searcher.new_game();
        }
    }

    /// Ends the search that runs, then begins one whose events go to `sink`.
    pub fn go(
        &mut self,
        mut limits: Limits,
        searchmoves: &[String],
        options: &SearchOptions,
        mut sink: impl FnMut(Event) + Send + 'static,
    ) {
        self.finish();
        let mut notices = self.prepare(options);
        for token in searchmoves {
            match parse_legal(&self.position, token) {
                Some(mv) => limits.searchmoves.push(mv),
                None => notices.push(format!("ignoring '{token}' in searchmoves, not a legal move")),
            }
        }
        let unlimited =
            limits.depth.is_none() && limits.nodes.is_none() && limits.movetime.is_none() && limits.clock.is_none();
        // Without any limit only the client can end it.
        limits.infinite |= unlimited && !limits.ponder;
        if !notices.is_empty() {
            sink(Event::Notices(notices));
        }
        let control = Arc::new(Control::new());
        let (infinite, ponder) = (limits.infinite, limits.ponder);
        let replied = Arc::new(AtomicBool::new(false));
        let has_replied = Arc::clone(&replied);
        let sink = move |event| {
            has_replied.fetch_or(matches!(event, Event::Reply(_)), Ordering::Relaxed);
            sink(event);
        };
        let task = Task {
            searcher: self.idle.take().unwrap_or_default(),
            position: self.position.clone(),
            limits,
            control: Arc::clone(&control),
            sink,
        };
        // The task follows the thread when that has begun, so that it is not lost with a thread that cannot be had.
        let (sender, receiver) = mpsc::sync_channel::<Task<V, _>>(1);
        let builder = thread::Builder::new().name("search-0".to_owned()).stack_size(STACK_BYTES);
        let refused = match builder.spawn(move || receiver.recv().ok().and_then(Task::run)) {
            Ok(thread) => match sender.send(task) {
                Ok(()) => {
                    self.running = Some(Running { thread, control, infinite, ponder, unlimited, replied });
                    None
                }
                Err(mpsc::SendError(task)) => Some((task, "it has ended".to_owned())),
            },
            Err(error) => Some((task, error.to_string())),
        };
        if let Some((Task { searcher, position, mut sink, .. }, reason)) = refused {
            self.idle = Some(searcher);
            sink(Event::Notices(vec![format!("no thread for the search: {reason}")]));
            sink(Event::Reply(fallback(&position, None)));
        }
    }

    /// Ends the search that runs, then begins to look for a mate by checks, with a table of that many MiB; its events go to
    /// `sink`.
    pub fn go_mate(&mut self, limits: mate::Limits, mib: usize, sink: impl FnMut(MateEvent) + Send + 'static) {
        self.finish();
        self.solving = Solving::start(&self.position, limits, mib, sink);
    }

    /// Whether a search runs that has not yet replied.
    pub fn is_searching(&mut self) -> bool {
        let over = |running: &Running<V>| running.thread.is_finished() || running.replied.load(Ordering::Relaxed);
        if self.running.as_ref().is_some_and(over) || self.solving.as_ref().is_some_and(Solving::is_over) {
            self.wait();
        }
        self.running.is_some() || self.solving.is_some()
    }

    /// Tells a running search to answer now, without waiting for it.
    pub fn stop(&self) {
        if let Some(running) = &self.running {
            running.control.stop();
        }
        if let Some(solving) = &self.solving {
            solving.stop();
        }
    }

    /// The pondered move has been played; the clocks count from now on. Does nothing unless the search ponders.
    pub fn ponderhit(&mut self, clock: Option<Clock>) {
        let Some(running) = self.running.as_mut().filter(|running| running.ponder) else { return };
        running.ponder = false;
        running.control.ponderhit(clock);
        if !running.infinite && running.unlimited && clock.is_none() {
            running.control.stop();
        }
    }

    /// Waits for the search to end by itself.
    fn wait(&mut self) {
        if let Some(solving) = self.solving.take() {
            solving.wait();
        }
        let Some(running) = self.running.take() else { return };
        self.idle = running.thread.join().ok().flatten();
        if self.idle.is_none() {
            self.configured = None;
            self.eval_file = None;
        }
    }

    /// Ends the search; its answer has been given when this returns.
    pub fn finish(&mut self) {
        self.stop();
        self.wait();
    }

    /// No more commands will come: a search that would end by itself may do so, any other is ended now.
    pub fn close(&mut self) {
        if self.running.as_ref().is_some_and(|running| running.infinite || running.ponder)
            || self.solving.as_ref().is_some_and(|solving| solving.endless)
        {
            self.stop();
        }
        self.wait();
    }
}

/// What a search thread works on.
struct Task<V: Variant, S> {
    searcher: Searcher<V>,
    position: Position<V>,
    limits: Limits,
    control: Arc<Control>,
    sink: S,
}

impl<V: Variant, S: FnMut(Event)> Task<V, S> {
    /// Searches and replies. A searcher that panicked is not given back, but there is a reply all the same.
    fn run(self) -> Option<Searcher<V>> {
        let Self { mut searcher, position, limits, control, mut sink } = self;
        let mut best = None;
        let answer = catch_unwind(AssertUnwindSafe(|| {
            searcher.search(&position, &limits, &control, &mut |report: &Report| {
                if report.multipv == 1 {
                    best = report.pv.first().copied();
                }
                let line = report.pv.iter().map(|mv| mv.to_usi::<V>()).collect();
                sink(Event::Report(report.clone(), line));
            })
        }));
        match answer {
            Ok(Answer::Move { best, ponder }) => {
                let (best, ponder) = (best.to_usi::<V>(), ponder.map(|mv| mv.to_usi::<V>()));
                sink(Event::Reply(Reply::Move { best, ponder }));
            }
            Ok(Answer::Resign) => sink(Event::Reply(Reply::Resign)),
            Ok(Answer::Win) => sink(Event::Reply(Reply::Win)),
            Err(_) => {
                control.hold_back(&limits);
                sink(Event::Reply(fallback(&position, best)));
                return None;
            }
        }
        Some(searcher)
    }
}

/// The reply when the search has failed: what it last thought best, or any legal move.
fn fallback<V: Variant>(position: &Position<V>, best: Option<Move>) -> Reply {
    match best.filter(|&mv| is_legal(position, mv)).or_else(|| legal_moves(position).first().copied()) {
        Some(mv) => Reply::Move { best: mv.to_usi::<V>(), ponder: None },
        None => Reply::Resign,
    }
}

#[cfg(test)]
mod tests;
