//! Legal moves, and what follows from there being none.
//!
//! ```
//! use kozuka::movegen::{is_legal, legal_moves, outcome};
//! use kozuka::position::{Position, Rules};
//! use kozuka::types::Move;
//! use kozuka::variant::Minishogi;
//!
//! let mut position = Position::<Minishogi>::from_sfen("3rk/5/3G1/5/K4 b GP 1", Rules::default())?;
//! assert!(legal_moves(&position).iter().any(|mv| mv.to_usi::<Minishogi>() == "G*1b"));
//!
//! // A pawn dropped there would be mate (uchifuzume); a gold may give it.
//! let pawn = Move::from_usi::<Minishogi>("P*1b").unwrap();
//! let gold = Move::from_usi::<Minishogi>("G*1b").unwrap();
//! assert!(!is_legal(&position, pawn) && is_legal(&position, gold));
//!
//! assert_eq!(outcome(&position), None);
//! position.do_move(gold);
//! assert_eq!(outcome(&position).unwrap().to_string(), "sente_wins checkmate");
//! # Ok::<(), kozuka::position::SfenError>(())
//! ```

mod checks;
mod declare;
mod generate;
mod legal;
mod outcome;
pub mod perft;

pub use checks::{CheckInfo, checking_moves};
pub use declare::can_declare_win;
pub use generate::{Sink, generate, promotion_zone};
pub use legal::{check_evasion_squares, is_legal};
pub use outcome::outcome;

use crate::position::{Board, Position, Threats};
use crate::types::{Bitboard, Move, MoveList, PieceType, Square};
use crate::variant::Variant;

/// All legal moves.
pub fn legal_moves<V: Variant>(position: &Position<V>) -> MoveList {
    let mut moves = MoveList::new();
    generate(position.board(), position.threats(), &mut ListSink(&mut moves));
    moves
}

/// Number of legal moves, without listing them.
#[inline]
pub fn count_legal<V: Variant>(board: &Board<V>, threats: &Threats<V>) -> usize {
    let mut sink = CountSink(0);
    generate(board, threats, &mut sink);
    sink.0
}

/// Whether the side to move has any legal move.
pub fn has_legal_move<V: Variant>(position: &Position<V>) -> bool {
    let mut sink = AnySink(false);
    generate(position.board(), position.threats(), &mut sink);
    sink.0
}

/// Writes each move into a list.
pub(crate) struct ListSink<'a>(pub &'a mut MoveList);

impl<V: Variant> Sink<V> for ListSink<'_> {
    #[inline(always)]
    fn board_moves(&mut self, from: Square, _: PieceType, plain: Bitboard<V>, promoting: Bitboard<V>) {
        for to in promoting {
            self.0.push(Move::board(from, to, true));
        }
        for to in plain {
            self.0.push(Move::board(from, to, false));
        }
    }

    #[inline(always)]
    fn drops(&mut self, kind: PieceType, targets: Bitboard<V>) {
        for to in targets {
            self.0.push(Move::drop(kind, to));
        }
    }
}

/// Counts moves.
struct CountSink(usize);

impl<V: Variant> Sink<V> for CountSink {
    #[inline(always)]
    fn board_moves(&mut self, _: Square, _: PieceType, plain: Bitboard<V>, promoting: Bitboard<V>) {
        self.0 += plain.count() + promoting.count();
    }

    #[inline(always)]
    fn drops(&mut self, _: PieceType, targets: Bitboard<V>) {
        self.0 += targets.count();
    }
}

/// Stops at the first move.
struct AnySink(bool);

impl<V: Variant> Sink<V> for AnySink {
    #[inline(always)]
    fn board_moves(&mut self, _: Square, _: PieceType, plain: Bitboard<V>, promoting: Bitboard<V>) {
        self.0 |= (plain | promoting).has_any();
    }

    #[inline(always)]
    fn drops(&mut self, _: PieceType, targets: Bitboard<V>) {
        self.0 |= targets.has_any();
    }

    #[inline(always)]
    fn done(&self) -> bool {
        self.0
    }
}
