//! Engines that misbehave: each kind has its own reason, and the match goes on.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Test, command, directory, file, finish, record, run};

pub const TESTS: &[Test] = &[
    ("late", late),
    ("late_answer_does_not_reach_the_next_game", late_answer_does_not_reach_the_next_game),
    ("silent", silent),
    ("waits_for_stop", waits_for_stop),
    ("illegal", illegal),
    ("none_and_bare", none_and_bare),
    ("crash", crash),
    ("abort", abort),
    ("leave", leave),
    ("close", close),
    ("resign", resign),
    ("false_claim", false_claim),
    ("five_faults_five_reasons", five_faults_five_reasons),
    ("garbage_and_suffix_are_tolerated", garbage_and_suffix_are_tolerated),
    ("huge_lines", huge_lines),
    ("flood", flood),
    ("never_ready", never_ready),
    ("dead_from_the_start", dead_from_the_start),
    ("restarted_within_a_match", restarted_within_a_match),
    ("the_log_names_position_go_and_stderr", the_log_names_position_go_and_stderr),
    ("what_cannot_be_written_is_told_before_the_games", what_cannot_be_written_is_told_before_the_games),
    ("a_log_that_fails_later_ends_no_match", a_log_that_fails_later_ends_no_match),
    ("a_full_disk_is_one_error_and_no_loss", a_full_disk_is_one_error_and_no_loss),
    ("slow_quit", slow_quit),
    ("mate_in_time_wins", mate_in_time_wins),
    ("mate_too_late_loses", mate_too_late_loses),
];

const QUICK: &[&str] = &["--games", "4", "--tc", "0.2+0.1", "--stop-timeout", "600", "--max-plies", "40", "--json"];

/// B, which misbehaves, loses all four games for that reason, and A never does.
fn all_lost_by(mode: &str, reason: &str, counter: &str) {
    let ran = run("plain", mode, QUICK);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let summary = ran.summary();
    assert_eq!(summary["games"], 4, "{mode}");
    assert_eq!(summary["engines"][0]["wins"], 4, "{mode}: {summary}");
    assert_eq!(summary["reasons"][reason], 4, "{mode}: {summary}");
    if !counter.is_empty() {
        assert_eq!(summary["engines"][1][counter], 4, "{mode}: {summary}");
        assert_eq!(summary["engines"][0][counter], 0, "{mode}: {summary}");
    }
}

fn late() {
    all_lost_by("late", "time_forfeit", "time_forfeits");
}

fn late_answer_does_not_reach_the_next_game() {
    // From its second move on B is late; a drained answer would be a move of the next game's first position.
    let ran = run("plain", "late 2", QUICK);
    let summary = ran.summary();
    assert_eq!(summary["reasons"], serde_json::json!({"time_forfeit": 4}), "{}", ran.stderr);
}

fn silent() {
    all_lost_by("silent", "no_answer", "no_answer");
}

fn waits_for_stop() {
    // It answers, but only when told to stop, which is after its time.
    all_lost_by("waits-for-stop", "time_forfeit", "time_forfeits");
}

fn illegal() {
    all_lost_by("illegal", "illegal_move", "illegal_moves");
}

fn none_and_bare() {
    all_lost_by("none", "illegal_move", "illegal_moves");
    all_lost_by("bare", "illegal_move", "illegal_moves");
}

fn crash() {
    all_lost_by("crash", "crash", "crashes");
}

fn abort() {
    all_lost_by("abort", "crash", "crashes");
}

fn leave() {
    all_lost_by("leave", "disconnect", "crashes");
}

fn close() {
    if cfg!(unix) {
        all_lost_by("close", "disconnect", "crashes");
    }
}

fn resign() {
    all_lost_by("resign", "resign", "");
}

fn false_claim() {
    all_lost_by("claim", "illegal_move", "illegal_moves");
}

fn five_faults_five_reasons() {
    let mut reasons = Vec::new();
    for mode in ["crash", "leave", "illegal", "resign", "silent"] {
        let summary = run("plain", mode, &["--games", "1", "--tc", "0.2", "--stop-timeout", "300", "--json"]).summary();
        reasons.extend(summary["reasons"].as_object().expect("an object").keys().cloned());
    }
    assert_eq!(reasons, ["crash", "disconnect", "illegal_move", "resign", "no_answer"]);
}

