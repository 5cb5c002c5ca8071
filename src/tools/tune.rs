//! `kozuka tune`: tunes the numbers of the search by matches of the program against itself. Only in builds with the
//! feature `tune`, which makes these numbers options.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::ProgressBar;
use rsshogi_usi::{UsiCommand, UsiOption, UsiOptionKind};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::matches::clock::TimeControl;
use super::matches::openings::{OpeningError, Openings, Source};
use super::matches::player::{Patience, StartError};
use super::matches::progress::Progress;
use super::matches::record::{self, GameRecord, Header};
use super::matches::runner::Match;
use super::matches::schedule::{Format, Schedule};
use super::matches::setup::{EXIT_INTERRUPTED, EXIT_RAN, EXIT_WRONG, MatchError, own_program};
use super::matches::spec::EngineSpec;
use super::matches::standings::Standings;
use super::matches::supervisor::Supervisor;
use super::spsa::{Number, Spsa, Trial};
use crate::engine::GameId;
use crate::position::Rules;
use crate::usi::options::Options;

/// A game is drawn after so many plies.
const MAX_PLIES: u32 = 500;
/// Random plies of an opening where no file is given.
const RANDOM_PLIES: u32 = 4;
/// Plain lines of progress come at most this often.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Tune numbers of the search by SPSA.
#[derive(Args, Clone, Debug)]
pub struct TuneArgs {
    /// What to tune: names of search parameters, each with its perturbation and learning rate at the end, if they are
    /// not to be a twentieth of its range and 0.002
    #[arg(long, value_name = "NAME[:C_END[:R_END]]", value_delimiter = ',', required_unless_present = "resume")]
    params: Vec<Wish>,
    /// Iterations
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    iterations: u64,
    /// Pairs of games in each iteration
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pairs_per_iteration: u32,
    /// Time control, as for `kozuka match`
    #[arg(long, value_name = "TC", default_value = "nodes=5000")]
    tc: TimeControl,
    /// Openings, as for `kozuka match`; random ones if not given
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Transposition table of each engine in MiB
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
    /// Where chance begins
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Games that are played at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: u16,
    /// Where the run is saved after each iteration
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Goes on with the run in --out, by the settings that are in it
    #[arg(long, conflicts_with_all = ["params", "iterations", "pairs_per_iteration", "tc", "openings", "hash", "seed"])]
    resume: bool,
}

/// A number that is to be tuned.
#[derive(Clone, PartialEq, Debug)]
struct Wish {
    name: String,
    c_end: Option<f64>,
    r_end: Option<f64>,
}

impl FromStr for Wish {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(':');
        let name = words.next().filter(|name| !name.is_empty()).ok_or("a name is missing")?.to_owned();
        let mut positive = || -> Result<Option<f64>, String> {
            let Some(word) = words.next() else { return Ok(None) };
            let number = word.parse().ok().filter(|&number: &f64| number > 0.0 && number.is_finite());
            number.map(Some).ok_or_else(|| format!("{name}: '{word}' is no number above zero"))
        };
        let (c_end, r_end) = (positive()?, positive()?);
        match words.next() {
            None => Ok(Self { name, c_end, r_end }),
            Some(word) => Err(format!("{name}: what is '{word}'?")),
        }
    }
}

