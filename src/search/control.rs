//! How another thread steers a search that is running.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::limits::{Clock, Limits};

/// What a ponder hit brought.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// When it came.
    pub at: Instant,
    /// The clocks, where the client sends them with the hit.
    pub clock: Option<Clock>,
}

#[derive(Debug, Default)]
struct State {
    hit: Option<Hit>,
}

/// The handle of one search. The flags are read often, the rest only when they have changed.
#[derive(Debug, Default)]
pub struct Control {
    stopped: AtomicBool,
    hit: AtomicBool,
    /// Either of them.
    stopped_or_hit: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

impl Control {
    /// A handle for a search that is about to begin.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while holding the lock; if it ever does, the state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the search; it answers at once.
    pub fn stop(&self) {
        let _state = self.lock();
        self.stopped.store(true, Ordering::Relaxed);
        self.stopped_or_hit.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// The move that was pondered on has been played: from now on the limits count. Later hits change nothing.
    pub fn ponderhit(&self, clock: Option<Clock>) {
        let mut state = self.lock();
        if state.hit.is_none() {
            state.hit = Some(Hit { at: Instant::now(), clock });
            self.hit.store(true, Ordering::Relaxed);
            self.stopped_or_hit.store(true, Ordering::Relaxed);
            self.changed.notify_all();
        }
    }

    /// Whether the search was told to end.
    #[inline(always)]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The flag that is set when the search was told to end or, while it ponders, when that is over.
    pub(super) fn interruption(&self, pondering: bool) -> &AtomicBool {
        if pondering { &self.stopped_or_hit } else { &self.stopped }
    }

    /// The ponder hit, once it has come.
    #[inline(always)]
    pub(super) fn hit(&self) -> Option<Hit> {
        if self.hit.load(Ordering::Relaxed) { self.lock().hit } else { None }
    }

    /// Under `infinite` or `ponder`, waits until the answer may be given: until the search is told to end or, if it only
    /// ponders, until the hit.
    pub(crate) fn hold_back(&self, limits: &Limits) {
        if !limits.infinite && !limits.ponder {
            return;
        }
        let mut state = self.lock();
        while !(self.is_stopped() || !limits.infinite && state.hit.is_some()) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
