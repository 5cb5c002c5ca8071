//! The board and the hands, drawn for a terminal.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

use crate::types::Color;

/// How pieces are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Pieces {
    /// As in SFEN: capitals are sente's, + is promoted.
    #[default]
    Letters,
    /// Japanese, gote's with a v before them.
    Kanji,
}

/// What stands on a square.
#[derive(Clone, Copy)]
struct Piece {
    letter: char,
    promoted: bool,
}

impl Piece {
    fn owner(self) -> Color {
        if self.letter.is_ascii_uppercase() { Color::Black } else { Color::White }
    }

    /// The piece, two columns wide in letters and three in kanji.
    fn text(self, pieces: Pieces) -> String {
        match pieces {
            Pieces::Letters => format!("{}{}", if self.promoted { '+' } else { ' ' }, self.letter),
            Pieces::Kanji => format!("{}{}", if self.owner() == Color::White { 'v' } else { ' ' }, self.kanji()),
        }
    }

    fn kanji(self) -> char {
        let [plain, promoted] = match self.letter.to_ascii_uppercase() {
            'P' => ['歩', 'と'],
            'L' => ['香', '杏'],
            'N' => ['桂', '圭'],
            'S' => ['銀', '全'],
            'G' => ['金', '金'],
            'B' => ['角', '馬'],
            'R' => ['飛', '龍'],
            _ => ['玉', '玉'],
        };
        if self.promoted { promoted } else { plain }
    }
}

/// The squares of an SFEN, rank by rank from the top, each from the highest file down.
fn squares(board: &str) -> Vec<Vec<Option<Piece>>> {
    let rank = |text: &str| {
        let mut rank = Vec::new();
        let mut promoted = false;
        for letter in text.chars() {
            match letter.to_digit(10) {
                Some(empty) => rank.extend((0..empty).map(|_| None)),
                None if letter == '+' => promoted = true,
                None => rank.push(Some(Piece { letter, promoted: std::mem::take(&mut promoted) })),
            }
        }
        rank
    };
    board.split('/').map(rank).collect()
}

/// One side's hand of an SFEN, such as `2P G`.
fn hand(hands: &str, side: Color, pieces: Pieces) -> String {
    let mut words = Vec::new();
    let mut count = String::new();
    for letter in hands.chars() {
        if letter.is_ascii_digit() {
            count.push(letter);
            continue;
        }
        let piece = Piece { letter, promoted: false };
        if letter.is_ascii_alphabetic() && piece.owner() == side {
            let name = if pieces == Pieces::Kanji { piece.kanji() } else { letter };
            words.push(format!("{count}{name}"));
        }
        count.clear();
    }
    if words.is_empty() { "nothing".to_owned() } else { words.join(" ") }
}

fn style(side: Color) -> Style {
    let color = match side {
        Color::Black => AnsiColor::Cyan,
        Color::White => AnsiColor::Yellow,
    };
    Style::new().bold().fg_color(Some(color.into()))
}

/// Draws the position of an SFEN, with the square marked that the last move went to. `bottom` is the side that sits
/// below.
pub fn draw(sfen: &str, last: Option<&str>, bottom: Color, pieces: Pieces) -> String {
    let mut words = sfen.split(' ');
    let mut ranks = squares(words.next().unwrap_or_default());
    let hands = words.nth(1).unwrap_or("-");
    let marked = last.map(|mv| mv.trim_end_matches('+')).and_then(|mv| mv.get(mv.len().checked_sub(2)?..));
    let mut files: Vec<usize> = (1..=ranks.first().map_or(0, Vec::len)).rev().collect();
    let mut names: Vec<char> = ('a'..='z').take(ranks.len()).collect();
    if bottom == Color::White {
        files.reverse();
        names.reverse();
        ranks.reverse();
        ranks.iter_mut().for_each(|rank| rank.reverse());
    }
    let (width, empty) = match pieces {
        Pieces::Letters => (4, " ."),
        Pieces::Kanji => (5, " ・"),
    };
    let mut text = String::new();
    let hand_line = |side: Color| {
        let style = style(side);
        format!("  {style}{}{style:#} holds {}\n", side.name(), hand(hands, side, pieces))
    };
    text.push_str(&hand_line(!bottom));
    for file in &files {
        let _ = write!(text, "{file:>0$}", width);
    }
    text.push('\n');
    for (name, rank) in names.iter().zip(&ranks) {
        text.push(' ');
        for (file, square) in files.iter().zip(rank) {
            let [open, close] = if marked == Some(&format!("{file}{name}")) { ['[', ']'] } else { [' ', ' '] };
            let _ = match square {
                None => write!(text, "{open}{empty}{close}"),
                Some(piece) => {
                    let style = style(piece.owner());
                    write!(text, "{open}{style}{}{style:#}{close}", piece.text(pieces))
                }
            };
        }
        let _ = writeln!(text, "  {name}");
    }
    text.push_str(&hand_line(bottom));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(sfen: &str, last: Option<&str>, bottom: Color, pieces: Pieces) -> String {
        anstream::adapter::strip_str(&draw(sfen, last, bottom, pieces)).to_string()
    }

    #[test]
    fn the_board_is_drawn_from_either_side() {
        let sfen = "rb1gk/4p/1+S3/P4/KG1BR w 2Ps 4";
        assert_eq!(
            plain(sfen, Some("4d4c+"), Color::Black, Pieces::Letters),
            "  gote holds s\n   5   4   3   2   1\n   r   b   .   g   k   a\n   .   .   .   .   p   b\n   . [+S]  .   .   .   c\n   P   .   .   .   .   d\n   K   G   .   B   R   e\n  sente holds 2P\n"
        );
        let turned = plain(sfen, None, Color::White, Pieces::Letters);
        assert!(turned.starts_with("  sente holds 2P\n   1   2   3   4   5\n   R   B   .   G   K   e\n"), "{turned}");
    }

    #[test]
    fn kanji_tell_sides_without_colors() {
        let text = plain("rb1gk/4p/1+S3/P4/KG1BR w 2Ps 4", Some("P*5d"), Color::Black, Pieces::Kanji);
        assert!(text.contains(" v飛  v角   ・  v金  v玉   a\n") && text.contains("[ 歩]"), "{text}");
        assert!(text.contains("全") && text.contains("sente holds 2歩"), "{text}");
    }

    #[test]
    fn the_large_board_has_nine_files() {
        let text = plain(
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b 10P 1",
            None,
            Color::Black,
            Pieces::Letters,
        );
        assert!(text.contains("   9   8   7   6   5   4   3   2   1\n") && text.contains("sente holds 10P"), "{text}");
        assert_eq!(text.lines().count(), 12);
    }
}
