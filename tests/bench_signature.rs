//! The command line's two yardsticks: `bench`, whose node count is the signature of the search, and `perft`.

use std::process::{Command, Output, Stdio};

/// What `kozuka bench` counts. A commit that changes it quotes the new number, as `Bench: …`.
const SIGNATURE: u64 = 393_376;

fn kozuka(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kozuka")).args(arguments).output().unwrap()
}

/// The lines of a run that must end well and in silence.
fn lines(arguments: &[&str]) -> Vec<String> {
    let output = kozuka(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The node count of a line `<nodes> nodes <nps> nps`.
fn sum(line: &str) -> Option<u64> {
    match line.split(' ').collect::<Vec<_>>()[..] {
        [nodes, "nodes", speed, "nps"] => speed.parse::<u64>().ok().and(nodes.parse().ok()),
        _ => None,
    }
}

/// The node count of a bench, which is its last line's and that of no other.
fn bench(arguments: &[&str]) -> u64 {
    let lines = lines(&[&["bench"], arguments].concat());
    let (last, others) = lines.split_last().unwrap();
    assert!(others.iter().all(|line| sum(line).is_none()), "{others:#?}");
    sum(last).unwrap_or_else(|| panic!("{last}"))
}

#[test]
fn the_signature_is_the_one_that_was_quoted_last() {
    assert_eq!(bench(&[]), SIGNATURE, "the search has changed; quote the new number and put it here");
}

#[test]
fn a_bench_counts_the_same_on_every_run() {
    let nodes = bench(&["--depth", "4"]);
    assert_eq!(bench(&["--depth", "4"]), nodes);
    // Another size of the table changes little or nothing, more threads much, but neither the form.
    assert!(bench(&["--depth", "3", "--hash", "1"]) > 0);
    assert!(bench(&["--depth", "3", "--threads", "2"]) > 0);
}

#[test]
fn a_bench_that_makes_no_sense_is_refused() {
    for arguments in [["--depth", "0"], ["--threads", "0"], ["--hash", "0"], ["--depth", "x"]] {
        let output = kozuka(&["bench", arguments[0], arguments[1]]);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

/// Checks the two last lines of a count and returns those before.
fn count(arguments: &[&str], nodes: u64) -> Vec<String> {
    let mut lines = lines(&[&["perft"], arguments].concat());
    let rate = lines.pop().unwrap();
    assert!(rate.strip_prefix("Nodes/second: ").is_some_and(|rate| rate.parse::<u64>().is_ok()), "{rate}");
    assert_eq!(lines.pop(), Some(format!("Nodes searched: {nodes}")));
    lines
}

#[test]
fn perft_ends_with_the_count_and_the_speed() {
    assert!(count(&["5"], 533_203).is_empty());
    assert!(count(&["1", "--sfen", "3rk/5/3G1/5/K4 b P 1"], 26).is_empty());
    assert!(count(&["3", "--variant", "shogi"], 25_470).is_empty());
    let divided = count(&["3", "--divide"], 2_512);
    assert_eq!(divided.iter().filter(|line| line.contains(": ")).count(), 14);
}

/// Runs a suite with this text; returns the exit code and the lines.
fn suite(text: &str) -> (Option<i32>, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("suite.epd");
    std::fs::write(&file, text).unwrap();
    let output = kozuka(&["perft", "--suite", file.to_str().unwrap()]);
    (output.status.code(), String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn a_suite_tells_every_mismatch_and_fails() {
    let good = "rbsgk/4p/5/P4/KGSBR b - 1 ;D1 14 ;D2 181 ;D3 2512\n\n3rk/5/3G1/5/K4 b P 1 ;D1 26\n";
    assert_eq!(suite(good), (Some(0), vec!["2 positions, 0 mismatches".to_owned()]));
    let (code, lines) = suite(&format!("{good}rbsgk/4p/5/P4/KGSBR b - 1 ;D1 15 ;D2 181 ;D3 2513\nno position ;D1 1\n"));
    assert_eq!((code, lines.len()), (Some(1), 4), "{lines:#?}");
    assert_eq!(lines[3], "4 positions, 3 mismatches");
    // What cannot be read is not taken for right.
    assert_eq!(suite("rbsgk/4p/5/P4/KGSBR b - 1 ;D1 fourteen\n").0, Some(1));
    assert_eq!(suite("# no position\n").0, Some(1));
    assert_eq!(kozuka(&["perft", "--suite", "no/such/file.epd"]).status.code(), Some(1));
}

#[test]
fn tools_that_know_one_game_say_so_and_threads_have_a_limit() {
    for arguments in [
        &["bench", "--variant", "shogi"][..],
        &["datagen", "--variant", "shogi", "--out", "nowhere"],
        &["rescore", "--variant", "shogi", "nothing", "--out", "nowhere"],
        &["train", "--variant", "shogi", "nothing", "--out", "nowhere"],
    ] {
        let output = kozuka(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("minishogi only"), "{arguments:?}");
    }
    for arguments in [
        &["bench", "--threads", "9999999"][..],
        &["train", "nothing", "--out", "nowhere", "--rate", "nan"],
        &["train", "nothing", "--out", "nowhere", "--validation-share", "100"],
    ] {
        let output = kozuka(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("must be"), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_ends_with_130_and_can_be_gone_on_with() {
    use std::time::{Duration, Instant};

    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let arguments = ["datagen", "--out", out, "--nodes", "20", "--threads", "1", "--positions"];
    let command = |positions: &'static str, more: &[&'static str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kozuka"));
        command.args(arguments).arg(positions).args(more).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut run = command("1000000000", &[]).spawn().unwrap();
    let shard = directory.path().join("1-0.kzp");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !shard.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let child = nix::unistd::Pid::from_raw(run.id().try_into().unwrap());
    nix::sys::signal::kill(child, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let positions = std::fs::metadata(&shard).unwrap().len();
    assert_eq!(command("1", &["--resume"]).status().unwrap().code(), Some(0));
    assert!(std::fs::metadata(&shard).unwrap().len() >= positions);
}

#[test]
fn games_that_are_over_before_they_begin_are_refused() {
    let output = kozuka(&["datagen", "--out", "nowhere", "--max-plies", "3"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("leaves nothing of a game"));
}
