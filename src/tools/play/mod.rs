//! `kozuka play`: a game in the terminal, for people without a GUI.

mod board;
mod command;
mod console;
mod game;
mod opponent;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};
use thiserror::Error;

use board::{Pieces, draw};
use command::{Command, Humans};
use console::Console;
use game::{End, Game};
use opponent::{NoThought, Opponent};

use crate::engine::{GameId, Reply};
use crate::position::{Rules, Sennichite};
use crate::search::{Level, Limits, MAX_THREADS, SearchOptions};
use crate::types::score::mate_distance;
use crate::types::{Color, Score};

/// Play a game in the terminal.
#[derive(Args, Clone, Debug)]
#[command(after_help = "In the game, 'help' lists what can be typed.")]
pub struct PlayArgs {
    /// What you play: sente, gote, both or none
    #[arg(long, value_name = "SIDE", default_value = "sente", value_parser = Humans::parse)]
    side: Humans,
    /// How strong the engine plays: 0 to 20, easy, medium or hard
    #[arg(long, value_name = "LEVEL", default_value = "20")]
    level: Level,
    /// Seconds for each of the engine's moves; levels below 20 seldom need them
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds)]
    time: Duration,
    /// Nodes for each of the engine's moves, instead of time
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Makes the mistakes of low levels repeatable
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Goes on with the game in FILE, which `save` writes to
    #[arg(long, value_name = "FILE")]
    load: Option<PathBuf>,
    /// Begins with this position: SFEN, or startpos, optionally followed by moves
    #[arg(long, value_name = "SFEN", conflicts_with = "load")]
    sfen: Option<String>,
    /// The start position, --sennichite and --max-plies of a page of rules; those that are given hold nevertheless
    #[arg(long, value_enum, value_name = "RULES", default_value_t)]
    rules: RulesPage,
    /// What the fourth occurrence of a position means: sente-loses, draw or attacker-deviates [default: sente-loses]
    #[arg(long, value_name = "RULE")]
    sennichite: Option<Sennichite>,
    /// Draws the game after that many plies; 0 for never [default: 0]
    #[arg(long, value_name = "PLIES")]
    max_plies: Option<u32>,
    /// Size of the transposition table in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
    /// Search threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS as i64))]
    threads: u16,
    /// How pieces are drawn
    #[arg(long, value_enum, default_value_t)]
    pieces: Pieces,
}

/// Rules that go by a name.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum RulesPage {
    /// Those of lishogi and of nearly everybody
    #[default]
    Usual,
    /// kawu's: the pawns stand before the rooks, repetition is a draw, and so is a game of 300 plies
    Kawu,
}

impl RulesPage {
    fn rules(self) -> Rules {
        match self {
            Self::Usual => Rules::default(),
            Self::Kawu => Rules { sennichite: Sennichite::Draw, max_moves: 300 },
        }
    }

    /// Where it is not the usual start of the game.
    fn start(self) -> Option<&'static str> {
        match self {
            Self::Usual => None,
            Self::Kawu => Some("rbsgk/p4/5/4P/KGSBR b - 1"),
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=3_600.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("seconds are 0.01 to 3600".to_owned()),
    }
}

