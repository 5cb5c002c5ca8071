//! Plays all games of a match on several threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Instant;

use rsshogi_usi::GameResult as UsiResult;

use super::clock::TimeControl;
use super::game::{self, Played, Terms};
use super::openings::Openings;
use super::options::Wanted;
use super::player::{Patience, Player, StartError};
use super::process::UsiLog;
use super::progress::Progress;
use super::record::{GameRecord, GameResult, Header, Writer};
use super::schedule::{Schedule, Slot};
use super::sprt::Verdict;
use super::standings::Standings;
use super::supervisor::Supervisor;
use crate::engine::GameId;
use crate::position::Rules;
use crate::types::Color;

/// How often an engine is started before the match gives up.
const START_TRIES: u32 = 3;

/// Everything a match needs to know.
pub struct Match {
    /// What is played.
    pub header: Header,
    /// The game.
    pub game: GameId,
    /// Its rules.
    pub rules: Rules,
    /// The openings.
    pub openings: Openings,
    /// The games.
    pub schedule: Schedule,
    /// How many at a time.
    pub concurrency: usize,
    /// Whether engines are started for each game.
    pub restart: bool,
    /// How long to wait for engines.
    pub patience: Patience,
    /// What `self` stands for.
    pub own_program: PathBuf,
    /// Where dialogues go.
    pub usi_log: Option<PathBuf>,
    /// Who ends engines.
    pub supervisor: Arc<Supervisor>,
}

/// What came of it.
pub struct Finished {
    /// The games that count, in order.
    pub games: Vec<GameRecord>,
    /// Whether it was stopped from outside.
    pub interrupted: bool,
    /// Why it could not go on.
    pub failure: Option<String>,
}

enum Message {
    Played(Box<GameRecord>),
    Failed(String),
}

impl Match {
    /// Starts every engine once, so that a match with a wrong set-up ends before it begins.
    ///
    /// # Errors
    /// If one cannot be started.
    pub fn start_engines(&self) -> Result<Bench<'_>, StartError> {
        let mut bench = Bench::new(self, 0);
        for engine in 0..self.header.engines.len() {
            bench.players[engine] = Some(bench.take(engine)?);
        }
        Ok(bench)
    }

    /// Plays what is missing from `played`, with the engines of `first` on one of the threads.
    pub fn run(
        &self,
        first: Bench<'_>,
        played: Vec<GameRecord>,
        mut writer: Option<&mut Writer>,
        progress: &mut Progress,
        on_fault: &mut dyn FnMut(&Progress, &GameRecord),
    ) -> Finished {
        let mut ledger = Ledger::new(self, played);
        let missing: Vec<_> = (0..self.schedule.len()).filter(|number| !ledger.games.contains_key(number)).collect();
        let next = AtomicUsize::new(0);
        let mut failure = None;
        if ledger.decided_at.is_none() {
            thread::scope(|scope| {
                let (sender, messages) = mpsc::channel();
                let mut benches = vec![first];
                benches.extend((1..self.concurrency.min(missing.len())).map(|number| Bench::new(self, number)));
                for mut bench in benches {
                    let (sender, missing, next) = (sender.clone(), &missing, &next);
                    scope.spawn(move || bench.work(missing, next, &sender));
                }
                drop(sender);
                for message in messages {
                    let outcome = match message {
                        Message::Played(game) => self.enter(*game, &mut ledger, &mut writer, progress, on_fault),
                        Message::Failed(text) => Err(text),
                    };
                    if let Err(text) = outcome {
                        failure.get_or_insert(text);
                    }
                    if failure.is_some() || ledger.decided_at.is_some() {
                        // Games in progress do not count any more.
                        self.supervisor.stop();
                    }
                }
            });
        }
        let interrupted = self.supervisor.is_stopping() && ledger.decided_at.is_none() && failure.is_none();
        Finished { games: ledger.into_games(), interrupted, failure }
    }

    fn enter(
        &self,
        game: GameRecord,
        ledger: &mut Ledger<'_>,
        writer: &mut Option<&mut Writer>,
        progress: &mut Progress,
        on_fault: &mut dyn FnMut(&Progress, &GameRecord),
    ) -> Result<(), String> {
        if ledger.decided_at.is_some() {
            return Ok(());
        }
        if let Some(writer) = writer {
            writer.append(&game).map_err(|error| error.to_string())?;
        }
        if game.fault.is_some() {
            on_fault(progress, &game);
        }
        ledger.add(game);
        let first = ledger.in_order.engines.first().map(|line| line.pairs).unwrap_or_default();
        progress.update(&ledger.all, self.header.sprt.as_ref().map(|sprt| (sprt, &first)));
        Ok(())
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.header.engines.iter().map(|engine| engine.name.as_str())
    }
}

