//! The search of one node: fail-soft principal variation search (negascout). The rules it goes by stand in [`super::pruning`] and
//! [`super::depths`].

use arrayvec::ArrayVec;

use super::correction::{Corrections, Slots};
use super::depths::{self, Late, Verdict};
use super::history::Continuation;
use super::params::lmr_deeper;
use super::picker::{Picker, Rest, is_near_drop, is_tactical};
use super::pruning;
use super::see::see_at_least;
use super::techniques as with;
use super::tt::{Bound, Entry};
use super::worker::Worker;
use crate::movegen::{CheckInfo, is_legal};
use crate::types::score::{CERTAIN_BOUND, INFINITE, MAX_PLY, is_certain, is_mate, mate_in, mated_in};
use crate::types::{Move, Score};
use crate::variant::Variant;

/// Extensions by two plies that one line may have.
const MOST_DOUBLE_EXTENSIONS: u32 = 6;

/// Whether a score from the table settles the node.
#[inline(always)]
pub(super) fn settles(entry: &Entry, alpha: Score, beta: Score) -> bool {
    // A win by rule depends on the way by which the position was reached.
    let by_rule = is_certain(entry.score) && !is_mate(entry.score);
    !by_rule
        && match entry.bound {
            Bound::Exact => true,
            Bound::Lower => entry.score >= beta,
            Bound::Upper => entry.score <= alpha,
        }
}

/// What is known of a node before its moves are made.
#[derive(Clone, Copy)]
struct Node {
    ply: usize,
    depth: i32,
    beta: Score,
    /// It is expected to fail high.
    cut: bool,
    /// What the table says; nothing where a move is left out.
    known: Option<Entry>,
    table_move: Option<Move>,
    /// The evaluation as the network has it, and corrected; none in check.
    raw_eval: Option<Score>,
    eval: Option<Score>,
    slots: Slots,
    /// The evaluation has grown since this side's last moves.
    improving: bool,
    /// A move that is left out.
    excluded: Option<Move>,
    /// The node is in the principal variation, or once was.
    was_pv: bool,
}

/// What a look at a node before its moves brings.
enum FirstLook {
    /// It needs no search; after a stop the score means nothing.
    Settled(Score),
    /// It does. `threat`: to pass would mean to be mated.
    Open { threat: bool },
}

/// The moves of a node that did not cause a cutoff. A full list loses only the lesson from the moves that come last.
#[derive(Default)]
struct Tried {
    quiets: ArrayVec<Move, 64>,
    tacticals: ArrayVec<Move, 32>,
}

