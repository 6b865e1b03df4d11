//! Suspension: a plugin whose worker keeps ending is not called for a while.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::error::CallError;
use super::log;

/// Bindings in a row on which its worker ended after which a plugin is suspended. Each costs up to two deadlines.
pub const WORKER_FAILURES_TO_SUSPEND: u32 = 3;

/// Failures of a plugin's worker.
#[derive(Debug, Default)]
pub(super) struct WorkerFailures {
    /// Bindings in a row on which it ended. One that is tried again and again counts once.
    failures: AtomicU32,
    is_suspended: AtomicBool,
    /// Number of times that the plugin was suspended since a call was answered.
    suspensions: AtomicU32,
    /// The last binding, and what happened.
    last: Mutex<(Option<String>, String)>,
}

impl WorkerFailures {
    /// Counts a call on which the worker ended.
    #[cold]
    pub(super) fn failed(&self, message: &str) {
        let binding = log::binding();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        message.clone_into(&mut last.1);
        let is_known = self.failures.load(Ordering::Relaxed) > 0 && last.0 == binding;
        last.0 = binding;
        if is_known && self.suspensions.load(Ordering::Relaxed) == 0 {
            return;
        }
        let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if failures >= WORKER_FAILURES_TO_SUSPEND && !self.is_suspended.swap(true, Ordering::Relaxed) {
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
    }

    /// Forgets everything: a call was answered.
    pub(super) fn answered(&self) {
        self.failures.store(0, Ordering::Relaxed);
        self.suspensions.store(0, Ordering::Relaxed);
    }

    /// The error of a call that is not made.
    pub(super) fn error(&self, plugin: &str) -> CallError {
        CallError::Suspended {
            plugin: plugin.to_owned(),
            failures: self.failures.load(Ordering::Relaxed),
            message: self.last.lock().unwrap_or_else(PoisonError::into_inner).1.clone(),
        }
    }
}
