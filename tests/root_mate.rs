//! Mates that the search tells: those that the mate solver finds for it at the root, and that each has a line behind it.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use kozuka::mate::{self, Solver, Verdict};
use kozuka::movegen::{legal_moves, outcome};
use kozuka::position::{Position, Rules};
use kozuka::search::{Answer, Control, Level, Limits, Report, STACK_BYTES, SearchOptions, Searcher};
use kozuka::types::Move;
use kozuka::types::score::mate_distance;
use kozuka::variant::{Minishogi, Shogi, Variant};

type Mini = Position<Minishogi>;

/// Runs with the stack that a search needs.
fn with_stack(test: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(test).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn mini(sfen: &str) -> Mini {
    Position::from_sfen(sfen, Rules::default()).expect(sfen)
}

/// Problems of the suite with mates of so many plies.
fn problems(plies: std::ops::RangeInclusive<usize>) -> Vec<(Mini, usize)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mate/minishogi.epd");
    let text = fs::read_to_string(path).expect("the suite");
    let fields = text.lines().filter_map(|line| line.split_once(" ;mate "));
    let known = fields.map(|(sfen, rest)| {
        let shortest = rest.split(' ').next().and_then(|plies| plies.parse().ok());
        (mini(sfen), shortest.expect("plies"))
    });
    known.filter(|(_, shortest)| plies.contains(shortest)).collect()
}

fn options() -> SearchOptions {
    SearchOptions { hash_mib: 16, ..SearchOptions::default() }
}

fn searcher<V: Variant>(options: &SearchOptions) -> Searcher<V> {
    let mut searcher = Searcher::new();
    searcher.configure(options);
    searcher
}

fn search<V: Variant>(
    searcher: &mut Searcher<V>,
    position: &Position<V>,
    limits: &Limits,
) -> (Vec<Report>, Option<Move>) {
    let mut reports = Vec::new();
    let answer = searcher.search(position, limits, &Control::new(), &mut |report| reports.push(report.clone()));
    reports.iter().for_each(|report| has_its_line(position, report));
    let best = match answer {
        Answer::Move { best, .. } => Some(best),
        Answer::Resign | Answer::Win => None,
    };
    let last = reports.iter().rfind(|report| report.multipv == 1);
    assert_eq!(last.and_then(|report| report.pv.first()), best.as_ref(), "{}", position.sfen());
    (reports, best)
}

/// A mate that is told has a legal line of its length that ends in mate, and not before.
fn has_its_line<V: Variant>(position: &Position<V>, report: &Report) {
    let Some(plies) = mate_distance(report.score) else { return };
    let mut end = position.clone();
    let line: Vec<String> = report.pv.iter().map(|mv| mv.to_usi::<V>()).collect();
    for (ply, mv) in report.pv.iter().enumerate() {
        assert!(ply == 0 || outcome(&end).is_none(), "{}: mate {plies} by {line:?}", position.sfen());
        assert!(legal_moves(&end).contains(mv), "{}: mate {plies} by {line:?}", position.sfen());
        end.do_move(*mv);
    }
    assert_eq!(line.len(), plies.unsigned_abs() as usize, "{}: mate {plies} by {line:?}", position.sfen());
    assert!(legal_moves(&end).is_empty(), "{}: mate {plies} by {line:?}", position.sfen());
}

/// Plies to the mate that the last report tells, if it does.
fn told(reports: &[Report]) -> Option<usize> {
    let score = reports.iter().rfind(|report| report.multipv == 1)?.score;
    mate_distance(score).and_then(|plies| usize::try_from(plies).ok())
}

fn random(below: usize, seed: &mut u64) -> usize {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 20) as usize % below
}

/// A mate of 11 plies that is out of reach of a short search without the solver.
const LONG: &str = "g3+s/2K2/5/3k1/s4 b RBGrb2p 1";

