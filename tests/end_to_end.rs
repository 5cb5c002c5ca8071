//! Whole games with programs that others wrote, every move checked by the rules of both sides.

mod support;

use std::process::Command;
use std::time::Duration;

use kozuka::engine::GameId;
use kozuka::position::{Outcome, Reason};
use kozuka::types::Color;
use support::xboard::XBoard;
use support::{Chance, Game, Program, debian_program};

/// Has Kozuka move in a game through UCI2WB. What the adapter claims must be true. Returns the move that is expected.
fn kozuka_moves(board: &mut XBoard, game: &mut Game) -> Option<String> {
    let mover = game.position().side_to_move();
    let answer = board.answer();
    game.play(&answer.mv);
    let outcome = game.outcome();
    // XBoard calls the first mover White. UCI2WB claims a mate because of the score that came with it.
    let mate = match mover {
        Color::Black => "1-0 {mate}",
        Color::White => "0-1 {mate}",
    };
    let is_mate = outcome.is_some_and(|outcome| outcome.reason == Reason::Checkmate);
    assert_eq!(answer.claim.as_deref(), is_mate.then_some(mate), "{}", game.command());
    if let Some(hint) = &answer.hint {
        assert!(game.position().legal_moves().contains(hint), "hint {hint} after {}", game.command());
    }
    answer.hint
}

/// Has somebody else move.
fn other_moves(board: &mut XBoard, game: &mut Game, mv: &str) {
    board.send_move(mv);
    game.play(mv);
}

/// Says who has won and ends the programs.
fn end(mut board: XBoard, game: &Game) {
    let result = match game.outcome().and_then(|outcome| outcome.winner) {
        Some(Color::Black) => "1-0",
        Some(Color::White) => "0-1",
        None => "1/2-1/2",
    };
    board.send(&format!("result {result} {{the end}}"));
    board.quit();
}

/// Kozuka plays that colour through UCI2WB against chance, to the end.
fn uci2wb_game(kozuka: Color, seed: u64) {
    let Some(uci2wb) = debian_program("uci2wb") else { return };
    let mut board = XBoard::start(&uci2wb, 5);
    board.send_all(&["level 0 0:02 0", "easy"]);
    let mut game = Game::new(GameId::Minishogi);
    let mut chance = Chance(seed);
    if kozuka == Color::Black {
        board.send("go");
    }
    while game.outcome().is_none() {
        if game.position().side_to_move() == kozuka {
            kozuka_moves(&mut board, &mut game);
        } else {
            let mv = chance.choose(game.position());
            board.send_all(&["time 100", "otim 50"]);
            other_moves(&mut board, &mut game, &mv);
        }
    }
    assert_eq!(game.outcome().and_then(|outcome| outcome.winner), Some(kozuka));
    end(board, &game);
}

#[test]
fn uci2wb_sente() {
    uci2wb_game(Color::Black, 1);
}

#[test]
fn uci2wb_gote() {
    uci2wb_game(Color::White, 2);
}

#[test]
fn uci2wb_both_sides() {
    let Some(uci2wb) = debian_program("uci2wb") else { return };
    let mut boards = [XBoard::start(&uci2wb, 5), XBoard::start(&uci2wb, 5)];
    for board in &mut boards {
        board.send_all(&["level 0 1 0", "sd 3"]);
    }
    // Both sides think alike; an opening that is not the usual one shows how XBoard tells of a position.
    let start = "rb1gk/1s2p/5/P1G2/K1SBR b - 1";
    for board in &mut boards {
        board.send("setboard rb1gk/1s2p/5/P1G2/K1SBR[-] w 0 1");
    }
    boards[0].send("go");
    let mut game = Game::from_sfen(GameId::Minishogi, start);
    while game.outcome().is_none() {
        let mover = game.position().side_to_move().index();
        kozuka_moves(&mut boards[mover], &mut game);
        boards[1 - mover].send_move(game.moves().last().unwrap());
    }
    boards.into_iter().for_each(|board| end(board, &game));
}

