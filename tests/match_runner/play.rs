//! Matches as they should be: records, openings, clocks, statistics, exit codes.

use std::collections::HashSet;

use crate::support::{Test, directory, engine, file, kozuka, record, run, timeless};

pub const TESTS: &[Test] = &[
    ("records_are_complete", records_are_complete),
    ("equal_matches_leave_equal_records", equal_matches_leave_equal_records),
    ("self_against_self_is_reproducible", self_against_self_is_reproducible),
    ("resume_neither_loses_nor_doubles", resume_neither_loses_nor_doubles),
    ("resume_refuses_other_settings", resume_refuses_other_settings),
    ("openings_are_played_with_both_colours", openings_are_played_with_both_colours),
    ("random_openings", random_openings),
    ("the_clock_is_without_the_coming_increment", the_clock_is_without_the_coming_increment),
    ("time_odds", time_odds),
    ("swapped_clocks", swapped_clocks),
    ("pondering", pondering),
    ("an_eager_ponderer", an_eager_ponderer),
    ("restart_for_each_game", restart_for_each_game),
    ("round_robin_and_gauntlet", round_robin_and_gauntlet),
    ("adjudication", adjudication),
    ("sprt_stops_the_match", sprt_stops_the_match),
    ("one_game_gives_no_nan", one_game_gives_no_nan),
    ("report_prints_the_same_table", report_prints_the_same_table),
    ("exports_and_picture", exports_and_picture),
    ("options_are_checked", options_are_checked),
    ("wrong_arguments_exit_with_1", wrong_arguments_exit_with_1),
    ("fairy_stockfish_plays", fairy_stockfish_plays),
    ("shogi_on_9x9", shogi_on_9x9),
];

const NODES: &[&str] = &["--tc", "nodes=100", "--max-plies", "60", "--json"];
const OPENINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/openings/minishogi.sfen");

fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [base, more].concat()
}

