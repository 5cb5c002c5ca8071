//! Sessions with the binary. Each test stands for a kind of fault that users of other engines reported.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use common::{LATE, SOON, START, Session, info_of, kozuka, measure, ms, position};
use kozuka::engine::{AnyPosition, GameId};
use kozuka::position::Rules;
use rsshogi_usi::{UsiCommand, UsiOptionKind, format_command, parse_line};

/// Sends lines with nothing after them, closes the input, and returns what the engine wrote before it ended.
fn piped(input: &[u8], timeout: Duration) -> Vec<String> {
    let mut session = Session::start();
    session.send_bytes(input);
    session.hang_up();
    session.ended(timeout)
}

// Start, end, pipes

#[test]
fn b01_usi_is_answered_at_once() {
    let mut session = Session::start();
    session.send("setoption name USI_Hash value 65536\nusi");
    let lines = session.expect_within("usiok", SOON);
    assert!(lines[0].starts_with("id name Kozuka"));
    assert!(lines[1].starts_with("id author "));
    session.send("quit");
    session.ended(SOON);
}

#[test]
fn b02_nothing_is_said_unasked() {
    let mut session = Session::start();
    assert_eq!(session.next_line(ms(400)), None);
    session.hang_up();
    assert_eq!(session.ended(SOON), Vec::<String>::new());
}

#[test]
fn b04_the_end_of_input_ends_the_process() {
    assert_eq!(piped(b"", SOON), Vec::<String>::new());
    let lines = piped(b"usi", SOON);
    assert_eq!(lines.last().map(String::as_str), Some("usiok"));
}

#[test]
fn b05_a_bounded_search_is_finished_at_the_end_of_input() {
    let searched = |go: &str| piped(format!("position startpos\n{go}").as_bytes(), LATE);
    let lines = searched("go depth 5\n");
    assert!(lines.iter().any(|line| line.starts_with("info depth 5 ")), "{lines:?}");
    assert!(lines.last().is_some_and(|line| line.starts_with("bestmove ")));
    let start = Instant::now();
    assert!(searched("go movetime 300").last().is_some_and(|line| line.starts_with("bestmove ")));
    assert!(start.elapsed() > ms(150));
}

#[test]
fn b05_an_endless_search_is_stopped_at_the_end_of_input() {
    for go in ["go infinite", "go", "go ponder btime 100000 wtime 100000", "go infinite depth 1"] {
        let lines = piped(format!("position startpos\n{go}\n").as_bytes(), Duration::from_secs(1));
        assert_eq!(lines.iter().filter(|line| line.starts_with("bestmove ")).count(), 1, "{go}: {lines:?}");
    }
}

#[test]
fn b06_a_closed_output_ends_the_process_quietly() {
    let mut child = kozuka().spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(b"usi\nisready\nposition startpos\ngo infinite\n").expect("the engine reads");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    stdout.read_line(&mut String::new()).expect("a line");
    drop(stdout);
    // The search may be silent for a while; the next answer meets the closed pipe. It may already have ended.
    let _ = stdin.write_all(b"isready\n");
    let deadline = Instant::now() + Duration::from_secs(2);
    let status = loop {
        if let Some(status) = child.try_wait().expect("the process can be waited for") {
            break status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("still running");
        }
        thread::sleep(ms(2));
    };
    assert!(status.success(), "{status}");
    let mut text = String::new();
    child.stderr.take().expect("stderr is piped").read_to_string(&mut text).expect("text");
    assert_eq!(text, "");
}

#[test]
fn quit_ends_the_process_whatever_goes_on() {
    for go in ["", "go infinite", "go ponder btime 60000 wtime 60000", "go btime 600000 wtime 600000"] {
        measure(go, ms(0)..ms(150), || {
            let mut session = Session::alone();
            session.send(&format!("position startpos\n{go}"));
            thread::sleep(ms(50));
            let start = Instant::now();
            session.send("quit");
            session.ended(SOON);
            start.elapsed()
        });
    }
}

