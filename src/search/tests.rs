use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::movegen::{legal_moves, outcome};
use crate::position::{Position, Rules, Sennichite};
use crate::types::score::{CERTAIN_BOUND, MATE, MATE_BOUND, is_mate, mate_distance, mate_in, mated_in};
use crate::types::{Color, MoveKind};
use crate::variant::{Minishogi, Shogi, Variant};

fn position<V: Variant>(sfen: &str, moves: &str, rules: Rules) -> Position<V> {
    let mut position = Position::from_sfen(sfen, rules).unwrap();
    for text in moves.split_whitespace() {
        let mv = Move::from_usi::<V>(text).unwrap();
        assert!(legal_moves(&position).contains(&mv), "{text}");
        position.do_move(mv);
    }
    position
}

fn mini(sfen: &str) -> Position<Minishogi> {
    position(sfen, "", Rules::default())
}

/// Searches with a fresh searcher; returns the reports and the answer.
fn search<V: Variant>(position: &Position<V>, limits: &Limits, options: &SearchOptions) -> (Vec<Report>, Answer) {
    let mut searcher = Searcher::<V>::new();
    assert_eq!(searcher.configure(options), Vec::<String>::new());
    run(&mut searcher, position, limits)
}

fn run<V: Variant>(searcher: &mut Searcher<V>, position: &Position<V>, limits: &Limits) -> (Vec<Report>, Answer) {
    let mut reports = Vec::new();
    let answer = searcher.search(position, limits, &Control::new(), &mut |report| reports.push(report.clone()));
    check(position, &reports, answer);
    (reports, answer)
}

/// What holds of every search: lines are legal throughout, and the answer is the head of the last best line.
fn check<V: Variant>(position: &Position<V>, reports: &[Report], answer: Answer) {
    for report in reports {
        let mut position = position.clone();
        for (index, mv) in report.pv.iter().enumerate() {
            assert!(legal_moves(&position).contains(mv), "{report:?}");
            assert!(index == 0 || outcome(&position).is_none(), "the line goes on after the end: {report:?}");
            position.do_move(*mv);
        }
    }
    let last = reports.iter().rfind(|report| report.multipv == 1).unwrap();
    match answer {
        Answer::Move { best, ponder } => {
            assert_eq!(Some(&best), last.pv.first());
            assert!(last.pv.len() < 2 || ponder == Some(last.pv[1]));
            let mut position = position.clone();
            position.do_move(best);
            assert!(ponder.is_none_or(|mv| outcome(&position).is_none() && legal_moves(&position).contains(&mv)));
        }
        Answer::Resign | Answer::Win => {}
    }
}

fn best<V: Variant>(answer: Answer) -> String {
    match answer {
        Answer::Move { best, .. } => best.to_usi::<V>(),
        other => format!("{other:?}"),
    }
}

fn options() -> SearchOptions {
    SearchOptions { hash_mib: 4, ..SearchOptions::default() }
}

fn final_score(reports: &[Report]) -> Score {
    reports.iter().rfind(|report| report.multipv == 1).unwrap().score
}

#[test]
fn the_same_search_gives_the_same_nodes() {
    let strip = |reports: Vec<Report>| -> Vec<_> {
        reports.into_iter().map(|report| (report.depth, report.score, report.nodes, report.pv)).collect()
    };
    let start = Position::<Minishogi>::new(Rules::default());
    for limits in [Limits::depth(9), Limits::nodes(20_000)] {
        let mut searcher = Searcher::<Minishogi>::new();
        searcher.configure(&options());
        let (first, answer) = run(&mut searcher, &start, &limits);
        searcher.new_game();
        let (second, same) = run(&mut searcher, &start, &limits);
        assert_eq!(strip(first.clone()), strip(second));
        assert_eq!(answer, same);
        let (fresh, same) = search(&start, &limits, &options());
        assert_eq!(strip(first), strip(fresh));
        assert_eq!(answer, same);
    }
}

