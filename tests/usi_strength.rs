//! Sessions about strength and analysis: levels, hints, several lines, chosen moves, odds.

mod common;

use std::thread;
use std::time::{Duration, Instant};

use common::{Answer, SOON, START, Session, position};
use rsshogi_usi::{MateScore, ScoreValue};

const ONE_MOVE: &str = "2s1k/5/1r1B1/PKRgp/G2+b1 b s 1";
const MIDGAME: &str = "rb1gk/1S2p/4R/PK3/3B1 w Sg 12";
const MATE_IN_ONE: &str = "4k/5/3G1/5/K4 b G 1";

/// A session with these options set, each as `NAME value VALUE`.
fn session(options: &[&str]) -> Session {
    let mut session = Session::ready();
    set(&mut session, options);
    session
}

fn set(session: &mut Session, options: &[&str]) {
    for option in options {
        session.send(&format!("setoption name {option}"));
    }
    assert!(session.sync().is_empty(), "{options:?}");
}

/// Depth, nodes, rank, score and line: what an info line says that does not depend on the machine.
type Finding = (Option<u32>, Option<u64>, Option<u32>, Option<i32>, Vec<String>);

fn findings(answer: &Answer) -> Vec<Finding> {
    let score = |info: &rsshogi_usi::InfoCommand| info.score.as_ref().map(|score| number(&score.value));
    answer.infos.iter().map(|info| (info.depth, info.nodes, info.multipv, score(info), info.pv.clone())).collect()
}

/// A score as a number, mates beyond all others.
fn number(score: &ScoreValue) -> i32 {
    match score {
        ScoreValue::Cp(score) => *score,
        ScoreValue::Mate(MateScore::Ply(plies)) => plies.signum() * 100_000 - plies,
        ScoreValue::Mate(other) => panic!("{other:?}"),
    }
}

#[test]
fn every_level_plays_the_move_that_it_showed_last() {
    for level in [0, 3, 7, 12, 19] {
        let mut session = session(&[&format!("Skill_Level value {level}"), "Skill_Seed value 5"]);
        for (sfen, limits) in [
            (START, "nodes 3000"),
            (MIDGAME, "movetime 60"),
            (MIDGAME, "nodes 1"),
            (MATE_IN_ONE, "depth 4"),
            (ONE_MOVE, "depth 3"),
        ] {
            session.send(&format!("position sfen {sfen}"));
            let answer = session.go(limits);
            answer.check(&position(sfen, ""));
            assert!(answer.infos.iter().all(|info| info.multipv == Some(1)), "{answer:?}");
        }
        session.finish();
    }
}

#[test]
fn the_highest_level_is_the_engine_itself() {
    let mut plain = Session::ready();
    let mut highest = session(&["Skill_Level value 20", "Skill_Seed value 9", "USI_Elo value 800"]);
    let mut by_elo = session(&["Skill_Level value 2", "USI_LimitStrength value true", "USI_Elo value 3000"]);
    for sfen in [START, MIDGAME] {
        let mut told = Vec::new();
        for session in [&mut plain, &mut highest, &mut by_elo] {
            session.send(&format!("usinewgame\nposition sfen {sfen}"));
            let answer = session.go("depth 8");
            told.push((answer.best.clone(), answer.ponder.clone(), findings(&answer)));
        }
        assert!(told[0] == told[1] && told[0] == told[2]);
    }
}

#[test]
fn low_levels_differ_from_game_to_game_unless_seeded() {
    let play = |options: &[&str]| {
        let mut session = session(options);
        let mut moves: Vec<String> = Vec::new();
        for _ in 0..12 {
            session.send(&format!("position startpos moves {}", moves.join(" ")));
            let answer = session.go("depth 3");
            if answer.best == "resign" {
                break;
            }
            moves.push(answer.best);
        }
        moves
    };
    let seeded = ["Skill_Level value 0", "Skill_Seed value 77"];
    assert_eq!(play(&seeded), play(&seeded));
    assert_ne!(play(&["Skill_Level value 0"]), play(&["Skill_Level value 0"]));
}

