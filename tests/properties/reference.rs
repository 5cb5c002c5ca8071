//! The rules written a second time, slowly: letters on an array, walked square by square, each move made and looked at.
//! Nothing here knows the engine, so the two can only agree by both being right.

use std::fmt::Write;

/// The pieces that can be in hand, in the order of SFEN.
const HAND: [u8; 7] = *b"RBGSNLP";

/// A piece: its unpromoted letter in upper case, whether it shows its other side, and whose it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Man {
    pub letter: u8,
    pub promoted: bool,
    pub black: bool,
}

/// Files to the left, ranks down, and whether the piece may go on in that direction; as Black sees the board.
type Direction = (i32, i32, bool);

impl Man {
    fn directions(self) -> &'static [Direction] {
        const GOLD: &[Direction] =
            &[(-1, -1, false), (0, -1, false), (1, -1, false), (-1, 0, false), (1, 0, false), (0, 1, false)];
        match (self.letter, self.promoted) {
            (b'P', false) => &[(0, -1, false)],
            (b'L', false) => &[(0, -1, true)],
            (b'N', false) => &[(-1, -2, false), (1, -2, false)],
            (b'S', false) => &[(-1, -1, false), (0, -1, false), (1, -1, false), (-1, 1, false), (1, 1, false)],
            (b'G', false) | (b'P' | b'L' | b'N' | b'S', true) => GOLD,
            (b'B', false) => &[(-1, -1, true), (1, -1, true), (-1, 1, true), (1, 1, true)],
            (b'R', false) => &[(0, -1, true), (0, 1, true), (-1, 0, true), (1, 0, true)],
            (b'B', true) => &[
                (-1, -1, true),
                (1, -1, true),
                (-1, 1, true),
                (1, 1, true),
                (0, -1, false),
                (0, 1, false),
                (-1, 0, false),
                (1, 0, false),
            ],
            (b'R', true) => &[
                (0, -1, true),
                (0, 1, true),
                (-1, 0, true),
                (1, 0, true),
                (-1, -1, false),
                (1, -1, false),
                (-1, 1, false),
                (1, 1, false),
            ],
            (b'K', false) => &[
                (-1, -1, false),
                (0, -1, false),
                (1, -1, false),
                (-1, 0, false),
                (1, 0, false),
                (-1, 1, false),
                (0, 1, false),
                (1, 1, false),
            ],
            other => panic!("no such piece: {other:?}"),
        }
    }
}

/// A square as file and rank, both from 0.
pub type Place = (i32, i32);

/// A move: from a square or from the hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlainMove {
    from: Option<Place>,
    letter: u8,
    to: Place,
    promote: bool,
}

fn name((file, rank): Place) -> String {
    format!("{}{}", file + 1, (b'a' + rank as u8) as char)
}

impl PlainMove {
    pub fn usi(self) -> String {
        match self.from {
            Some(from) => format!("{}{}{}", name(from), name(self.to), if self.promote { "+" } else { "" }),
            None => format!("{}*{}", self.letter as char, name(self.to)),
        }
    }
}

/// A position without history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plain {
    pub files: i32,
    pub ranks: i32,
    /// How many farthest ranks promote.
    pub zone: i32,
    men: [[Option<Man>; 9]; 9],
    hands: [[usize; 7]; 2],
    pub black_to_move: bool,
}

impl Plain {
    pub fn empty(files: usize, ranks: usize, zone: usize) -> Self {
        Self {
            files: files as i32,
            ranks: ranks as i32,
            zone: zone as i32,
            men: [[None; 9]; 9],
            hands: [[0; 7]; 2],
            black_to_move: true,
        }
    }

    /// Reads an SFEN that is known to be right.
    pub fn read(files: usize, ranks: usize, zone: usize, sfen: &str) -> Self {
        let mut plain = Self::empty(files, ranks, zone);
        let mut fields = sfen.split(' ');
        for (rank, line) in fields.next().unwrap().split('/').enumerate() {
            let mut file = files as i32 - 1;
            let mut promoted = false;
            for byte in line.bytes() {
                match byte {
                    b'1'..=b'9' => file -= i32::from(byte - b'0'),
                    b'+' => promoted = true,
                    _ => {
                        let man = Man { letter: byte.to_ascii_uppercase(), promoted, black: byte.is_ascii_uppercase() };
                        plain.put((file, rank as i32), Some(man));
                        promoted = false;
                        file -= 1;
                    }
                }
            }
        }
        plain.black_to_move = fields.next() == Some("b");
        let mut count = 0;
        for byte in fields.next().unwrap().bytes().filter(|&byte| byte != b'-') {
            if byte.is_ascii_digit() {
                count = count * 10 + usize::from(byte - b'0');
            } else {
                plain.hold(byte.is_ascii_uppercase(), byte.to_ascii_uppercase(), count.max(1));
                count = 0;
            }
        }
        plain
    }