#[test]
fn nodes_are_counted_and_kept_to() {
    let start = Position::<Minishogi>::new(Rules::default());
    for nodes in [0, 1, 2, 500, 10_001] {
        let (reports, _) = search(&start, &Limits::nodes(nodes), &options());
        let counted = reports.last().unwrap().nodes;
        assert!(counted <= nodes.max(1), "{counted} of {nodes}");
    }
    // More threads than most machines have: what one has counted, the others do not know at once.
    for nodes in [100, 5_000, 50_000] {
        let options = SearchOptions { threads: 64, hash_mib: 1, ..options() };
        let (reports, _) = search(&start, &Limits::nodes(nodes), &options);
        let Report { depth, nodes: counted, .. } = reports.last().unwrap();
        assert!(*depth > 0 && *counted <= nodes * 5 / 4 + 64, "{counted} of {nodes}");
    }
}

/// Whether the side to move wins within `plies`, by trying everything; having no move loses, in check or not.
fn wins_within<V: Variant>(position: &mut Position<V>, plies: usize) -> bool {
    legal_moves(position).into_iter().any(|mv| {
        position.do_move(mv);
        let wins = loses_within(position, plies - 1);
        position.undo_move();
        wins
    })
}

fn loses_within<V: Variant>(position: &mut Position<V>, plies: usize) -> bool {
    let moves = legal_moves(position);
    moves.is_empty()
        || plies >= 2
            && moves.into_iter().all(|mv| {
                position.do_move(mv);
                let wins = wins_within(position, plies - 1);
                position.undo_move();
                wins
            })
}

/// The shortest win by an odd number of plies up to `limit`.
fn shortest_win<V: Variant>(position: &Position<V>, limit: usize) -> Option<usize> {
    (1..=limit).step_by(2).find(|&plies| wins_within(&mut position.clone(), plies))
}

#[test]
fn mates_are_found_and_counted_in_plies() {
    for sfen in [
        "4k/5/3G1/5/K4 b G 1",
        "5/2rkS/1B3/5/K4 b G 1",
        "k4/5/5/2B2/K4 b R2S 1",
        "4k/5/5/2R1P/KS3 b GS 1",
        "1g2k/5/4P/2R2/K4 b 2B 1",
        "4k/5/5/5/K4 b BGSP 1",
        "4k/2B2/4S/b3r/K4 b P 1",
        "2B1k/5/5/1R3/K4 b SP 1",
    ] {
        let shortest = shortest_win(&mini(sfen), 5).unwrap();
        let (reports, _) = search(&mini(sfen), &Limits::depth(12), &options());
        assert_eq!(final_score(&reports), mate_in(shortest), "{sfen}");
        assert_eq!(reports.last().unwrap().pv.len(), shortest, "{sfen}");
    }
}

#[test]
fn mate_scores_are_what_trying_everything_finds() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 20) as usize % below
    };
    let mut compared = 0;
    let mut played = Position::<Minishogi>::new(Rules::default());
    while compared < 60 {
        let moves = legal_moves(&played);
        if moves.is_empty() || played.ply() > 100 {
            played = Position::new(Rules::default());
            continue;
        }
        played.do_move(moves[random(moves.len())]);
        let position = mini(&played.sfen());
        if legal_moves(&position).is_empty() {
            continue;
        }
        let (reports, _) = search(&position, &Limits::depth(6), &options());
        let told = reports.iter().filter_map(|report| mate_distance(report.score)).filter(|&plies| plies > 0).min();
        let Some(shortest) = shortest_win(&position, 3) else {
            assert!(told.is_none_or(|plies| plies > 3), "{}: {told:?}", position.sfen());
            continue;
        };
        compared += 1;
        assert_eq!(told, Some(shortest as i32), "{}", position.sfen());
    }
}

#[test]
fn no_mate_is_seen_where_the_pawn_drop_is_illegal() {
    for (sfen, depth) in [("3rk/5/3G1/5/K4 b P 1", 5), ("4k/2B2/4S/b3r/K4 b P 1", 3)] {
        let (reports, answer) = search(&mini(sfen), &Limits::depth(depth), &options());
        assert!(!is_mate(final_score(&reports)), "{sfen}: {reports:?}");
        assert_ne!(best::<Minishogi>(answer), "P*1b");
    }
}

