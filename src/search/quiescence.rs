//! Quiescence: captures and promotions until the position is quiet, with all answers to a check, and checks at first.

use super::alphabeta::settles;
use super::correction::Corrections;
use super::params::quiescence_margin;
use super::picker::{Picker, Rest, is_tactical};
use super::see::{gain, see_at_least};
use super::techniques as with;
use super::tt::{Bound, Entry};
use super::worker::Worker;
use crate::movegen::CheckInfo;
use crate::types::Score;
use crate::types::score::{CERTAIN_BOUND, INFINITE, MAX_PLY, mated_in};
use crate::variant::Variant;

impl<V: Variant> Worker<'_, V> {
    /// The score of the position once it is quiet. With `checks` quiet moves that give check are tried too.
    pub(super) fn quiescence<const PV: bool>(
        &mut self,
        mut alpha: Score,
        beta: Score,
        ply: usize,
        checks: bool,
    ) -> Score {
        self.lines[ply].clear();
        if self.should_stop() {
            return 0;
        }
        if let Some(score) = self.ply_limit_reached(ply) {
            return score;
        }
        self.seldepth = self.seldepth.max(ply);
        let in_check = self.position.in_check();
        if ply >= MAX_PLY {
            return if in_check { 0 } else { self.evaluate() };
        }

        let key = self.position.key();
        let known = self.shared.table.probe(key, ply);
        if !PV
            && self.table_decides(0)
            && let Some(entry) = known.filter(|entry| settles(entry, alpha, beta))
        {
            return entry.score;
        }

        let old_alpha = alpha;
        let raw_eval = self.raw_eval(known);
        let eval = raw_eval.map(|raw| {
            let slots = Corrections::slots(self.position.board(), &self.stack, ply);
            self.correct(raw, &slots)
        });
        let mut best_score = eval.unwrap_or(-INFINITE);
        if best_score >= beta {
            return best_score;
        }
        alpha = alpha.max(best_score);

        let rest = match in_check {
            true => Rest::All,
            false if checks && with::quiescence_checks() => Rest::Checks,
            false => Rest::Nothing,
        };
        let continuation = self.memory.history.continuation(&self.stack, ply);
        let table_move = known.and_then(|entry| entry.best);
        let info = CheckInfo::of(self.position.board());
        let mut picker = Picker::new(&self.position, table_move, [None; 3], rest, info, continuation);
        let mut best = None;
        let mut any = false;
        while let Some(mv) = picker.next(&self.position, &self.memory.history) {
            any = true;
            // A check that only gives the piece away proves nothing here.
            let gift = !in_check && !is_tactical(&self.position, mv) && !see_at_least(self.position.board(), mv, 0);
            if gift {
                continue;
            }
            // Nor is a capture looked at that would not bring the score near alpha.
            if let Some(eval) = eval
                && best_score > -CERTAIN_BOUND
                && with::quiescence_futility()
                && eval + quiescence_margin() + gain(self.position.board(), mv) <= alpha
                && !info.gives_check(self.position.board(), mv)
            {
                best_score = best_score.max(eval + quiescence_margin() + gain(self.position.board(), mv));
                continue;
            }
            self.make(ply, mv);
            let score = -self.quiescence::<PV>(-beta, -alpha, ply + 1, false);
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
        }
        if in_check && !any {
            return mated_in(ply);
        }

        let bound = Bound::of(best_score, old_alpha, beta, PV);
        self.shared.table.store(
            key,
            ply,
            Entry {
                best,
                score: best_score,
                bound,
                eval: raw_eval,
                depth: 0,
                pv: PV || known.is_some_and(|entry| entry.pv),
            },
        );
        best_score
    }
}
