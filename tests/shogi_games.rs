//! 9×9 from the outside: whole games that are legal to the last move, and play that a beginner would call sane.

mod support;

use kozuka::engine::GameId;
use kozuka::position::Reason;
use kozuka::types::Color;
use support::{Chance, Game, Program};

/// The start position.
const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

/// Kozuka on 9×9, ready to play.
fn start_kozuka() -> Program {
    let mut kozuka = Program::kozuka(["--variant", "shogi"]);
    for line in ["usi", "setoption name USI_Hash value 16", "isready"] {
        kozuka.send(line);
    }
    kozuka.wait_for("readyok", |line| line == "readyok");
    kozuka
}

/// Its answer, with the last score before it in centipawns, a mate as a hundred thousand.
fn ask(kozuka: &mut Program, game: &Game, limit: &str) -> (String, i32) {
    kozuka.send(&game.command());
    kozuka.send(limit);
    let mut score = 0;
    let line = kozuka.wait_for("a move", |line| {
        let words: Vec<&str> = line.split(' ').collect();
        if let Some(at) = words.iter().position(|&word| word == "score") {
            let value: i32 = words[at + 2].parse().unwrap();
            score = if words[at + 1] == "cp" { value } else { value.signum() * 100_000 };
        }
        words[0] == "bestmove"
    });
    (line.split(' ').nth(1).unwrap_or_default().to_owned(), score)
}

#[test]
fn the_argument_changes_the_default_of_the_variant_and_nothing_else() {
    let [minishogi, shogi] = [&[] as &[&str], &["--variant", "shogi"]].map(|arguments| {
        let mut kozuka = Program::kozuka(arguments);
        let mut lines = Vec::new();
        kozuka.send("usi");
        kozuka.wait_for("usiok", |line| {
            lines.push(line.to_owned());
            line == "usiok"
        });
        kozuka.send("quit");
        kozuka.leave();
        lines
    });
    let differ: Vec<_> = minishogi.iter().zip(&shogi).filter(|(one, other)| one != other).collect();
    let [(one, other)] = differ[..] else { panic!("{differ:?}") };
    assert_eq!(minishogi.len(), shogi.len());
    assert_eq!(one, "option name USI_Variant type combo default minishogi var minishogi var shogi");
    // lishoginet goes by the beginning of this line.
    assert_eq!(other, "option name USI_Variant type combo default shogi var shogi var minishogi");
}

#[test]
fn a_random_mover_is_beaten_twenty_to_nothing() {
    let mut kozuka = start_kozuka();
    let mut reasons = Vec::new();
    for number in 0..20 {
        let side = if number % 2 == 0 { Color::Black } else { Color::White };
        kozuka.send("usinewgame");
        let mut game = Game::new(GameId::Shogi);
        let mut chance = Chance(100 + number);
        let winner = loop {
            if let Some(outcome) = game.outcome() {
                reasons.push(outcome.reason);
                break outcome.winner;
            }
            if game.position().side_to_move() != side {
                let mv = chance.choose(game.position());
                game.play(&mv);
                continue;
            }
            let (mv, _) = ask(&mut kozuka, &game, "go nodes 1500");
            if mv == "win" {
                assert!(game.position().can_declare_win(), "{}", game.command());
                break Some(side);
            }
            game.play(&mv);
        };
        assert_eq!(winner, Some(side), "game {number}: {}", game.command());
    }
    assert!(reasons.contains(&Reason::Checkmate), "{reasons:?}");
    kozuka.send("quit");
    kozuka.leave();
}

#[test]
fn a_game_against_itself_is_legal_to_its_end() {
    let mut kozuka = start_kozuka();
    let mut game = Game::new(GameId::Shogi);
    while game.outcome().is_none() && game.moves().len() < 300 {
        let (mv, _) = ask(&mut kozuka, &game, "go nodes 600");
        if mv == "win" {
            assert!(game.position().can_declare_win(), "{}", game.command());
            break;
        }
        game.play(&mv);
    }
    assert!(game.moves().len() > 30, "{}", game.command());
    kozuka.send("quit");
    kozuka.leave();
}

