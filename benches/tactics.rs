//! How fast the search finds the winning moves of the tactical suite: the speed to solution, in nodes and in time.
//!
//! First a table: how many positions are solved within how many nodes, and what a solution takes. The nodes are the same on
//! every machine. Then criterion measures the time to solution of the whole suite, as often as it takes.

#[path = "../tests/tactics/suite.rs"]
mod suite;

use std::time::Duration;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use suite::{Solution, Solver, suite};

/// Nodes for each position. One that is not solved counts as if it had been solved by these.
const LIMIT: u64 = 100_000;

/// The middle one, or the mean of the two in the middle.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

fn geometric_mean(values: &[f64]) -> f64 {
    // A time may be too short for the clock.
    (values.iter().map(|value| value.max(1e-6).ln()).sum::<f64>() / values.len() as f64).exp()
}

fn print_table(solutions: &[Option<Solution>], times: &mut [f64]) {
    println!("minishogi tactics: {} positions, {LIMIT} nodes each, one thread", solutions.len());
    println!("{:>14} {:>10}", "within nodes", "solved");
    for nodes in [1_000, 3_000, 10_000, 30_000, LIMIT] {
        let solved = solutions.iter().flatten().filter(|solution| solution.nodes <= nodes);
        println!("{nodes:>14} {:>10}", solved.count());
    }
    println!("{:>14} {:>10} {:>15}", "to solution", "median", "geometric mean");
    let nodes = solutions.iter().map(|solution| solution.map_or(LIMIT, |solution| solution.nodes) as f64);
    let mut nodes: Vec<f64> = nodes.collect();
    println!("{:>14} {:>10.0} {:>15.0}", "nodes", median(&mut nodes), geometric_mean(&nodes));
    println!("{:>14} {:>10.2} {:>15.2}", "milliseconds", median(times), geometric_mean(times));
}

fn bench_suite(criterion: &mut Criterion) {
    let tactics = suite();
    let (solutions, mut times): (Vec<_>, Vec<f64>) = Solver::run(|solver| {
        let mut solve = |tactic| {
            let solution = solver.solve(tactic, LIMIT);
            let time = solution.map_or_else(|| solver.search(tactic, LIMIT, &mut |_| {}), |solution| solution.time);
            (solution, time.as_secs_f64() * 1e3)
        };
        tactics.iter().map(&mut solve).unzip()
    });
    print_table(&solutions, &mut times);

    // No further than to the solution, which is known by now.
    let whole = |solver: &mut Solver| -> Duration {
        let limits = solutions.iter().map(|solution| solution.map_or(LIMIT, |solution| solution.nodes));
        tactics.iter().zip(limits).map(|(tactic, limit)| solver.search(tactic, limit, &mut |_| {})).sum()
    };
    let mut group = criterion.benchmark_group("minishogi tactics");
    // One iteration takes a second or so.
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_millis(1));
    group.bench_function("time to solution", |bencher| {
        bencher.iter_custom(|iterations| Solver::run(|solver| (0..iterations).map(|_| whole(solver)).sum()));
    });
    group.finish();
}

criterion_group!(benches, bench_suite);
criterion_main!(benches);
