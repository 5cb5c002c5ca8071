//! What a player types, as a command.

use std::path::PathBuf;

use crate::search::Level;
use crate::types::Color;

/// What the player wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// An empty line.
    Nothing,
    /// A move in USI notation, which may not be legal.
    Move(String),
    /// The move of that number in the list.
    Number(usize),
    /// The list of legal moves, or of those that contain the word.
    Moves(Option<String>),
    /// What full strength would play.
    Hint,
    /// The last move back, with the engine's answer.
    Undo,
    /// The engine moves now, whoever's turn it is.
    Go,
    /// How strong the engine plays.
    Level(Level),
    /// Who plays what.
    Side(Humans),
    /// A new game.
    New,
    /// Writes the game to a file.
    Save(Option<PathBuf>),
    /// Goes on with the game in a file.
    Load(PathBuf),
    /// The game as a line of text.
    Sfen,
    /// The board once more.
    Board,
    /// The board from the other side.
    Flip,
    /// Gives the game up.
    Resign,
    /// Declares victory by entering king.
    Win,
    /// The list of commands.
    Help,
    /// The end.
    Quit,
}

/// Which sides people play; the engine plays the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Humans {
    /// By color.
    plays: [bool; 2],
}

impl Humans {
    /// The engine plays with itself.
    pub const NONE: Self = Self { plays: [false, false] };
    /// The words for all settings.
    pub const WORDS: [&'static str; 4] = ["sente", "gote", "both", "none"];

    /// Whether a person plays that side.
    pub fn play(self, side: Color) -> bool {
        self.plays[side.index()]
    }

    /// The only side that a person plays.
    pub fn only_side(self) -> Option<Color> {
        match self.plays {
            [true, false] => Some(Color::Black),
            [false, true] => Some(Color::White),
            _ => None,
        }
    }

    /// Nobody plays the side of the engine that has just been asked to move for that one.
    pub fn after_go(self, side: Color) -> Self {
        let mut plays = self.plays;
        if self.only_side() == Some(side) {
            plays = [!plays[0], !plays[1]];
        }
        Self { plays }
    }

    /// Reads one of [`Humans::WORDS`], or `black` or `white`.
    ///
    /// # Errors
    /// In words.
    pub fn parse(word: &str) -> Result<Self, String> {
        let plays = match word.to_ascii_lowercase().as_str() {
            "sente" | "black" => [true, false],
            "gote" | "white" => [false, true],
            "both" => [true, true],
            "none" => [false, false],
            _ => return Err(format!("'{word}' is none of {}", Self::WORDS.join(", "))),
        };
        Ok(Self { plays })
    }
}

/// The commands with what each is for.
const COMMANDS: &[(&str, &str)] = &[
    ("4e4d", "a move: from, to, and + to promote; P*3c drops a pawn; or its number in the list"),
    ("moves [WORD]", "list the legal moves, or those that contain WORD"),
    ("hint", "show what the engine would play at full strength"),
    ("undo", "take your last move back, with the answer to it"),
    ("level N", "let the engine play at level 0 to 20, easy, medium or hard"),
    ("side SIDE", "play sente, gote, both or none yourself"),
    ("go", "let the engine move for you; it then plays that side"),
    ("board", "show the board again"),
    ("flip", "turn the board round"),
    ("sfen", "show the game as one line of SFEN with moves"),
    ("save [FILE]", "write that line to a file"),
    ("load FILE", "go on with a saved game"),
    ("new", "begin a new game"),
    ("resign", "give the game up"),
    ("win", "declare victory by entering king (9x9)"),
    ("help", "show this list"),
    ("quit", "end; Ctrl-C and Ctrl-D do so too"),
];

/// The list of commands.
pub fn help() -> String {
    COMMANDS.iter().map(|(word, text)| format!("  {word:<14}{text}\n")).collect()
}

/// The first words of all commands, for completion.
pub fn words() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().skip(1).filter_map(|(word, _)| word.split(' ').next())
}

/// A word as a move in USI notation, if it has the form of one: letters of squares in lower case, of pieces in upper.
fn as_move(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let square = |text: &[u8]| matches!(text, [b'1'..=b'9', b'a'..=b'i']);
    match lower.as_bytes() {
        [piece, b'*', to @ ..] if piece.is_ascii_lowercase() && square(to) => {
            Some(format!("{}{}", lower[..1].to_ascii_uppercase(), &lower[1..]))
        }
        [from @ .., b'+'] | from if from.len() == 4 && square(&from[..2]) && square(&from[2..]) => Some(lower),
        _ => None,
    }
}

