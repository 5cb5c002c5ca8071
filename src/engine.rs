//! An engine for each game behind one type, and nothing of a protocol.
//!
//! [`Engine`] is generic over the game; [`AnyPosition`] and [`AnyEngine`] choose the game at run time. The list of games
//! stands in one place, the call of `variants!` below.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use thiserror::Error;

use crate::eval::network::{Network, NetworkError};
use crate::eval::{self, file};
use crate::mate;
use crate::movegen::{self, can_declare_win, is_legal, legal_moves};
use crate::position::{Outcome, Position, Rules, SfenError};
use crate::search::{Answer, Clock, Control, Limits, Report, STACK_BYTES, SearchOptions, Searcher, Table};
use crate::types::{Color, Move, Piece, PieceType, Square};
use crate::variant::{Minishogi, Shogi, Variant};

mod solving;

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

/// A word that is no legal move.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("'{0}' is not a legal move")]
pub struct MoveError(pub String);

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

/// A word that names no game.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("unknown game '{0}'")]
pub struct UnknownGame(pub String);

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

/// The board and the hands as text.
fn diagram<V: Variant>(position: &Position<V>) -> String {
    let mut text = String::new();
    for file in (1..=V::FILES).rev() {
        text.push_str(&format!("{file:>3}"));
    }
    for rank in 0..V::RANKS {
        text.push('\n');
        for file in (0..V::FILES).rev() {
            let piece = Square::at::<V>(file, rank).and_then(|square| position.piece_on(square));
            let piece = piece.map_or_else(|| ".".to_owned(), |piece| piece.to_string());
            text.push_str(&format!("{piece:>3}"));
        }
        text.push_str(&format!("  {}", char::from(b'a' + rank as u8)));
    }
    for color in Color::ALL {
        text.push_str(&format!("\n{} in hand:", color.name()));
        for kind in PieceType::HAND.into_iter().rev() {
            match position.hand(color).count(kind) {
                0 => {}
                count => text.push_str(&format!(" {}x{count}", Piece::new(color, kind))),
            }
        }
    }
    text
}

/// Makes the types that choose among games at run time, and two macros to go from a value to the game's type.
macro_rules! variants {
    ($($game:ident),+ $(,)?) => { variants! { @with ($) $($game),+ } };
    (@with ($d:tt) $($game:ident),+) => {
        /// A game by name.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum GameId {
            $(#[doc = concat!("The game of [`", stringify!($game), "`].")] $game,)+
        }

        /// A position of any game, for whoever needs the rules and no searcher.
        #[derive(Clone, Debug)]
        pub enum AnyPosition {
            $(#[doc = concat!("A position of [`", stringify!($game), "`].")] $game(Box<Position<$game>>),)+
        }

        /// An engine for any game.
        pub enum AnyEngine {
            $(#[doc = concat!("An engine for [`", stringify!($game), "`].")] $game(Box<Engine<$game>>),)+
        }

        $(impl From<Position<$game>> for AnyPosition {
            fn from(position: Position<$game>) -> Self {
                Self::$game(Box::new(position))
            }
        })+

        impl GameId {
            /// All games.
            pub const ALL: &'static [Self] = &[$(Self::$game),+];
        }

        /// `with_game!(id, V => expression)`: the expression with `V` standing for the game's type.
        macro_rules! with_game {
            ($d id:expr, $d variant:ident => $d body:expr) => {
                match $d id {
                    $($crate::engine::GameId::$game => {
                        type $d variant = $crate::variant::$game;
                        $d body
                    })+
                }
            };
        }

        /// `build!(AnyType: id, V => expression)`: the expression, with `V` standing for the game's type, as that variant
        /// of `AnyType`.
        macro_rules! build {
            ($d any:ident: $d id:expr, $d variant:ident => $d body:expr) => {
                match $d id {
                    $(GameId::$game => {
                        type $d variant = $game;
                        $d any::$game($d body)
                    })+
                }
            };
        }

        /// `dispatch!(AnyType: value, inner => expression)`: the expression for whichever game the value is of.
        macro_rules! dispatch {
            ($d any:ident: $d value:expr, $d inner:ident => $d body:expr) => {
                match $d value {
                    $($d any::$game($d inner) => $d body,)+
                }
            };
        }
    };
}

variants! { Minishogi, Shogi }

pub(crate) use with_game;

impl GameId {
    /// The name in USI.
    pub fn name(self) -> &'static str {
        with_game!(self, V => V::NAME)
    }

    /// Other names of the game.
    pub fn aliases(self) -> &'static [&'static str] {
        with_game!(self, V => V::ALIASES)
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for GameId {
    type Err = UnknownGame;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_name = |name: &str| name.eq_ignore_ascii_case(text);
        Self::ALL
            .iter()
            .copied()
            .find(|game| is_name(game.name()) || game.aliases().iter().any(|alias| is_name(alias)))
            .ok_or_else(|| UnknownGame(text.to_owned()))
    }
}

impl AnyPosition {
    /// The start position of that game.
    pub fn new(game: GameId, rules: Rules) -> Self {
        build!(AnyPosition: game, V => Box::new(Position::<V>::new(rules)))
    }

    /// Reads an SFEN of that game.
    ///
    /// # Errors
    /// If it is not a playable position.
    pub fn from_sfen(game: GameId, sfen: &str, rules: Rules) -> Result<Self, SfenError> {
        Ok(build!(AnyPosition: game, V => Box::new(Position::<V>::from_sfen(sfen, rules)?)))
    }

    /// The position as SFEN.
    pub fn sfen(&self) -> String {
        dispatch!(AnyPosition: self, position => position.sfen())
    }

    /// The side to move.
    pub fn side_to_move(&self) -> Color {
        dispatch!(AnyPosition: self, position => position.side_to_move())
    }

    /// Number of moves played since the given position.
    pub fn ply(&self) -> usize {
        dispatch!(AnyPosition: self, position => position.ply())
    }

    /// The Zobrist key.
    pub fn key(&self) -> u64 {
        dispatch!(AnyPosition: self, position => position.key())
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        dispatch!(AnyPosition: self, position => position.in_check())
    }

    /// The squares of the pieces that give check.
    pub fn checkers(&self) -> Vec<String> {
        fn squares<V: Variant>(position: &Position<V>) -> Vec<String> {
            position.checkers().into_iter().map(|square| square.to_usi::<V>()).collect()
        }
        dispatch!(AnyPosition: self, position => squares(position))
    }

    /// All legal moves in USI notation.
    pub fn legal_moves(&self) -> Vec<String> {
        fn moves<V: Variant>(position: &Position<V>) -> Vec<String> {
            legal_moves(position).into_iter().map(|mv| mv.to_usi::<V>()).collect()
        }
        dispatch!(AnyPosition: self, position => moves(position))
    }

    /// Plays a move given in USI notation. Moves may be played beyond a repetition or a limit on plies.
    ///
    /// # Errors
    /// If it is not legal.
    pub fn play(&mut self, token: &str) -> Result<(), MoveError> {
        dispatch!(AnyPosition: self, position => {
            let mv = parse_legal(position, token).ok_or_else(|| MoveError(token.to_owned()))?;
            position.do_move(mv);
        });
        Ok(())
    }

    /// Takes back the last move; does nothing in the position that was given.
    pub fn undo(&mut self) {
        dispatch!(AnyPosition: self, position => position.undo_move());
    }

    /// How the game has ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        dispatch!(AnyPosition: self, position => movegen::outcome(position))
    }

    /// Whether the side to move may declare victory.
    pub fn can_declare_win(&self) -> bool {
        dispatch!(AnyPosition: self, position => can_declare_win(position))
    }

    /// The board and the hands for a reader.
    pub fn diagram(&self) -> String {
        dispatch!(AnyPosition: self, position => diagram(position))
    }
}

