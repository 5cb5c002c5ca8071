//! How games end, and which moves are legal: a file of cases that several programs agree on, and the positions over
//! which other engines and servers have stumbled.

use std::path::Path;

use kozuka::movegen::{has_legal_move, is_legal, legal_moves, outcome};
use kozuka::position::{Judgement, Position, Rules, Sennichite, judge_cycle};
use kozuka::types::{Color, Move};
use kozuka::variant::{Minishogi, Shogi, Variant};
use serde_json::Value;

fn with(sennichite: Sennichite) -> Rules {
    Rules { sennichite, max_moves: 0 }
}

fn read<V: Variant>(sfen: &str, rules: Rules) -> Position<V> {
    Position::from_sfen(sfen, rules).unwrap_or_else(|error| panic!("{sfen}: {error}"))
}

fn usi<V: Variant>(text: &str) -> Move {
    Move::from_usi::<V>(text).unwrap_or_else(|| panic!("{text} is no move"))
}

/// Whether the move is legal, asked in both ways.
fn allows<V: Variant>(position: &Position<V>, text: &str) -> bool {
    let mv = usi::<V>(text);
    let legal = is_legal(position, mv);
    assert_eq!(legal, legal_moves(position).contains(&mv), "{text} in {}", position.sfen());
    legal
}

/// Plays the moves, each of which must be legal.
fn play<V: Variant>(position: &mut Position<V>, moves: &str) {
    for text in moves.split_whitespace() {
        assert!(allows(position, text), "{text} in {}", position.sfen());
        position.do_move(usi::<V>(text));
    }
}

/// The outcome as text, `none` while the game goes on.
fn end<V: Variant>(position: &Position<V>) -> String {
    outcome(position).map_or_else(|| "none".to_owned(), |outcome| outcome.to_string())
}

/// The outcome after a cycle of moves has been played `laps` times.
fn end_of_cycle<V: Variant>(sfen: &str, cycle: &str, laps: usize, rules: Rules) -> String {
    let mut position = read::<V>(sfen, rules);
    for _ in 0..laps {
        assert_eq!(end(&position), "none", "{}", position.sfen());
        play(&mut position, cycle);
    }
    end(&position)
}

const START: &str = Minishogi::START_SFEN;

// The file of cases.

fn strings<'a>(case: &'a Value, field: &str) -> Vec<&'a str> {
    case[field].as_array().map_or_else(Vec::new, |list| list.iter().map(|item| item.as_str().unwrap()).collect())
}

fn rules_of(case: &Value) -> Rules {
    match case["ruleset"].as_str().unwrap() {
        "chessplayx" => with(Sennichite::SenteLoses),
        "kawu" => Rules { sennichite: Sennichite::Draw, max_moves: 300 },
        other => panic!("unknown ruleset {other}"),
    }
}

fn expected_end(case: &Value) -> String {
    format!("{} {}", case["outcome"].as_str().unwrap(), case["reason"].as_str().unwrap()).trim().to_owned()
}

fn check_synthetic(case: &Value) {
    let plies: Vec<usize> =
        case["occurrence_plies"].as_array().unwrap().iter().map(|ply| ply.as_u64().unwrap() as usize).collect();
    let flags = case["check_flags"].as_array().unwrap().iter().map(|flag| flag.as_u64() == Some(1));
    let (first, last) = (plies[0], plies[plies.len() - 1]);
    let mover = match (case["first_mover"].as_str().unwrap(), first % 2) {
        ("sente", 0) | ("gote", 1) => Color::Black,
        _ => Color::White,
    };
    assert_eq!(rules_of(case).sennichite, Sennichite::SenteLoses);
    let result = judge_cycle(Judgement::SenteLoses, mover, flags.skip(first).take(last - first));
    assert_eq!(result.to_string(), expected_end(case));
}

fn check_case(case: &Value) {
    let mut position = read::<Minishogi>(case["sfen"].as_str().unwrap(), rules_of(case));
    for text in strings(case, "moves") {
        assert_eq!(end(&position), "none", "over before {text}");
        play(&mut position, text);
    }
    assert_eq!(end(&position), expected_end(case));
    for text in strings(case, "legal") {
        assert!(allows(&position, text), "{text} must be legal");
    }
    for text in strings(case, "illegal") {
        assert!(!allows(&position, text), "{text} must be illegal");
    }
    if let Some(count) = case["occurrence_of_final_position"].as_u64() {
        assert_eq!(position.occurrences() as u64, count);
    }
}

