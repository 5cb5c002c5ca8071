//! Games as KIF and as CSA text.
//!
//! KIF is written as <http://kakinoki.o.oo7.jp/kif_format.html> describes it and CSA as
//! <http://www2.computer-shogi.org/protocol/record_v22.html> does. Both are made for 9x9; on 5x5 the board diagram has
//! five columns and rows, which is what lishogi and the 5x5 tournaments use, and the rest is as on 9x9.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;
use thiserror::Error;

use super::record::{GameRecord, GameResult, Header, Reason};
use crate::engine::{AnyPosition, GameId};
use crate::position::Rules;
use crate::types::Color;

/// A text format for games.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// KIF, in UTF-8.
    Kif,
    /// CSA, version 2.2.
    Csa,
}

/// A game that cannot be exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The record is not one of a game known here, or its moves do not fit.
    #[error("game {game}: {text}")]
    Game {
        /// Its number.
        game: u32,
        /// What is wrong.
        text: String,
    },
    /// A file.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: std::io::Error,
    },
}

/// Writes every game into a file of its own in `dir`, which is made if need be, and returns how many there are.
///
/// # Errors
/// If a game does not fit its record, or a file cannot be written.
pub fn write_all(dir: &Path, format: Format, header: &Header, games: &[&GameRecord]) -> Result<usize, ExportError> {
    let io_error = |path: &Path, error| ExportError::Io { path: path.to_owned(), error };
    std::fs::create_dir_all(dir).map_err(|error| io_error(dir, error))?;
    for game in games {
        let text = text(format, header, game).map_err(|text| ExportError::Game { game: game.game, text })?;
        let extension = match format {
            Format::Kif => "kifu",
            Format::Csa => "csa",
        };
        let path = dir.join(format!("game-{:05}.{extension}", game.game));
        std::fs::write(&path, text).map_err(|error| io_error(&path, error))?;
    }
    Ok(games.len())
}

/// One game as text.
///
/// # Errors
/// If its moves do not fit its start, in words.
pub fn text(format: Format, header: &Header, game: &GameRecord) -> Result<String, String> {
    let id = GameId::from_str(&header.variant).map_err(|error| error.to_string())?;
    let rules = Rules { sennichite: header.sennichite.parse().unwrap_or_default(), max_moves: header.max_plies };
    let mut position = AnyPosition::from_sfen(id, &game.sfen, rules).map_err(|error| error.to_string())?;
    let mut diagram = Diagram::of(&position.sfen()).ok_or("the board cannot be read")?;
    let mut text = match format {
        Format::Kif => kif_head(header, game, &diagram),
        Format::Csa => csa_head(game, &diagram),
    };
    let mut total = [0.0; 2];
    let mut last = None;
    for (at, usi) in game.moves.split_whitespace().enumerate() {
        let mv = Mv::read(usi, &diagram).ok_or_else(|| format!("'{usi}' is no move"))?;
        position.play(usi).map_err(|error| error.to_string())?;
        let time = at.checked_sub(game.book_plies).and_then(|at| game.times_ms.get(at)).copied().unwrap_or(0.0) / 1e3;
        let spent = &mut total[mv.color.index()];
        *spent += time;
        match format {
            Format::Kif => kif_move(&mut text, at + 1, &mv, last, time, *spent),
            Format::Csa => csa_move(&mut text, &mv, time),
        }
        last = Some(mv.to);
        diagram = Diagram::of(&position.sfen()).ok_or("the board cannot be read")?;
    }
    match format {
        Format::Kif => {
            let number = game.moves.split_whitespace().count() + 1;
            let _ = writeln!(text, "{number:>4} {}\n*{}", kif_end(game.reason), result_words(game));
        }
        Format::Csa => {
            let _ = writeln!(text, "{}\n'{}", csa_end(game), result_words(game));
        }
    }
    Ok(text)
}

fn result_words(game: &GameRecord) -> String {
    let result = match game.result {
        GameResult::SenteWins => "sente wins",
        GameResult::GoteWins => "gote wins",
        GameResult::Draw => "draw",
    };
    format!("{result}: {}", game.reason.name())
}

/// A piece as SFEN writes it, such as `p` or `+R`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Piece {
    color: Color,
    letter: char,
    promoted: bool,
}