// Lines

#[test]
fn b08_blanks_and_carriage_returns_do_not_matter() {
    let mut session = Session::start();
    session.send_bytes(b"  usi\r\n\tisready \r\nposition\tstartpos   moves\r\ngo  depth\t1\r\n");
    let lines = session.expect("bestmove");
    assert!(lines.contains(&"usiok".to_owned()) && lines.contains(&"readyok".to_owned()));
    session.finish();
}

#[test]
fn b09_any_bytes_are_survived() {
    let mut session = Session::ready();
    session.send_bytes(b"\xff\xfe\n");
    session.send_bytes(b"setoption name EvalFile value nets/\x8e\x8e.nnue\n");
    session.send_bytes(b"\0\n\0\0\0\r\n");
    session.send_bytes(&[vec![b'a'; 2_000_000], vec![b'\n']].concat());
    session.send_bytes(&b"\n".repeat(1000));
    session.send_bytes(&[b"position sfen ".to_vec(), vec![b'x'; 100_000], b" b - 1\n".to_vec()].concat());
    session.send("go depth");
    session.expect("bestmove");
    let lines = session.finish();
    assert!(lines.iter().all(|line| line.starts_with("info string ")), "{lines:?}");
}

#[test]
fn unknown_commands_are_said_once() {
    let mut session = Session::ready();
    session.send("hello world\nuci\nbestmove 4e4d\ngo_on\nvariant\nmate");
    let lines = session.finish();
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with("info string unknown command ")));
}

#[test]
fn b10_dangling_moves_are_no_moves() {
    let mut session = Session::ready();
    for line in [
        "startpos moves",
        "startpos moves ",
        "startpos",
        &format!("sfen {START} moves"),
        &format!("sfen {START} moves "),
    ] {
        session.send(&format!("position {line}"));
        session.go("depth 1").check(&position(START, ""));
    }
    assert!(session.finish().is_empty());
}

#[test]
fn b11_an_illegal_move_is_named_and_ends_the_list() {
    let mut session = Session::ready();
    for (moves, before, token, ply) in [
        ("0000 0000", "", "0000", 1),
        ("4e4d 2a2b 9i9h 4d4e", "4e4d 2a2b", "9i9h", 3),
        ("4e4d 4e4d", "4e4d", "4e4d", 2),
        ("resign", "", "resign", 1),
    ] {
        session.send(&format!("position sfen {START} moves {moves}"));
        let said = session.sync();
        assert_eq!(said.len(), 1);
        assert!(said[0].contains(&format!("'{token}' at ply {ply}")), "{said:?}");
        session.go("depth 2").check(&position(START, before));
    }
    session.finish();
}

#[test]
fn b13_promotion_is_a_choice_but_for_a_pawn_at_the_end() {
    let mut session = Session::ready();
    for moves in ["2e5b 3a3b 5b4a", "2e5b 3a3b 5b4a+"] {
        session.send(&format!("position startpos moves {moves}"));
        assert_eq!(session.display()("Sfen"), position(START, moves).sfen());
    }
    let pawn = "4k/P4/5/5/K4 b - 1";
    session.send(&format!("position sfen {pawn} moves 5b5a"));
    assert_eq!(session.display()("Sfen"), pawn);
    session.send(&format!("position sfen {pawn} moves 5b5a+"));
    assert_eq!(session.display()("Sfen"), "+P3k/5/5/5/K4 w - 2");
    assert_eq!(session.finish().len(), 0);
}