/// The games so far, in whatever order they came.
///
/// The test looks at them in the order of the schedule. Otherwise short games, which come in first, would weigh more,
/// and the end of the match would depend on how fast the machine is.
struct Ledger<'a> {
    plan: &'a Match,
    games: BTreeMap<u32, GameRecord>,
    all: Standings,
    in_order: Standings,
    /// Number of the first game that is not in `in_order`.
    next: u32,
    /// How many games there were when the test was decided.
    decided_at: Option<u32>,
}

impl<'a> Ledger<'a> {
    fn new(plan: &'a Match, played: Vec<GameRecord>) -> Self {
        let standings = Standings::new(plan.names());
        let games = BTreeMap::new();
        let mut ledger = Self { plan, games, all: standings.clone(), in_order: standings, next: 0, decided_at: None };
        played.into_iter().for_each(|game| ledger.add(game));
        ledger
    }

    fn add(&mut self, game: GameRecord) {
        self.all.add(&game);
        self.games.insert(game.game.saturating_sub(1), game);
        while let Some(game) = self.games.get(&self.next).filter(|_| self.decided_at.is_none()) {
            self.in_order.add(game);
            self.next += 1;
            let sample = self.in_order.engines.first().map(|line| line.pairs).unwrap_or_default();
            let verdict = self.plan.header.sprt.as_ref().map(|sprt| sprt.verdict(&sample));
            if matches!(verdict, Some(Verdict::H0 | Verdict::H1)) {
                self.decided_at = Some(self.next);
            }
        }
    }

    /// All games, or those up to the decision.
    fn into_games(self) -> Vec<GameRecord> {
        let end = self.decided_at.unwrap_or(u32::MAX);
        self.games.into_iter().take_while(|(number, _)| *number < end).map(|(_, game)| game).collect()
    }
}

/// The engines of one thread.
pub struct Bench<'a> {
    plan: &'a Match,
    number: usize,
    players: Vec<Option<Player>>,
    logs: Vec<Option<UsiLog>>,
}

impl<'a> Bench<'a> {
    fn new(plan: &'a Match, number: usize) -> Self {
        let count = plan.header.engines.len();
        Self { plan, number, players: (0..count).map(|_| None).collect(), logs: vec![None; count] }
    }

    /// Plays games until there are no more, or the match is stopped.
    fn work(&mut self, missing: &[u32], next: &AtomicUsize, messages: &Sender<Message>) {
        while !self.plan.supervisor.is_stopping() {
            let number = missing.get(next.fetch_add(1, Ordering::Relaxed));
            let Some(slot) = number.and_then(|number| self.plan.schedule.slot(*number)) else { break };
            let message = match self.play(&slot) {
                Ok(Some(game)) => Message::Played(Box::new(game)),
                // The engines were killed under the game.
                Ok(None) => break,
                Err(_) if self.plan.supervisor.is_stopping() => break,
                Err(text) => Message::Failed(text),
            };
            let failed = matches!(message, Message::Failed(_));
            if messages.send(message).is_err() || failed {
                break;
            }
        }
        self.players.iter_mut().filter_map(Option::take).for_each(Player::quit);
    }

