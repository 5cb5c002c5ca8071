//! The driver of a search: sets the workers to work, reports, and decides when the answer is good enough.

use std::sync::atomic::Ordering;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::control::Control;
use super::limits::Limits;
use super::params::SINGLE_MOVE_DEPTH;
use super::root::{RootMove, Stopper};
use super::root_mate::{Looks, MateFinder};
use super::skill::{Handicap, Level};
use super::time::Certainty;
use super::tt::Table;
use super::worker::{Memory, Shared, Worker};
use super::{Answer, Report, SearchOptions};
use crate::eval::embedded;
use crate::eval::network::Network;
use crate::movegen::{can_declare_win, is_legal, legal_moves, outcome};
use crate::position::Position;
use crate::types::score::{INFINITE, MAX_PLY, RULE_WIN, mate_distance, mated_in};
use crate::types::{Move, Score};
use crate::variant::Variant;

/// The deepest iteration.
const MAX_DEPTH: u32 = MAX_PLY as u32 - 1;
/// The stack that a thread needs to search: frames are large, and a line may be [`MAX_PLY`] long, even unoptimised.
pub const STACK_BYTES: usize = 64 << 20;

/// A searcher with its memory: transposition table, histories, threads. Searches one position at a time.
pub struct Searcher<V: Variant> {
    options: SearchOptions,
    table: Table,
    /// One for each thread.
    memories: Vec<Memory<V>>,
    network: Option<Network<V>>,
    /// The highest level that has searched for this game.
    level: Level,
    /// Allocated by the first search that may use it.
    mate_finder: Option<MateFinder>,
    /// Runs the helpers; the main worker runs on the thread that calls `search`.
    pool: Option<ThreadPool>,
}

impl<V: Variant> Default for Searcher<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Variant> Searcher<V> {
    /// A searcher with a smallest table and one thread, until it is configured; evaluates by the network in the program,
    /// if the game has one.
    ///
    /// # Panics
    /// If there is no memory for one MiB.
    pub fn new() -> Self {
        let table = Self::smallest_table();
        let options = SearchOptions { hash_mib: 1, ..SearchOptions::default() };
        let network = embedded();
        let memories = vec![Memory::new(network.clone())];
        Self { options, table, memories, network, level: Level::MIN, mate_finder: None, pool: None }
    }

    fn smallest_table() -> Table {
        Table::new(1, true).expect("one MiB of memory")
    }

    /// Takes over options, allocating only what has changed. What the machine does not give is taken smaller; the
    /// texts that come back say so, one a reduction.
    pub fn configure(&mut self, options: &SearchOptions) -> Vec<String> {
        let mut notices = Vec::new();
        if (options.hash_mib, options.large_pages) != (self.options.hash_mib, self.options.large_pages) {
            self.allocate_table(options.hash_mib.max(1), options.large_pages, &mut notices);
        }
        if options.threads != self.options.threads {
            self.start_threads(options.threads.max(1), &mut notices);
        }
        self.options = *options;
        notices
    }

    fn allocate_table(&mut self, mib: usize, large_pages: bool, notices: &mut Vec<String>) {
        // The old table goes first, so that both need not fit at once.
        self.table = Self::smallest_table();
        let available = available_mib().unwrap_or(usize::MAX);
        let mut size = mib.min(available.max(1));
        loop {
            match Table::new(size, large_pages) {
                Ok(mut table) => {
                    table.touch();
                    self.table = table;
                    break;
                }
                Err(_) if size > 1 => size /= 2,
                Err(_) => break,
            }
        }
        if size < mib {
            notices.push(format!("a table of {mib} MiB does not fit into memory, using {size} MiB"));
        }
    }

    fn start_threads(&mut self, threads: usize, notices: &mut Vec<String>) {
        self.pool = None;
        let mut helpers = threads - 1;
        while helpers > 0 {
            match ThreadPoolBuilder::new()
                .num_threads(helpers)
                .stack_size(STACK_BYTES)
                .thread_name(|index| format!("search-{}", index + 1))
                .build()
            {
                Ok(pool) => {
                    self.pool = Some(pool);
                    break;
                }
                Err(_) => helpers /= 2,
            }
        }
        if helpers + 1 < threads {
            notices.push(format!("{threads} threads cannot be started, using {}", helpers + 1));
        }
        let network = &self.network;
        self.memories.resize_with(helpers + 1, || Memory::new(network.clone()));
    }

    /// Evaluates by that network from now on, or by hand-made rules. Forgets everything, for it was found out by other
    /// scores.
    pub fn set_network(&mut self, network: Option<Network<V>>) {
        self.network = network;
        self.new_game();
    }

    /// The options in force.
    pub fn options(&self) -> &SearchOptions {
        &self.options
    }

    /// The transposition table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Forgets everything about earlier games.
    pub fn new_game(&mut self) {
        let mib = self.table.mib();
        // A new table is as quickly had as the old one cleared; the old one goes first.
        self.table = Self::smallest_table();
        self.allocate_table(mib, self.options.large_pages, &mut Vec::new());
        for memory in &mut self.memories {
            *memory = Memory::new(self.network.clone());
        }
        self.level = Level::MIN;
        if let Some(finder) = &mut self.mate_finder {
            finder.new_game();
        }
    }

