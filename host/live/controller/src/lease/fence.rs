//! The fence, which decides whether a write may start now.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::clock::{Clock, Moment};
use super::election::Term;

/// Decides whether a write may start now. Clones are views of the same fence.
///
/// The fence closes by itself, because it compares the clock with the moment up to which the last renewal counts. So it is
/// closed for a process that was paused, as soon as it wakes.
#[derive(Clone)]
pub struct Fence {
    clock: Arc<dyn Clock>,
    tenure: Arc<Mutex<Option<(Term, Moment)>>>,
    is_closed: Arc<AtomicBool>,
}

impl Fence {
    /// A fence that is closed until an elector opens it.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            tenure: Arc::default(),
            is_closed: Arc::default(),
        }
    }

    /// A fence that is always open, in term 1, for a scheduler that runs without a lease.
    pub(crate) fn without_lease(clock: Arc<dyn Clock>) -> Self {
        let fence = Self::new(clock);
        fence.set(Some((Term(1), Moment::new(Duration::MAX))));
        fence
    }

    /// The current term, if this process leads now.
    pub fn term(&self) -> Option<Term> {
        self.open().map(|(term, _)| term)
    }

    /// True if a write that was decided in `term` may start now.
    ///
    /// False after the renew deadline, for a decision from an earlier term, and after release. Ask right before every
    /// write, retries included; a write that is refused must give back what its decision took.
    pub(crate) fn allows(&self, term: Term) -> bool {
        self.term() == Some(term)
    }

    /// Time until the fence closes unless the lease is renewed; `None` if it is closed.
    pub fn remaining(&self) -> Option<Duration> {
        let (_, until) = self.open()?;
        Some(until.since(self.clock.now()))
    }

    /// Closes the fence for good, even if the lease is renewed.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Opens the fence for a term until a moment, or closes it: the outcome of the last attempt to hold the lease.
    pub fn set(&self, tenure: Option<(Term, Moment)>) {
        *self.lock() = tenure;
    }

    pub(super) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    fn open(&self) -> Option<(Term, Moment)> {
        let tenure = *self.lock();
        let is_open = !self.is_closed.load(Ordering::SeqCst);
        tenure.filter(|(_, until)| is_open && self.clock.now() < *until)
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Term, Moment)>> {
        self.tenure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Fence").field(&self.term()).finish()
    }
}