#[test]
fn uci2wb_ponder() {
    let Some(uci2wb) = debian_program("uci2wb") else { return };
    let mut board = XBoard::start(&uci2wb, 5);
    board.send_all(&["level 0 0:03 0", "hard"]);
    let mut game = Game::new(GameId::Minishogi);
    let mut chance = Chance(3);
    board.send("go");
    let mut hits = 0;
    let mut turn = 0;
    while game.outcome().is_none() {
        let hint = kozuka_moves(&mut board, &mut game);
        if game.outcome().is_some() {
            break;
        }
        // The move that Kozuka ponders on and any other one take turns.
        let mv = loop {
            let mv = chance.choose(game.position());
            match &hint {
                Some(hint) if turn % 2 == 0 => break hint.clone(),
                Some(hint) if *hint == mv && game.position().legal_moves().len() > 1 => {}
                _ => break mv,
            }
        };
        hits += usize::from(hint == Some(mv.clone()));
        // Long enough for a search that would not wait for the move.
        std::thread::sleep(Duration::from_millis(30));
        board.send_all(&["time 150", "otim 150"]);
        other_moves(&mut board, &mut game, &mv);
        turn += 1;
    }
    assert!(hits > 0 && board.count_sent("ponderhit") >= hits, "{hits} of {turn}");
    assert!(board.count_sent("stop") > 0 && board.count_sent("go ponder") > 0);
    end(board, &game);
}

#[test]
fn uci2wb_time_controls() {
    let Some(uci2wb) = debian_program("uci2wb") else { return };
    let mut board = XBoard::start(&uci2wb, 5);
    let mut game = Game::new(GameId::Minishogi);
    let mut chance = Chance(4);
    let controls: [&[&str]; 8] = [
        &["level 0 0:01 0", "time 100", "otim 100"],
        &["level 40 0:02 0", "time 200", "otim 100"],
        &["level 0 0:01 1", "time 20", "otim 0"],
        // XBoard lets a clock run out when it is told to.
        &["level 0 0:01 0", "time -99", "otim -5"],
        &["option Byoyomi=0", "time 20", "otim 20"],
        &["option Floating Byoyomi=1", "level 0 0:01 0", "time 0", "otim 100"],
        &["option Floating Byoyomi=0", "option Byoyomi=-1", "sd 2", "time 100", "otim 100"],
        &["st 1"],
    ];
    // Kozuka plays on with whatever clock there is.
    for control in controls {
        board.send_all(control);
        let mv = chance.choose(game.position());
        other_moves(&mut board, &mut game, &mv);
        assert_eq!(game.outcome(), None, "{}", game.command());
        kozuka_moves(&mut board, &mut game);
        if game.outcome().is_some() {
            board.send_all(&["new", "variant 5x5+5_shogi"]);
            game = Game::new(GameId::Minishogi);
        }
    }
    assert!(board.count_sent("go btime -50 wtime -990") == 1);
    board.quit();
}

/// Waits for a line of thought about the position: its moves can be played there.
fn analyse(board: &mut XBoard, game: &mut Game) {
    board.wait_for_analysis();
    let line = board.thought(3);
    assert!(!line.is_empty());
    let mut position = game.position().clone();
    if line.iter().any(|mv| position.play(mv).is_err()) {
        board.fail(&format!("{line:?} cannot be played after {}", game.command()));
    }
}

#[test]
fn uci2wb_analysis() {
    let Some(uci2wb) = debian_program("uci2wb") else { return };
    let mut board = XBoard::start(&uci2wb, 5);
    let mut game = Game::from_sfen(GameId::Minishogi, "r1s1k/4p/1R3/P4/K1SB1 b GGb 1");
    board.send_all(&["force", "setboard r1s1k/4p/1R3/P4/K1SB1[GGb] w 0 1", "analyze"]);
    analyse(&mut board, &mut game);
    for mv in ["4c4a+", "5a4a", "G*3d"] {
        other_moves(&mut board, &mut game, mv);
        analyse(&mut board, &mut game);
    }
    for _ in 0..2 {
        board.send("undo");
        game.take_back();
        analyse(&mut board, &mut game);
    }
    board.send(".");
    board.wait_for("what is being thought", |line| line.starts_with("stat01: "));
    board.send("exit");
    board.quit();
}

