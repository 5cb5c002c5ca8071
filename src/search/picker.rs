//! The order of moves: the table's move, winning captures, killers, quiet moves by history, losing captures.

use arrayvec::ArrayVec;

use super::history::{Continuation, History};
use super::params::{check_order, near_drop_order};
use super::see::{see_at_least, victim_first};
use super::techniques as with;
use crate::movegen::{CheckInfo, Sink, generate, is_legal};
use crate::position::{Board, Position};
use crate::types::{Bitboard, Color, Move, PieceType, Square};
use crate::variant::Variant;

/// A move and its score in one number that orders them: the score above, then the move as its mover sees the board, so
/// that of equal moves the same one comes first when colors are changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Scored(i64);

impl Scored {
    #[inline(always)]
    fn new(mv: Move, mover: Color) -> Self {
        Self(i64::from(mv.order(mover)))
    }

    #[inline(always)]
    fn set_score(&mut self, score: i32) {
        self.0 = i64::from(score) << 16 | self.0 & 0xffff;
    }

    #[inline(always)]
    fn mv(self, mover: Color) -> Option<Move> {
        Move::from_order(self.0 as u16, mover)
    }
}

/// Moves with their score for ordering.
type ScoredMoves = ArrayVec<Scored, 600>;

/// Whether a promotion is worth looking at like a capture. A silver's is not: it gains and loses squares.
#[inline(always)]
fn promotes_for_good(kind: PieceType) -> bool {
    matches!(kind, PieceType::Pawn | PieceType::Lance | PieceType::Bishop | PieceType::Rook)
}

/// Whether the legal move is a capture, or a promotion that is searched among captures.
#[inline(always)]
pub(super) fn is_tactical<V: Variant>(position: &Position<V>, mv: Move) -> bool {
    if mv.is_drop() {
        return false;
    }
    let board = position.board();
    board.kind_on(mv.to()).is_some() || mv.is_promotion() && moved_kind(position, mv).is_some_and(promotes_for_good)
}

/// Whether the move is a drop next to the opponent's king, the start of most mating attacks.
#[inline(always)]
pub(super) fn is_near_drop<V: Variant>(board: &Board<V>, mv: Move) -> bool {
    let king = board.king(!board.side_to_move());
    with::near_drops() && mv.is_drop() && V::ATTACKS.king[king].contains(mv.to())
}

fn moved_kind<V: Variant>(position: &Position<V>, mv: Move) -> Option<PieceType> {
    match mv.unpack()? {
        crate::types::MoveKind::Board { from, .. } => position.board().kind_on(from),
        crate::types::MoveKind::Drop { kind, .. } => Some(kind),
    }
}

/// Which moves a sink lets through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Tactical,
    Quiet,
}

struct ClassSink<'a, V: Variant> {
    class: Class,
    mover: Color,
    enemy: Bitboard<V>,
    moves: &'a mut ScoredMoves,
}

impl<V: Variant> Sink<V> for ClassSink<'_, V> {
    #[inline(always)]
    fn board_moves(&mut self, from: Square, kind: PieceType, plain: Bitboard<V>, promoting: Bitboard<V>) {
        let captures = plain & self.enemy;
        let tactical = if promotes_for_good(kind) { promoting } else { promoting & self.enemy };
        let (plain, promoting) = match self.class {
            Class::Tactical => (captures, tactical),
            Class::Quiet => (plain ^ captures, promoting ^ tactical),
        };
        for to in promoting {
            self.moves.push(Scored::new(Move::board(from, to, true), self.mover));
        }
        for to in plain {
            self.moves.push(Scored::new(Move::board(from, to, false), self.mover));
        }
    }

    #[inline(always)]
    fn drops(&mut self, kind: PieceType, targets: Bitboard<V>) {
        if self.class == Class::Quiet {
            for to in targets {
                self.moves.push(Scored::new(Move::drop(kind, to), self.mover));
            }
        }
    }
}

/// Quiet moves that give check.
struct CheckSink<'a, V: Variant> {
    position: &'a Position<V>,
    info: &'a CheckInfo<V>,
    mover: Color,
    enemy: Bitboard<V>,
    moves: &'a mut ScoredMoves,
}

