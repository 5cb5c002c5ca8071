//! Kozuka: a minishogi (5x5) and shogi engine that speaks USI.
//!
//! Modules stand in the order in which they may import each other; `ARCHITECTURE.md` is the map.

#![warn(missing_docs)]

pub mod attacks;
pub mod engine;
pub mod eval;
pub mod geometry;
pub mod mate;
pub mod movegen;
pub mod position;
pub mod record;
pub mod search;
pub mod tools;
pub mod types;
pub mod usi;
pub mod variant;
