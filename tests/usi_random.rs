//! Lines that nobody would type, by the hundred thousand: to the reader of lines, and to the binary.

mod common;

use std::time::{Duration, Instant};

use common::Session;
use kozuka::engine::{AnyPosition, GameId};
use kozuka::position::Rules;
use kozuka::usi::normalize::{DISPLAY, number, read};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rsshogi_usi::{PositionSpec, UsiCommand, UsiCommandDirection};

/// Lines that mean something.
const SOUND: &[&str] = &[
    "position startpos",
    "position startpos moves 4e4d 2a2b 4d4e 2b2a",
    "position sfen rbsgk/4p/5/P4/KGSBR b - 1 moves 4e4d",
    "position sfen 4k/5/3G1/5/K4 b G 1",
    "position sfen 4k/4G/4P/5/K4 w - 1",
    "position sfen 2s1k/5/1r1B1/PKRgp/G2+b1 b s 1",
    "position sfen 4k/5/5/5/K4 b RBGSPrbgsp 1",
    "position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 moves 7g7f",
    "setoption name USI_Hash value 1",
    "setoption name USI_Hash value 3",
    "setoption name Threads value 1",
    "setoption name Threads value 2",
    "setoption name USI_MultiPV value 3",
    "setoption name MultiPV value 1",
    "setoption name USI_Variant value shogi",
    "setoption name USI_Variant value minishogi",
    "setoption name Sennichite value draw",
    "setoption name MaxMovesToDraw value 30",
    "setoption name Skill_Level value 4",
    "setoption name Skill_Level value 20",
    "setoption name USI_LimitStrength value true",
    "setoption name USI_LimitStrength value false",
    "setoption name USI_Elo value 1500",
    "setoption name USI_ShowWDL value true",
    "setoption name USI_AnalyseMode value true",
    "setoption name ResignValue value 500",
    "setoption name Move_Overhead value 10",
    "setoption name EvalFile value no such/net of mine.knnue",
    "setoption name EvalFile value <internal>",
    "stop",
    "ponderhit",
    "ponderhit btime 100 wtime 100 byoyomi 10",
    "gameover win",
    "usinewgame",
    "isready",
    "usi",
];

/// Lines that start a search.
const SEARCHES: &[&str] = &[
    "go nodes 50",
    "go depth 2",
    "go infinite",
    "go",
    "go ponder btime 1000 wtime 1000",
    "go btime 0 wtime 0 byoyomi 1",
    "go movetime 1",
    "go mate 20",
    "go mate infinite",
    "go depth 100000",
    "go searchmoves 4e4d 5d5c nodes 40",
];

/// Words of the protocol, and some that are none.
const WORDS: &[&str] = &[
    "go",
    "position",
    "setoption",
    "usi",
    "isready",
    "stop",
    "ponderhit",
    "gameover",
    "startpos",
    "sfen",
    "moves",
    "name",
    "value",
    "depth",
    "nodes",
    "btime",
    "wtime",
    "byoyomi",
    "binc",
    "winc",
    "movetime",
    "movestogo",
    "searchmoves",
    "mate",
    "infinite",
    "ponder",
    "0",
    "-1",
    "1",
    "7",
    "1.5",
    "1e400",
    "nan",
    "99999999999999999999",
    "4e4d",
    "5b5a+",
    "P*3c",
    "0000",
    "resign",
    "win",
    "lose",
    "b",
    "w",
    "-",
    "2P",
    "rbsgk/4p/5/P4/KGSBR",
    "bestmove",
    "info",
    "option",
    "variant",
    "cp",
    "EvalFile",
    "Sennichite",
    "true",
    "none",
    "<empty>",
    "''",
    "\u{feff}",
    "\u{98db}\u{8eca}",
    "\u{1f600}",
    "\\",
    "%s%n",
    "..",
];

fn pick<'a>(random: &mut impl RngExt, list: &[&'a str]) -> &'a str {
    list[random.random_range(0..list.len())]
}

/// Bytes of any kind, but none that ends a line.
fn garbage(random: &mut impl RngExt, length: usize) -> Vec<u8> {
    (0..length).map(|_| random.random::<u8>()).map(|byte| if byte == b'\n' { b' ' } else { byte }).collect()
}

