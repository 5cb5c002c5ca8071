//! The search of one node: fail-soft principal variation search (negascout).

use arrayvec::ArrayVec;

use super::correction::Corrections;
use super::params::*;
use super::picker::{Picker, Rest, is_tactical};
use super::see::see_at_least;
use super::tt::{Bound, Entry};
use super::worker::Worker;
use crate::movegen::{CheckInfo, is_legal};
use crate::types::score::{CERTAIN_BOUND, INFINITE, MAX_PLY, is_certain, is_mate, mate_in, mated_in};
use crate::types::{Move, Score};
use crate::variant::Variant;

/// log2(x) * 32 for x = 0..=63, rounded down, computed in integers so that every machine searches the same tree.
const LOG2_32: [i32; 64] = {
    let mut table = [0; 64];
    let mut x = 1;
    while x < 64 {
        // x^32 as mantissa and exponent: square five times, keeping 32 bits.
        let mut mantissa = x as u64;
        let mut exponent = 0;
        let mut squarings = 0;
        while squarings < 5 {
            mantissa *= mantissa;
            exponent *= 2;
            while mantissa >= 1 << 32 {
                mantissa >>= 1;
                exponent += 1;
            }
            squarings += 1;
        }
        table[x] = exponent + mantissa.ilog2() as i32;
        x += 1;
    }
    table
};

/// By how much the `count`-th move of a node of that depth is reduced, in 1024ths of a ply, before its own merits count.
#[inline(always)]
pub(super) fn reduction(depth: i32, count: usize) -> i32 {
    let log = |x: usize| LOG2_32[x.min(63)];
    lmr_base() + log(depth as usize) * log(count) / 32 * lmr_factor() / 32
}

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

