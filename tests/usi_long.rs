//! What only shows after minutes: byoyomi a hundred times under load, clocks over whole games, the deepest searches for a
//! minute, thousands of short searches. Not run unless asked for, and best with the profile that is shipped:
//! `cargo test --release --test usi_long -- --ignored --test-threads 1`.

mod common;

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use common::{LATE, START, Session, position};
use serde_json::Value;

#[test]
#[ignore = "takes two minutes"]
fn b21_byoyomi_is_kept_a_hundred_times_by_as_many_threads_as_processors() {
    let mut session = Session::alone();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    session.send(&format!("setoption name Threads value {processors}\nposition startpos"));
    session.sync();
    let times: Vec<Duration> = (0..100).map(|_| session.go("btime 0 wtime 0 byoyomi 1000").time).collect();
    assert!(times.iter().all(|time| *time < Duration::from_secs(1)), "{times:?}");
    session.finish();
}

/// Plays against itself, two games at a time, and gives the share of all its time that a side has used, in per cent.
fn used_by_a_side(control: &str, games: u32) -> f64 {
    let dir = tempfile::tempdir().expect("a directory");
    let record = dir.path().join("games.jsonl");
    let output = Command::new(env!("CARGO_BIN_EXE_kozuka"))
        .args(["match", "--engine", "name=A", "cmd=self", "--engine", "name=B", "cmd=self", "--tc", control])
        .args(["--games", &games.to_string(), "--concurrency", "2"])
        .args(["--openings", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/openings/minishogi.sfen")])
        .arg("--out")
        .arg(&record)
        .output()
        .expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(record).expect("a record");
    let (mut left, mut spent) = (0.0, 0.0);
    for line in text.lines().skip(1) {
        let game: Value = serde_json::from_str(line).expect("JSON");
        assert_ne!(game["reason"], "time_forfeit", "{line}");
        let numbers = |name: &str| -> Vec<f64> {
            game[name].as_array().expect(name).iter().map(|number| number.as_f64().expect(name)).collect()
        };
        let clocks = numbers("clocks_ms");
        left += clocks.iter().rev().take(2).sum::<f64>();
        spent += numbers("times_ms").iter().sum::<f64>();
    }
    100.0 * spent / (spent + left)
}

#[test]
#[ignore = "takes minutes"]
fn b22_games_use_their_clock() {
    for (control, games) in [("10+0.1", 8), ("1+0.01", 40), ("20", 4)] {
        let used = used_by_a_side(control, games);
        assert!((40.0..98.0).contains(&used), "{used} % at {control}");
        println!("{control}: {used:.0} % used over {games} games");
    }
}

#[test]
#[ignore = "takes minutes"]
fn b47_the_deepest_searches_last_a_minute() {
    let chase = ["2e1e", "1a2a", "1e2e", "2a1a"].repeat(2).join(" ") + " 2e1e 1a2a";
    for (sfen, moves) in [("4k/5/5/5/K4 b RBGSP 1", ""), ("4k/5/5/5/K2R1 b - 1", chase.as_str())] {
        let mut session = Session::alone();
        session.send(&format!("setoption name Threads value 8\nposition sfen {sfen} moves {moves}"));
        session.sync();
        session.send("go infinite");
        thread::sleep(Duration::from_secs(60));
        let start = Instant::now();
        session.send("stop");
        let answer = session.answer(start);
        answer.check(&position(sfen, moves));
        let deepest = answer.infos.iter().flat_map(|info| [info.depth, info.seldepth]).flatten().max();
        assert!(deepest <= Some(246), "{deepest:?}");
        session.finish();
    }
}

#[test]
#[ignore = "takes minutes"]
fn b49_thousands_of_short_searches_all_end() {
    let mut session = Session::ready();
    for threads in [1, 2, 5] {
        session.send(&format!(
            "setoption name Threads value {threads}\nsetoption name USI_Hash value 1\nposition startpos"
        ));
        session.sync();
        for round in 0..2_000 {
            for go in ["go depth 13 nodes 3000", "go movetime 1", "go nodes 20", "go infinite\nstop"] {
                let start = Instant::now();
                session.send(go);
                let answer = session.answer(start);
                answer.check(&position(START, ""));
                assert!(answer.time < LATE, "round {round}, {go}");
            }
        }
    }
    session.finish();
}
