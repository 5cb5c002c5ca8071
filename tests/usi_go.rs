//! What `go` brings: clocks are kept, thinking can be steered, and answers are sound. Each test stands for a kind of fault
//! that users of other engines reported.

mod common;

use std::time::Instant;

use common::{LATE, SOON, START, Session, measure, ms, position};
use rsshogi_usi::{MateScore, ScoreValue};

fn mate_of(info: &rsshogi_usi::InfoCommand) -> Option<i32> {
    match info.score.as_ref()?.value {
        ScoreValue::Mate(MateScore::Ply(plies)) => Some(plies),
        _ => None,
    }
}

// Clocks

#[test]
fn b19_numbers_in_any_form_give_a_move_in_time() {
    let mut session = Session::alone();
    for (go, limit) in [
        ("movetime 300.0", 400),
        ("movetime 0.9", 300),
        ("btime -3000 wtime 5000 byoyomi 3500", 800),
        ("btime 99999999999999999999 wtime 1 depth 2", 1000),
        ("btime abc wtime 1000", 1000),
        ("wtime", 1300),
        ("btime 300 wtime 300 binc", 400),
        ("movestogo 0 btime 300 wtime 300", 400),
        ("movestogo -1 btime 300 wtime 300 winc x", 400),
        ("depth", 1300),
    ] {
        measure(go, ms(0)..ms(limit), || {
            session.send("position startpos");
            let answer = session.go(go);
            answer.check(&position(START, ""));
            answer.time
        });
    }
    session.finish();
}

#[test]
fn b20_no_time_at_all_still_gives_a_searched_move() {
    let mut session = Session::alone();
    for go in [
        "btime 0 wtime 0",
        "btime 0 wtime 0 byoyomi 0",
        "btime -500 wtime -500",
        "movetime 0",
        "movetime 1",
        "nodes 0",
        "nodes 1",
        "depth 0",
        "depth -1",
    ] {
        measure(go, ms(0)..ms(100), || {
            session.send("position startpos moves 4e4d");
            let answer = session.go(go);
            answer.check(&position(START, "4e4d"));
            answer.time
        });
    }
    session.finish();
}

#[test]
fn b21_byoyomi_is_used_and_not_overrun() {
    let mut session = Session::alone();
    session.send("position startpos");
    measure("byoyomi", ms(300)..ms(980), || {
        let answer = session.go("btime 0 wtime 0 byoyomi 1000");
        answer.check(&position(START, ""));
        answer.time
    });
    measure("depth 1", ms(0)..ms(100), || session.go("depth 1 btime 0 wtime 0 byoyomi 10000").time);
    session.finish();
}

#[test]
fn b21_movetime_is_used_however_sure_the_move_is() {
    let mut session = Session::alone();
    for sfen in ["1b1gk/1r1sp/1B3/PS2R/KG3 b - 1", "1b1gk/3sp/4r/PS3/KG1BR b - 1", "rb1gk/3sp/5/PG3/K1SBR b - 1"] {
        session.send(&format!("position sfen {sfen}"));
        for go in ["movetime 400", "btime 60000 wtime 60000 movetime 400"] {
            let answer = session.go(go);
            assert!(answer.time >= ms(360), "{sfen} {go}: {:?}", answer.time);
        }
    }
    session.finish();
}

#[test]
fn b22_a_long_clock_is_made_use_of() {
    let mut session = Session::alone();
    session.send("position startpos\ngo btime 300000 wtime 300000 byoyomi 0");
    session.expect_silence(ms(500));
    let start = Instant::now();
    session.send("stop");
    session.answer(start).check(&position(START, ""));
    session.finish();
}

#[test]
fn b23_an_increment_is_spent_only_on_an_empty_clock() {
    let mut session = Session::alone();
    session.send("position startpos");
    let mut time = |go: &str| session.go(go).time;
    measure("empty clock", ms(150)..ms(1450), || time("btime 0 wtime 0 binc 1500 winc 1500"));
    measure("clock", ms(0)..ms(500), || time("btime 500 wtime 500 binc 5000 winc 5000"));
    session.finish();
}