/// The margin by which a node of that depth must stand above beta to be left alone.
#[inline(always)]
fn reverse_futility(depth: i32, improving: bool) -> Score {
    reverse_futility_margin() * depth - if improving { reverse_futility_improving() } else { 0 }
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

        // No line from here is better than mating now, or worse than being mated now.
        alpha = alpha.max(mated_in(ply));
        beta = beta.min(mate_in(ply + 1));
        if alpha >= beta {
            return alpha;
        }

        let excluded = self.stack.at(ply).excluded;
        let key = self.position.key();
        let known = if excluded.is_some() { None } else { self.shared.table.probe(key, ply) };
        let table_move = known.and_then(|entry| entry.best);
        let was_pv = PV || known.is_some_and(|entry| entry.pv);
        if !PV
            && self.table_decides(depth)
            && let Some(entry) = known.filter(|entry| entry.depth >= depth && settles(entry, alpha, beta))
        {
            if entry.score >= beta
                && let Some(mv) = table_move
                && !is_tactical(&self.position, mv)
                && is_legal(&self.position, mv)
            {
                let continuation = self.memory.history.continuation(&self.stack, ply);
                self.memory.history.table_cutoff(self.position.board(), &continuation, mv, depth);
            }
            return entry.score;
        }

        if !PV
            && excluded.is_none()
            && let Some(score) = self.repetition_ahead(beta, ply)
        {
            return score;
        }

        let slots = Corrections::slots(self.position.board(), &self.stack, ply);
        let raw_eval = self.raw_eval(known);
        let eval = raw_eval.map(|raw| self.correct(raw, &slots));
        self.stack.at(ply).eval = eval;
        let earlier = self.stack.before(ply, 2).eval.or(self.stack.before(ply, 4).eval);
        let improving = eval.is_some_and(|eval| earlier.is_none_or(|earlier| eval > earlier));
        self.stack.at(ply + 1).cutoffs = 0;
        if excluded.is_none()
            && let (Some(now), Some(before)) = (eval, self.stack.before(ply, 1).eval)
        {
            let frame = *self.stack.before(ply, 1);
            let loss = now + before;
            if let Some(mv) = frame.made.filter(|_| frame.quiet) {
                self.memory.history.changed_eval(!self.position.side_to_move(), mv, -loss);
            }
            // Seen from here, the reduction of the move that led here was too much, or too little.
            if frame.reduction >= hindsight_deeper() && loss < 0 {
                depth += 1;
            } else if frame.reduction >= 1 && depth >= 2 && loss > hindsight_margin() {
                depth -= 1;
            }
        }

        let mut threat = false;
        if let Some(eval) = eval
            && !PV
            && excluded.is_none()
        {
            if depth <= razor_depth() && eval + razor_base() + razor_margin() * depth * depth <= alpha {
                let score = self.quiescence::<false>(alpha, alpha + 1, ply, true);
                if score <= alpha || self.stopped {
                    return score;
                }
            }
            if depth <= reverse_futility_depth()
                && eval - reverse_futility(depth, improving) >= beta
                && !is_certain(beta)
            {
                return eval;
            }
            if null_allowed && depth >= null_depth() && eval >= beta && !is_certain(beta) {
                let surplus = ((eval - beta) / null_eval_share()).min(3);
                let reduced = depth - null_reduction() - depth / null_depth_share() - surplus;
                self.make_null(ply);
                let score = -self.search::<false>(-beta, 1 - beta, reduced, ply + 1, !cut, false);
                self.unmake();
                if self.stopped {
                    return 0;
                }
                threat = is_mate(score) && score < 0;
                if score >= beta {
                    // A certain result after passing proves nothing.
                    let score = if is_certain(score) { beta } else { score };
                    if depth < null_verify_depth() {
                        return score;
                    }
                    // Passing may be the best move where every move harms: see that some move holds as well.
                    let verified = self.search::<false>(beta - 1, beta, reduced, ply, false, false);
                    if verified >= beta || self.stopped {
                        return score;
                    }
                }
            }
            let raised = beta + probcut_margin();
            if depth >= probcut_depth()
                && !is_certain(beta)
                && known.is_none_or(|entry| entry.score >= raised || entry.depth < depth - 3)
            {
                let score = self.probcut(raised, depth - 4, ply, table_move, raw_eval);
                if self.stopped {
                    return 0;
                }
                if let Some(score) = score {
                    return score;
                }
            }
        }

        let shallow = cut && known.is_some_and(|entry| entry.depth + iir_gap() <= depth);
        if (table_move.is_none() || shallow) && depth >= iir_depth() && excluded.is_none() {
            depth -= 1;
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
        let mut quiets = ArrayVec::<Move, 64>::new();
        let mut tacticals = ArrayVec::<Move, 32>::new();

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
                    let most = late_move_base() + depth * depth / if improving { 1 } else { 2 };
                    let late = depth <= late_move_depth() && quiets.len() >= most as usize;
                    let futile = depth <= futility_depth()
                        && eval.is_some_and(|eval| eval + futility_base() + futility_margin() * depth <= alpha);
                    if late || futile {
                        // What holds for this move holds for all that follow.
                        picker.skip_quiets(&self.position);
                        continue;
                    }
                    if depth <= history_pruning_depth() && history < -history_pruning_margin() * depth {
                        continue;
                    }
                }
                if in_check
                    && !tactical
                    && depth <= evasion_depth()
                    && quiets.len() >= (evasion_base() + depth) as usize
                {
                    continue;
                }
                let margin = if tactical { see_tactical_margin() } else { see_quiet_margin() };
                if depth <= see_depth() && !in_check && !see_at_least(board, mv, -margin * depth) {
                    continue;
                }
            }

            let bad_tactical = picker.is_bad_tactical();
            let mut extension = 0;
            if ply < 2 * self.root_depth as usize {
                if Some(mv) == table_move
                    && depth >= singular_depth()
                    && excluded.is_none()
                    && let Some(entry) = known.filter(|entry| {
                        entry.bound != Bound::Upper && entry.depth >= depth - 3 && !is_certain(entry.score)
                    })
                {
                    let target = entry.score - singular_margin() * depth / 16;
                    self.stack.at(ply).excluded = Some(mv);
                    let score = self.search::<false>(target - 1, target, (depth - 1) / 2, ply, cut, false);
                    self.stack.at(ply).excluded = None;
                    self.stack.at(ply).eval = eval;
                    if self.stopped {
                        return 0;
                    }
                    if score < target {
                        let alone = !PV && score < target - singular_double();
                        extension = if alone && self.stack.at(ply).double_extensions < 6 { 2 } else { 1 };
                    } else if target >= beta {
                        // Several moves are too good (multi-cut).
                        return target;
                    } else if entry.score >= beta {
                        extension = if PV { -1 } else { -2 };
                    } else if cut {
                        extension = -1;
                    }
                } else if gives_check
                    && !bad_tactical
                    && depth >= check_extension_depth()
                    && see_at_least(self.position.board(), mv, 0)
                {
                    extension = 1;
                }
            }
            let mut new_depth = depth - 1 + extension;
            self.stack.at(ply + 1).double_extensions = self.stack.at(ply).double_extensions + u32::from(extension > 1);

            let mut reduced = new_depth;
            if depth >= LMR_DEPTH && count > lmr_moves() as usize {
                let mut r = reduction(depth, count);
                if tactical {
                    r = r * if bad_tactical { lmr_tactical() } else { lmr_good_tactical() } / 1024;
                } else {
                    r -= history * 1024 / lmr_history();
                    r += if table_tactical { lmr_table_tactical() } else { 0 };
                    r -= if picker.is_special() { lmr_special() } else { 0 };
                }
                r += if self.stack.at(ply + 1).cutoffs >= MANY_CUTOFFS { lmr_cutoffs() } else { 0 };
                r += if cut { lmr_cut() } else { 0 };
                r += if improving { 0 } else { lmr_not_improving() };
                r -= if PV { lmr_pv() } else { 0 };
                r -= if was_pv && !PV { lmr_table_pv() } else { 0 };
                r -= if threat { lmr_threat() } else { 0 };
                r -= if gives_check { lmr_check() } else { 0 };
                r -= if in_check { lmr_evasion() } else { 0 };
                reduced = (new_depth - r / 1024).clamp(1.min(new_depth), new_depth);
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
            // A full list loses only the lesson from the moves that come last.
            let _ = if tactical { tacticals.try_push(mv) } else { quiets.try_push(mv) };
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
            let tactical = is_tactical(&self.position, mv);
            let board = self.position.board();
            let history = &mut self.memory.history;
            if !tactical {
                history.quiet_cutoff(board, &continuation, ply, depth, mv, previous, &quiets);
            }
            history.capture_cutoff(board, depth, Some(mv).filter(|_| tactical), &tacticals);
        }

        if excluded.is_none() {
            let bound = Bound::of(best_score, old_alpha, beta, PV);
            self.shared.table.store(
                key,
                ply,
                Entry { best, score: best_score, bound, eval: raw_eval, depth, pv: was_pv },
            );
            if let (Some(raw), Some(eval)) = (raw_eval, eval) {
                let quiet = best.is_none_or(|mv| !is_tactical(&self.position, mv));
                let says_more = match bound {
                    Bound::Exact => true,
                    Bound::Lower => best_score > eval,
                    Bound::Upper => best_score < eval,
                };
                if quiet && says_more && !is_certain(best_score) {
                    self.memory.corrections.learn(&slots, depth, best_score - raw);
                }
            }
        }
        best_score
    }

    /// Tries captures that win so much that a shallow search above `raised` settles the node (ProbCut, chessprogramming.org).
    fn probcut(
        &mut self,
        raised: Score,
        depth: i32,
        ply: usize,
        table_move: Option<Move>,
        raw_eval: Option<Score>,
    ) -> Option<Score> {
        let continuation = self.memory.history.continuation(&self.stack, ply);
        let threshold = raised - self.stack.at(ply).eval?;
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