#[test]
fn every_case_of_the_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rules/minishogi.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let synthetic = case["synthetic"].as_bool() == Some(true);
        let check = if synthetic { check_synthetic } else { check_case };
        if std::panic::catch_unwind(|| check(&case)).is_err() {
            wrong.push(format!("{} {}", case["id"].as_str().unwrap(), case["name"].as_str().unwrap()));
        }
        count += 1;
    }
    assert_eq!(count, 85);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

// Repetition.

#[test]
fn the_given_position_is_the_first_occurrence_and_its_number_means_nothing() {
    for number in ["", "0", "1", "2", "37", "99999"] {
        let sfen = format!("rbsgk/4p/5/P4/KGSBR b - {number}");
        let end = end_of_cycle::<Minishogi>(&sfen, "4e4d 2a2b 4d4e 2b2a", 3, Rules::default());
        assert_eq!(end, "gote_wins repetition", "{sfen}");
    }
}

#[test]
fn sente_loses_whoever_completes_the_repetition() {
    // From the second ply on the same lap is completed by Sente.
    let mut position = read::<Minishogi>("rbsgk/4p/5/PG3/K1SBR w - 1", Rules::default());
    play(&mut position, &"2a2b 4d4e 2b2a 4e4d ".repeat(3));
    assert_eq!(end(&position), "gote_wins repetition");
    // The side to move at the first occurrence does not matter, and neither does who moves first in the game.
    let mut position = read::<Minishogi>("rbsgk/4p/5/P4/KGSBR w - 1", Rules::default());
    play(&mut position, &"2a2b 4e4d 2b2a 4d4e ".repeat(3));
    assert_eq!(end(&position), "gote_wins repetition");
}

#[test]
fn a_first_occurrence_at_any_ply_is_counted() {
    for lead in ["", "1e1d", "1e1d 5a5b", "1e1d 5a5b 1d1e"] {
        let mut position = read::<Minishogi>(START, Rules::default());
        play(&mut position, lead);
        let cycle = if position.side_to_move() == Color::Black { "4e4d 2a2b 4d4e 2b2a" } else { "2a2b 4e4d 2b2a 4d4e" };
        play(&mut position, &format!("{cycle} ").repeat(2));
        let (last, before) = cycle.split_at(cycle.len() - 4);
        play(&mut position, last);
        assert_eq!(end(&position), "none", "after {lead}");
        play(&mut position, before);
        assert_eq!(position.occurrences(), 4);
        assert_eq!(end(&position), "gote_wins repetition", "after {lead}");
    }
}

#[test]
fn a_cycle_of_twenty_plies_is_found() {
    // Sente's king walks around five squares, Gote's around four: the same position comes back after twenty plies.
    let cycle = "5e4e 1a1b 4e4d 1b2b 4d5c 2b2a 5c5d 2a1a 5d5e 1a1b 5e4e 1b2b 4e4d 2b2a 4d5c 2a1a 5c5d 1a1b 5d5e 1b1a";
    let mut position = read::<Minishogi>("4k/5/5/5/K4 b - 1", Rules::default());
    let first: Vec<&str> = cycle.split_whitespace().collect();
    assert_eq!(first.len(), 20);
    for lap in 0..3 {
        assert_eq!(position.occurrences(), lap + 1);
        assert_eq!(end(&position), "none");
        for text in &first {
            play(&mut position, text);
            // Positions inside the lap stay below four occurrences until the lap's last move.
            assert!(position.occurrences() < 4 || (lap == 2 && position.ply() == 60));
        }
    }
    assert_eq!(position.occurrences(), 4);
    assert_eq!(end(&position), "gote_wins repetition");
}

