//! The `kozuka` binary: the USI loop, and tools as subcommands.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use kozuka::engine::GameId;
use kozuka::tools::{End, bench, datagen, matches, mate, perft, play, rescore, train};
use kozuka::usi;

/// A minishogi and shogi engine. Without a subcommand it speaks USI on the standard streams.
#[derive(Parser, Debug)]
#[command(version)]
struct Cli {
    /// The game: minishogi or shogi. In USI it is what USI_Variant begins with; bench, datagen, rescore and train know
    /// minishogi only
    #[arg(long, global = true, value_name = "GAME", default_value_t = GameId::Minishogi)]
    variant: GameId,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Play a game in the terminal
    Play(play::PlayArgs),
    /// Count the legal move sequences of a given length
    Perft(perft::PerftArgs),
    /// Search a fixed list of positions; the last line is `<nodes> nodes <nps> nps`
    Bench(bench::BenchArgs),
    /// Look for a mate by checks alone; exit code 0: mate, 2: no mate, 3: undecided
    Mate(mate::MateArgs),
    /// Play matches between USI engines
    Match(Box<matches::MatchArgs>),
    /// Make training positions by self-play
    Datagen(datagen::DatagenArgs),
    /// Search the positions of datagen once more, to learn from better scores
    Rescore(rescore::RescoreArgs),
    /// Train a network on such positions
    Train(train::TrainArgs),
    /// Tune the numbers of the search
    #[cfg(feature = "tune")]
    Tune(kozuka::tools::tune::TuneArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            // Help and version are no errors; 2 is what `match` says when its test has accepted H0.
            return if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    let result: Result<u8, Box<dyn Error>> = match &cli.command {
        // Their positions, openings and network are those of one game.
        Some(Command::Bench(_) | Command::Datagen(_) | Command::Rescore(_) | Command::Train(_))
            if cli.variant != GameId::Minishogi =>
        {
            Err("bench, datagen, rescore and train know minishogi only".into())
        }
        None => {
            usi::run(cli.variant);
            Ok(0)
        }
        Some(Command::Play(args)) => play::run(args, cli.variant).map(|()| 0).map_err(Into::into),
        Some(Command::Perft(args)) => {
            perft::run(args, cli.variant, &mut io::stdout()).map(|right| u8::from(!right)).map_err(Into::into)
        }
        Some(Command::Match(args)) => return ExitCode::from(matches::run(args, cli.variant)),
        Some(Command::Mate(args)) => mate::run(args, cli.variant, &mut io::stdout()).map_err(Into::into),
        Some(Command::Datagen(args)) => datagen::run(args).map(End::exit_code).map_err(Into::into),
        Some(Command::Rescore(args)) => rescore::run(args).map(End::exit_code).map_err(Into::into),
        #[cfg(feature = "tune")]
        Some(Command::Tune(args)) => return ExitCode::from(kozuka::tools::tune::run(args, cli.variant)),
        Some(Command::Train(args)) => train::run(args).map(End::exit_code).map_err(Into::into),
        Some(Command::Bench(args)) => bench::run(args, &mut io::stdout()).map(|_| 0).map_err(Into::into),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        // Whoever read the output has had enough of it.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kozuka: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
            return true;
        }
        cause = error.source();
    }
    false
}