fn garbage_and_suffix_are_tolerated() {
    let plain = run("plain", "plain", QUICK).summary();
    for mode in ["garbage", "suffix", "noisy-start", "no-variant", "uci-variant"] {
        let summary =
            run("plain", mode, &[QUICK, if mode == "no-variant" { &["--variant", "shogi"] } else { &[] }].concat())
                .summary();
        if mode != "no-variant" {
            assert_eq!(summary["reasons"], plain["reasons"], "{mode}");
        }
        assert!(
            summary["reasons"]["illegal_move"].is_null() && summary["reasons"]["crash"].is_null(),
            "{mode}: {summary}"
        );
    }
}

fn huge_lines() {
    let ran = run("plain", "huge", &["--games", "2", "--tc", "30", "--max-plies", "6", "--json"]);
    assert_eq!(ran.summary()["reasons"]["max_plies"], 2, "{}", ran.stderr);
}

fn flood() {
    let start = Instant::now();
    let ran = run("plain", "flood", &["--games", "2", "--tc", "0.2", "--stop-timeout", "300", "--json"]);
    assert_eq!(ran.summary()["reasons"]["no_answer"], 2, "{}", ran.stderr);
    assert!(start.elapsed() < Duration::from_secs(20));
}

fn never_ready() {
    let ran = run("plain", "never-ready", &["--start-timeout", "1"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("engine 'B'") && ran.stderr.contains("no readyok within 1.0 s"), "{}", ran.stderr);
}

fn dead_from_the_start() {
    let ran = run("plain", "no-start", &[]);
    assert_eq!(ran.code, 1);
    for part in ["engine 'B'", "usiok", "no licence found"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    assert_eq!(run("plain", "deaf", &["--start-timeout", "1"]).code, 1);
}

fn restarted_within_a_match() {
    // It crashes on its third move of each game; without a restart the later games would not get that far.
    let dir = directory();
    let (path, out) = file(&dir, "out.jsonl");
    let ran = run("plain", "crash 3", &[QUICK, &["--out", &out]].concat());
    assert_eq!(ran.summary()["reasons"]["crash"], 4, "{}", ran.stderr);
    for game in record(&path).1 {
        let plies = game["moves"].as_str().expect("text").split(' ').count();
        assert!(plies == 4 || plies == 5, "{game}");
    }
}

fn the_log_names_position_go_and_stderr() {
    let dir = directory();
    let (path, out) = file(&dir, "out.jsonl");
    let (log, log_name) = file(&dir, "faults.log");
    let ran = run("plain", "crash 2", &["--games", "1", "--tc", "5+0.5", "--out", &out, "--log", &log_name]);
    let log = std::fs::read_to_string(log).expect("a log");
    let (_, games) = record(&path);
    let moves = games[0]["moves"].as_str().expect("text");
    for part in [
        "game 1, A against B: B loses by crash",
        &format!("  position startpos moves {moves}\n"),
        "  go btime ",
        "stderr: mock: segment 7 is missing",
        "stderr: mock: giving up",
        "exit status: 139",
    ] {
        assert!(log.contains(part), "{part} is not in\n{log}");
        assert!(ran.stderr.contains(part), "{part} is not in\n{}", ran.stderr);
    }
    let fault = &games[0]["fault"];
    assert_eq!(fault["engine"], "B");
    assert_eq!(fault["position"], format!("position startpos moves {moves}"));
    assert_eq!(fault["stderr"][1], "mock: giving up");
}

fn what_cannot_be_written_is_told_before_the_games() {
    let dir = directory();
    let (taken, log) = file(&dir, "taken");
    std::fs::write(taken, "").expect("written");
    let (missing, inside_missing) = file(&dir, "missing");
    let inside_missing = format!("{inside_missing}/file");
    // A log's own name is taken by a directory.
    let (logs, log_dir) = file(&dir, "logs");
    std::fs::create_dir_all(logs.join("2-B-1.usi")).expect("made");
    for (option, path) in [
        ("--log", &log_dir),
        ("--log", &inside_missing),
        ("--plot", &log_dir),
        ("--out", &inside_missing),
        ("--usi-log", &log),
        ("--usi-log", &log_dir),
        ("--kif", &log),
        ("--csa", &log),
    ] {
        let ran = run("plain", "plain", &["--games", "2", "--tc", "nodes=1", option, path]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{option} {path}: {}", ran.stderr);
        assert!(ran.stderr.lines().count() == 1 && ran.stderr.contains(path), "{option} {path}: {}", ran.stderr);
    }
    assert!(!missing.exists());
}

fn a_log_that_fails_later_ends_no_match() {
    if cfg!(target_os = "linux") {
        // It can be opened, and is always full.
        let ran = run("plain", "crash", &[QUICK, &["--log", "/dev/full"]].concat());
        assert_eq!((ran.code, &ran.summary()["reasons"]["crash"]), (0, &4.into()), "{}", ran.stderr);
        assert!(ran.stderr.contains("cannot write /dev/full: "), "{}", ran.stderr);
    }
}

fn a_full_disk_is_one_error_and_no_loss() {
    if cfg!(unix) {
        let dir = directory();
        let (path, out) = file(&dir, "out.jsonl");
        let arguments = ["--games", "12", "--tc", "nodes=1", "--max-plies", "30", "--random-plies", "2", "--out", &out];
        let whole = command("plain", "plain", &arguments);
        // No file may grow beyond a few KiB, and the attempt is an error like that of a full disk.
        let mut limited = Command::new("/bin/sh");
        limited.args(["-c", "trap '' XFSZ; ulimit -f 6; exec \"$@\"", "sh"]);
        let ran = finish(limited.arg(whole.get_program()).args(whole.get_args()).output().expect("the match starts"));
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains(&out) && !ran.stderr.contains("panicked"), "{}", ran.stderr);
        // What was played until then is shown, and nothing but the record stays.
        assert!(ran.stdout.contains('A') && std::fs::read_dir(dir.path()).expect("a directory").count() == 1);
        // The torn line is played anew, and no other.
        let kept = std::fs::read_to_string(&path).expect("a record");
        let kept = kept.rsplit_once('\n').map_or("", |(whole, _)| whole);
        assert!(kept.lines().count() > 1, "{kept}");
        assert_eq!(run("plain", "plain", &[&arguments[..], &["--resume"]].concat()).code, 0);
        let (_, games) = record(&path);
        assert_eq!(games.len(), 12);
        for line in kept.lines().skip(1) {
            let game: serde_json::Value = serde_json::from_str(line).expect("a game");
            assert!(games.contains(&game), "{game}");
        }
    }
}

fn slow_quit() {
    let start = Instant::now();
    let quick = ["--games", "2", "--tc", "5", "--max-plies", "10", "--json"];
    assert_eq!(run("plain", "slow-quit", &quick).summary()["games"], 2);
    assert!(start.elapsed() > Duration::from_millis(900), "it was given its time");
    let start = Instant::now();
    let ran = finish(
        command("plain", "no-quit", &[&quick[..], &["--stop-timeout", "500"]].concat()).output().expect("starts"),
    );
    assert_eq!(ran.code, 0);
    assert!(start.elapsed() < Duration::from_secs(10), "it was killed");
}

/// White to move would lose at once; Black mates in one.
const MATE: &str = "4k/5/3G1/5/K4 b G 1\n";

fn mate(tc: &str) -> serde_json::Value {
    let dir = directory();
    let (path, openings) = file(&dir, "mate.sfen");
    std::fs::write(path, MATE).expect("written");
    let arguments = ["--games", "1", "--openings", &openings, "--tc", tc, "--json"];
    run("late", "plain", &arguments).summary()
}

fn mate_in_time_wins() {
    // It thinks for 400 ms.
    let summary = mate("byoyomi=0.6");
    assert_eq!(summary["reasons"]["checkmate"], 1, "{summary}");
    assert_eq!(summary["engines"][0]["wins"], 1);
}

fn mate_too_late_loses() {
    let summary = mate("byoyomi=0.3");
    assert_eq!(summary["reasons"]["time_forfeit"], 1, "{summary}");
    assert_eq!(summary["engines"][0]["losses"], 1);
}
