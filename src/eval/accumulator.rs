//! What the features of a position add up to, kept up to date from one position to the next.
//!
//! Sums are found by comparing boards: whatever earlier board the sums are known for, its differences from the present
//! one say which rows to add and to take away. So nothing has to be told when moves are made or taken back, null moves
//! or a new game included, and the board knows nothing of networks. Comparing two small boards costs less than one row.
//!
//! Known boards are those last evaluated at the same and the previous ply, and one for each square of each king (the
//! refresh cache that chess programs call a "Finny table"), to which the sums return when a king moves.

use arrayvec::ArrayVec;
use bytemuck::Zeroable;

use super::features::{Features, Numbering, View};
use super::network::{Network, Row};
use super::simd::{self, Kernel, Level};
use crate::position::{Board, Position};
use crate::types::{Color, PieceType, Score};
use crate::variant::Variant;

/// Plies that are remembered apart; positions so many plies apart share a place.
const PLIES: usize = 256;
/// Pieces on the board and in hand that can differ between two boards.
const MAX_CHANGES: usize = 128;
/// Squares by which a board may differ from its neighbor and still be nearer than any other known one is likely to be:
/// the most that one move changes.
const ONE_MOVE: usize = 2;

/// A position that was evaluated, with the sums of both sides.
#[derive(Clone, Debug)]
struct Known<V: Variant> {
    board: Option<Board<V>>,
    sums: [Row; 2],
}

/// The sums of one side, for a king on one square.
#[derive(Clone, Debug)]
struct Cached<V: Variant> {
    board: Option<Board<V>>,
    sums: Row,
}

/// The sums of the positions around the one that is searched.
#[derive(Clone, Debug)]
pub struct Accumulators<V: Variant> {
    level: Level,
    numbering: Numbering<V>,
    plies: Vec<Known<V>>,
    /// By side and king square.
    cache: Vec<Cached<V>>,
    changes: Changes,
}

/// What differs between two boards as rows of one side.
#[derive(Clone, Debug, Default)]
struct Changes {
    added: ArrayVec<u32, MAX_CHANGES>,
    removed: ArrayVec<u32, MAX_CHANGES>,
}

/// Number of squares on which two boards differ.
#[inline(always)]
fn distance<V: Variant>(from: &Board<V>, to: &Board<V>) -> usize {
    from.differing_squares(to).count()
}

impl Changes {
    /// Becomes what leads from one board to the other for the side whose view it is.
    #[inline(always)]
    fn find<V: Variant>(&mut self, numbering: &Numbering<V>, view: View<V>, from: &Board<V>, to: &Board<V>) {
        self.added.clear();
        self.removed.clear();
        let rows = numbering.of(view);
        for square in from.differing_squares(to) {
            if let Some(piece) = from.piece_on(square) {
                self.removed.push(rows.piece_row(piece, square));
            }
            if let Some(piece) = to.piece_on(square) {
                self.added.push(rows.piece_row(piece, square));
            }
        }
        for owner in Color::ALL {
            let (before, now) = (from.hand(owner), to.hand(owner));
            if before == now {
                continue;
            }
            for &(kind, _) in V::PIECES.iter().filter(|(kind, _)| *kind != PieceType::King) {
                let (before, now) = (before.count(kind), now.count(kind));
                (before + 1..=now).for_each(|count| self.added.push(view.hand_row(owner, kind, count) as u32));
                (now + 1..=before).for_each(|count| self.removed.push(view.hand_row(owner, kind, count) as u32));
            }
        }
    }
}

/// Sums from nothing, without any memory or table: the reference for all others.
pub fn refresh<V: Variant>(network: &Network<V>, board: &Board<V>, color: Color) -> Row {
    let view = View::<V>::of(color, board.king(color));
    let mut sums = network.weights().biases;
    let mut add = |row: usize| {
        for (sum, &weight) in sums.0.iter_mut().zip(&network.weights().features[row].0) {
            *sum = sum.wrapping_add(weight);
        }
    };
    for square in board.occupied() {
        if let Some(row) = board.piece_on(square).and_then(|piece| view.piece_row(piece, square)) {
            add(row);
        }
    }
    for owner in Color::ALL {
        for &(kind, _) in V::PIECES.iter().filter(|(kind, _)| *kind != PieceType::King) {
            (1..=board.hand(owner).count(kind)).for_each(|count| add(view.hand_row(owner, kind, count)));
        }
    }
    sums
}

