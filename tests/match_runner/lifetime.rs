//! No engine outlives the match.

use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Test, command, directory, file, finish, record};

pub const TESTS: &[Test] =
    &[("interrupt", interrupt), ("killed", killed), ("nothing_is_left_after_a_match", nothing_is_left_after_a_match)];

/// Processes whose command line holds `text`, other than ours and the match itself.
fn alive(text: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("a process list").filter_map(Result::ok);
    processes
        .filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok())
        .filter(|id| {
            let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(text) && !line.contains(" match --engine")
        })
        .collect()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// An endless match between engines that do not stop by themselves, marked by a number of moves that is never reached.
fn endless(mark: &str, out: &str) -> Child {
    let mode = format!("orphan {mark}");
    let arguments = ["--games", "100000", "--tc", "nodes=1", "--out", out, "--concurrency", "2", "--random-plies", "4"];
    command(&mode, &mode, &arguments).spawn().expect("the match starts")
}

fn signal(child: &Child, signal: nix::sys::signal::Signal) {
    let id = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(id, signal).expect("a signal");
}

fn interrupt() {
    let dir = directory();
    let (path, out) = file(&dir, "out.jsonl");
    let child = endless("770001", &out);
    let marked = || alive("orphan 770001");
    wait_until("engines start", || marked().len() == 4);
    wait_until("games are played", || std::fs::read_to_string(&path).is_ok_and(|text| text.lines().count() > 5));
    signal(&child, nix::sys::signal::Signal::SIGINT);
    let ran = finish(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, 130, "{}", ran.stderr);
    wait_until("engines end", || marked().is_empty());
    // What was played is there, whole and in order.
    let (_, games) = record(&path);
    let numbers: Vec<_> = games.iter().filter_map(|game| game["game"].as_u64()).collect();
    assert!(numbers.len() > 3 && numbers.is_sorted());
    assert!(games.iter().all(|game| game["fault"].is_null()), "a game that we ended is no crash");
}

fn killed() {
    let dir = directory();
    let (path, out) = file(&dir, "out.jsonl");
    let mut child = endless("770002", &out);
    let marked = || alive("orphan 770002");
    wait_until("engines start", || marked().len() == 4);
    wait_until("games are played", || std::fs::read_to_string(&path).is_ok_and(|text| text.lines().count() > 5));
    child.kill().expect("killed");
    child.wait().expect("it ends");
    wait_until("engines end", || marked().is_empty());
    let mut games: Vec<_> = record_of_killed(&path);
    let count = games.len();
    games.sort_unstable();
    games.dedup();
    assert_eq!(games.len(), count);
}

/// The numbers of the games in whole lines.
fn record_of_killed(path: &std::path::Path) -> Vec<u64> {
    let text = std::fs::read_to_string(path).expect("a record");
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let games =
        whole.lines().skip(1).map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a whole line"));
    games.filter_map(|game| game["game"].as_u64()).collect()
}

fn nothing_is_left_after_a_match() {
    let arguments = ["--games", "2", "--tc", "nodes=1", "--max-plies", "10", "--stop-timeout", "300"];
    let ran = finish(command("orphan 770003", "no-quit 770003", &arguments).output().expect("the match starts"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(alive("orphan 770003").is_empty() && alive("no-quit 770003").is_empty());
}
