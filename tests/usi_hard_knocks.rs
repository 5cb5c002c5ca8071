//! Sessions that are harder on the engine than clients usually are: the deepest searches, the shortest ones in a row,
//! games beyond their end, other systems' line ends.

mod common;

use std::thread;
use std::time::Instant;

use common::{LATE, SOON, START, Session, measure, ms, position};
use kozuka::search::{Budget, Clock, Limits};
use kozuka::types::Color;
use rsshogi_usi::{InfoCommand, MateScore, ScoreValue};

/// A score as a number, mates beyond all others.
fn score_of(info: &InfoCommand) -> i32 {
    match &info.score.as_ref().expect("a score").value {
        &ScoreValue::Cp(score) => score,
        ScoreValue::Mate(MateScore::Ply(plies)) => plies.signum() * 100_000 - plies,
        ScoreValue::Mate(other) => panic!("{other:?}"),
    }
}

/// The deepest line that the search may look at, in plies.
const DEEPEST: u32 = 246;

/// Positions in which searches become deep: little to choose from, or all in hand, or checks without end.
const DEEP: [&str; 4] =
    ["4k/5/5/5/K4 b - 1", "4k/5/5/5/K4 b RBGSP 1", "4k/5/5/5/K4 b RBGSPrbgsp 1", "4k/5/5/5/K2R1 b - 1"];

fn search_deep(mut session: Session, threads: usize) {
    session.send(&format!("setoption name Threads value {threads}\nsetoption name USI_Hash value 2"));
    // More threads than processors are remarked on.
    session.sync();
    for sfen in DEEP {
        for go in ["depth 100000", "infinite"] {
            session.send(&format!("position sfen {sfen}\ngo {go}"));
            thread::sleep(ms(120));
            let start = Instant::now();
            session.send("stop");
            let answer = session.answer(start);
            answer.check(&position(sfen, ""));
            for info in &answer.infos {
                let deepest = [info.depth, info.seldepth].into_iter().flatten().max();
                assert!(deepest <= Some(DEEPEST), "{info:?}");
            }
        }
    }
    session.finish();
}

#[test]
fn b47_the_deepest_searches_stay_within_their_bounds() {
    search_deep(Session::start(), 1);
}

#[test]
fn b47_many_threads_search_deep_too() {
    search_deep(Session::start(), 8);
}

#[cfg(unix)]
#[test]
fn b47_a_small_stack_is_enough() {
    let mut command = common::piped(std::path::Path::new("/bin/sh"));
    command.args(["-c", "ulimit -s 512 && exec \"$0\"", env!("CARGO_BIN_EXE_kozuka")]);
    search_deep(Session::start_command(command), 3);
}

#[test]
fn b01_usiok_is_there_before_anything_that_takes_time() {
    measure("usiok", ms(0)..ms(200), || {
        let start = Instant::now();
        let mut session = Session::start();
        session.send("setoption name USI_Hash value 65536\nsetoption name Threads value 512");
        session.send("setoption name EvalFile value no such file\nusi");
        let lines = session.expect("usiok");
        let time = start.elapsed();
        assert!(lines[0].starts_with("id name "), "{lines:?}");
        session.send("quit");
        session.ended(LATE);
        time
    });
}

#[test]
fn b30_isready_is_answered_at_once_while_thinking() {
    let mut session = Session::alone();
    session.send("position startpos\ngo infinite");
    measure("readyok", ms(0)..ms(100), || {
        let start = Instant::now();
        session.send("isready");
        session.expect("readyok");
        start.elapsed()
    });
    session.expect_silence(ms(50));
    let start = Instant::now();
    session.send("stop");
    session.answer(start).check(&position(START, ""));
    session.finish();
}

#[test]
fn b35_being_mated_is_counted_too() {
    let mut session = Session::ready();
    // Gote is not in check, and has only a move after which a gold mates.
    let sfen = "4k/5/3G1/5/K4 w G 1";
    session.send(&format!("position sfen {sfen}"));
    let answer = session.go("depth 6");
    answer.check(&position(sfen, ""));
    let last = answer.last_info();
    assert_eq!(
        last.score.as_ref().map(|score| &score.value),
        Some(&ScoreValue::Mate(MateScore::Ply(-2))),
        "{answer:?}"
    );
    let moves = last.pv.join(" ");
    assert_eq!(
        position(sfen, &moves).outcome().map(|outcome| outcome.to_string()),
        Some("sente_wins checkmate".into())
    );
    session.finish();
}

