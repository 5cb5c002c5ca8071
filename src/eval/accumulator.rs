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

use super::features::{Features, View};
use super::network::{Network, Row};
use super::simd::{self, Kernel, Level};
use crate::position::{Board, Position};
use crate::types::{Color, Piece, PieceType, Score, Square};
use crate::variant::Variant;

/// Plies that are remembered apart; positions so many plies apart share a place.
const PLIES: usize = 256;
/// More rows than this are applied in portions.
const MAX_CHANGES: usize = 128;

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
    plies: Vec<Known<V>>,
    /// By side and king square.
    cache: Vec<Cached<V>>,
}

/// A piece in hand by owner, type and count.
type Held = (Color, PieceType, usize);

/// What differs between two boards.
#[derive(Default)]
struct Changes {
    added: ArrayVec<(Piece, Square), MAX_CHANGES>,
    removed: ArrayVec<(Piece, Square), MAX_CHANGES>,
    held: ArrayVec<Held, MAX_CHANGES>,
    released: ArrayVec<Held, MAX_CHANGES>,
}

/// Number of squares on which two boards differ.
#[inline(always)]
fn distance<V: Variant>(from: &Board<V>, to: &Board<V>) -> usize {
    from.differing_squares(to).count()
}

#[inline(always)]
fn changes<V: Variant>(from: Option<&Board<V>>, to: &Board<V>) -> Changes {
    let mut changes = Changes::default();
    let squares = from.map_or(to.occupied(), |from| from.differing_squares(to));
    for square in squares {
        if let Some(piece) = from.and_then(|from| from.piece_on(square)) {
            changes.removed.push((piece, square));
        }
        if let Some(piece) = to.piece_on(square) {
            changes.added.push((piece, square));
        }
    }
    for owner in Color::ALL {
        let (before, now) = (from.map(|from| from.hand(owner)).unwrap_or_default(), to.hand(owner));
        if before == now {
            continue;
        }
        for &(kind, _) in V::PIECES.iter().filter(|(kind, _)| *kind != PieceType::King) {
            let (before, now) = (before.count(kind), now.count(kind));
            (before + 1..=now).for_each(|count| changes.held.push((owner, kind, count)));
            (now + 1..=before).for_each(|count| changes.released.push((owner, kind, count)));
        }
    }
    changes
}

/// `target` becomes the sums after the changes, as `view` sees them.
#[inline(always)]
fn apply<V: Variant>(network: &Network<V>, view: View<V>, changes: &Changes, source: &Row, target: &mut Row) {
    let rows = &network.weights().features;
    let list = |pieces: &[(Piece, Square)], held: &[Held]| {
        let pieces = pieces.iter().filter_map(|&(piece, square)| view.piece_row(piece, square));
        let held = held.iter().map(|&(owner, kind, count)| view.hand_row(owner, kind, count));
        pieces.chain(held).map(|row| &rows[row]).collect::<ArrayVec<&Row, { 2 * MAX_CHANGES }>>()
    };
    simd::update(target, source, &list(&changes.added, &changes.held), &list(&changes.removed, &changes.released));
}

/// Sums from nothing, without any memory: the reference for all others.
pub fn refresh<V: Variant>(network: &Network<V>, board: &Board<V>, color: Color) -> Row {
    let view = View::of(color, board.king(color));
    let mut start = network.weights().biases;
    if let Some(row) = view.color_row() {
        let biases = start;
        simd::update(&mut start, &biases, &[&network.weights().features[row]], &[]);
    }
    let mut sums = Row::zeroed();
    apply(network, view, &changes(None, board), &start, &mut sums);
    sums
}

impl<V: Variant> Accumulators<V> {
    /// Knowing no position, computing at that level.
    pub fn new(level: Level) -> Self {
        Self {
            level,
            plies: vec![Known { board: None, sums: [Row::zeroed(); 2] }; PLIES],
            cache: vec![Cached { board: None, sums: Row::zeroed() }; 2 * V::SQUARES],
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
        let distance_to = |known: &Known<V>| known.board.as_ref().map_or(usize::MAX, |known| distance(known, board));
        let (nearest, nearest_distance) = {
            let (from_here, from_before) = (distance_to(&self.plies[here]), distance_to(&self.plies[before]));
            if from_here <= from_before { (here, from_here) } else { (before, from_before) }
        };
        let nearest_board = self.plies[nearest].board;
        let shared = nearest_board.as_ref().map(|nearest_board| changes(Some(nearest_board), board));

        for color in Color::ALL {
            let king = board.king(color);
            let view = View::of(color, king);
            let cached = &mut self.cache[color.index() * V::SQUARES + king.index()];
            let cached_distance = cached.board.as_ref().map_or(usize::MAX, |cached| distance(cached, board));
            let same_view = nearest_board.as_ref().is_some_and(|nearest| nearest.king(color) == king);
            if let Some(shared) = shared.as_ref().filter(|_| same_view && nearest_distance <= cached_distance) {
                let source = self.plies[nearest].sums[color.index()];
                apply(network, view, shared, &source, &mut self.plies[here].sums[color.index()]);
                continue;
            }
            if let Some(cached_board) = &cached.board {
                let source = cached.sums;
                apply(network, view, &changes(Some(cached_board), board), &source, &mut cached.sums);
            } else {
                cached.sums = refresh(network, board, color);
            }
            cached.board = Some(*board);
            self.plies[here].sums[color.index()] = cached.sums;
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
