//! One game: the referee.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rsshogi_usi::{BestMoveKind, PositionSpec};

use super::adjudication::{Adjudicator, DrawRule, ResignRule, Ruling};
use super::clock::{Clock, TimeControl, go_params};
use super::info::Score;
use super::openings::Opening;
use super::player::{Answer, Fault, FaultKind, Player};
use super::record::{FaultRecord, GameResult, Reason};
use crate::engine::{AnyPosition, GameId};
use crate::position::Rules;
use crate::types::Color;

/// What a game is played under.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The game.
    pub game: GameId,
    /// Its rules.
    pub rules: Rules,
    /// Where it starts.
    pub opening: &'a Opening,
    /// The time controls of Black and White.
    pub controls: [&'a TimeControl; 2],
    /// Whether engines may think on their opponent's time.
    pub ponder: bool,
    /// Early wins.
    pub resign: Option<ResignRule>,
    /// Early draws.
    pub draw: Option<DrawRule>,
}

/// A game that has been played.
#[derive(Clone, PartialEq, Debug)]
pub struct Played {
    /// Who won.
    pub result: GameResult,
    /// Why.
    pub reason: Reason,
    /// All moves, those of the opening included.
    pub moves: Vec<String>,
    /// What the engines said, move by move.
    pub scores: Vec<Option<Score>>,
    /// Depths reached.
    pub depths: Vec<Option<u32>>,
    /// Nodes searched.
    pub nodes: Vec<Option<u64>>,
    /// Time of each move.
    pub times: Vec<Duration>,
    /// The mover's clock after each move.
    pub clocks: Vec<Option<Duration>>,
    /// When it started.
    pub started: SystemTime,
    /// Whose failure ended it, and what is known about it.
    pub fault: Option<(Color, FaultRecord)>,
}

impl Played {
    /// The start in milliseconds since 1970.
    pub fn started_ms(&self) -> u64 {
        let since = self.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn note(&mut self, mv: String, answer: &Answer, clock: &Clock) {
        self.moves.push(mv);
        self.scores.push(answer.thought.score.clone());
        self.depths.push(answer.thought.depth);
        self.nodes.push(answer.thought.nodes);
        self.times.push(answer.elapsed);
        self.clocks.push(clock.remaining());
    }
}

/// How a game ends.
struct End {
    winner: Option<Color>,
    reason: Reason,
    fault: Option<Fault>,
}

/// Plays a game. Both engines must be ready for a new one; whether they are after it is for `game_over` to say.
///
/// # Errors
/// If the opening is none, in words.
pub fn play(terms: &Terms<'_>, players: [&mut Player; 2]) -> Result<Played, String> {
    let mut position =
        AnyPosition::from_sfen(terms.game, &terms.opening.sfen, terms.rules).map_err(|error| error.to_string())?;
    for mv in &terms.opening.moves {
        position.play(mv).map_err(|error| error.to_string())?;
    }
    let mut table = Table {
        terms,
        start: terms.opening.spec(terms.game),
        position,
        clocks: terms.controls.map(Clock::new),
        adjudicator: Adjudicator::new(terms.resign, terms.draw),
        players,
        played: Played {
            result: GameResult::Draw,
            reason: Reason::MaxPlies,
            moves: terms.opening.moves.clone(),
            scores: Vec::new(),
            depths: Vec::new(),
            nodes: Vec::new(),
            times: Vec::new(),
            clocks: Vec::new(),
            started: SystemTime::now(),
            fault: None,
        },
    };
    let end = loop {
        if let Some(end) = table.turn() {
            break end;
        }
    };
    Ok(table.finish(end))
}

struct Table<'a> {
    terms: &'a Terms<'a>,
    start: PositionSpec,
    position: AnyPosition,
    clocks: [Clock; 2],
    adjudicator: Adjudicator,
    players: [&'a mut Player; 2],
    played: Played,
}

impl Table<'_> {
    /// One move, and whether it ended the game.
    fn turn(&mut self) -> Option<End> {
        let mover = self.position.side_to_move();
        let go = go_params(&self.clocks, mover);
        let budget = self.clocks[mover.index()].budget();
        let answer = match self.players[mover.index()].think(&self.start, &self.played.moves, go, budget) {
            Ok(answer) => answer,
            Err(fault) => return Some(lost(mover, fault)),
        };
        let mv = match &answer.best {
            BestMoveKind::Move(mv) => mv.clone(),
            BestMoveKind::Resign => return Some(End { winner: Some(!mover), reason: Reason::Resign, fault: None }),
            BestMoveKind::Win if self.position.can_declare_win() => {
                return Some(End { winner: Some(mover), reason: Reason::Declaration, fault: None });
            }
            BestMoveKind::Win => {
                return Some(lost(
                    mover,
                    Fault::new(FaultKind::IllegalMove, "it declared a win that it does not have"),
                ));
            }
        };
        if let Err(error) = self.position.play(&mv) {
            return Some(lost(mover, Fault::new(FaultKind::IllegalMove, error.to_string())));
        }
        let clock = &mut self.clocks[mover.index()];
        clock.spend(answer.elapsed);
        self.played.note(mv, &answer, clock);
        if let Some(outcome) = self.position.outcome() {
            return Some(End { winner: outcome.winner, reason: outcome.reason.into(), fault: None });
        }
        let score = answer.thought.score.as_ref().map(Score::number);
        if let Some(ruling) = self.adjudicator.note(mover, score) {
            let winner = match ruling {
                Ruling::Win(winner) => Some(winner),
                Ruling::Draw => None,
            };
            return Some(End { winner, reason: Reason::Adjudication, fault: None });
        }
        if self.terms.ponder {
            self.ponder(mover, answer.ponder);
        }
        None
    }

    /// Lets the side that has just moved think on, if it expects a reply after which there is something to think about.
    fn ponder(&mut self, mover: Color, expected: Option<String>) {
        let Some(expected) = expected else { return };
        if self.position.play(&expected).is_err() {
            return;
        }
        let over = self.position.outcome().is_some();
        self.position.undo();
        if !over {
            let mut moves = self.played.moves.clone();
            moves.push(expected);
            self.players[mover.index()].ponder(&self.start, &moves, go_params(&self.clocks, mover));
        }
    }

    fn finish(mut self, end: End) -> Played {
        self.played.result = GameResult::of(end.winner);
        self.played.reason = end.reason;
        if let (Some(fault), Some(winner)) = (end.fault, end.winner) {
            let player = &self.players[(!winner).index()];
            let (position, go) = player.last_commands();
            let record = FaultRecord {
                engine: player.name().to_owned(),
                detail: fault.detail,
                position: position.to_owned(),
                go: go.to_owned(),
                stderr: player.stderr_tail(),
            };
            self.played.fault = Some((!winner, record));
        }
        self.played
    }
}

fn lost(loser: Color, fault: Fault) -> End {
    let reason = match fault.kind {
        FaultKind::TimeForfeit => Reason::TimeForfeit,
        FaultKind::NoAnswer => Reason::NoAnswer,
        FaultKind::IllegalMove => Reason::IllegalMove,
        FaultKind::Crash => Reason::Crash,
        FaultKind::Disconnect => Reason::Disconnect,
    };
    End { winner: Some(!loser), reason, fault: Some(fault) }
}
