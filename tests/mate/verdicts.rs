//! The same verdicts on random positions as two plain searches give.

use std::sync::atomic::AtomicBool;

use kozuka::mate::{Limits, Solver, Verdict};
use kozuka::movegen::{checking_moves, legal_moves, outcome};
use kozuka::position::{Position, Reason, Rules, Sennichite};
use kozuka::types::Move;
use kozuka::variant::{Minishogi, Shogi, Variant};

use crate::oracle::{Exhaustive, checks, whole_graph};
use crate::random::{position, rng};

/// More than any position here needs.
const NODES: Limits = Limits { time: None, nodes: Some(3_000_000), plies: None };

/// Solves, and checks that a line of mate is one.
pub fn solve<V: Variant>(solver: &mut Solver, position: &Position<V>, limits: &Limits) -> Verdict {
    let verdict = solver.solve(position, limits, &AtomicBool::new(false), &mut |_| {});
    if let Verdict::Mate(line) = &verdict {
        let mut end = position.clone();
        for (ply, &mv) in line.iter().enumerate() {
            let name = || format!("{}: {} in {line:?}", position.sfen(), mv.to_usi::<V>());
            assert_eq!(outcome(&end), None, "{}", name());
            assert!(legal_moves(&end).contains(&mv), "{}", name());
            end.do_move(mv);
            assert!(ply % 2 == 1 || end.in_check(), "{}", name());
        }
        let mated = outcome(&end).is_some_and(|end| end.reason == Reason::Checkmate);
        assert!(line.len() % 2 == 1 && mated, "{}", position.sfen());
    }
    verdict
}

fn solver(mib: usize) -> Solver {
    Solver::new(mib).expect("memory")
}

fn within(plies: u32) -> Limits {
    Limits { plies: Some(plies), ..NODES }
}

#[derive(Default, Debug)]
struct Count {
    mates: usize,
    none: usize,
    unknown: usize,
}

impl Count {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Mate(_) => self.mates += 1,
            Verdict::NoMate => self.none += 1,
            Verdict::Unknown => self.unknown += 1,
        }
    }
}

fn compare_checks<V: Variant>(positions: usize) {
    let mut rng = rng(6);
    for round in 0..positions {
        let mut position = position::<V>(&mut rng, 2 + round % 9, 100, 70);
        let mut found = checking_moves(position.board(), position.threats()).to_vec();
        let mut expected = checks(&mut position);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", position.sfen());
    }
}

#[test]
fn checks_are_the_moves_that_give_check() {
    compare_checks::<Minishogi>(2_000);
    compare_checks::<Shogi>(200);
}

/// Compares the verdicts on random positions with those of an exhaustive search to `plies` plies. `NODES` may not be
/// enough where mates are not that short, and then the solver says so.
fn compare_with_exhaustive<V: Variant>(seed: u64, positions: usize, plies: u32, used: u32, nodes: u64) -> Count {
    let limits = Limits { nodes: Some(nodes), ..NODES };
    let mut rng = rng(seed);
    let mut solver = solver(16);
    let mut count = Count::default();
    for round in 0..positions {
        let position = position::<V>(&mut rng, 3 + round % 7, used, 50 + (round % 4) as u32 * 10);
        let sfen = position.sfen();
        let mut search = Exhaustive::new();
        let mut scratch = position.clone();
        let shortest = (1..=plies).step_by(2).find(|&plies| {
            search.cut = false;
            search.mates(&mut scratch, plies)
        });
        // With the limit on plies both answer the same question, and the verdicts must be the same.
        match (solve(&mut solver, &position, &within(plies)), shortest) {
            (Verdict::Mate(line), Some(_)) => assert!(line.len() <= plies as usize, "{sfen}"),
            (Verdict::NoMate, None) => {}
            (verdict, _) => panic!("{sfen}: {verdict:?} instead of {shortest:?}"),
        }
        if let Some(shortest) = shortest {
            let Verdict::Mate(line) = solve(&mut solver, &position, &within(shortest)) else { panic!("{sfen}") };
            assert_eq!(line.len(), shortest as usize, "{sfen}");
        }
        let verdict = solve(&mut solver, &position, &limits);
        match (&verdict, shortest) {
            (Verdict::Mate(line), Some(shortest)) => assert!(line.len() >= shortest as usize, "{sfen}"),
            // A longer mate is none of the exhaustive search's business, unless that has seen everything.
            (Verdict::Mate(line), None) => assert!(search.cut && line.len() > plies as usize, "{sfen}"),
            (Verdict::NoMate, shortest) => assert_eq!(shortest, None, "{sfen}"),
            (Verdict::Unknown, _) => assert!(search.cut, "{sfen}"),
        }
        count.add(&verdict);
    }
    count
}

