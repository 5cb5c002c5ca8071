//! From arguments to a match, and from a match to an exit code.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::cli::MatchArgs;
use super::export::{self, ExportError};
use super::openings::{OpeningError, Openings, Source};
use super::player::{Patience, StartError};
use super::plot::{self, PlotError};
use super::progress::Progress;
use super::record::{self, GameRecord, Header, Record, RecordError, Writer};
use super::runner::{Bench, Match};
use super::schedule::Schedule;
use super::spec::{self, EngineSpec, SpecError};
use super::sprt::Verdict;
use super::standings::Standings;
use super::summary::{self, Summary};
use super::supervisor::{self, Supervisor};
use crate::engine::GameId;
use crate::position::Rules;

/// The match ran.
pub const EXIT_RAN: u8 = 0;
/// The arguments are wrong, or an engine could not be started.
pub const EXIT_WRONG: u8 = 1;
/// The test accepted H0.
pub const EXIT_H0: u8 = 2;
/// The match was interrupted.
pub const EXIT_INTERRUPTED: u8 = 130;

/// Why there was no match, or no whole one.
#[derive(Debug, Error)]
pub enum MatchError {
    /// Arguments that make no sense together.
    #[error("{0}")]
    Arguments(String),
    /// Words of the form `key=value`.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// Openings.
    #[error("{0}")]
    Openings(#[from] OpeningError),
    /// Engines.
    #[error("{0}")]
    Start(#[from] StartError),
    /// Records.
    #[error("{0}")]
    Record(#[from] RecordError),
    /// KIF or CSA.
    #[error("{0}")]
    Export(#[from] ExportError),
    /// The picture.
    #[error("{0}")]
    Plot(#[from] PlotError),
    /// The operating system.
    #[error("{0}: {1}")]
    System(String, std::io::Error),
}

/// Does what the arguments ask for and returns the exit code. Errors are said on stderr.
pub fn run(args: &MatchArgs, game: GameId) -> u8 {
    if args.reaper {
        supervisor::reap();
        return EXIT_RAN;
    }
    let code = match &args.report {
        Some(path) => report(args, path),
        None => play(args, game),
    };
    code.unwrap_or_else(|error| {
        eprintln!("kozuka match: {error}");
        EXIT_WRONG
    })
}

fn report(args: &MatchArgs, path: &Path) -> Result<u8, MatchError> {
    let Record { header, mut games, .. } = record::read(path)?;
    games.sort_by_key(|game| game.game);
    show(args, &header, &games)?;
    Ok(EXIT_RAN)
}

fn play(args: &MatchArgs, game: GameId) -> Result<u8, MatchError> {
    let rules = Rules { sennichite: args.sennichite, max_moves: args.max_plies };
    let openings = Openings::load(game, rules, source(args))?;
    let header = header(args, game, rules, &openings)?;
    let schedule = Schedule::new(header.engines.len(), header.format, header.games);
    let recorded = recorded(args, &header, &schedule)?;
    for dir in [&args.usi_log, &args.kif, &args.csa].into_iter().flatten() {
        let error = |error| MatchError::System(format!("cannot make {}", dir.display()), error);
        std::fs::create_dir_all(dir).map_err(error)?;
    }
    // A path that cannot be written to is told before the games, not after them.
    for path in [&args.plot, &args.log].into_iter().flatten() {
        let error = |error| MatchError::System(format!("cannot write {}", path.display()), error);
        OpenOptions::new().create(true).append(true).open(path).map_err(error)?;
    }

    let own_program = own_program()?;
    let supervisor = Supervisor::with_reaper(&own_program)
        .map_err(|error| MatchError::System("cannot watch over engines".to_owned(), error))?;
    let supervisor = Arc::new(supervisor);
    let on_signal = Arc::clone(&supervisor);
    ctrlc::set_handler(move || on_signal.stop())
        .map_err(|error| MatchError::Arguments(format!("cannot catch signals: {error}")))?;

    let plan = Match {
        header,
        game,
        rules,
        openings,
        schedule,
        concurrency: usize::from(args.concurrency),
        restart: args.restart,
        patience: Patience {
            start: Duration::from_secs(args.start_timeout),
            unclocked_move: Duration::from_secs(args.move_timeout),
            stop: Duration::from_millis(args.stop_timeout),
            margin: args.time_margin.map(Duration::from_millis),
        },
        own_program,
        usi_log: args.usi_log.clone(),
        supervisor,
    };
    let first = match plan.start_engines() {
        Ok(first) => first,
        Err(_) if plan.supervisor.is_stopping() => return Ok(EXIT_INTERRUPTED),
        Err(error) => return Err(error.into()),
    };
    play_and_show(args, &plan, first, recorded)
}

fn play_and_show(args: &MatchArgs, plan: &Match, first: Bench<'_>, recorded: Option<Record>) -> Result<u8, MatchError> {
    let mut writer = match (&args.out, &recorded) {
        (Some(path), Some(record)) => Some(Writer::resume(path, record)?),
        (Some(path), None) => Some(Writer::create(path, &plan.header)?),
        (None, _) => None,
    };
    let played = recorded.map(|record| record.games).unwrap_or_default();
    let mut progress = Progress::new(plan.schedule.len(), u32::try_from(played.len()).unwrap_or(u32::MAX));
    warn_of_repeats(plan, &progress);
    let mut on_fault = |progress: &Progress, game: &GameRecord| {
        let text = fault_text(game);
        progress.note(&text);
        if let Some(path) = &args.log {
            let file = OpenOptions::new().create(true).append(true).open(path);
            if let Err(error) = file.and_then(|mut file| writeln!(file, "{text}")) {
                progress.note(&format!("cannot write {}: {error}", path.display()));
            }
        }
    };
    let finished = plan.run(first, played, writer.as_mut(), &mut progress, &mut on_fault);
    progress.finish();
    let written =
        writer.map_or(Ok(()), |writer| writer.finish(&plan.header, &finished.games.iter().collect::<Vec<_>>()));
    // What was played is shown even where it could not be kept.
    let verdict = show(args, &plan.header, &finished.games)?;
    written?;
    if let Some(failure) = finished.failure {
        return Err(MatchError::Arguments(failure));
    }
    Ok(match verdict {
        _ if finished.interrupted => EXIT_INTERRUPTED,
        Some(Verdict::H0) => EXIT_H0,
        _ => EXIT_RAN,
    })
}

/// Prints the table, then draws the picture and exports the games, which may fail; returns where the test stands.
fn show(args: &MatchArgs, header: &Header, games: &[GameRecord]) -> Result<Option<Verdict>, MatchError> {
    let names: Vec<_> = header.engines.iter().map(|engine| engine.name.clone()).collect();
    let mut standings = Standings::new(names.iter().map(String::as_str));
    games.iter().for_each(|game| standings.add(game));
    let games: Vec<_> = games.iter().collect();
    let mut text = summary::table(&standings, header.sprt.as_ref());
    if args.json {
        text.push_str(&Summary::new(&standings, header.sprt.as_ref()).to_json());
        text.push('\n');
    }
    // Nobody may be listening any more, and the record is on disk by now.
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    if let Some(path) = &args.plot {
        plot::draw(path, &names, &games, header.sprt.as_ref())?;
    }
    for (dir, format) in [(&args.kif, export::Format::Kif), (&args.csa, export::Format::Csa)] {
        if let Some(dir) = dir {
            export::write_all(dir, format, header, &games)?;
        }
    }
    let sample = standings.engines.first().map(|line| line.pairs).unwrap_or_default();
    Ok(header.sprt.as_ref().map(|sprt| sprt.verdict(&sample)))
}

fn source(args: &MatchArgs) -> Source {
    match (&args.openings, args.random_plies) {
        (Some(path), _) => Source::File { path: path.clone(), shuffle: args.shuffle.then_some(args.seed) },
        (None, Some(plies)) => Source::Random { plies, seed: args.seed },
        (None, None) => Source::Start,
    }
}

fn header(args: &MatchArgs, game: GameId, rules: Rules, openings: &Openings) -> Result<Header, MatchError> {
    let engines = args.engines.0.iter().map(|words| EngineSpec::parse(words)).collect::<Result<Vec<_>, _>>()?;
    if engines.len() < 2 {
        let text = format!("a match needs two engines, and {} is given; see kozuka match --help", engines.len());
        return Err(MatchError::Arguments(text));
    }
    for (at, engine) in engines.iter().enumerate() {
        if engines[..at].iter().any(|other| other.name == engine.name) {
            return Err(MatchError::Arguments(format!(
                "two engines are called '{}'; tell them apart with name=",
                engine.name
            )));
        }
    }
    let sprt = args.sprt.as_deref().map(spec::parse_sprt).transpose()?;
    if sprt.is_some() && engines.len() > 2 {
        return Err(MatchError::Arguments("--sprt compares two engines".to_owned()));
    }
    Ok(Header {
        kozuka_match: record::VERSION,
        variant: game.name().to_owned(),
        sennichite: rules.sennichite.to_string(),
        max_plies: rules.max_moves,
        format: args.tournament,
        tc: args.tc.clone(),
        ponder: args.ponder,
        openings: openings.describe(),
        openings_hash: openings.hash(),
        games: args.games.unwrap_or(if sprt.is_some() { 100_000 } else { 100 }),
        engines,
        resign: args.resign.as_deref().map(spec::parse_resign).transpose()?,
        draw: args.draw.as_deref().map(spec::parse_draw).transpose()?,
        sprt,
    })
}

/// The record to go on with, if there is to be one.
fn recorded(args: &MatchArgs, header: &Header, schedule: &Schedule) -> Result<Option<Record>, MatchError> {
    let Some(path) = args.out.as_ref().filter(|path| path.exists()) else { return Ok(None) };
    if path.is_dir() {
        return Err(MatchError::Arguments(format!("{} is a directory; --out names a file", path.display())));
    }
    if !args.resume {
        let text = format!("{} exists; go on with it by --resume, or choose another --out", path.display());
        return Err(MatchError::Arguments(text));
    }
    let record = record::read(path)?;
    let other = differences(&record.header, header);
    if !other.is_empty() {
        let text = format!("{} was played with other settings: {}", path.display(), other.join(", "));
        return Err(MatchError::Arguments(text));
    }
    let last = record.games.iter().map(|game| game.game).max().unwrap_or(0);
    if last > schedule.len() {
        let text = format!(
            "{} holds game {last}, and --games {} would leave games out; ask for as many as it was played with, or more",
            path.display(),
            header.games
        );
        return Err(MatchError::Arguments(text));
    }
    let mut seen = std::collections::HashSet::new();
    for game in &record.games {
        let slot = game.game.checked_sub(1).and_then(|number| schedule.slot(number));
        let name = |engine: usize| header.engines.get(engine).map(|engine| engine.name.as_str());
        let fits = slot.is_some_and(|slot| {
            slot.pair + 1 == game.pair
                && slot.players.map(name) == [Some(game.sente.as_str()), Some(game.gote.as_str())]
        });
        if !fits || !seen.insert(game.game) {
            let text = format!("{}: game {} is no game of this match, or is there twice", path.display(), game.game);
            return Err(MatchError::Arguments(text));
        }
    }
    Ok(Some(record))
}

/// The settings in which two matches differ; the number of games may, so that a match can be made longer.
fn differences(one: &Header, other: &Header) -> Vec<String> {
    let fields = |header: &Header| match serde_json::to_value(header) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (one, other) = (fields(one), fields(other));
    other
        .iter()
        .filter(|(key, value)| *key != "games" && one.get(*key) != Some(value))
        .map(|(key, _)| key.clone())
        .collect()
}

/// The path of this very program. On Linux it stays the same program even if the file is replaced during the match.
///
/// # Errors
/// If the system does not tell.
pub fn own_program() -> Result<PathBuf, MatchError> {
    let linked = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    if cfg!(target_os = "linux") && linked.exists() {
        return Ok(linked);
    }
    std::env::current_exe().map_err(|error| MatchError::System("cannot find this program".to_owned(), error))
}

fn warn_of_repeats(plan: &Match, progress: &Progress) {
    let rounds = plan.header.games.div_ceil(2) as usize;
    if let Some(count) = plan.openings.count().filter(|count| *count < rounds && plan.header.sprt.is_none()) {
        progress.note(&format!("note: {rounds} pairs of games, but {count} openings; openings repeat"));
    }
}

/// What is known about a failure, for the log.
fn fault_text(game: &GameRecord) -> String {
    let Some(fault) = &game.fault else { return String::new() };
    let mut text = format!(
        "game {}, {} against {}: {} loses by {}: {}\n  {}\n  {}",
        game.game,
        game.sente,
        game.gote,
        fault.engine,
        game.reason.name(),
        fault.detail,
        fault.position,
        fault.go
    );
    for line in &fault.stderr {
        text.push_str("\n  stderr: ");
        text.push_str(line);
    }
    text
}