/// SFEN letter and promotion, KIF on the board, KIF in moves, CSA.
const PIECES: [(char, bool, &str, &str, &str); 14] = [
    ('P', false, "歩", "歩", "FU"),
    ('L', false, "香", "香", "KY"),
    ('N', false, "桂", "桂", "KE"),
    ('S', false, "銀", "銀", "GI"),
    ('G', false, "金", "金", "KI"),
    ('B', false, "角", "角", "KA"),
    ('R', false, "飛", "飛", "HI"),
    ('K', false, "玉", "玉", "OU"),
    ('P', true, "と", "と", "TO"),
    ('L', true, "杏", "成香", "NY"),
    ('N', true, "圭", "成桂", "NK"),
    ('S', true, "全", "成銀", "NG"),
    ('B', true, "馬", "馬", "UM"),
    ('R', true, "龍", "龍", "RY"),
];

const DIGITS: [&str; 10] = ["〇", "１", "２", "３", "４", "５", "６", "７", "８", "９"];
const KANJI: [&str; 10] = ["〇", "一", "二", "三", "四", "五", "六", "七", "八", "九"];

impl Piece {
    fn row(self) -> &'static (char, bool, &'static str, &'static str, &'static str) {
        let found = PIECES.iter().find(|row| row.0 == self.letter && row.1 == self.promoted);
        found.unwrap_or(&PIECES[0])
    }

    fn csa(self) -> &'static str {
        self.row().4
    }
}

/// A board with hands, as an SFEN describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Diagram {
    /// Rank by rank from `a`, each from the highest file.
    ranks: Vec<Vec<Option<Piece>>>,
    /// Piece letters in hand with their counts, by color.
    hands: [Vec<(char, u32)>; 2],
    side_to_move: Color,
}

impl Diagram {
    fn of(sfen: &str) -> Option<Self> {
        let mut fields = sfen.split(' ');
        let mut ranks = Vec::new();
        for rank in fields.next()?.split('/') {
            let mut squares = Vec::new();
            let mut promoted = false;
            for letter in rank.chars() {
                match letter.to_digit(10) {
                    Some(empty) => squares.extend((0..empty).map(|_| None)),
                    None if letter == '+' => promoted = true,
                    None => {
                        squares.push(Some(Piece {
                            color: color_of(letter),
                            letter: letter.to_ascii_uppercase(),
                            promoted,
                        }));
                        promoted = false;
                    }
                }
            }
            ranks.push(squares);
        }
        let side_to_move = if fields.next()? == "w" { Color::White } else { Color::Black };
        let mut hands = [Vec::new(), Vec::new()];
        let mut count = 0;
        for letter in fields.next()?.chars().filter(|letter| *letter != '-') {
            match letter.to_digit(10) {
                Some(digit) => count = count * 10 + digit,
                None => {
                    hands[color_of(letter).index()].push((letter.to_ascii_uppercase(), count.max(1)));
                    count = 0;
                }
            }
        }
        Some(Self { ranks, hands, side_to_move })
    }

    /// The piece on a square, file and rank counted from 1.
    fn piece(&self, (file, rank): (usize, usize)) -> Option<Piece> {
        let squares = self.ranks.get(rank.checked_sub(1)?)?;
        *squares.get(squares.len().checked_sub(file)?)?
    }
}

fn color_of(letter: char) -> Color {
    if letter.is_ascii_uppercase() { Color::Black } else { Color::White }
}

/// A move with what the formats need to know of it.
struct Mv {
    color: Color,
    /// The piece before the move.
    piece: Piece,
    /// `None` for a drop.
    from: Option<(usize, usize)>,
    to: (usize, usize),
    promotes: bool,
}

impl Mv {
    fn read(usi: &str, diagram: &Diagram) -> Option<Self> {
        let square = |text: &str| {
            let mut letters = text.chars();
            let file = letters.next()?.to_digit(10)? as usize;
            let rank = letters.next().filter(char::is_ascii_lowercase)? as usize - 'a' as usize + 1;
            Some((file, rank))
        };
        let (head, to, promotes) = (usi.get(0..2)?, square(usi.get(2..4)?)?, usi.ends_with('+'));
        let color = diagram.side_to_move;
        match head.strip_suffix('*') {
            Some(letter) => {
                let piece = Piece { color, letter: letter.chars().next()?, promoted: false };
                Some(Self { color, piece, from: None, to, promotes: false })
            }
            None => {
                let from = square(head)?;
                Some(Self { color, piece: diagram.piece(from)?, from: Some(from), to, promotes })
            }
        }
    }
}