#[test]
fn b15_a_bad_sfen_keeps_the_old_position() {
    let mut session = Session::ready();
    let good = position(START, "4e4d");
    for sfen in [
        "5/4p/5/P4/KGSBR b - 1",
        "rbsgk/4p/K4/P4/KGSBR b - 1",
        "rbsgk1/4p/5/P4/KGSBR b - 1",
        "rbsgk/4p/5/KGSBR b - 1",
        "rbsgk/4p/5/5/P4/KGSBR b - 1",
        "rbxgk/4p/5/P4/KGSBR b - 1",
        "rbsgk/4p+/5/P4/KGSBR b - 1",
        "rbs+gk/4p/5/P4/KGSBR b - 1",
        "rbsgk/4p/5/P4/KGSBR x - 1",
        "rbsgk/4p/5/P4/KGSBR b R 1",
        "rbsgk/4p/5/P4/KGSBR b 300P 1",
        "rbsgk/4p/5/P4/KGSBR b +P 1",
        "rbsgk/4p/5/P4/KGSBR b K 1",
        "rbsgk/4p/5/P4/KGSBR b 2 1",
        "P3k/5/5/5/K4 b - 1",
        "4k/5/P4/P4/K4 b - 1",
        "4k/5/5/5/K3R b - 1",
        "rbsgk/4p/5/P4/KGSBR_b_-_1",
        "",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    ] {
        session.send(&format!("position startpos moves 4e4d\nposition sfen {sfen}"));
        let said = session.sync();
        assert_eq!(said.len(), 1, "{sfen}: {said:?}");
        assert!(said[0].starts_with("info string "));
        session.go("depth 1").check(&good);
    }
    session.finish();
}

#[test]
fn b15_sfen_may_be_written_loosely() {
    let mut session = Session::ready();
    for (given, shown) in [
        ("4k/5/5/5/K4 b - 0", "4k/5/5/5/K4 b - 1"),
        ("4k/5/5/5/K4 b -", "4k/5/5/5/K4 b - 1"),
        ("4k/5/5/5/K4 b - 99999", "4k/5/5/5/K4 b - 99999"),
        ("4k/5/5/5/K4 b PP 1", "4k/5/5/5/K4 b 2P 1"),
        ("4k/5/5/5/K4 b Pbg 1", "4k/5/5/5/K4 b Pbg 1"),
        ("4k/5/5/5/K4 b P1bG 1", "4k/5/5/5/K4 b GPb 1"),
        ("4k/5/5/5/K4 w GGb 1", "4k/5/5/5/K4 w 2Gb 1"),
    ] {
        session.send(&format!("position sfen {given}"));
        assert_eq!(session.display()("Sfen"), shown);
    }
    assert!(session.finish().is_empty());
}

// Options

#[test]
fn b16_options_in_any_form_are_survived() {
    let mut session = Session::ready();
    for (line, said) in [
        ("setoption", true),
        ("setoption name", true),
        ("setoption name Foo", true),
        ("setoption name Foo value", true),
        ("setoption name usi_hash value 32", false),
        ("setoption name USI_Hash value", true),
        ("setoption name USI_Hash value abc", true),
        ("setoption name USI_Hash value -5", true),
        ("setoption name USI_Hash value 1e3", false),
        ("setoption name MultiPV value 0", true),
        ("setoption name No Such Option value a b c", true),
        ("setoption name Move Overhead value 20", false),
        ("setoption name Ponder value False", false),
        ("setoption name USI_Ponder value 1", false),
        ("setoption name USI_AnalyseMode value true", false),
        ("setoption name syzygyPath value /x", false),
        ("setoption name USI_Hash value 16", false),
    ] {
        session.send(line);
        let lines = session.sync();
        assert_eq!(lines.len(), usize::from(said), "{line}: {lines:?}");
    }
    session.go("depth 1");
    session.finish();
}

