//! Packed training positions: a position with the score and move that a search gave it and the result of its game.
//!
//! Records have one size a game, 24 bytes on 5x5 and 56 on 9x9, and files have no header, so that files are put together by `cat`.
//! All numbers are little-endian:
//!
//! ```text
//! body   one bit a square, set if there is a piece; per piece five bits (type, color) in the order of squares; the
//!        hands of Black, then White; the side to move; zeros up to a whole record
//! i16    score in centipawns, from the side to move
//! u16    best move, as `Move::bits`
//! u16    plies since the start of the game
//! u8     result for the side to move (0 lost, 1 drawn, 2 won), and flags from bit 2 on
//! u16    checksum, seeded with game and version
//! ```

use arrayvec::ArrayVec;
use thiserror::Error;

use super::diagram::{Diagram, MAX_PIECES};
use crate::position::Board;
use crate::types::{Color, Hand, Move, Piece, PieceType, Square};
use crate::variant::Variant;

/// A record as bytes.
pub type Record = ArrayVec<u8, 64>;

/// Changes whenever old records can no longer be read.
const VERSION: u64 = 1;
const TAIL_BYTES: usize = 9;
const CHECKSUM_BYTES: usize = 2;
const PIECE_BITS: u32 = 5;
const MAX_RECORD: usize = 64;

/// How a game ended for one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum GameResult {
    Loss = 0,
    Draw = 1,
    Win = 2,
}

impl GameResult {
    /// The result for `side` of a game that `winner` won.
    pub fn for_side(winner: Option<Color>, side: Color) -> Self {
        match winner {
            None => Self::Draw,
            Some(winner) if winner == side => Self::Win,
            Some(_) => Self::Loss,
        }
    }

    /// Points: 0, 0.5 or 1.
    pub const fn points(self) -> f32 {
        self as u8 as f32 / 2.0
    }
}

/// A position of a game with what is to be learned from it. Scores and results are those of the side to move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The position.
    pub diagram: Diagram,
    /// What the search made of it, in centipawns; certain results as [`crate::types::score`] has them.
    pub score: i16,
    /// The move that was found.
    pub best: Move,
    /// Plies since the start of the game.
    pub ply: u16,
    /// How the game ended.
    pub result: GameResult,
    /// The side to move is in check.
    pub in_check: bool,
    /// The move found captures or promotes.
    pub tactical: bool,
}

impl Sample {
    /// What [`Sample::tactical`] says of that move, which is legal on the board.
    pub fn captures_or_promotes<V: Variant>(board: &Board<V>, mv: Move) -> bool {
        mv.is_promotion() || !mv.is_drop() && board.kind_on(mv.to()).is_some()
    }
}

/// Why bytes are no record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum PackedError {
    /// Not as long as a record of this game.
    #[error("a record of {found} bytes instead of {expected}")]
    Length {
        /// Bytes given.
        found: usize,
        /// Bytes of a record.
        expected: usize,
    },
    /// Damaged, of another game, or of another version.
    #[error("the checksum is wrong: damaged, or not positions of this game")]
    Checksum,
    /// The checksum is right but the content is none.
    #[error("{0} makes no sense")]
    Content(&'static str),
}

const fn total_pieces<V: Variant>() -> usize {
    let mut total = 0;
    let mut i = 0;
    while i < V::PIECES.len() {
        total += V::PIECES[i].1;
        i += 1;
    }
    total
}

/// Bits for a count of up to `limit`.
const fn count_bits(limit: usize) -> u32 {
    usize::BITS - limit.leading_zeros()
}

const fn body_bits<V: Variant>() -> usize {
    let mut bits = V::SQUARES + PIECE_BITS as usize * total_pieces::<V>() + 1;
    let mut i = 0;
    while i < V::PIECES.len() {
        if !matches!(V::PIECES[i].0, PieceType::King) {
            bits += 2 * count_bits(V::PIECES[i].1) as usize;
        }
        i += 1;
    }
    bits
}

/// Bytes of a record of that game, a multiple of eight.
pub const fn record_bytes<V: Variant>() -> usize {
    let bytes = (body_bits::<V>().div_ceil(8) + TAIL_BYTES).next_multiple_of(8);
    assert!(bytes <= MAX_RECORD && total_pieces::<V>() <= MAX_PIECES);
    bytes
}

/// A field of bits that is written or read from its low end.
struct Bits {
    bytes: [u8; MAX_RECORD + 8],
    next: usize,
}

impl Bits {
    #[inline(always)]
    fn word(&self) -> u64 {
        let start = self.next / 8;
        let mut word = [0; 8];
        word.copy_from_slice(&self.bytes[start..start + 8]);
        u64::from_le_bytes(word)
    }

    /// At most 57 bits.
    #[inline(always)]
    fn write(&mut self, count: u32, value: u64) {
        let start = self.next / 8;
        let word = self.word() | value << (self.next % 8);
        self.bytes[start..start + 8].copy_from_slice(&word.to_le_bytes());
        self.next += count as usize;
    }