impl<V: Variant> Worker<'_, V> {
    /// The score of the position for the side to move, exact within (`alpha`, `beta`), else a bound.
    ///
    /// `cut` says that the node is expected to fail high. `null_allowed` is false right after a null move. After a stop
    /// the value means nothing.
    pub(super) fn search<const PV: bool>(
        &mut self,
        mut alpha: Score,
        mut beta: Score,
        mut depth: i32,
        ply: usize,
        cut: bool,
        null_allowed: bool,
    ) -> Score {
        self.lines[ply].clear();
        if self.should_stop() {
            return 0;
        }
        if let Some(score) = self.game_over(ply) {
            return score;
        }
        if depth <= 0 {
            return self.quiescence::<PV>(alpha, beta, ply, true);
        }
        self.seldepth = self.seldepth.max(ply);
        let in_check = self.position.in_check();
        if ply >= MAX_PLY {
            return if in_check { 0 } else { self.evaluate() };
        }

        if with::mate_distance() {
            // No line from here is better than mating now, or worse than being mated now.
            alpha = alpha.max(mated_in(ply));
            beta = beta.min(mate_in(ply + 1));
            if alpha >= beta {
                return alpha;
            }
        }

        let excluded = self.stack.at(ply).excluded;
        let key = self.position.key();
        let known = if excluded.is_some() { None } else { self.shared.table.probe(key, ply) };
        let was_pv = PV || known.is_some_and(|entry| entry.pv);
        if !PV
            && self.table_decides(depth)
            && let Some(entry) = known.filter(|entry| entry.depth >= depth && settles(entry, alpha, beta))
        {
            self.learn_from_table(&entry, beta, depth, ply);
            return entry.score;
        }

        if !PV
            && excluded.is_none()
            && with::repetition_ahead()
            && let Some(score) = self.repetition_ahead(beta, ply)
        {
            return score;
        }

        let slots = Corrections::slots(self.position.board(), &self.stack, ply);
        let raw_eval = self.raw_eval(known);
        let eval = raw_eval.map(|raw| self.correct(raw, &slots));
        self.stack.at(ply).eval = eval;
        let earlier = self.stack.before(ply, 2).eval.or(self.stack.before(ply, 4).eval);
        let improving = with::improving() && eval.is_some_and(|eval| earlier.is_none_or(|earlier| eval > earlier));
        self.stack.at(ply + 1).cutoffs = 0;
        if excluded.is_none() {
            depth += self.look_back(eval, depth, ply);
        }

        let table_move = known.and_then(|entry| entry.best);
        let mut node =
            Node { ply, depth, beta, cut, known, table_move, raw_eval, eval, slots, improving, excluded, was_pv };
        let mut threat = false;
        if let Some(eval) = eval
            && !PV
            && excluded.is_none()
        {
            match self.first_look(&node, eval, alpha, null_allowed) {
                FirstLook::Settled(score) => return score,
                FirstLook::Open { threat: seen } => threat = seen,
            }
        }
        if excluded.is_none() && depths::reduces_internally(depth, cut, known.as_ref()) {
            depth -= 1;
            node.depth = depth;
        }

        let previous = self.stack.before(ply, 1).made;
        let [killer, other_killer] = self.memory.history.killers(ply);
        let special = [killer, other_killer, self.memory.history.counter(previous)];
        let continuation = self.memory.history.continuation(&self.stack, ply);
        let info = CheckInfo::of(self.position.board());
        let mut picker = Picker::new(&self.position, table_move, special, Rest::All, info, continuation);
        let table_tactical = table_move.is_some_and(|mv| is_tactical(&self.position, mv));
        let mut best = None;
        let mut best_score = -INFINITE;
        let old_alpha = alpha;
        let mut count = 0;
        let mut tried = Tried::default();

        while let Some(mv) = picker.next(&self.position, &self.memory.history) {
            if Some(mv) == excluded {
                continue;
            }
            count += 1;
            let board = self.position.board();
            let tactical = is_tactical(&self.position, mv);
            let gives_check = info.gives_check(board, mv);
            let history = if tactical { 0 } else { self.memory.history.quiet(board, &continuation, mv) };
            if best_score > -CERTAIN_BOUND && ply > 0 {
                if !tactical && !gives_check && !in_check {
                    if pruning::is_late(depth, improving, tried.quiets.len()) || pruning::is_futile(depth, eval, alpha)
                    {
                        // What holds for this move holds for all that follow.
                        picker.skip_quiets(&self.position);
                        continue;
                    }
                    if pruning::has_bad_history(depth, history) {
                        continue;
                    }
                }
                if in_check && !tactical && pruning::is_late_evasion(depth, tried.quiets.len()) {
                    continue;
                }
                if !in_check
                    && let Some(limit) = pruning::exchange_limit(depth, tactical)
                    && !see_at_least(board, mv, limit)
                {
                    continue;
                }
            }

            let bad_tactical = picker.is_bad_tactical();
            let extension = match self.extension::<PV>(&node, mv, count, gives_check && !bad_tactical) {
                Verdict::Extend(_) if self.stopped => return 0,
                Verdict::Extend(plies) => plies,
                Verdict::Cut(score) => return score,
            };
            let mut new_depth = depth - 1 + extension;
            self.stack.at(ply + 1).double_extensions = self.stack.at(ply).double_extensions + u32::from(extension > 1);

            let mut reduced = new_depth;
            if depths::is_late(depth, count) {
                let late = Late {
                    depth,
                    count,
                    tactical,
                    bad_tactical,
                    history,
                    table_tactical,
                    special: picker.is_special(),
                    gives_check,
                    near_drop: is_near_drop(self.position.board(), mv),
                    in_check,
                    pv: PV,
                    was_pv,
                    cut,
                    improving,
                    cutoffs: self.stack.at(ply + 1).cutoffs,
                    threat,
                };
                reduced = late.reduced(new_depth);
            }

            self.make(ply, mv);
            self.stack.at(ply).quiet = !tactical;
            let mut score = -INFINITE;
            let mut full = PV && count == 1;
            if !full {
                if reduced < new_depth {
                    self.stack.at(ply).reduction = new_depth - reduced;
                    score = -self.search::<false>(-alpha - 1, -alpha, reduced, ply + 1, true, true);
                    self.stack.at(ply).reduction = 0;
                    new_depth += i32::from(score > alpha && score > best_score + lmr_deeper());
                }
                if (reduced >= new_depth || score > alpha) && !self.stopped {
                    score = -self.search::<false>(-alpha - 1, -alpha, new_depth, ply + 1, !cut, true);
                }
                full = PV && score > alpha;
            }
            if full && !self.stopped {
                score = -self.search::<true>(-beta, -alpha, new_depth, ply + 1, false, true);
            }
            self.unmake();
            if self.stopped {
                return 0;
            }

            if score > best_score {
                best_score = score;
                if score > alpha {
                    best = Some(mv);
                    alpha = score;
                    if PV {
                        self.extend_line(ply, mv);
                    }
                    if score >= beta {
                        self.stack.at(ply).cutoffs += 1;
                        break;
                    }
                }
            }
            let _ = if tactical { tried.tacticals.try_push(mv) } else { tried.quiets.try_push(mv) };
        }

        if count == 0 {
            // No legal move loses, in check or not; without a move that was left out the others are as bad as can be.
            return if excluded.is_some() { alpha } else { mated_in(ply) };
        }
        if best_score <= old_alpha && self.stack.before(ply, 1).quiet {
            let mover = !self.position.side_to_move();
            self.memory.history.not_refuted::<V>(&self.stack, ply, mover, depth);
        }
        if let Some(mv) = best.filter(|_| best_score >= beta) {
            self.learn_from_cutoff(&node, mv, &tried, &continuation);
        }
        if excluded.is_none() {
            self.remember(&node, best, best_score, Bound::of(best_score, old_alpha, beta, PV));
        }
        best_score
    }

    /// A quiet move by which the table cuts off is worth a bonus.
    #[inline(always)]
    fn learn_from_table(&mut self, entry: &Entry, beta: Score, depth: i32, ply: usize) {
        if entry.score >= beta
            && let Some(mv) = entry.best
            && !is_tactical(&self.position, mv)
            && is_legal(&self.position, mv)
        {
            let continuation = self.memory.history.continuation(&self.stack, ply);
            self.memory.history.table_cutoff(self.position.board(), &continuation, mv, depth);
        }
    }

    /// What the evaluation says of the move that led here: its history learns, and its reduction may have been wrong, for
    /// which plies are given or taken.
    #[inline(always)]
    fn look_back(&mut self, eval: Option<Score>, depth: i32, ply: usize) -> i32 {
        let frame = *self.stack.before(ply, 1);
        let (Some(now), Some(before)) = (eval, frame.eval) else { return 0 };
        let loss = now + before;
        if let Some(mv) = frame.made.filter(|_| frame.quiet) {
            self.memory.history.changed_eval(!self.position.side_to_move(), mv, -loss);
        }
        depths::hindsight(depth, frame.reduction, loss)
    }

    /// Whether the evaluation, passing, or a capture settles the node without a search of its moves.
    #[inline(always)]
    fn first_look(&mut self, node: &Node, eval: Score, alpha: Score, null_allowed: bool) -> FirstLook {
        let &Node { ply, depth, beta, cut, .. } = node;
        if pruning::razors(depth, eval, alpha) {
            let score = self.quiescence::<false>(alpha, alpha + 1, ply, true);
            if score <= alpha || self.stopped {
                return FirstLook::Settled(score);
            }
        }
        if pruning::stands_above(depth, node.improving, eval, beta) {
            return FirstLook::Settled(eval);
        }
        let mut threat = false;
        if null_allowed && let Some(reduced) = pruning::null_move_depth(depth, eval, beta) {
            self.make_null(ply);
            let score = -self.search::<false>(-beta, 1 - beta, reduced, ply + 1, !cut, false);
            self.unmake();
            if self.stopped {
                return FirstLook::Settled(0);
            }
            threat = is_mate(score) && score < 0;
            if score >= beta {
                // A certain result after passing proves nothing.
                let score = if is_certain(score) { beta } else { score };
                if !pruning::verifies_null_move(depth)
                    || self.search::<false>(beta - 1, beta, reduced, ply, false, false) >= beta
                    || self.stopped
                {
                    return FirstLook::Settled(score);
                }
            }
        }
        if let Some(raised) = pruning::probcut_bound(depth, beta, node.known.as_ref()) {
            let score = self.probcut(raised, depth - 4, node);
            if self.stopped {
                return FirstLook::Settled(0);
            }
            if let Some(score) = score {
                return FirstLook::Settled(score);
            }
        }
        FirstLook::Open { threat }
    }

    /// How much deeper than others the move is searched. After a stop the verdict means nothing.
    #[inline(always)]
    fn extension<const PV: bool>(&mut self, node: &Node, mv: Move, count: usize, good_check: bool) -> Verdict {
        let &Node { ply, depth, beta, cut, .. } = node;
        if ply >= 2 * self.root_depth as usize {
            return Verdict::Extend(0);
        }
        if Some(mv) == node.table_move
            && node.excluded.is_none()
            && let Some(entry) = node.known
            && let Some(target) = depths::singular_target(depth, &entry)
        {
            self.stack.at(ply).excluded = Some(mv);
            let score = self.search::<false>(target - 1, target, (depth - 1) / 2, ply, cut, false);
            self.stack.at(ply).excluded = None;
            self.stack.at(ply).eval = node.eval;
            let may_double = self.stack.at(ply).double_extensions < MOST_DOUBLE_EXTENSIONS;
            return depths::singular_verdict((score, target), (entry.score, beta), (PV, cut), may_double);
        }
        let extends = good_check && depths::extends_checks(depth) && see_at_least(self.position.board(), mv, 0);
        Verdict::Extend(i32::from(extends || depths::is_only_reply(&self.position, count)))
    }

    /// What histories learn from a move that caused a cutoff after others did not.
    #[inline(always)]
    fn learn_from_cutoff(&mut self, node: &Node, mv: Move, tried: &Tried, continuation: &Continuation) {
        let &Node { ply, depth, .. } = node;
        let tactical = is_tactical(&self.position, mv);
        let previous = self.stack.before(ply, 1).made;
        let board = self.position.board();
        let history = &mut self.memory.history;
        if !tactical {
            history.quiet_cutoff(board, continuation, ply, depth, mv, previous, &tried.quiets);
        }
        history.capture_cutoff(board, depth, Some(mv).filter(|_| tactical), &tried.tacticals);
    }

    /// Stores what was found, and how far the evaluation was off.
    #[inline(always)]
    fn remember(&mut self, node: &Node, best: Option<Move>, score: Score, bound: Bound) {
        let entry = Entry { best, score, bound, eval: node.raw_eval, depth: node.depth, pv: node.was_pv };
        self.shared.table.store(self.position.key(), node.ply, entry);
        if let (Some(raw), Some(eval)) = (node.raw_eval, node.eval) {
            let quiet = best.is_none_or(|mv| !is_tactical(&self.position, mv));
            let says_more = match bound {
                Bound::Exact => true,
                Bound::Lower => score > eval,
                Bound::Upper => score < eval,
            };
            if quiet && says_more && !is_certain(score) {
                self.memory.corrections.learn(&node.slots, node.depth, score - raw);
            }
        }
    }

    /// Tries captures that win so much that a shallow search above `raised` settles the node (ProbCut, chessprogramming.org).
    fn probcut(&mut self, raised: Score, depth: i32, node: &Node) -> Option<Score> {
        let &Node { ply, table_move, raw_eval, .. } = node;
        let continuation = self.memory.history.continuation(&self.stack, ply);
        let threshold = raised - node.eval?;
        let info = CheckInfo::of(self.position.board());
        let mut picker = Picker::new(&self.position, table_move, [None; 3], Rest::Nothing, info, continuation);
        while let Some(mv) = picker.next(&self.position, &self.memory.history) {
            if !see_at_least(self.position.board(), mv, threshold) {
                continue;
            }
            self.make(ply, mv);
            let mut score = -self.quiescence::<false>(-raised, 1 - raised, ply + 1, true);
            if score >= raised && depth > 0 && !self.stopped {
                score = -self.search::<false>(-raised, 1 - raised, depth, ply + 1, true, true);
            }
            self.unmake();
            if self.stopped {
                return None;
            }
            if score >= raised {
                let entry =
                    Entry { best: Some(mv), score, bound: Bound::Lower, eval: raw_eval, depth: depth + 1, pv: false };
                self.shared.table.store(self.position.key(), ply, entry);
                return Some(score);
            }
        }
        None
    }
}
