//! The USI protocol: reading and writing lines (through `rsshogi-usi`), options, and the loop.

pub mod normalize;
pub mod options;
pub mod output;
mod session;

pub use session::{Session, run};