#[test]
fn hands_are_part_of_the_position() {
    let mut position = read::<Minishogi>("2r1k/5/5/5/K4 b 2P 1", Rules::default());
    play(&mut position, "P*3b 3a3b 5e4e 1a1b 4e5d 1b1a 5d5e 3b3a");
    assert_eq!(position.sfen(), "2r1k/5/5/5/K4 b Pp 9");
    assert_eq!(position.occurrences(), 1);
    assert_eq!(end(&position), "none");
}

#[test]
fn a_game_beyond_its_end_stays_ended_and_playable() {
    let mut position = read::<Minishogi>(START, Rules::default());
    play(&mut position, &"4e4d 2a2b 4d4e 2b2a ".repeat(3));
    assert_eq!(legal_moves(&position).len(), 14);
    play(&mut position, "4e4d 2a2b 4d4e 2b2a");
    assert_eq!(position.occurrences(), 5);
    assert_eq!(end(&position), "gote_wins repetition");
}

#[test]
fn the_first_four_occurrences_decide() {
    let (sfen, cycle) = PERPETUAL_BY_GOTE;
    let mut position = read::<Minishogi>(sfen, Rules::default());
    for _ in 0..3 {
        play(&mut position, cycle);
    }
    assert_eq!(end(&position), "sente_wins perpetual_check");
    // A client that plays on, now without check, cannot turn the result.
    play(&mut position, "4a4b 5e5d 4b4a 5d5e");
    assert_eq!(position.occurrences(), 5);
    assert_eq!(end(&position), "sente_wins perpetual_check");
}

#[test]
fn taking_moves_back_takes_the_repetition_back() {
    let mut position = read::<Minishogi>(START, Rules::default());
    play(&mut position, &"4e4d 2a2b 4d4e 2b2a ".repeat(3));
    for _ in 0..12 {
        position.undo_move();
    }
    assert_eq!((position.occurrences(), position.ply()), (1, 0));
    position.undo_move();
    assert_eq!(position.sfen(), START);
    play(&mut position, &"4e4d 2a2b 4d4e 2b2a ".repeat(2));
    assert_eq!(position.occurrences(), 3);
    assert_eq!(end(&position), "none");
}

#[test]
fn a_null_move_parts_the_history() {
    let mut position = read::<Minishogi>(START, Rules::default());
    play(&mut position, "4e4d 2a2b 4d4e 2b2a");
    position.do_null_move();
    position.do_null_move();
    assert_eq!(position.occurrences(), 1);
    position.undo_move();
    position.undo_move();
    assert_eq!(position.occurrences(), 2);
}

#[test]
fn a_search_takes_the_first_return_inside_its_tree_for_the_fourth() {
    let mut position = read::<Minishogi>(START, Rules::default());
    play(&mut position, "4e4d 2a2b 4d4e 2b2a");
    // The root is the first position again; its earlier occurrence is of the game, not of the tree.
    let root = position.ply();
    assert_eq!(position.repetition_in_search(root), None);
    play(&mut position, "4e4d");
    assert_eq!(position.repetition_in_search(root), None);
    play(&mut position, "2a2b 4d4e 2b2a");
    assert_eq!(position.occurrences(), 3);
    assert_eq!(position.repetition_in_search(root), None, "the root itself stands for the game");
    play(&mut position, "4e4d");
    let end = position.repetition_in_search(root).map(|end| end.to_string());
    assert_eq!(end.as_deref(), Some("gote_wins repetition"));
}

fn steps_back_are_found<V: Variant>(sfen: &str) {
    let mut position = read::<V>(sfen, Rules::default());
    let mut keys = vec![position.key()];
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut found = 0;
    for _ in 0..3_000 {
        let moves = legal_moves(&position);
        if moves.is_empty() || keys.len() > 60 {
            position = read::<V>(sfen, Rules::default());
            keys = vec![position.key()];
            continue;
        }
        let mut steps = Vec::new();
        for &mv in moves.iter().filter(|mv| !mv.is_drop() && !mv.is_promotion()) {
            if position.piece_on(mv.to()).is_some() {
                continue;
            }
            position.do_move(mv);
            if keys[1..].contains(&position.key()) {
                steps.push(mv);
            }
            position.undo_move();
        }
        let mut seen: Vec<Move> = position.steps_back(0).filter(|&mv| is_legal(&position, mv)).collect();
        seen.sort_unstable();
        seen.dedup();
        steps.sort_unstable();
        assert_eq!(seen, steps, "{}", position.sfen());
        found += usize::from(!steps.is_empty());
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        position.do_move(moves[seed as usize % moves.len()]);
        keys.push(position.key());
    }
    assert!(found > 100, "{found}");
}

