//! Repetition (sennichite) and perpetual check.

use std::iter::once;

use super::{Outcome, Position, Reason, Rules};
use crate::types::{Color, Move};
use crate::variant::Variant;

/// How a repetition is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// Sente loses, unless one side gave perpetual check.
    SenteLoses,
    /// A draw.
    Draw,
    /// A side that alone gave check loses, otherwise as `SenteLoses`.
    AttackerDeviates,
    /// A draw, unless one side gave perpetual check.
    DrawExceptPerpetual,
}

/// Judges a cycle of moves between the first and the last occurrence of a position.
///
/// `checks` says of each move of the cycle whether it gave check; `first` made the first of them.
pub fn judge_cycle(judgement: Judgement, first: Color, checks: impl IntoIterator<Item = bool>) -> Outcome {
    if judgement == Judgement::Draw {
        return Outcome::draw(Reason::Repetition);
    }
    let mut always = [true; 2];
    let mut ever = [false; 2];
    let mut mover = first;
    for check in checks {
        always[mover.index()] &= check;
        ever[mover.index()] |= check;
        mover = !mover;
    }
    let perpetual = match always {
        _ if judgement == Judgement::AttackerDeviates && ever[0] != ever[1] => {
            Some(if ever[0] { Color::Black } else { Color::White })
        }
        [true, true] => return Outcome::draw(Reason::DoublePerpetualCheck),
        [true, false] => Some(Color::Black),
        [false, true] => Some(Color::White),
        [false, false] => None,
    };
    match perpetual {
        Some(checker) => Outcome::win(!checker, Reason::PerpetualCheck),
        None if judgement == Judgement::DrawExceptPerpetual => Outcome::draw(Reason::Repetition),
        None => Outcome::win(Color::White, Reason::Repetition),
    }
}

impl<V: Variant> Position<V> {
    /// How often the position has stood on the board, this time included.
    pub fn occurrences(&self) -> usize {
        self.earlier_occurrences().count() + 1
    }

    /// Indices of earlier equal positions, the latest first.
    fn earlier_occurrences(&self) -> impl Iterator<Item = usize> + '_ {
        let now = self.visited.len() - 1;
        let current = self.visited[now];
        let unique = self.seen[Self::slot(current.key)] < 2;
        let reach = if unique { 0 } else { current.real_moves as usize };
        // Two plies can bring no position back: a piece that left its square is back after four at the earliest.
        (4..=reach).step_by(2).map(move |back| now - back).filter(move |&index| self.visited[index].key == current.key)
    }

    /// The keys of the positions that have stood on the board at least so many times, the current one included.
    pub fn keys_seen(&self, times: usize) -> Vec<u64> {
        let now = self.visited.len() - 1;
        let reach = self.visited[now].real_moves as usize;
        let mut keys: Vec<u64> = self.visited[now - reach..].iter().map(|visited| visited.key).collect();
        keys.sort_unstable();
        keys.chunk_by(|a, b| a == b).filter(|equal| equal.len() >= times).map(|equal| equal[0]).collect()
    }

    /// The judgement of the cycle between two occurrences of the current position, given by index.
    fn judge_between(&self, first: usize, last: usize) -> Outcome {
        let checks = self.visited[first + 1..=last].iter().map(|visited| visited.in_check);
        judge_cycle(self.judgement(), self.side_to_move(), checks)
    }

    /// The end of the game by the fourth occurrence of a position.
    pub fn repetition(&self) -> Option<Outcome> {
        // A client may play on beyond the fourth occurrence; the cycle from the first to the fourth has decided.
        let later = once(self.visited.len() - 1).chain(self.earlier_occurrences());
        let (first, fourth) = self.earlier_occurrences().skip(2).zip(later).last()?;
        Some(self.judge_between(first, fourth))
    }

    /// The end of the game by the limit on plies.
    pub fn ply_limit(&self) -> Option<Outcome> {
        let Rules { max_moves, .. } = self.rules;
        (max_moves != 0 && self.ply() >= max_moves as usize).then_some(Outcome::draw(Reason::MaxPlies))
    }

    /// How a search judges a repetition: at once if the position stood before on the way from the root, which is at
    /// `root` plies; otherwise on the fourth occurrence, as the rules do.
    ///
    /// What can be brought about once can be brought about again, so the first return inside the tree stands for the
    /// fourth; a position of the game before the root may be visited again with better play in between.
    pub fn repetition_in_search(&self, root: usize) -> Option<Outcome> {
        let latest = self.earlier_occurrences().next()?;
        if latest > root { Some(self.judge_between(latest, self.visited.len() - 1)) } else { self.repetition() }
    }

    /// Steps back to positions that stood on the way from the root, which is at `root` plies: moves of the side to move
    /// from square to square that capture nothing, do not promote and would lead there, if they are legal. Whether the
    /// piece moves so at all is not looked at.
    ///
    /// (Chess programs find such moves by a table of keys, "Upcoming repetition", Marcel van Kervinck. Two boards this
    /// small are compared as fast.)
    #[inline]
    pub fn steps_back(&self, root: usize) -> impl Iterator<Item = Move> + '_ {
        let now = self.visited.len() - 1;
        let reach = (self.visited[now].real_moves as usize).min(now.saturating_sub(root + 1));
        (3..=reach).step_by(2).filter_map(move |back| {
            let (earlier, _) = &self.undo[now - back];
            if Color::ALL.iter().any(|&color| earlier.hand(color) != self.hand(color)) {
                return None;
            }
            let changed = earlier.differing_squares(self.board());
            if changed.count() != 2 {
                return None;
            }
            let from = (changed & self.board().of_color(self.side_to_move())).first()?;
            let to = (changed & !self.board().occupied()).first()?;
            (earlier.piece_on(to) == self.piece_on(from)).then(|| Move::board(from, to, false))
        })
    }
}
