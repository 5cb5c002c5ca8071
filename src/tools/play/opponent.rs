//! The engine as a player and as an adviser.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::game::Game;
use crate::engine::{AnyEngine, Event, GameId, Reply};
use crate::search::{Level, Limits, SearchOptions};
use crate::types::Score;

/// Between looks whether the player has had enough.
const POLL: Duration = Duration::from_millis(30);

/// What the engine made of a position.
#[derive(Clone, Debug)]
pub struct Thought {
    /// Its move, or the end of the game.
    pub reply: Reply,
    /// Its score for the side to move.
    pub score: Score,
    /// The play that it expects.
    pub line: Vec<String>,
    /// What there is to say about threads and memory that could not be had.
    pub notices: Vec<String>,
}

/// Why there is no thought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoThought {
    /// The player wants to end.
    Interrupted,
    /// The search failed.
    Failed,
}

/// The engine, with what each move of its may cost.
pub struct Opponent {
    engine: AnyEngine,
    id: GameId,
    limits: Limits,
    options: SearchOptions,
}

impl Opponent {
    /// An engine that thinks so long about each move.
    pub fn new(game: &Game, limits: Limits, options: SearchOptions) -> Self {
        Self { engine: AnyEngine::new(game.id(), game.rules()), id: game.id(), limits, options }
    }

    /// Thinks about the position of the game. Blocks until it is done, or the flag is set.
    ///
    /// # Errors
    /// See [`NoThought`].
    pub fn think(&mut self, game: &Game, level: Level, interrupted: &AtomicBool) -> Result<Thought, NoThought> {
        if self.id != game.id() {
            self.id = game.id();
            self.engine = AnyEngine::new(game.id(), game.rules());
        }
        // The game has been played by these very rules, so the engine accepts it.
        if self.engine.set_position(Some(game.start()), game.moves(), game.rules()).is_err() {
            return Err(NoThought::Failed);
        }
        let options = SearchOptions { level, ..self.options };
        let (sender, events) = mpsc::channel();
        // Nobody listens any more only if the search is being ended.
        self.engine.go(self.limits.clone(), &[], &options, move |event| drop(sender.send(event)));
        let (mut score, mut line, mut notices) = (0, Vec::new(), Vec::new());
        loop {
            match events.recv_timeout(POLL) {
                Ok(Event::Notices(more)) => notices.extend(more),
                Ok(Event::Report(report, moves)) => {
                    if report.multipv == 1 {
                        (score, line) = (report.score, moves);
                    }
                }
                Ok(Event::Reply(reply)) => {
                    self.engine.finish();
                    return Ok(Thought { reply, score, line, notices });
                }
                Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => {
                    self.engine.finish();
                    return Err(NoThought::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(NoThought::Failed),
            }
        }
    }

    /// Forgets the last game.
    pub fn new_game(&mut self) {
        self.engine.new_game();
    }
}
