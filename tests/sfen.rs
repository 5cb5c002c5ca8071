//! Reading positions: what is refused and with which words, what is accepted in other spellings, and that no text at all
//! brings the reader down.

use kozuka::movegen::legal_moves;
use kozuka::position::SfenError::{self, *};
use kozuka::position::{Position, Rules};
use kozuka::types::Color;
use kozuka::variant::{Minishogi, Shogi, Variant};
use proptest::prelude::*;

fn read<V: Variant>(sfen: &str) -> Result<Position<V>, SfenError> {
    Position::from_sfen(sfen, Rules::default())
}

/// Refused with that error, and with a message that holds those words.
fn refuses<V: Variant>(sfen: &str, expected: SfenError, words: &[&str]) {
    let error = read::<V>(sfen).map(|position| position.sfen()).expect_err(sfen);
    assert_eq!(error, expected, "{sfen}");
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "'{message}' does not say '{word}'");
    }
}

fn hands(found: &str, hands: &str) -> SfenError {
    Hands { found: found.to_owned(), hands: hands.to_owned() }
}

#[test]
fn boards_of_another_shape() {
    let mini = refuses::<Minishogi>;
    mini("rbsgk1/4p/5/P4/KGSBR b - 1", RankWidth { rank: 'a', found: 6, expected: 5 }, &["rank a", "6", "5"]);
    mini("rbsgk/4p/4/P4/KGSBR b - 1", RankWidth { rank: 'c', found: 4, expected: 5 }, &["rank c", "4", "5"]);
    mini("rbsgk/4p/9/P4/KGSBR b - 1", RankWidth { rank: 'c', found: 9, expected: 5 }, &["rank c"]);
    mini("rbsgk/4p//P4/KGSBR b - 1", RankWidth { rank: 'c', found: 0, expected: 5 }, &["rank c"]);
    mini("rbsgk/4p/5/KGSBR b - 1", RankCount { found: 4, expected: 5 }, &["4 ranks", "5"]);
    mini("rbsgk/4p/5/5/P4/KGSBR b - 1", RankCount { found: 6, expected: 5 }, &["6 ranks", "5"]);
    mini(Shogi::START_SFEN, RankCount { found: 9, expected: 5 }, &["9 ranks", "5"]);
    refuses::<Shogi>(Minishogi::START_SFEN, RankCount { found: 5, expected: 9 }, &["5 ranks", "9"]);
}

#[test]
fn letters_that_are_no_piece() {
    let mini = refuses::<Minishogi>;
    mini("rbxgk/4p/5/P4/KGSBR b - 1", UnknownPiece { letter: 'x', rank: 'a' }, &["'x'", "rank a"]);
    mini("rbsgk/4p/5/P4/KGSBR_b_-_1", UnknownPiece { letter: '_', rank: 'e' }, &["'_'", "rank e"]);
    mini("rbsgk/4p/05/P4/KGSBR b - 1", UnknownPiece { letter: '0', rank: 'c' }, &["'0'", "rank c"]);
    mini("rbsgk/4p/5/P4/KGSB飛 b - 1", UnknownPiece { letter: '飛', rank: 'e' }, &["'飛'", "rank e"]);
    // Lance and knight exist on 9x9 only.
    mini("rbsgk/4p/5/P4/KLSBR b - 1", UnknownPiece { letter: 'L', rank: 'e' }, &["'L'", "this game"]);
    mini("rbsgk/4p/5/P4/KNSBR b - 1", UnknownPiece { letter: 'N', rank: 'e' }, &["'N'", "this game"]);
    mini("rbsgk/4p+/5/P4/KGSBR b - 1", CannotPromote { rank: 'b' }, &["'+'", "rank b"]);
    mini("rbs+gk/4p/5/P4/KGSBR b - 1", CannotPromote { rank: 'a' }, &["'+'", "rank a"]);
    mini("rbsg+k/4p/5/P4/KGSBR b - 1", CannotPromote { rank: 'a' }, &["'+'", "rank a"]);
    mini("rbsgk/4p/+5/P4/KGSBR b - 1", CannotPromote { rank: 'c' }, &["'+'", "rank c"]);
    mini("rbsgk/4p/5/++P4/KGSBR b - 1", UnknownPiece { letter: '+', rank: 'd' }, &["'+'", "rank d"]);
}

#[test]
fn fields_that_are_missing_or_wrong() {
    let mini = refuses::<Minishogi>;
    mini("", MissingField("board"), &["board", "missing"]);
    mini(" \t ", MissingField("board"), &["board", "missing"]);
    mini("rbsgk/4p/5/P4/KGSBR", MissingField("side to move"), &["side to move", "missing"]);
    mini("rbsgk/4p/5/P4/KGSBR b", MissingField("field of hands"), &["hands", "missing"]);
    mini("rbsgk/4p/5/P4/KGSBR x - 1", SideToMove("x".to_owned()), &["'x'"]);
    mini("rbsgk/4p/5/P4/KGSBR B - 1", SideToMove("B".to_owned()), &["'B'"]);
    mini("rbsgk/4p/5/P4/KGSBR b - x", MoveNumber("x".to_owned()), &["'x'"]);
    mini("rbsgk/4p/5/P4/KGSBR b - -1", MoveNumber("-1".to_owned()), &["'-1'"]);
    mini("rbsgk/4p/5/P4/KGSBR b - 1 2", TrailingField("2".to_owned()), &["'2'"]);
}