#[test]
fn a_step_back_is_seen_before_it_is_made() {
    steps_back_are_found::<Minishogi>("4k/3g1/5/1G3/K4 b - 1");
    steps_back_are_found::<Shogi>("8k/7g1/9/9/9/9/9/1G7/K8 b - 1");
}

// Perpetual check.

const PERPETUAL: (&str, &str) = ("4k/5/5/5/K2R1 b - 1", "2e1e 1a2a 1e2e 2a1a");
/// The same with the colours changed.
const PERPETUAL_BY_GOTE: (&str, &str) = ("1r2k/5/5/5/K4 w - 1", "4a5a 5e4e 5a4a 4e5e");

#[test]
fn perpetual_check_loses_whoever_gives_it() {
    let rules = Rules::default();
    assert_eq!(end_of_cycle::<Minishogi>(PERPETUAL.0, PERPETUAL.1, 3, rules), "gote_wins perpetual_check");
    assert_eq!(
        end_of_cycle::<Minishogi>(PERPETUAL_BY_GOTE.0, PERPETUAL_BY_GOTE.1, 3, rules),
        "sente_wins perpetual_check"
    );
}

#[test]
fn the_checker_may_complete_the_cycle_or_the_evader() {
    // One ply later the first occurrence has Gote in check, and Sente's own check completes the cycle.
    let mut position = read::<Minishogi>("4k/5/5/5/K3R w - 1", Rules::default());
    play(&mut position, &"1a2a 1e2e 2a1a 2e1e ".repeat(3));
    assert_eq!(end(&position), "gote_wins perpetual_check");
}

#[test]
fn what_happened_before_the_first_occurrence_does_not_count() {
    // A quiet lead that never comes back, then nothing but checks.
    let mut position = read::<Minishogi>("4k/5/5/K4/3R1 b - 1", Rules::default());
    play(&mut position, "5d5e 1a1b 2e2d 1b1a");
    play(&mut position, &"2d1d 1a2a 1d2d 2a1a ".repeat(3));
    assert_eq!(end(&position), "gote_wins perpetual_check");
}

#[test]
fn one_quiet_move_of_a_checking_gote_turns_the_result() {
    let (sfen, cycle) = PERPETUAL_BY_GOTE;
    let mut position = read::<Minishogi>(sfen, Rules::default());
    play(&mut position, cycle);
    play(&mut position, cycle);
    play(&mut position, "4a4b 5e5d 4b4a 5d5e");
    assert_eq!(end(&position), "gote_wins repetition");
}

#[test]
fn three_settings_three_results() {
    let settings = [Sennichite::SenteLoses, Sennichite::AttackerDeviates, Sennichite::Draw];
    let ends = |sfen, cycle| settings.map(|setting| end_of_cycle::<Minishogi>(sfen, cycle, 3, with(setting)));
    // Check with every second move of one side.
    assert_eq!(
        ends("4k/5/5/5/K1R2 b - 1", "3e1e 1a2a 1e3e 2a1a"),
        ["gote_wins repetition", "gote_wins perpetual_check", "draw repetition"]
    );
    assert_eq!(
        ends("2r1k/5/5/5/K4 w - 1", "3a5a 5e4e 5a3a 4e5e"),
        ["gote_wins repetition", "sente_wins perpetual_check", "draw repetition"]
    );
    // Check with every move of one side.
    assert_eq!(
        ends(PERPETUAL_BY_GOTE.0, PERPETUAL_BY_GOTE.1),
        ["sente_wins perpetual_check", "sente_wins perpetual_check", "draw repetition"]
    );
    // No check at all.
    assert_eq!(ends(START, "4e4d 2a2b 4d4e 2b2a"), ["gote_wins repetition", "gote_wins repetition", "draw repetition"]);
}

