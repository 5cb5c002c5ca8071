//! Zobrist keys: one random word for each piece on each square, for each further piece of a kind in hand, and for the
//! side to move (Albert Zobrist, "A New Hashing Method with Application for Game Playing", 1970).

use crate::types::{Color, Piece, PieceType, Square};

const MAX_IN_HAND: usize = 19;

struct Keys {
    pieces: [[u64; 128]; Piece::COUNT],
    hands: [[[u64; MAX_IN_HAND]; 7]; 2],
}

/// One step of the SplitMix64 generator (Guy Steele et al., 2014).
const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

static KEYS: Keys = {
    let mut state = 0x6b6f_7a75_6b61;
    let mut keys = Keys { pieces: [[0; 128]; Piece::COUNT], hands: [[[0; MAX_IN_HAND]; 7]; 2] };
    let mut piece = 0;
    while piece < Piece::COUNT {
        let mut square = 0;
        while square < 128 {
            keys.pieces[piece][square] = split_mix(&mut state);
            square += 1;
        }
        piece += 1;
    }
    let mut slot = 0;
    while slot < 2 * 7 * MAX_IN_HAND {
        keys.hands[slot / (7 * MAX_IN_HAND)][slot / MAX_IN_HAND % 7][slot % MAX_IN_HAND] = split_mix(&mut state);
        slot += 1;
    }
    keys
};

/// The word of White to move.
pub(super) const SIDE: u64 = 0x2545_f491_4f6c_dd1d;

/// The word of a piece on a square.
#[inline(always)]
pub(super) fn piece(piece: Piece, square: Square) -> u64 {
    KEYS.pieces[piece.index() % Piece::COUNT][square.index() % 128]
}

/// The word of the `count`-th piece (from 1) of that type in that hand.
#[inline(always)]
pub(super) fn hand(color: Color, kind: PieceType, count: usize) -> u64 {
    KEYS.hands[color.index()][kind.index()][count]
}