// Thinking

const MATE_IN_ONE: &str = "4k/5/3G1/5/K4 b G 1";
const MATED: &str = "4k/4G/4P/5/K4 w - 1";
const ONE_MOVE: &str = "2s1k/5/1r1B1/PKRgp/G2+b1 b s 1";

#[test]
fn b25_infinite_ends_with_stop_and_not_before() {
    let mut session = Session::ready();
    for sfen in [MATE_IN_ONE, MATED, ONE_MOVE, "4k/5/5/5/K4 b - 1"] {
        for go in ["infinite", "", "infinite depth 1", "infinite nodes 1"] {
            session.send(&format!("position sfen {sfen}\ngo {go}"));
            session.expect_silence(ms(150));
            let start = Instant::now();
            session.send("stop");
            let answer = session.answer(start);
            assert!(answer.time < SOON, "{:?}", answer.time);
            match sfen {
                MATED => assert_eq!(answer.best, "resign"),
                MATE_IN_ONE if go != "infinite nodes 1" => {
                    assert!(["G*1b", "G*2b"].contains(&answer.best.as_str()), "{answer:?}")
                }
                ONE_MOVE => assert_eq!(answer.best, "4d4c"),
                _ => {}
            }
        }
    }
    assert!(session.finish().is_empty());
}

#[test]
fn b26_pondering_ends_with_the_hit_and_not_before() {
    let mut session = Session::alone();
    for sfen in [START, MATED, ONE_MOVE, MATE_IN_ONE] {
        measure(sfen, ms(0)..ms(500), || {
            session.send(&format!("position sfen {sfen}\ngo ponder btime 300 wtime 300 byoyomi 200"));
            session.expect_silence(ms(600));
            let start = Instant::now();
            session.send("ponderhit");
            let answer = session.answer(start);
            if sfen == MATED {
                assert_eq!(answer.best, "resign");
            } else {
                answer.check(&position(sfen, ""));
            }
            answer.time
        });
    }
    session.finish();
}

#[test]
fn b27_the_budget_counts_from_the_hit() {
    let mut session = Session::alone();
    for (go, wait, hit, range) in [
        ("movetime 500", 700, "ponderhit", ms(100)..ms(600)),
        ("", 300, "ponderhit btime 0 wtime 0 byoyomi 1000", ms(300)..ms(1000)),
        // A second hit does not extend the first.
        ("movetime 300", 100, "ponderhit\nponderhit btime 900000 wtime 900000", ms(0)..ms(400)),
        ("movetime 100", 200, "ponderhit draw", ms(0)..ms(200)),
        // Nothing to think about is left.
        ("", 100, "ponderhit", ms(0)..ms(100)),
        ("btime 900000 wtime 900000", 100, "stop", ms(0)..ms(100)),
    ] {
        measure(hit, range, || {
            session.send(&format!("position startpos\ngo ponder {go}"));
            session.expect_silence(ms(wait));
            let start = Instant::now();
            session.send(hit);
            let answer = session.answer(start);
            answer.check(&position(START, ""));
            answer.time
        });
    }
    session.finish();
}

#[test]
fn b29_commands_while_idle_are_no_problem() {
    let mut session = Session::ready();
    session.send("stop\nstop\nponderhit\ngameover win\ngameover\nstop");
    assert!(session.sync().is_empty());
    session.send("position startpos");
    session.go("depth 1");
    session.send("stop\nponderhit\ngameover lose\nusinewgame");
    assert!(session.finish().is_empty());
}

#[test]
fn b30_isready_is_answered_while_thinking() {
    let mut session = Session::ready();
    session.send("position startpos\ngo infinite");
    for _ in 0..3 {
        session.expect_silence(ms(50));
        session.send("isready");
        let lines = session.expect_within("readyok", SOON);
        assert!(lines.iter().all(|line| !line.starts_with("bestmove")));
        session.send("usi");
        session.expect_within("usiok", SOON);
    }
    session.send("stop");
    session.expect_within("bestmove", SOON);
    session.finish();
}