#[test]
fn a_cycle_is_judged_by_its_checks() {
    use Judgement::{AttackerDeviates, Draw, DrawExceptPerpetual, SenteLoses};
    // Each cycle twice: begun by Sente, and, with the same flags, by Gote.
    let cases: [(&[u8], [[&str; 2]; 4]); 6] = [
        (
            &[0, 0, 0, 0],
            [["gote_wins repetition"; 2], ["draw repetition"; 2], ["gote_wins repetition"; 2], ["draw repetition"; 2]],
        ),
        (
            &[1, 0, 1, 0],
            [
                ["gote_wins perpetual_check", "sente_wins perpetual_check"],
                ["draw repetition"; 2],
                ["gote_wins perpetual_check", "sente_wins perpetual_check"],
                ["gote_wins perpetual_check", "sente_wins perpetual_check"],
            ],
        ),
        (
            &[1, 0, 0, 0],
            [
                ["gote_wins repetition"; 2],
                ["draw repetition"; 2],
                ["gote_wins perpetual_check", "sente_wins perpetual_check"],
                ["draw repetition"; 2],
            ],
        ),
        // Both give some check, one with every move: that one loses.
        (
            &[1, 0, 1, 1],
            [
                ["gote_wins perpetual_check", "sente_wins perpetual_check"],
                ["draw repetition"; 2],
                ["gote_wins perpetual_check", "sente_wins perpetual_check"],
                ["gote_wins perpetual_check", "sente_wins perpetual_check"],
            ],
        ),
        // Both give some check, neither with every move.
        (
            &[1, 0, 0, 1],
            [["gote_wins repetition"; 2], ["draw repetition"; 2], ["gote_wins repetition"; 2], ["draw repetition"; 2]],
        ),
        (
            &[1, 1, 1, 1],
            [
                ["draw double_perpetual_check"; 2],
                ["draw repetition"; 2],
                ["draw double_perpetual_check"; 2],
                ["draw double_perpetual_check"; 2],
            ],
        ),
    ];
    for (flags, expected) in cases {
        for (judgement, expected) in [SenteLoses, Draw, AttackerDeviates, DrawExceptPerpetual].into_iter().zip(expected)
        {
            for (first, expected) in Color::ALL.into_iter().zip(expected) {
                let result = judge_cycle(judgement, first, flags.iter().map(|&flag| flag == 1));
                assert_eq!(result.to_string(), expected, "{flags:?} by {first:?} under {judgement:?}");
            }
        }
    }
}

// 9x9.

#[test]
fn repetition_on_nine_by_nine_is_a_draw_under_every_setting() {
    for setting in Sennichite::ALL {
        let end = |sfen, cycle| end_of_cycle::<Shogi>(sfen, cycle, 3, with(setting));
        assert_eq!(end(Shogi::START_SFEN, "2h3h 8b7b 3h2h 7b8b"), "draw repetition");
        // Perpetual check loses for either side, a check with every second move does not.
        assert_eq!(end("8k/9/9/9/9/9/9/9/K6R1 b - 1", "2i1i 1a2a 1i2i 2a1a"), "gote_wins perpetual_check");
        assert_eq!(end("1r6k/9/9/9/9/9/9/9/K8 w - 1", "8a9a 9i8i 9a8a 8i9i"), "sente_wins perpetual_check");
        assert_eq!(end("8k/9/9/9/9/9/9/9/K5R2 b - 1", "3i1i 1a2a 1i3i 2a1a"), "draw repetition");
    }
}

// The limit on plies.

#[test]
fn the_ply_limit_counts_from_the_given_position() {
    let rules = Rules { sennichite: Sennichite::SenteLoses, max_moves: 4 };
    for number in [1, 3, 300] {
        let mut position = read::<Minishogi>(&format!("rbsgk/4p/5/P4/KGSBR b - {number}"), rules);
        play(&mut position, "4e4d 2a2b 4d4e");
        assert_eq!(end(&position), "none");
        play(&mut position, "2b3c");
        assert_eq!(end(&position), "draw max_plies");
        assert!(has_legal_move(&position), "the moves stay playable");
        play(&mut position, "1e1d");
        assert_eq!(end(&position), "draw max_plies");
    }
    let mut position = read::<Shogi>(Shogi::START_SFEN, rules);
    play(&mut position, "7g7f 3c3d 8h2b+ 3a2b");
    assert_eq!(end(&position), "draw max_plies");
}