fn kif_head(header: &Header, game: &GameRecord, diagram: &Diagram) -> String {
    let mut text = String::from("# KIF形式棋譜ファイル\n");
    let _ = writeln!(text, "棋戦：{} {}", header.variant, header.tc);
    let width = diagram.ranks.first().map_or(0, Vec::len);
    let hand = |color: Color| {
        let pieces: Vec<_> = diagram.hands[color.index()]
            .iter()
            .map(|(letter, count)| {
                let name = Piece { color, letter: *letter, promoted: false }.row().2;
                if *count > 1 { format!("{name}{}", kanji_number(*count)) } else { name.to_owned() }
            })
            .collect();
        if pieces.is_empty() { "なし".to_owned() } else { pieces.join("　") }
    };
    let _ = writeln!(text, "後手の持駒：{}", hand(Color::White));
    let files: Vec<_> = (1..=width).rev().map(|file| DIGITS[file.min(9)]).collect();
    let _ = writeln!(text, "  {}", files.join(" "));
    let edge = format!("+{}+", "-".repeat(3 * width));
    let _ = writeln!(text, "{edge}");
    for (rank, squares) in diagram.ranks.iter().enumerate() {
        text.push('|');
        for square in squares {
            match square {
                Some(piece) => {
                    text.push(if piece.color == Color::White { 'v' } else { ' ' });
                    text.push_str(piece.row().2);
                }
                None => text.push_str(" ・"),
            }
        }
        let _ = writeln!(text, "|{}", KANJI[(rank + 1).min(9)]);
    }
    let _ = writeln!(text, "{edge}\n先手の持駒：{}", hand(Color::Black));
    if diagram.side_to_move == Color::White {
        text.push_str("後手番\n");
    }
    let _ = writeln!(text, "先手：{}\n後手：{}\n手数----指手---------消費時間--", game.sente, game.gote);
    text
}

fn kanji_number(count: u32) -> String {
    let one = KANJI[(count % 10) as usize];
    match (count / 10, count % 10) {
        (0, _) => one.to_owned(),
        (_, 0) => "十".to_owned(),
        _ => format!("十{one}"),
    }
}

fn kif_move(text: &mut String, number: usize, mv: &Mv, last: Option<(usize, usize)>, time: f64, total: f64) {
    let to = if last == Some(mv.to) {
        "同　".to_owned()
    } else {
        format!("{}{}", DIGITS[mv.to.0.min(9)], KANJI[mv.to.1.min(9)])
    };
    let from = match mv.from {
        Some((file, rank)) => format!("{}({file}{rank})", if mv.promotes { "成" } else { "" }),
        None => "打".to_owned(),
    };
    let (time, total) = (time as u64, total as u64);
    let _ = writeln!(
        text,
        "{number:>4} {to}{}{from}   ({:2}:{:02}/{:02}:{:02}:{:02})",
        mv.piece.row().3,
        time / 60,
        time % 60,
        total / 3600,
        total / 60 % 60,
        total % 60
    );
}

fn kif_end(reason: Reason) -> &'static str {
    match reason {
        Reason::Checkmate | Reason::Stalemate => "詰み",
        Reason::Repetition | Reason::DoublePerpetualCheck => "千日手",
        Reason::PerpetualCheck | Reason::IllegalMove => "反則負け",
        Reason::MaxPlies => "持将棋",
        Reason::Resign => "投了",
        Reason::Declaration => "入玉勝ち",
        Reason::TimeForfeit => "切れ負け",
        Reason::Adjudication | Reason::Crash | Reason::Disconnect | Reason::NoAnswer => "中断",
    }
}

fn csa_head(game: &GameRecord, diagram: &Diagram) -> String {
    let mut text = format!("V2.2\nN+{}\nN-{}\n", game.sente, game.gote);
    for (rank, squares) in diagram.ranks.iter().enumerate() {
        let _ = write!(text, "P{}", rank + 1);
        for square in squares {
            match square {
                Some(piece) => {
                    let _ = write!(text, "{}{}", sign(piece.color), piece.csa());
                }
                None => text.push_str(" * "),
            }
        }
        text.push('\n');
    }
    for color in Color::ALL {
        let hand = &diagram.hands[color.index()];
        if !hand.is_empty() {
            let _ = write!(text, "P{}", sign(color));
            for (letter, count) in hand {
                let name = Piece { color, letter: *letter, promoted: false }.csa();
                text.push_str(&format!("00{name}").repeat(*count as usize));
            }
            text.push('\n');
        }
    }
    let _ = writeln!(text, "{}", sign(diagram.side_to_move));
    text
}