    #[inline(always)]
    fn read(&mut self, count: u32) -> u64 {
        let value = self.word() >> (self.next % 8) & ((1 << count) - 1);
        self.next += count as usize;
        value
    }
}

/// FNV-1a over the bytes, folded (Glenn Fowler, Landon Noll, Phong Vo; <http://www.isthe.com/chongo/tech/comp/fnv>).
const fn checksum<V: Variant>(bytes: &[u8]) -> u16 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ VERSION ^ (V::SQUARES as u64) << 8 ^ (V::KINDS as u64) << 16;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) as u16
}

/// The sample as a record.
pub fn encode<V: Variant>(sample: &Sample) -> Record {
    let size = const { record_bytes::<V>() };
    let mut bits = Bits { bytes: [0; MAX_RECORD + 8], next: 0 };
    let diagram = &sample.diagram;
    let mut previous = 0;
    for &(square, _) in &diagram.pieces {
        bits.next += square.index() - previous;
        bits.write(1, 1);
        previous = square.index() + 1;
    }
    bits.next = V::SQUARES;
    for &(_, piece) in &diagram.pieces {
        bits.write(PIECE_BITS, piece.index() as u64);
    }
    for hand in diagram.hands {
        for &(kind, limit) in V::PIECES {
            if kind != PieceType::King {
                bits.write(count_bits(limit), hand.count(kind) as u64);
            }
        }
    }
    bits.write(1, diagram.side_to_move.index() as u64);

    let mut record: Record = bits.bytes[..size - TAIL_BYTES].iter().copied().collect();
    record.extend(sample.score.to_le_bytes());
    record.extend(sample.best.bits().to_le_bytes());
    record.extend(sample.ply.to_le_bytes());
    record.push(sample.result as u8 | u8::from(sample.in_check) << 2 | u8::from(sample.tactical) << 3);
    let check = checksum::<V>(&record);
    record.extend(check.to_le_bytes());
    record
}

/// What tells the record's position from others: its body, without score, move and result.
pub fn position_hash<V: Variant>(record: &[u8]) -> u64 {
    let body = &record[..record.len().min(record_bytes::<V>()).saturating_sub(TAIL_BYTES)];
    // Eight bytes at a time through the finaliser of MurmurHash3 (Austin Appleby).
    body.chunks(8).fold(0, |hash: u64, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let mut hash = (hash ^ u64::from_le_bytes(word)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ hash >> 33
    })
}

fn decode_diagram<V: Variant>(body: &[u8]) -> Result<Diagram, PackedError> {
    let mut bits = Bits { bytes: [0; MAX_RECORD + 8], next: 0 };
    bits.bytes[..body.len()].copy_from_slice(body);

    let mut squares = ArrayVec::<Square, MAX_PIECES>::new();
    let mut first = 0;
    while first < V::SQUARES {
        let count = (V::SQUARES - first).min(32) as u32;
        let mut set = bits.read(count);
        while set != 0 {
            let square = Square::new(first + set.trailing_zeros() as usize);
            squares.try_push(square).map_err(|_| PackedError::Content("the number of pieces"))?;
            set &= set - 1;
        }
        first += count as usize;
    }
    if squares.len() > total_pieces::<V>() {
        return Err(PackedError::Content("the number of pieces"));
    }
    let mut pieces = ArrayVec::new();
    for square in squares {
        let code = bits.read(PIECE_BITS) as usize;
        let kind = PieceType::from_index(code % PieceType::COUNT).ok_or(PackedError::Content("a piece"))?;
        pieces.push((square, Piece::new(Color::ALL[code / PieceType::COUNT], kind)));
    }
    let mut hands = [Hand::EMPTY; 2];
    for hand in &mut hands {
        for &(kind, limit) in V::PIECES {
            if kind != PieceType::King {
                let count = bits.read(count_bits(limit)) as usize;
                if count > limit {
                    return Err(PackedError::Content("the number of pieces"));
                }
                (0..count).for_each(|_| hand.add(kind));
            }
        }
    }
    let side_to_move = Color::ALL[bits.read(1) as usize];
    let diagram = Diagram { pieces, hands, side_to_move };
    if !diagram.is_sound::<V>() {
        return Err(PackedError::Content("the number of pieces"));
    }
    Ok(diagram)
}

