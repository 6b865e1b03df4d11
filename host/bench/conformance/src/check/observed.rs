//! Deciding cases while the calls of the plugin under test are observed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use divvy_scheduler::decision::Decision;
use divvy_scheduler::plugin::{Call, CallError, CallObserver};
use divvy_scheduler::profile::Profile;

use super::Holds;
use crate::case::Situation;
use crate::moves;
use crate::subject::{Shown, Subject, shown};

/// Observes the calls of the plugin under test. Those of the profile's other plugins do not reach it.
pub(super) trait Observer: Send + Sync + 'static {
    /// A call begins.
    fn begins(&self) {}
    /// A call has ended.
    fn ends(&self, call: Call, error: Option<&CallError>) {
        let _ = (call, error);
    }
}

/// A profile in which the calls of the plugin under test are observed.
pub(super) struct Observed<O> {
    profile: Arc<Profile>,
    filter: Arc<OwnCalls<O>>,
}

/// Hands over the calls of one plugin, and counts them.
struct OwnCalls<O> {
    plugin: String,
    count: AtomicU64,
    observer: O,
}

impl<O: Observer> CallObserver for OwnCalls<O> {
    fn begins(&self, plugin: &'static str, _call: Call) {
        if plugin == self.plugin {
            self.observer.begins();
        }
    }

    fn ends(&self, plugin: &'static str, call: Call, error: Option<&CallError>) {
        if plugin == self.plugin {
            self.observer.ends(call, error);
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<O: Observer> Observed<O> {
    /// Constructs the plugins of the subject's profile again, for `observer`.
    ///
    /// # Errors
    ///
    /// The plugins cannot be constructed a second time.
    pub(super) fn new(subject: &Subject, observer: O) -> Result<Self, String> {
        let filter = Arc::new(OwnCalls {
            plugin: subject.plugin().to_owned(),
            count: AtomicU64::new(0),
            observer,
        });
        let profile = subject.constructed_again()?;
        let observer: Arc<dyn CallObserver> = filter.clone();
        profile.observe(&observer);
        Ok(Self { profile, filter })
    }

    /// The observer.
    pub(super) fn observer(&self) -> &O {
        &self.filter.observer
    }

    /// Number of calls so far.
    pub(super) fn calls(&self) -> u64 {
        self.filter.count.load(Ordering::Relaxed)
    }

    /// Decides a case. Returns what the decision shows as well.
    pub(super) fn decide(&self, situation: &Situation) -> (Decision, Shown) {
        let before = self.calls();
        let mut scheduler = situation.scheduler(Arc::clone(&self.profile));
        let decision = scheduler.schedule(&situation.binding, &situation.fleet);
        // What is wrong with a step, other checks say.
        let _other_checks = moves::follow(&self.profile, situation, &decision, 2);
        let shown = match self.calls() == before {
            true => Shown::Nothing,
            false => shown(&decision),
        };
        (decision, shown)
    }
}

/// Decides each case, and fails with what the observer has found meanwhile.
pub(super) fn without_finding<O: Observer>(observed: Observed<O>, found: fn(&O) -> &Mutex<Option<String>>) -> Holds {
    Box::new(move |subject, case| {
        let Ok(situation) = subject.read(case) else {
            return Ok(Shown::Nothing);
        };
        let (_, shown) = observed.decide(&situation);
        let mut found = found(observed.observer())
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        found.take().map_or(Ok(shown), Err)
    })
}
