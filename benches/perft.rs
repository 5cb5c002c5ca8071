//! How fast the rules are: whole perft counts, and their parts.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kozuka::movegen::perft::perft;
use kozuka::movegen::{count_legal, is_legal, legal_moves, outcome};
use kozuka::position::{Position, Rules};
use kozuka::types::Move;
use kozuka::variant::{Minishogi, Shogi, Variant};

/// A position from the middle of a game, with pieces in both hands.
trait Middle: Variant {
    const MIDDLE: &'static str;
    /// A depth that takes some milliseconds.
    const DEPTH: u32;
}

impl Middle for Minishogi {
    const MIDDLE: &'static str = "2r2/2G1P/k4/2br1/K4 w Gb2sp 1";
    const DEPTH: u32 = 5;
}

impl Middle for Shogi {
    const MIDDLE: &'static str = "skg2g1s+R/lp6l/4prp1P/p1p2p3/1n1p4p/2BP2Pp1/P1PKPP2L/1B2G1G2/LN1S1NSN1 b 2P 71";
    const DEPTH: u32 = 4;
}

fn bench_game<V: Middle>(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(V::NAME);
    let start = Position::<V>::new(Rules::default());
    let mut middle = Position::<V>::from_sfen(V::MIDDLE, Rules::default()).expect("a valid position");
    let moves = legal_moves(&middle);

    group.sample_size(20);
    group.throughput(Throughput::Elements(perft(&start, V::DEPTH)));
    group.bench_function("perft from the start", |bencher| bencher.iter(|| perft(black_box(&start), V::DEPTH)));

    group.sample_size(50);
    group.throughput(Throughput::Elements(moves.len() as u64));
    group.bench_function("list moves", |bencher| bencher.iter(|| legal_moves(black_box(&middle))));
    group.bench_function("count moves", |bencher| {
        bencher.iter(|| count_legal(black_box(middle.board()), middle.threats()));
    });
    group.bench_function("do and undo each move", |bencher| {
        bencher.iter(|| {
            for &mv in &moves {
                middle.do_move(black_box(mv));
                middle.undo_move();
            }
        });
    });
    group.bench_function("judge each move", |bencher| {
        bencher.iter(|| moves.iter().filter(|&&mv| is_legal(black_box(&middle), mv)).count());
    });

    group.throughput(Throughput::Elements(1));
    group.bench_function("read SFEN", |bencher| {
        bencher.iter(|| Position::<V>::from_sfen(black_box(V::MIDDLE), Rules::default()));
    });
    group.bench_function("write SFEN", |bencher| bencher.iter(|| black_box(&middle).sfen()));
    // A long game without repetition is what a search asks about most.
    let mut long = start.clone();
    for ply in 0..60 {
        let moves: Vec<Move> = legal_moves(&long).into_iter().collect();
        if let Some(&mv) = moves.get(ply * 7 % moves.len().max(1)) {
            long.do_move(mv);
        }
    }
    group.bench_function("outcome after 60 plies", |bencher| bencher.iter(|| outcome(black_box(&long))));
    group.finish();
}

criterion_group!(benches, bench_game::<Minishogi>, bench_game::<Shogi>);
criterion_main!(benches);