/// Reads a record.
///
/// # Errors
/// If the bytes are none of this game.
pub fn decode<V: Variant>(record: &[u8]) -> Result<Sample, PackedError> {
    let size = const { record_bytes::<V>() };
    if record.len() != size {
        return Err(PackedError::Length { found: record.len(), expected: size });
    }
    let (content, check) = record.split_at(size - CHECKSUM_BYTES);
    if checksum::<V>(content).to_le_bytes() != check {
        return Err(PackedError::Checksum);
    }
    let (body, tail) = content.split_at(size - TAIL_BYTES);
    let &[score_low, score_high, move_low, move_high, ply_low, ply_high, bits] = tail else {
        return Err(PackedError::Length { found: record.len(), expected: size });
    };
    let best = Move::from_bits(u16::from_le_bytes([move_low, move_high]))
        .filter(|mv| mv.unpack().is_some() && mv.to().index() < V::SQUARES)
        .ok_or(PackedError::Content("the move"))?;
    let result = match bits & 3 {
        0 => GameResult::Loss,
        1 => GameResult::Draw,
        2 => GameResult::Win,
        _ => return Err(PackedError::Content("the result")),
    };
    if bits >> 4 != 0 {
        return Err(PackedError::Content("a flag"));
    }
    Ok(Sample {
        diagram: decode_diagram::<V>(body)?,
        score: i16::from_le_bytes([score_low, score_high]),
        best,
        ply: u16::from_le_bytes([ply_low, ply_high]),
        result,
        in_check: bits & 4 != 0,
        tactical: bits & 8 != 0,
    })
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::movegen::legal_moves;
    use crate::position::{Position, Rules};
    use crate::variant::{Minishogi, Shogi};

    /// Samples along random games.
    fn samples<V: Variant>(count: usize) -> Vec<Sample> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut position = Position::<V>::new(Rules::default());
        let mut samples = Vec::new();
        while samples.len() < count {
            let moves = legal_moves(&position);
            if moves.is_empty() || position.ply() > 300 {
                position = Position::new(Rules::default());
                continue;
            }
            let best = moves[rng.random_range(0..moves.len())];
            samples.push(Sample {
                diagram: Diagram::of(position.board()),
                score: rng.random_range(i16::MIN..=i16::MAX),
                best,
                ply: position.ply() as u16,
                result: [GameResult::Loss, GameResult::Draw, GameResult::Win][rng.random_range(0..3)],
                in_check: position.in_check(),
                tactical: rng.random_range(0..2) == 1,
            });
            position.do_move(best);
        }
        samples
    }

    fn round_trip<V: Variant>() {
        for sample in samples::<V>(5_000) {
            let record = encode::<V>(&sample);
            assert_eq!(record.len(), record_bytes::<V>());
            assert_eq!(decode::<V>(&record).as_ref(), Ok(&sample));
        }
    }

    #[test]
    fn records_lose_nothing() {
        assert_eq!(record_bytes::<Minishogi>(), 24);
        assert_eq!(record_bytes::<Shogi>(), 56);
        round_trip::<Minishogi>();
        round_trip::<Shogi>();
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        for sample in samples::<Minishogi>(50) {
            let record = encode::<Minishogi>(&sample);
            for bit in 0..8 * record.len() {
                let mut damaged = record.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(decode::<Minishogi>(&damaged), Err(PackedError::Checksum));
            }
            assert_eq!(decode::<Minishogi>(&record[1..]), Err(PackedError::Length { found: 23, expected: 24 }));
        }
    }

    /// Replaces bytes and makes the checksum right again.
    fn forged(sample: &Sample, change: impl Fn(&mut Record)) -> Result<Sample, PackedError> {
        let mut record = encode::<Minishogi>(sample);
        change(&mut record);
        let content = record.len() - CHECKSUM_BYTES;
        let check = checksum::<Minishogi>(&record[..content]).to_le_bytes();
        record[content..].copy_from_slice(&check);
        decode::<Minishogi>(&record)
    }

    #[test]
    fn nonsense_with_a_right_checksum_is_refused() {
        let sample = samples::<Minishogi>(1).remove(0);
        assert_eq!(forged(&sample, |_| ()).as_ref(), Ok(&sample));
        assert_eq!(forged(&sample, |record| record[21] |= 3), Err(PackedError::Content("the result")));
        assert_eq!(forged(&sample, |record| record[21] |= 16), Err(PackedError::Content("a flag")));
        assert_eq!(forged(&sample, |record| record[17..19].fill(0)), Err(PackedError::Content("the move")));
        assert_eq!(forged(&sample, |record| record[..4].fill(255)), Err(PackedError::Content("the number of pieces")));
        assert_eq!(forged(&sample, |record| record[..15].fill(0)), Err(PackedError::Content("the number of pieces")));
    }

    #[test]
    fn equal_positions_hash_alike_whatever_was_found() {
        let all = samples::<Minishogi>(200);
        for pair in all.windows(2) {
            let other = Sample { score: 7, ply: 300, in_check: !pair[0].in_check, ..pair[0].clone() };
            let hash = |sample| position_hash::<Minishogi>(&encode::<Minishogi>(sample));
            assert_eq!(hash(&pair[0]), hash(&other));
            assert_ne!(hash(&pair[0]), hash(&pair[1]));
        }
    }
}
