//! Positions: the board with its history, how moves are made and taken back, and what the history says about the game.
//!
//! ```
//! use kozuka::position::{Position, Rules, Sennichite};
//! use kozuka::types::Move;
//! use kozuka::variant::Minishogi;
//!
//! let rules = Rules { sennichite: Sennichite::SenteLoses, max_moves: 0 };
//! let mut position = Position::<Minishogi>::new(rules);
//! for usi in ["4e4d", "2a2b", "4d4e", "2b2a"].repeat(3) {
//!     assert_eq!(position.repetition(), None);
//!     position.do_move(Move::from_usi::<Minishogi>(usi).unwrap());
//! }
//! assert_eq!(position.occurrences(), 4);
//! assert_eq!(position.repetition().unwrap().to_string(), "gote_wins repetition");
//!
//! position.undo_move();
//! assert_eq!(position.sfen(), "rbs1k/3gp/5/P4/KGSBR w - 12");
//! ```

mod board;
mod repetition;
mod rules;
mod sfen;
mod threats;
mod zobrist;

pub use board::Board;
pub use repetition::{Judgement, judge_cycle};
pub use rules::{Outcome, Reason, Rules, Sennichite, UnknownSennichite};
pub use sfen::SfenError;
pub use threats::Threats;

use crate::types::{Bitboard, Color, Hand, Move, Piece, PieceType, Square};
use crate::variant::{RepetitionRule, Variant};

/// What is remembered of each position of the game, the current one included.
#[derive(Clone, Copy, Debug)]
struct Visited {
    key: u64,
    /// The side to move is in check: the move that led here gave check.
    in_check: bool,
    /// Number of moves made since the start or since the last null move.
    real_moves: u32,
}

/// Number of slots in which past positions are counted by key.
const SEEN_SLOTS: usize = 1 << 10;

/// A position with the history that led to it.
#[derive(Clone, Debug)]
pub struct Position<V: Variant> {
    board: Board<V>,
    threats: Threats<V>,
    rules: Rules,
    /// Boards to go back to, one a move made.
    undo: Vec<(Board<V>, Threats<V>)>,
    /// One a position: `undo.len() + 1` of them.
    visited: Vec<Visited>,
    /// How many visited positions fall into each slot by key, so that most searches for a repetition end at once.
    seen: Box<[u32; SEEN_SLOTS]>,
    /// The move number that SFEN shows for the first position.
    first_move_number: u32,
}

impl<V: Variant> Position<V> {
    /// The usual start position.
    ///
    /// # Panics
    /// If the variant's own start position is wrong, which its tests exclude.
    pub fn new(rules: Rules) -> Self {
        Self::from_sfen(V::START_SFEN, rules).expect("the start position is valid")
    }

    fn from_board(board: Board<V>, rules: Rules, first_move_number: u32) -> Self {
        let threats = Threats::of(&board);
        let mut position = Self {
            board,
            threats,
            rules,
            undo: Vec::new(),
            visited: Vec::new(),
            seen: Box::new([0; SEEN_SLOTS]),
            first_move_number,
        };
        position.visit(0);
        position
    }

    /// The board with hands and side to move.
    #[inline(always)]
    pub fn board(&self) -> &Board<V> {
        &self.board
    }

    /// Checkers and pinned pieces of the side to move.
    #[inline(always)]
    pub fn threats(&self) -> &Threats<V> {
        &self.threats
    }

    /// The pieces that give check to the side to move.
    #[inline(always)]
    pub fn checkers(&self) -> Bitboard<V> {
        self.threats.checkers
    }

    /// Whether the side to move is in check.
    #[inline(always)]
    pub fn in_check(&self) -> bool {
        self.threats.checkers.has_any()
    }

    /// The side to move.
    #[inline(always)]
    pub fn side_to_move(&self) -> Color {
        self.board.side_to_move()
    }

    /// What that side holds in hand.
    #[inline(always)]
    pub fn hand(&self, color: Color) -> Hand {
        self.board.hand(color)
    }

    /// The piece on that square.
    #[inline(always)]
    pub fn piece_on(&self, square: Square) -> Option<Piece> {
        self.board.piece_on(square)
    }

    /// The Zobrist key of board, hands and side to move.
    #[inline(always)]
    pub fn key(&self) -> u64 {
        self.board.key()
    }

    /// Number of moves made since the given position.
    #[inline(always)]
    pub fn ply(&self) -> usize {
        self.undo.len()
    }

    /// The move number that SFEN shows.
    pub fn move_number(&self) -> u32 {
        self.first_move_number.saturating_add(self.undo.len() as u32)
    }

    /// The rules of this game.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Judges the game by other rules from now on.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Makes a legal move, one that [`is_legal`](crate::movegen::is_legal) says yes to: nothing is asked here. Debug builds check that the key is still what the board says.
    #[inline]
    pub fn do_move(&mut self, mv: Move) {
        self.undo.push((self.board, self.threats));
        self.board.apply(mv);
        self.threats = Threats::of(&self.board);
        debug_assert_eq!(self.board.key(), self.board.computed_key(), "key after {}", mv.to_usi::<V>());
        let real_moves = self.visited[self.visited.len() - 1].real_moves + 1;
        self.visit(real_moves);
    }

    /// Lets the other side move. Not to be done in check.
    pub fn do_null_move(&mut self) {
        debug_assert!(!self.in_check());
        self.undo.push((self.board, self.threats));
        self.board.pass();
        self.threats = Threats::of(&self.board);
        self.visit(0);
    }

    /// Takes back the last move or null move; does nothing in the position that was given.
    #[inline]
    pub fn undo_move(&mut self) {
        let Some((board, threats)) = self.undo.pop() else { return };
        self.seen[Self::slot(self.board.key())] -= 1;
        self.visited.pop();
        self.board = board;
        self.threats = threats;
    }

    #[inline]
    fn visit(&mut self, real_moves: u32) {
        let key = self.board.key();
        self.visited.push(Visited { key, in_check: self.in_check(), real_moves });
        self.seen[Self::slot(key)] += 1;
    }

    #[inline(always)]
    fn slot(key: u64) -> usize {
        key as usize % SEEN_SLOTS
    }

    /// All squares with a piece of that side and type.
    #[inline(always)]
    pub fn pieces(&self, color: Color, kind: PieceType) -> Bitboard<V> {
        self.board.pieces(color, kind)
    }

    /// How repetitions are judged in this game under its rules.
    pub fn judgement(&self) -> Judgement {
        match V::REPETITION {
            RepetitionRule::DrawExceptPerpetual => Judgement::DrawExceptPerpetual,
            RepetitionRule::Setting => match self.rules.sennichite {
                Sennichite::SenteLoses => Judgement::SenteLoses,
                Sennichite::Draw => Judgement::Draw,
                Sennichite::AttackerDeviates => Judgement::AttackerDeviates,
            },
        }
    }
}
