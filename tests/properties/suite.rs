//! What must hold in each position of each game.

use std::collections::HashMap;

use kozuka::movegen::perft::perft;
use kozuka::movegen::{CheckInfo, count_legal, has_legal_move, is_legal, legal_moves, outcome};
use kozuka::position::{Position, Reason, Rules, Threats};
use kozuka::types::{Move, MoveKind, Square};
use kozuka::variant::Variant;

use crate::positions::{Random, read_plain, scatter, scatter_valid};
use crate::reference::{Plain, PlainMove};

/// How much of everything a test looks at.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Random games, and the most plies of each.
    pub games: (usize, usize),
    /// Random positions of each density.
    pub scattered: usize,
    /// One position in so many is asked about every move that 16 bits can spell.
    pub encodings_in: usize,
    /// Depth of the counts from the start, and from random positions.
    pub depth: (u32, u32),
}

pub fn position<V: Variant>(plain: &Plain) -> Position<V> {
    let sfen = plain.sfen();
    Position::from_sfen(&sfen, Rules::default()).unwrap_or_else(|error| panic!("{sfen}: {error}"))
}

/// The SFEN without its move number.
fn bare<V: Variant>(position: &Position<V>) -> String {
    position.sfen().rsplit_once(' ').unwrap().0.to_owned()
}

fn sorted<V: Variant>(moves: impl IntoIterator<Item = Move>) -> Vec<String> {
    let mut names: Vec<String> = moves.into_iter().map(Move::to_usi::<V>).collect();
    names.sort_unstable();
    names
}

/// The generator against the slow rules, as lists: so there are no duplicates either.
fn moves_agree<V: Variant>(position: &Position<V>, plain: &Plain, legal: &[PlainMove]) {
    let sfen = position.sfen();
    let mut expected: Vec<String> = legal.iter().map(|mv| mv.usi()).collect();
    expected.sort_unstable();
    let moves = legal_moves(position);
    assert_eq!(sorted::<V>(moves.iter().copied()), expected, "{sfen}");
    assert_eq!(count_legal(position.board(), position.threats()), moves.len(), "{sfen}");
    assert_eq!(has_legal_move(position), !moves.is_empty(), "{sfen}");
    assert_eq!(position.in_check(), plain.in_check(), "{sfen}");
    let reason = outcome(position).map(|outcome| outcome.reason).filter(|_| moves.is_empty());
    let expected = match (moves.is_empty(), plain.in_check()) {
        (false, _) => None,
        (true, true) => Some(Reason::Checkmate),
        (true, false) => Some(Reason::Stalemate),
    };
    assert_eq!(reason, expected, "{sfen}");
}

/// Each move is made as the slow rules make it, and taken back without a trace.
fn moves_are_made_and_taken_back<V: Variant>(position: &mut Position<V>, plain: &Plain, legal: &[PlainMove]) {
    let before = (position.sfen(), position.key(), *position.threats(), position.ply());
    let checks = CheckInfo::of(position.board());
    for &expected in legal {
        let usi = expected.usi();
        let mv = Move::from_usi::<V>(&usi).unwrap();
        assert_eq!(mv.to_usi::<V>(), usi);
        assert_eq!(Move::from_bits(mv.bits()), Some(mv));
        let gives_check = checks.gives_check(position.board(), mv);
        position.do_move(mv);
        assert_eq!(gives_check, position.in_check(), "{usi} in {}", before.0);
        assert_eq!(bare(position), plain.after(expected).sfen(), "{usi} in {}", before.0);
        assert_eq!(position.key(), position.board().computed_key(), "{usi} in {}", before.0);
        assert_eq!(*position.threats(), Threats::of(position.board()), "{usi} in {}", before.0);
        position.undo_move();
        let after = (position.sfen(), position.key(), *position.threats(), position.ply());
        assert_eq!(after, before, "{usi} taken back");
    }
}

/// `is_legal` says of every 16 bits what the list of moves says.
fn every_encoding_is_judged<V: Variant>(position: &Position<V>) {
    let mut listed: Vec<u16> = legal_moves(position).into_iter().map(Move::bits).collect();
    listed.sort_unstable();
    let judged: Vec<u16> =
        (1..=u16::MAX).filter(|&bits| is_legal(position, Move::from_bits(bits).expect("not zero"))).collect();
    assert_eq!(judged, listed, "{}", position.sfen());
}

/// The same moves after both sides have changed places, and in a mirror.
fn symmetries_hold<V: Variant>(position: &Position<V>, plain: &Plain) {
    let moved = |twin: Plain, place: fn(Square) -> Square| {
        let twin = self::position::<V>(&twin);
        let expected = sorted::<V>(legal_moves(position).into_iter().map(|mv| match mv.unpack().unwrap() {
            MoveKind::Board { from, to, promote } => Move::board(place(from), place(to), promote),
            MoveKind::Drop { kind, to } => Move::drop(kind, place(to)),
        }));
        assert_eq!(sorted::<V>(legal_moves(&twin)), expected, "{} and {}", position.sfen(), twin.sfen());
        assert_eq!(twin.in_check(), position.in_check());
    };
    moved(plain.rotated(), Square::rotated::<V>);
    moved(plain.mirrored(), Square::mirrored::<V>);
}

