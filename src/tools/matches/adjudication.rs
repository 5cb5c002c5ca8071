//! Ending a game early when both engines agree about it.

use rsshogi_usi::{MateScore, ScoreValue};
use serde::{Deserialize, Serialize};

use crate::types::Color;

/// A game is won when both engines, for that many of their moves in a row, saw the same side ahead by that much.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ResignRule {
    /// Moves of each side, at least 1.
    pub moves: u32,
    /// In centipawns, above 0.
    pub score: i32,
}

/// A game is drawn when both engines, for that many of their moves in a row, saw a score this close to 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DrawRule {
    /// Moves of each side, at least 1.
    pub moves: u32,
    /// In centipawns, not below 0.
    pub score: i32,
    /// From which ply on (moves of the opening not counted) a draw is given.
    pub from: u32,
}

/// How a game is ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ruling {
    /// That side wins.
    Win(Color),
    /// A draw.
    Draw,
}

/// Follows the scores of one game.
#[derive(Clone, Debug)]
pub struct Adjudicator {
    resign: Option<ResignRule>,
    draw: Option<DrawRule>,
    ply: u32,
    leader: Option<Color>,
    leading: u32,
    level: u32,
}

impl Adjudicator {
    /// With the rules that are in force.
    pub fn new(resign: Option<ResignRule>, draw: Option<DrawRule>) -> Self {
        Self { resign, draw, ply: 0, leader: None, leading: 0, level: 0 }
    }

    /// Notes the score that `mover` gave with its move, seen from its own side; no score breaks every row.
    pub fn note(&mut self, mover: Color, score: Option<i32>) -> Option<Ruling> {
        self.ply += 1;
        if let Some(rule) = self.resign {
            let leader =
                score.filter(|score| score.abs() >= rule.score).map(|score| if score > 0 { mover } else { !mover });
            self.leading =
                if leader.is_some() && leader == self.leader { self.leading + 1 } else { u32::from(leader.is_some()) };
            self.leader = leader;
            if let Some(winner) = leader.filter(|_| self.leading >= rule.moves.saturating_mul(2)) {
                return Some(Ruling::Win(winner));
            }
        }
        if let Some(rule) = self.draw {
            self.level = if score.is_some_and(|score| score.abs() <= rule.score) { self.level + 1 } else { 0 };
            if self.level >= rule.moves.saturating_mul(2) && self.ply >= rule.from {
                return Some(Ruling::Draw);
            }
        }
        None
    }
}

/// One number for a score: centipawns, and beyond all of them mates, the nearer the larger.
pub fn score_number(score: &ScoreValue) -> i32 {
    const MATE: i32 = 1_000_000;
    match score {
        ScoreValue::Cp(cp) => (*cp).clamp(-MATE / 2, MATE / 2),
        ScoreValue::Mate(MateScore::Ply(ply)) if *ply > 0 => MATE - (*ply).min(MATE / 4),
        // `mate 0` is said by the side that is mated.
        ScoreValue::Mate(MateScore::Ply(ply)) => -MATE - (*ply).max(-MATE / 4),
        ScoreValue::Mate(MateScore::UnknownWin) => MATE / 2 + 1,
        ScoreValue::Mate(MateScore::UnknownLose) => -MATE / 2 - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESIGN: Option<ResignRule> = Some(ResignRule { moves: 2, score: 500 });
    const DRAW: Option<DrawRule> = Some(DrawRule { moves: 2, score: 10, from: 6 });

    fn run(resign: Option<ResignRule>, draw: Option<DrawRule>, scores: &[Option<i32>]) -> Option<(usize, Ruling)> {
        let mut adjudicator = Adjudicator::new(resign, draw);
        let mut mover = Color::Black;
        for (ply, score) in scores.iter().enumerate() {
            if let Some(ruling) = adjudicator.note(mover, *score) {
                return Some((ply + 1, ruling));
            }
            mover = !mover;
        }
        None
    }

    #[test]
    fn both_must_agree_for_long_enough() {
        let agreed = [Some(600), Some(-700), Some(500), Some(-500)];
        assert_eq!(run(RESIGN, None, &agreed), Some((4, Ruling::Win(Color::Black))));
        assert_eq!(run(RESIGN, None, &agreed[..3]), None);
        let alone = [Some(600), Some(0), Some(600), Some(0), Some(600), Some(0)];
        assert_eq!(run(RESIGN, None, &alone), None);
        let opposed = [Some(600), Some(600), Some(600), Some(600), Some(600)];
        assert_eq!(run(RESIGN, None, &opposed), None);
        let broken = [Some(600), Some(-700), None, Some(-700), Some(600), Some(-700), Some(600)];
        assert_eq!(run(RESIGN, None, &broken), Some((7, Ruling::Win(Color::Black))));
    }

    #[test]
    fn draws_wait_for_their_ply() {
        let level = [Some(0); 8];
        assert_eq!(run(None, DRAW, &level), Some((6, Ruling::Draw)));
        let late = [Some(90), Some(90), Some(90), Some(90), Some(3), Some(-3), Some(10), Some(-10)];
        assert_eq!(run(None, DRAW, &late), Some((8, Ruling::Draw)));
    }

    #[test]
    fn nothing_happens_by_default() {
        assert_eq!(run(None, None, &[Some(0); 100]), None);
        assert_eq!(run(None, None, &[Some(30_000); 100]), None);
    }

    #[test]
    fn mates_outweigh_centipawns_and_near_ones_far_ones() {
        let mate = |ply| score_number(&ScoreValue::Mate(MateScore::Ply(ply)));
        assert!(mate(1) > mate(9) && mate(9) > score_number(&ScoreValue::Cp(i32::MAX)));
        assert!(mate(-1) < mate(-9) && mate(0) < mate(-1) && mate(-9) < score_number(&ScoreValue::Cp(i32::MIN)));
        assert!(mate(i32::MIN) < 0 && mate(i32::MAX) > 0);
    }
}