fn sign(color: Color) -> char {
    match color {
        Color::Black => '+',
        Color::White => '-',
    }
}

fn csa_move(text: &mut String, mv: &Mv, time: f64) {
    let (file, rank) = mv.from.unwrap_or((0, 0));
    let after = Piece { promoted: mv.piece.promoted || mv.promotes, ..mv.piece };
    let _ = writeln!(text, "{}{file}{rank}{}{}{}\nT{}", sign(mv.color), mv.to.0, mv.to.1, after.csa(), time as u64);
}

fn csa_end(game: &GameRecord) -> &'static str {
    match game.reason {
        Reason::Checkmate | Reason::Stalemate => "%TSUMI",
        Reason::Repetition | Reason::DoublePerpetualCheck => "%SENNICHITE",
        Reason::MaxPlies => "%HIKIWAKE",
        Reason::Resign => "%TORYO",
        Reason::Declaration => "%KACHI",
        Reason::TimeForfeit => "%TIME_UP",
        Reason::IllegalMove => "%ILLEGAL_MOVE",
        // CSA says whose breach it was.
        Reason::PerpetualCheck => match game.result {
            GameResult::SenteWins => "%-ILLEGAL_ACTION",
            GameResult::GoteWins | GameResult::Draw => "%+ILLEGAL_ACTION",
        },
        Reason::Adjudication | Reason::Crash | Reason::Disconnect | Reason::NoAnswer => "%CHUDAN",
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::{game, header};
    use super::*;

    fn example() -> GameRecord {
        let mut game = game(1, GameResult::GoteWins, Reason::Resign);
        game.moves = "2e3d 4a5b".to_owned();
        game.times_ms = vec![1500.0, 61_000.0, 2000.0, 500.0];
        game
    }

    fn play(moves: &str) -> Result<String, String> {
        let mut game = example();
        game.moves = moves.to_owned();
        text(Format::Csa, &header(), &game)
    }

    #[test]
    fn kif_on_5x5() {
        let mut game = example();
        game.moves = "2e3d 4a5b 3d5b 5a5b".to_owned();
        let text = text(Format::Kif, &header(), &game).expect("legal");
        let board = "  ５ ４ ３ ２ １\n+---------------+\n|v飛v角v銀v金v玉|一\n| ・ ・ ・ ・v歩|二\n| ・ ・ ・ ・ ・|三\n\
                     | 歩 ・ ・ ・ ・|四\n| 玉 金 銀 角 飛|五\n+---------------+\n先手の持駒：なし\n";
        assert!(text.contains(board), "{text}");
        assert!(text.contains("   1 ３四角(25)   ( 0:01/00:00:01)\n   2 ５二角(41)   ( 1:01/00:01:01)\n"), "{text}");
        assert!(text.contains("   3 同　角(34)"), "{text}");
        assert!(text.ends_with("   5 投了\n*gote wins: resign\n"), "{text}");
    }

    #[test]
    fn csa_on_5x5_with_a_drop_and_a_promotion() {
        let mut game = example();
        game.sfen = "4k/5/P4/5/K4 b Sp 1".to_owned();
        game.moves = "5c5b 1a1b 5b5a+ P*1c S*2b".to_owned();
        let text = text(Format::Csa, &header(), &game).expect("legal");
        assert!(text.contains("P1 *  *  *  * -OU\n"), "{text}");
        assert!(text.contains("P+00GI\nP-00FU\n+\n"), "{text}");
        assert!(text.contains("+5352FU\nT1\n-1112OU\nT61\n+5251TO\nT2\n-0013FU\nT0\n+0022GI\n"), "{text}");
        assert!(text.ends_with("%TORYO\n'gote wins: resign\n"), "{text}");
    }

    #[test]
    fn moves_that_do_not_fit_are_refused() {
        assert!(play("2e1a").is_err());
        assert!(play("x").is_err());
        assert!(play("２五").is_err());
    }
}