#[test]
fn b17_options_are_declared_as_every_client_reads_them() {
    let mut session = Session::start();
    session.send("usi");
    let lines = session.expect("usiok");
    let mut names = Vec::new();
    for line in lines.iter().filter(|line| line.starts_with("option ")) {
        let Ok(UsiCommand::Option(option)) = parse_line(line) else { panic!("{line}") };
        assert_eq!(&format_command(&UsiCommand::Option(option.clone())), line);
        assert!(!option.name.contains(' ') && option.extras.is_empty(), "{line}");
        let default = option.default.unwrap_or_default();
        assert!(!default.is_empty(), "{line}");
        match option.kind {
            UsiOptionKind::Check => assert!(["true", "false"].contains(&default.as_str())),
            UsiOptionKind::Spin => {
                let range = option.min.expect("a minimum")..=option.max.expect("a maximum");
                assert!(range.contains(&default.parse().expect("a number")), "{line}");
            }
            UsiOptionKind::Combo => assert!(option.vars.contains(&default), "{line}"),
            UsiOptionKind::Filename => assert_eq!(default, "<internal>"),
            other => panic!("{other:?}"),
        }
        names.push(option.name);
    }
    for name in [
        "USI_Hash",
        "USI_Ponder",
        "LargePages",
        "Threads",
        "USI_MultiPV",
        "Skill_Level",
        "USI_LimitStrength",
        "USI_Elo",
        "Skill_Seed",
        "USI_AnalyseMode",
        "USI_ShowWDL",
        "USI_Variant",
        "Sennichite",
        "MaxMovesToDraw",
        "EvalFile",
        "Move_Overhead",
        "ResignValue",
    ] {
        assert!(names.iter().any(|listed| listed == name), "{name}");
    }
    assert!(!names.iter().any(|name| name == "UCI_Variant"));
    session.finish();
}

#[test]
fn b18_the_game_can_be_chosen_at_any_time() {
    let mut session = Session::ready();
    session.send("setoption name UCI_Variant value chess");
    assert_eq!(session.sync(), ["info string unknown game 'chess', still minishogi"]);
    session.send("usinewgame\nposition startpos moves");
    session.go("btime 2000 wtime 2000 byoyomi 0").check(&position(START, ""));
    // No `isready` in between, and what was set up before is not lost.
    session.send("position startpos moves 4e4d\nsetoption name USI_Variant value minishogi");
    session.go("depth 2").check(&position(START, "4e4d"));
    for name in ["mini", "5x5+5_shogi", "MINISHOGI"] {
        session.send(&format!("setoption name UCI_Variant value {name}"));
    }
    session.send("ucinewgame\nsetoption name USI_Variant value shogi\nposition startpos moves 7g7f");
    let mut shogi = AnyPosition::new(GameId::Shogi, Rules::default());
    shogi.play("7g7f").expect("a legal move");
    session.go("depth 2").check(&shogi);
    assert!(session.finish().is_empty());
}

#[test]
fn xboard_is_told_of_no_game() {
    // An `info string variant …` would describe the board to XBoard, which then forgets how its hands are laid out.
    let mut session = Session::start();
    session.send("usi");
    session.expect("usiok");
    assert!(session.sync().is_empty());
    for game in ["shogi", "minishogi"] {
        session.send(&format!("usinewgame\nsetoption name USI_Variant value {game}"));
        assert!(session.sync().is_empty());
    }
    session.finish();
}

#[test]
fn another_game_can_be_the_default() {
    let mut session = Session::start_with(&["--variant", "shogi"]);
    session.send("usi");
    let lines = session.expect("usiok");
    assert!(lines.iter().any(|line| line.starts_with("option name USI_Variant type combo default shogi ")));
    assert!(session.sync().is_empty());
    session.go("depth 1").check(&AnyPosition::new(GameId::Shogi, Rules::default()));
    session.finish();
}

#[test]
fn options_set_while_thinking_count_after_it() {
    let mut session = Session::ready();
    session.send(
        "position startpos\ngo infinite\nsetoption name USI_Variant value shogi\nsetoption name USI_Hash value 8",
    );
    assert_eq!(session.display()("Sfen"), START);
    session.expect_silence(ms(100));
    session.send("isready");
    session.expect_within("readyok", SOON);
    let start = Instant::now();
    session.send("stop");
    session.answer(start).check(&position(START, ""));
    session.send("position startpos");
    assert!(session.display()("Sfen").starts_with("lnsgkgsnl/"));
    session.finish();
}