#[test]
fn a_mated_root_resigns() {
    for sfen in ["4k/4G/4P/5/K4 w - 1", "4k/5/p4/g4/K4 b - 1"] {
        let (reports, answer) = search(&mini(sfen), &Limits::depth(5), &options());
        assert_eq!(answer, Answer::Resign);
        assert_eq!((reports.len(), final_score(&reports), reports[0].depth), (1, mated_in(0), 0));
    }
    // One ply before, the side to move will be mated by the reply.
    let (reports, _) = search(&mini("5/2rkS/1B3/5/K4 b G 1"), &Limits::depth(6), &options());
    let mut before = mini("5/2rkS/1B3/5/K4 b G 1");
    before.do_move(reports.last().unwrap().pv[0]);
    let (reports, _) = search(&before, &Limits::depth(6), &options());
    assert_eq!(final_score(&reports), mated_in(2));
}

const PERPETUAL: &str = "2e1e 1a2a 1e2e 2a1a 2e1e 1a2a 1e2e 2a1a 2e1e 1a2a 1e2e";

#[test]
fn a_hopeless_position_is_given_up_wherever_the_search_ends() {
    let hopeless = mini("rbsgk/4p/5/P4/K1S1R b - 1");
    let options = SearchOptions { resign_value: Some(500), ..options() };
    // Many of these end before the first move of an iteration has its score.
    for nodes in (2_000..6_000).step_by(100) {
        let (reports, answer) = search(&hopeless, &Limits::nodes(nodes), &options);
        assert!(final_score(&reports) <= -500, "{nodes}");
        assert_eq!(answer, Answer::Resign, "{nodes}");
    }
}

#[test]
fn perpetual_check_is_won_by_the_side_in_check() {
    let sfen = "4k/5/5/5/K2R1 b - 1";
    let before_fourth = position::<Minishogi>(sfen, PERPETUAL, Rules::default());
    let (reports, answer) = search(&before_fourth, &Limits::depth(6), &options());
    assert_eq!(best::<Minishogi>(answer), "2a1a");
    let score = final_score(&reports);
    assert!((CERTAIN_BOUND..MATE_BOUND).contains(&score), "{score}");

    let checks = PERPETUAL.rsplit_once(' ').unwrap().0;
    let checker = position::<Minishogi>(sfen, checks, Rules::default());
    let (_, answer) = search(&checker, &Limits::depth(6), &options());
    assert_ne!(best::<Minishogi>(answer), "1e2e");
}

#[test]
fn the_repetition_setting_decides_what_a_shuffle_is_worth() {
    // Gote can complete the fourth occurrence; what it is worth depends on the rule alone.
    let moves = "4e4d 2a2b 4d4e 2b2a 4e4d 2a2b 4d4e 2b2a 4e4d 2a2b 4d4e";
    let score = |sennichite| {
        let rules = Rules { sennichite, max_moves: 0 };
        let shuffled = position::<Minishogi>(Minishogi::START_SFEN, moves, rules);
        let (reports, answer) = search(&shuffled, &Limits::depth(5), &options());
        (final_score(&reports), best::<Minishogi>(answer))
    };
    let (sente_loses, mv) = score(Sennichite::SenteLoses);
    assert!((CERTAIN_BOUND..MATE_BOUND).contains(&sente_loses), "{sente_loses}");
    assert_eq!(mv, "2b2a");
    let (draw, _) = score(Sennichite::Draw);
    assert!((0..CERTAIN_BOUND).contains(&draw), "{draw}");
}

#[test]
fn sente_does_not_walk_into_a_repetition() {
    let moves = "4e4d 2a2b 4d4e 2b2a 4e4d 2a2b 4d4e 2b2a 4e4d 2a2b";
    let shuffled = position::<Minishogi>(Minishogi::START_SFEN, moves, Rules::default());
    let (reports, answer) = search(&shuffled, &Limits::depth(7), &options());
    assert_ne!(best::<Minishogi>(answer), "4d4e");
    assert!(final_score(&reports) > -CERTAIN_BOUND);
}