fn records_are_complete() {
    let dir = directory();
    let (path, out) = file(&dir, "out.jsonl");
    let ran = run("plain", "plain", &["--games", "2", "--tc", "10+0.5", "--max-plies", "30", "--out", &out, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (header, games) = record(&path);
    assert_eq!(header["kozuka_match"], 1);
    assert_eq!(
        (&header["variant"], &header["tc"], &header["games"]),
        (&"minishogi".into(), &"10+0.5".into(), &2.into())
    );
    assert_eq!(games.len(), 2);
    for (number, game) in games.iter().enumerate() {
        let plies = game["moves"].as_str().expect("text").split(' ').count();
        for key in ["scores", "depths", "nodes", "times_ms", "clocks_ms"] {
            assert_eq!(game[key].as_array().map(Vec::len), Some(plies), "{key}");
        }
        assert_eq!(game["game"], number + 1);
        assert_eq!(game["depths"][0], 3);
        assert!(game["scores"][0].as_str().is_some_and(|score| score.starts_with("cp ")));
        assert!(game["clocks_ms"][0].as_u64().is_some_and(|clock| (10_000..=10_500).contains(&clock)), "{game}");
        assert!(game["fault"].is_null());
    }
    assert_eq!((&games[0]["sente"], &games[1]["sente"]), (&"A".into(), &"B".into()));
}

fn equal_matches_leave_equal_records() {
    let dir = directory();
    let mut all = Vec::new();
    for (name, concurrency) in [("1", "1"), ("2", "1"), ("3", "3"), ("4", "4")] {
        let (path, out) = file(&dir, name);
        let more = ["--games", "16", "--random-plies", "4", "--out", &out, "--concurrency", concurrency];
        assert_eq!(run("plain", "plain", &with(NODES, &more)).summary()["games"], 16);
        all.push(timeless(&path));
    }
    assert_eq!(all[0].len(), 16);
    assert!(all[0].iter().collect::<HashSet<_>>().len() == 16);
    assert!(all.iter().all(|games| *games == all[0]));
}

fn self_against_self_is_reproducible() {
    let dir = directory();
    let mut all = Vec::new();
    for concurrency in ["1", "2"] {
        let (path, out) = file(&dir, concurrency);
        let ran = kozuka(&with(
            &[
                "--engine",
                "name=A",
                "cmd=self",
                "--engine",
                "name=B",
                "cmd=self",
                "tc=nodes=200",
                "--openings",
                OPENINGS,
            ],
            &with(NODES, &["--games", "6", "--out", &out, "--concurrency", concurrency]),
        ));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        all.push(timeless(&path));
    }
    assert_eq!(all[0], all[1]);
}

fn resume_neither_loses_nor_doubles() {
    let dir = directory();
    let (whole, whole_out) = file(&dir, "whole.jsonl");
    let more = ["--random-plies", "3", "--games", "10"];
    run("plain", "plain", &with(NODES, &with(&more, &["--out", &whole_out])));
    let text = std::fs::read_to_string(&whole).expect("a record");
    let (path, out) = file(&dir, "out.jsonl");
    // Killed after three games that came in another order, in the middle of a line.
    let lines: Vec<_> = text.lines().collect();
    let torn = [lines[0], "\n", lines[3], "\n", lines[1], "\n", lines[2], "\n", &lines[4][..50]].concat();
    std::fs::write(&path, torn).expect("written");
    let ran = run("plain", "plain", &with(NODES, &with(&more, &["--out", &out, "--resume"])));
    assert_eq!((ran.code, &ran.summary()["games"]), (0, &10.into()), "{}", ran.stderr);
    assert_eq!(timeless(&path), timeless(&whole));
    // Once more: there is nothing to do, and nothing changes.
    let before = std::fs::read(&path).expect("a record");
    run("plain", "plain", &with(NODES, &with(&more, &["--out", &out, "--resume"])));
    assert_eq!(std::fs::read(&path).expect("a record"), before);
    // And longer.
    let ran = run("plain", "plain", &with(NODES, &["--random-plies", "3", "--games", "12", "--out", &out, "--resume"]));
    assert_eq!(ran.summary()["games"], 12, "{}", ran.stderr);
    assert_eq!(timeless(&path)[..10], timeless(&whole)[..]);
}

fn resume_refuses_other_settings() {
    let dir = directory();
    let (_, out) = file(&dir, "out.jsonl");
    let folder = dir.path().to_str().expect("a path");
    run("plain", "plain", &with(NODES, &["--games", "2", "--out", &out]));
    for (more, part) in [
        (&["--games", "2", "--out", folder, "--resume"][..], "is a directory"),
        (&["--games", "2", "--out", &out], "exists"),
        (&["--games", "2", "--out", &out, "--resume", "--random-plies", "2"], "openings"),
        (&["--games", "2", "--out", &out, "--resume", "--ponder"], "ponder"),
        (&["--games", "1", "--out", &out, "--resume"], "--games 1 would leave games out"),
    ] {
        let ran = run("plain", "plain", &with(NODES, more));
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    let ran = run("plain", "garbage", &with(NODES, &["--games", "2", "--out", &out, "--resume"]));
    assert!(ran.code == 1 && ran.stderr.contains("engines"), "{}", ran.stderr);
}

fn openings_are_played_with_both_colours() {
    let dir = directory();
    let (path, out) = file(&dir, "out.jsonl");
    run("plain", "plain", &with(NODES, &["--games", "8", "--openings", OPENINGS, "--out", &out]));
    let (_, games) = record(&path);
    let openings: Vec<_> = std::fs::read_to_string(OPENINGS)
        .expect("openings")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(" ;").next().unwrap_or_default().to_owned())
        .collect();
    for (pair, games) in games.chunks(2).enumerate() {
        assert_eq!(
            (&games[0]["sfen"], &games[1]["sfen"]),
            (&openings[pair].clone().into(), &openings[pair].clone().into())
        );
        assert_eq!((&games[0]["sente"], &games[1]["sente"]), (&"A".into(), &"B".into()));
        assert_eq!(games[0]["pair"], games[1]["pair"]);
    }
}

fn random_openings() {
    let dir = directory();
    let mut starts = Vec::new();
    for (name, seed) in [("1", "5"), ("2", "5"), ("3", "6")] {
        let (path, out) = file(&dir, name);
        run("plain", "plain", &with(NODES, &["--games", "4", "--random-plies", "5", "--seed", seed, "--out", &out]));
        let (_, games) = record(&path);
        let start = |game: &serde_json::Value| {
            assert_eq!(game["book_plies"], 5);
            game["moves"].as_str().expect("text").split(' ').take(5).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(start(&games[0]), start(&games[1]));
        assert_ne!(start(&games[0]), start(&games[2]));
        starts.push(games.iter().map(start).collect::<Vec<_>>());
    }
    assert_eq!(starts[0], starts[1]);
    assert_ne!(starts[0], starts[2]);
}

/// All lines that went to an engine, without their times.
fn sent(dir: &std::path::Path, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    text.lines().filter_map(|line| line.split_once(" > ")).map(|(_, line)| line.to_owned()).collect()
}

fn the_clock_is_without_the_coming_increment() {
    let dir = directory();
    let logs = dir.path().to_string_lossy().into_owned();
    run("plain", "unhurried", &["--games", "1", "--tc", "5+1", "--max-plies", "6", "--usi-log", &logs, "--json"]);
    let lines = sent(dir.path(), "2-B-1.usi");
    let go: Vec<_> = lines.iter().filter(|line| line.starts_with("go ")).collect();
    let time = |line: &str| -> u64 { line.split(' ').nth(4).and_then(|time| time.parse().ok()).expect("wtime") };
    assert!(go[0].starts_with("go btime ") && go[0].ends_with(" wtime 5000 binc 1000 winc 1000"), "{}", go[0]);
    // It has used 60 ms or a little more, and got one second.
    assert!((5800..=5940).contains(&time(go[1])), "{}", go[1]);
    assert_eq!(lines[0], "usi");
    assert!(lines.contains(&"setoption name USI_Variant value minishogi".to_owned()));
    assert!(lines.contains(&"usinewgame".to_owned()) && lines.contains(&"gameover draw".to_owned()));
    assert_eq!(lines.last().map(String::as_str), Some("quit"));
}

/// What is sent to A and to B in a game at that control, A having these words of its own.
fn sent_with_odds(tc: &str, max_plies: &str, words: &[&str]) -> [Vec<String>; 2] {
    let dir = directory();
    let logs = dir.path().to_string_lossy().into_owned();
    let mut arguments: Vec<String> =
        ["--games", "1", "--max-plies", max_plies, "--tc", tc, "--usi-log", &logs].map(str::to_owned).to_vec();
    arguments.extend(engine("A", "plain"));
    arguments.extend(words.iter().map(|&word| word.to_owned()));
    arguments.extend(engine("B", "plain"));
    let ran = kozuka(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ["1-A-1.usi", "2-B-1.usi"].map(|file| sent(dir.path(), file))
}

fn time_odds() {
    let [a, b] = sent_with_odds("nodes=50", "4", &["tc=byoyomi=2"]);
    assert!(a.contains(&"go btime 0 wtime 0 byoyomi 2000".to_owned()));
    assert!(b.contains(&"go nodes 50".to_owned()));
}

fn swapped_clocks() {
    let [a, b] = sent_with_odds("5+1", "2", &["tc=50+2", "clocks=swapped"]);
    // A has the black pieces and 50 seconds.
    assert!(a.contains(&"go btime 5000 wtime 50000 binc 1000 winc 2000".to_owned()));
    let usual = |line: &String| line.starts_with("go btime 5") && line.ends_with(" wtime 5000 binc 2000 winc 1000");
    assert!(b.iter().any(usual));
}

fn pondering() {
    let dir = directory();
    let logs = dir.path().join("logs").to_string_lossy().into_owned();
    let (with_ponder, out) = file(&dir, "ponder.jsonl");
    let arguments = ["--games", "2", "--tc", "20+1", "--max-plies", "40", "--json", "--usi-log", &logs, "--out", &out];
    let ran = run("plain", "plain", &with(&arguments, &["--ponder"]));
    assert!(
        ran.summary()["reasons"].as_object().expect("an object").keys().all(|key| !key.contains("no_")),
        "{}",
        ran.stderr
    );
    let lines = sent(std::path::Path::new(&logs), "1-A-1.usi");
    let count = |word: &str| lines.iter().filter(|line| line.starts_with(word)).count();
    assert!(count("go ponder") > 3 && count("ponderhit") > 3, "{lines:?}");
    assert!(lines.contains(&"setoption name USI_Ponder value true".to_owned()));
    // The twin always plays the expected reply, so that only the end of a game stops a search.
    assert!(count("stop") <= 2);
    // Pondering changes nothing about the moves of engines that do not think.
    let (without, out) = file(&dir, "plain.jsonl");
    run("plain", "plain", &["--games", "2", "--tc", "20+1", "--max-plies", "40", "--out", &out]);
    let moves = |path: &std::path::Path| record(path).1.iter().map(|game| game["moves"].clone()).collect::<Vec<_>>();
    assert_eq!(moves(&with_ponder), moves(&without));
    // Against an engine that plays otherwise, wrong guesses are stopped and their answers drained.
    let other = directory();
    let logs = other.path().to_string_lossy().into_owned();
    let mut arguments =
        vec!["--engine", "name=S", "cmd=self", "--games", "2", "--tc", "depth=2", "--ponder", "--max-plies", "40"];
    let mock = engine("A", "plain");
    arguments.extend(mock.iter().map(String::as_str));
    arguments.extend(["--usi-log", &logs, "--json"]);
    let summary = kozuka(&arguments).summary();
    assert_eq!(summary["games"], 2);
    for engine in 0..2 {
        for fault in ["illegal_moves", "crashes", "time_forfeits", "no_answer"] {
            assert_eq!(summary["engines"][engine][fault], 0, "{summary}");
        }
    }
    assert!(sent(other.path(), "2-A-1.usi").iter().any(|line| line == "stop"));
}

fn an_eager_ponderer() {
    // It answers `go ponder` at once, which it must not; the game goes on all the same.
    let arguments = ["--games", "2", "--tc", "20+1", "--max-plies", "40", "--json", "--ponder"];
    let summary = run("plain", "eager", &arguments).summary();
    for fault in ["illegal_move", "crash", "time_forfeit", "no_answer"] {
        assert!(summary["reasons"][fault].is_null(), "{summary}");
    }
}

fn restart_for_each_game() {
    let dir = directory();
    for (restart, starts) in [(&[][..], 1), (&["--restart"], 3)] {
        let logs = dir.path().join(starts.to_string()).to_string_lossy().into_owned();
        let more = with(&["--games", "3", "--usi-log", &logs], restart);
        assert_eq!(run("plain", "plain", &with(NODES, &more)).code, 0);
        let lines = sent(std::path::Path::new(&logs), "1-A-1.usi");
        assert_eq!(lines.iter().filter(|line| *line == "usi").count(), starts);
        assert_eq!(lines.iter().filter(|line| *line == "usinewgame").count(), 3);
    }
}

fn round_robin_and_gauntlet() {
    let mut engines = Vec::new();
    for name in ["A", "B", "C"] {
        engines.extend(engine(name, "plain"));
    }
    let engines: Vec<_> = engines.iter().map(String::as_str).collect();
    for (format, games, c_games) in [("round-robin", 12, 8), ("gauntlet", 8, 4)] {
        let more = with(NODES, &["--games", "4", "--tournament", format, "--concurrency", "2"]);
        let summary = kozuka(&with(&engines, &more)).summary();
        assert_eq!(summary["games"], games, "{summary}");
        let c = &summary["engines"][2];
        let count = |key: &str| c[key].as_u64().unwrap_or_default();
        assert_eq!(count("wins") + count("draws") + count("losses"), c_games);
    }
}

fn adjudication() {
    let arguments = ["--games", "2", "--tc", "nodes=1", "--json", "--resign", "moves=2", "score=1000"];
    let summary = run("winning", "losing", &arguments).summary();
    assert_eq!((&summary["reasons"]["adjudication"], &summary["engines"][0]["wins"]), (&2.into(), &2.into()));
    let arguments = ["--games", "2", "--tc", "nodes=1", "--json", "--draw", "moves=2", "score=5", "from=4"];
    let summary = run("level", "level", &arguments).summary();
    assert_eq!((&summary["reasons"]["adjudication"], &summary["draws"]), (&2.into(), &2.into()));
    // Off by default.
    let summary =
        run("winning", "losing", &["--games", "2", "--tc", "nodes=1", "--json", "--max-plies", "20"]).summary();
    assert!(summary["reasons"]["adjudication"].is_null());
}

fn sprt_stops_the_match() {
    let sprt =
        ["--sprt", "elo0=0", "elo1=50", "--tc", "nodes=1", "--json", "--max-plies", "100", "--random-plies", "2"];
    let ran = run("plain", "resign", &with(&sprt, &["--concurrency", "2"]));
    assert_eq!((ran.code, &ran.summary()["sprt"]["result"]), (0, &"H1".into()), "{}", ran.stderr);
    let games = ran.summary()["games"].clone();
    assert!(games.as_u64().is_some_and(|games| (10..2000).contains(&games)), "{games}");
    let ran = run("resign", "plain", &sprt);
    assert_eq!((ran.code, &ran.summary()["sprt"]["result"]), (2, &"H0".into()), "{}", ran.stderr);
    assert!(ran.summary()["sprt"]["llr"].as_f64().is_some_and(|llr| llr < -2.9));
    let dir = directory();
    let mut records = Vec::new();
    for concurrency in ["1", "3"] {
        let (path, out) = file(&dir, concurrency);
        let more = ["--concurrency", concurrency, "--out", &out];
        assert_eq!(run("resign 4", "plain", &with(&sprt, &more)).code, 2);
        records.push(timeless(&path));
        // A decided match is not gone on with.
        let ran = run("resign 4", "plain", &with(&sprt, &["--out", &out, "--resume"]));
        assert_eq!(ran.code, 2);
        assert_eq!(timeless(&path), records[0]);
    }
    assert_eq!(records[0], records[1]);
    let undecided = run("plain", "plain", &with(&sprt, &["--games", "2", "--sennichite", "draw"]));
    assert_eq!((undecided.code, &undecided.summary()["sprt"]["result"]), (0, &"undecided".into()));
}

fn one_game_gives_no_nan() {
    let sprt = ["--sprt", "elo0=0", "elo1=5", "model=normalized"];
    let ran = run("plain", "plain", &with(NODES, &with(&["--games", "1"], &sprt)));
    assert!(!ran.stdout.contains("NaN") && !ran.stdout.contains("inf"), "{}", ran.stdout);
    let summary = ran.summary();
    assert_eq!(summary["engines"][0]["elo"], 0.0);
    assert!(summary["engines"][0]["elo_low"].is_f64() && summary["sprt"]["llr"] == 0.0);
}

fn report_prints_the_same_table() {
    let dir = directory();
    let (_, out) = file(&dir, "out.jsonl");
    let played = run("plain", "plain", &with(NODES, &["--games", "6", "--random-plies", "3", "--out", &out]));
    let reported = kozuka(&["--report", &out, "--json"]);
    assert_eq!((reported.code, &reported.stdout), (0, &played.stdout));
    assert_eq!(kozuka(&["--report", "/nowhere/at/all"]).code, 1);
}

fn exports_and_picture() {
    let dir = directory();
    let (_, out) = file(&dir, "out.jsonl");
    let (picture, plot) = file(&dir, "plot.svg");
    let (kif, kif_dir) = file(&dir, "kif");
    let (csa, csa_dir) = file(&dir, "csa");
    let more =
        ["--games", "4", "--openings", OPENINGS, "--out", &out, "--plot", &plot, "--kif", &kif_dir, "--csa", &csa_dir];
    let ran = run("plain", "plain", &with(NODES, &more));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(std::fs::read_to_string(picture).expect("a picture").contains("</svg>"));
    for dir in [kif, csa] {
        assert_eq!(std::fs::read_dir(dir).expect("a directory").count(), 4);
    }
}

fn options_are_checked() {
    for (option, part) in [("option.Levl=3", "Levl"), ("option.Level=10", "0 to 9"), ("option.Level=x", "whole number")]
    {
        let mut arguments = engine("A", "plain");
        arguments.push(option.to_owned());
        arguments.extend(engine("B", "plain"));
        let ran = kozuka(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains(part) && ran.stderr.contains("engine 'A'"), "{}", ran.stderr);
    }
}

fn wrong_arguments_exit_with_1() {
    let cases: &[&[&str]] = &[
        &[],
        &["--engine", "name=A", "cmd=self"],
        &["--engine", "name=A", "cmd=self", "--engine", "name=A", "cmd=self"],
        &["--engine", "cmd=/no/such/engine", "--engine", "name=B", "cmd=self"],
        &["--bogus"],
        &["--games", "none"],
        &["--engine", "name=A", "cmd=self", "--engine", "name=B", "cmd=self", "--openings", "/no/such/file"],
        &["--engine", "name=A", "cmd=self", "--engine", "name=B", "cmd=self", "--sprt", "elo0=5", "elo1=0"],
    ];
    for case in cases {
        let ran = kozuka(case);
        assert_eq!(ran.code, 1, "{case:?}");
        assert!(!ran.stderr.is_empty() && !ran.stderr.contains("panicked"), "{case:?}: {}", ran.stderr);
    }
    assert_eq!(kozuka(&["--help"]).code, 0);
}

/// Only where Debian's package is installed.
fn fairy_stockfish_plays() {
    let fairy = "/usr/games/fairy-stockfish";
    if !std::path::Path::new(fairy).exists() {
        eprintln!("skipped: there is no {fairy}");
        return;
    }
    let cmd = format!("cmd={fairy}");
    let engines =
        ["--engine", "name=K", "cmd=self", "--engine", "name=F", &cmd, "option.Hash=1", "option.Skill Level=10"];
    let more = ["--games", "2", "--openings", OPENINGS, "--tc", "nodes=300", "--json", "--ponder"];
    let ran = kozuka(&with(&engines, &more));
    let summary = ran.summary();
    assert_eq!((ran.code, &summary["games"]), (0, &2.into()), "{}", ran.stderr);
    for engine in 0..2 {
        for fault in ["illegal_moves", "crashes", "time_forfeits", "no_answer"] {
            assert_eq!(summary["engines"][engine][fault], 0, "{summary}\n{}", ran.stderr);
        }
    }
}

fn shogi_on_9x9() {
    let ran = run("plain", "plain", &with(NODES, &["--games", "2", "--variant", "shogi", "--random-plies", "6"]));
    assert_eq!((ran.code, &ran.summary()["games"]), (0, &2.into()), "{}", ran.stderr);
}
