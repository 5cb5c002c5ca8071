//! Kozuka: a minishogi (5x5) and shogi engine that speaks USI.
