//! The problems in `tests/data/mate`, and how they were made.

use std::fs;
use std::path::Path;

use kozuka::mate::{Limits, Solver, Verdict};
use kozuka::position::{Position, Rules};
use kozuka::variant::{Minishogi, Shogi, Variant};

use crate::random::{position, rng};
use crate::verdicts::solve;

/// A problem of the suite.
struct Problem {
    sfen: String,
    /// Plies to mate; `None` if there is none.
    plies: Option<u32>,
}

/// Reads lines `SFEN ;mate PLIES …` and `SFEN ;nomate …`.
fn read(file: &str) -> Vec<Problem> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mate").join(file);
    let text = fs::read_to_string(path).expect("the suite");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut fields = line.split(';').map(str::trim);
            let sfen = fields.next().expect("an SFEN").to_owned();
            let plies = match fields.next().expect("an answer").split(' ').collect::<Vec<_>>()[..] {
                ["mate", plies] => Some(plies.parse().expect("plies")),
                ["nomate"] => None,
                ref other => panic!("{other:?} in {line}"),
            };
            Problem { sfen, plies }
        })
        .collect()
}

/// Solves all problems; within the plies that they take, and without any limit.
fn solve_all<V: Variant>(problems: &[Problem]) {
    let mut solver = Solver::new(64).expect("memory");
    for Problem { sfen, plies } in problems {
        let position = Position::<V>::from_sfen(sfen, Rules::default()).expect("a position");
        match (solve(&mut solver, &position, &Limits::default()), plies) {
            (Verdict::Mate(line), Some(plies)) => assert!(line.len() >= *plies as usize, "{sfen}"),
            (Verdict::NoMate, None) => {}
            (verdict, _) => panic!("{sfen}: {verdict:?}"),
        }
    }
}

#[test]
fn all_problems_are_solved() {
    let problems = read("minishogi.epd");
    assert!(problems.len() >= 60);
    for plies in (1..=25).step_by(2) {
        assert!(problems.iter().any(|problem| problem.plies == Some(plies)), "{plies}");
    }
    assert!(problems.iter().filter(|problem| problem.plies.is_none()).count() >= 10);
    solve_all::<Minishogi>(&problems);
}

#[test]
fn so_are_those_of_9x9() {
    solve_all::<Shogi>(&read("shogi.epd"));
}

#[test]
fn short_ones_are_as_short_as_they_say() {
    let mut solver = Solver::new(16).expect("memory");
    for Problem { sfen, plies } in read("minishogi.epd") {
        let Some(plies) = plies.filter(|&plies| plies <= 9) else { continue };
        let position = Position::<Minishogi>::from_sfen(&sfen, Rules::default()).expect("a position");
        let mut within = |plies| solve(&mut solver, &position, &Limits { plies: Some(plies), ..Limits::default() });
        assert!(matches!(within(plies), Verdict::Mate(line) if line.len() == plies as usize), "{sfen}");
        assert_eq!(within(plies - 1), Verdict::NoMate, "{sfen}");
    }
}

/// The fewest plies to mate, if that can be found out without much ado.
fn shortest<V: Variant>(solver: &mut Solver, position: &Position<V>, longest: u32) -> Option<(u32, String)> {
    for plies in (1..=longest).step_by(2) {
        match solve(solver, position, &Limits { plies: Some(plies), nodes: Some(1_000_000), ..Limits::default() }) {
            Verdict::NoMate => {}
            Verdict::Unknown => return None,
            Verdict::Mate(line) => {
                let line: Vec<String> = line.iter().map(|mv| mv.to_usi::<V>()).collect();
                return Some((plies, line.join(" ")));
            }
        }
    }
    None
}

/// Writes problems to standard output: `each` of every length up to `longest`, and `without` without mate.
fn make<V: Variant>(seed: u64, each: usize, longest: u32, without: usize, tries: usize, used: u32) {
    let mut rng = rng(seed);
    let mut solver = Solver::new(64).expect("memory");
    let mut found: Vec<Vec<String>> = vec![Vec::new(); longest as usize + 1];
    let mut none = Vec::new();
    // Very long ones are rare.
    let wanted = |plies: usize| each.min((27 - plies.min(25)).div_ceil(2));
    for round in 0..tries {
        let position = position::<V>(&mut rng, 2 + round % 8, used, 50 + (round % 5) as u32 * 10);
        let sfen = position.sfen();
        let mut nodes = 0;
        let limits = Limits { nodes: Some(200_000), ..Limits::default() };
        let verdict =
            solver.solve(&position, &limits, &std::sync::atomic::AtomicBool::new(false), &mut |p| nodes = p.nodes);
        match verdict {
            // A little hard, so that the suite is worth its time.
            Verdict::NoMate if none.len() < without && nodes > 50 => none.push(format!("{sfen} ;nomate")),
            Verdict::Mate(line) => {
                let open = |plies: usize| found.get(plies).is_some_and(|list| list.len() < wanted(plies));
                if !(1..=line.len()).step_by(2).any(open) || line.len() > 1 && nodes < 3 * line.len() as u64 {
                    continue;
                }
                // No need to look where the buckets are full and the line is short.
                if line.len() <= 7 && !open(line.len()) {
                    continue;
                }
                if let Some((plies, line)) = shortest(&mut solver, &position, longest)
                    && found[plies as usize].len() < wanted(plies as usize)
                {
                    eprintln!("{round}: {plies}");
                    found[plies as usize].push(format!("{sfen} ;mate {plies} ;{line}"));
                }
            }
            _ => {}
        }
        if none.len() == without && (1..found.len()).step_by(2).all(|plies| found[plies].len() == wanted(plies)) {
            break;
        }
    }
    found.push(none);
    found.iter().flatten().for_each(|line| println!("{line}"));
}

#[test]
#[ignore = "makes new problems; see tests/data/mate/README.md"]
fn make_problems() {
    make::<Minishogi>(2026, 5, 25, 12, 60_000, 100);
}

#[test]
#[ignore = "makes new problems; see tests/data/mate/README.md"]
fn make_problems_for_9x9() {
    make::<Shogi>(2027, 2, 11, 4, 20_000, 60);
}
