//! Static exchange evaluation: who gains if all captures on one square are made, the least valuable piece first.
//!
//! A captured piece counts twice, since it changes hands (chessprogramming.org, "SEE - The Swap Algorithm", with shogi's hands).

use crate::eval::{exchange_value, promotion_gain, value};
use crate::movegen::promotion_zone;
use crate::position::Board;
use crate::types::{Bitboard, Color, Move, MoveKind, PieceType, Score, Square};
use crate::variant::Variant;

/// From the least to the most valuable.
const ORDER: [PieceType; 14] = [
    PieceType::Pawn,
    PieceType::Lance,
    PieceType::Knight,
    PieceType::Silver,
    PieceType::ProPawn,
    PieceType::ProLance,
    PieceType::ProKnight,
    PieceType::ProSilver,
    PieceType::Gold,
    PieceType::Bishop,
    PieceType::Rook,
    PieceType::Horse,
    PieceType::Dragon,
    PieceType::King,
];

/// Whether the exchange that the move begins gains at least `threshold` centipawns for the mover. Pins are not seen.
pub fn see_at_least<V: Variant>(board: &Board<V>, mv: Move, threshold: Score) -> bool {
    let us = board.side_to_move();
    let to = mv.to();
    let (mut occupied, moved, gain) = match mv.unpack() {
        Some(MoveKind::Drop { kind, .. }) => (board.occupied(), kind, 0),
        Some(MoveKind::Board { from, promote, .. }) => {
            let Some(kind) = board.kind_on(from) else { return false };
            let captured = board.kind_on(to).map_or(0, exchange_value);
            let occupied = board.occupied() ^ Bitboard::of(from);
            match kind.promoted().filter(|_| promote) {
                Some(promoted) => (occupied, promoted, captured + promotion_gain(kind)),
                None => (occupied, kind, captured),
            }
        }
        None => return false,
    };
    occupied |= Bitboard::of(to);

    let mut balance = gain - threshold;
    if balance < 0 {
        return false;
    }
    // The worst case: the moved piece is taken for nothing.
    let mut on_square = moved;
    balance -= exchange_value(on_square);
    if balance >= 0 {
        return true;
    }
    let mut side = !us;
    while let Some((from, kind)) = least_attacker(board, side, to, occupied) {
        if kind == PieceType::King {
            let guarded = least_attacker(board, !side, to, occupied ^ Bitboard::of(from)).is_some();
            if guarded {
                break;
            }
        }
        occupied ^= Bitboard::of(from);
        let promotes = kind.promoted().is_some()
            && (promotion_zone::<V>(side).contains(to) || promotion_zone::<V>(side).contains(from));
        on_square = if promotes { kind.promoted().unwrap_or(kind) } else { kind };
        side = !side;
        balance = -balance - 1 - exchange_value(on_square);
        if promotes {
            // What the capturer gained by promoting shows in what can be taken back; it is his in any case.
            balance += promotion_gain(kind);
        }
        if balance >= 0 {
            break;
        }
    }
    // The side that has to recapture but cannot, or does not want to, has lost the exchange.
    side != us
}

fn least_attacker<V: Variant>(
    board: &Board<V>,
    side: Color,
    to: Square,
    occupied: Bitboard<V>,
) -> Option<(Square, PieceType)> {
    let attackers = board.attackers(side, to, occupied) & occupied;
    if attackers.is_empty() {
        return None;
    }
    ORDER.into_iter().find_map(|kind| (attackers & board.of_kind(kind)).first_of(side).map(|from| (from, kind)))
}

/// What the move gains at once, in centipawns: what it captures, and what its promotion adds.
pub(super) fn gain<V: Variant>(board: &Board<V>, mv: Move) -> Score {
    let captured = board.kind_on(mv.to()).map_or(0, exchange_value);
    match mv.unpack() {
        Some(MoveKind::Board { from, promote: true, .. }) => captured + board.kind_on(from).map_or(0, promotion_gain),
        Some(MoveKind::Board { .. }) => captured,
        _ => 0,
    }
}

/// A capture's order among captures: the more valuable the victim the better, then the cheaper the capturer.
pub(super) fn victim_first<V: Variant>(board: &Board<V>, mv: Move) -> Score {
    let victim = board.kind_on(mv.to()).map_or(0, exchange_value);
    match mv.unpack() {
        Some(MoveKind::Board { from, promote, .. }) => {
            let mover = board.kind_on(from).unwrap_or(PieceType::King);
            let promotion = if promote { promotion_gain(mover) } else { 0 };
            (victim + promotion) * 8 - value(mover)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::{Position, Rules};
    use crate::variant::Minishogi;

    fn see(sfen: &str, mv: &str, threshold: Score) -> bool {
        let position = Position::<Minishogi>::from_sfen(sfen, Rules::default()).unwrap();
        see_at_least(position.board(), Move::from_usi::<Minishogi>(mv).unwrap(), threshold)
    }

    #[test]
    fn an_unguarded_piece_is_won_twice_over() {
        let sfen = "4k/5/2g2/2R2/K4 b - 1";
        let gain = exchange_value(PieceType::Gold);
        assert!(see(sfen, "3d3c", gain));
        assert!(!see(sfen, "3d3c", gain + 1));
    }

    #[test]
    fn a_guarded_pawn_is_not_worth_a_rook() {
        let sfen = "4k/2g2/2p2/2R2/K4 b - 1";
        let loss = exchange_value(PieceType::Pawn) - exchange_value(PieceType::Rook);
        assert!(see(sfen, "3d3c", loss));
        assert!(!see(sfen, "3d3c", loss + 1));
    }

    #[test]
    fn a_drop_next_to_a_guard_loses_the_piece() {
        let sfen = "4k/2g2/5/5/K4 b S 1";
        assert!(!see(sfen, "S*3c", 0));
        assert!(see(sfen, "S*3d", 0));
        assert!(see(sfen, "S*3c", -exchange_value(PieceType::Silver)));
    }

    #[test]
    fn a_second_piece_behind_the_first_takes_back() {
        // Rook behind rook: gold takes, rook takes.
        let guarded = "4k/2g2/2p2/2R2/K1R2 b - 1";
        let expected =
            exchange_value(PieceType::Pawn) - exchange_value(PieceType::Rook) + exchange_value(PieceType::Gold);
        assert!(see(guarded, "3d3c", expected));
        assert!(!see(guarded, "3d3c", expected + 1));
    }

    #[test]
    fn a_king_takes_only_what_is_unguarded() {
        assert!(see("5/3k1/2p2/2S2/K1R2 b - 1", "3d3c", exchange_value(PieceType::Pawn)));
        assert!(!see("5/3k1/2p2/2S2/K4 b - 1", "3d3c", 0));
    }
}