#[test]
fn mate_and_repetition_rank_before_the_ply_limit() {
    let mut position = read::<Minishogi>("4k/5/3G1/5/K4 b G 1", Rules { max_moves: 1, ..Rules::default() });
    play(&mut position, "G*1b");
    assert_eq!(end(&position), "sente_wins checkmate");
    let mut position = read::<Minishogi>(START, Rules { max_moves: 12, ..Rules::default() });
    play(&mut position, &"4e4d 2a2b 4d4e 2b2a ".repeat(3));
    assert_eq!(end(&position), "gote_wins repetition");
}

#[test]
fn no_limit_means_none() {
    let mut position = read::<Minishogi>(START, Rules::default());
    for _ in 0..100 {
        play(&mut position, "4e4d 2a2b 4d4e 2b2a");
    }
    assert_eq!(position.ply_limit(), None);
}

// Mate, stalemate and the drop-pawn mate.

#[test]
fn no_legal_move_loses() {
    assert_eq!(end(&read::<Minishogi>("4k/4G/4P/5/K4 w - 1", Rules::default())), "sente_wins checkmate");
    assert_eq!(end(&read::<Minishogi>("4k/5/p4/g4/K4 b - 1", Rules::default())), "gote_wins checkmate");
    assert_eq!(end(&read::<Shogi>("8k/8G/8P/9/9/9/9/9/K8 w - 1", Rules::default())), "sente_wins checkmate");
    // Not in check, but without a move: the pawn and the king of Gote are both stuck.
    assert_eq!(end(&read::<Minishogi>("4k/2G2/3+R1/5/K4 w - 1", Rules::default())), "sente_wins stalemate");
}

#[test]
fn a_drop_pawn_mate_is_no_move() {
    let position = read::<Minishogi>("3rk/5/3G1/5/K4 b P 1", Rules::default());
    assert!(!allows(&position, "P*1b"));
    assert_eq!(legal_moves(&position).len(), 26);
    // The rook is cut off from the pawn by the silver that guards it.
    let position = read::<Minishogi>("4k/2B2/4S/b3r/K4 b P 1", Rules::default());
    assert!(!allows(&position, "P*1b"));
    // The same for Gote, turned around.
    let position = read::<Minishogi>("4k/5/1g3/5/KR3 w p 1", Rules::default());
    assert!(!allows(&position, "P*5d"));
    assert_eq!(legal_moves(&position).len(), 26);
}

#[test]
fn a_pawn_drop_that_only_checks_is_a_move() {
    // The king can step aside.
    assert!(allows(&read::<Minishogi>("4k/5/4G/5/K4 b P 1", Rules::default()), "P*1b"));
    // The king can take the unguarded pawn.
    assert!(allows(&read::<Minishogi>("3rk/5/5/5/K4 b P 1", Rules::default()), "P*1b"));
    // Another piece can take it, also along the line of a check that the pawn blocks.
    assert!(allows(&read::<Minishogi>("3rk/3g1/3G1/5/K4 b P 1", Rules::default()), "P*1b"));
    assert!(allows(&read::<Shogi>("7nk/9/7Gr/9/9/9/9/9/K7L b P 1", Rules::default()), "P*1b"));
}

#[test]
fn a_pinned_piece_cannot_take_the_dropped_pawn() {
    let free = read::<Shogi>("7sk/9/7G1/9/9/9/9/9/K8 b P 1", Rules::default());
    assert!(allows(&free, "P*1b"), "the silver on 2a takes");
    let pinned = read::<Shogi>("5R1sk/9/7G1/9/9/9/9/9/K8 b P 1", Rules::default());
    assert!(!allows(&pinned, "P*1b"), "the silver on 2a is pinned by the rook on 4a");
}

// Promotion.