#[test]
fn b49_short_searches_in_a_row_all_end() {
    let mut session = Session::ready();
    session.send("setoption name Threads value 3\nsetoption name USI_Hash value 1\nposition startpos moves 4e4d 2a2b");
    session.sync();
    let after = position(START, "4e4d 2a2b");
    for round in 0..40 {
        // What ends the search comes before it has begun, while it works, or when it is over.
        for lines in [
            "go nodes 200",
            "go movetime 1",
            "go depth 4",
            "go infinite\nstop",
            "go ponder btime 10 wtime 10\nponderhit",
            "go ponder movetime 1\nstop",
            "go nodes 100\nstop\nponderhit",
        ] {
            let start = Instant::now();
            session.send(lines);
            let answer = session.answer(start);
            answer.check(&after);
            assert!(answer.time < LATE, "round {round}, {lines}");
        }
    }
    assert!(session.finish().is_empty());
}

#[test]
fn b21_byoyomi_is_kept_by_several_threads() {
    let mut session = Session::alone();
    // What the machine's other work may take is kept back; what waiting for each other takes is not.
    session.send("setoption name Threads value 2\nsetoption name Move_Overhead value 150\nposition startpos");
    session.sync();
    measure("byoyomi", ms(300)..ms(1_000), || session.go("btime 0 wtime 0 byoyomi 1000").time);
    session.finish();
}

#[test]
fn b39_several_lines_cost_no_more_of_the_clock_than_one() {
    let mut session = Session::alone();
    session.send("setoption name USI_MultiPV value 4\nposition startpos");
    session.sync();
    for (go, limit) in [("btime 1000 wtime 1000", 500), ("btime 0 wtime 0 byoyomi 300", 300), ("btime 20 wtime 20", 40)]
    {
        measure(go, ms(0)..ms(limit), || {
            let answer = session.go(go);
            answer.check(&position(START, ""));
            answer.time
        });
    }
    session.finish();
}

#[test]
fn b22_a_clock_for_the_whole_game_lasts_for_it_and_is_used() {
    // A clock, its increment, the moves of a side, and what it should have used by then of all it had, in per cent.
    for (clock, increment, moves, expected) in [(60_000, 0, 150, 80..101), (10_000, 100, 25, 40..98)] {
        let (mut remaining, mut given) = (clock, clock);
        for ply in 0..moves {
            let clock = Clock { remaining: [Some(remaining), None], increment: [increment, 0], ..Clock::default() };
            let limits = Limits { clock: Some(clock), ..Limits::default() };
            let budget = Budget::of(&limits, Color::Black, ms(30)).expect("a budget");
            remaining -= i64::try_from(budget.soft.as_millis()).expect("a time");
            assert!(remaining > 0, "flag at move {ply}");
            remaining += increment;
            given += increment;
        }
        let used = 100 - 100 * remaining / given;
        assert!(expected.contains(&used), "{used} % of {clock} + {increment}");
    }
}

#[test]
fn b51_a_pawn_drop_that_mates_is_neither_taken_nor_played() {
    let mut session = Session::ready();
    for (sfen, moves) in [("3rk/5/3G1/5/K4 b P 1", 26), ("4k/2B2/4S/b3r/K4 b P 1", 25)] {
        session.send(&format!("position sfen {sfen} moves P*1b"));
        let said = session.sync();
        assert!(said.len() == 1 && said[0].contains("'P*1b' at ply 1"), "{said:?}");
        let show = session.display();
        assert_eq!(show("Sfen"), sfen);
        let legal = show(&format!("Legal moves ({moves})"));
        assert!(!legal.split(' ').any(|mv| mv == "P*1b"), "{legal}");
        let answer = session.go("depth 4");
        answer.check(&position(sfen, ""));
        assert!(answer.infos.iter().all(|info| info.pv.first().is_none_or(|mv| mv != "P*1b")), "{answer:?}");
    }
    session.finish();
}

