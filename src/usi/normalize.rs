//! One step in front of the protocol crate's parser, which is strict where real clients are sloppy.
//!
//! A line is cleaned so that the parser can read it. What its unsigned fields cannot hold, the sign of a clock, is
//! carried beside the command; whatever had to be dropped or changed in a way that matters is put into words.

use std::path::Path;

use rsshogi_usi::{ParseErrorKind, UsiCommand, UsiCommandDirection, parse_line};

/// Times of a `go` or `ponderhit` in milliseconds, with the sign that the client sent.
///
/// A clock below zero counts: with byoyomi added there may still be time left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Clocks {
    /// Black's remaining time.
    pub btime: Option<i64>,
    /// White's remaining time.
    pub wtime: Option<i64>,
    /// Time for each move beyond the clock.
    pub byoyomi: Option<i64>,
    /// Black's increment.
    pub binc: Option<i64>,
    /// White's increment.
    pub winc: Option<i64>,
}

impl Clocks {
    /// Whether no time was given at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn field(&mut self, word: &str) -> Option<&mut Option<i64>> {
        match word {
            "btime" => Some(&mut self.btime),
            "wtime" => Some(&mut self.wtime),
            "byoyomi" => Some(&mut self.byoyomi),
            "binc" => Some(&mut self.binc),
            "winc" => Some(&mut self.winc),
            _ => None,
        }
    }
}

/// What a line of input means.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Input {
    /// The command; `None` if there is nothing to do.
    pub command: Option<UsiCommand>,
    /// The times of a `go` or `ponderhit`.
    pub clocks: Clocks,
    /// What to tell the user about the line.
    pub notices: Vec<String>,
}

/// Longest piece of a path that is repeated in a notice, in characters.
const PATH_CHARS: usize = 180;
/// The command that shows the position; the protocol does not know it.
pub const DISPLAY: &str = "d";

/// Longest piece of input that is repeated in a notice, in characters.
const ECHO_CHARS: usize = 80;
/// Clocks are kept within this distance of zero (30 years), so that sums of them cannot overflow.
const MAX_CLOCK: i64 = 1_000_000_000_000;
/// Move numbers in SFEN are kept up to this one.
const MAX_MOVE_NUMBER: i64 = 1_000_000;
/// How long to think about a `go` whose limits are all unreadable.
const FALLBACK_MOVETIME: i64 = 1_000;

/// Most notices about one line.
const MOST_NOTICES: usize = 4;

/// Reads one line of input, whatever its bytes are.
pub fn read(raw: &[u8]) -> Input {
    let input = interpret(raw);
    Input { notices: few(input.notices), ..input }
}

/// The first of many notices, so that one long line is not answered with thousands.
pub fn few(mut notices: Vec<String>) -> Vec<String> {
    if notices.len() > MOST_NOTICES {
        let left_out = notices.len() - (MOST_NOTICES - 1);
        notices.truncate(MOST_NOTICES - 1);
        notices.push(format!("and {left_out} more like these"));
    }
    notices
}

fn interpret(raw: &[u8]) -> Input {
    let Normalized { line, value, clocks, mut notices } = normalize(raw);
    if line.is_empty() {
        return Input { command: None, clocks, notices };
    }
    if line == DISPLAY {
        return Input { command: Some(UsiCommand::Extension { name: line, args: Vec::new() }), clocks, notices };
    }
    let command = match parse_line(&line) {
        // The parser would take the value for words, but blanks in a path count.
        Ok(UsiCommand::SetOption { name, .. }) => Some(UsiCommand::SetOption { name, value }),
        Ok(command) if command.direction() == Some(UsiCommandDirection::GuiToEngine) => Some(command),
        // Lines that engines write, and debugging commands of other engines.
        Ok(_) => None,
        Err(error) if matches!(error.kind(), ParseErrorKind::UnknownCommand { .. }) => None,
        Err(error) => {
            let what = match line.starts_with("position") {
                true => "bad position, keeping the old one",
                false => "unreadable command",
            };
            notices.push(format!("{what}: {}", clip(&error.to_string(), 3 * ECHO_CHARS)));
            return Input { command: None, clocks, notices };
        }
    };
    if command.is_none() {
        notices.push(format!("unknown command {}", quote(&line)));
    }
    Input { command, clocks, notices }
}