impl<V: Variant> Accumulators<V> {
    /// Knowing no position, computing at that level.
    pub fn new(level: Level) -> Self {
        Self {
            level,
            numbering: Numbering::new(),
            plies: vec![Known { board: None, sums: [Row::zeroed(); 2] }; PLIES],
            cache: vec![Cached { board: None, sums: Row::zeroed() }; 2 * V::SQUARES],
            changes: Changes::default(),
        }
    }

    /// The network's evaluation of the position, in centipawns for the side to move.
    #[inline]
    pub fn evaluate(&mut self, network: &Network<V>, position: &Position<V>) -> Score {
        self.level.run(Evaluation { accumulators: self, network, board: position.board(), ply: position.ply() })
    }

    /// The sums of both sides at the ply last evaluated there.
    #[cfg(test)]
    pub(super) fn sums(&self, ply: usize) -> [&Row; 2] {
        let [black, white] = &self.plies[ply % PLIES].sums;
        [black, white]
    }

    /// Makes the sums at `ply` those of the board.
    #[inline(always)]
    fn bring_up_to_date(&mut self, network: &Network<V>, board: &Board<V>, ply: usize) {
        let here = ply % PLIES;
        let before = (ply + PLIES - 1) % PLIES;
        let distance_to = |known: &Option<Board<V>>| known.as_ref().map_or(usize::MAX, |known| distance(known, board));
        let mut nearest = before;
        let mut nearest_distance = distance_to(&self.plies[before].board);
        if nearest_distance > ONE_MOVE {
            let from_here = distance_to(&self.plies[here].board);
            if from_here <= nearest_distance {
                (nearest, nearest_distance) = (here, from_here);
            }
        }

        let weights = &network.weights().features;
        for color in Color::ALL {
            let king = board.king(color);
            let view = View::of(color, king);
            let side = color.index();
            let known = self.plies[nearest].board.as_ref().filter(|known| known.king(color) == king);
            let cached = &mut self.cache[side * V::SQUARES + king.index()];
            if let Some(known) = known
                && (nearest_distance <= ONE_MOVE || nearest_distance <= distance_to(&cached.board))
            {
                self.changes.find(&self.numbering, view, known, board);
                let Changes { added, removed } = &self.changes;
                match self.plies.get_disjoint_mut([here, nearest]) {
                    Ok([to, from]) => simd::update(&mut to.sums[side], Some(&from.sums[side]), weights, added, removed),
                    Err(_) => simd::update(&mut self.plies[here].sums[side], None, weights, added, removed),
                }
                continue;
            }
            if let Some(cached_board) = &cached.board {
                self.changes.find(&self.numbering, view, cached_board, board);
                simd::update(&mut cached.sums, None, weights, &self.changes.added, &self.changes.removed);
            } else {
                cached.sums = refresh(network, board, color);
            }
            cached.board = Some(*board);
            self.plies[here].sums[side] = cached.sums;
        }
        self.plies[here].board = Some(*board);
    }
}

struct Evaluation<'a, V: Variant> {
    accumulators: &'a mut Accumulators<V>,
    network: &'a Network<V>,
    board: &'a Board<V>,
    ply: usize,
}

impl<V: Variant> Kernel for Evaluation<'_, V> {
    type Output = Score;

    #[inline(always)]
    fn run(self) -> Score {
        let Self { accumulators, network, board, ply } = self;
        accumulators.bring_up_to_date(network, board, ply);
        let us = board.side_to_move();
        let sums = &accumulators.plies[ply % PLIES].sums;
        let bucket = Features::<V>::output_bucket(Color::ALL.map(|color| board.hand(color)));
        let weights = &network.weights().outputs[bucket];
        let total = simd::weighted_squares(&sums[us.index()], &sums[(!us).index()], weights);
        network.centipawns(total, bucket)
    }
}