#[test]
fn whatever_begins_something_new_ends_the_search_first() {
    let mut session = Session::ready();
    for command in
        ["position startpos moves 4e4d", "usinewgame", "gameover draw", "go depth 1", "position sfen nonsense x y"]
    {
        session.send("position startpos\ngo infinite");
        session.expect_silence(ms(30));
        session.send(&format!("{command}\nisready"));
        let lines = session.expect_within("readyok", SOON);
        let expected = if command.starts_with("go") { 1..=2 } else { 1..=1 };
        let moves = lines.iter().filter(|line| line.starts_with("bestmove ")).count();
        assert!(expected.contains(&moves), "{command}: {lines:?}");
        if command.starts_with("go") && moves == 1 {
            session.expect_within("bestmove", SOON);
        }
    }
    session.send("position startpos\ngo infinite\ngo mate infinite");
    let lines = session.expect("checkmate");
    assert!(lines.iter().any(|line| line.starts_with("bestmove ")));
    assert!(session.finish().is_empty());
}

#[test]
fn every_go_gets_one_answer_without_isready_or_usinewgame() {
    let mut session = Session::start();
    session.go("depth 1").check(&position(START, ""));
    for _ in 0..200 {
        session.send("go depth 1");
    }
    for _ in 0..200 {
        session.expect_within("bestmove", LATE);
    }
    assert!(session.finish().is_empty());
}

#[test]
fn b33_games_do_not_leak_into_each_other() {
    let mut session = Session::ready();
    let mut game = |sfen: &str| {
        session.send(&format!("usinewgame\nposition sfen {sfen}"));
        let answer = session.go("depth 8");
        let info = answer.last_info().clone();
        (answer.best.clone(), info.nodes, info.score, info.pv)
    };
    let first = game(START);
    game("rbsgk/p4/5/4P/KGSBR b - 1");
    assert_eq!(game(START), first);
    session.finish();

    let mut fresh = Session::start();
    fresh.send("position startpos");
    let answer = fresh.go("depth 8");
    assert_eq!((answer.best.clone(), answer.last_info().nodes), (first.0, first.1));
    fresh.finish();
}

#[test]
fn searchmoves_are_kept_to() {
    let mut session = Session::ready();
    session.send("position startpos");
    let answer = session.go("searchmoves 5d5c 1e1d depth 4");
    assert!(["5d5c", "1e1d"].contains(&answer.best.as_str()));
    let answer = session.go("depth 2 searchmoves 5d5c 9a9b");
    assert_eq!((answer.best.as_str(), answer.strings.len()), ("5d5c", 1));
    session.finish();
}

// Answers

#[test]
fn b34_a_mated_side_resigns_at_once() {
    let mut session = Session::alone();
    session.send("position startpos");
    session.go("depth 4");
    for sfen in [MATED, "4k/5/p4/g4/K4 b - 1"] {
        session.send(&format!("position sfen {sfen}"));
        for go in ["btime 0 wtime 0 byoyomi 1000", "depth 3", "nodes 10"] {
            measure(go, ms(0)..ms(100), || {
                let answer = session.go(go);
                assert_eq!((answer.best.as_str(), &answer.ponder), ("resign", &None));
                assert_eq!(answer.infos.len(), 1);
                let info = answer.last_info();
                assert_eq!((info.depth, mate_of(info), info.pv.len()), (Some(0), Some(0), 0));
                answer.time
            });
        }
    }
    session.finish();
}

#[test]
fn victory_is_declared_on_9x9() {
    let mut session = Session::start_with(&["--variant", "shogi"]);
    session.send("position sfen +R+R+B+BGG3/GGSSK4/9/9/9/9/9/9/4k4 b 2P 1");
    let answer = session.go("depth 2");
    assert_eq!((answer.best.as_str(), &answer.ponder), ("win", &None));
    session.finish();
}

