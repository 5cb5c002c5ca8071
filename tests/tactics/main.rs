//! The tactical suite: it is what it is said to be, and the search solves most of it.

mod suite;

use std::collections::HashSet;

use kozuka::movegen::{legal_moves, outcome};
use suite::{Solution, Solver, Tactic, suite};

/// Nodes for each position.
const LIMIT: u64 = 10_000;

#[test]
fn each_position_is_there_once_and_offers_a_choice() {
    let suite = suite();
    assert!(suite.len() >= 30);
    let mut keys = HashSet::new();
    for tactic in &suite {
        let sfen = tactic.position.sfen();
        assert_eq!(outcome(&tactic.position), None, "{sfen}");
        assert!(legal_moves(&tactic.position).len() > 1, "{sfen}");
        assert!(keys.insert(tactic.position.key()), "{sfen}");
    }
}

fn nodes(solutions: &[Option<Solution>]) -> Vec<Option<u64>> {
    solutions.iter().map(|solution| solution.map(|solution| solution.nodes)).collect()
}

/// Far fewer than are solved today: what is changed in the search makes some positions harder and others easier, and is
/// proved by games. This is to notice a search that has gone blind.
#[test]
fn most_positions_are_solved_and_with_the_same_nodes_each_time() {
    let suite = suite();
    let solve = |tactics: &[Tactic]| {
        Solver::run(|solver| tactics.iter().map(|tactic| solver.solve(tactic, LIMIT)).collect::<Vec<_>>())
    };
    let solutions = solve(&suite);
    let unsolved = suite.iter().zip(&solutions).filter(|(_, solution)| solution.is_none());
    let unsolved: Vec<String> = unsolved.map(|(tactic, _)| tactic.position.sfen()).collect();
    assert!(unsolved.len() < suite.len() / 2, "{} of {} not solved: {unsolved:#?}", unsolved.len(), suite.len());
    assert_eq!(nodes(&solve(&suite[..5])), nodes(&solutions[..5]));
}