/// A piece of input as notices show it: quoted and not too long.
pub fn quote(text: &str) -> String {
    format!("'{}'", clip(text, ECHO_CHARS))
}

/// A path as notices show it.
pub fn quote_path(path: &Path) -> String {
    format!("'{}'", clip(&path.to_string_lossy(), PATH_CHARS))
}

fn clip(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A number as clients write it: with a sign, a fraction (cut off), an exponent, or far too large (saturated).
pub fn number(word: &str) -> Option<i64> {
    if let Ok(value) = word.parse() {
        return Some(value);
    }
    let numeric = word.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    word.parse::<f64>().ok().filter(|_| numeric).map(|value| value as i64)
}

/// A line that the parser can read.
#[derive(Debug, Default)]
struct Normalized {
    line: String,
    /// The value of an option.
    value: Option<String>,
    clocks: Clocks,
    notices: Vec<String>,
}

fn normalize(raw: &[u8]) -> Normalized {
    let text = String::from_utf8_lossy(raw);
    // A byte order mark comes from files that were piped in.
    let blank = |c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}';
    let words: Vec<&str> = text.split(blank).filter(|word| !word.is_empty()).collect();
    let mut out = Normalized::default();
    let Some((&command, arguments)) = words.split_first() else { return out };
    match command {
        "go" => out.line = go(arguments, &mut out.clocks, &mut out.notices),
        "ponderhit" => {
            // Some clients give the times only now, others a word about a draw offer.
            go(arguments, &mut out.clocks, &mut Vec::new());
            out.line = command.to_owned();
        }
        "position" => out.line = position(&words),
        "setoption" => {
            let mut words = words;
            if let Some(word) = words.get_mut(1).filter(|word| word.eq_ignore_ascii_case("name")) {
                *word = "name";
            }
            if let Some(word) = words.iter().skip(2).find(|&&word| word == "value") {
                let start = word.as_ptr().addr() - text.as_ptr().addr() + word.len();
                out.value = Some(text[start..].trim_matches(blank).to_owned());
            }
            out.line = words.join(" ");
        }
        "gameover" => out.line = format!("gameover {}", arguments.first().unwrap_or(&"draw")),
        "usi" | "isready" | "usinewgame" | "ucinewgame" | "stop" | "quit" | DISPLAY => {
            out.line = if command == "ucinewgame" { "usinewgame" } else { command }.to_owned();
            if !arguments.is_empty() {
                out.notices.push(format!("ignoring {} after {command}", quote(&arguments.join(" "))));
            }
        }
        _ => out.line = words.join(" "),
    }
    out
}

/// Gives an SFEN its move number if that is missing or absurd.
fn position(words: &[&str]) -> String {
    let moves = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
    let (head, tail) = words.split_at(moves);
    let mut clean: Vec<&str> = head.to_vec();
    let number_text;
    match head {
        [_, "sfen", _, _, _] => clean.push("1"),
        [_, "sfen", _, _, _, last] => {
            if let Some(value) = number(last) {
                number_text = value.clamp(1, MAX_MOVE_NUMBER).to_string();
                clean[5] = &number_text;
            }
        }
        _ => {}
    }
    clean.extend(tail);
    clean.join(" ")
}

/// Words of `go` that are followed by a number.
const NUMERIC: [&str; 9] = ["btime", "wtime", "byoyomi", "binc", "winc", "movetime", "movestogo", "depth", "nodes"];

fn is_go_word(word: &str) -> bool {
    NUMERIC.contains(&word) || ["infinite", "ponder", "mate", "searchmoves"].contains(&word)
}