#[test]
fn b53_perpetual_check_is_played_for_and_not_into() {
    let mut session = Session::ready();
    let sfen = "4k/5/5/5/K2R1 b - 1";
    let all = "2e1e 1a2a 1e2e 2a1a ".repeat(3);
    let first = |plies: usize| all.split(' ').take(plies).collect::<Vec<_>>().join(" ");
    session.send(&format!("position sfen {sfen} moves {}", first(11)));
    let answer = session.go("depth 4");
    answer.check(&position(sfen, &first(11)));
    assert_eq!(answer.best, "2a1a");
    assert!(score_of(answer.last_info()) > 5_000, "{answer:?}");
    session.send(&format!("position sfen {sfen} moves {}", first(10)));
    let answer = session.go("depth 4");
    answer.check(&position(sfen, &first(10)));
    assert_ne!(answer.best, "1e2e");
    session.send(&format!("position sfen {sfen} moves {all}"));
    assert_eq!(session.display()("Outcome"), "gote_wins perpetual_check");
    session.finish();
}

#[test]
fn b54_three_settings_are_told_from_each_other() {
    let mut session = Session::ready();
    for (sfen, lap, outcomes) in [
        (
            "4k/5/5/5/K1R2 b - 1",
            "3e1e 1a2a 1e3e 2a1a ",
            ["gote_wins repetition", "gote_wins perpetual_check", "draw repetition"],
        ),
        (
            "2r1k/5/5/5/K4 w - 1",
            "3a5a 5e4e 5a3a 4e5e ",
            ["gote_wins repetition", "sente_wins perpetual_check", "draw repetition"],
        ),
    ] {
        for (setting, outcome) in ["sente-loses", "attacker-deviates", "draw"].into_iter().zip(outcomes) {
            session.send(&format!(
                "setoption name Sennichite value {setting}\nposition sfen {sfen} moves {}",
                lap.repeat(3)
            ));
            assert_eq!(session.display()("Outcome"), outcome, "{sfen} under {setting}");
        }
    }
    assert!(session.finish().is_empty());
}

#[test]
fn b08_lines_may_end_as_on_windows() {
    let folder = tempfile::Builder::new().prefix("a net ").tempdir().expect("a folder");
    let missing = folder.path().join("none.knnue");
    let mut session = Session::start();
    let send = |session: &mut Session, line: &str| session.send_bytes(format!("{line}\r\n").as_bytes());
    send(&mut session, "usi");
    let lines = session.expect_within("usiok", SOON);
    assert!(lines.iter().all(|line| !line.contains('\r')));
    for option in [
        "USI_Hash value 2",
        "USI_Ponder value true",
        "USI_Variant value minishogi",
        "Sennichite value attacker-deviates",
        "MaxMovesToDraw value 2",
        "EvalFile value <internal>",
    ] {
        send(&mut session, &format!("setoption name {option}"));
    }
    send(&mut session, "isready");
    assert_eq!(session.expect_within("readyok", LATE), ["readyok"]);
    send(&mut session, "usinewgame");
    send(&mut session, &format!("position sfen {START} moves 4e4d 2a2b"));
    // The options were understood: the game has reached its length.
    assert_eq!(session.display()("Outcome"), "draw max_plies");
    send(&mut session, "setoption name MaxMovesToDraw value 0");
    send(&mut session, "position startpos moves 4e4d");
    let start = Instant::now();
    send(&mut session, "go ponder depth 2");
    session.expect_silence(ms(50));
    send(&mut session, "ponderhit");
    session.answer(start).check(&position(START, "4e4d"));
    // The end of the line is no part of the file's name.
    send(&mut session, &format!("setoption name EvalFile value {}", missing.display()));
    send(&mut session, "isready");
    let said = session.expect("readyok");
    assert!(said.len() == 2 && said[0].contains("none.knnue' not loaded"), "{said:?}");
    send(&mut session, "gameover lose");
    send(&mut session, "quit");
    session.ended(SOON);
}