#[test]
fn b35_mates_are_counted_in_plies_with_their_sign() {
    let mut session = Session::ready();
    session.send(&format!("position sfen {MATE_IN_ONE}"));
    let answer = session.go("depth 5");
    assert_eq!(mate_of(answer.last_info()), Some(1));
    answer.check(&position(MATE_IN_ONE, ""));
    // Whatever gote does, a gold mates.
    let lost = "3k1/5/2PGP/5/K4 w G 1";
    session.send(&format!("position sfen {lost}"));
    let answer = session.go("depth 6");
    let mut line = position(lost, "");
    let info = answer.last_info();
    if let Some(plies) = mate_of(info) {
        assert!(plies < 0 && plies % 2 == 0, "{info:?}");
        assert_eq!(info.pv.len() as i32, -plies);
        info.pv.iter().for_each(|mv| line.play(mv).expect("a legal move"));
        assert!(line.outcome().is_some());
    }
    session.finish();
}

#[test]
fn b37_b38_b43_lines_are_legal_and_lead_to_the_answer() {
    let mut session = Session::ready();
    session.send("setoption name USI_Hash value 1");
    for sfen in [
        START,
        MATE_IN_ONE,
        ONE_MOVE,
        "4k/5/5/5/K2R1 b - 1",
        "3s1/3kp/1G3/5/K1S1R b BGrbp 11",
        "5/2rkS/1B3/5/K4 b G 1",
        "4k/5/5/5/K4 b RBGSP 1",
    ] {
        for go in ["depth 1", "nodes 1", "depth 7", "nodes 20000", "movetime 60"] {
            session.send(&format!("position sfen {sfen}"));
            let answer = session.go(go);
            answer.check(&position(sfen, ""));
            assert_eq!(answer.ponder.as_ref(), answer.last_info().pv.get(1));
            assert!(answer.last_info().score.as_ref().is_some_and(|score| score.bound.is_none()));
            let nodes: Vec<_> = answer.infos.iter().map(|info| info.nodes).collect();
            assert!(nodes.is_sorted(), "{nodes:?}");
        }
    }
    session.finish();
}

#[test]
fn b37_several_threads_write_legal_lines_too() {
    let mut session = Session::ready();
    session.send("setoption name Threads value 3\nsetoption name USI_Hash value 1\nisready");
    session.expect("readyok");
    for _ in 0..5 {
        session.send("position startpos moves 4e4d 2a2b");
        session.go("movetime 80").check(&position(START, "4e4d 2a2b"));
    }
    session.finish();
}

#[test]
fn b39_multipv_shows_no_more_lines_than_there_are_moves() {
    let mut session = Session::ready();
    session.send(&format!("setoption name MultiPV value 50\nposition sfen {ONE_MOVE}"));
    let answer = session.go("depth 4");
    assert!(answer.infos.iter().all(|info| info.multipv == Some(1)));
    session.send("position startpos");
    let answer = session.go("depth 4");
    answer.check(&position(START, ""));
    let last: Vec<_> = answer.infos.iter().filter(|info| info.depth == Some(4)).collect();
    let ranks: Vec<_> = last.iter().filter_map(|info| info.multipv).collect();
    assert_eq!(ranks, (1..=14).collect::<Vec<u32>>());
    let mut moves: Vec<_> = last.iter().map(|info| info.pv[0].clone()).collect();
    moves.sort();
    moves.dedup();
    assert_eq!(moves.len(), 14);
    let scores: Vec<_> = last
        .iter()
        .filter_map(|info| match info.score.as_ref()?.value {
            ScoreValue::Cp(score) => Some(-score),
            ScoreValue::Mate(_) => None,
        })
        .collect();
    assert!(scores.is_sorted(), "{scores:?}");
    session.finish();
}

#[test]
fn b41_tiny_searches_have_sound_numbers() {
    let mut session = Session::ready();
    session.send("position startpos");
    for _ in 0..150 {
        let answer = session.go("depth 1");
        assert!(answer.last_info().nps.is_some() && answer.last_info().time.is_some());
        session.go("nodes 1");
    }
    session.finish();
}

#[test]
fn infos_do_not_flood_the_client() {
    let mut session = Session::ready();
    session.send("setoption name MultiPV value 14\nposition startpos");
    let answer = session.go("movetime 1000");
    assert!(answer.infos.len() < 250, "{}", answer.infos.len());
    assert!(answer.infos.len() >= 14);
    session.finish();
}