#[test]
fn low_levels_do_not_stall() {
    let mut session = session(&["Skill_Level value 4"]);
    session.send("position startpos");
    // Full strength takes seconds for a move on such a clock.
    assert!(session.go("btime 600000 wtime 600000").time < SOON);
    session.finish();
}

#[test]
fn a_hint_is_given_at_full_strength() {
    let mut full = Session::ready();
    full.send(&format!("position sfen {MIDGAME}"));
    let expected = full.go("depth 8");
    for weak in [&["Skill_Level value 0"][..], &["USI_LimitStrength value true", "USI_Elo value 800"]] {
        let mut session = session(weak);
        set(&mut session, &["USI_AnalyseMode value true"]);
        session.send(&format!("position sfen {MIDGAME}"));
        assert_eq!(findings(&session.go("depth 8")), findings(&expected));
        set(&mut session, &["USI_AnalyseMode value false"]);
        let depth = session.go("depth 8").last_info().depth;
        assert!(depth.is_some_and(|depth| depth <= 2), "{depth:?}");
    }
}

#[test]
fn levels_ponder_and_wait_like_any_search() {
    let mut session = session(&["Skill_Level value 1"]);
    session.send("position startpos moves 4e4d 2a2b\ngo ponder btime 1000 wtime 1000");
    session.expect_silence(Duration::from_millis(200));
    let hit = Instant::now();
    session.send("ponderhit");
    session.answer(hit).check(&position(START, "4e4d 2a2b"));
    session.send("go infinite");
    session.expect_silence(Duration::from_millis(200));
    let stop = Instant::now();
    session.send("stop");
    session.answer(stop).check(&position(START, "4e4d 2a2b"));
    session.finish();
}

#[test]
fn analysis_goes_on_where_play_is_decided() {
    let mut session = session(&["ResignValue value 1"]);
    session.send(&format!("position sfen {ONE_MOVE}"));
    let played = session.go("depth 8").last_info().depth;
    assert!(played.is_none_or(|depth| depth < 8), "{played:?}");
    set(&mut session, &["USI_AnalyseMode value true"]);
    let answer = session.go("depth 8");
    assert_eq!((answer.last_info().depth, answer.best.as_str()), (Some(8), "4d4c"));
    session.send(&format!("position sfen {MATE_IN_ONE}"));
    assert_eq!(session.go("depth 9").last_info().depth, Some(9));
    // Behind by any measure.
    session.send("position sfen 3rk/5/5/5/K4 b - 1");
    assert_ne!(session.go("depth 3").best, "resign");
    set(&mut session, &["USI_AnalyseMode value false"]);
    assert_eq!(session.go("depth 3").best, "resign");
    session.finish();
}

/// The last line of each rank, in order of rank.
fn table(answer: &Answer) -> Vec<(i32, String)> {
    let mut lines = Vec::new();
    for info in &answer.infos {
        let rank = info.multipv.expect("a rank") as usize;
        let score = info.score.as_ref().expect("a score");
        assert!(score.bound.is_none() && rank <= lines.len() + 1, "{info:?}");
        lines.resize(lines.len().max(rank), (0, String::new()));
        lines[rank - 1] = (number(&score.value), info.pv[0].clone());
    }
    lines
}

#[test]
fn several_lines_are_sorted_wherever_the_search_is_stopped() {
    let mut session = session(&["USI_MultiPV value 5"]);
    for nodes in (3_000..15_000).step_by(570) {
        session.send(&format!("usinewgame\nposition sfen {MIDGAME}"));
        let answer = session.go(&format!("nodes {nodes}"));
        answer.check(&position(MIDGAME, ""));
        let table = table(&answer);
        assert!(table.is_sorted_by(|better, worse| better.0 >= worse.0), "{nodes} nodes: {table:?}");
        let mut moves: Vec<_> = table.iter().map(|(_, mv)| mv).collect();
        moves.sort();
        moves.dedup();
        assert_eq!((moves.len(), table[0].1.as_str()), (5, answer.best.as_str()), "{nodes} nodes: {table:?}");
    }
    session.finish();
}

