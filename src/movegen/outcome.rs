//! The end of the game, as far as the position shows it.

use super::has_legal_move;
use crate::position::{Outcome, Position, Reason};
use crate::variant::Variant;

/// How the game has ended, or `None` while it goes on. No legal move ranks before repetition and the ply limit.
pub fn outcome<V: Variant>(position: &Position<V>) -> Option<Outcome> {
    if !has_legal_move(position) {
        let reason = if position.in_check() { Reason::Checkmate } else { Reason::Stalemate };
        return Some(Outcome::win(!position.side_to_move(), reason));
    }
    position.repetition().or_else(|| position.ply_limit())
}
