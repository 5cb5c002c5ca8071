//! Move counts that several independent programs agree on, for each game one file of `SFEN ;D1 n ;D2 n …` lines.

use std::path::Path;

use kozuka::movegen::perft::{divide, perft};
use kozuka::position::{Position, Rules};
use kozuka::variant::{Minishogi, Shogi, Variant};

/// Runs every depth of every line. Returns how many counts were compared.
fn run_suite<V: Variant>(file: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/perft").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut compared = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut fields = line.split(';');
        let sfen = fields.next().unwrap().trim();
        let position = Position::<V>::from_sfen(sfen, Rules::default()).unwrap();
        for field in fields {
            let (depth, expected) = field.trim().strip_prefix('D').unwrap().split_once(' ').unwrap();
            let (depth, expected): (u32, u64) = (depth.parse().unwrap(), expected.trim().parse().unwrap());
            assert_eq!(perft(&position, depth), expected, "{sfen} at depth {depth}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn minishogi_counts() {
    assert!(run_suite::<Minishogi>("minishogi.epd") > 300);
}

#[test]
fn shogi_counts() {
    assert!(run_suite::<Shogi>("shogi.epd") > 60);
}

#[test]
fn divide_adds_up() {
    let position = Position::<Minishogi>::new(Rules::default());
    let parts = divide(&position, 4);
    assert_eq!(parts.len(), 14);
    assert_eq!(parts.iter().map(|(_, count)| count).sum::<u64>(), 35_401);
}