/// What a piece is worth, in tenths of a pawn.
fn worth(letter: char, promoted: bool) -> i32 {
    let plain = match letter.to_ascii_lowercase() {
        'p' => 10,
        'l' | 'n' => 30,
        's' => 50,
        'g' => 60,
        'b' => 80,
        'r' => 100,
        _ => 0,
    };
    match plain {
        _ if !promoted => plain,
        80.. => plain + 30,
        _ => 60,
    }
}

/// What the pieces of each side are worth, on the board and in hand.
fn material(game: &Game) -> [i32; 2] {
    let sfen = game.position().sfen();
    let fields: Vec<&str> = sfen.split(' ').collect();
    let mut sums = [0; 2];
    let mut promoted = false;
    for letter in fields[0].chars() {
        sums[usize::from(letter.is_ascii_lowercase())] += worth(letter, promoted);
        promoted = letter == '+';
    }
    let mut number = 0;
    for letter in fields[2].chars() {
        match letter.to_digit(10) {
            Some(digit) => number = number * 10 + digit as i32,
            None => {
                sums[usize::from(letter.is_ascii_lowercase())] += worth(letter, false) * number.max(1);
                number = 0;
            }
        }
    }
    sums
}

/// The most that the side to move wins by capturing, with the captures that answer it, and by which capture. Neither side
/// has to go on.
fn loot(game: &mut Game, depth: u32) -> (i32, Option<String>) {
    let balance = |game: &Game, mover: usize| {
        let sums = material(game);
        sums[mover] - sums[1 - mover]
    };
    let mover = game.position().side_to_move().index();
    let before = material(game);
    let mut best = (0, None);
    for mv in game.position().legal_moves().into_iter().filter(|mv| depth > 0 && !mv.contains('*')) {
        game.play(&mv);
        if material(game)[1 - mover] < before[1 - mover] {
            let gain = balance(game, mover) - (before[mover] - before[1 - mover]) - loot(game, depth - 1).0;
            if gain > best.0 {
                best = (gain, Some(mv));
            }
        }
        game.take_back();
    }
    best
}

/// Plays games of so many plies against itself with that limit, and looks at what each move leaves to be captured. A
/// piece may hang if whatever else was played would have left as much, or if it is given for something: then the loss does
/// not make the score worse.
fn play_and_lose_nothing(limit: &str, plies: usize) {
    // Captures that answer each other, as far as they are followed.
    const EXCHANGE: u32 = 3;
    // A pawn with what is in its place afterwards; the knight, the least of pieces, counts 60 with the one in hand.
    const TRIFLE: i32 = 40;
    let mut kozuka = start_kozuka();
    // Static rook, ranging rook, an exchange of bishops, and a fight.
    let openings = [
        "7g7f 3c3d 2g2f 8c8d 2f2e 8d8e",
        "7g7f 8c8d 6g6f 3c3d 2h6h 7a6b",
        "7g7f 3c3d 8h2b+ 3a2b",
        "2g2f 8c8d 2f2e 8d8e 7g7f 4a3b 8h7g 3c3d",
    ];
    for opening in openings {
        let mut game = Game::from_sfen(GameId::Shogi, START);
        opening.split(' ').for_each(|mv| game.play(mv));
        let (_, score) = ask(&mut kozuka, &game, limit);
        // All of these are about even.
        assert!(score.abs() < 600, "{score} after {}", game.command());
        for _ in 0..plies {
            if game.outcome().is_some() {
                break;
            }
            let (mv, score) = ask(&mut kozuka, &game, limit);
            game.play(&mv);
            let (lost, capture) = loot(&mut game, EXCHANGE);
            if lost <= TRIFLE {
                continue;
            }
            game.take_back();
            let mut least = lost;
            for other in game.position().legal_moves() {
                game.play(&other);
                least = least.min(loot(&mut game, EXCHANGE).0);
                game.take_back();
            }
            game.play(&mv);
            if lost <= least + TRIFLE {
                continue;
            }
            game.play(&capture.unwrap());
            let (_, then) = ask(&mut kozuka, &game, limit);
            assert!(then > score - 300, "{mv} loses {lost}, {score} becomes {then}: {}", game.command());
            game.take_back();
        }
    }
    kozuka.send("quit");
    kozuka.leave();
}

#[test]
fn no_piece_is_lost_for_nothing() {
    play_and_lose_nothing("go nodes 20000", 16);
}