/// A sound line with a few bytes put in place of others, taken out, put in, or cut off.
fn damage(random: &mut impl RngExt, line: &str) -> Vec<u8> {
    let mut bytes = line.as_bytes().to_vec();
    for _ in 0..random.random_range(1..5) {
        let at = random.random_range(0..=bytes.len());
        match random.random_range(0..5) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 if at < bytes.len() => bytes[at] = garbage(random, 1)[0],
            3 => bytes.insert(at, pick(random, &["0", "9", "-", "+", "/", "k", "K", " ", "*"]).as_bytes()[0]),
            _ => bytes.splice(at..at, garbage(random, 1)).for_each(drop),
        }
    }
    bytes
}

/// A line without its end.
fn line(random: &mut impl RngExt, index: usize) -> Vec<u8> {
    // Few are long: the rest of the time is better spent on many.
    match index {
        1_000 => return vec![b'a'; 2_000_000],
        2_000 => return "position sfen \u{ff11} ".repeat(50_000).into_bytes(),
        _ if index % 5_000 == 77 => return garbage(random, 100_000),
        _ if index % 10_000 == 99 => {
            return ["position startpos moves", &" 4e4d 2a2b 4d4e 2b2a".repeat(200)].concat().into();
        }
        _ => {}
    }
    match random.random_range(0..1_000) {
        0..300 => {
            let length = random.random_range(0..60);
            garbage(random, length)
        }
        300..500 => {
            let sound = pick(random, SOUND);
            damage(random, sound)
        }
        500..520 => {
            let search = pick(random, SEARCHES);
            damage(random, search)
        }
        520..700 => {
            let words: Vec<_> = (0..random.random_range(0..12)).map(|_| pick(random, WORDS)).collect();
            words.join(" ").into_bytes()
        }
        700..715 => pick(random, SEARCHES).into(),
        _ => pick(random, SOUND).into(),
    }
}

/// Whether the line would end the session, show what is no protocol, or take more of the machine than a test should.
fn is_left_out(command: &UsiCommand) -> bool {
    match command {
        UsiCommand::Quit => true,
        UsiCommand::Extension { name, .. } => name == DISPLAY,
        UsiCommand::SetOption { name, value } => {
            let name = name.to_ascii_lowercase();
            let value = value.as_deref().and_then(number).unwrap_or(0);
            (name.contains("hash") || name.contains("thread")) && value > 8
        }
        _ => false,
    }
}

/// The resident memory of a process in KiB, where the system tells.
fn resident_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The memory of the engine in a state that is the same each time.
fn settled_kib(session: &mut Session) -> Option<u64> {
    for option in ["USI_Variant value minishogi", "Threads value 1", "USI_Hash value 1", "MultiPV value 1"] {
        session.send(&format!("setoption name {option}"));
    }
    session.send("usinewgame\nposition startpos");
    session.go("nodes 2000");
    session.sync();
    resident_kib(session.process_id())
}

/// Sends the lines, ends what they began, and checks that there was an answer for each search and each question.
fn send_and_settle(session: &mut Session, bytes: &[u8], searches: usize, questions: usize) {
    session.send_bytes(bytes);
    session.send("gameover draw\nisready");
    let deadline = Instant::now() + Duration::from_secs(60);
    let (mut answers, mut ready) = (0, 0);
    while ready <= questions {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = session.next_line(left).expect("the engine still answers");
        answers += usize::from(line.starts_with("bestmove ") || line.starts_with("checkmate "));
        ready += usize::from(line == "readyok");
    }
    assert_eq!(answers, searches, "answers to searches");
    session.log.clear();
}

/// How many lines: 100,000, unless the environment asks for more.
fn lines_wanted() -> usize {
    let number = std::env::var("KOZUKA_RANDOM_LINES").map(|text| text.parse().expect("a number of lines"));
    number.unwrap_or(0).max(100_000)
}

#[test]
fn b03_b09_a_hundred_thousand_lines_of_any_kind_are_survived() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0x6b6f_7a75);
    let mut session = Session::start();
    let wanted = lines_wanted();
    let mut memory = Vec::new();
    let (mut batch, mut searches, mut questions) = (Vec::new(), 0, 0);
    let (mut sent, mut all_searches) = (0, 0);
    while sent < wanted {
        let mut line = line(&mut random, sent);
        // A blank or a carriage return before the end of the line means nothing.
        line.extend_from_slice(pick(&mut random, &["", "", "\r", " ", "\r\r"]).as_bytes());
        let command = read(&line).command;
        if command.as_ref().is_some_and(is_left_out) {
            continue;
        }
        searches += usize::from(matches!(command, Some(UsiCommand::Go(_))));
        questions += usize::from(command == Some(UsiCommand::IsReady));
        batch.extend(line);
        batch.push(b'\n');
        sent += 1;
        if sent % 500 == 0 || sent == wanted {
            send_and_settle(&mut session, &batch, searches, questions);
            all_searches += searches;
            (batch, searches, questions) = (Vec::new(), 0, 0);
        }
        if sent % (wanted / 5) == 0 {
            memory.extend(settled_kib(&mut session));
        }
    }
    assert!(all_searches > wanted / 100, "{all_searches} searches");
    println!("{sent} lines, {all_searches} searches; KiB of memory at each fifth: {memory:?}");
    // By the second fifth every thread has had its memory.
    if let [_, early, .., late] = memory[..] {
        // 150 bytes lost with each line would be more.
        assert!(late < early + 8_192, "{memory:?} KiB at each fifth of the lines");
    }
    session.finish();
}

