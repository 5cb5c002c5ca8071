//! Random positions with pieces in hand, the same on every run.

use kozuka::geometry::Geometry;
use kozuka::position::{Position, Rules};
use kozuka::types::PieceType;
use kozuka::variant::Variant;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// A generator for that seed.
pub fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// A random position. Of the game's pieces `used` in a hundred take part, of ten of these about `on_board` stand on the
/// board, and `attackers` in a hundred belong to the side to move.
pub fn position<V: Variant>(rng: &mut Xoshiro256PlusPlus, on_board: usize, used: u32, attackers: u32) -> Position<V> {
    loop {
        if let Ok(position) = Position::from_sfen(&sfen::<V>(rng, on_board, used, attackers), Rules::default()) {
            return position;
        }
    }
}

fn sfen<V: Variant>(rng: &mut Xoshiro256PlusPlus, on_board: usize, used: u32, attackers: u32) -> String {
    let (files, ranks) = (<V as Geometry>::FILES, <V as Geometry>::RANKS);
    let mut board = vec![None; files * ranks];
    let mut hands = [String::new(), String::new()];
    let black_attacks = rng.random_range(0..2) == 0;
    let pieces = V::PIECES.iter().flat_map(|&(kind, count)| std::iter::repeat_n(kind, count));
    let (kings, others): (Vec<_>, Vec<_>) = pieces.partition(|&kind| kind == PieceType::King);
    for (index, kind) in kings.into_iter().chain(others).enumerate() {
        let is_king = kind == PieceType::King;
        if !is_king && rng.random_range(0..100) >= used {
            continue;
        }
        let attacks = if is_king { index == 0 } else { rng.random_range(0..100) < attackers };
        let black = attacks == black_attacks;
        let letter = if black { kind.letter() } else { kind.letter().to_ascii_lowercase() };
        if !is_king && rng.random_range(0..10) >= on_board {
            hands[usize::from(!black)].push(letter);
            continue;
        }
        let promoted = kind.promoted().is_some() && rng.random_range(0..4) == 0;
        loop {
            let square = rng.random_range(0..board.len());
            if board[square].is_none() {
                board[square] = Some(format!("{}{letter}", if promoted { "+" } else { "" }));
                break;
            }
        }
    }
    let rows: Vec<String> = board
        .chunks(files)
        .map(|row| {
            let mut text = String::new();
            let mut empty = 0;
            for square in row {
                match square {
                    None => empty += 1,
                    Some(piece) => {
                        if empty > 0 {
                            text += &empty.to_string();
                        }
                        empty = 0;
                        text += piece;
                    }
                }
            }
            if empty > 0 {
                text += &empty.to_string();
            }
            text
        })
        .collect();
    let hand = hands.concat();
    let hand = if hand.is_empty() { "-" } else { &hand };
    format!("{} {} {hand} 1", rows.join("/"), if black_attacks { 'b' } else { 'w' })
}
