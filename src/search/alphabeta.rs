//! The search of one node: fail-soft principal variation search (negascout).

use arrayvec::ArrayVec;

use super::params::*;
use super::picker::{Picker, Rest, is_tactical};
use super::see::see_at_least;
use super::tt::{Bound, Entry};
use super::worker::Worker;
use crate::movegen::CheckInfo;
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

/// Plies by which the `count`-th move of a node of that depth is reduced, before the move's own merits count.
#[inline(always)]
pub(super) fn reduction(depth: i32, count: usize) -> i32 {
    let log = |x: usize| LOG2_32[x.min(63)];
    log(depth as usize) * log(count) / 32 * LMR_FACTOR / 1024 / 32
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

impl<V: Variant> Worker<'_, V> {
    /// The score of the position for the side to move, exact within (`alpha`, `beta`), else a bound.
    ///
    /// `null_allowed` is false right after a null move. After a stop the value means nothing.
    pub(super) fn search<const PV: bool>(
        &mut self,
        mut alpha: Score,
        mut beta: Score,
        mut depth: i32,
        ply: usize,
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

        let key = self.position.key();
        let known = self.shared.table.probe(key, ply);
        let table_move = known.and_then(|entry| entry.best);
        if !PV
            && self.table_decides(depth)
            && let Some(entry) = known.filter(|entry| entry.depth >= depth && settles(entry, alpha, beta))
        {
            return entry.score;
        }

        let eval = match known {
            _ if in_check => None,
            Some(Entry { eval: Some(eval), .. }) => Some(eval),
            _ => Some(self.evaluate()),
        };

        if let Some(eval) = eval
            && !PV
            && depth <= REVERSE_FUTILITY_DEPTH
            && eval - REVERSE_FUTILITY_MARGIN * depth >= beta
            && !is_certain(beta)
        {
            return eval;
        }

        if let Some(eval) = eval
            && !PV
            && null_allowed
            && depth >= NULL_MOVE_DEPTH
            && eval >= beta
            && !is_certain(beta)
        {
            let reduced = depth - NULL_MOVE_REDUCTION - depth / NULL_MOVE_DEPTH_SHARE;
            self.make_null(ply);
            let score = -self.search::<false>(-beta, 1 - beta, reduced, ply + 1, false);
            self.unmake();
            if self.stopped {
                return 0;
            }
            if score >= beta {
                // A certain result after passing proves nothing.
                return if is_certain(score) { beta } else { score };
            }
        }

        if table_move.is_none() && depth >= IIR_DEPTH {
            depth -= 1;
        }

        let info = CheckInfo::of(self.position.board());
        let previous = ply.checked_sub(1).and_then(|before| self.made[before]);
        let us = self.position.side_to_move();
        let [killer, other_killer] = self.memory.history.killers(ply);
        let special = [killer, other_killer, self.memory.history.counter(previous)];
        let mut picker = Picker::new(&self.position, table_move, special, Rest::All);
        let mut best = None;
        let mut best_score = -INFINITE;
        let old_alpha = alpha;
        let mut count = 0;
        let mut quiets = ArrayVec::<Move, 64>::new();
        let mut tacticals = ArrayVec::<Move, 32>::new();

        while let Some(mv) = picker.next(&self.position, &self.memory.history) {
            count += 1;
            let tactical = is_tactical(&self.position, mv);
            let gives_check = info.gives_check(self.position.board(), mv);
            let history = if tactical { 0 } else { self.memory.history.quiet(us, mv) };
            if best_score > -CERTAIN_BOUND && ply > 0 {
                if !tactical && !gives_check && !in_check {
                    if depth <= LATE_MOVE_DEPTH && quiets.len() >= LATE_MOVE_BASE + (depth * depth) as usize {
                        continue;
                    }
                    if let Some(eval) = eval
                        && depth <= FUTILITY_DEPTH
                        && eval + FUTILITY_BASE + FUTILITY_MARGIN * depth <= alpha
                    {
                        continue;
                    }
                }
                let margin = if tactical { SEE_TACTICAL_MARGIN } else { SEE_QUIET_MARGIN };
                if depth <= SEE_DEPTH && !in_check && !see_at_least(self.position.board(), mv, -margin * depth) {
                    continue;
                }
            }
            let extension = i32::from(gives_check && ply < 2 * self.root_depth as usize && !picker.is_bad_tactical());
            let new_depth = depth - 1 + extension;

            self.make(ply, mv);
            let mut score = -INFINITE;
            let mut full = PV && count == 1;
            if !full {
                let mut reduced = new_depth;
                if depth >= LMR_DEPTH && count > LMR_MOVES && !tactical && !in_check {
                    let less = history / LMR_HISTORY + i32::from(PV) + i32::from(gives_check);
                    reduced = (new_depth - (reduction(depth, count) - less).max(0)).max(1);
                }
                score = -self.search::<false>(-alpha - 1, -alpha, reduced, ply + 1, true);
                if score > alpha && reduced < new_depth && !self.stopped {
                    score = -self.search::<false>(-alpha - 1, -alpha, new_depth, ply + 1, true);
                }
                full = PV && score > alpha;
            }
            if full && !self.stopped {
                score = -self.search::<true>(-beta, -alpha, new_depth, ply + 1, true);
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
                        break;
                    }
                }
            }
            // A full list loses only the lesson from the moves that come last.
            let _ = if tactical { tacticals.try_push(mv) } else { quiets.try_push(mv) };
        }

        if count == 0 {
            // No legal move loses, in check or not.
            return mated_in(ply);
        }

        if let Some(mv) = best.filter(|_| best_score >= beta) {
            let tactical = is_tactical(&self.position, mv);
            let history = &mut self.memory.history;
            if !tactical {
                history.quiet_cutoff(us, ply, depth, mv, previous, &quiets);
            }
            history.capture_cutoff(self.position.board(), depth, Some(mv).filter(|_| tactical), &tacticals);
        }

        let bound = Bound::of(best_score, old_alpha, beta, PV);
        self.shared.table.store(key, ply, Entry { best, score: best_score, bound, eval, depth });
        best_score
    }
}
