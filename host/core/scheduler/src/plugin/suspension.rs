//! Suspension: a plugin whose worker keeps ending is not called for a while.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::error::CallError;

/// Bindings in a row on which its worker ended after which a plugin is suspended. Each costs up to two deadlines.
pub const WORKER_FAILURES_TO_SUSPEND: u32 = 3;
/// Bindings that a plugin may owe before it is suspended, although it answers in between. It owes two for each on which its worker ended, and
/// one less for each that it answered since. One that fails for every third binding is never suspended.
const OWED_TO_SUSPEND: u32 = 64;

/// Failures of a plugin's worker.
#[derive(Debug, Default)]
pub(super) struct WorkerFailures {
    /// Bindings in a row on which it ended. One that is tried again and again counts once.
    failures: AtomicU32,
    /// See [`OWED_TO_SUSPEND`].
    owed: AtomicU32,
    is_suspended: AtomicBool,
    /// Number of times that the plugin was suspended since a call was answered.
    suspensions: AtomicU32,
    last: Mutex<Last>,
}

/// The last failure.
#[derive(Debug, Default)]
struct Last {
    binding: Option<String>,
    /// Kind of the call, a value of [`kind`](divvy_framework_abi::sized::kind).
    kind: u32,
    message: String,
}

impl WorkerFailures {
    /// Counts a call of this kind, for this binding, on which the worker ended. If the failure is lasting, the plugin is suspended at once.
    #[cold]
    pub(super) fn failed(&self, binding: Option<String>, kind: u32, message: &str, is_lasting: bool) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = self.failures.load(Ordering::Relaxed) > 0 && last.binding == binding;
        *last = Last {
            binding,
            kind,
            message: message.to_owned(),
        };
        if is_known && !is_lasting && self.suspensions.load(Ordering::Relaxed) == 0 {
            return;
        }
        let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        let owed = self.owed.fetch_add(2, Ordering::Relaxed) + 2;
        let is_too_much = is_lasting || failures >= WORKER_FAILURES_TO_SUSPEND || owed >= OWED_TO_SUSPEND;
        if is_too_much && !self.is_suspended.swap(true, Ordering::Relaxed) {
            self.suspensions.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// True if the plugin is not called, until [`Self::resume`].
    pub(super) fn is_suspended(&self) -> bool {
        self.is_suspended.load(Ordering::Relaxed)
    }

    /// Number of times that the plugin was suspended since it last answered.
    pub(super) fn suspensions(&self) -> u32 {
        self.suspensions.load(Ordering::Relaxed)
    }

    /// Lets the plugin be called again. If that call ends its worker as well, it is suspended at once.
    pub(super) fn resume(&self) {
        self.is_suspended.store(false, Ordering::Relaxed);
        // Otherwise it was suspended for what it owes, or for a failure that lasts.
        self.failures
            .fetch_max(WORKER_FAILURES_TO_SUSPEND - 1, Ordering::Relaxed);
    }

    /// True if there is something that an answer makes good.
    #[inline]
    pub(super) fn owes(&self) -> bool {
        self.owed.load(Ordering::Relaxed) != 0
    }

    /// Makes failures good: a call of this kind was answered. A plugin that answers calls of one kind and always fails in another has made
    /// nothing good.
    #[cold]
    pub(super) fn answered(&self, kind: u32) {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.kind != kind {
            return;
        }
        self.failures.store(0, Ordering::Relaxed);
        let owed = self.owed.load(Ordering::Relaxed).saturating_sub(1);
        self.owed.store(owed, Ordering::Relaxed);
        if owed < OWED_TO_SUSPEND / 2 {
            self.suspensions.store(0, Ordering::Relaxed);
        }
    }

    /// The error of a call that is not made.
    pub(super) fn error(&self, plugin: &str) -> CallError {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        CallError::Suspended {
            plugin: plugin.to_owned(),
            failures: self.failures.load(Ordering::Relaxed),
            message: last.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use divvy_framework_abi::sized::kind;

    use super::*;

    /// Fails for a binding of its own for each number.
    fn fail(failures: &WorkerFailures, number: usize, kind: u32, is_lasting: bool) {
        failures.failed(Some(format!("binding-{number}")), kind, "its worker ended", is_lasting);
    }

    #[test]
    fn answers_of_another_kind_make_nothing_good() {
        let failures = WorkerFailures::default();
        for number in 0..3 {
            assert!(!failures.is_suspended(), "{number}");
            failures.answered(kind::FILTER);
            fail(&failures, number, kind::ASSIGN, false);
        }
        assert!(failures.is_suspended());
        assert_eq!(failures.suspensions(), 1);
    }

    #[test]
    fn who_fails_for_every_other_binding_is_suspended_in_the_end() {
        let suspended_after = |answers: usize| {
            let failures = WorkerFailures::default();
            (0..1_000).find(|number| {
                fail(&failures, *number, kind::ASSIGN, false);
                (0..answers).for_each(|_| failures.answered(kind::ASSIGN));
                failures.is_suspended()
            })
        };
        assert_eq!(suspended_after(1), Some(62));
        assert_eq!(suspended_after(2), None);
    }

    #[test]
    fn a_failure_that_lasts_suspends_at_once_and_again() {
        let failures = WorkerFailures::default();
        fail(&failures, 0, kind::FILTER, true);
        assert!(failures.is_suspended());
        failures.resume();
        assert!(!failures.is_suspended());
        fail(&failures, 0, kind::FILTER, false);
        assert!(failures.is_suspended());
        assert_eq!(failures.suspensions(), 2);
        failures.resume();
        failures.answered(kind::FILTER);
        assert_eq!(failures.suspensions(), 0);
    }
}