#[test]
fn the_ply_limit_is_a_draw_but_not_for_a_mate_on_the_last_ply() {
    let rules = Rules { max_moves: 1, ..Rules::default() };
    let won = position::<Minishogi>("rbsgk/4p/5/P4/KGSBR b - 1", "", rules);
    let (reports, _) = search(&won, &Limits::depth(4), &options());
    assert_eq!(final_score(&reports), 0);
    let mating = position::<Minishogi>("4k/5/3G1/5/K4 b G 1", "", rules);
    let (reports, _) = search(&mating, &Limits::depth(4), &options());
    assert_eq!(final_score(&reports), mate_in(1));
    let two_needed = position::<Minishogi>("5/2rkS/1B3/5/K4 b G 1", "", Rules { max_moves: 2, ..rules });
    let (reports, _) = search(&two_needed, &Limits::depth(6), &options());
    assert!(!is_mate(final_score(&reports)), "a mate in three does not fit into two plies");
}

#[test]
fn several_lines_are_distinct_and_sorted() {
    let start = Position::<Minishogi>::new(Rules::default());
    let (reports, _) = search(&start, &Limits::depth(6), &SearchOptions { multipv: 50, ..options() });
    let last: Vec<_> = reports.iter().filter(|report| report.depth == 6).collect();
    assert_eq!(last.len(), 14);
    assert!(last.iter().enumerate().all(|(index, report)| report.multipv == index + 1));
    assert!(last.is_sorted_by(|a, b| a.score >= b.score));
    let mut firsts: Vec<_> = last.iter().map(|report| report.pv[0]).collect();
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 14);

    let one_move = mini("2s1k/5/1r1B1/PKRgp/G2+b1 b s 1");
    let (reports, answer) = search(&one_move, &Limits::depth(6), &SearchOptions { multipv: 50, ..options() });
    assert!(reports.iter().all(|report| report.multipv == 1));
    assert_eq!(best::<Minishogi>(answer), "4d4c");
}

#[test]
fn searchmoves_restrict_the_root() {
    let start = Position::<Minishogi>::new(Rules::default());
    let only = Move::from_usi::<Minishogi>("5d5c").unwrap();
    let (_, answer) = search(&start, &Limits { searchmoves: vec![only], ..Limits::depth(5) }, &options());
    assert_eq!(best::<Minishogi>(answer), "5d5c");
}

fn turned_move(mv: Move) -> Move {
    match mv.unpack().unwrap() {
        MoveKind::Board { from, to, promote } => {
            Move::board(from.rotated::<Minishogi>(), to.rotated::<Minishogi>(), promote)
        }
        MoveKind::Drop { kind, to } => Move::drop(kind, to.rotated::<Minishogi>()),
    }
}

#[test]
fn the_game_with_colors_changed_is_searched_alike() {
    // The same positions with colors changed, by turning the board; without the rule that makes repetitions matter
    // otherwise to one side than to the other.
    let rules = Rules { sennichite: Sennichite::Draw, ..Rules::default() };
    for (sfen, turned) in [
        ("rbsgk/4p/5/P4/KGSBR b - 1", "rbsgk/4p/5/P4/KGSBR w - 1"),
        ("rb1gk/3sp/5/P1S2/KG1BR b - 1", "rb1gk/2s1p/5/PS3/KG1BR w - 1"),
        ("4k/1s1gp/r1B2/P1S2/K1G1R b b 11", "r1g1k/2s1p/2b1R/PG1S1/K4 w B 11"),
    ] {
        let [(first, answer), (second, other)] = [sfen, turned].map(|sfen| {
            let position = position::<Minishogi>(sfen, "", rules);
            let mut searcher = Searcher::new();
            searcher.configure(&SearchOptions { hash_mib: 64, ..options() });
            run(&mut searcher, &position, &Limits::depth(8))
        });
        let seen = |reports: &[Report]| -> Vec<_> { reports.iter().map(|r| (r.depth, r.score)).collect() };
        assert_eq!(seen(&first), seen(&second), "{sfen}");
        let (Answer::Move { best, .. }, Answer::Move { best: other, .. }) = (answer, other) else { panic!("{sfen}") };
        assert_eq!(best, turned_move(other), "{sfen}");
    }
}