#[test]
fn known_mates_are_played_after_few_nodes() {
    with_stack(|| {
        // What the solver proves in a fiftieth of the nodes.
        let mut solver = Solver::new(8).expect("memory");
        let mut solved = 0;
        for (position, _) in problems(5..=15) {
            let limits = mate::Limits { nodes: Some(400), ..mate::Limits::default() };
            let verdict = solver.solve(&position, &limits, &AtomicBool::new(false), &mut |_| {});
            let (reports, _) = search(&mut searcher(&options()), &position, &Limits::nodes(20_000));
            if let Verdict::Mate(line) = verdict {
                solved += 1;
                assert!(told(&reports).is_some_and(|plies| plies <= line.len()), "{}", position.sfen());
            }
        }
        assert!(solved >= 10, "{solved}");
    });
}

/// A mate that begins with two sacrifices, after which a short search thinks itself lost.
const SACRIFICES: &str = "r1s1k/b2gp/1BG2/P2R1/K4 b S 23";

/// Plays on for the side to move, which is to tell a mate each time once it has told one. `defend` chooses the replies.
fn carry_out(mut position: Mini, nodes: u64, defend: &mut impl FnMut(&Report, &[Move]) -> Move) -> bool {
    let mut searcher = searcher(&options());
    let sfen = position.sfen();
    for moves in 0.. {
        let (reports, best) = search(&mut searcher, &position, &Limits::nodes(nodes));
        if told(&reports).is_none() {
            assert_eq!(moves, 0, "{sfen}: lost sight of at {}", position.sfen());
            return false;
        }
        // A line need not be the shortest, so the next one may be longer, but not again and again.
        assert!(moves < 20, "{sfen}");
        position.do_move(best.expect("a move"));
        let replies = legal_moves(&position);
        if replies.is_empty() {
            break;
        }
        position.do_move(defend(reports.last().expect("a report"), &replies));
    }
    true
}

#[test]
fn a_mate_once_told_is_carried_out_against_any_defence() {
    with_stack(|| {
        let mut seed = 0x2545_f491_4f6c_dd1d;
        let mut by_chance = |_: &Report, replies: &[Move]| replies[random(replies.len(), &mut seed)];
        let mut as_expected = |report: &Report, _: &[Move]| report.pv[1];
        let sacrificed = [1_000, 2_000, 3_000, 4_000, 6_000, 8_000]
            .map(|nodes| carry_out(mini(SACRIFICES), nodes, &mut as_expected));
        assert!(sacrificed.iter().filter(|&&told| told).count() >= 3, "{sacrificed:?}");
        let mut carried_out = 0;
        for (position, _) in problems(5..=17) {
            carried_out += usize::from(carry_out(position.clone(), 20_000, &mut by_chance));
            carried_out += usize::from(carry_out(position, 20_000, &mut as_expected));
        }
        assert!(carried_out > 10, "{carried_out}");
    });
}

#[test]
fn every_mate_that_is_told_has_its_line() {
    with_stack(|| {
        let mut seed = 0x9e37_79b9_7f4a_7c15;
        let (mut position, mut mates) = (Mini::new(Rules::default()), [0; 2]);
        let mut searcher = searcher(&options());
        while mates[0] < 60 || mates[1] < 40 {
            let moves = legal_moves(&position);
            if moves.is_empty() || position.ply() > 60 {
                position = Mini::new(Rules::default());
                continue;
            }
            position.do_move(moves[random(moves.len(), &mut seed)]);
            if outcome(&position).is_some() || position.ply() < 8 {
                continue;
            }
            // Stopped anywhere in an iteration.
            let nodes = 50 + random(4_000, &mut seed) as u64;
            let (reports, _) = search(&mut searcher, &position, &Limits::nodes(nodes));
            for plies in reports.iter().filter_map(|report| mate_distance(report.score)) {
                mates[usize::from(plies < 0)] += 1;
            }
        }
    });
}

#[test]
fn no_mate_is_told_where_there_is_none() {
    with_stack(|| {
        // Drop-pawn mates, and a perpetual check that goes round for ever.
        for (sfen, plies) in [("3rk/5/3G1/5/K4 b P 1", 5), ("4k/2B2/4S/b3r/K4 b P 1", 3), ("4k/5/5/5/K2R1 b - 1", 99)] {
            let (reports, best) = search(&mut searcher(&options()), &mini(sfen), &Limits::nodes(20_000));
            assert!(told(&reports).is_none_or(|told| told > plies), "{sfen}: {:?}", reports.last());
            assert_ne!(best.map(|mv| mv.to_usi::<Minishogi>()).as_deref(), Some("P*1b"), "{sfen}");
        }
        // One ply short of the mate the game is drawn; some have shorter ones that are not by checks alone.
        for (position, shortest) in problems(7..=15) {
            let rules = |max_moves| Rules { max_moves, ..Rules::default() };
            let position = Mini::from_sfen(&position.sfen(), rules(shortest as u32 - 1)).expect("a position");
            let (reports, _) = search(&mut searcher(&options()), &position, &Limits::nodes(5_000));
            assert!(told(&reports).is_none_or(|plies| plies < shortest), "{}: {:?}", position.sfen(), reports.last());
        }
    });
}

