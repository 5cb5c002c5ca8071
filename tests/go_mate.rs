//! `go mate` in sessions with the binary, and `kozuka mate` from the shell.

mod common;

use std::process::{Command, Output};
use std::thread;
use std::time::Instant;

use common::{LATE, SOON, START, Session, info_of, measure, ms, position};
use kozuka::engine::{AnyPosition, GameId};
use kozuka::position::{Reason, Rules};
use rsshogi_usi::{MateScore, ScoreValue};

/// A position of 9x9 on which the solver works for minutes.
const HARD: &str = "4k4/9/9/9/9/9/9/9/4K4 b RBSN4Prb4g3s3n4l14p 1";
const MATED: &str = "4k/4G/4P/5/K4 w - 1";

/// Sends a position and `go mate …`; returns what comes up to the answer, which is the last line.
fn go_mate(session: &mut Session, sfen: &str, arguments: &str) -> Vec<String> {
    session.send(&format!("position sfen {sfen}\ngo mate {arguments}"));
    let lines = session.expect("checkmate ");
    assert!(lines.iter().all(|line| line.starts_with("checkmate ") || line.starts_with("info ")), "{lines:?}");
    lines
}

/// The moves of the answer, checked: every attacking move gives check, and the last one mates.
fn mate_line(mut position: AnyPosition, answer: &str) -> Vec<String> {
    let moves: Vec<_> = answer.strip_prefix("checkmate ").expect("an answer").split(' ').map(str::to_owned).collect();
    for (ply, mv) in moves.iter().enumerate() {
        position.play(mv).unwrap_or_else(|error| panic!("{error} in {answer}"));
        assert!(ply % 2 == 1 || position.in_check(), "{mv} in {answer}");
    }
    assert!(position.outcome().is_some_and(|end| end.reason == Reason::Checkmate) && moves.len() % 2 == 1, "{answer}");
    moves
}

#[test]
fn b56_mates_are_found_and_shown() {
    let mut session = Session::ready();
    for (sfen, first, plies) in [
        ("4k/5/3G1/5/K4 b G 1", "", 1),
        ("5/2rkS/1B3/5/K4 b G 1", "G*2c", 3),
        ("k4/5/5/2B2/K4 b R2S 1", "R*5b", 3),
        ("4k/5/5/2R1P/KS3 b GS 1", "3d3a+", 3),
        ("1g2k/5/4P/2R2/K4 b 2B 1", "B*4d", 3),
        ("4k/5/5/5/K4 b BGSP 1", "B*3c", 5),
        ("4k/5/5/2P2/K1R2 b RGS 1", "3e1e", 5),
        ("2B1k/5/5/1R3/K4 b SP 1", "S*2b", 5),
        ("5/4k/5/B4/K4 b R2GP 1", "R*1d", 5),
    ] {
        for go in ["", "infinite", "10000", "x"] {
            let lines = go_mate(&mut session, sfen, go);
            let answer = lines.last().expect("an answer");
            let moves = mate_line(position(sfen, ""), answer);
            assert!(moves[0].starts_with(first), "{sfen}: {answer}");
            assert!(moves.len() >= plies && moves.len() <= plies + 4, "{sfen}: {answer}");
            let info = info_of(&lines[lines.len() - 2]).expect("an info line");
            let score = info.score.map(|score| score.value);
            assert_eq!(score, Some(ScoreValue::Mate(MateScore::Ply(moves.len() as i32))));
            assert_eq!(info.pv, moves);
            assert!(info.nodes.is_some() && info.nps.is_some() && info.time.is_some());
        }
    }
    session.finish();
}

#[test]
fn b56_where_there_is_none_it_ends_too() {
    let mut session = Session::ready();
    // The second goes round in circles; in the third the side to move is mated; the last has no pieces to give check.
    for sfen in [START, "4k/5/5/5/K2R1 b - 1", MATED, "4k/5/5/5/K4 b - 1"] {
        let lines = go_mate(&mut session, sfen, "infinite");
        assert_eq!(lines.last().map(String::as_str), Some("checkmate nomate"), "{sfen}");
    }
    // A pawn may not be dropped to mate, and pieces in hand make no difference to that.
    for sfen in ["3rk/5/3G1/5/K4 b P 1", "4k/2B2/4S/b3r/K4 b P 1"] {
        let lines = go_mate(&mut session, sfen, "infinite");
        assert!(!lines.last().is_some_and(|line| line.contains("P*1b")), "{lines:?}");
    }
    session.finish();
}

#[test]
fn a_side_in_check_mates_with_its_answer() {
    let mut session = Session::ready();
    let lines = go_mate(&mut session, "4k/4r/3GK/5/5 b - 1", "infinite");
    assert_eq!(lines.last().map(String::as_str), Some("checkmate 2c1b"));
    // Taking the rook with the king is no check.
    let lines = go_mate(&mut session, "4k/4r/4K/5/5 b G 1", "infinite");
    assert_eq!(lines.last().map(String::as_str), Some("checkmate nomate"));
    session.finish();
}

#[test]
fn b57_time_is_kept() {
    let mut session = Session::alone();
    session.send("setoption name USI_Variant value shogi");
    for (go, range) in [("100", ms(80)..ms(150)), ("0", ms(0)..ms(50)), ("-1", ms(0)..ms(50))] {
        measure(go, range, || {
            let start = Instant::now();
            let lines = go_mate(&mut session, HARD, go);
            assert_eq!(lines.last().map(String::as_str), Some("checkmate timeout"));
            start.elapsed()
        });
    }
    session.finish();
}