    fn play(&mut self, slot: &Slot) -> Result<Option<GameRecord>, String> {
        let plan = self.plan;
        let begun = Instant::now();
        let opening = plan.openings.get(slot.opening).map_err(|error| error.to_string())?;
        let mut players = Vec::new();
        for engine in slot.players {
            players.push(self.player_for_game(engine).map_err(|error| error.to_string())?);
        }
        let (Some(mut white), Some(mut black)) = (players.pop(), players.pop()) else {
            return Err("a game needs two engines".to_owned());
        };
        let control =
            |engine: usize| -> &TimeControl { plan.header.engines[engine].tc.as_ref().unwrap_or(&plan.header.tc) };
        let terms = Terms {
            game: plan.game,
            rules: plan.rules,
            opening: &opening,
            controls: slot.players.map(control),
            ponder: plan.header.ponder,
            resign: plan.header.resign,
            draw: plan.header.draw,
        };
        for player in [&black, &white] {
            player.remark(&format!(
                "game {}: {} (sente) against {} (gote)",
                slot.number + 1,
                black.name(),
                white.name()
            ));
        }
        let played = game::play(&terms, [&mut black, &mut white])?;
        if plan.supervisor.is_stopping() && played.fault.is_some() {
            return Ok(None);
        }
        let record = record(slot, &opening.sfen, opening.moves.len(), [black.name(), white.name()], &played, begun);
        for (side, player) in Color::ALL.into_iter().zip([black, white]) {
            player.remark(&format!("game {} ended: {}", record.game, record.reason.name()));
            let failed = played.fault.as_ref().is_some_and(|(loser, _)| *loser == side);
            self.after_game(slot.players[side.index()], player, failed, played.result, side);
        }
        Ok(Some(record))
    }

    /// Keeps an engine for its next game, unless it failed or is to be started anew.
    fn after_game(&mut self, engine: usize, mut player: Player, failed: bool, result: GameResult, side: Color) {
        if failed {
            return;
        }
        let told = player.game_over(match result.half_points(side) {
            2 => UsiResult::Win,
            1 => UsiResult::Draw,
            _ => UsiResult::Lose,
        });
        if told.is_ok() {
            if self.plan.restart {
                player.quit();
            } else {
                self.players[engine] = Some(player);
            }
        }
    }

    /// Takes an engine from the bench, started and told of a new game.
    fn player_for_game(&mut self, engine: usize) -> Result<Player, StartError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let ready = self.take(engine).and_then(|mut player| player.new_game().map(|()| player));
            match ready {
                Ok(player) => return Ok(player),
                Err(error) if tries == START_TRIES || self.plan.supervisor.is_stopping() => return Err(error),
                Err(_) => {}
            }
        }
    }

    /// Takes an engine from the bench, or starts it.
    fn take(&mut self, engine: usize) -> Result<Player, StartError> {
        if let Some(player) = self.players[engine].take() {
            return Ok(player);
        }
        let plan = self.plan;
        let spec = &plan.header.engines[engine];
        let wanted =
            Wanted { game: plan.game.name(), rules: plan.rules, ponder: plan.header.ponder, options: &spec.options };
        let log = self.log(engine)?;
        Player::start(spec, &plan.own_program, &wanted, plan.patience, &plan.supervisor, log)
    }

    /// The log of an engine's dialogue; a new process goes on in the same file.
    fn log(&mut self, engine: usize) -> Result<Option<UsiLog>, StartError> {
        let Some(dir) = &self.plan.usi_log else { return Ok(None) };
        if self.logs[engine].is_none() {
            let name: String = self.plan.header.engines[engine]
                .name
                .chars()
                .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' })
                .collect();
            // The number keeps names apart that differ only in what a file name cannot hold.
            let path = dir.join(format!("{}-{name}-{}.usi", engine + 1, self.number + 1));
            let log = UsiLog::create(&path).map_err(|error| StartError::Log { path, error })?;
            self.logs[engine] = Some(log);
        }
        Ok(self.logs[engine].clone())
    }
}

fn record(slot: &Slot, sfen: &str, book_plies: usize, names: [&str; 2], played: &Played, begun: Instant) -> GameRecord {
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    GameRecord {
        game: slot.number + 1,
        pair: slot.pair + 1,
        sente: names[0].to_owned(),
        gote: names[1].to_owned(),
        sfen: sfen.to_owned(),
        book_plies,
        moves: played.moves.join(" "),
        result: played.result,
        reason: played.reason,
        scores: played.scores.clone(),
        depths: played.depths.clone(),
        nodes: played.nodes.clone(),
        // Whole microseconds; the rest is noise.
        times_ms: played.times.iter().map(|time| time.as_micros() as f64 / 1e3).collect(),
        clocks_ms: played.clocks.iter().map(|clock| clock.map(millis)).collect(),
        started_ms: played.started_ms(),
        duration_ms: millis(begun.elapsed()),
        fault: played.fault.as_ref().map(|(_, fault)| fault.clone()),
    }
}
