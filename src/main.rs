//! The `kozuka` binary.

fn main() {}