#[test]
fn hands_that_cannot_be() {
    let mini = refuses::<Minishogi>;
    let too_many = |letter, found| TooMany { letter, found, limit: 2 };
    mini("rbsgk/4p/5/P4/KGSBR b R 1", too_many('R', 3), &["3 pieces", "R", "2"]);
    mini("rbsgk/4p/5/P4/KGSBR b 300P 1", too_many('P', 302), &["302 pieces", "P", "2"]);
    mini("rbsgk/4p/5/P4/KGSBR b 99999P 1", too_many('P', 100_001), &["100001 pieces"]);
    // Promoted pieces, those of the other side and repeated letters are counted too.
    mini("1+P+P1k/5/5/5/K4 b p 1", too_many('P', 3), &["P"]);
    mini("4k/5/5/5/K4 b GGG 1", too_many('G', 3), &["G"]);
    mini("4k/5/5/5/K4 b 2Gg 1", too_many('G', 3), &["G"]);
    mini("rbsgk/4p/5/PGG2/KGSBR b - 1", too_many('G', 4), &["4 pieces", "G"]);
    mini("rbsgk/4p/5/P4/KGSBR b +P 1", hands("+", "+P"), &["'+'", "'+P'"]);
    mini("rbsgk/4p/5/P4/KGSBR b K 1", hands("K", "K"), &["'K'"]);
    mini("rbsgk/4p/5/P4/KGSBR b L 1", hands("L", "L"), &["'L'"]);
    mini("rbsgk/4p/5/P4/KGSBR b 2 1", hands("2", "2"), &["'2'"]);
    mini("4k/5/5/5/K4 b P2 1", hands("2", "P2"), &["'2'", "'P2'"]);
    mini("4k/5/5/5/K4 b 0P 1", hands("0P", "0P"), &["'0P'"]);
    mini("4k/5/5/5/K4 b -P 1", hands("-", "-P"), &["'-'", "'-P'"]);
    // Counts that overflow integers are told as they were given.
    for huge in ["4294967297P".to_owned(), "9".repeat(100) + "P"] {
        mini(&format!("4k/5/5/5/K4 b {huge} 1"), hands(&huge, &huge), &[&huge]);
    }
}

#[test]
fn positions_that_cannot_be() {
    let mini = refuses::<Minishogi>;
    mini("5/4p/5/P4/KGSBR b - 1", KingCount { side: "gote", found: 0 }, &["gote", "0 kings"]);
    mini("rbsgk/4p/5/P4/1GSBR b - 1", KingCount { side: "sente", found: 0 }, &["sente", "0 kings"]);
    mini("rbsgk/4p/K4/P4/KGSBR b - 1", KingCount { side: "sente", found: 2 }, &["sente", "2 kings"]);
    let stuck = |piece: &str, square: &str| Stuck { piece: piece.to_owned(), square: square.to_owned() };
    mini("P3k/5/5/5/K4 b - 1", stuck("P", "5a"), &["P on 5a"]);
    mini("4k/5/5/5/K3p b - 1", stuck("p", "1e"), &["p on 1e"]);
    mini("4k/5/P4/P4/K4 b - 1", TwoPawns { side: "sente", file: 5 }, &["sente", "file 5"]);
    mini("4k/1p3/1p3/5/K4 b - 1", TwoPawns { side: "gote", file: 4 }, &["gote", "file 4"]);
    mini("4k/5/5/5/K3R b - 1", OpponentInCheck("gote"), &["gote is in check"]);
    mini("r3k/5/5/5/K4 w - 1", OpponentInCheck("sente"), &["sente is in check"]);
    // Kings side by side, whoever is to move.
    mini("5/5/3Kk/5/5 b - 1", OpponentInCheck("gote"), &["gote"]);
    mini("5/5/3Kk/5/5 w - 1", OpponentInCheck("sente"), &["sente"]);

    let full = refuses::<Shogi>;
    full("8k/N8/9/9/9/9/9/9/K8 b - 1", stuck("N", "9b"), &["N on 9b"]);
    full("L7k/9/9/9/9/9/9/9/K8 b - 1", stuck("L", "9a"), &["L on 9a"]);
    full("8k/9/9/9/9/9/9/1n7/K8 b - 1", stuck("n", "8h"), &["n on 8h"]);
    // The same pieces promoted can move.
    assert!(read::<Shogi>("+L7k/+N8/9/9/9/9/9/1+n7/2K6 b - 1").is_ok());
}

