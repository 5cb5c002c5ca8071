//! The mate solver on a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::mate::{Limits, Progress, STACK_BYTES, Solver, Verdict};
use crate::position::Position;
use crate::search::available_mib;
use crate::variant::Variant;

/// What a running solver tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MateEvent {
    /// What there is to say about the search; comes before the answer.
    Notice(String),
    /// How far it is.
    Progress(Progress),
    /// The end; comes once.
    Reply(MateReply),
}

/// The answer of the solver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MateReply {
    /// A line to mate in USI notation.
    Mate(Vec<String>),
    /// Mate cannot be forced by checks.
    NoMate,
    /// It is not known.
    Unknown,
}

/// A solver that runs.
pub(super) struct Solving {
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
    replied: Arc<AtomicBool>,
    /// No limit will end it.
    pub endless: bool,
}

impl Solving {
    /// Begins to solve with a table of that many MiB, or what there is; its events go to `sink`. `None` if it could not
    /// begin and has replied so.
    pub(super) fn start<V: Variant>(
        position: &Position<V>,
        limits: Limits,
        mib: usize,
        mut sink: impl FnMut(MateEvent) + Send + 'static,
    ) -> Option<Self> {
        let Some((mut solver, size)) = solver(mib) else {
            sink(MateEvent::Notice("no memory to look for mates".to_owned()));
            sink(MateEvent::Reply(MateReply::Unknown));
            return None;
        };
        if size < mib {
            sink(MateEvent::Notice(format!("a table of {mib} MiB does not fit into memory, using {size} MiB")));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let replied = Arc::new(AtomicBool::new(false));
        // Shared, so that it is not lost with a thread that cannot be had.
        let sink = Arc::new(Mutex::new(sink));
        let tell = {
            let (sink, replied) = (Arc::clone(&sink), Arc::clone(&replied));
            move |event: MateEvent| {
                replied.fetch_or(matches!(event, MateEvent::Reply(_)), Ordering::Relaxed);
                let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
                (*sink)(event);
            }
        };
        let (position, flag, say) = (position.clone(), Arc::clone(&stop), tell.clone());
        let work = move || {
            let solve = || {
                let mut report = |progress: &Progress| say(MateEvent::Progress(*progress));
                solver.solve(&position, &limits, &flag, &mut report)
            };
            say(MateEvent::Reply(match catch_unwind(AssertUnwindSafe(solve)) {
                Ok(Verdict::Mate(line)) => MateReply::Mate(line.into_iter().map(|mv| mv.to_usi::<V>()).collect()),
                Ok(Verdict::NoMate) => MateReply::NoMate,
                Ok(Verdict::Unknown) | Err(_) => MateReply::Unknown,
            }));
        };
        match thread::Builder::new().name("mate".to_owned()).stack_size(STACK_BYTES).spawn(work) {
            Ok(thread) => {
                let endless = limits.time.is_none() && limits.nodes.is_none();
                Some(Self { thread, stop, replied, endless })
            }
            Err(error) => {
                tell(MateEvent::Notice(format!("no thread to look for mates: {error}")));
                tell(MateEvent::Reply(MateReply::Unknown));
                None
            }
        }
    }

    /// Whether it has replied or ended.
    pub(super) fn is_over(&self) -> bool {
        self.thread.is_finished() || self.replied.load(Ordering::Relaxed)
    }

    /// Tells it to answer now.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for its end.
    pub(super) fn wait(self) {
        // Its panics have been caught and answered.
        let _ = self.thread.join();
    }
}

/// A solver with so much memory, or as much as there is, and how much that is in MiB.
fn solver(mib: usize) -> Option<(Solver, usize)> {
    let mut size = mib.min(available_mib().unwrap_or(usize::MAX)).max(1);
    loop {
        match Solver::new(size) {
            Ok(solver) => return Some((solver, size)),
            Err(_) if size > 1 => size /= 2,
            Err(_) => return None,
        }
    }
}
