use super::*;
use crate::variant::{Minishogi, Shogi, Variant};

/// The set drawn as a board: file 1 on the right, rank `a` at the top.
fn picture<V: Variant>(lines: &[&str]) -> Bitboard<V> {
    let mut set = Bitboard::EMPTY;
    for (rank, line) in lines.iter().enumerate() {
        for (file, mark) in line.chars().rev().enumerate() {
            if mark == '#' {
                set |= Bitboard::of(Square::at::<V>(file, rank).unwrap());
            }
        }
    }
    set
}

fn square<V: Variant>(name: &str) -> Square {
    let bytes = name.as_bytes();
    Square::from_usi::<V>(bytes[0], bytes[1]).unwrap()
}

/// A slider's attacks, found by walking square by square.
fn walked<V: Variant>(from: Square, steps: &[(i32, i32)], occupied: Bitboard<V>) -> Bitboard<V> {
    let mut set = Bitboard::EMPTY;
    for &(df, dr) in steps {
        let (mut file, mut rank) = (from.file::<V>() as i32, from.rank::<V>() as i32);
        loop {
            (file, rank) = (file + df, rank + dr);
            if file < 0 || rank < 0 {
                break;
            }
            let Some(to) = Square::at::<V>(file as usize, rank as usize) else { break };
            set |= Bitboard::of(to);
            if occupied.contains(to) {
                break;
            }
        }
    }
    set
}

#[test]
fn steps_on_five_by_five() {
    let attacks = Minishogi::ATTACKS;
    let c3 = square::<Minishogi>("3c");
    assert_eq!(attacks.gold[0][c3], picture(&[".....", ".###.", ".#.#.", "..#..", "....."]));
    assert_eq!(attacks.gold[1][c3], picture(&[".....", "..#..", ".#.#.", ".###.", "....."]));
    assert_eq!(attacks.silver[0][c3], picture(&[".....", ".###.", ".....", ".#.#.", "....."]));
    assert_eq!(attacks.pawn[1][c3], picture(&[".....", ".....", ".....", "..#..", "....."]));
    assert_eq!(attacks.king[square::<Minishogi>("5e")], picture(&[".....", ".....", ".....", "##...", ".#..."]));
}

#[test]
fn knights_jump_on_nine_by_nine() {
    let attacks = Shogi::ATTACKS;
    let from = square::<Shogi>("1e");
    let expected = Bitboard::of(square::<Shogi>("2c"));
    assert_eq!(attacks.knight[0][from], expected);
    assert_eq!(attacks.knight[1][from], Bitboard::of(square::<Shogi>("2g")));
}

fn sliders_agree_with_walking<V: Variant>() {
    let attacks = V::ATTACKS;
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for _ in 0..200 {
        let wide = u128::from(random() & random()) << 64 | u128::from(random() & random());
        let occupied = Bitboard(V::Word::narrow(wide)) & Bitboard::all();
        for from in Square::all::<V>() {
            let rook = walked(from, &[(0, 1), (0, -1), (1, 0), (-1, 0)], occupied);
            let bishop = walked(from, &[(1, 1), (1, -1), (-1, 1), (-1, -1)], occupied);
            assert_eq!(attacks.rook(from, occupied), rook);
            assert_eq!(attacks.bishop(from, occupied), bishop);
            assert_eq!(attacks.lance(Color::Black, from, occupied), walked(from, &[(0, -1)], occupied));
            assert_eq!(attacks.lance(Color::White, from, occupied), walked(from, &[(0, 1)], occupied));
        }
    }
}

#[test]
fn sliders_agree_with_walking_on_every_board() {
    sliders_agree_with_walking::<Minishogi>();
    sliders_agree_with_walking::<Shogi>();
}

#[test]
fn between_is_what_both_rays_share() {
    fn check<V: Variant>() {
        for a in Square::all::<V>() {
            for b in Square::all::<V>() {
                let aligned = (V::ATTACKS.rook_rays(a) | V::ATTACKS.bishop_rays(a)).contains(b);
                let mut expected = Bitboard::EMPTY;
                if aligned {
                    let ends = Bitboard::of(a) | Bitboard::of(b);
                    let (from_a, from_b) = if V::ATTACKS.rook_rays(a).contains(b) {
                        (V::ATTACKS.rook(a, ends), V::ATTACKS.rook(b, ends))
                    } else {
                        (V::ATTACKS.bishop(a, ends), V::ATTACKS.bishop(b, ends))
                    };
                    expected = from_a & from_b;
                }
                assert_eq!(V::ATTACKS.between[a][b], expected, "{a:?} {b:?}");
            }
        }
    }
    check::<Minishogi>();
    check::<Shogi>();
}