#[test]
fn it_stays_responsive_and_tells_how_far_it_is() {
    let mut session = Session::start_with(&["--variant", "shogi"]);
    session.send(&format!("position sfen {HARD}\ngo mate infinite"));
    let deadline = Instant::now() + ms(1_500);
    let mut infos = 0;
    while let Some(line) = session.next_line(deadline.saturating_duration_since(Instant::now())) {
        let info = info_of(&line).unwrap_or_else(|| panic!("{line}"));
        assert!(info.nodes.is_some() && info.nps.is_some() && info.time.is_some() && info.score.is_none(), "{line}");
        infos += 1;
    }
    assert!(infos >= 2);
    session.send("isready");
    session.expect_within("readyok", SOON);
    assert!(!session.display()("Legal moves (").is_empty());
    session.send("setoption name USI_Hash value 8\nsetoption name USI_Variant value minishogi\nstop");
    let lines = session.expect_within("checkmate", SOON);
    assert_eq!(lines.last().map(String::as_str), Some("checkmate timeout"));
    // The engine plays on as ever.
    session.send("position startpos");
    session.go("depth 3").check(&position(START, ""));
    assert!(session.finish().is_empty());
}

#[test]
fn whatever_begins_something_new_ends_it_first() {
    let mut session = Session::start_with(&["--variant", "shogi"]);
    for command in ["position startpos", "usinewgame", "gameover draw", "go depth 1", "go mate 10"] {
        session.send(&format!("position sfen {HARD}\ngo mate infinite"));
        thread::sleep(ms(30));
        session.send(&format!("{command}\nisready"));
        let lines = session.expect_within("readyok", SOON);
        assert!(lines.iter().any(|line| line == "checkmate timeout"), "{command}: {lines:?}");
        session.send("stop");
        session.sync();
    }
    session.send(&format!("position sfen {HARD}\ngo mate infinite"));
    thread::sleep(ms(30));
    session.send("quit");
    session.ended(SOON);
}

#[test]
fn the_end_of_input_ends_what_would_not_end_by_itself() {
    for (go, slowest) in [("mate infinite", SOON), ("mate 300", LATE)] {
        let mut session = Session::start_with(&["--variant", "shogi"]);
        session.send(&format!("position sfen {HARD}\ngo {go}"));
        session.hang_up();
        let lines = session.ended(slowest);
        assert_eq!(lines.last().map(String::as_str), Some("checkmate timeout"));
    }
}

#[test]
fn the_limit_on_plies_counts() {
    let mut session = Session::ready();
    let sfen = "4k/5/5/5/K4 b BGSP 1";
    for (limit, found) in [(0, true), (5, true), (6, true), (4, false), (1, false)] {
        session.send(&format!("setoption name MaxMovesToDraw value {limit}"));
        let lines = go_mate(&mut session, sfen, "infinite");
        assert_eq!(lines.last().is_some_and(|line| line != "checkmate nomate"), found, "{limit}: {lines:?}");
    }
    session.finish();
}

#[test]
fn shogi_is_solved_too() {
    let mut session = Session::start_with(&["--variant", "shogi"]);
    let sfen = "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1";
    session.send(&format!("position sfen {sfen}\ngo mate infinite"));
    let lines = session.expect("checkmate ");
    let position = AnyPosition::from_sfen(GameId::Shogi, sfen, Rules::default()).expect("a position");
    mate_line(position, lines.last().expect("an answer"));
    session.finish();
}

fn mate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kozuka")).arg("mate").args(arguments).output().expect("the binary runs")
}

#[test]
fn the_shell_is_told_by_text_by_json_and_by_exit_code() {
    let text = |output: &Output| String::from_utf8(output.stdout.clone()).expect("text");
    let found = mate(&["--sfen", "4k/5/5/5/K4 b BGSP 1"]);
    assert_eq!(found.status.code(), Some(0));
    assert!(text(&found).starts_with("mate in 5 plies: B*3c "), "{}", text(&found));

    let json: serde_json::Value =
        serde_json::from_str(&text(&mate(&["--sfen", "4k/5/5/5/K4 b BGSP 1", "--json"]))).expect("JSON");
    assert_eq!((&json["verdict"], &json["moves"][0]), (&"mate".into(), &"B*3c".into()));
    assert!(json["nodes"].as_u64().is_some_and(|nodes| nodes > 0) && json["time_ms"].is_u64());

    let none = mate(&["--sfen", "4k/5/5/5/K2R1 b - 1", "--hash", "1"]);
    assert_eq!((none.status.code(), text(&none).lines().next()), (Some(2), Some("no mate by checks")));
    for limits in [["--time", "50"], ["--nodes", "1000"]] {
        let unknown = mate(&[&["--variant", "shogi", "--sfen", HARD][..], &limits].concat());
        assert_eq!((unknown.status.code(), text(&unknown).lines().next()), (Some(3), Some("undecided")));
    }
    assert_eq!(mate(&["--sfen", "4k/5/5/5/K4 b BGSP 1", "--plies", "3"]).status.code(), Some(2));
    assert_eq!(mate(&["--sfen", "4k/5/5/5/K4 b BGSP 1", "--max-moves", "4"]).status.code(), Some(2));
    let later = mate(&["--sfen", "4k/5/5/5/K4 b BGSP 1", "--moves", "B*3c", "1a1b"]);
    assert!(text(&later).starts_with("mate in 3 plies: "), "{}", text(&later));
    let shogi = mate(&["--variant", "shogi", "--sfen", "8k/9/8G/9/9/9/9/9/K8 b G 1"]);
    assert!(text(&shogi).starts_with("mate in 1 plies: "), "{}", text(&shogi));
}

#[test]
fn wrong_arguments_are_one_error() {
    for arguments in [&["--sfen", "nonsense"][..], &["--moves", "1a1b"], &["--hash", "0"], &["--time", "x"]] {
        let output = mate(arguments);
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(1), true), "{arguments:?}");
        assert!(!output.stderr.is_empty());
    }
}
