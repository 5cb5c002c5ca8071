//! `kozuka play`, driven by a pipe.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Plays with these arguments and this input; returns what came of it.
fn output(arguments: &[&str], input: &[u8], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kozuka"));
    command.arg("play").args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command.envs(environment.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Whoever has ended early reads no more.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// What a game that ends well says.
#[track_caller]
fn play(arguments: &str, input: &str) -> String {
    let arguments = shlex::split(arguments).unwrap();
    let output = output(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), input.as_bytes(), &[]);
    let (said, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && errors.is_empty(), "{}\n{said}\n{errors}", output.status);
    said
}

/// The last line.
fn last(said: &str) -> &str {
    said.lines().last().unwrap()
}

const QUICK: &str = "--nodes 300 --hash 1";

#[test]
fn a_game_against_the_engine() {
    let said = play(&format!("{QUICK} --level 3"), "4e4d\nmoves\nquit\n");
    assert!(said.starts_with("You play sente, Kozuka plays at level 3."), "{said}");
    assert!(said.contains("   5   4   3   2   1\n   r   b   s   g   k   a\n"), "{said}");
    assert!(said.contains("Kozuka plays ") && said.contains("   1 "), "{said}");
    let moves = last(&said).strip_prefix("The game: sfen rbsgk/4p/5/P4/KGSBR b - 1 moves 4e4d ").unwrap();
    assert_eq!(moves.split(' ').count(), 1, "{said}");
}

#[test]
fn either_side_can_be_played() {
    let said = play(&format!("{QUICK} --side gote"), "quit\n");
    let board = said.split("\nKozuka plays ").nth(1).unwrap();
    // The player sits below.
    assert!(board.contains("   1   2   3   4   5\n") && board.contains("gote to move"), "{said}");
    let said = play(&format!("{QUICK} --side both"), "4e4d\n2a2b\nundo\n2a3b\nsfen\n");
    assert!(said.contains("\nsfen rbsgk/4p/5/P4/KGSBR b - 1 moves 4e4d 2a3b\n"), "{said}");
    assert!(!said.contains("Kozuka plays"));
    // After `go` the engine has sente, so the one move that is played by hand is gote's.
    let said = play(QUICK, "go\n1\n");
    assert_eq!(said.matches("\nKozuka plays ").count(), 2, "{said}");
}

#[test]
fn the_engine_plays_with_itself_to_the_end() {
    let said = play("--side none --nodes 100 --level 0 --seed 3 --max-plies 80 --hash 1", "");
    assert!(said.contains(" wins. 'new', ") || said.contains("a draw. 'new', "), "{said}");
    assert_eq!(said, play("--side none --nodes 100 --level 0 --seed 3 --max-plies 80 --hash 1", ""));
}

#[test]
fn moves_are_chosen_by_number_and_named_in_any_case() {
    let said = play("--side both", "moves\nmoves 4e\n4E4D\n1\nP*1E\nM\n");
    assert!(said.contains("   1 1e1b    2 1e1c    3 1e1d"), "{said}");
    assert!(said.contains("\n  11 4e3d   12 4e4d\n"), "{said}");
    assert!(said.contains("P*1e is not legal; 'moves' lists what is\n"), "{said}");
    let moves = last(&said).rsplit_once(" moves ").unwrap().1;
    assert!(moves.starts_with("4e4d ") && moves.split(' ').count() == 2, "{said}");
}

#[test]
fn ends_are_announced_and_can_be_taken_back() {
    let mate = "--side both --sfen '4k/5/3G1/5/K4 b G 1'";
    let said = play(mate, "g*1b\n1a1b\nhint\nundo\nsfen\n");
    assert!(said.contains("Checkmate: sente wins. 'new', 'undo', 'save FILE' or 'quit'?"), "{said}");
    assert!(said.contains("the game is over; 'undo', 'new', 'load' or 'quit'"), "{said}");
    assert_eq!(said.matches("\nsfen 4k/5/3G1/5/K4 b G 1\n").count(), 1, "{said}");
    let said = play(mate, "resign\nresign\nundo\n5e5d\n");
    assert!(said.contains("sente resigns: gote wins."), "{said}");
    assert!(last(&said).ends_with(" moves 5e5d"), "{said}");
    // The engine is mated at once, and says so.
    let said = play(&format!("{QUICK} --sfen '4k/5/3G1/5/K4 b G 1'"), "G*1b\n");
    assert!(said.contains("Checkmate: sente wins."), "{said}");
    let said = play("--side both", &"4e4d\n2a2b\n4d4e\n2b2a\n".repeat(3));
    assert!(said.contains("The position occurred for the fourth time: gote wins."), "{said}");
}

#[test]
fn hints_come_at_full_strength_whatever_the_level() {
    let said = play(&format!("{QUICK} --level 0 --sfen '4k/5/3G1/5/K4 b G 1'"), "hint\nlevel 5\nlevel hard\n");
    assert!(said.contains("Hint: G*1b (mate in 1)\n") || said.contains("Hint: G*2b (mate in 1)\n"), "{said}");
    assert!(said.contains("Kozuka plays at level 5.\nKozuka plays at level 12.\n"), "{said}");
}

#[test]
fn undo_takes_back_the_answer_too() {
    let said = play(&format!("{QUICK} --level 1"), "undo\n4e4d\nundo\nsfen\n");
    assert!(said.contains("there is nothing to take back\n"), "{said}");
    assert!(said.ends_with("sfen rbsgk/4p/5/P4/KGSBR b - 1\n"), "{said}");
}

#[test]
fn bad_input_gets_one_message_and_changes_nothing() {
    for (input, message) in [
        ("hello", "'hello' is neither a move nor a command; 'help' lists them"),
        ("4e4a", "4e4a is not legal; 'moves' lists what is"),
        ("99", "there are moves 1 to 14; 'moves' lists them"),
        ("0", "there are moves 1 to 14; 'moves' lists them"),
        ("moves 9z", "no legal move contains '9z'"),
        ("level", "which level? 0 to 20, easy, medium or hard"),
        ("level 21", "'21' is no level; levels are 0 to 20, easy, medium and hard"),
        ("side up", "'up' is none of sente, gote, both, none"),
        ("load", "load what? 'load FILE'"),
        ("save", "save to what? 'save FILE'"),
        ("win", "you cannot declare victory here"),
        ("undo now", "'undo' stands alone; what is 'now'?"),
    ] {
        let quiet = play("--side both", "\n");
        let said = play("--side both", &format!("{input}\n"));
        assert_eq!(said, format!("{quiet}{message}\n"), "{input}");
    }
    let odd = output(&["--side", "both"], b"\xff\xfe\0\n\r\n4e4d\r\nquit", &[]);
    let said = String::from_utf8(odd.stdout).unwrap();
    assert!(odd.status.success() && last(&said).ends_with(" moves 4e4d"), "{said}");
}

#[test]
fn games_are_saved_and_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("my game.sfen");
    let name = file.to_str().unwrap();
    let said = play("--side both", &format!("4e4d\n2a2b\nsave {name}\nundo\nsave\nnew\nload {name}\nsfen\n"));
    assert_eq!(said.matches(&format!("Saved to {name}.\n")).count(), 2, "{said}");
    let line = "sfen rbsgk/4p/5/P4/KGSBR b - 1 moves 4e4d";
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{line}\n"));
    assert!(said.contains(&format!("\n{line}\n")), "{said}");
    let said = play(&format!("--side both --load '{name}'"), "2a3b\nsave\n");
    assert!(last(&said).ends_with("4e4d 2a3b"), "{said}");
    assert!(std::fs::read_to_string(&file).unwrap().ends_with("4e4d 2a3b\n"));
    // Another game's file is not written over, and what cannot be read changes nothing.
    let said =
        play("--side both", &format!("4e4d\nsave {name}\nload {name}.not\nload {}\n", directory.path().display()));
    assert!(said.contains("exists; choose another name\n"), "{said}");
    assert_eq!(said.matches("cannot read ").count(), 2, "{said}");
    assert!(last(&said).ends_with(" moves 4e4d"), "{said}");
}

