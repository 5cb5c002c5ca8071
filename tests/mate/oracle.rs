//! Two plain ways to find out whether mate can be forced by checks. Neither knows anything of proof numbers.

use std::collections::HashMap;

use kozuka::movegen::{legal_moves, outcome};
use kozuka::position::{Position, Reason};
use kozuka::types::Move;
use kozuka::variant::Variant;

/// The legal moves that give check, found by making them all.
pub fn checks<V: Variant>(position: &mut Position<V>) -> Vec<Move> {
    let mut moves = legal_moves(position).to_vec();
    moves.retain(|&mv| {
        position.do_move(mv);
        let check = position.in_check();
        position.undo_move();
        check
    });
    moves
}

/// Exhaustive search: whether the side to move mates within so many plies, and whether any line of checks goes on beyond
/// them.
pub struct Exhaustive {
    known: HashMap<(u64, u32), bool>,
    /// Some line was cut off by the limit.
    pub cut: bool,
}

impl Exhaustive {
    pub fn new() -> Self {
        Self { known: HashMap::new(), cut: false }
    }

    pub fn mates<V: Variant>(&mut self, position: &mut Position<V>, plies: u32) -> bool {
        if let Some(&known) = self.known.get(&(position.key(), plies)) {
            return known;
        }
        let mut mates = false;
        for mv in checks(position) {
            position.do_move(mv);
            mates = !self.escapes(position, plies - 1);
            position.undo_move();
            if mates {
                break;
            }
        }
        self.known.insert((position.key(), plies), mates);
        mates
    }

    fn escapes<V: Variant>(&mut self, position: &mut Position<V>, plies: u32) -> bool {
        match outcome(position) {
            Some(outcome) if outcome.reason == Reason::Checkmate => return false,
            Some(_) => return true,
            None => {}
        }
        if plies == 0 {
            self.cut = true;
            return true;
        }
        let mut escapes = false;
        for mv in legal_moves(position) {
            position.do_move(mv);
            // A game that is over is not over by mate here: the attacker has only just been allowed to move.
            escapes = matches!(outcome(position), Some(outcome) if outcome.reason != Reason::Checkmate)
                || !self.mates(position, plies - 1);
            position.undo_move();
            if escapes {
                break;
            }
        }
        escapes
    }
}

/// The whole graph of checks and answers, and the fewest plies to mate in it: the truth without any limit on plies, loops
/// and all. `None` if the graph has more positions than `limit`; otherwise `Some(None)` if there is no mate.
pub fn whole_graph<V: Variant>(root: &Position<V>, limit: usize) -> Option<Option<u32>> {
    struct Spot {
        attacks: bool,
        next: Vec<usize>,
        plies: Option<u32>,
    }
    let mut index = HashMap::from([(root.key(), 0)]);
    let mut positions = vec![root.clone()];
    let mut spots: Vec<Spot> = Vec::new();
    while spots.len() < positions.len() {
        let mut position = positions[spots.len()].clone();
        let attacks = position.side_to_move() == root.side_to_move();
        let moves = if attacks { checks(&mut position) } else { legal_moves(&position).to_vec() };
        let mut next = Vec::new();
        for mv in moves {
            position.do_move(mv);
            let number = *index.entry(position.key()).or_insert_with(|| {
                positions.push(position.clone());
                positions.len() - 1
            });
            next.push(number);
            position.undo_move();
        }
        if positions.len() > limit {
            return None;
        }
        spots.push(Spot { attacks, next, plies: None });
    }
    // Mates in no plies, in one, in two …
    for plies in 0.. {
        let mut changed = false;
        for number in 0..spots.len() {
            let spot = &spots[number];
            if spot.plies.is_some() || spot.attacks != (plies % 2 == 1) {
                continue;
            }
            let nearer = |&next: &usize| spots[next].plies.is_some_and(|other| other < plies);
            let mated = if spot.attacks { spot.next.iter().any(nearer) } else { spot.next.iter().all(nearer) };
            if mated {
                spots[number].plies = Some(plies);
                changed = true;
            }
        }
        if !changed && plies > 1 {
            break;
        }
    }
    Some(spots[0].plies)
}