/// What is written is read as the same.
fn sfen_round_trips<V: Variant>(position: &Position<V>) {
    let sfen = position.sfen();
    let again = Position::<V>::from_sfen(&sfen, Rules::default()).unwrap_or_else(|error| panic!("{sfen}: {error}"));
    assert_eq!(again.sfen(), sfen);
    assert_eq!(again.key(), position.key(), "{sfen}");
    assert_eq!(again.threats(), position.threats(), "{sfen}");
}

/// All of the above. Returns the legal moves.
fn check<V: Variant>(position: &mut Position<V>, plain: &Plain, all_encodings: bool) -> Vec<PlainMove> {
    let legal = plain.legal();
    assert_eq!(bare(position), plain.sfen());
    moves_agree(position, plain, &legal);
    moves_are_made_and_taken_back(position, plain, &legal);
    symmetries_hold(position, plain);
    sfen_round_trips(position);
    if all_encodings {
        every_encoding_is_judged(position);
    }
    legal
}

/// Plays random moves, checking each position on the way, until there is no move or the plies are used up. Then takes
/// everything back and sees the first position again.
fn walk<V: Variant>(random: &mut Random, mut plain: Plain, plies: usize, encodings_in: usize) -> usize {
    let mut position = position::<V>(&plain);
    let (sfen, key) = (position.sfen(), position.key());
    let mut seen = 0;
    for _ in 0..=plies {
        let all_encodings = random.one_in(encodings_in);
        let moves = check(&mut position, &plain, all_encodings);
        seen += 1;
        if moves.is_empty() {
            break;
        }
        let mv = moves[random.below(moves.len())];
        position.do_move(Move::from_usi::<V>(&mv.usi()).unwrap());
        plain = plain.after(mv);
    }
    while position.ply() > 0 {
        position.undo_move();
    }
    assert_eq!((position.sfen(), position.key(), position.occurrences()), (sfen, key, 1));
    seen
}

/// Positions of random games from the start.
pub fn games_agree<V: Variant>(effort: Effort) {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (games, plies) = effort.games;
    let seen: usize =
        (0..games).map(|_| walk::<V>(&mut random, read_plain::<V>(V::START_SFEN), plies, effort.encodings_in)).sum();
    assert!(seen > games * 5);
}

/// Random positions: crowded boards, and empty ones with full hands.
pub fn scattered_positions_agree<V: Variant>(effort: Effort) {
    let mut random = Random(0x0fed_cba9_8765_4321);
    for spread in [1, 2, 4, 8] {
        for _ in 0..effort.scattered {
            let plain = scatter_valid::<V>(&mut random, spread);
            walk::<V>(&mut random, plain, 2, effort.encodings_in);
        }
    }
}

/// Whatever pieces are strewn on the board: it is read if, and only if, the rules allow the position.
pub fn validation_agrees<V: Variant>(effort: Effort) {
    let mut random = Random(0x0bad_cafe_0bad_cafe);
    let mut valid = 0;
    for spread in [1, 2, 4, 8] {
        for _ in 0..effort.scattered * 10 {
            let plain = scatter::<V>(&mut random, spread);
            let read = Position::<V>::from_sfen(&plain.sfen(), Rules::default());
            assert_eq!(read.is_ok(), plain.is_valid(), "{}: {:?}", plain.sfen(), read.err());
            valid += usize::from(read.is_ok());
        }
    }
    assert!(valid > effort.scattered, "{valid} valid positions");
}

/// Counts leaves by do and undo, computing the key of each node anew; notes which position has which key.
fn slow_perft<V: Variant>(position: &mut Position<V>, depth: u32, keys: &mut HashMap<u64, String>) -> u64 {
    assert_eq!(position.key(), position.board().computed_key(), "{}", position.sfen());
    let sfen = bare(position);
    let known = keys.entry(position.key()).or_insert_with(|| sfen.clone());
    assert_eq!(*known, sfen, "two positions with one key");
    if depth == 0 {
        return 1;
    }
    let mut leaves = 0;
    for mv in legal_moves(position) {
        position.do_move(mv);
        leaves += slow_perft(position, depth - 1, keys);
        position.undo_move();
    }
    leaves
}

/// Equal positions, and only they, have equal keys; and counting move by move gives the same as counting in sets.
pub fn keys_tell_positions_apart<V: Variant>(effort: Effort) {
    let mut random = Random(0x5eed_5eed_5eed_5eed);
    let mut keys = HashMap::new();
    let mut count = |plain: &Plain, depth| {
        let mut position = position::<V>(plain);
        assert_eq!(slow_perft(&mut position, depth, &mut keys), perft(&position, depth), "{}", position.sfen());
    };
    count(&read_plain::<V>(V::START_SFEN), effort.depth.0);
    for spread in [1, 2, 4] {
        for _ in 0..4 {
            count(&scatter_valid::<V>(&mut random, spread), effort.depth.1);
        }
    }
    let positions: std::collections::HashSet<&String> = keys.values().collect();
    assert_eq!(positions.len(), keys.len(), "one position with two keys");
    assert!(keys.len() > 10_000, "{} positions", keys.len());
}