#[test]
fn other_spellings_are_accepted() {
    fn same(given: &str, canonical: &str) {
        assert_eq!(read::<Minishogi>(given).unwrap().sfen(), canonical, "{given}");
    }
    same("4k/5/5/5/K4 b PP 1", "4k/5/5/5/K4 b 2P 1");
    same("4k/5/5/5/K4 b 1P1P 1", "4k/5/5/5/K4 b 2P 1");
    same("4k/5/5/5/K4 b 002P 1", "4k/5/5/5/K4 b 2P 1");
    same("4k/5/5/5/K4 b Pbg 1", "4k/5/5/5/K4 b Pbg 1");
    same("4k/5/5/5/K4 b P1bG 1", "4k/5/5/5/K4 b GPb 1");
    same("4k/5/5/5/K4 b pPrRsgGbBS 1", "4k/5/5/5/K4 b RBGSPrbgsp 1");
    same("11111/5/2k2/5/K1111 b - 1", "5/5/2k2/5/K4 b - 1");
    same("  4k/5/5/5/K4\tw   -\t7 ", "4k/5/5/5/K4 w - 7");
    // The move number.
    same("4k/5/5/5/K4 w -", "4k/5/5/5/K4 w - 1");
    same("4k/5/5/5/K4 w - 0", "4k/5/5/5/K4 w - 1");
    same("4k/5/5/5/K4 w - 99999", "4k/5/5/5/K4 w - 99999");
    let huge = read::<Minishogi>("4k/5/5/5/K4 w - 99999999999999999999").unwrap();
    assert_eq!(huge.move_number(), u32::MAX);
}

#[test]
fn the_move_number_goes_on() {
    let mut position = read::<Minishogi>("4k/5/5/5/K4 b - 41").unwrap();
    position.do_move(legal_moves(&position)[0]);
    assert!(position.sfen().ends_with(" w - 42"), "{}", position.sfen());
    let mut last = read::<Minishogi>("4k/5/5/5/K4 b - 4294967295").unwrap();
    last.do_move(legal_moves(&last)[0]);
    assert_eq!(last.move_number(), u32::MAX);
}

#[test]
fn the_most_moves_of_any_position_fit() {
    // Found by Naganuma and others; 593 is held to be the most on 9x9.
    let position = read::<Shogi>("R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1").unwrap();
    assert_eq!(legal_moves(&position).len(), 593);
}

/// Whatever was accepted can be played, and is written and read as the same.
fn accepted_is_playable<V: Variant>(text: &str) {
    let Ok(position) = read::<V>(text) else { return };
    let again = read::<V>(&position.sfen()).expect("what is written can be read");
    assert_eq!(again.sfen(), position.sfen());
    assert_eq!(again.key(), position.key());
    for color in Color::ALL {
        assert_eq!(again.hand(color), position.hand(color));
    }
    for mv in legal_moves(&position) {
        let mut next = position.clone();
        next.do_move(mv);
        read::<V>(&next.sfen()).expect("a legal move leads to a valid position");
    }
}

/// A valid SFEN with a few characters put in place of others, taken out or put in.
fn damaged(sfen: &'static str) -> impl Strategy<Value = String> {
    let edit = (
        any::<prop::sample::Index>(),
        0..3_u8,
        prop::sample::select("PLNSGBRKplnsgbrk+-/ 0123456789bw*".chars().collect::<Vec<_>>()),
    );
    prop::collection::vec(edit, 0..6).prop_map(move |edits| {
        let mut chars: Vec<char> = sfen.chars().collect();
        for (index, what, letter) in edits {
            if chars.is_empty() {
                break;
            }
            let at = index.index(chars.len());
            match what {
                0 => chars[at] = letter,
                1 => chars.insert(at, letter),
                _ => drop(chars.remove(at)),
            }
        }
        chars.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_brings_the_reader_down(text in "\\PC*", sfen_like in "[PLNSGBRKplnsgbrk+1-9/]{0,60} [bw] [-PLNSGBRplnsgbr0-9]{1,12} [0-9]{0,3}") {
        for text in [text, sfen_like] {
            accepted_is_playable::<Minishogi>(&text);
            accepted_is_playable::<Shogi>(&text);
        }
    }

    #[test]
    fn damaged_positions_are_refused_or_playable(
        mini in damaged(Minishogi::START_SFEN),
        late in damaged("2r1k/1g1+P1/2B2/1sP2/K1R2 b GSb 41"),
        full in damaged("lr6l/4g1k1p/1s1p1pgp1/p3P1N1P/2Pl5/PPbBSP3/6PP1/4S1SK1/1+r3G1NL b N3Pgn2p 41"),
    ) {
        accepted_is_playable::<Minishogi>(&mini);
        accepted_is_playable::<Minishogi>(&late);
        accepted_is_playable::<Shogi>(&full);
    }
}