/// Why there is no game, or no more of it.
#[derive(Debug, Error)]
pub enum PlayError {
    /// The position to begin with.
    #[error("{0}")]
    Start(String),
    /// The terminal, or whatever stands in for it.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The system does not let signals be caught.
    #[error("cannot catch signals: {0}")]
    Signals(#[from] ctrlc::Error),
    /// The search has failed.
    #[error("the search failed")]
    Search,
}

/// Plays until the player has had enough. Everything is written to standard output; colors only in a terminal, and not
/// if `NO_COLOR` is set.
///
/// # Errors
/// See [`PlayError`].
pub fn run(args: &PlayArgs, id: GameId) -> Result<(), PlayError> {
    if args.rules == RulesPage::Kawu && id != GameId::Minishogi {
        return Err(PlayError::Start("kawu's rules are those of minishogi".to_owned()));
    }
    let named = args.rules.rules();
    let rules = Rules {
        sennichite: args.sennichite.unwrap_or(named.sennichite),
        max_moves: args.max_plies.unwrap_or(named.max_moves),
    };
    let game = match (&args.load, args.sfen.as_deref().or(args.rules.start())) {
        (Some(path), _) => load(path, id, rules),
        (None, Some(sfen)) => Game::read(id, rules, sfen),
        (None, None) => Ok(Game::new(id, rules)),
    };
    let game = game.map_err(PlayError::Start)?;
    let limits = match args.nodes {
        Some(nodes) => Limits::nodes(nodes),
        None => Limits { movetime: Some(args.time), ..Limits::default() },
    };
    let options = SearchOptions {
        hash_mib: args.hash as usize,
        threads: args.threads.into(),
        move_overhead: Duration::ZERO,
        level_seed: args.seed,
        ..SearchOptions::default()
    };
    let console = Console::new()?;
    let interrupt = Interrupt::default();
    if console.is_terminal() {
        interrupt.catch()?;
    }
    let mut table = Table {
        opponent: Opponent::new(&game, limits, options),
        game,
        console,
        out: anstream::stdout(),
        interrupt,
        humans: args.side,
        level: args.level,
        turned: false,
        pieces: args.pieces,
        file: args.load.clone(),
    };
    table.play()
}

/// What Ctrl-C does while no line is being edited: it breaks the engine's thought off, or else ends the process.
#[derive(Clone, Default)]
struct Interrupt {
    thinking: Arc<AtomicBool>,
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    fn catch(&self) -> Result<(), ctrlc::Error> {
        let own = self.clone();
        ctrlc::set_handler(move || {
            own.asked.store(true, Ordering::Relaxed);
            if !own.thinking.load(Ordering::Relaxed) {
                process::exit(130);
            }
        })
    }
}

fn load(path: &Path, id: GameId, rules: Rules) -> Result<Game, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let line = line.ok_or_else(|| format!("{}: there is no game in it", path.display()))?;
    Game::read(id, rules, line).map_err(|error| format!("{}: {error}", path.display()))
}

struct Table<W: Write> {
    game: Game,
    opponent: Opponent,
    console: Console,
    out: W,
    interrupt: Interrupt,
    humans: Humans,
    level: Level,
    /// Whether the player has turned the board round.
    turned: bool,
    pieces: Pieces,
    /// The file that the game was loaded from or saved to.
    file: Option<PathBuf>,
}

impl<W: Write> Table<W> {
    fn play(&mut self) -> Result<(), PlayError> {
        let welcome = match self.humans.only_side() {
            Some(side) => format!("You play {}, Kozuka plays at level {}.", side.name(), self.level.number()),
            None => format!("Kozuka's level is {}.", self.level.number()),
        };
        writeln!(self.out, "{welcome} Type a move such as {}, or 'help'.", self.example())?;
        let mut shown = None;
        loop {
            if !self.game.is_over() && !self.humans.play(self.game.position().side_to_move()) {
                if !self.engine_moves()? {
                    break;
                }
                continue;
            }
            // Whatever changed the position, the player sees it before he is asked.
            let line = self.game.line();
            if shown.as_ref() != Some(&line) {
                self.show()?;
                shown = Some(line);
            }
            let words = command::words().map(str::to_owned).chain(self.game.position().legal_moves());
            let prompt = format!("{}> ", self.game.position().side_to_move().name());
            let Some(line) = self.console.read(&prompt, words)? else { break };
            match command::parse(&line) {
                Ok(Command::Quit) => break,
                Ok(command) => {
                    use Command::{Board, Flip, Go, Load, New, Undo};
                    if let Undo | New | Board | Flip | Go | Load(_) = command {
                        shown = None;
                    }
                    match self.obey(command)? {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(text) => self.complain(&text)?,
                    }
                }
                Err(text) => self.complain(&text)?,
            }
        }
        if !self.game.moves().is_empty() {
            writeln!(self.out, "The game: {}", self.game.line())?;
        }
        self.out.flush()?;
        Ok(())
    }