    /// Searches for the best move within the limits. Blocks; another thread steers it by `control`. Under `infinite` and
    /// `ponder` the answer is held back until it is asked for. With one thread, and no limit on time, the same calls
    /// since [`Searcher::new_game`] give the same reports and answers.
    pub fn search(
        &mut self,
        position: &Position<V>,
        limits: &Limits,
        control: &Control,
        report: &mut dyn FnMut(&Report),
    ) -> Answer {
        let answer = self.think(position, limits, control, report);
        control.hold_back(limits);
        answer
    }

    fn think(
        &mut self,
        position: &Position<V>,
        limits: &Limits,
        control: &Control,
        report: &mut dyn FnMut(&Report),
    ) -> Answer {
        let legal = legal_moves(position);
        let mut stopper = Stopper::new(control, limits, position.side_to_move(), self.options.move_overhead);
        let settled = |score| Report {
            depth: 0,
            seldepth: 0,
            multipv: 1,
            score,
            time: stopper.started.elapsed(),
            nodes: 0,
            hashfull: 0,
            pv: Vec::new(),
        };
        if legal.is_empty() {
            report(&settled(mated_in(0)));
            return Answer::Resign;
        }
        if can_declare_win(position) {
            report(&settled(RULE_WIN));
            return Answer::Win;
        }

        let mut roots: Vec<Move> = legal
            .iter()
            .copied()
            .filter(|mv| limits.searchmoves.is_empty() || limits.searchmoves.contains(mv))
            .collect();
        if roots.is_empty() {
            roots = legal.to_vec();
        }
        // As its mover sees the board, so that a game with colors changed is searched alike.
        roots.sort_unstable_by_key(|mv| std::cmp::Reverse(mv.order(position.side_to_move())));
        let root_moves: Vec<RootMove> = roots.into_iter().map(RootMove::new).collect();
        // What a hint has found is not for a weaker level to know.
        if self.options.playing_level() < self.level {
            self.new_game();
        }
        self.level = self.options.playing_level();
        let mut handicap = Handicap::of(&self.options, position.key());
        let most = handicap.as_mut().map_or(MAX_DEPTH, Handicap::depth).min(MAX_DEPTH);
        let shown = self.options.multipv.clamp(1, root_moves.len());
        let plan = Plan {
            max_depth: limits.depth.unwrap_or(MAX_DEPTH).clamp(1, most),
            lines: handicap.as_ref().map_or(shown, |handicap| shown.max(handicap.lines().min(root_moves.len()))),
            shown,
            thorough: self.options.analyse,
        };

        // The solver knows nothing of moves that are left out, and a weaker level is to find its mates itself.
        let may_solve = handicap.is_none() && root_moves.len() == legal.len();
        if may_solve && self.mate_finder.is_none() {
            self.mate_finder = MateFinder::new();
        }
        let mut looks = self.mate_finder.as_mut().filter(|_| may_solve).and_then(|finder| finder.looks(limits));

        self.table.age();
        stopper.pondering = limits.ponder;
        let shared = Shared::new(&self.table, self.memories.len(), limits);
        let Some((main_memory, helper_memories)) = self.memories.split_first_mut() else {
            unreachable!("there is a memory for the main thread")
        };
        let mut main = Worker::new(&shared, main_memory, position.clone(), root_moves.clone(), 0);
        main.stopper = Some(stopper);

        match &self.pool {
            None => main.deepen(&plan, looks.as_mut(), report),
            Some(pool) => pool.in_place_scope(|scope| {
                for (index, memory) in helper_memories.iter_mut().enumerate() {
                    let (shared, plan, root_moves) = (&shared, &plan, root_moves.clone());
                    scope.spawn(move |_| {
                        Worker::new(shared, memory, position.clone(), root_moves, index + 1)
                            .help(plan.max_depth as i32);
                    });
                }
                main.deepen(&plan, looks.as_mut(), report);
                shared.stop.store(true, Ordering::Relaxed);
            }),
        }
        if self.options.resign_value.is_some_and(|limit| !plan.thorough && main.is_hopeless(limit)) {
            return Answer::Resign;
        }
        if let Some(handicap) = &mut handicap {
            main.choose(handicap, plan.lines, report);
        }
        main.answer()
    }
}

/// What a search is to do.
struct Plan {
    /// The last iteration.
    max_depth: u32,
    /// Best lines to find,
    lines: usize,
    /// and to report.
    shown: usize,
    /// Whether to go on when there is nothing left to decide.
    thorough: bool,
}

/// Memory that can still be had, in MiB; `None` if the system does not say.
pub fn available_mib() -> Option<usize> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    let bytes = match system.cgroup_limits() {
        Some(limits) => limits.free_memory.min(system.available_memory()),
        None => system.available_memory(),
    };
    // A little must remain for everything else.
    usize::try_from((bytes / 16 * 15) >> 20).ok()
}