/// Why there is no tuning, or no more of it.
#[derive(Debug, Error)]
pub enum TuneError {
    /// Arguments that make no sense.
    #[error("{0}")]
    Arguments(String),
    /// Openings.
    #[error("{0}")]
    Openings(#[from] OpeningError),
    /// The engines.
    #[error("{0}")]
    Start(#[from] StartError),
    /// The match.
    #[error("{0}")]
    Match(#[from] MatchError),
    /// The operating system.
    #[error("{0}: {1}")]
    System(String, std::io::Error),
    /// The file of the run.
    #[error("{}: {error}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        error: serde_json::Error,
    },
    /// A game could not be played.
    #[error("{0}")]
    Failed(String),
}

/// A run as it is saved.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct State {
    game: String,
    pairs_per_iteration: u32,
    tc: TimeControl,
    openings: Option<PathBuf>,
    hash: u32,
    spsa: Spsa,
}

impl State {
    fn new(args: &TuneArgs, game: GameId) -> Result<Self, TuneError> {
        let mut numbers: Vec<Number> = Vec::new();
        for wish in &args.params {
            if numbers.iter().any(|number| number.name == wish.name) {
                return Err(TuneError::Arguments(format!("--params: {} is given twice", wish.name)));
            }
            numbers.push(number(wish, game)?);
        }
        let spsa = Spsa { iterations: args.iterations, done: 0, seed: args.seed, numbers };
        Ok(Self {
            game: game.name().to_owned(),
            pairs_per_iteration: args.pairs_per_iteration,
            tc: args.tc.clone(),
            openings: args.openings.clone(),
            hash: args.hash,
            spsa,
        })
    }

    fn read(path: &Path) -> Result<Self, TuneError> {
        let text = fs::read_to_string(path)
            .map_err(|error| TuneError::System(format!("cannot read {}", path.display()), error))?;
        serde_json::from_str(&text).map_err(|error| TuneError::State { path: path.to_owned(), error })
    }

    /// Replaces the file as a whole, so that there is always one that can be gone on with.
    fn write(&self, path: &Path) -> Result<(), TuneError> {
        let text =
            serde_json::to_string_pretty(self).map_err(|error| TuneError::State { path: path.to_owned(), error })?;
        let mut new = path.as_os_str().to_owned();
        new.push(".new");
        fs::write(&new, text + "\n")
            .and_then(|()| fs::rename(&new, path))
            .map_err(|error| TuneError::System(format!("cannot write {}", path.display()), error))
    }
}

/// The number that a wish means, from the options of this very program.
fn number(wish: &Wish, game: GameId) -> Result<Number, TuneError> {
    let options = Options::new(game);
    let mut spins = options.listing().filter_map(|command| match command {
        UsiCommand::Option(option) if option.kind == UsiOptionKind::Spin => Some(option),
        _ => None,
    });
    let option = spins.find(|option| option.name == wish.name);
    let option = option.ok_or_else(|| TuneError::Arguments(format!("--params: there is no '{}'", wish.name)))?;
    let bounds = |option: &UsiOption| -> Option<[i32; 3]> {
        let default = option.default.as_deref()?.parse().ok()?;
        Some([default, option.min?.try_into().ok()?, option.max?.try_into().ok()?])
    };
    let [start, min, max] = bounds(&option)
        .ok_or_else(|| TuneError::Arguments(format!("--params: {} is too large to be tuned", wish.name)))?;
    let c_end = wish.c_end.unwrap_or((f64::from(max) - f64::from(min)) / 20.0).max(0.5);
    let r_end = wish.r_end.unwrap_or(0.002);
    Ok(Number { name: wish.name.clone(), start, min, max, c_end, r_end, theta: start.into() })
}

/// Tunes, and returns the exit code. Errors are said on stderr.
pub fn run(args: &TuneArgs, game: GameId) -> u8 {
    tune(args, game).unwrap_or_else(|error| {
        eprintln!("kozuka tune: {error}");
        EXIT_WRONG
    })
}

fn tune(args: &TuneArgs, game: GameId) -> Result<u8, TuneError> {
    let mut state = if args.resume {
        State::read(&args.out)?
    } else if args.out.exists() {
        let text = format!("{} exists; go on with it by --resume, or choose another --out", args.out.display());
        return Err(TuneError::Arguments(text));
    } else {
        State::new(args, game)?
    };
    let game = state.game.parse().map_err(|error| TuneError::Arguments(format!("{}: {error}", args.out.display())))?;
    let ground = Ground::new(game, usize::from(args.concurrency))?;
    // What cannot be written to is told before the games.
    state.write(&args.out)?;
    let mut display = Display::new(&state.spsa);
    while let Some(trial) = state.spsa.trial() {
        let Some(result) = ground.play(&state, &trial)? else {
            display.finish();
            eprintln!("interrupted; --resume goes on");
            return Ok(EXIT_INTERRUPTED);
        };
        state.spsa.learn(&trial, result);
        state.write(&args.out)?;
        display.update(&state.spsa);
    }
    display.finish();
    print(&state.spsa);
    Ok(EXIT_RAN)
}

/// Prints what has become of the numbers, as lines for `src/search/params.rs`; how they have changed goes to stderr.
fn print(spsa: &Spsa) {
    let mut lines = String::new();
    for number in &spsa.numbers {
        eprintln!("{}: {} -> {:.2}", number.name, number.start, number.theta);
        lines.push_str(&format!("    {} = {} in {}..={};\n", number.name, number.value(), number.min, number.max));
    }
    // Nobody may be listening any more, and the run is on disk.
    let _ = std::io::stdout().write_all(lines.as_bytes());
}

/// Where the games are played.
struct Ground {
    game: GameId,
    rules: Rules,
    concurrency: usize,
    own_program: PathBuf,
    supervisor: Arc<Supervisor>,
}

impl Ground {
    fn new(game: GameId, concurrency: usize) -> Result<Self, TuneError> {
        let own_program = own_program()?;
        let supervisor = Supervisor::with_reaper(&own_program)
            .map_err(|error| TuneError::System("cannot watch over engines".to_owned(), error))?;
        let supervisor = Arc::new(supervisor);
        let on_signal = Arc::clone(&supervisor);
        ctrlc::set_handler(move || on_signal.stop())
            .map_err(|error| TuneError::Arguments(format!("cannot catch signals: {error}")))?;
        let rules = Rules { max_moves: MAX_PLIES, ..Rules::default() };
        Ok(Self { game, rules, concurrency, own_program, supervisor })
    }