#[test]
fn exhaustive_search_to_seven_plies_agrees_on_3000_positions() {
    let count = compare_with_exhaustive::<Minishogi>(1, 3_000, 7, 100, 10_000);
    assert!(count.mates > 1_000 && count.none > 1_000, "{count:?}");
}

#[test]
#[ignore = "takes minutes: other positions, and longer mates to the end"]
fn exhaustive_search_agrees_on_3000_more_positions() {
    let count = compare_with_exhaustive::<Minishogi>(7, 3_000, 9, 100, 3_000_000);
    println!("{count:?}");
    assert!(count.mates > 1_000 && count.none > 1_000 && count.unknown < 10, "{count:?}");
}

#[test]
fn exhaustive_search_agrees_on_9x9() {
    let count = compare_with_exhaustive::<Shogi>(2, 40, 3, 40, 3_000);
    assert!(count.mates > 3 && count.none > 3, "{count:?}");
}

/// Compares with what the whole graph of checks and answers says, to any depth and with all its loops.
fn compare_with_graphs(seed: u64, positions: usize, limit: usize) -> (Count, usize) {
    let mut rng = rng(seed);
    let mut solver = solver(16);
    let mut count = Count::default();
    let mut longest = 0;
    for round in 0..positions {
        // Few pieces or few drops: graphs that are small, and full of loops.
        let (on_board, used) = [(9, 50), (10, 100), (8, 100), (10, 70), (10, 50)][round % 5];
        let position = position::<Minishogi>(&mut rng, on_board, used, 70 + (round % 3) as u32 * 10);
        let Some(truth) = whole_graph(&position, limit) else { continue };
        let sfen = position.sfen();
        let verdict = solve(&mut solver, &position, &NODES);
        match (&verdict, truth) {
            (Verdict::Mate(line), Some(plies)) => assert!(line.len() >= plies as usize, "{sfen}"),
            (Verdict::NoMate, None) => {}
            _ => panic!("{sfen}: {verdict:?} instead of {truth:?}"),
        }
        if let Some(plies) = truth {
            longest = longest.max(plies as usize);
            let Verdict::Mate(line) = solve(&mut solver, &position, &within(plies)) else { panic!("{sfen}") };
            assert_eq!(line.len(), plies as usize, "{sfen}");
            if plies > 2 {
                assert_eq!(solve(&mut solver, &position, &within(plies - 1)), Verdict::NoMate, "{sfen}");
            }
        }
        count.add(&verdict);
    }
    (count, longest)
}

#[test]
fn whole_graphs_with_all_their_loops_agree() {
    let (count, longest) = compare_with_graphs(3, 1_200, 2_000);
    assert!(count.mates > 25 && count.none > 250 && longest >= 5, "{count:?}, longest {longest}");
}

#[test]
#[ignore = "takes minutes"]
fn larger_graphs_agree() {
    let (count, longest) = compare_with_graphs(4, 4_000, 30_000);
    println!("{count:?}, longest {longest}");
    assert!(count.mates > 300 && longest >= 7, "{count:?}, longest {longest}");
}

#[test]
fn a_tiny_table_never_makes_a_wrong_verdict() {
    let mut rng = rng(5);
    let (mut tiny, mut ample) = (solver(1), solver(64));
    let mut count = Count::default();
    for round in 0..60 {
        let position = position::<Minishogi>(&mut rng, round % 4, 100, 60 + (round % 3) as u32 * 10);
        let limits = Limits { nodes: Some(100_000), ..NODES };
        let (a, b) = (solve(&mut tiny, &position, &limits), solve(&mut ample, &position, &limits));
        match (&a, &b) {
            (Verdict::Mate(_), Verdict::NoMate) | (Verdict::NoMate, Verdict::Mate(_)) => panic!("{}", position.sfen()),
            _ => count.add(&a),
        }
    }
    assert!(count.mates > 10 && count.none > 5, "{count:?}");
}

