//! Positions to look at: seeded, so that a failure can be repeated.

use kozuka::variant::Variant;

use crate::reference::{Man, Plain};

/// A small generator of random numbers (xorshift, George Marsaglia).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

pub fn read_plain<V: Variant>(sfen: &str) -> Plain {
    Plain::read(V::FILES, V::RANKS, V::PROMOTION_RANKS, sfen)
}

/// All pieces of the game: two kings on the board, of the others about one in `spread` there and the rest in the
/// hands. Nothing is said about whether the rules allow it.
pub fn scatter<V: Variant>(random: &mut Random, spread: usize) -> Plain {
    let mut plain = Plain::empty(V::FILES, V::RANKS, V::PROMOTION_RANKS);
    plain.black_to_move = random.one_in(2);
    let put = |plain: &mut Plain, random: &mut Random, man: Man| {
        let place = (random.below(V::FILES) as i32, random.below(V::RANKS) as i32);
        let free = plain.at(place).is_none();
        if free {
            plain.put(place, Some(man));
        }
        free
    };
    for black in [true, false] {
        while !put(&mut plain, random, Man { letter: b'K', promoted: false, black }) {}
    }
    for &(kind, count) in V::PIECES {
        let letter = kind.letter() as u8;
        for _ in 0..if letter == b'K' { 0 } else { count } {
            let black = random.one_in(2);
            let promoted = letter != b'G' && random.one_in(3);
            if !random.one_in(spread) || !put(&mut plain, random, Man { letter, promoted, black }) {
                plain.hold(black, letter, 1);
            }
        }
    }
    plain
}

/// Scattered pieces that make a valid position.
pub fn scatter_valid<V: Variant>(random: &mut Random, spread: usize) -> Plain {
    loop {
        let plain = scatter::<V>(random, spread);
        if plain.is_valid() {
            return plain;
        }
    }
}