    /// Plays the games of one iteration; returns what `plus` won less what it lost, for each pair. `None` if it was
    /// broken off.
    fn play(&self, state: &State, trial: &Trial) -> Result<Option<f64>, TuneError> {
        // Other openings in each iteration, and the same ones when it is played again.
        let seed = state.spsa.seed.wrapping_add(state.spsa.done);
        let source = match &state.openings {
            Some(path) => Source::File { path: path.clone(), shuffle: Some(seed) },
            None => Source::Random { plies: RANDOM_PLIES, seed },
        };
        let openings = Openings::load(self.game, self.rules, source)?;
        let games = state.pairs_per_iteration.saturating_mul(2);
        let engines = vec![engine("plus", state, &trial.plus), engine("minus", state, &trial.minus)];
        let plan = Match {
            header: Header {
                kozuka_match: record::VERSION,
                variant: self.game.name().to_owned(),
                sennichite: self.rules.sennichite.to_string(),
                max_plies: self.rules.max_moves,
                format: Format::RoundRobin,
                tc: state.tc.clone(),
                ponder: false,
                openings: openings.describe(),
                openings_hash: openings.hash(),
                games,
                engines,
                resign: None,
                draw: None,
                sprt: None,
            },
            game: self.game,
            rules: self.rules,
            openings,
            schedule: Schedule::new(2, Format::RoundRobin, games),
            concurrency: self.concurrency,
            restart: false,
            patience: Patience::default(),
            own_program: self.own_program.clone(),
            usi_log: None,
            supervisor: Arc::clone(&self.supervisor),
        };
        let first = match plan.start_engines() {
            Ok(first) => first,
            Err(_) if self.supervisor.is_stopping() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut fault = None;
        let mut on_fault = |_: &Progress, game: &GameRecord| fault = game.fault.clone();
        let finished = plan.run(first, Vec::new(), None, &mut Progress::silent(), &mut on_fault);
        if let Some(text) = finished.failure {
            return Err(TuneError::Failed(text));
        }
        if finished.interrupted {
            return Ok(None);
        }
        if let Some(fault) = fault {
            let text = format!("{}: {}\n  {}\n  {}", fault.engine, fault.detail, fault.position, fault.go);
            return Err(TuneError::Failed(text));
        }
        let mut standings = Standings::new(["plus", "minus"]);
        finished.games.iter().for_each(|game| standings.add(game));
        let plus = &standings.engines[0];
        Ok(Some((f64::from(plus.wins) - f64::from(plus.losses)) / f64::from(state.pairs_per_iteration)))
    }
}

fn engine(name: &str, state: &State, values: &[i32]) -> EngineSpec {
    let numbers = state.spsa.numbers.iter().zip(values);
    let mut options: Vec<_> = numbers.map(|(number, value)| (number.name.clone(), value.to_string())).collect();
    options.push(("USI_Hash".to_owned(), state.hash.to_string()));
    EngineSpec { name: name.to_owned(), cmd: "self".to_owned(), dir: None, options, tc: None, swapped_clocks: false }
}

/// How far the run has come: one moving line in a terminal, plain lines elsewhere, on stderr.
struct Display {
    bar: Option<ProgressBar>,
    started: Instant,
    before: u64,
    last_plain: Option<Instant>,
}

impl Display {
    fn new(spsa: &Spsa) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(spsa.iterations).with_position(spsa.done));
        Self { bar, started: Instant::now(), before: spsa.done, last_plain: None }
    }

