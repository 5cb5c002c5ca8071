//! Plays the clients' part of the sessions in `usi-logs` again. What Kozuka answers may differ from what it answered then;
//! checked is what must hold whatever it plays.

mod common;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::Session;
use kozuka::engine::{AnyPosition, GameId};
use kozuka::position::Rules;

/// Time runs so many times faster than in the log: on the clocks, and between the lines where the engine must keep silent.
const HASTE: i64 = 10;

/// The longest silence that is waited for.
const LONGEST_SILENCE: Duration = Duration::from_millis(60);

/// Makes a test of each log. Beside its name stand how many answers it has, and how many of them the client played.
macro_rules! replay_logs {
    ($($test:ident: $file:literal, $answers:literal, $played:literal;)+) => {
        /// The logs that are replayed.
        const LOGS: &[&str] = &[$($file),+];

        $(#[test]
        fn $test() {
            assert_eq!(replay($file), ($answers, $played));
        })+
    };
}

replay_logs! {
    agent_evaluator: "agent-evaluator.usi", 35, 33;
    lishogi_bot_minishogi: "lishogi-bot-minishogi.usi", 33, 16;
    lishogi_bot_shogi: "lishogi-bot-shogi.usi", 46, 30;
    lishogi_bot: "lishogi-bot.usi", 59, 36;
    lishoginet_alice: "lishoginet-alice.usi", 32, 0;
    lishoginet_bob: "lishoginet-bob.usi", 35, 0;
    minishogi_server: "minishogi-server.usi", 33, 22;
    uci2wb_analysis_undo: "uci2wb-analysis-undo.usi", 11, 3;
    xboard_hand: "xboard-hand.usi", 6, 2;
    xboard_uci2wb_gote: "xboard-uci2wb-gote.usi", 40, 39;
    xboard_uci2wb_ponder: "xboard-uci2wb-ponder.usi", 23, 18;
    xboard_uci2wb_sente: "xboard-uci2wb-sente.usi", 14, 13;
    xboard_uci2wb_shogi: "xboard-uci2wb-shogi.usi", 47, 46;
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("usi-logs")
}

#[test]
fn every_log_is_replayed() {
    let files = std::fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut found: Vec<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
    found.retain(|name| name.ends_with(".usi"));
    found.sort();
    assert_eq!(found, LOGS);
}

/// A log, read.
struct Log {
    /// With which arguments Kozuka was started.
    arguments: Vec<String>,
    /// The client ended it by a signal, without a word.
    killed: bool,
    /// Milliseconds, whether to the engine, the line.
    entries: Vec<(u64, bool, String)>,
}

impl Log {
    fn read(file: &str) -> Self {
        let mut log = Self { arguments: Vec::new(), killed: false, entries: Vec::new() };
        for line in std::fs::read_to_string(directory().join(file)).unwrap().lines() {
            if let Some(remark) = line.strip_prefix("# ") {
                let arguments = remark.strip_prefix("arguments: ").unwrap_or_default();
                log.arguments.extend(arguments.split_whitespace().map(str::to_owned));
                log.killed |= remark == "ends: killed";
                continue;
            }
            let (time, rest) = line.trim_start().split_once(' ').unwrap();
            let (direction, line) = rest.split_once(' ').unwrap();
            let seconds: f64 = time.parse().unwrap();
            assert!(matches!(direction, ">" | "<"), "{line}");
            log.entries.push(((seconds * 1_000.0) as u64, direction == ">", line.to_owned()));
        }
        log
    }

    /// The game that Kozuka begins with.
    fn game(&self) -> GameId {
        let named = self.arguments.iter().position(|argument| argument == "--variant");
        named.map_or(GameId::Minishogi, |index| self.arguments[index + 1].parse().unwrap())
    }
}

/// A `go` that has not been answered yet.
struct Search {
    /// Where it thinks: the start as it was given, and the moves.
    start: String,
    moves: Vec<String>,
    position: AnyPosition,
    /// It may answer: nothing has to happen before that.
    may_answer: bool,
    /// Its answer is played, unless the client thinks better of it.
    in_earnest: bool,
}

impl Search {
    fn check(&self, best: &str) {
        if self.position.legal_moves().is_empty() {
            assert_eq!(best, "resign", "{}", self.position.sfen());
        } else if best != "win" || !self.position.can_declare_win() {
            assert!(self.position.legal_moves().iter().any(|mv| mv == best), "{best} in {}", self.position.sfen());
        }
    }
}