impl<V: Variant> Sink<V> for CheckSink<'_, V> {
    #[inline(always)]
    fn board_moves(&mut self, from: Square, kind: PieceType, plain: Bitboard<V>, promoting: Bitboard<V>) {
        let board = self.position.board();
        let quiet_plain = plain & !self.enemy;
        let quiet_promoting = if promotes_for_good(kind) { Bitboard::EMPTY } else { promoting & !self.enemy };
        let discovers = self.info.discovers(from);
        for (targets, promote) in [(quiet_promoting, true), (quiet_plain, false)] {
            if targets.is_empty() {
                continue;
            }
            let kind = if promote { kind.promoted().unwrap_or(kind) } else { kind };
            let direct = if kind == PieceType::King { Bitboard::EMPTY } else { self.info.squares(board, kind) };
            for to in targets & direct {
                self.moves.push(Scored::new(Move::board(from, to, promote), self.mover));
            }
            if discovers {
                for to in targets & !direct {
                    let mv = Move::board(from, to, promote);
                    if self.info.gives_check(board, mv) {
                        self.moves.push(Scored::new(mv, self.mover));
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn drops(&mut self, kind: PieceType, targets: Bitboard<V>) {
        for to in targets & self.info.squares(self.position.board(), kind) {
            self.moves.push(Scored::new(Move::drop(kind, to), self.mover));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    TableMove,
    GenerateTactical,
    GoodTactical,
    Killers(usize),
    GenerateQuiet,
    Quiet,
    BadTactical,
    GenerateChecks,
    Checks,
    Done,
}

/// Hands out the legal moves of a node one by one, best guess first, generating each class only when it is needed.
pub(super) struct Picker<V: Variant> {
    stage: Stage,
    table_move: Option<Move>,
    special: [Option<Move>; 3],
    moves: ScoredMoves,
    next: usize,
    bad: ArrayVec<Move, 128>,
    next_bad: usize,
    /// After the captures: all other moves, only those that give check, or none.
    rest: Rest,
    only_checks: bool,
    info: CheckInfo<V>,
    continuation: Continuation,
}

/// What follows the captures and promotions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rest {
    /// All other moves, then the losing captures.
    All,
    /// Only quiet moves that give check, and no losing captures.
    Checks,
    /// Nothing, not even the losing captures.
    Nothing,
}

impl<V: Variant> Picker<V> {
    /// `table_move` need not be legal here. `special` are killers and a counter move, which need not be either.
    pub(super) fn new(
        position: &Position<V>,
        table_move: Option<Move>,
        special: [Option<Move>; 3],
        rest: Rest,
        info: CheckInfo<V>,
        continuation: Continuation,
    ) -> Self {
        let table_move =
            table_move.filter(|&mv| (rest != Rest::Nothing || is_tactical(position, mv)) && is_legal(position, mv));
        Self {
            stage: Stage::TableMove,
            table_move,
            special,
            moves: ScoredMoves::new(),
            next: 0,
            bad: ArrayVec::new(),
            next_bad: 0,
            rest,
            only_checks: false,
            info,
            continuation,
        }
    }

    /// Whether the last move handed out is a killer or a counter move.
    pub(super) fn is_special(&self) -> bool {
        matches!(self.stage, Stage::Killers(_))
    }

    /// Whether the last move handed out came from the losing captures.
    pub(super) fn is_bad_tactical(&self) -> bool {
        self.stage == Stage::BadTactical
    }

    /// From here on, no quiet move is handed out that does not give check.
    #[inline]
    pub(super) fn skip_quiets(&mut self, position: &Position<V>) {
        if !std::mem::replace(&mut self.only_checks, true) && self.stage == Stage::Quiet {
            self.keep_checks(position);
        }
    }

    /// Drops all of the moves that are left but checks.
    fn keep_checks(&mut self, position: &Position<V>) {
        let (board, us) = (position.board(), position.side_to_move());
        let mut kept = self.next;
        for index in self.next..self.moves.len() {
            let scored = self.moves[index];
            if scored.mv(us).is_some_and(|mv| self.info.gives_check(board, mv)) {
                self.moves[kept] = scored;
                kept += 1;
            }
        }
        self.moves.truncate(kept);
    }

    fn fill(&mut self, position: &Position<V>, class: Class) {
        self.moves.clear();
        self.next = 0;
        let mover = position.side_to_move();
        let enemy = position.board().of_color(!mover);
        let mut sink = ClassSink { class, mover, enemy, moves: &mut self.moves };
        generate(position.board(), position.threats(), &mut sink);
    }

    /// The best of the moves that are left.
    #[inline]
    fn select(&mut self, us: Color) -> Option<Move> {
        let left = self.moves.get_mut(self.next..)?;
        let mut best = *left.first()?;
        let mut place = 0;
        for (index, &scored) in left.iter().enumerate() {
            if scored > best {
                (best, place) = (scored, index);
            }
        }
        left.swap(0, place);
        self.next += 1;
        best.mv(us)
    }

    /// The next move, or `None` after the last.
    pub(super) fn next(&mut self, position: &Position<V>, history: &History) -> Option<Move> {
        let board = position.board();
        let us = position.side_to_move();
        loop {
            match self.stage {
                Stage::TableMove => {
                    self.stage = Stage::GenerateTactical;
                    if self.table_move.is_some() {
                        return self.table_move;
                    }
                }
                Stage::GenerateTactical => {
                    self.fill(position, Class::Tactical);
                    for scored in &mut self.moves {
                        let Some(mv) = scored.mv(us) else { continue };
                        scored.set_score(victim_first(board, mv) + history.capture(board, mv) / 16);
                    }
                    self.stage = Stage::GoodTactical;
                }
                Stage::GoodTactical => match self.select(us) {
                    Some(mv) if Some(mv) == self.table_move => {}
                    Some(mv) if see_at_least(board, mv, 0) => return Some(mv),
                    Some(mv) => {
                        if self.rest == Rest::All && self.bad.try_push(mv).is_err() {
                            // More losing captures than anyone needs to postpone: search it now.
                            return Some(mv);
                        }
                    }
                    None => {
                        self.stage = match self.rest {
                            Rest::All => Stage::Killers(0),
                            Rest::Checks => Stage::GenerateChecks,
                            Rest::Nothing => Stage::Done,
                        };
                    }
                },
                Stage::Killers(index) => {
                    let Some(&special) = self.special.get(index) else {
                        self.stage = Stage::GenerateQuiet;
                        continue;
                    };
                    self.stage = Stage::Killers(index + 1);
                    let fresh =
                        special.is_some() && special != self.table_move && !self.special[..index].contains(&special);
                    if let Some(mv) = special.filter(|_| fresh)
                        && is_legal(position, mv)
                        && !is_tactical(position, mv)
                    {
                        return Some(mv);
                    }
                    // Forget it, so that the quiet moves do not leave it out.
                    self.special[index] = None;
                }
                Stage::GenerateQuiet => {
                    self.fill(position, Class::Quiet);
                    if self.only_checks {
                        self.keep_checks(position);
                    }
                    for scored in &mut self.moves {
                        let Some(mv) = scored.mv(us) else { continue };
                        let check =
                            with::check_ordering() && self.info.gives_check(board, mv) && see_at_least(board, mv, 0);
                        let bonus = if check { check_order() } else { 0 }
                            + if is_near_drop(board, mv) { near_drop_order() } else { 0 };
                        scored.set_score(history.quiet(board, &self.continuation, mv) + bonus);
                    }
                    self.stage = Stage::Quiet;
                }
                Stage::Quiet => match self.select(us) {
                    Some(mv) if Some(mv) == self.table_move || self.special.contains(&Some(mv)) => {}
                    Some(mv) => return Some(mv),
                    None => self.stage = Stage::BadTactical,
                },
                Stage::BadTactical => {
                    let mv = self.bad.get(self.next_bad).copied();
                    self.next_bad += 1;
                    return mv;
                }
                Stage::GenerateChecks => {
                    self.moves.clear();
                    self.next = 0;
                    let enemy = board.of_color(!us);
                    let mut sink = CheckSink { position, info: &self.info, mover: us, enemy, moves: &mut self.moves };
                    generate(board, position.threats(), &mut sink);
                    for scored in &mut self.moves {
                        let Some(mv) = scored.mv(us) else { continue };
                        scored.set_score(history.quiet(board, &self.continuation, mv));
                    }
                    self.stage = Stage::Checks;
                }
                Stage::Checks => match self.select(us) {
                    Some(mv) if Some(mv) == self.table_move => {}
                    Some(mv) => return Some(mv),
                    None => self.stage = Stage::Done,
                },
                Stage::Done => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stack::Stack;
    use super::*;
    use crate::movegen::legal_moves;
    use crate::position::Rules;
    use crate::variant::{Minishogi, Shogi};

    fn hands_out_each_legal_move_once<V: Variant>() {
        let mut position = Position::<V>::new(Rules::default());
        let mut seed = 88_172_645_463_325_252_u64;
        let history = History::new::<V>();
        let continuation = history.continuation(&Stack::new(), 0);
        for _ in 0..2_000 {
            let mut legal = legal_moves(&position);
            if legal.is_empty() || position.ply() > 120 {
                position = Position::new(Rules::default());
                continue;
            }
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let pick = |shift: u32| legal[(seed >> shift) as usize % legal.len()];
            let special = [Some(pick(3)), Some(pick(9)), Some(pick(3))];
            let info = CheckInfo::of(position.board());
            let mut picker = Picker::new(&position, Some(pick(20)), special, Rest::All, info, continuation);
            let mut picked = Vec::new();
            while let Some(mv) = picker.next(&position, &history) {
                picked.push(mv);
            }
            assert_eq!(picked[0], pick(20));
            let next = pick(30);
            picked.sort_unstable();
            legal.sort_unstable();
            assert_eq!(picked.as_slice(), legal.as_slice(), "{}", position.sfen());

            let mut picker = Picker::new(&position, None, [None; 3], Rest::Checks, info, continuation);
            let mut checks = Vec::new();
            while let Some(mv) = picker.next(&position, &history) {
                if !is_tactical(&position, mv) {
                    checks.push(mv);
                }
            }
            for &mv in &legal {
                let told = info.gives_check(position.board(), mv);
                let quiet = !is_tactical(&position, mv);
                position.do_move(mv);
                assert_eq!(told, position.in_check(), "{} {}", position.sfen(), mv.to_usi::<V>());
                position.undo_move();
                assert_eq!(checks.contains(&mv), told && quiet, "{} {}", position.sfen(), mv.to_usi::<V>());
            }
            position.do_move(next);
        }
    }

    /// Before histories have learnt anything: safe checks, drops next to the king, and then the rest.
    #[test]
    fn drops_next_to_the_king_come_early() {
        let position = Position::<Minishogi>::from_sfen("2k2/5/5/5/2K2 b SP 1", Rules::default()).unwrap();
        let history = History::new::<Minishogi>();
        let continuation = history.continuation(&Stack::new(), 0);
        let info = CheckInfo::of(position.board());
        let mut picker = Picker::new(&position, None, [None; 3], Rest::All, info, continuation);
        let picked: Vec<_> = std::iter::from_fn(|| picker.next(&position, &history)).collect();
        let near = |mv: &Move| is_near_drop(position.board(), *mv);
        let check = |mv: &Move| info.gives_check(position.board(), *mv);
        let first_far = picked.iter().position(|mv| !near(mv) && !check(mv)).unwrap();
        assert_eq!(first_far, picked.iter().filter(|mv| near(mv)).count());
        // A silver on five squares, and a pawn on the three of them that it can go on from.
        assert!(first_far >= 8 && picked.len() > 20, "{first_far}");
    }

    #[test]
    fn hands_out_each_legal_move_once_on_every_board() {
        hands_out_each_legal_move_once::<Minishogi>();
        hands_out_each_legal_move_once::<Shogi>();
    }
}