/// Reads a line.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse(line: &str) -> Result<Command, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let command = match word.to_ascii_lowercase().as_str() {
        "" => Command::Nothing,
        "moves" | "m" => return Ok(Command::Moves((!rest.is_empty()).then(|| rest.to_owned()))),
        "level" if rest.is_empty() => return Err("which level? 0 to 20, easy, medium or hard".to_owned()),
        "level" => return rest.parse().map(Command::Level).map_err(|error| format!("{error}")),
        "side" if rest.is_empty() => return Err(format!("which side? {}", Humans::WORDS.join(", "))),
        "side" => return Humans::parse(rest).map(Command::Side),
        "save" => return Ok(Command::Save((!rest.is_empty()).then(|| rest.into()))),
        "load" if rest.is_empty() => return Err("load what? 'load FILE'".to_owned()),
        "load" => return Ok(Command::Load(rest.into())),
        "hint" => Command::Hint,
        "undo" | "u" => Command::Undo,
        "go" => Command::Go,
        "new" => Command::New,
        "sfen" => Command::Sfen,
        "board" | "b" | "d" => Command::Board,
        "flip" => Command::Flip,
        "resign" => Command::Resign,
        "win" => Command::Win,
        "help" | "h" | "?" => Command::Help,
        "quit" | "q" | "exit" => Command::Quit,
        _ => match (word.parse(), as_move(word)) {
            (Ok(number), _) => Command::Number(number),
            (_, Some(mv)) => Command::Move(mv),
            _ => return Err(format!("'{}' is neither a move nor a command; 'help' lists them", short(word))),
        },
    };
    if rest.is_empty() { Ok(command) } else { Err(format!("'{word}' stands alone; what is '{}'?", short(rest))) }
}

/// A piece of input that can be repeated in one line.
fn short(text: &str) -> String {
    let mut short: String = text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > 40 {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_in_any_case() {
        for (typed, mv) in
            [("4e4d", "4e4d"), ("4E4D", "4e4d"), ("5b5a+", "5b5a+"), ("p*3C", "P*3c"), (" G*1b ", "G*1b")]
        {
            assert_eq!(parse(typed), Ok(Command::Move(mv.to_owned())));
        }
        for typed in ["4e4", "4e4d++", "0a1a", "4e4z", "P*", "P*33", "**1a", "ßß", "4e4d 2a2b"] {
            assert!(parse(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn commands_with_their_arguments() {
        assert_eq!(parse("12"), Ok(Command::Number(12)));
        assert_eq!(parse("moves"), Ok(Command::Moves(None)));
        assert_eq!(parse("moves  4e"), Ok(Command::Moves(Some("4e".to_owned()))));
        assert_eq!(parse("Level easy"), Ok(Command::Level(Level::new(2))));
        assert_eq!(parse("save my game.sfen"), Ok(Command::Save(Some("my game.sfen".into()))));
        assert_eq!(parse("side White"), Humans::parse("gote").map(Command::Side));
        assert_eq!(parse("\t"), Ok(Command::Nothing));
        for line in
            ["level", "level 21", "side", "side left", "load", "undo 3", "quit now", "hello", "99999999999999999999"]
        {
            let error = parse(line).expect_err(line);
            assert!(!error.contains('\n') && error.len() < 120, "{error}");
        }
    }

    #[test]
    fn every_command_is_listed_and_understood() {
        for word in words() {
            let with_argument = match word {
                "level" => "level 3".to_owned(),
                "side" => "side both".to_owned(),
                "load" => "load x".to_owned(),
                word => word.to_owned(),
            };
            assert!(parse(&with_argument).is_ok(), "{word}");
            assert!(help().contains(word));
        }
    }

    #[test]
    fn the_engine_takes_over_the_side_that_it_moved_for() {
        let sente = Humans::parse("sente").expect("a side");
        assert_eq!(sente.after_go(Color::Black).only_side(), Some(Color::White));
        let both = Humans::parse("both").expect("a side");
        assert_eq!(both.after_go(Color::White), both);
        assert!(!Humans::parse("none").expect("a side").play(Color::Black));
    }
}