/// What a `position` command says, with every move checked.
fn told(game: GameId, line: &str) -> (String, Vec<String>, AnyPosition) {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let end = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
    let mut position = match words[1..end] {
        ["startpos"] => AnyPosition::new(game, Rules::default()),
        ["sfen", ref fields @ ..] => AnyPosition::from_sfen(game, &fields.join(" "), Rules::default()).unwrap(),
        _ => panic!("{line}"),
    };
    let moves: Vec<String> = words.iter().skip(end + 1).map(|&mv| mv.to_owned()).collect();
    for mv in &moves {
        position.play(mv).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    (words[..end].join(" "), moves, position)
}

/// A line with the clock made faster.
fn hasten(line: &str) -> String {
    const TIMES: [&str; 6] = ["btime", "wtime", "byoyomi", "binc", "winc", "movetime"];
    let mut is_time = false;
    let hasten = |word: &str| {
        let faster = word.parse().ok().filter(|_| is_time).map(|time: i64| (time / HASTE).to_string());
        is_time = TIMES.contains(&word);
        faster.unwrap_or_else(|| word.to_owned())
    };
    line.split(' ').map(hasten).collect::<Vec<_>>().join(" ")
}

/// Plays a log. Returns how many answers there were, and how many of them the client played.
fn replay(file: &str) -> (usize, usize) {
    let log = Log::read(file);
    let mut game = log.game();
    let arguments: Vec<&str> = log.arguments.iter().map(String::as_str).collect();
    let mut session = Session::start_with(&arguments);
    let mut position = None;
    let mut search: Option<Search> = None;
    // The last position that was thought about in earnest, with the answer in the log.
    let mut answered: Option<(Search, String)> = None;
    let (mut answers, mut played) = (0, 0);
    let mut before = 0;
    let mut asked_at = Instant::now();

    for (time, to_engine, line) in &log.entries {
        let word = line.split(' ').next().unwrap_or_default();
        if !to_engine {
            match word {
                "usiok" | "readyok" => {
                    let lines = session.expect(word);
                    assert_eq!(lines.last(), Some(line));
                    assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
                }
                "bestmove" => {
                    let search = search.take().unwrap_or_else(|| panic!("nothing was asked before {line}"));
                    assert!(search.may_answer, "{line}");
                    let best = line.split(' ').nth(1).unwrap();
                    search.check(best);
                    let answer = session.answer(asked_at);
                    search.check(&answer.best);
                    if search.position.legal_moves().contains(&answer.best) {
                        answer.check(&search.position);
                    }
                    assert!(answer.strings.is_empty(), "{:?}", answer.strings);
                    answers += 1;
                    if search.in_earnest {
                        answered = Some((search, best.to_owned()));
                    }
                }
                _ => {}
            }
            continue;
        }
        let silence = Duration::from_millis((time - before) / HASTE as u64).min(LONGEST_SILENCE);
        before = *time;
        if search.as_ref().is_some_and(|search| !search.may_answer) {
            session.expect_silence(silence);
        }
        match word {
            "position" => {
                let (start, moves, there) = told(game, line);
                // The client has taken the answer over, if the game goes on from where it was given. Lishogi-Bot has that
                // very position pondered on before it goes on.
                let again = answered.as_ref().is_some_and(|(last, _)| start == last.start && moves == last.moves);
                if !again
                    && let Some((last, best)) = answered.take()
                    && start == last.start
                    && moves.len() > last.moves.len()
                    && moves.starts_with(&last.moves)
                {
                    assert_eq!(moves[last.moves.len()], best, "{line}");
                    played += 1;
                }
                position = Some((start, moves, there));
            }
            "go" => {
                let waits = line.contains("infinite") || line.contains("ponder");
                let (start, moves, position) = position.clone().unwrap();
                let unanswered =
                    search.replace(Search { start, moves, position, may_answer: !waits, in_earnest: !waits });
                assert!(unanswered.is_none(), "two searches at a time: {line}");
            }
            // What was answered before is not played any more.
            "usinewgame" => answered = None,
            "stop" | "ponderhit" => {
                if let Some(search) = &mut search {
                    search.may_answer = true;
                    search.in_earnest |= word == "ponderhit";
                }
            }
            "setoption" => {
                let value = line.split_once("Variant value ").map(|(_, name)| name.parse().unwrap());
                game = value.unwrap_or(game);
            }
            _ => {}
        }
        asked_at = Instant::now();
        session.send(&hasten(line));
    }

    let last = log.entries.iter().rfind(|(_, to_engine, _)| *to_engine).map(|(_, _, line)| line.as_str());
    assert_eq!(last != Some("quit"), log.killed, "{last:?}");
    if !log.killed {
        let rest = session.ended(Duration::from_secs(1));
        assert!(search.is_none() && rest.iter().all(|line| !line.starts_with("bestmove")), "{rest:?}");
    }
    (answers, played)
}
