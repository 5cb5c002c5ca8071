//! What is kept of games.

pub mod diagram;
pub mod packed;