/// Whatever is read is a command to an engine, notices can be shown as they are, and a position can be played on from.
fn reads_well(line: &[u8]) {
    let input = read(line);
    if let Some(command) = &input.command {
        let is_display = matches!(command, UsiCommand::Extension { name, .. } if name == DISPLAY);
        assert!(is_display || command.direction() == Some(UsiCommandDirection::GuiToEngine), "{command:?}");
        if let UsiCommand::Position { spec: spec @ PositionSpec::Sfen { .. }, moves } = command {
            GameId::ALL.iter().for_each(|&game| plays_well(game, &spec.to_sfen(), moves));
        }
    }
    assert!(input.notices.len() <= 4, "{:?}", input.notices);
    for notice in &input.notices {
        assert!(!notice.is_empty() && notice.chars().count() < 400, "{notice}");
    }
    // The end of a line as other systems write it changes nothing.
    assert_eq!(read(&[line, b"\r\n"].concat()), input);
}

/// A position that is accepted is one, and so is what follows each of its moves.
fn plays_well(game: GameId, sfen: &str, moves: &[String]) {
    let Ok(mut position) = AnyPosition::from_sfen(game, sfen, Rules::default()) else { return };
    for mv in moves {
        let before = position.sfen();
        if position.play(mv).is_err() {
            assert_eq!(position.sfen(), before);
            break;
        }
    }
    for mv in position.legal_moves() {
        let mut after = position.clone();
        after.play(&mv).expect("a legal move");
        let again = AnyPosition::from_sfen(game, &after.sfen(), Rules::default()).expect("a position");
        assert_eq!(again.sfen(), after.sfen());
        assert_eq!(again.legal_moves(), after.legal_moves());
    }
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => prop::sample::select(WORDS).prop_map(str::to_owned),
        1 => "[0-9.eE+-]{1,24}",
        1 => "\\PC{1,6}",
    ];
    (
        prop::sample::select(vec!["go", "position", "setoption name", "ponderhit", "gameover", ""]),
        prop::collection::vec(word, 0..14),
    )
        .prop_map(|(first, rest)| format!("{first} {}", rest.join(" ")))
}

/// Tries the same cases on every run, and then, if the environment says how long, others until that time is over.
fn fuzz<S: Strategy>(strategy: S, check: impl Fn(S::Value)) {
    let seconds = std::env::var("KOZUKA_FUZZ_SECONDS").map(|text| text.parse().expect("a number of seconds"));
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
    let config = ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config.clone(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    loop {
        let tried = runner.run(&strategy, |value| {
            check(value);
            Ok(())
        });
        tried.unwrap_or_else(|error| panic!("{error}"));
        if Instant::now() >= end {
            return;
        }
        runner = TestRunner::new(config.clone());
    }
}

#[test]
fn no_bytes_bring_the_reader_of_lines_down() {
    fuzz(prop::collection::vec(any::<u8>(), 0..200), |bytes| reads_well(&bytes));
}

#[test]
fn no_words_bring_the_reader_of_lines_down() {
    fuzz(words(), |line| reads_well(line.as_bytes()));
}

#[test]
fn no_damage_brings_the_reader_of_positions_down() {
    let positions: Vec<_> = SOUND.iter().copied().filter(|line| line.starts_with("position sfen")).collect();
    fuzz((prop::sample::select(positions), any::<u64>()), |(sound, seed)| {
        reads_well(&damage(&mut Xoshiro256PlusPlus::seed_from_u64(seed), sound));
    });
}

#[test]
fn no_damage_brings_the_reader_of_other_lines_down() {
    fuzz((prop::sample::select([SOUND, SEARCHES].concat()), any::<u64>()), |(sound, seed)| {
        reads_well(&damage(&mut Xoshiro256PlusPlus::seed_from_u64(seed), sound));
    });
}
