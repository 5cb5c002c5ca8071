//! The arguments of `kozuka match`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::clock::TimeControl;
use super::schedule::Format;
use crate::position::Sennichite;

/// Plays matches between USI engines.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "EXIT STATUS:\n  0  the match ran (SPRT, if any, accepted H1 or is undecided)\n  1  wrong arguments, or an engine that cannot be started\n  2  SPRT accepted H0\n  130  interrupted; --resume goes on"
)]
pub struct MatchArgs {
    /// The engines.
    #[command(flatten)]
    pub engines: EngineWords,

    /// Time control: 10+0.1, byoyomi=1, 60,byoyomi=10, st=0.1, nodes=5000, depth=8 (times in seconds).
    #[arg(long, value_name = "TC", default_value = "10+0.1")]
    pub tc: TimeControl,

    /// Games in each pairing of engines; 100, or 100000 with --sprt.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub games: Option<u32>,

    /// Games that are played at the same time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub concurrency: u16,

    /// Who meets whom.
    #[arg(long, value_enum, default_value_t)]
    pub tournament: Format,

    /// Openings, one on each line: SFEN, or startpos, optionally followed by moves; remarks behind a semicolon.
    #[arg(long, value_name = "FILE")]
    pub openings: Option<PathBuf>,

    /// Takes the openings in an order that depends on --seed.
    #[arg(long, requires = "openings")]
    pub shuffle: bool,

    /// Openings of that many random legal plies.
    #[arg(long, value_name = "PLIES", conflicts_with = "openings", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub random_plies: Option<u32>,

    /// Seed of random and shuffled openings.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Lets engines think on their opponent's time.
    #[arg(long)]
    pub ponder: bool,

    /// Draws a game after that many plies; 0 for never.
    #[arg(long, value_name = "PLIES", default_value_t = 500)]
    pub max_plies: u32,

    /// What the fourth occurrence of a position means: sente-loses, draw or attacker-deviates.
    #[arg(long, value_name = "RULE", default_value_t)]
    pub sennichite: Sennichite,

    /// Ends games that both engines see as won: moves=3 score=1000 (each side's moves in a row, centipawns).
    #[arg(long, value_name = "KEY=VALUE", num_args = 0..)]
    pub resign: Option<Vec<String>>,

    /// Ends games that both engines see as level: moves=8 score=10 from=40 (from that ply on).
    #[arg(long, value_name = "KEY=VALUE", num_args = 0..)]
    pub draw: Option<Vec<String>>,

    /// Stops the match once it is decided: elo0=0 elo1=5 [alpha=0.05] [beta=0.05] [model=logistic|normalized].
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub sprt: Option<Vec<String>>,

    /// Starts both engines anew for each game.
    #[arg(long)]
    pub restart: bool,

    /// Records every game in FILE (JSON Lines).
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Goes on with the match in --out.
    #[arg(long, requires = "out")]
    pub resume: bool,

    /// Adds failures of engines to FILE; they are on stderr as well.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,

    /// Writes each engine's whole USI dialogue into a file of its own in DIR.
    #[arg(long, value_name = "DIR")]
    pub usi_log: Option<PathBuf>,

    /// Prints the table of a recorded match again, instead of playing one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engine", "out"])]
    pub report: Option<PathBuf>,

    /// Draws Elo and LLR over games into an SVG file.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,

    /// Writes each game as KIF into DIR.
    #[arg(long, value_name = "DIR")]
    pub kif: Option<PathBuf>,

    /// Writes each game as CSA text into DIR.
    #[arg(long, value_name = "DIR")]
    pub csa: Option<PathBuf>,

    /// Prints a summary in JSON as the last line of stdout.
    #[arg(long)]
    pub json: bool,

    /// What a move may take beyond its time, in milliseconds; by default nothing, but 50 with st=.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=3_600_000))]
    pub time_margin: Option<u64>,

    /// How long to wait for usiok and readyok, in seconds.
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub start_timeout: u64,

    /// How long to wait for a move that no clock limits, in seconds.
    #[arg(long, value_name = "S", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub move_timeout: u64,

    /// How long to wait for an answer to stop and for the end after quit, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub stop_timeout: u64,

    /// Runs as the process that ends engines if the match is killed.
    #[arg(long, hide = true)]
    pub reaper: bool,
}

/// The words of each `--engine`, which the derived parser would run together.
#[derive(Clone, Debug, Default)]
pub struct EngineWords(pub Vec<Vec<String>>);

impl FromArgMatches for EngineWords {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let occurrences = matches.get_occurrences::<String>("engine").into_iter().flatten();
        Ok(Self(occurrences.map(|words| words.cloned().collect()).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for EngineWords {
    fn augment_args(command: Command) -> Command {
        let help = "An engine: cmd=\"PROGRAM ARGUMENTS\" or cmd=self, and optionally name=NAME, dir=DIRECTORY, tc=TC, clocks=swapped, option.NAME=VALUE; \
                    to be given for each engine";
        command.arg(
            Arg::new("engine")
                .long("engine")
                .value_name("KEY=VALUE")
                .num_args(1..)
                .action(ArgAction::Append)
                .help(help),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: MatchArgs,
    }

    fn parse(words: &str) -> Result<MatchArgs, clap::Error> {
        Cli::try_parse_from(format!("match {words}").split_whitespace()).map(|cli| cli.args)
    }

    #[test]
    fn each_engine_keeps_its_own_words() {
        let args = parse("--engine name=A cmd=self option.X=1 --games 4 --engine name=B cmd=self --sprt elo0=0 elo1=5")
            .expect("valid");
        assert_eq!(args.engines.0, [vec!["name=A", "cmd=self", "option.X=1"], vec!["name=B", "cmd=self"]]);
        assert_eq!((args.games, args.concurrency), (Some(4), 1));
        assert_eq!(args.sprt.as_deref(), Some(&["elo0=0".to_owned(), "elo1=5".to_owned()][..]));
    }

    #[test]
    fn wrong_values_are_usage_errors() {
        for words in ["--games 0", "--tc soon", "--concurrency 0", "--resume", "--shuffle", "--sennichite x", "--bogus"]
        {
            assert!(parse(words).is_err(), "{words}");
        }
    }

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
