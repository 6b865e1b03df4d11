//! Watches the calls of plugins: their duration, their outcome, and calls that hang.
//!
//! A plugin runs in this process and cannot be interrupted. A call that does not return stops all decisions, so readiness
//! fails, with a message that names the plugin and the call. The thread that decides only records the beginning and the end
//! of each call; other threads check.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use divvy_scheduler::plugin::{Call, CallError, CallObserver};

use crate::observe::{CallOutcome, ExtensionPoint, Metrics, ScheduleStep};

/// Time after which a call counts as hanging. Calls take microseconds.
pub(crate) const HANGING_AFTER: Duration = Duration::from_secs(10);

/// The observer of all plugins' calls.
pub(crate) struct Watchdog {
    metrics: Arc<Metrics>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Current>,
    /// Time and worst outcome per extension point since the last decision ended.
    points: BTreeMap<ExtensionPointOrder, (Duration, CallOutcome)>,
}

#[derive(Clone, Copy)]
struct Current {
    plugin: &'static str,
    call: Call,
    since: Instant,
    is_reported: bool,
}

/// Index of an extension point in [`ExtensionPoint::ALL`], by which the points are sorted.
type ExtensionPointOrder = usize;

/// A call that does not return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hanging {
    /// Name of the plugin.
    pub(crate) plugin: &'static str,
    /// The extension point.
    pub(crate) point: &'static str,
    /// Time since the call began.
    pub(crate) age: Duration,
}

impl Watchdog {
    /// A watchdog that counts into `metrics`.
    pub(crate) fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            metrics,
            state: Mutex::default(),
        }
    }

    /// The call that hangs; `None` if there is none.
    pub(crate) fn hanging(&self, now: Instant) -> Option<Hanging> {
        self.lock().current.and_then(|current| current.hanging(now))
    }

    /// The call that hangs, only the first time that this is called during it. Counts the hang.
    pub(crate) fn newly_hanging(&self, now: Instant) -> Option<Hanging> {
        let mut state = self.lock();
        let current = state.current.as_mut().filter(|current| !current.is_reported)?;
        let hanging = current.hanging(now)?;
        current.is_reported = true;
        self.metrics.plugin_hangs(current.plugin);
        Some(hanging)
    }

    /// Ends a decision, and counts the time of its calls per extension point.
    pub(crate) fn decided(&self) {
        let points = std::mem::take(&mut self.lock().points);
        for (index, (duration, outcome)) in points {
            let Some(&point) = ExtensionPoint::ALL.get(index) else {
                continue;
            };
            self.metrics.extension_point(point, outcome, duration);
            let step = match point {
                ExtensionPoint::Filter => ScheduleStep::Filter,
                ExtensionPoint::Score => ScheduleStep::Score,
                ExtensionPoint::Select => ScheduleStep::Select,
                ExtensionPoint::Assign => ScheduleStep::Assign,
                ExtensionPoint::Prepare => continue,
            };
            self.metrics.step(step, duration);
        }
    }

    /// Records the beginning of a call.
    pub(crate) fn began(&self, plugin: &'static str, call: Call, since: Instant) {
        self.lock().current = Some(Current {
            plugin,
            call,
            since,
            is_reported: false,
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    fn hanging(&self, now: Instant) -> Option<Hanging> {
        let age = now.saturating_duration_since(self.since);
        (age >= HANGING_AFTER).then(|| Hanging {
            plugin: self.plugin,
            point: point(self.call).word(),
            age,
        })
    }
}

impl CallObserver for Watchdog {
    fn begins(&self, plugin: &'static str, call: Call) {
        self.began(plugin, call, Instant::now());
    }

    fn ends(&self, plugin: &'static str, call: Call, error: Option<&CallError>) {
        let mut state = self.lock();
        let Some(current) = state.current.take() else { return };
        let duration = current.since.elapsed();
        let (point, outcome) = (point(call), outcome(error));
        let index = ExtensionPoint::ALL
            .iter()
            .position(|known| *known == point)
            .unwrap_or(0);
        let entry = state
            .points
            .entry(index)
            .or_insert((Duration::ZERO, CallOutcome::Success));
        entry.0 += duration;
        if outcome != CallOutcome::Success {
            entry.1 = outcome;
        }
        drop(state);
        if current.is_reported {
            tracing::warn!(
                plugin,
                point = point.word(),
                ?duration,
                "a plugin call that hung has returned"
            );
        }
        self.metrics.plugin_call(plugin, point, outcome, duration);
        if outcome == CallOutcome::Unschedulable {
            self.metrics.plugin_rejections(plugin, point, 1);
        }
    }

    fn rejected(&self, plugin: &'static str, clusters: usize) {
        let clusters = u64::try_from(clusters).unwrap_or(u64::MAX);
        self.metrics.plugin_rejections(plugin, ExtensionPoint::Filter, clusters);
    }
}

fn point(call: Call) -> ExtensionPoint {
    match call {
        Call::Prepare => ExtensionPoint::Prepare,
        Call::Filter => ExtensionPoint::Filter,
        Call::Score => ExtensionPoint::Score,
        Call::Select => ExtensionPoint::Select,
        Call::Assign => ExtensionPoint::Assign,
    }
}

fn outcome(error: Option<&CallError>) -> CallOutcome {
    match error {
        None => CallOutcome::Success,
        Some(CallError::Unschedulable { .. }) => CallOutcome::Unschedulable,
        Some(CallError::Panic { .. }) => CallOutcome::Panic,
        Some(_) => CallOutcome::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_does_not_return_is_named() {
        let watchdog = Watchdog::new(Arc::new(Metrics::new("test", None)));
        let now = Instant::now();
        assert_eq!(watchdog.hanging(now), None);
        watchdog.begins("average", Call::Assign);
        assert_eq!(watchdog.hanging(Instant::now()), None);
        let later = Instant::now() + HANGING_AFTER;
        let hanging = watchdog.hanging(later).unwrap();
        assert_eq!((hanging.plugin, hanging.point), ("average", "Assign"));
        // An earlier probe does not suppress the line in the log.
        assert!(watchdog.newly_hanging(later).is_some());
        assert_eq!(watchdog.newly_hanging(later), None);
        assert!(watchdog.hanging(later).is_some());
        watchdog.ends("average", Call::Assign, None);
        assert_eq!(watchdog.hanging(later), None);
    }
}