#[test]
fn several_threads_find_the_same_mate() {
    let (reports, answer) = search(
        &mini("4k/5/5/5/K4 b BGSP 1"),
        &Limits::depth(10),
        &SearchOptions { threads: 3, hash_mib: 1, ..options() },
    );
    // Which of the mates in three comes first is a matter of chance.
    assert_eq!(final_score(&reports), MATE - 3);
    assert!(matches!(answer, Answer::Move { .. }));
}

#[test]
fn shogi_is_played_too() {
    let start = Position::<Shogi>::new(Rules::default());
    let (_, answer) = search(&start, &Limits::depth(5), &options());
    assert!(matches!(answer, Answer::Move { .. }));
    let declaring = position::<Shogi>("+P+P+PKGG3/+P+P+P+P+B4/9/9/9/9/9/9/4k4 b 2RB2G2S10P 1", "", Rules::default());
    let (_, answer) = search(&declaring, &Limits::depth(3), &options());
    assert_eq!(answer, Answer::Win);
}

#[test]
fn a_stop_ends_an_endless_search() {
    let control = Arc::new(Control::new());
    for limits in [
        Limits { infinite: true, ..Limits::default() },
        Limits { ponder: true, movetime: Some(Duration::from_millis(1)), ..Limits::default() },
        // Held back though the search itself is over.
        Limits { infinite: true, ..Limits::depth(1) },
    ] {
        let control = Arc::clone(&control);
        let stopper = thread::spawn({
            let control = Arc::clone(&control);
            move || {
                thread::sleep(Duration::from_millis(150));
                control.stop();
            }
        });
        let started = Instant::now();
        let mut searcher = Searcher::<Minishogi>::new();
        searcher.search(&mini("4k/5/3G1/5/K4 b G 1"), &limits, &control, &mut |_| {});
        let elapsed = started.elapsed();
        stopper.join().unwrap();
        // The first search waits for its stop; the control stays stopped for those after it.
        assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
    }
}

#[test]
fn a_ponder_hit_starts_the_clock() {
    let control = Arc::new(Control::new());
    let hitter = thread::spawn({
        let control = Arc::clone(&control);
        move || {
            thread::sleep(Duration::from_millis(300));
            control.ponderhit(None);
            control.ponderhit(None);
        }
    });
    let limits = Limits { ponder: true, movetime: Some(Duration::from_millis(200)), ..Limits::default() };
    let started = Instant::now();
    let mut searcher = Searcher::<Minishogi>::new();
    let start = Position::<Minishogi>::new(Rules::default());
    searcher.search(&start, &limits, &control, &mut |_| {});
    let elapsed = started.elapsed();
    hitter.join().unwrap();
    assert!(elapsed >= Duration::from_millis(400) && elapsed < Duration::from_secs(3), "{elapsed:?}");
    assert_eq!(start.side_to_move(), Color::Black);
}

#[test]
fn a_search_stopped_while_it_changes_its_mind_says_what_it_knows() {
    // Black is behind. With what earlier searches have left, one of these is stopped after another move has turned out
    // to be better, but before it is known how much.
    let position = mini("2k1g/2b1p/3p1/G3R/K1S2 b Srb 6");
    let mut searcher = Searcher::new();
    searcher.configure(&SearchOptions::default());
    for nodes in (1_000..23_000).step_by(311) {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let (reports, _) = run(&mut searcher, &position, &limits);
        assert_ne!(final_score(&reports), 0, "{nodes} nodes: {:?}", reports.last());
    }
}