#[test]
fn promotion_is_optional_for_bishop_rook_and_silver() {
    let mut position = read::<Minishogi>(START, Rules::default());
    play(&mut position, "2e5b 3a3b");
    assert!(allows(&position, "5b4a"));
    assert!(allows(&position, "5b4a+"));
    let pawn = read::<Minishogi>("4k/P4/5/5/K4 b - 1", Rules::default());
    assert!(!allows(&pawn, "5b5a"));
    assert!(allows(&pawn, "5b5a+"));
    for (piece, to) in [("R", "5a"), ("B", "4a"), ("S", "5a")] {
        let position = read::<Minishogi>(&format!("4k/{piece}4/5/5/1K3 b - 1"), Rules::default());
        for mv in [format!("5b{to}"), format!("5b{to}+")] {
            assert!(allows(&position, &mv), "{piece} {mv}");
        }
    }
}

#[test]
fn promotion_on_nine_by_nine_is_compulsory_where_the_piece_would_be_stuck() {
    let position = read::<Shogi>("8k/P8/1L1N5/2N6/9/9/9/9/K8 b - 1", Rules::default());
    for (mv, legal) in [
        ("9b9a", false),
        ("9b9a+", true),
        ("8c8b", true),
        ("8c8b+", true),
        ("8c8a", false),
        ("8c8a+", true),
        ("6c5a", false),
        ("6c5a+", true),
        ("7d6b", false),
        ("7d6b+", true),
        ("7d8b+", true),
    ] {
        assert_eq!(allows(&position, mv), legal, "{mv}");
    }
    let hand = read::<Shogi>("8k/9/9/9/9/9/9/9/K8 b PLN 1", Rules::default());
    for (mv, legal) in [
        ("P*5a", false),
        ("L*5a", false),
        ("N*5a", false),
        ("P*5b", true),
        ("L*5b", true),
        ("N*5b", false),
        ("N*5c", true),
    ] {
        assert_eq!(allows(&hand, mv), legal, "{mv}");
    }
}

// Declaration of victory (nyugyoku, 27-point rule).

#[test]
fn a_king_in_the_promotion_zone_may_declare_victory_with_ten_pieces_and_enough_points() {
    use kozuka::movegen::can_declare_win;
    // The king stands in the corner with ten pieces in the zone: rook and bishop count five, in hand too.
    let declares = |sfen: &str| can_declare_win(&read::<Shogi>(sfen, Rules::default()));
    for (sfen, may) in [
        // Nine in the zone are too few whatever is in hand.
        ("K+P+P+P+P4/+P+P+P+P5/+P8/9/9/9/9/9/8k b 2R2B9P 1", false),
        // Ten in the zone: 10 + 10 + 7 in hand is 27, one short for Sente.
        ("K+P+P+P+P4/+P+P+P+P5/+P+P7/9/9/9/9/9/8k b RB7P 1", false),
        ("K+P+P+P+P4/+P+P+P+P5/+P+P7/9/9/9/9/9/8k b RB8P 1", true),
        // A rook inside counts five as well, also promoted.
        ("K+P+P+P+P4/+P+P+P+P5/+P+R7/9/9/9/9/9/8k b B9P 1", true),
        ("K+P+P+P+P4/+P+P+P+P5/+P+R7/9/9/9/9/9/8k b B8P 1", false),
        // The king is outside, the other side is to move, or the king is in check.
        ("1+P+P+P+P4/+P+P+P+P5/+P+P7/K8/9/9/9/9/8k b RB8P 1", false),
        ("K+P+P+P+P4/+P+P+P+P5/+P+P7/9/9/9/9/9/8k w RB8P 1", false),
        ("K+P+P+P+P3r/+P+P+P+P5/+P+P7/9/9/9/9/9/8k b RB8P 1", true),
        ("K7r/+P+P+P+P+P+P3/+P+P+P+P5/9/9/9/9/9/8k b RB8P 1", false),
        // Gote needs 27.
        ("8K/9/9/9/9/9/7+p+p/5+p+p+p+p/4+p+p+p+pk w rb7p 1", true),
        ("8K/9/9/9/9/9/7+p+p/5+p+p+p+p/4+p+p+p+pk w rb6p 1", false),
    ] {
        assert_eq!(declares(sfen), may, "{sfen}");
    }
    assert!(!can_declare_win(&read::<Minishogi>("K4/5/5/5/4k b 2R2B2G2S2P 1", Rules::default())));
}