/// Cleans the arguments of `go`, leaving out what cannot be understood.
fn go(words: &[&str], clocks: &mut Clocks, notices: &mut Vec<String>) -> String {
    let mut clean = String::from("go");
    let mut unknown = Vec::new();
    let mut unreadable = false;
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        let mut say = |text: String| clean.extend([" ", word, " ", &text]);
        match word {
            "infinite" | "ponder" => clean.extend([" ", word]),
            "mate" => match words.next_if(|next| !is_go_word(next) || *next == "infinite") {
                Some("infinite") | None => say("infinite".to_owned()),
                Some(value) => match number(value) {
                    Some(value) => say(value.clamp(0, i64::from(u32::MAX)).to_string()),
                    None => {
                        notices.push(format!("unreadable limit {}: no limit", quote(value)));
                        say("infinite".to_owned());
                    }
                },
            },
            "searchmoves" => {
                let mut moves = Vec::new();
                while let Some(mv) = words.next_if(|next| !is_go_word(next)) {
                    moves.push(mv);
                }
                say(moves.join(" "));
            }
            _ if NUMERIC.contains(&word) => {
                let value = words.next_if(|next| !is_go_word(next));
                let Some(given) = value.and_then(number) else {
                    unreadable = true;
                    notices.push(match value {
                        Some(value) => format!("ignoring {word}, unreadable number {}", quote(value)),
                        None => format!("ignoring {word} without a number"),
                    });
                    continue;
                };
                let least = match word {
                    "depth" | "nodes" => 1,
                    _ if clocks.field(word).is_some() => -MAX_CLOCK,
                    _ => 0,
                };
                let most = match word {
                    "depth" => i64::from(u32::MAX),
                    "nodes" => i64::MAX,
                    _ => MAX_CLOCK,
                };
                let value = given.clamp(least, most);
                if value != given {
                    notices.push(format!("{word} {given} is out of range, using {value}"));
                }
                if let Some(field) = clocks.field(word) {
                    *field = Some(value);
                }
                say(value.max(0).to_string());
            }
            _ => unknown.push(word),
        }
    }
    if !unknown.is_empty() {
        notices.push(format!("ignoring {} after go", quote(&unknown.join(" "))));
    }
    // A `go` without limits waits for `stop`; one whose limits were lost on the way must not.
    if (unreadable || !unknown.is_empty()) && clean == "go" {
        notices.push(format!("no readable limit, thinking for {FALLBACK_MOVETIME} ms"));
        clean = format!("go movetime {FALLBACK_MOVETIME}");
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsshogi_usi::{GameResult, GoMate, GoParams, PositionSpec};

    fn command(line: &str) -> UsiCommand {
        let input = read(line.as_bytes());
        assert_eq!(input.notices, Vec::<String>::new(), "{line}");
        input.command.unwrap_or_else(|| panic!("no command in {line}"))
    }

    fn go_params(line: &str) -> (GoParams, Clocks, usize) {
        let input = read(line.as_bytes());
        match input.command {
            Some(UsiCommand::Go(params)) => (params, input.clocks, input.notices.len()),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn refused(raw: &[u8]) -> String {
        let input = read(raw);
        assert_eq!(input.command, None);
        assert_eq!(input.notices.len(), 1, "{:?}", input.notices);
        input.notices[0].clone()
    }

    fn sfen_of(line: &str) -> (String, Vec<String>) {
        match command(line) {
            UsiCommand::Position { spec, moves } => (spec.to_sfen(), moves),
            other => panic!("{line}: {other:?}"),
        }
    }

    const START: &str = "rbsgk/4p/5/P4/KGSBR b - 1";

    #[test]
    fn blanks_of_any_kind_separate_words() {
        for line in ["usi", "  usi\r", "usi\r\n", "\tusi \t ", "\u{feff}usi", "usi\0"] {
            assert_eq!(command(line), UsiCommand::Usi, "{line:?}");
        }
        assert_eq!(command("\tisready \r"), UsiCommand::IsReady);
        assert_eq!(
            command("position\tstartpos   moves\r"),
            UsiCommand::Position { spec: PositionSpec::StartPos, moves: vec![] }
        );
        assert_eq!(command("go  depth\t1\r"), UsiCommand::Go(GoParams { depth: Some(1), ..GoParams::default() }));
    }

    #[test]
    fn nothing_is_nothing() {
        for raw in [&b""[..], b"\r", b"   \t", b"\0", b"\0\0 \r"] {
            assert_eq!(read(raw), Input::default(), "{raw:?}");
        }
    }

    #[test]
    fn any_bytes_are_survived() {
        assert!(refused(b"\xff\xfe").starts_with("unknown command"));
        let long = vec![b'a'; 2_000_000];
        assert!(refused(&long).len() < 200);
        let mut position = b"position sfen ".to_vec();
        position.extend(&long);
        assert!(refused(&position).len() < 500);
        match read(b"setoption name EvalFile value nets/\x8e\x8e.nnue").command {
            Some(UsiCommand::SetOption { name, value: Some(value) }) => {
                assert_eq!(name, "EvalFile");
                assert!(value.starts_with("nets/") && value.ends_with(".nnue"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn words_after_plain_commands_are_dropped_and_said() {
        for (line, expected) in [("quit now", UsiCommand::Quit), ("stop it", UsiCommand::Stop)] {
            let input = read(line.as_bytes());
            assert_eq!(input.command, Some(expected));
            assert_eq!(input.notices.len(), 1);
        }
        assert_eq!(command("ucinewgame"), UsiCommand::UsiNewGame);
        assert_eq!(command("d"), UsiCommand::extension(DISPLAY, [""; 0]));
    }

    #[test]
    fn unknown_commands_are_named() {
        assert_eq!(refused(b"hello world"), "unknown command 'hello world'");
        // Lines that engines write, and extensions of other engines, are no commands to us.
        for line in ["bestmove 4e4d", "usiok", "info depth 1", "test_see", "eval", "option name X type button"] {
            assert_eq!(refused(line.as_bytes()), format!("unknown command '{line}'"));
        }
    }

    #[test]
    fn gameover_needs_no_result() {
        assert_eq!(command("gameover"), UsiCommand::GameOver(GameResult::Draw));
        assert_eq!(command("gameover win"), UsiCommand::GameOver(GameResult::Win));
        assert_eq!(command("gameover lose by time"), UsiCommand::GameOver(GameResult::Lose));
    }

    #[test]
    fn dangling_moves_are_no_moves() {
        for line in ["position startpos moves", "position startpos moves ", "position startpos"] {
            assert_eq!(command(line), UsiCommand::Position { spec: PositionSpec::StartPos, moves: vec![] });
        }
        assert_eq!(sfen_of(&format!("position sfen {START} moves")), (START.to_owned(), vec![]));
    }

    #[test]
    fn null_moves_reach_the_rules() {
        let (_, moves) = sfen_of(&format!("position sfen {START} moves 0000 0000"));
        assert_eq!(moves, ["0000", "0000"]);
    }

    #[test]
    fn move_numbers_of_sfen_are_mended() {
        let board = "rbsgk/4p/5/P4/KGSBR b -";
        for (number, expected) in
            [("", "1"), ("1", "1"), ("0", "1"), ("-3", "1"), ("99999", "99999"), ("99999999999999999999", "1000000")]
        {
            let (sfen, moves) = sfen_of(&format!("position sfen {board} {number} moves 4e4d"));
            assert_eq!(sfen, format!("{board} {expected}"));
            assert_eq!(moves, ["4e4d"]);
        }
        // Not a number: the reader of SFEN says so.
        assert_eq!(sfen_of(&format!("position sfen {board} x")).0, format!("{board} x"));
    }

    #[test]
    fn unreadable_positions_are_refused() {
        for line in [
            "position",
            "position sfen",
            "position sfen rbsgk/4p/5/P4/KGSBR_b_-_1",
            "position sfen rbsgk/4p/5/P4/KGSBR b",
            "position sfen rbsgk/4p/5/P4/KGSBR b - 1 4e4d",
            "position nowhere",
            "position startpos 4e4d",
        ] {
            assert!(refused(line.as_bytes()).starts_with("bad position, keeping the old one"), "{line}");
        }
    }

    #[test]
    fn options_keep_their_words() {
        let set = |name: &str, value: Option<&str>| UsiCommand::SetOption {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        };
        assert_eq!(command("setoption name USI_Hash value 32"), set("USI_Hash", Some("32")));
        assert_eq!(command("setoption name Move  Overhead value\t10"), set("Move Overhead", Some("10")));
        assert_eq!(command("setoption NAME Foo"), set("Foo", None));
        assert_eq!(command("setoption name Foo value"), set("Foo", Some("")));
        assert_eq!(
            command("setoption name EvalFile value  C:\\my  nets\\value of 2.knnue \r\n"),
            set("EvalFile", Some("C:\\my  nets\\value of 2.knnue"))
        );
        for line in ["setoption", "setoption name", "setoption Foo"] {
            assert!(refused(line.as_bytes()).starts_with("unreadable command"), "{line}");
        }
    }

    #[test]
    fn clocks_keep_their_sign() {
        let (params, clocks, notices) = go_params("go btime -3000 wtime 5000 byoyomi 10000");
        assert_eq!(params.btime, Some(0));
        assert_eq!(clocks, Clocks { btime: Some(-3000), wtime: Some(5000), byoyomi: Some(10000), ..Clocks::default() });
        assert_eq!(notices, 0);
    }

    #[test]
    fn fractions_are_cut_off() {
        assert_eq!(go_params("go movetime 1000.0").0.movetime, Some(1000));
        assert_eq!(go_params("go movetime 0.9").0.movetime, Some(0));
        assert_eq!(go_params("go btime 1e4 wtime -0.5").1.btime, Some(10_000));
        assert_eq!(go_params("go btime 1e4 wtime -0.5").1.wtime, Some(0));
    }

    #[test]
    fn oversized_numbers_are_clamped_and_said() {
        let (_, clocks, notices) = go_params("go btime 99999999999999999999 wtime 1");
        assert_eq!((clocks.btime, clocks.wtime, notices), (Some(MAX_CLOCK), Some(1), 1));
        let (_, clocks, notices) = go_params("go btime -99999999999999999999 wtime 1");
        assert_eq!((clocks.btime, notices), (Some(-MAX_CLOCK), 1));
        assert_eq!(go_params("go depth 99999999999").0.depth, Some(u32::MAX));
        assert_eq!(go_params("go nodes 99999999999999999999").0.nodes, Some(i64::MAX as u64));
    }

    #[test]
    fn numbers_below_their_range_are_clamped_and_said() {
        for (line, depth, nodes, movetime) in [
            ("go depth 0", Some(1), None, None),
            ("go depth -1", Some(1), None, None),
            ("go nodes 0", None, Some(1), None),
            ("go movetime -5", None, None, Some(0)),
        ] {
            let (params, _, notices) = go_params(line);
            assert_eq!((params.depth, params.nodes, params.movetime, notices), (depth, nodes, movetime, 1), "{line}");
        }
        assert_eq!(go_params("go movetime 0").2, 0);
    }

    #[test]
    fn missing_and_unreadable_numbers_are_left_out() {
        // Words that are no limit at all must not make it think for ever either.
        assert_eq!(go_params("go perft 2").0.movetime, Some(1000));
        assert_eq!(go_params("go DEPTH 2").0.movetime, Some(1000));
        let (params, clocks, notices) = go_params("go btime abc wtime 1000");
        assert_eq!((params.btime, clocks.btime, clocks.wtime, notices), (None, None, Some(1000), 1));
        let (params, clocks, notices) = go_params("go btime wtime 1000 binc");
        assert_eq!((params.btime, clocks.wtime, clocks.binc, notices), (None, Some(1000), None, 2));
        assert_eq!(go_params("go btime nan wtime inf byoyomi 5").1, Clocks { byoyomi: Some(5), ..Clocks::default() });
    }

    #[test]
    fn a_go_that_lost_its_limits_still_ends() {
        for line in ["go wtime", "go btime abc", "go depth x", "go nodes", "go movetime infinity"] {
            let (params, clocks, notices) = go_params(line);
            assert_eq!(params.movetime, Some(1000), "{line}");
            assert!(clocks.is_empty());
            assert_eq!(notices, 2, "{line}");
        }
        assert_eq!(go_params("go").0, GoParams::default());
        assert_eq!(go_params("go ponder btime x").0, GoParams { ponder: true, ..GoParams::default() });
    }

    #[test]
    fn words_of_go_come_in_any_order() {
        let (params, clocks, notices) =
            go_params("go searchmoves 4e4d 2e2d wtime 5 infinite binc 1 depth 3 movestogo 0 btime 4 ponder winc 2");
        assert_eq!(params.searchmoves, ["4e4d", "2e2d"]);
        assert!(params.infinite && params.ponder);
        assert_eq!(params.depth, Some(3));
        assert_eq!(params.movestogo, Some(0));
        assert_eq!(clocks, Clocks { btime: Some(4), wtime: Some(5), binc: Some(1), winc: Some(2), byoyomi: None });
        assert_eq!(notices, 0);
        assert_eq!(go_params("go searchmoves").0, GoParams::default());
    }

    #[test]
    fn unknown_words_of_go_are_said_once() {
        let (params, _, notices) = go_params("go foo 12 depth 2 bar");
        assert_eq!((params.depth, params.extras.len(), notices), (Some(2), 0, 1));
    }

    #[test]
    fn a_line_full_of_faults_is_not_answered_with_as_many_notices() {
        let (params, _, notices) = go_params(&format!("go {} nodes 7", "depth ".repeat(1_000)));
        assert_eq!((params.nodes, notices), (Some(7), MOST_NOTICES));
        let notices = read(format!("go {}", "depth ".repeat(1_000)).as_bytes()).notices;
        assert_eq!(notices.last().map(String::as_str), Some("and 998 more like these"));
    }

    #[test]
    fn mate_needs_no_limit() {
        for (line, mate, notices) in [
            ("go mate", GoMate::Infinite, 0),
            ("go mate infinite", GoMate::Infinite, 0),
            ("go mate 5000", GoMate::Ply(5000), 0),
            ("go mate -1", GoMate::Ply(0), 0),
            ("go mate x", GoMate::Infinite, 1),
            ("go mate depth 3", GoMate::Infinite, 0),
        ] {
            let (params, _, said) = go_params(line);
            assert_eq!((params.mate, said), (Some(mate), notices), "{line}");
            assert!(!params.infinite);
        }
    }

    #[test]
    fn ponderhit_may_bring_times_or_other_words() {
        assert_eq!(command("ponderhit"), UsiCommand::PonderHit);
        assert_eq!(command("ponderhit draw"), UsiCommand::PonderHit);
        let input = read(b"ponderhit btime -10 wtime 20 byoyomi 1000");
        assert_eq!(input.command, Some(UsiCommand::PonderHit));
        assert_eq!(
            input.clocks,
            Clocks { btime: Some(-10), wtime: Some(20), byoyomi: Some(1000), ..Clocks::default() }
        );
        assert!(input.notices.is_empty());
    }

    #[test]
    fn numbers() {
        for (word, value) in [
            ("12", Some(12)),
            ("-12", Some(-12)),
            ("+7", Some(7)),
            ("1.9", Some(1)),
            (".5", Some(0)),
            ("1e3", Some(1000)),
            ("99999999999999999999", Some(i64::MAX)),
            ("-1e99", Some(i64::MIN)),
            ("nan", None),
            ("inf", None),
            ("infinity", None),
            ("abc", None),
            ("0x10", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(number(word), value, "{word}");
        }
    }
}
