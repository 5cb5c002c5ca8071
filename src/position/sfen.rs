//! SFEN: reading, with checks that make every accepted position playable, and writing.

use thiserror::Error;

use super::{Board, Position, Rules};
use crate::types::{Bitboard, Color, Hand, Piece, PieceType, Square};
use crate::variant::Variant;

/// What is wrong with an SFEN, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SfenError {
    /// A field is not there.
    #[error("the {0} is missing")]
    MissingField(&'static str),
    /// Something follows the move number.
    #[error("unexpected '{0}' after the move number")]
    TrailingField(String),
    /// The board has another number of ranks.
    #[error("{found} ranks instead of {expected}")]
    RankCount {
        /// Ranks in the text.
        found: usize,
        /// Ranks of the board.
        expected: usize,
    },
    /// A rank has another number of squares.
    #[error("rank {rank} has {found} squares instead of {expected}")]
    RankWidth {
        /// The rank's letter.
        rank: char,
        /// Squares in the text.
        found: usize,
        /// Files of the board.
        expected: usize,
    },
    /// A letter stands for no piece of this game.
    #[error("'{letter}' in rank {rank} is no piece of this game")]
    UnknownPiece {
        /// The letter.
        letter: char,
        /// The rank's letter.
        rank: char,
    },
    /// A `+` before a piece that does not promote, or before nothing.
    #[error("'+' in rank {rank} stands before no piece that promotes")]
    CannotPromote {
        /// The rank's letter.
        rank: char,
    },
    /// The side to move is neither `b` nor `w`.
    #[error("side to move '{0}' is neither 'b' nor 'w'")]
    SideToMove(String),
    /// The hands cannot be read.
    #[error("'{found}' in the hands '{hands}' is no piece that can be held")]
    Hands {
        /// What is wrong.
        found: String,
        /// The whole field.
        hands: String,
    },
    /// The move number is no number.
    #[error("move number '{0}' is not a number")]
    MoveNumber(String),
    /// A side has no king, or more than one.
    #[error("{side} has {found} kings")]
    KingCount {
        /// `sente` or `gote`.
        side: &'static str,
        /// Its kings.
        found: usize,
    },
    /// More pieces of a kind, promoted ones and hands included, than the game has.
    #[error("{found} pieces of kind {letter} instead of {limit} at most")]
    TooMany {
        /// The letter of the unpromoted piece.
        letter: char,
        /// How many there are.
        found: usize,
        /// How many the game has.
        limit: usize,
    },
    /// A pawn, lance or knight that could never move.
    #[error("{piece} on {square} could never move")]
    Stuck {
        /// The piece as SFEN writes it.
        piece: String,
        /// The square in USI notation.
        square: String,
    },
    /// Two unpromoted pawns of one side on one file (nifu).
    #[error("{side} has two pawns on file {file}")]
    TwoPawns {
        /// `sente` or `gote`.
        side: &'static str,
        /// The file's USI number.
        file: usize,
    },
    /// The side to move could take the king.
    #[error("{0} is in check, but it is the other side's move")]
    OpponentInCheck(&'static str),
}

fn rank_letter(rank: usize) -> char {
    (b'a'.saturating_add(rank.min(25) as u8)) as char
}

fn read_board<V: Variant>(field: &str) -> Result<Board<V>, SfenError> {
    let ranks: Vec<&str> = field.split('/').collect();
    if ranks.len() != V::RANKS {
        return Err(SfenError::RankCount { found: ranks.len(), expected: V::RANKS });
    }
    let mut board = Board::empty();
    for (index, text) in ranks.into_iter().enumerate() {
        let rank = rank_letter(index);
        let mut width = 0;
        let mut promote = false;
        for letter in text.chars() {
            if let Some(run) = letter.to_digit(10).filter(|&run| run > 0) {
                if promote {
                    return Err(SfenError::CannotPromote { rank });
                }
                width += run as usize;
                continue;
            }
            if letter == '+' && !promote {
                promote = true;
                continue;
            }
            let kind = PieceType::from_letter(letter)
                .filter(|&kind| V::KINDS >> kind as u16 & 1 != 0)
                .ok_or(SfenError::UnknownPiece { letter, rank })?;
            let kind = if promote { kind.promoted().ok_or(SfenError::CannotPromote { rank })? } else { kind };
            promote = false;
            let color = if letter.is_ascii_uppercase() { Color::Black } else { Color::White };
            // Too many squares are counted to the end, for the message, but not filled.
            if let Some(square) = V::FILES.checked_sub(width + 1).and_then(|file| Square::at::<V>(file, index)) {
                board.put(Piece::new(color, kind), square);
            }
            width += 1;
        }
        if promote {
            return Err(SfenError::CannotPromote { rank });
        }
        if width != V::FILES {
            return Err(SfenError::RankWidth { rank, found: width, expected: V::FILES });
        }
    }
    Ok(board)
}

/// The pieces of the hands field, in whatever order and spelling: `GGb`, `2Gb` and `bG1G` are the same.
fn read_hands<V: Variant>(field: &str) -> Result<Vec<(Color, PieceType, usize)>, SfenError> {
    let error = |found: &str| SfenError::Hands { found: found.to_owned(), hands: field.to_owned() };
    let mut held = Vec::new();
    if field == "-" {
        return Ok(held);
    }
    let mut digits = String::new();
    for letter in field.chars() {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        let kind = PieceType::from_letter(letter)
            .filter(|&kind| kind != PieceType::King && V::KINDS >> kind as u16 & 1 != 0)
            .ok_or_else(|| error(&letter.to_string()))?;
        // A count beyond any game is refused later, with its kind named, if it is a number that can be told.
        let count = match digits.as_str() {
            "" => 1,
            text => {
                text.parse().ok().filter(|&count: &u32| count > 0).ok_or_else(|| error(&format!("{digits}{letter}")))?
            }
        };
        let color = if letter.is_ascii_uppercase() { Color::Black } else { Color::White };
        held.push((color, kind, count as usize));
        digits.clear();
    }
    if digits.is_empty() { Ok(held) } else { Err(error(&digits)) }
}

/// Whether the game has so many pieces of each kind, with those that `held` tells in both hands.
fn check_counts<V: Variant>(board: &Board<V>, held: impl Fn(PieceType) -> usize) -> Result<(), SfenError> {
    for &(kind, limit) in V::PIECES.iter().filter(|(kind, _)| *kind != PieceType::King) {
        let promoted = kind.promoted().map_or(0, |kind| board.of_kind(kind).count());
        let found = board.of_kind(kind).count() + promoted + held(kind);
        if found > limit {
            return Err(SfenError::TooMany { letter: kind.letter(), found, limit });
        }
    }
    Ok(())
}

fn check<V: Variant>(board: &Board<V>) -> Result<(), SfenError> {
    for color in Color::ALL {
        let found = board.pieces(color, PieceType::King).count();
        if found != 1 {
            return Err(SfenError::KingCount { side: color.name(), found });
        }
        for kind in [PieceType::Pawn, PieceType::Lance, PieceType::Knight] {
            let stuck = board.pieces(color, kind) & Bitboard::farthest_ranks(color, kind.stuck_ranks());
            if let Some(square) = stuck.first() {
                let piece = Piece::new(color, kind).to_string();
                return Err(SfenError::Stuck { piece, square: square.to_usi::<V>() });
            }
        }
        let mut pawns_on = [0; 16];
        for square in board.pieces(color, PieceType::Pawn) {
            let file = square.file::<V>();
            pawns_on[file] += 1;
            if pawns_on[file] > 1 {
                return Err(SfenError::TwoPawns { side: color.name(), file: file + 1 });
            }
        }
    }
    let them = !board.side_to_move();
    if board.attackers(!them, board.king(them), board.occupied()).has_any() {
        return Err(SfenError::OpponentInCheck(them.name()));
    }
    Ok(())
}

impl<V: Variant> Position<V> {
    /// Reads an SFEN: board, side to move, hands, and a move number that may be missing.
    ///
    /// ```
    /// use kozuka::position::{Position, Rules};
    /// use kozuka::variant::Minishogi;
    ///
    /// let read = |sfen| Position::<Minishogi>::from_sfen(sfen, Rules::default());
    /// assert_eq!(read("4k/5/5/5/K4 b bGPP")?.sfen(), "4k/5/5/5/K4 b G2Pb 1");
    /// let error = read("P3k/5/5/5/K4 b - 1").unwrap_err();
    /// assert_eq!(error.to_string(), "P on 5a could never move");
    /// # Ok::<(), kozuka::position::SfenError>(())
    /// ```
    ///
    /// # Errors
    /// Whatever would make the position unplayable: see [`SfenError`].
    pub fn from_sfen(sfen: &str, rules: Rules) -> Result<Self, SfenError> {
        let mut fields = sfen.split_ascii_whitespace();
        let mut next = |name| fields.next().ok_or(SfenError::MissingField(name));
        let mut board = read_board::<V>(next("board")?)?;
        let side = next("side to move")?;
        let held = read_hands::<V>(next("field of hands")?)?;
        let number = fields.next().unwrap_or("1");
        if let Some(more) = fields.next() {
            return Err(SfenError::TrailingField(more.to_owned()));
        }
        match side {
            "b" => {}
            "w" => board.pass(),
            other => return Err(SfenError::SideToMove(other.to_owned())),
        }
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(SfenError::MoveNumber(number.to_owned()));
        }
        check_counts(&board, |kind| held.iter().filter(|(_, held, _)| *held == kind).map(|(_, _, count)| count).sum())?;
        for (color, kind, count) in held {
            for _ in 0..count {
                board.give(color, kind);
            }
        }
        check(&board)?;
        Ok(Self::from_board(board, rules, number.parse().unwrap_or(u32::MAX).max(1)))
    }

    /// Puts pieces on an empty board and others into the hands of Black and White; the move number is 1.
    ///
    /// # Errors
    /// Whatever would make the position unplayable: see [`SfenError`].
    pub fn from_pieces(
        pieces: impl IntoIterator<Item = (Square, Piece)>,
        hands: [Hand; 2],
        side_to_move: Color,
        rules: Rules,
    ) -> Result<Self, SfenError> {
        let mut board = Board::empty();
        for (square, piece) in pieces {
            board.put(piece, square);
        }
        check_counts(&board, |kind| hands.iter().map(|hand| hand.count(kind)).sum())?;
        for (color, hand) in Color::ALL.into_iter().zip(hands) {
            for kind in PieceType::HAND {
                (0..hand.count(kind)).for_each(|_| board.give(color, kind));
            }
        }
        if side_to_move == Color::White {
            board.pass();
        }
        check(&board)?;
        Ok(Self::from_board(board, rules, 1))
    }

    /// The position as SFEN, with hands in the usual order: rook, bishop, gold, silver, knight, lance, pawn.
    pub fn sfen(&self) -> String {
        let mut text = String::new();
        for rank in 0..V::RANKS {
            if rank > 0 {
                text.push('/');
            }
            let mut run = 0;
            for file in (0..V::FILES).rev() {
                match Square::at::<V>(file, rank).and_then(|square| self.piece_on(square)) {
                    None => run += 1,
                    Some(piece) => {
                        if run > 0 {
                            text.push_str(&run.to_string());
                            run = 0;
                        }
                        text.push_str(&piece.to_string());
                    }
                }
            }
            if run > 0 {
                text.push_str(&run.to_string());
            }
        }
        let mut hands = String::new();
        for color in Color::ALL {
            for kind in PieceType::HAND.into_iter().rev() {
                match self.hand(color).count(kind) {
                    0 => {}
                    1 => hands.push_str(&Piece::new(color, kind).to_string()),
                    count => hands.push_str(&format!("{count}{}", Piece::new(color, kind))),
                }
            }
        }
        if hands.is_empty() {
            hands.push('-');
        }
        format!("{text} {} {hands} {}", self.side_to_move().letter(), self.move_number())
    }
}