    /// Any legal move, to show what moves look like.
    fn example(&self) -> String {
        let moves = self.game.position().legal_moves();
        moves.into_iter().next().unwrap_or_else(|| "4e4d".to_owned())
    }

    fn complain(&mut self, text: &str) -> io::Result<()> {
        let style = Style::new().fg_color(Some(AnsiColor::Red.into()));
        writeln!(self.out, "{style}{text}{style:#}")
    }

    fn show(&mut self) -> io::Result<()> {
        let own = self.humans.only_side().unwrap_or(Color::Black);
        let bottom = if self.turned { !own } else { own };
        let position = self.game.position();
        let last = self.game.moves().last().map(String::as_str);
        let text = draw(&position.sfen(), last, bottom, self.pieces);
        write!(self.out, "\n{text}")?;
        let (side, check) = (position.side_to_move(), position.in_check());
        match self.game.result() {
            Some(result) => writeln!(self.out, "{result} 'new', 'undo', 'save FILE' or 'quit'?")?,
            None => writeln!(self.out, "{} to move{}.", side.name(), if check { ", in check" } else { "" })?,
        }
        self.out.flush()
    }

    /// Lets the engine move; `false` if the player wants to end.
    fn engine_moves(&mut self) -> Result<bool, PlayError> {
        let side = self.game.position().side_to_move();
        let Some(thought) = self.think(self.level)? else { return Ok(false) };
        match thought.reply {
            Reply::Move { best, .. } => {
                writeln!(self.out, "Kozuka plays {best}.")?;
                self.out.flush()?;
                // A move of the engine's is legal.
                self.game.play(&best).map_err(|_| PlayError::Search)?;
                if !self.game.is_over() && self.humans == Humans::NONE {
                    self.show()?;
                }
            }
            Reply::Resign => self.game.end(End::Resigned(side)),
            Reply::Win => self.game.end(End::Declared(side)),
        }
        Ok(true)
    }

    fn think(&mut self, level: Level) -> Result<Option<opponent::Thought>, PlayError> {
        self.interrupt.thinking.store(true, Ordering::Relaxed);
        let thought = self.opponent.think(&self.game, level, &self.interrupt.asked);
        self.interrupt.thinking.store(false, Ordering::Relaxed);
        match thought {
            Ok(thought) => {
                for notice in &thought.notices {
                    writeln!(self.out, "{notice}")?;
                }
                Ok(Some(thought))
            }
            Err(NoThought::Interrupted) => Ok(None),
            Err(NoThought::Failed) => Err(PlayError::Search),
        }
    }

    /// Does what the player wants, or says why not. `Ok(Ok(false))` if he wants to end.
    fn obey(&mut self, command: Command) -> Result<Result<bool, String>, PlayError> {
        match command {
            Command::Nothing | Command::Board | Command::Quit => {}
            Command::Move(mv) => return Ok(self.game.play(&mv).map(|()| true)),
            Command::Number(number) => {
                let moves = self.listed();
                return Ok(match number.checked_sub(1).and_then(|index| moves.get(index)) {
                    Some(mv) => self.game.play(mv).map(|()| true),
                    None if self.game.is_over() => Err("the game is over".to_owned()),
                    None => Err(format!("there are moves 1 to {}; 'moves' lists them", moves.len())),
                });
            }
            Command::Moves(word) => return self.list(word.as_deref()).map_err(Into::into),
            Command::Hint => return self.hint(),
            Command::Undo => return Ok(self.undo()),
            Command::Go => {
                if self.game.is_over() {
                    return Ok(Err("the game is over".to_owned()));
                }
                self.humans = self.humans.after_go(self.game.position().side_to_move());
                return self.engine_moves().map(Ok);
            }
            Command::Level(level) => {
                self.level = level;
                writeln!(self.out, "Kozuka plays at level {}.", level.number())?;
            }
            Command::Side(humans) => self.humans = humans,
            Command::New => {
                self.game = Game::new(self.game.id(), self.game.rules());
                self.opponent.new_game();
            }
            Command::Save(path) => return self.save(path),
            Command::Load(path) => match load(&path, self.game.id(), self.game.rules()) {
                Ok(game) => {
                    self.game = game;
                    self.file = Some(path);
                    self.opponent.new_game();
                }
                Err(text) => return Ok(Err(text)),
            },
            Command::Sfen => writeln!(self.out, "{}", self.game.line())?,
            Command::Flip => self.turned = !self.turned,
            Command::Resign if self.game.is_over() => return Ok(Err("the game is over".to_owned())),
            Command::Resign => {
                self.game.end(End::Resigned(self.game.position().side_to_move()));
                self.show()?;
            }
            Command::Win => {
                if self.game.is_over() || !self.game.position().can_declare_win() {
                    return Ok(Err("you cannot declare victory here".to_owned()));
                }
                self.game.end(End::Declared(self.game.position().side_to_move()));
                self.show()?;
            }
            Command::Help => write!(self.out, "{}", command::help())?,
        }
        Ok(Ok(true))
    }

