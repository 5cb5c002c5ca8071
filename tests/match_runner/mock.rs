//! A scripted USI engine. It plays legal moves that depend on the position alone, and misbehaves as told.
//!
//! Called as `--mock MODE [AT]`: from its move number AT on (1 by default) it does what MODE says.

use std::io::{self, BufRead, Write};
use std::thread;
use std::time::Duration;

use kozuka::engine::{AnyPosition, GameId};
use kozuka::position::Rules;

struct Mock {
    mode: String,
    at: usize,
    position: AnyPosition,
    game: GameId,
    moves_made: usize,
    pondering: bool,
    /// The answer that is held back until `stop` or `ponderhit`.
    held: Option<String>,
}

/// Runs until `quit` or the end of the input.
pub fn run(arguments: &[String]) {
    let mode = arguments.first().cloned().unwrap_or_default();
    let at = arguments.get(1).and_then(|at| at.parse().ok()).unwrap_or(1);
    // An engine without an option for it plays one game only.
    let game = if mode == "no-variant" { GameId::Shogi } else { GameId::Minishogi };
    let position = AnyPosition::new(game, Rules::default());
    let mut mock = Mock { mode, at, position, game, moves_made: 0, pondering: false, held: None };
    if mock.is("no-start") {
        eprintln!("mock: no licence found");
        std::process::exit(3);
    }
    if mock.is("deaf") {
        loop {
            thread::sleep(Duration::from_secs(60));
        }
    }
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let words: Vec<_> = line.split_whitespace().collect();
        match words.split_first() {
            Some((&"quit", _)) => {
                if mock.is("slow-quit") || mock.is("no-quit") {
                    thread::sleep(Duration::from_secs(if mock.is("no-quit") { 600 } else { 1 }));
                }
                break;
            }
            Some((command, rest)) => mock.command(command, rest),
            None => {}
        }
    }
    if mock.is("orphan") {
        thread::sleep(Duration::from_secs(600));
    }
}

fn say(line: &str) {
    let mut stdout = io::stdout().lock();
    if stdout.write_all(line.as_bytes()).and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(0);
    }
}

impl Mock {
    fn is(&self, mode: &str) -> bool {
        self.mode == mode
    }

    fn command(&mut self, command: &str, rest: &[&str]) {
        match command {
            "usi" => {
                if self.is("noisy-start") {
                    say("Mock engine, all rights reserved");
                    say("");
                }
                say("id name Mock");
                if !self.is("no-variant") {
                    say(&format!(
                        "option name {} type combo default shogi var minishogi var shogi",
                        self.variant_option()
                    ));
                }
                say("option name Level type spin default 1 min 0 max 9");
                say("option name Book type string default ");
                say("option name USI_Ponder type check default false");
                say("usiok");
            }
            "setoption" => self.set_option(rest),
            "isready" if self.is("never-ready") => {}
            "isready" => say("readyok"),
            "usinewgame" => self.moves_made = 0,
            "position" => self.set_position(rest),
            "go" => self.go(rest),
            "ponderhit" => self.release(true),
            "stop" => self.release(false),
            _ => {}
        }
    }