fn with_rules(sfen: &str, moves: &str, rules: Rules) -> Position<Minishogi> {
    let mut position = Position::from_sfen(sfen, rules).expect("a position");
    for mv in moves.split_whitespace() {
        let mv = Move::from_usi::<Minishogi>(mv).filter(|mv| legal_moves(&position).contains(mv));
        position.do_move(mv.expect("a legal move"));
    }
    position
}

/// A mate in five that begins by leading back to the given position, and the moves that make both come again.
const BACK: [(&str, [&str; 4]); 2] = [
    ("3k1/5/5/2P2/K3R b RGS 1", ["1e3e", "2a1a", "3e1e", "1a2a"]),
    ("r3k/2p2/5/5/1K3 w rgs 1", ["5a3a", "4e5e", "3a5a", "5e4e"]),
];

#[test]
fn what_has_stood_three_times_ends_the_game_whoever_wins() {
    let mut solver = solver(4);
    // For Gote as attacker the repetition is won under the usual rule; it is no mate all the same.
    for (sfen, [there, reply, back, forced]) in BACK {
        for sennichite in Sennichite::ALL {
            let rules = Rules { sennichite, max_moves: 0 };
            for laps in 0..=2 {
                let lap = format!("{there} {reply} {back} {forced} ");
                let position = with_rules(sfen, &format!("{}{there} {reply}", lap.repeat(laps)), rules);
                assert_eq!(outcome(&position), None);
                // With two laps the given position has stood three times.
                let mates = Exhaustive::new().mates(&mut position.clone(), 5);
                assert_eq!(mates, laps < 2, "{sfen}");
                let verdict = solve(&mut solver, &position, &within(5));
                assert_eq!(matches!(verdict, Verdict::Mate(_)), mates, "{sfen}: {verdict:?} after {laps} laps");
            }
        }
    }
}

#[test]
fn a_game_that_is_over_holds_no_mate() {
    let mut solver = solver(4);
    let sfen = "4k/5/5/5/K4 b BGSP 1";
    let shuffle = "5e4e 1a2a 4e5e 2a1a ";
    for (times, mates) in [(0, true), (1, true), (2, true), (3, false)] {
        let position = with_rules(sfen, &shuffle.repeat(times), Rules::default());
        assert_eq!(matches!(solve(&mut solver, &position, &NODES), Verdict::Mate(_)), mates, "{times}");
    }
    let over = with_rules(sfen, shuffle, Rules { max_moves: 4, ..Rules::default() });
    assert_eq!(solve(&mut solver, &over, &NODES), Verdict::NoMate);
}

#[test]
fn the_limit_on_plies_leaves_mates_that_come_in_time() {
    let mut solver = solver(4);
    for (max_moves, mates) in [(12, false), (13, true), (14, true)] {
        let rules = Rules { max_moves, ..Rules::default() };
        let position = with_rules("4k/5/5/5/K4 b BGSP 1", &"5e4e 1a2a 4e5e 2a1a ".repeat(2), rules);
        assert_eq!(matches!(solve(&mut solver, &position, &NODES), Verdict::Mate(_)), mates, "{max_moves}");
    }
}

#[test]
fn it_can_be_stopped() {
    let position = with_rules("1K3/5/5/2k2/5 b BPRSSbggpr 1", "", Rules::default());
    let stop = AtomicBool::new(true);
    assert_eq!(solver(1).solve(&position, &Limits::default(), &stop, &mut |_| {}), Verdict::Unknown);
    let mut nodes = 0;
    let limits = Limits { nodes: Some(777), ..Limits::default() };
    let verdict = solver(1).solve(&position, &limits, &AtomicBool::new(false), &mut |progress| nodes = progress.nodes);
    assert_eq!((verdict, nodes), (Verdict::Unknown, 777));
}