    /// The legal moves in the order in which they are numbered.
    fn listed(&self) -> Vec<String> {
        let mut moves = self.game.position().legal_moves();
        moves.sort_unstable();
        moves
    }

    fn list(&mut self, word: Option<&str>) -> io::Result<Result<bool, String>> {
        if self.game.is_over() {
            return Ok(Err("the game is over".to_owned()));
        }
        let word = word.map(str::to_ascii_lowercase);
        let fits = |mv: &str| word.as_ref().is_none_or(|word| mv.to_ascii_lowercase().contains(word));
        let moves: Vec<_> = self.listed().into_iter().enumerate().filter(|(_, mv)| fits(mv)).collect();
        if moves.is_empty() {
            return Ok(Err(format!("no legal move contains '{}'", word.unwrap_or_default())));
        }
        for row in moves.chunks(8) {
            let row: String = row.iter().map(|(index, mv)| format!("{:>4} {mv:<5}", index + 1)).collect();
            writeln!(self.out, "{}", row.trim_end())?;
        }
        Ok(Ok(true))
    }

    fn hint(&mut self) -> Result<Result<bool, String>, PlayError> {
        if self.game.is_over() {
            return Ok(Err("the game is over".to_owned()));
        }
        let Some(thought) = self.think(Level::FULL)? else { return Ok(Ok(false)) };
        match thought.reply {
            Reply::Move { best, .. } => {
                let rest = thought.line.get(1..6.min(thought.line.len())).unwrap_or_default();
                let rest = if rest.is_empty() { String::new() } else { format!(", then perhaps {}", rest.join(" ")) };
                writeln!(self.out, "Hint: {best} ({}){rest}", words_for(thought.score))?;
            }
            Reply::Resign => writeln!(self.out, "Hint: resign")?,
            Reply::Win => writeln!(self.out, "Hint: declare victory with 'win'")?,
        }
        Ok(Ok(true))
    }

    /// Takes back so many moves that it is a person's turn again.
    fn undo(&mut self) -> Result<bool, String> {
        let mut undone = self.game.clone();
        loop {
            if !undone.undo() {
                return Err("there is nothing to take back".to_owned());
            }
            if self.humans.play(undone.position().side_to_move()) {
                self.game = undone;
                return Ok(true);
            }
        }
    }

    fn save(&mut self, path: Option<PathBuf>) -> Result<Result<bool, String>, PlayError> {
        let Some(path) = path.or_else(|| self.file.clone()) else {
            return Ok(Err("save to what? 'save FILE'".to_owned()));
        };
        if self.file.as_ref() != Some(&path) && path.exists() {
            return Ok(Err(format!("{} exists; choose another name", path.display())));
        }
        if let Err(error) = fs::write(&path, format!("{}\n", self.game.line())) {
            return Ok(Err(format!("cannot write {}: {error}", path.display())));
        }
        writeln!(self.out, "Saved to {}.", path.display())?;
        self.file = Some(path);
        Ok(Ok(true))
    }
}

/// A score as a player reads it.
fn words_for(score: Score) -> String {
    match mate_distance(score) {
        Some(plies) if plies > 0 => format!("mate in {plies}"),
        Some(plies) => format!("mated in {}", -plies),
        None => format!("{:+.2}", f64::from(score) / 100.0),
    }
}
