//! `kozuka match`: matches between USI engines.
//!
//! From the outside in: [`cli`] are the arguments, [`run`] makes a match of them, [`runner`] plays its games on several
//! threads, [`game`] referees one of them, [`player`] holds the dialogue with one engine, [`process`] moves its lines.
//! What comes out goes through [`record`] into a file and through [`standings`], [`stats`] and [`sprt`] into numbers.
//! The rules of the games come from [`crate::engine`] alone.

pub mod adjudication;
pub mod cli;
pub mod clock;
pub mod export;
pub mod game;
pub mod info;
pub mod openings;
pub mod options;
pub mod player;
pub mod plot;
pub mod process;
pub mod progress;
pub mod record;
pub mod runner;
pub mod schedule;
pub mod setup;
pub mod spec;
pub mod sprt;
pub mod standings;
pub mod stats;
pub mod summary;
pub mod supervisor;

pub use cli::MatchArgs;
pub use setup::run;
