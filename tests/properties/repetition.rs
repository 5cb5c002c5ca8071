//! Repetition, judged a second time from a list of positions as text.

use kozuka::movegen::{is_legal, legal_moves};
use kozuka::position::{Position, Rules, Sennichite};
use kozuka::types::{Move, MoveKind};
use kozuka::variant::{Minishogi, Shogi, Variant};

use crate::positions::Random;

/// A position of the game as text, and whether the move that led to it gave check.
type Past = Vec<(String, bool)>;

fn note<V: Variant>(position: &Position<V>) -> (String, bool) {
    (position.sfen().rsplit_once(' ').unwrap().0.to_owned(), position.in_check())
}

/// The result by the rule text; `sente-loses` and the others by name, `always-draw` for 9x9.
fn judge(past: &Past, setting: &str) -> Option<String> {
    let (last, _) = past.last()?;
    let at: Vec<usize> = (0..past.len()).filter(|&index| past[index].0 == *last).collect();
    let (first, fourth) = (at[0], *at.get(3)?);
    // The side that made the move that led to a position is the one that is not to move there.
    let checks = |side: &str| -> Vec<bool> {
        let made_by = |text: &str| text.split(' ').nth(1) != Some(side);
        past[first + 1..=fourth].iter().filter(|(text, _)| made_by(text)).map(|(_, check)| *check).collect()
    };
    let (sente, gote) = (checks("b"), checks("w"));
    let every = |checks: &[bool]| checks.iter().all(|&check| check);
    let some = |checks: &[bool]| checks.iter().any(|&check| check);
    let loses = |side| Some(format!("{} perpetual_check", if side == "b" { "gote_wins" } else { "sente_wins" }));
    if setting == "draw" {
        return Some("draw repetition".to_owned());
    }
    if setting == "attacker-deviates" && some(&sente) != some(&gote) {
        return loses(if some(&sente) { "b" } else { "w" });
    }
    match (every(&sente), every(&gote)) {
        (true, true) => Some("draw double_perpetual_check".to_owned()),
        (true, false) => loses("b"),
        (false, true) => loses("w"),
        (false, false) if setting == "always-draw" => Some("draw repetition".to_owned()),
        (false, false) => Some("gote_wins repetition".to_owned()),
    }
}

/// The move that undoes the side's last one.
fn back_again(played: &[Move]) -> Option<Move> {
    match played.len().checked_sub(2).and_then(|index| played[index].unpack())? {
        MoveKind::Board { from, to, .. } => Some(Move::board(to, from, false)),
        MoveKind::Drop { .. } => None,
    }
}

/// Plays to and fro, sometimes taking a move back. Returns the ends that it saw.
fn play<V: Variant>(random: &mut Random, sfen: &str, setting: Sennichite, name: &str) -> Vec<String> {
    let rules = Rules { sennichite: setting, max_moves: 0 };
    let mut position = Position::<V>::from_sfen(sfen, rules).unwrap();
    let mut played = Vec::new();
    let mut past = vec![note(&position)];
    let mut ends = Vec::new();
    for _ in 0..300 {
        let moves = legal_moves(&position);
        if moves.is_empty() || random.one_in(15) {
            position.undo_move();
            played.pop();
            past.truncate((past.len() - 1).max(1));
            continue;
        }
        let mv = match back_again(&played) {
            Some(back) if is_legal(&position, back) && !random.one_in(6) => back,
            _ => moves[random.below(moves.len())],
        };
        position.do_move(mv);
        played.push(mv);
        past.push(note(&position));
        let expected = judge(&past, name);
        assert_eq!(position.repetition().map(|end| end.to_string()), expected, "{past:#?}");
        let times = past.iter().filter(|(text, _)| *text == past[past.len() - 1].0).count();
        assert_eq!(position.occurrences(), times);
        ends.extend(expected);
    }
    ends
}

#[test]
fn repetitions_are_found_and_judged_as_the_text_says() {
    let mut random = Random(0x7777_1234_5555_4321);
    let mut ends: Vec<(String, String)> = Vec::new();
    for _ in 0..40 {
        for setting in Sennichite::ALL {
            for sfen in ["4k/5/5/5/K2R1 b - 1", "1r2k/5/5/5/K4 w - 1", "r2k1/5/5/5/1K2R b - 1", Minishogi::START_SFEN] {
                let found = play::<Minishogi>(&mut random, sfen, setting, setting.name());
                ends.extend(found.into_iter().map(|end| (setting.name().to_owned(), end)));
            }
            for sfen in ["8k/9/9/9/9/9/9/9/K6R1 b - 1", "1r6k/9/9/9/9/9/9/9/K8 w - 1"] {
                let found = play::<Shogi>(&mut random, sfen, setting, "always-draw");
                ends.extend(found.into_iter().map(|end| ("always-draw".to_owned(), end)));
            }
        }
    }
    // The walk is worth something only if it has met what it is for.
    for (setting, end) in [
        ("sente-loses", "gote_wins repetition"),
        ("sente-loses", "gote_wins perpetual_check"),
        ("sente-loses", "sente_wins perpetual_check"),
        ("draw", "draw repetition"),
        ("attacker-deviates", "gote_wins perpetual_check"),
        ("attacker-deviates", "sente_wins perpetual_check"),
        ("attacker-deviates", "gote_wins repetition"),
        ("always-draw", "draw repetition"),
        ("always-draw", "gote_wins perpetual_check"),
        ("always-draw", "sente_wins perpetual_check"),
    ] {
        let count = ends.iter().filter(|found| (found.0.as_str(), found.1.as_str()) == (setting, end)).count();
        assert!(count > 0, "{setting} never gave {end}");
    }
}