    fn variant_option(&self) -> &'static str {
        if self.is("uci-variant") { "UCI_Variant" } else { "USI_Variant" }
    }

    fn set_option(&mut self, rest: &[&str]) {
        if let ["name", name, "value", value] = rest
            && *name == self.variant_option()
            && let Ok(game) = value.parse()
        {
            self.game = game;
        }
    }

    fn set_position(&mut self, rest: &[&str]) {
        let moves = rest.iter().position(|word| *word == "moves").unwrap_or(rest.len());
        let position = match &rest[..moves] {
            ["sfen", sfen @ ..] => AnyPosition::from_sfen(self.game, &sfen.join(" "), Rules::default()).ok(),
            _ => Some(AnyPosition::new(self.game, Rules::default())),
        };
        let Some(mut position) = position else {
            eprintln!("mock: no position in {rest:?}");
            std::process::exit(4);
        };
        for mv in rest.iter().skip(moves + 1) {
            if position.play(mv).is_err() {
                eprintln!("mock: {mv} is not legal");
                std::process::exit(4);
            }
        }
        self.position = position;
    }

    /// A move that depends on the position only; mate if there is one.
    fn choose(position: &mut AnyPosition) -> String {
        let mut moves = position.legal_moves();
        moves.sort();
        for mv in &moves {
            if position.play(mv).is_ok() {
                let over = position.outcome();
                position.undo();
                if over.is_some_and(|outcome| outcome.winner == Some(position.side_to_move())) {
                    return mv.clone();
                }
            }
        }
        let number = position.key() ^ position.key() >> 29;
        moves.get(number as usize % moves.len().max(1)).cloned().unwrap_or_else(|| "resign".to_owned())
    }

    fn answer(&mut self) -> String {
        let mv = Self::choose(&mut self.position);
        let mut answer = format!("bestmove {mv}");
        // It guesses the reply that it would give itself, which is right against its twin.
        if self.position.play(&mv).is_ok() && self.position.outcome().is_none() {
            let reply = Self::choose(&mut self.position);
            answer.push_str(&format!(" ponder {reply}"));
            self.position.undo();
        }
        answer
    }

    fn go(&mut self, rest: &[&str]) {
        self.moves_made += 1;
        self.pondering = rest.first() == Some(&"ponder");
        say(&format!("info depth 3 score cp {} nodes 100 time 0 pv 1a1b", self.score()));
        let answer = self.answer();
        if self.pondering && !self.is("eager") {
            self.held = Some(answer);
        } else {
            self.move_or_misbehave(&answer);
        }
    }

    fn score(&self) -> i32 {
        match self.mode.as_str() {
            "winning" => 5000,
            "losing" => -5000,
            "level" => 0,
            _ => (self.position.key() % 41) as i32 - 20,
        }
    }

    /// `stop` and `ponderhit`; both end what is held back.
    fn release(&mut self, hit: bool) {
        if let Some(answer) = self.held.take() {
            if hit {
                say("info string hit");
                self.move_or_misbehave(&answer);
            } else {
                say(&answer);
            }
        }
    }

    fn move_or_misbehave(&mut self, answer: &str) {
        if self.moves_made < self.at {
            return say(answer);
        }
        let sleep = |millis| thread::sleep(Duration::from_millis(millis));
        match self.mode.as_str() {
            // Answers `stop` like any engine, just too late for the clock.
            "late" => {
                sleep(400);
                say(answer);
            }
            "unhurried" => {
                sleep(60);
                say(answer);
            }
            "silent" => self.held = None,
            "waits-for-stop" => self.held = Some(answer.to_owned()),
            "illegal" => say("bestmove 1a1a"),
            "none" => say("bestmove (none)"),
            "bare" => say("bestmove"),
            "resign" => say("bestmove resign"),
            "claim" => say("bestmove win"),
            "crash" => {
                eprintln!("mock: segment 7 is missing");
                eprintln!("mock: giving up");
                std::process::exit(139);
            }
            "abort" => std::process::abort(),
            "leave" => std::process::exit(0),
            "close" => {
                // Keeps running with its output closed, and does not care about its input either.
                close_stdout();
                sleep(600_000);
            }
            "garbage" => {
                let mut stdout = io::stdout().lock();
                let _ = stdout.write_all(
                    b"\xff\xfe\x00 what\n\n\ninfo depth x score cp y pv\noption name\nbestmov 1a1b\nreadyok\n",
                );
                drop(stdout);
                say("info score");
                say(&format!("  {answer}\r"));
            }
            "flood" => loop {
                say("info string nothing to say");
            },
            "huge" => {
                say(&"x".repeat(3_000_000));
                say(&format!("info depth 9 nodes 5 score cp 1 pv {}", "1a1b ".repeat(500_000)));
                say(answer);
            }
            "suffix" => say(&format!("{answer} draw")),
            _ => say(answer),
        }
    }
}

#[cfg(unix)]
fn close_stdout() {
    use std::os::fd::{AsFd, AsRawFd};
    let _ = nix::unistd::close(io::stdout().as_fd().as_raw_fd());
}

#[cfg(not(unix))]
fn close_stdout() {}