#[test]
fn what_is_beyond_an_options_range_is_said_and_reduced() {
    let mut session = Session::ready();
    // Not made ready in between: the machine's memory is not to be filled for a test.
    session.send("setoption name USI_Hash value 99999999\nsetoption name Threads value 100000");
    session.send("setoption name USI_Hash value 2\nsetoption name Threads value 2");
    let said = session.sync();
    assert_eq!(said[0], "info string USI_Hash 99999999 is out of range, using 65536");
    assert_eq!(said[1], "info string Threads 100000 is out of range, using 512");
    assert_eq!(said.len(), 2);
    session.go("depth 2").check(&position(START, ""));
    session.finish();
}

// The position

#[test]
fn d_shows_the_position_and_how_the_game_stands() {
    let mut session = Session::ready();
    let show = session.display();
    assert_eq!(show("Sfen"), START);
    assert_eq!(show("Key").len(), 16);
    assert_eq!(show("Checkers"), "");
    assert_eq!(show("Outcome"), "none");
    let moves = show("Legal moves (14)");
    assert_eq!(moves.split(' ').count(), 14);

    session.send("position startpos moves 4e4d 2a2b 4d4e 2b2a 4e4d 2a2b 4d4e 2b2a 4e4d 2a2b 4d4e 2b2a");
    let show = session.display();
    assert_eq!(show("Outcome"), "gote_wins repetition");
    assert!(!show("Legal moves (14)").is_empty());
    session.send("setoption name Sennichite value draw\nposition startpos moves 4e4d 2a2b 4d4e 2b2a 4e4d 2a2b 4d4e 2b2a 4e4d 2a2b 4d4e 2b2a");
    assert_eq!(session.display()("Outcome"), "draw repetition");
    session.send("setoption name MaxMovesToDraw value 2\nposition startpos moves 4e4d 2a2b");
    assert_eq!(session.display()("Outcome"), "draw max_plies");

    session.send("position sfen 4k/4G/4P/5/K4 w - 1");
    let show = session.display();
    assert_eq!((show("Checkers"), show("Outcome")), ("1b".to_owned(), "sente_wins checkmate".to_owned()));
    assert_eq!(show("Legal moves (0)"), "");

    // Options that were set during a search hold after it.
    session.send("position startpos\ngo infinite\nsetoption name USI_Variant value shogi\nstop");
    session.answer(Instant::now()).check(&position(START, ""));
    assert!(session.display()("Sfen").starts_with("lnsgkgsnl/"));
    session.finish();
}

#[test]
fn b52_play_goes_on_beyond_the_end_of_the_game() {
    let mut session = Session::ready();
    let lap = "4e4d 2a2b 4d4e 2b2a ";
    for laps in [3, 5, 250] {
        session.send(&format!("position startpos moves {}", lap.repeat(laps)));
        session.go("depth 1").check(&position(START, &lap.repeat(laps)));
    }
    session.send(&format!("setoption name MaxMovesToDraw value 3\nposition startpos moves {lap}"));
    session.go("depth 2").check(&position(START, lap));
    session.finish();
}

#[test]
fn a_whole_game_is_played_with_legal_moves() {
    let mut session = Session::ready();
    session.send("usinewgame");
    let mut game = position(START, "");
    let mut history = String::new();
    while game.outcome().is_none() && game.ply() < 120 {
        session.send(&format!("position startpos moves{history}"));
        let answer = session.go("nodes 1500");
        answer.check(&game);
        game.play(&answer.best).expect("a legal move");
        history.push_str(&format!(" {}", answer.best));
    }
    session.send("gameover win");
    assert!(session.finish().is_empty());
}

#[test]
fn info_strings_are_told_from_lines_of_search() {
    assert!(info_of("info string depth 3").is_some_and(|info| info.string.is_some() && info.depth.is_none()));
    assert!(info_of("bestmove resign").is_none());
}
