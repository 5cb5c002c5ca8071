//! Perft: the number of move sequences of a given length, the classic test of a move generator.

use super::{ListSink, count_legal, generate};
use crate::position::{Board, Position, Threats};
use crate::types::{Move, MoveList};
use crate::variant::Variant;

/// Number of legal move sequences of `depth` plies. The last ply is counted, not made.
///
/// ```
/// use kozuka::movegen::perft::perft;
/// use kozuka::position::{Position, Rules};
/// use kozuka::variant::{Minishogi, Shogi};
///
/// assert_eq!(perft(&Position::<Minishogi>::new(Rules::default()), 4), 35_401);
/// assert_eq!(perft(&Position::<Shogi>::new(Rules::default()), 3), 25_470);
/// ```
pub fn perft<V: Variant>(position: &Position<V>, depth: u32) -> u64 {
    count(position.board(), position.threats(), depth)
}

/// [`perft`] by first move, in generation order.
pub fn divide<V: Variant>(position: &Position<V>, depth: u32) -> Vec<(Move, u64)> {
    let mut moves = MoveList::new();
    generate(position.board(), position.threats(), &mut ListSink(&mut moves));
    let below = depth.saturating_sub(1);
    moves
        .into_iter()
        .map(|mv| {
            let board = after(position.board(), mv);
            (mv, count(&board, &Threats::of(&board), below))
        })
        .collect()
}

#[inline(always)]
fn after<V: Variant>(board: &Board<V>, mv: Move) -> Board<V> {
    let mut next = *board;
    next.apply(mv);
    debug_assert_eq!(next.key(), next.computed_key(), "key after {}", mv.to_usi::<V>());
    next
}

fn count<V: Variant>(board: &Board<V>, threats: &Threats<V>, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => count_legal(board, threats) as u64,
        _ => {
            let mut moves = MoveList::new();
            generate(board, threats, &mut ListSink(&mut moves));
            moves
                .into_iter()
                .map(|mv| {
                    let next = after(board, mv);
                    count(&next, &Threats::of(&next), depth - 1)
                })
                .sum()
        }
    }
}
