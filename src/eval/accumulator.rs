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
/// Pieces on the board and in hand that can differ between two boards.
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
    scratch: Scratch,
}

/// Room to work in, so that nothing large is moved about.
#[derive(Clone, Debug, Default)]
struct Scratch {
    shared: Changes,
    own: Changes,
    rows: Changed,
}

/// A piece in hand by owner, type and count.
type Held = (Color, PieceType, usize);

/// What differs between two boards.
#[derive(Clone, Debug, Default)]
struct Changes {
    added: ArrayVec<(Piece, Square), MAX_CHANGES>,
    removed: ArrayVec<(Piece, Square), MAX_CHANGES>,
    held: ArrayVec<Held, MAX_CHANGES>,
    released: ArrayVec<Held, MAX_CHANGES>,
}

/// The same as rows of one side.
#[derive(Clone, Debug, Default)]
struct Changed {
    added: ArrayVec<u32, MAX_CHANGES>,
    removed: ArrayVec<u32, MAX_CHANGES>,
}

/// Number of squares on which two boards differ.
#[inline(always)]
fn distance<V: Variant>(from: &Board<V>, to: &Board<V>) -> usize {
    from.differing_squares(to).count()
}

impl Changes {
    /// Becomes what leads from one board, or from nothing, to the other.
    #[inline(always)]
    fn find<V: Variant>(&mut self, from: Option<&Board<V>>, to: &Board<V>) {
        self.added.clear();
        self.removed.clear();
        self.held.clear();
        self.released.clear();
        for square in from.map_or(to.occupied(), |from| from.differing_squares(to)) {
            if let Some(piece) = from.and_then(|from| from.piece_on(square)) {
                self.removed.push((piece, square));
            }
            if let Some(piece) = to.piece_on(square) {
                self.added.push((piece, square));
            }
        }
        for owner in Color::ALL {
            let (before, now) = (from.map(|from| from.hand(owner)).unwrap_or_default(), to.hand(owner));
            if before == now {
                continue;
            }
            for &(kind, _) in V::PIECES.iter().filter(|(kind, _)| *kind != PieceType::King) {
                let (before, now) = (before.count(kind), now.count(kind));
                (before + 1..=now).for_each(|count| self.held.push((owner, kind, count)));
                (now + 1..=before).for_each(|count| self.released.push((owner, kind, count)));
            }
        }
    }

    /// Changes the sums of the side whose view it is.
    #[inline(always)]
    fn apply<V: Variant>(&self, network: &Network<V>, view: View<V>, rows: &mut Changed, sums: &mut Row) {
        rows.added.clear();
        rows.removed.clear();
        let piece_row = |&(piece, square): &(Piece, Square)| view.piece_row(piece, square).map(|row| row as u32);
        let hand_row = |&(owner, kind, count): &Held| view.hand_row(owner, kind, count) as u32;
        rows.added.extend(self.added.iter().filter_map(piece_row));
        rows.added.extend(self.held.iter().map(hand_row));
        rows.removed.extend(self.removed.iter().filter_map(piece_row));
        rows.removed.extend(self.released.iter().map(hand_row));
        simd::update(sums, &network.weights().features, &rows.added, &rows.removed);
    }
}

/// Sums from nothing, without any memory: the reference for all others.
pub fn refresh<V: Variant>(network: &Network<V>, board: &Board<V>, color: Color) -> Row {
    let view = View::of(color, board.king(color));
    let mut sums = network.weights().biases;
    let mut changes = Changes::default();
    changes.find(None, board);
    changes.apply(network, view, &mut Changed::default(), &mut sums);
    sums
}

impl<V: Variant> Accumulators<V> {
    /// Knowing no position, computing at that level.
    pub fn new(level: Level) -> Self {
        Self {
            level,
            plies: vec![Known { board: None, sums: [Row::zeroed(); 2] }; PLIES],
            cache: vec![Cached { board: None, sums: Row::zeroed() }; 2 * V::SQUARES],
            scratch: Scratch::default(),
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
        let Scratch { shared, own, rows } = &mut self.scratch;
        let distance_to = |known: &Known<V>| known.board.as_ref().map_or(usize::MAX, |known| distance(known, board));
        let (from_here, from_before) = (distance_to(&self.plies[here]), distance_to(&self.plies[before]));
        let (nearest, nearest_distance) =
            if from_here <= from_before { (here, from_here) } else { (before, from_before) };
        let mut kings = [None; 2];
        if let Some(known) = &self.plies[nearest].board {
            shared.find(Some(known), board);
            kings = Color::ALL.map(|color| Some(known.king(color)));
        }

        for color in Color::ALL {
            let king = board.king(color);
            let view = View::of(color, king);
            let side = color.index();
            let cached = &mut self.cache[side * V::SQUARES + king.index()];
            let cached_distance = cached.board.as_ref().map_or(usize::MAX, |cached| distance(cached, board));
            if kings[side] == Some(king) && nearest_distance <= cached_distance {
                if nearest != here {
                    self.plies[here].sums[side] = self.plies[nearest].sums[side];
                }
                shared.apply(network, view, rows, &mut self.plies[here].sums[side]);
                continue;
            }
            if let Some(cached_board) = &cached.board {
                own.find(Some(cached_board), board);
                own.apply(network, view, rows, &mut cached.sums);
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