#[test]
fn the_other_board_is_played_too() {
    let said = play(&format!("--variant shogi {QUICK} --level 2"), "7g7f\n");
    assert!(said.contains("   9   8   7   6   5   4   3   2   1\n") && said.contains("Kozuka plays "), "{said}");
    let said = play("--side both --sfen 'lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1'", "7g7f\n");
    assert!(last(&said).ends_with(" moves 7g7f"), "{said}");
    let kanji = play("--variant shogi --side both --pieces kanji", "");
    assert!(kanji.contains(" v飛 "), "{kanji}");
}

#[test]
fn rules_go_by_the_name_of_their_page() {
    let (kawu, usual) = ("rbsgk/p4/5/4P/KGSBR b - 1", "rbsgk/4p/5/P4/KGSBR b - 1");
    // What is given besides holds.
    for (arguments, start) in
        [("--rules kawu", kawu), ("--rules usual", usual), ("--rules kawu --sfen startpos", usual)]
    {
        let said = play(&format!("--side both {arguments}"), "3e3d\n");
        assert_eq!(last(&said), format!("The game: sfen {start} moves 3e3d"), "{arguments}");
    }
    let circle = "3a3b 3e3d 3b3a 3d3e ".repeat(3).replace(' ', "\n");
    let repeated = |rules: &str| play(&format!("--side both --sfen '2k2/5/5/5/2K2 w G 1' {rules}"), &circle);
    let ends = [("--rules kawu", "a draw"), ("--rules kawu --sennichite sente-loses", "gote wins"), ("", "gote wins")];
    for (rules, end) in ends {
        let said = repeated(rules);
        assert!(said.contains(&format!("occurred for the fourth time: {end}")), "{rules}: {said}");
    }
}

#[test]
fn colors_are_for_terminals_and_can_be_refused() {
    let escapes =
        |environment: &[(&str, &str)]| output(&["--side", "both"], b"bad\n", environment).stdout.contains(&0x1b);
    assert!(!escapes(&[]));
    assert!(escapes(&[("CLICOLOR_FORCE", "1")]));
    assert!(!escapes(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn what_cannot_be_begun_is_refused() {
    for arguments in [
        &["--sfen", "nonsense"][..],
        &["--sfen", "startpos moves 1a1b"],
        &["--load", "no/such/file"],
        &["--side", "left"],
        &["--level", "21"],
        &["--time", "0"],
        &["--nodes", "0"],
        &["--load", "x", "--sfen", "startpos"],
        &["--rules", "kawu", "--variant", "shogi"],
    ] {
        let output = output(arguments, b"", &[]);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    assert!(!Path::new("no").exists());
}