impl AnyEngine {
    /// An engine for that game at its start position.
    pub fn new(game: GameId, rules: Rules) -> Self {
        build!(AnyEngine: game, V => Box::new(Engine::<V>::new(rules)))
    }

    /// See [`Engine::position`].
    pub fn position(&self) -> AnyPosition {
        dispatch!(AnyEngine: self, engine => engine.position().clone().into())
    }

    /// The side to move.
    pub fn side_to_move(&self) -> Color {
        dispatch!(AnyEngine: self, engine => engine.position().side_to_move())
    }

    /// See [`Engine::set_rules`].
    pub fn set_rules(&mut self, rules: Rules) {
        dispatch!(AnyEngine: self, engine => engine.set_rules(rules));
    }

    /// See [`Engine::set_position`].
    ///
    /// # Errors
    /// See [`PositionError`] for what stands afterwards.
    pub fn set_position(&mut self, sfen: Option<&str>, moves: &[String], rules: Rules) -> Result<(), PositionError> {
        dispatch!(AnyEngine: self, engine => engine.set_position(sfen, moves, rules))
    }

    /// See [`Engine::prepare`].
    pub fn prepare(&mut self, options: &SearchOptions) -> Vec<String> {
        dispatch!(AnyEngine: self, engine => engine.prepare(options))
    }

    /// See [`Engine::table`].
    pub fn table(&self) -> Option<&Table> {
        dispatch!(AnyEngine: self, engine => engine.table())
    }

    /// See [`Engine::use_network`].
    pub fn use_network(&mut self, name: Option<&str>, retry: bool) -> NetworkChange {
        dispatch!(AnyEngine: self, engine => engine.use_network(name, retry))
    }

    /// See [`Engine::new_game`].
    pub fn new_game(&mut self) {
        dispatch!(AnyEngine: self, engine => engine.new_game());
    }

    /// See [`Engine::go`].
    pub fn go(
        &mut self,
        limits: Limits,
        searchmoves: &[String],
        options: &SearchOptions,
        sink: impl FnMut(Event) + Send + 'static,
    ) {
        dispatch!(AnyEngine: self, engine => engine.go(limits, searchmoves, options, sink));
    }

    /// See [`Engine::go_mate`].
    pub fn go_mate(&mut self, limits: mate::Limits, mib: usize, sink: impl FnMut(MateEvent) + Send + 'static) {
        dispatch!(AnyEngine: self, engine => engine.go_mate(limits, mib, sink));
    }

    /// See [`Engine::is_searching`].
    pub fn is_searching(&mut self) -> bool {
        dispatch!(AnyEngine: self, engine => engine.is_searching())
    }

    /// See [`Engine::stop`].
    pub fn stop(&self) {
        dispatch!(AnyEngine: self, engine => engine.stop());
    }

    /// See [`Engine::ponderhit`].
    pub fn ponderhit(&mut self, clock: Option<Clock>) {
        dispatch!(AnyEngine: self, engine => engine.ponderhit(clock));
    }

    /// See [`Engine::finish`].
    pub fn finish(&mut self) {
        dispatch!(AnyEngine: self, engine => engine.finish());
    }

    /// See [`Engine::close`].
    pub fn close(&mut self) {
        dispatch!(AnyEngine: self, engine => engine.close());
    }
}

#[cfg(test)]
mod tests;
