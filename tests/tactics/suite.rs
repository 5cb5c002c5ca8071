//! The tactical suite, and how fast the search solves it. Shared by the test and by `benches/tactics.rs`.

use std::thread;
use std::time::{Duration, Instant};

use kozuka::movegen::is_legal;
use kozuka::position::{Position, Rules};
use kozuka::search::{Control, Limits, Report, STACK_BYTES, SearchOptions, Searcher};
use kozuka::types::Move;
use kozuka::variant::Minishogi;

/// Lines of `SFEN ;bm MOVE ;remarks`; those that begin with `#` say something about them.
const SUITE: &str = include_str!("../data/tactics/minishogi.epd");

/// A position with one winning move.
pub struct Tactic {
    /// The position.
    pub position: Position<Minishogi>,
    /// The move.
    pub best: Move,
}

/// How far a search had come when it settled on the winning move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Solution {
    /// Nodes up to then.
    pub nodes: u64,
    /// Time up to then.
    pub time: Duration,
}

/// The suite. Panics at a line that is not of its form.
pub fn suite() -> Vec<Tactic> {
    let tactic = |line: &str| -> Option<Tactic> {
        let mut fields = line.split(" ;");
        let position = Position::from_sfen(fields.next()?, Rules::default()).ok()?;
        let best = Move::from_usi::<Minishogi>(fields.next()?.strip_prefix("bm ")?)?;
        is_legal(&position, best).then_some(Tactic { position, best })
    };
    let lines = SUITE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| tactic(line).unwrap_or_else(|| panic!("bad line: {line}"))).collect()
}

/// Searches tactical positions, on one thread and each from empty tables, so that nodes are the same on every machine.
pub struct Solver {
    searcher: Searcher<Minishogi>,
}

impl Solver {
    /// Does some work with a solver, where there is stack enough for it.
    pub fn run<T: Send>(work: impl FnOnce(&mut Self) -> T + Send) -> T {
        let work = || {
            let mut searcher = Searcher::new();
            searcher.configure(&SearchOptions { hash_mib: 16, ..SearchOptions::default() });
            work(&mut Self { searcher })
        };
        thread::scope(|scope| {
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, work).expect("a thread").join().expect("the search ends well")
        })
    }

    /// Searches a position for so many nodes. Returns the time that it took.
    pub fn search(&mut self, tactic: &Tactic, nodes: u64, report: &mut dyn FnMut(&Report)) -> Duration {
        self.searcher.new_game();
        let start = Instant::now();
        self.searcher.search(&tactic.position, &Limits::nodes(nodes), &Control::new(), report);
        start.elapsed()
    }

    /// Searches a position for so many nodes. It is solved as soon as the winning move is the best one at the end of an
    /// iteration and stays so to the end of the search.
    pub fn solve(&mut self, tactic: &Tactic, nodes: u64) -> Option<Solution> {
        let mut solution = None;
        self.search(tactic, nodes, &mut |report| {
            if report.pv.first() == Some(&tactic.best) {
                solution.get_or_insert(Solution { nodes: report.nodes, time: report.time });
            } else {
                solution = None;
            }
        });
        solution
    }
}
