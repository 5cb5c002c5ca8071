//! Mate in one ply, by looking at checks that leave the king no square to go to.

use arrayvec::ArrayVec;

use super::{CheckInfo, Sink, generate, has_legal_move};
use crate::position::{Board, Position};
use crate::types::{Bitboard, Move, Piece, PieceType, Square};
use crate::variant::Variant;

/// Checks that may mate; more than that are not tried.
type Candidates = ArrayVec<Move, 32>;

/// Keeps the checks after which no square next to the king is obviously free.
struct MateSink<'a, V: Variant> {
    board: &'a Board<V>,
    info: &'a CheckInfo<V>,
    /// The enemy king.
    king: Square,
    /// Everything but the enemy king, through which sliders see the squares behind it.
    occupied: Bitboard<V>,
    /// Squares that the king can reach as things stand.
    flights: Bitboard<V>,
    candidates: Candidates,
}

impl<V: Variant> MateSink<'_, V> {
    /// The squares from which a piece of that type may mate: it gives check from there and commands all flights but,
    /// perhaps, its own square. What a move uncovers for other sliders is not seen.
    #[inline(always)]
    fn consider(&mut self, from: Option<Square>, kind: PieceType, targets: Bitboard<V>, mv: impl Fn(Square) -> Move) {
        let us = self.board.side_to_move();
        let origin = from.map_or(Bitboard::EMPTY, Bitboard::of);
        for to in targets {
            let target = Bitboard::of(to);
            let occupied = (self.occupied & !origin) | target;
            let covered = V::ATTACKS.of(Piece::new(us, kind), to, occupied);
            if (self.flights & !covered & !target).is_empty() {
                let near = V::ATTACKS.king[self.king].contains(to);
                // Next to the king an unguarded piece is taken.
                let guarded = !near || (self.board.attackers(us, to, occupied) & !origin).has_any();
                if guarded {
                    let _ = self.candidates.try_push(mv(to));
                }
            }
        }
    }
}

impl<V: Variant> Sink<V> for MateSink<'_, V> {
    #[inline(always)]
    fn board_moves(&mut self, from: Square, kind: PieceType, plain: Bitboard<V>, promoting: Bitboard<V>) {
        let discovers = self.info.discovers(from);
        for (targets, promote) in [(promoting, true), (plain, false)] {
            if targets.is_empty() {
                continue;
            }
            let moved = if promote { kind.promoted().unwrap_or(kind) } else { kind };
            let mv = |to| Move::board(from, to, promote);
            if discovers {
                for to in targets {
                    if self.info.gives_check(self.board, mv(to)) {
                        let _ = self.candidates.try_push(mv(to));
                    }
                }
            } else if moved != PieceType::King {
                self.consider(Some(from), moved, targets & self.info.squares(self.board, moved), mv);
            }
        }
    }

    #[inline(always)]
    fn drops(&mut self, kind: PieceType, targets: Bitboard<V>) {
        // The generator has left out the pawn drops that mate.
        if kind != PieceType::Pawn {
            let targets = targets & self.info.squares(self.board, kind);
            self.consider(None, kind, targets, |to| Move::drop(kind, to));
        }
    }
}

/// A move that mates at once, or `None` if none was found; a mate that only works because the moved piece uncovers a
/// second slider may be missed. To be called when the side to move is not in check.
pub fn mate_in_one<V: Variant>(position: &mut Position<V>, info: &CheckInfo<V>) -> Option<Move> {
    let board = position.board();
    let us = board.side_to_move();
    let king = board.king(!us);
    let occupied = board.occupied() ^ Bitboard::of(king);
    let ring = V::ATTACKS.king[king] & !board.of_color(!us);
    let flights = ring & !board.attacked_by(us, occupied);
    let mut sink = MateSink { board, info, king, occupied, flights, candidates: Candidates::new() };
    generate(board, position.threats(), &mut sink);
    let mut candidates = sink.candidates;
    candidates.sort_unstable_by_key(|mv| mv.order(us));
    candidates.into_iter().find(|&mv| {
        position.do_move(mv);
        let mates = position.in_check() && !has_legal_move(position);
        position.undo_move();
        mates
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movegen::legal_moves;
    use crate::position::Rules;
    use crate::variant::{Minishogi, Shogi};

    /// Plays random moves and compares with trying every move.
    fn finds_mates<V: Variant>(plies: usize) {
        let mut position = Position::<V>::new(Rules::default());
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let (mut there, mut found) = (0, 0);
        for _ in 0..plies {
            let legal = legal_moves(&position);
            if legal.is_empty() || position.ply() > 200 {
                position = Position::new(Rules::default());
                continue;
            }
            if !position.in_check() {
                let info = CheckInfo::of(position.board());
                let mates = |position: &mut Position<V>, mv| {
                    position.do_move(mv);
                    let mates = position.in_check() && !has_legal_move(position);
                    position.undo_move();
                    mates
                };
                let any = legal.iter().any(|&mv| mates(&mut position, mv));
                let one = mate_in_one(&mut position, &info);
                assert!(one.is_none_or(|mv| legal.contains(&mv) && mates(&mut position, mv)), "{}", position.sfen());
                there += u32::from(any);
                found += u32::from(one.is_some());
                if any {
                    position = Position::new(Rules::default());
                    continue;
                }
            }
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            position.do_move(legal[(seed >> 11) as usize % legal.len()]);
        }
        assert!(there > 20 && found * 100 >= there * 97, "{found} of {there}");
    }

    #[test]
    fn finds_nearly_every_mate_and_only_mates() {
        finds_mates::<Minishogi>(40_000);
        finds_mates::<Shogi>(40_000);
    }
}