    /// The SFEN without a move number.
    pub fn sfen(&self) -> String {
        let mut text = String::new();
        for rank in 0..self.ranks {
            let mut line = String::new();
            for file in (0..self.files).rev() {
                match self.at((file, rank)) {
                    Some(man) => {
                        line.push_str(if man.promoted { "+" } else { "" });
                        line.push((if man.black { man.letter } else { man.letter.to_ascii_lowercase() }) as char);
                    }
                    None => line.push('.'),
                }
            }
            for run in (1..=9).rev() {
                line = line.replace(&".".repeat(run), &run.to_string());
            }
            text.push_str(if rank > 0 { "/" } else { "" });
            text.push_str(&line);
        }
        let mut hands = String::new();
        for black in [true, false] {
            for letter in HAND {
                let shown = (if black { letter } else { letter.to_ascii_lowercase() }) as char;
                match self.held(black, letter) {
                    0 => {}
                    1 => hands.push(shown),
                    count => write!(hands, "{count}{shown}").unwrap(),
                }
            }
        }
        let hands = if hands.is_empty() { "-".to_owned() } else { hands };
        format!("{text} {} {hands}", if self.black_to_move { 'b' } else { 'w' })
    }

    pub fn at(&self, (file, rank): Place) -> Option<Man> {
        self.men[rank as usize][file as usize]
    }

    pub fn put(&mut self, (file, rank): Place, man: Option<Man>) {
        self.men[rank as usize][file as usize] = man;
    }

    fn slot(letter: u8) -> usize {
        HAND.iter().position(|&held| held == letter).unwrap()
    }

    pub fn held(&self, black: bool, letter: u8) -> usize {
        self.hands[usize::from(black)][Self::slot(letter)]
    }

    pub fn hold(&mut self, black: bool, letter: u8, count: usize) {
        self.hands[usize::from(black)][Self::slot(letter)] += count;
    }

    fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let (files, ranks) = (self.files, self.ranks);
        (0..files).flat_map(move |file| (0..ranks).map(move |rank| (file, rank)))
    }

    /// The rank counted from the side's farthest one.
    fn ranks_to_go(&self, black: bool, (_, rank): Place) -> i32 {
        if black { rank } else { self.ranks - 1 - rank }
    }

    /// Whether a piece of that letter, unpromoted, could never move from there.
    fn stuck(&self, black: bool, letter: u8, place: Place) -> bool {
        let to_go = self.ranks_to_go(black, place);
        matches!((letter, to_go), (b'P' | b'L' | b'N', 0) | (b'N', 1))
    }

    /// The squares that the man on `from` reaches, own pieces not excluded.
    fn reached(&self, from: Place, man: Man) -> Vec<Place> {
        let mut reached = Vec::new();
        for &(files, ranks, slides) in man.directions() {
            let turn = if man.black { 1 } else { -1 };
            let (mut file, mut rank) = from;
            loop {
                (file, rank) = (file + turn * files, rank + turn * ranks);
                if file < 0 || file >= self.files || rank < 0 || rank >= self.ranks {
                    break;
                }
                reached.push((file, rank));
                if !slides || self.at((file, rank)).is_some() {
                    break;
                }
            }
        }
        reached
    }

    /// Whether that side's king could be taken.
    pub fn king_attacked(&self, black: bool) -> bool {
        let is_king = |place: &Place| self.at(*place).is_some_and(|man| man.letter == b'K' && man.black == black);
        let king = self.places().find(is_king).expect("a king");
        self.places()
            .any(|from| self.at(from).is_some_and(|man| man.black != black && self.reached(from, man).contains(&king)))
    }

    pub fn in_check(&self) -> bool {
        self.king_attacked(self.black_to_move)
    }

    /// Whether the engine ought to accept the position; the counts of pieces are taken to be right.
    pub fn is_valid(&self) -> bool {
        let mut pawns = [[0; 9]; 2];
        for place in self.places() {
            if let Some(man) = self.at(place).filter(|man| !man.promoted) {
                if self.stuck(man.black, man.letter, place) {
                    return false;
                }
                if man.letter == b'P' {
                    let file = &mut pawns[usize::from(man.black)][place.0 as usize];
                    *file += 1;
                    if *file > 1 {
                        return false;
                    }
                }
            }
        }
        !self.king_attacked(!self.black_to_move)
    }

    /// All moves, without a look at either king.
    fn candidates(&self) -> Vec<PlainMove> {
        let mut moves = Vec::new();
        let us = self.black_to_move;
        for from in self.places() {
            let Some(man) = self.at(from).filter(|man| man.black == us) else { continue };
            for to in self.reached(from, man) {
                if self.at(to).is_some_and(|target| target.black == us) {
                    continue;
                }
                let plain = PlainMove { from: Some(from), letter: man.letter, to, promote: false };
                let promotes = !man.promoted && !matches!(man.letter, b'G' | b'K');
                if promotes && (self.ranks_to_go(us, from) < self.zone || self.ranks_to_go(us, to) < self.zone) {
                    moves.push(PlainMove { promote: true, ..plain });
                }
                if man.promoted || !self.stuck(us, man.letter, to) {
                    moves.push(plain);
                }
            }
        }
        for letter in HAND.into_iter().filter(|&letter| self.held(us, letter) > 0) {
            for to in self.places().filter(|&place| self.at(place).is_none()) {
                let own_pawn = Man { letter: b'P', promoted: false, black: us };
                let nifu = letter == b'P' && (0..self.ranks).any(|rank| self.at((to.0, rank)) == Some(own_pawn));
                if !nifu && !self.stuck(us, letter, to) {
                    moves.push(PlainMove { from: None, letter, to, promote: false });
                }
            }
        }
        moves
    }

    /// The position after a move.
    pub fn after(&self, mv: PlainMove) -> Self {
        let mut next = self.clone();
        let us = self.black_to_move;
        let man = match mv.from {
            Some(from) => {
                next.put(from, None);
                let man = self.at(from).unwrap();
                Man { promoted: man.promoted || mv.promote, ..man }
            }
            None => {
                next.hands[usize::from(us)][Self::slot(mv.letter)] -= 1;
                Man { letter: mv.letter, promoted: false, black: us }
            }
        };
        // A king is never really taken; a candidate that does so is thrown away before its hand is looked at.
        if let Some(taken) = self.at(mv.to).filter(|taken| taken.letter != b'K') {
            next.hold(us, taken.letter, 1);
        }
        next.put(mv.to, Some(man));
        next.black_to_move = !us;
        next
    }

    fn is_legal(&self, mv: PlainMove) -> bool {
        let next = self.after(mv);
        if next.king_attacked(self.black_to_move) {
            return false;
        }
        let pawn_drop = mv.from.is_none() && mv.letter == b'P';
        !(pawn_drop && next.in_check() && next.has_no_legal_move())
    }

    pub fn has_no_legal_move(&self) -> bool {
        !self.candidates().into_iter().any(|mv| self.is_legal(mv))
    }

    /// All legal moves.
    pub fn legal(&self) -> Vec<PlainMove> {
        self.candidates().into_iter().filter(|&mv| self.is_legal(mv)).collect()
    }

    /// The board turned by 180 degrees, the sides changing places.
    pub fn rotated(&self) -> Self {
        let mut turned = Self { men: [[None; 9]; 9], black_to_move: !self.black_to_move, ..self.clone() };
        for (file, rank) in self.places() {
            let man = self.at((file, rank)).map(|man| Man { black: !man.black, ..man });
            turned.put((self.files - 1 - file, self.ranks - 1 - rank), man);
        }
        turned.hands.swap(0, 1);
        turned
    }

    /// The board mirrored left to right.
    pub fn mirrored(&self) -> Self {
        let mut mirrored = Self { men: [[None; 9]; 9], ..self.clone() };
        for (file, rank) in self.places() {
            mirrored.put((self.files - 1 - file, rank), self.at((file, rank)));
        }
        mirrored
    }
}
