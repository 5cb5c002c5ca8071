//! The hand-made evaluation: material with hands, each piece's nearness to both kings, and who commands the squares
//! around them.

use super::material::value;
use crate::position::{Board, Position};
use crate::types::{Bitboard, Color, PieceType, Score, Square};
use crate::variant::Variant;

/// To have the move.
const TEMPO: Score = 20;
/// A piece in hand is worth this many hundredths more than on the board, since it goes anywhere.
const HAND_PERCENT: Score = 112;
/// Per distance to the enemy king, in hundredths of a unit per piece; beyond the table nothing.
const NEAR_ENEMY_KING: [Score; 5] = [0, 100, 70, 30, 10];
/// Per distance to the own king.
const NEAR_OWN_KING: [Score; 5] = [0, 100, 50, 15, 0];
/// Units of attack and of defence by type, in centipawns.
const ATTACK_UNITS: [Score; PieceType::COUNT] = [14, 14, 18, 36, 44, 24, 26, 0, 44, 44, 44, 44, 0, 50, 60, 0];
const DEFENCE_UNITS: [Score; PieceType::COUNT] = [10, 8, 8, 24, 34, 12, 10, 0, 26, 26, 26, 30, 0, 26, 26, 0];
/// A square next to the king that the enemy attacks and no own piece but the king guards.
const WEAK_SQUARE: Score = 34;
/// A square next to the king that the enemy attacks.
const ATTACKED_SQUARE: Score = 14;

fn distance<V: Variant>(a: Square, b: Square) -> usize {
    a.file::<V>().abs_diff(b.file::<V>()).max(a.rank::<V>().abs_diff(b.rank::<V>()))
}

/// The worth of one side's pieces: material, hand, and their nearness to both kings.
fn pieces<V: Variant>(board: &Board<V>, us: Color) -> Score {
    let own_king = board.king(us);
    let enemy_king = board.king(!us);
    let mut material = 0;
    let mut placement = 0;
    for square in board.of_color(us) & !Bitboard::of(own_king) {
        let Some(kind) = board.kind_on(square) else { continue };
        material += value(kind);
        let to_enemy = distance::<V>(square, enemy_king).min(4);
        let to_own = distance::<V>(square, own_king).min(4);
        placement += ATTACK_UNITS[kind.index()] * NEAR_ENEMY_KING[to_enemy];
        placement += DEFENCE_UNITS[kind.index()] * NEAR_OWN_KING[to_own];
    }
    let hand = board.hand(us);
    let mut held = 0;
    if !hand.is_empty() {
        for kind in PieceType::HAND {
            held += value(kind) * hand.count(kind) as Score;
        }
    }
    material + held * HAND_PERCENT / 100 + placement / 100
}

/// The danger to one side's king, in centipawns.
fn danger<V: Variant>(board: &Board<V>, us: Color) -> Score {
    let occupied = board.occupied();
    let ring = V::ATTACKS.king[board.king(us)];
    let attacked = board.attacked_by(!us, occupied) & ring;
    if attacked.is_empty() {
        return 0;
    }
    let mut score = attacked.count() as Score * ATTACKED_SQUARE;
    for square in attacked {
        let guards = board.attackers(us, square, occupied) & !Bitboard::of(board.king(us));
        score += if guards.is_empty() { WEAK_SQUARE } else { 0 };
    }
    // An attacker with pieces to drop is worth twice as much as one without.
    let reserves: Score = PieceType::HAND.into_iter().map(|kind| board.hand(!us).count(kind) as Score).sum();
    score + score * reserves.min(4) / 4
}

pub(super) fn evaluate<V: Variant>(position: &Position<V>) -> Score {
    let board = position.board();
    let us = position.side_to_move();
    pieces(board, us) - pieces(board, !us) + danger(board, !us) - danger(board, us) + TEMPO
}