#[test]
fn a_level_shows_as_many_lines_as_were_asked_for() {
    let mut session = session(&["Skill_Level value 2", "USI_MultiPV value 3"]);
    session.send("position startpos");
    let answer = session.go("depth 5");
    answer.check(&position(START, ""));
    assert_eq!(answer.infos.iter().filter_map(|info| info.multipv).max(), Some(3));
    session.finish();
}

#[test]
fn chosen_moves_are_kept_to_in_every_mode() {
    let chosen = ["5d5c", "1e1d", "3e3d"];
    let mut session = session(&["USI_MultiPV value 10"]);
    session.send("position startpos");
    let answer = session.go("depth 5 searchmoves 5d5c 1e1d 3e3d");
    let mut ranked: Vec<String> = table(&answer).into_iter().map(|(_, mv)| mv).collect();
    assert_eq!(answer.best, ranked[0]);
    ranked.sort();
    assert_eq!(ranked, ["1e1d", "3e3d", "5d5c"]);
    set(&mut session, &["Skill_Level value 0", "USI_MultiPV value 1"]);
    for _ in 0..10 {
        assert!(chosen.contains(&session.go("searchmoves 5d5c 1e1d 3e3d nodes 500").best.as_str()));
    }
    // None of them legal: said, and searched as if none had been named.
    let answer = session.go("searchmoves 1a1b depth 2");
    answer.check(&position(START, ""));
    assert_eq!(answer.strings.len(), 1, "{answer:?}");
    session.finish();
}

#[test]
fn odds_are_shown_when_asked_for() {
    let mut session = Session::ready();
    session.send("position startpos");
    assert!(session.go("depth 3").infos.iter().all(|info| info.extras.is_empty()));
    set(&mut session, &["USI_ShowWDL value true"]);
    let odds = |answer: &Answer| -> Vec<u32> {
        let extras = &answer.last_info().extras;
        assert_eq!(extras[0], "wdl");
        extras[1..].iter().map(|word| word.parse().expect("a number")).collect()
    };
    let even = odds(&session.go("depth 3"));
    assert!(even.iter().sum::<u32>() == 1_000 && even[0] > 200 && even[2] > 200, "{even:?}");
    session.send(&format!("position sfen {MATE_IN_ONE}"));
    assert_eq!(odds(&session.go("depth 3")), [1_000, 0, 0]);
    session.finish();
}

#[test]
fn more_threads_than_processors_are_remarked_on_once() {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut session = Session::ready();
    session.send(&format!("setoption name Threads value {cores}"));
    assert!(session.sync().is_empty());
    session.send(&format!("setoption name Threads value {}", cores + 1));
    let said = session.sync();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with(&format!("info string Threads {} is more than ", cores + 1)), "{said:?}");
    assert!(session.sync().is_empty());
    session.finish();
}

#[test]
fn what_pages_the_table_lies_in_is_told_to_those_who_ask() {
    let said = |session: &mut Session, options: &[&str]| {
        options.iter().for_each(|option| session.send(&format!("setoption name {option}")));
        session.sync()
    };
    let mut session = Session::ready();
    assert!(said(&mut session, &["USI_Hash value 8"]).is_empty());
    assert_eq!(said(&mut session, &["LargePages value false"]), ["info string hash 8 MiB in small pages"]);
    assert!(said(&mut session, &["LargePages value false"]).is_empty());
    // Too small for even one.
    let small = said(&mut session, &["USI_Hash value 1", "LargePages value true"]);
    assert_eq!(small, ["info string hash 1 MiB in small pages"]);
    let large = said(&mut session, &["USI_Hash value 16"]);
    assert_eq!(large.len(), 1);
    // Not every system has them.
    let known = ["large", "small"].map(|pages| format!("info string hash 16 MiB in {pages} pages"));
    assert!(known.contains(&large[0]), "{large:?}");
    session.send("usinewgame\nposition startpos");
    session.go("depth 2").check(&position(START, ""));
    assert!(session.finish().is_empty());
}
