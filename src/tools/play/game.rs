//! The game that is played, with its moves, so that it can be taken back, saved and loaded.

use crate::engine::{AnyPosition, GameId};
use crate::position::{Reason, Rules};
use crate::tools::openings::{Opening, read_game};
use crate::types::Color;

/// How a game ended without the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// That side gave up.
    Resigned(Color),
    /// That side declared victory, rightly.
    Declared(Color),
}

/// A game in progress, or one that is over.
#[derive(Clone, Debug)]
pub struct Game {
    id: GameId,
    rules: Rules,
    start: String,
    moves: Vec<String>,
    position: AnyPosition,
    end: Option<End>,
}

impl Game {
    /// A game from its usual start.
    pub fn new(id: GameId, rules: Rules) -> Self {
        let position = AnyPosition::new(id, rules);
        Self { id, rules, start: position.sfen(), moves: Vec::new(), position, end: None }
    }

    /// A game from a line `[position] [sfen] SFEN [moves …]` or `startpos [moves …]`. If it is no position of that game
    /// but one of another, it is a game of that.
    ///
    /// # Errors
    /// If it is a position of none, or a move is not legal, in words.
    pub fn read(id: GameId, rules: Rules, text: &str) -> Result<Self, String> {
        let read = |id| read_game(id, rules, text).map(|read| (id, read));
        let found = read(id).or_else(|error| {
            let mut others = GameId::ALL.iter().copied().filter(|&other| other != id);
            others.find_map(|other| read(other).ok()).ok_or(error)
        });
        let (id, (Opening { sfen, moves }, position)) = found?;
        Ok(Self { id, rules, start: sfen, moves, position, end: None })
    }

    /// Which game it is.
    pub fn id(&self) -> GameId {
        self.id
    }

    /// Its rules.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Where it began, as SFEN.
    pub fn start(&self) -> &str {
        &self.start
    }

    /// The moves so far.
    pub fn moves(&self) -> &[String] {
        &self.moves
    }

    /// The position.
    pub fn position(&self) -> &AnyPosition {
        &self.position
    }

    /// Whether nobody can move any more.
    pub fn is_over(&self) -> bool {
        self.end.is_some() || self.position.outcome().is_some()
    }

    /// Plays a move.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn play(&mut self, mv: &str) -> Result<(), String> {
        if self.is_over() {
            return Err("the game is over; 'undo', 'new', 'load' or 'quit'".to_owned());
        }
        if self.position.play(mv).is_ok() {
            self.moves.push(mv.to_owned());
            return Ok(());
        }
        let legal = self.position.legal_moves();
        let is_legal = |mv: &str| legal.iter().any(|other| other == mv);
        let promoted = format!("{mv}+");
        Err(match mv.strip_suffix('+') {
            Some(plain) if is_legal(plain) => format!("{plain} does not promote"),
            None if is_legal(&promoted) => format!("{mv} must promote: {promoted}"),
            _ if self.position.in_check() => format!("{mv} is not legal, you are in check; 'moves' lists what is"),
            _ => format!("{mv} is not legal; 'moves' lists what is"),
        })
    }

    /// Takes the last move back, or the resignation; `false` if there is none.
    pub fn undo(&mut self) -> bool {
        if self.end.take().is_some() {
            return true;
        }
        if self.moves.pop().is_none() {
            return false;
        }
        self.position.undo();
        true
    }

    /// Ends the game.
    pub fn end(&mut self, end: End) {
        self.end = Some(end);
    }

    /// How it ended, in words.
    pub fn result(&self) -> Option<String> {
        let wins = |side: Color| format!("{} wins", side.name());
        if let Some(end) = self.end {
            return Some(match end {
                End::Resigned(side) => format!("{} resigns: {}.", side.name(), wins(!side)),
                End::Declared(side) => format!("Declaration by entering king: {}.", wins(side)),
            });
        }
        let outcome = self.position.outcome()?;
        let how = match outcome.reason {
            Reason::Checkmate => "Checkmate",
            Reason::Stalemate => "No legal move",
            Reason::Repetition => "The position occurred for the fourth time",
            Reason::PerpetualCheck => "Perpetual check",
            Reason::DoublePerpetualCheck => "Perpetual check by both sides",
            Reason::MaxPlies => "The limit on moves is reached",
        };
        Some(format!("{how}: {}.", outcome.winner.map_or_else(|| "a draw".to_owned(), wins)))
    }

    /// The game as a line that [`Game::read`] understands.
    pub fn line(&self) -> String {
        let moves = if self.moves.is_empty() { "" } else { " moves " };
        format!("sfen {}{moves}{}", self.start, self.moves.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(text: &str) -> Game {
        Game::read(GameId::Minishogi, Rules::default(), text).expect("a game")
    }

    #[test]
    fn a_game_is_read_as_it_was_written() {
        for text in [
            "startpos",
            "position startpos moves 4e4d 2a2b",
            "sfen 4k/5/3G1/5/K4 b G 1 moves G*1b",
            "4k/5/5/5/K4 w - 7",
        ] {
            let game = game(text);
            let again = self::game(&game.line());
            assert_eq!((again.line(), again.position().sfen()), (game.line(), game.position().sfen()), "{text}");
        }
        for text in ["", "sfen", "startpos moves 1a1a", "startpos 4e4d", "5/5/5/5/5 b - 1"] {
            assert!(Game::read(GameId::Minishogi, Rules::default(), text).is_err(), "{text}");
        }
    }

    #[test]
    fn another_board_is_recognised() {
        let game = game("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 moves 7g7f");
        assert_eq!(game.id(), GameId::Shogi);
    }

    #[test]
    fn illegal_moves_are_explained() {
        let mut game = game("4k/P4/5/5/K4 b - 1");
        assert_eq!(game.play("5b5a").expect_err("no move"), "5b5a must promote: 5b5a+");
        assert_eq!(game.play("5e5d+").expect_err("no move"), "5e5d does not promote");
        assert!(game.play("1a1b").is_err() && game.moves().is_empty());
    }

    #[test]
    fn ends_are_told_and_taken_back() {
        let mut game = game("4k/5/3G1/5/K4 b G 1 moves G*1b");
        assert_eq!(game.result().as_deref(), Some("Checkmate: sente wins."));
        assert!(game.play("1a2b").is_err());
        assert!(game.undo() && game.result().is_none() && !game.undo());
        game.end(End::Resigned(Color::Black));
        assert_eq!(game.result().as_deref(), Some("sente resigns: gote wins."));
        assert!(game.undo() && !game.is_over());
    }
}