    fn update(&mut self, spsa: &Spsa) {
        if let Some(bar) = &self.bar {
            bar.set_position(spsa.done);
            return;
        }
        if spsa.done < spsa.iterations && self.last_plain.is_some_and(|at| at.elapsed() < PLAIN_INTERVAL) {
            return;
        }
        self.last_plain = Some(Instant::now());
        let each = self.started.elapsed().as_secs_f64() / (spsa.done - self.before).max(1) as f64;
        let left = each * (spsa.iterations - spsa.done) as f64 / 60.0;
        let numbers: Vec<_> =
            spsa.numbers.iter().map(|number| format!("{} {:.1}", number.name, number.theta)).collect();
        eprintln!("{}/{}  {}  {left:.0} min left", spsa.done, spsa.iterations, numbers.join("  "));
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read() {
        let wish = |text: &str| text.parse::<Wish>();
        assert_eq!(wish("x"), Ok(Wish { name: "x".to_owned(), c_end: None, r_end: None }));
        assert_eq!(wish("x:3:0.01"), Ok(Wish { name: "x".to_owned(), c_end: Some(3.0), r_end: Some(0.01) }));
        for text in ["", ":3", "x:", "x:0", "x:-1", "x:inf", "x:1:2:3", "x:1:y"] {
            assert!(wish(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_come_from_the_options() {
        let wish = |name: &str| Wish { name: name.to_owned(), c_end: None, r_end: None };
        let threads = number(&wish("Threads"), GameId::Minishogi).expect("a number");
        assert_eq!((threads.start, threads.min, threads.max, threads.theta), (1, 1, 512, 1.0));
        assert!((threads.c_end - 25.55).abs() < 1e-9 && threads.r_end == 0.002);
        assert!(number(&wish("Sennichite"), GameId::Minishogi).is_err());
        assert!(number(&wish("no_such_number"), GameId::Minishogi).is_err());
    }

    #[test]
    fn a_run_is_saved_and_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state.json");
        let spsa = Spsa { iterations: 5, done: 2, seed: 1, numbers: Vec::new() };
        let state = State {
            game: "minishogi".to_owned(),
            pairs_per_iteration: 2,
            tc: "nodes=100".parse().expect("a time control"),
            openings: None,
            hash: 1,
            spsa,
        };
        state.write(&path).expect("written");
        state.write(&path).expect("written over");
        assert_eq!(State::read(&path).expect("read"), state);
        fs::write(&path, "{").expect("written");
        assert!(State::read(&path).is_err());
    }
}