#[test]
fn uci2wb_undo() {
    let Some(uci2wb) = debian_program("uci2wb") else { return };
    let mut board = XBoard::start(&uci2wb, 5);
    board.send_all(&["level 0 1 0", "sd 3"]);
    let mut game = Game::new(GameId::Minishogi);
    let mut chance = Chance(5);
    let mut move_by_chance = |board: &mut XBoard, game: &mut Game| {
        let mv = chance.choose(game.position());
        other_moves(board, game, &mv);
    };
    for _ in 0..2 {
        move_by_chance(&mut board, &mut game);
        kozuka_moves(&mut board, &mut game);
    }
    // A move of each side is taken back,
    board.send("remove");
    game.take_back();
    game.take_back();
    move_by_chance(&mut board, &mut game);
    kozuka_moves(&mut board, &mut game);
    // then one only, after which Kozuka moves for this side and for the other one.
    board.send_all(&["force", "undo", "go"]);
    game.take_back();
    kozuka_moves(&mut board, &mut game);
    board.send("go");
    kozuka_moves(&mut board, &mut game);
    board.quit();
}

#[test]
fn uci2wb_mates() {
    let Some(uci2wb) = debian_program("uci2wb") else { return };
    // Kozuka mates,
    let mut board = XBoard::start(&uci2wb, 5);
    let start = "4k/5/3G1/5/K4 b G 1";
    let mut game = Game::from_sfen(GameId::Minishogi, start);
    board.send_all(&["setboard 4k/5/3G1/5/K4[G] w 0 1", "level 0 0:01 0", "go"]);
    kozuka_moves(&mut board, &mut game);
    assert_eq!(game.outcome().map(|outcome| outcome.reason), Some(Reason::Checkmate));
    end(board, &game);
    // and is mated.
    let mut board = XBoard::start(&uci2wb, 5);
    let mut game = Game::from_sfen(GameId::Minishogi, start);
    board.send_all(&["setboard 4k/5/3G1/5/K4[G] w 0 1", "level 0 0:01 0"]);
    other_moves(&mut board, &mut game, "G*2b");
    assert_eq!(board.answer().mv, "resign");
    end(board, &game);
}

#[test]
fn uci2wb_shogi() {
    let Some(uci2wb) = debian_program("uci2wb") else { return };
    let mut board = XBoard::start(&uci2wb, 9);
    board.send_all(&["level 0 0:10 0", "sd 2", "go"]);
    let mut game = Game::new(GameId::Shogi);
    let mut chance = Chance(6);
    while game.outcome().is_none() && game.moves().len() < 80 {
        kozuka_moves(&mut board, &mut game);
        if game.outcome().is_none() {
            let mv = chance.choose(game.position());
            other_moves(&mut board, &mut game, &mv);
        }
    }
    end(board, &game);
}

/// Kozuka, ready to play.
fn start_kozuka() -> Program {
    let mut kozuka = Program::kozuka::<&str>([]);
    for line in ["usi", "isready", "usinewgame"] {
        kozuka.send(line);
    }
    kozuka.wait_for("readyok", |line| line == "readyok");
    kozuka
}