#[test]
#[ignore = "a second a move takes some minutes"]
fn no_piece_is_lost_for_nothing_at_a_second_a_move() {
    play_and_lose_nothing("go movetime 1000", 60);
}

#[test]
fn what_hangs_is_taken_and_what_is_attacked_is_saved() {
    let mut kozuka = start_kozuka();
    // A rook, then a bishop, stands unguarded.
    for (sfen, expected) in [("4k4/9/9/4r4/9/9/9/4R4/4K4 b - 1", "5h5d"), ("4k4/9/9/2b6/2P6/9/9/9/4K4 b - 1", "7e7d")] {
        let game = Game::from_sfen(GameId::Shogi, sfen);
        let (mv, _) = ask(&mut kozuka, &game, "go nodes 5000");
        // With or without promotion.
        assert!(mv.starts_with(expected), "{mv} instead of {expected} in {sfen}");
    }
    // A pawn attacks a silver.
    let mut game = Game::from_sfen(GameId::Shogi, "4k4/9/9/9/4p4/4S4/9/9/4K3L b - 1");
    let (mv, _) = ask(&mut kozuka, &game, "go nodes 5000");
    game.play(&mv);
    assert!(loot(&mut game, 1).0 < 100, "{mv}");
    kozuka.send("quit");
    kozuka.leave();
}

#[test]
fn the_fourth_repetition_is_a_draw_whoever_completes_it() {
    for setting in ["sente-loses", "draw", "attacker-deviates"] {
        let mut kozuka = start_kozuka();
        kozuka.send(&format!("setoption name Sennichite value {setting}"));
        kozuka.send(&format!("position startpos moves {}", "2h3h 8b7b 3h2h 7b8b ".repeat(3)));
        kozuka.send("d");
        let line = kozuka.wait_for("an outcome", |line| line.starts_with("Outcome: "));
        assert!(line.contains("draw") && line.contains("repetition"), "{setting}: {line}");
        kozuka.send("quit");
        kozuka.leave();
    }
}

#[test]
fn perpetual_check_loses_on_nine_by_nine() {
    let mut kozuka = start_kozuka();
    // Sente's rook checks along two files, gote's king walks to and fro.
    let start = "k8/9/9/9/9/9/9/1R7/8K b - 1";
    let laps = "8h9h 9a8a 9h8h 8a9a ";
    kozuka.send(&format!("position sfen {start} moves {}", laps.repeat(3)));
    kozuka.send("d");
    let line = kozuka.wait_for("an outcome", |line| line.starts_with("Outcome: "));
    assert!(line.contains("gote_wins") && line.contains("perpetual_check"), "{line}");
    kozuka.send("quit");
    kozuka.leave();
}

#[test]
fn victory_is_declared_only_when_all_conditions_hold() {
    let mut kozuka = start_kozuka();
    // Sente needs 28 points with ten pieces in the zone beside the king; gote 27.
    let cases = [
        ("+R+R+B+BGG3/GGSSK4/9/9/9/9/9/9/4k4 b 2P 1", true),
        // A point is missing: 20 for rooks and bishops, 6 for the others, 1 in hand.
        ("+R+R+B+BGG3/GGSSK4/9/9/9/9/9/9/4k4 b P 1", false),
        // The king is not in the zone.
        ("+R+R+B+BGG3/GGSS5/9/4K4/9/9/9/9/4k4 b 9P 1", false),
        // Only nine pieces are.
        ("+R+R+B+BGG3/GGS1K4/9/9/9/9/9/9/4k4 b 9P 1", false),
        // The king is in check.
        ("+R+R+B+BGG3/GGSSK4/5s3/9/9/9/9/9/4k4 b 9P 1", false),
        // Gote has enough with 27,
        ("4K4/9/9/9/9/9/9/4kssgg/3gg+b+b+r+r w p 1", true),
        // and not with 26.
        ("4K4/9/9/9/9/9/9/4kssgg/3gg+b+b+r+r w - 1", false),
    ];
    for (sfen, wins) in cases {
        let game = Game::from_sfen(GameId::Shogi, sfen);
        let (mv, _) = ask(&mut kozuka, &game, "go nodes 2000");
        assert_eq!(mv == "win", wins, "{mv} in {sfen}");
    }
    kozuka.send("quit");
    kozuka.leave();
}