#[test]
fn only_a_search_for_the_best_move_of_all_asks_the_solver() {
    with_stack(|| {
        let position = mini(LONG);
        let nodes = Limits::nodes(20_000);
        let find = |options: &SearchOptions, limits: &Limits| search(&mut searcher(options), &position, limits);
        let (reports, best) = find(&options(), &nodes);
        assert!(told(&reports).is_some());
        let best = best.expect("a move");
        // Not a level below full strength, but a hint; not with some moves only; not to a fixed depth.
        let weaker = SearchOptions { level: Level::new(19), level_seed: Some(1), ..options() };
        assert_eq!(told(&find(&weaker, &nodes).0), None);
        assert!(told(&find(&SearchOptions { analyse: true, ..weaker }, &nodes).0).is_some());
        let others: Vec<Move> = legal_moves(&position).into_iter().filter(|&mv| mv != best).collect();
        let (_, other) = find(&options(), &Limits { searchmoves: others.clone(), ..nodes.clone() });
        assert!(others.contains(&other.expect("a move")));
        assert_eq!(told(&find(&options(), &Limits::depth(7)).0), None);
        // The other lines are what they are without it.
        let (reports, _) = find(&SearchOptions { multipv: 3, ..options() }, &Limits::nodes(60_000));
        let deepest = reports.last().expect("a report").depth - 1;
        // An iteration that is broken off may show a line of the one before once more.
        let lines: Vec<&Report> = reports.iter().filter(|report| report.depth == deepest).take(3).collect();
        assert_eq!(lines.iter().map(|line| line.multipv).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(lines.is_sorted_by(|a, b| a.score >= b.score && a.pv[0] != b.pv[0]));
        assert!(mate_distance(lines[0].score).is_some());
    });
}

#[test]
fn the_nodes_of_the_solver_count_and_are_the_same_on_every_run() {
    with_stack(|| {
        for nodes in [1_000, 5_000, 20_000, 100_000] {
            let run = || search(&mut searcher(&options()), &mini(LONG), &Limits::nodes(nodes));
            let strip = |reports: Vec<Report>| -> Vec<_> {
                reports.into_iter().map(|report| (report.depth, report.score, report.nodes, report.pv)).collect()
            };
            let ((first, best), (second, same)) = (run(), run());
            assert!(first.last().is_some_and(|report| report.nodes <= nodes));
            assert_eq!((strip(first), best), (strip(second), same));
        }
    });
}

/// A position of 9x9 on which the solver works for minutes.
const HARD: &str = "4k4/9/9/9/9/9/9/9/4K4 b RBSN4Prb4g3s3n4l14p 1";

#[test]
fn the_solver_obeys_stop_and_the_ponder_hit() {
    with_stack(|| {
        let position = Position::<Shogi>::from_sfen(HARD, Rules::default()).expect("a position");
        for hit in [false, true] {
            for wait in [30, 300, 1_000] {
                let control = Arc::new(Control::new());
                let other = Arc::clone(&control);
                let interrupter = thread::spawn(move || {
                    thread::sleep(Duration::from_millis(wait));
                    if hit {
                        other.ponderhit(None)
                    } else {
                        other.stop()
                    }
                    Instant::now()
                });
                let movetime = hit.then_some(Duration::from_millis(1));
                let limits = Limits { infinite: !hit, ponder: hit, movetime, ..Limits::default() };
                searcher(&options()).search(&position, &limits, &control, &mut |_| {});
                let late = interrupter.join().expect("an instant").elapsed();
                assert!(late < Duration::from_millis(500), "{late:?} after {wait} ms");
            }
        }
    });
}