/// Asks a USI engine for its move.
fn ask(engine: &mut Program, game: &Game, limit: &str) -> String {
    engine.send(&game.command());
    engine.send(limit);
    let line = engine.wait_for("a move", |line| line.starts_with("bestmove "));
    line.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// The legal moves as Fairy-Stockfish has them.
fn moves_of_fairy_stockfish(engine: &mut Program, game: &Game) -> Vec<String> {
    engine.send(&game.command());
    engine.send("go perft 1");
    let mut moves = Vec::new();
    engine.wait_for("a count of moves", |line| {
        let end = line.starts_with("Nodes searched");
        moves.extend(line.strip_suffix(": 1").filter(|_| !end).map(str::to_owned));
        end
    });
    moves
}

/// Whether the move would be a pawn drop that mates. Fairy-Stockfish lets some of them pass.
fn is_drop_pawn_mate(game: &Game, mv: &str) -> bool {
    let Some(square) = mv.strip_prefix("P*") else { return false };
    // With the pawn taken from the hand and put on the board, it is the other side's move.
    let sfen = game.position().sfen();
    let fields: Vec<&str> = sfen.split(' ').collect();
    let mut rows: Vec<Vec<String>> = fields[0].split('/').map(squares).collect();
    let (file, rank) = (square.as_bytes()[0] - b'0', square.as_bytes()[1] - b'a');
    let (pawn, next) = if fields[1] == "b" { ("P", "w") } else { ("p", "b") };
    let row = &mut rows[usize::from(rank)];
    let column = row.len() - usize::from(file);
    row[column] = pawn.to_owned();
    let board: Vec<String> = rows.iter().map(|row| row.concat()).collect();
    let hands = fields[2].replacen(pawn, "", 1);
    let hands = if hands.is_empty() { "-" } else { &hands };
    let after = Game::from_sfen(GameId::Minishogi, &format!("{} {next} {hands} 1", board.join("/")));
    after.outcome().is_some_and(|outcome| outcome.reason == Reason::Checkmate)
}

/// The squares of a rank of a board in SFEN, an empty one as `1`.
fn squares(row: &str) -> Vec<String> {
    let mut squares: Vec<String> = Vec::new();
    let mut promoted = "";
    for letter in row.chars() {
        match letter.to_digit(10) {
            Some(run) => squares.extend((0..run).map(|_| "1".to_owned())),
            None if letter == '+' => promoted = "+",
            None => {
                squares.push(format!("{promoted}{letter}"));
                promoted = "";
            }
        }
    }
    squares
}

/// Kozuka plays that colour against Fairy-Stockfish, to the end. All legal moves are compared all along.
fn fairy_stockfish_game(kozuka: Color) {
    let Some(path) = debian_program("fairy-stockfish") else { return };
    let mut opponent = Program::start(&mut Command::new(path));
    for line in ["usi", "setoption name UCI_Variant value minishogi", "usinewgame", "isready"] {
        opponent.send(line);
    }
    opponent.wait_for("readyok", |line| line == "readyok");
    let mut engine = start_kozuka();
    let mut game = Game::new(GameId::Minishogi);
    while game.outcome().is_none() {
        let mut ours = game.position().legal_moves();
        let mut theirs = moves_of_fairy_stockfish(&mut opponent, &game);
        ours.sort();
        theirs.retain(|mv| ours.binary_search(mv).is_ok() || !is_drop_pawn_mate(&game, mv));
        theirs.sort();
        assert_eq!(ours, theirs, "{}", game.command());
        let mv = if game.position().side_to_move() == kozuka {
            ask(&mut engine, &game, "go nodes 3000")
        } else {
            let mv = ask(&mut opponent, &game, "go nodes 3000");
            if is_drop_pawn_mate(&game, &mv) {
                break;
            }
            mv
        };
        game.play(&mv);
    }
    for program in [&mut engine, &mut opponent] {
        program.send("gameover draw");
        program.send("quit");
    }
    engine.leave();
}

#[test]
fn fairy_stockfish_sente() {
    fairy_stockfish_game(Color::Black);
}

#[test]
fn fairy_stockfish_gote() {
    fairy_stockfish_game(Color::White);
}

/// Kozuka plays that colour against GNU Minishogi, which speaks no protocol but reads moves and prints its own.
fn gnuminishogi_game(kozuka: Color) {
    let Some(path) = debian_program("gnuminishogi") else { return };
    let mut opponent = Program::start(&mut Command::new(path));
    // The first two lines answer one question.
    for line in ["depth", "2", "book"] {
        opponent.send(line);
    }
    if kozuka == Color::White {
        opponent.send("go");
    }
    let mut engine = start_kozuka();
    let mut game = Game::new(GameId::Minishogi);
    while game.outcome().is_none() {
        if game.position().side_to_move() == kozuka {
            let mv = ask(&mut engine, &game, "go nodes 3000");
            opponent.send(&mv);
            game.play(&mv);
            continue;
        }
        // The program's move looks like "1. ... 4a3b 300000" and may follow another text in its line. Its own judgement
        // of repetitions ends a game earlier.
        let ends = ["Resigns", "Drawn game", "Repetition"];
        let line = opponent.wait_for("a move", |line| {
            line.contains(". ... ") || line.contains("Illegal") || ends.iter().any(|end| line.contains(end))
        });
        assert!(!line.contains("Illegal"), "{line} after {}", game.command());
        let Some((_, mv)) = line.split_once(". ... ") else { break };
        game.play(mv.split(' ').next().unwrap_or_default());
    }
    // It knows a mate when it sees one.
    if let Some(Outcome { winner: Some(winner), reason: Reason::Checkmate }) = game.outcome() {
        opponent.wait_for("the winner", |line| line == format!("{winner:?} mates!"));
    }
    engine.send("quit");
    engine.leave();
}

#[test]
fn gnuminishogi_sente() {
    gnuminishogi_game(Color::Black);
}

#[test]
fn gnuminishogi_gote() {
    gnuminishogi_game(Color::White);
}