impl<V: Variant> Worker<'_, V> {
    /// Deepens iteration by iteration, reporting after each, until a limit is reached.
    fn deepen(&mut self, plan: &Plan, mut looks: Option<&mut Looks<'_>>, report: &mut dyn FnMut(&Report)) {
        let &Plan { max_depth, lines, shown, thorough } = plan;
        let mut reported: Vec<Move> = Vec::new();
        let mut certainty = Certainty::default();
        for depth in 1..=max_depth {
            self.root_depth = depth as i32;
            for root in &mut self.root_moves {
                root.previous_score = root.score;
            }
            for first in 0..lines {
                self.seldepth = 0;
                self.aspire(depth as i32, first);
                if self.stopped {
                    break;
                }
            }
            if self.stopped {
                self.report_the_stop(depth, plan, &reported, report);
                break;
            }
            self.root_moves[..lines].sort_by_key(|root| std::cmp::Reverse(root.score));
            if let Some(looks) = &mut looks {
                self.look_for_mate(looks);
            }
            for index in 0..shown {
                self.report_line(depth, index, report);
            }
            let best = &self.root_moves[0];
            let same = reported.first().is_none_or(|&before| before == best.mv());
            let scale = certainty.after(same, best.score, best.nodes as f64 / self.nodes.max(1) as f64);
            reported.clone_from(&best.line);

            if self.is_enough(depth, thorough, scale) {
                break;
            }
        }
    }

    /// Reports what was found in an iteration that was broken off. It counts; the answer follows the line that is shown
    /// last.
    fn report_the_stop(&mut self, depth: u32, plan: &Plan, reported: &[Move], report: &mut dyn FnMut(&Report)) {
        if plan.lines > 1 {
            // Some lines are of this iteration, some of the one before.
            self.root_moves.sort_by_key(|root| std::cmp::Reverse(root.known()));
        }
        if plan.shown == 1 {
            if reported != self.root_moves[0].line {
                self.report_line(depth, 0, report);
            }
            return;
        }
        for index in 0..plan.shown {
            let root = &self.root_moves[index];
            let of_this_iteration = root.score > -INFINITE || depth == 1;
            if index == 0 || root.known().is_some() {
                self.report_line(if of_this_iteration { depth } else { depth - 1 }, index, report);
            }
        }
    }

    fn is_enough(&mut self, depth: u32, thorough: bool, scale: f64) -> bool {
        let single = self.root_moves.len() == 1 && depth >= SINGLE_MOVE_DEPTH;
        // A mate that is searched twice as deep as it is long will not get shorter.
        let mate = mate_distance(self.root_moves[0].score).is_some_and(|plies| depth >= 2 * plies.unsigned_abs() + 2);
        let Some(stopper) = &mut self.stopper else { return false };
        if stopper.is_endless() { false } else { !thorough && (single || mate) || stopper.is_enough(scale) }
    }

    fn report_line(&mut self, depth: u32, index: usize, report: &mut dyn FnMut(&Report)) {
        self.expect_an_answer(index);
        let Some(stopper) = &self.stopper else { return };
        let root = &self.root_moves[index];
        report(&Report {
            depth,
            seldepth: self.seldepth.max(depth as usize) as u32,
            multipv: index + 1,
            score: root.known().unwrap_or(0),
            time: stopper.started.elapsed(),
            nodes: self.nodes + self.shared.nodes_of_others(0),
            hashfull: self.shared.table.hashfull(),
            pv: root.line.clone(),
        });
    }

    /// Whether the best move scores so many centipawns below zero.
    fn is_hopeless(&self, limit: Score) -> bool {
        self.root_moves[0].known().is_some_and(|score| score <= -limit)
    }

    /// A line of one move gets the answer to it that the table knows, to ponder on.
    fn expect_an_answer(&mut self, index: usize) {
        let &[mv] = self.root_moves[index].line.as_slice() else { return };
        self.position.do_move(mv);
        // Nobody replies to a move that ends the game.
        let expected = match outcome(&self.position) {
            None => self.shared.table.probe(self.position.key(), 1).and_then(|entry| entry.best),
            Some(_) => None,
        };
        let legal = expected.filter(|&mv| is_legal(&self.position, mv));
        self.position.undo_move();
        self.root_moves[index].line.extend(legal);
    }

    /// Puts the move first that the handicap chooses among the best lines, and reports it, unless it was first.
    fn choose(&mut self, handicap: &mut Handicap, lines: usize, report: &mut dyn FnMut(&Report)) {
        let scores: Vec<Score> = self.root_moves[..lines].iter().map_while(RootMove::known).collect();
        let chosen = handicap.choose(&scores);
        if chosen > 0 {
            self.root_moves[..=chosen].rotate_right(1);
            self.report_line(self.root_depth as u32, 0, report);
        }
    }

    /// The answer from what has been found.
    fn answer(&mut self) -> Answer {
        let root = &self.root_moves[0];
        Answer::Move { best: root.mv(), ponder: root.line.get(1).copied() }
    }
}
