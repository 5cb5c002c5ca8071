//! The games by name, and the types that choose among them at run time. The list of games stands in one place, the call of
//! `variants!` below.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Engine, Event, MateEvent, NetworkChange, PositionError, parse_legal};
use crate::mate;
use crate::movegen::{self, can_declare_win, legal_moves};
use crate::position::{Outcome, Position, Rules, SfenError};
use crate::search::{Clock, Limits, SearchOptions, Table};
use crate::types::{Color, Piece, PieceType, Square};
use crate::variant::{Minishogi, Shogi, Variant};

/// A word that is no legal move.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("'{0}' is not a legal move")]
pub struct MoveError(pub String);

/// A word that names no game.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("unknown game '{0}'")]
pub struct UnknownGame(pub String);

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

pub(crate) use {dispatch, with_game};

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
