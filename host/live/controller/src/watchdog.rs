//! Watches the calls of plugins: their duration, their outcome, and calls that hang.
//!
//! A plugin runs in this process and cannot be interrupted. A call that does not return stops all decisions, so readiness
//! fails, with a message that names the plugin, the call and the binding. The thread that decides only records the beginning
//! and the end of each call; other threads look at the calls in progress ([`divvy_attribution::Looks`]). A call of a profile
//! that is being loaded stops no decision: [`stuck_loading`] gives that profile up.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use divvy_attribution::{InProgress, Looks};
use divvy_scheduler::plugin::{Call, CallError, CallObserver};

use crate::observe::{CallOutcome, ExtensionPoint, Metrics, ScheduleStep};

/// Time after which a call counts as hanging. Calls take microseconds.
pub(crate) const HANGING_AFTER: Duration = Duration::from_secs(10);
/// Time between two looks at the calls in progress. Looks are counted rather than time: a process that was paused in a call has seen
/// nothing hang.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The observer of all plugins' calls.
pub(crate) struct Watchdog {
    metrics: Arc<Metrics>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The call that began last, unless it has ended.
    since: Option<Instant>,
    /// The call that hangs.
    hanging: Option<Hanging>,
    /// Time and worst outcome per extension point since the last decision ended.
    points: BTreeMap<ExtensionPointOrder, (Duration, CallOutcome)>,
}

/// Index of an extension point in [`ExtensionPoint::ALL`], by which the points are sorted.
type ExtensionPointOrder = usize;

/// A call that does not return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hanging {
    /// The call.
    pub(crate) call: InProgress,
    /// Time for which it was seen.
    pub(crate) age: Duration,
}

impl fmt::Display for Hanging {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} for {} s", self.call, self.age.as_secs())
    }
}

impl Hanging {
    /// Among the calls that were looked at, the one that has hung longest.
    pub(crate) fn longest(seen: impl IntoIterator<Item = (u32, InProgress)>) -> Option<Self> {
        let hanging = seen.into_iter().map(|(looks, call)| Self {
            call,
            age: LOOK_EVERY.saturating_mul(looks),
        });
        let hanging = hanging.filter(|hanging| hanging.age >= HANGING_AFTER);
        hanging.max_by_key(|hanging| hanging.age)
    }

    fn is_same_call(&self, other: &Self) -> bool {
        self.call == other.call
    }
}

/// Ends once a call of a profile that is loaded has not returned for `limit`; never if there is none. Calls that were in progress `before`
/// it was loaded are of an earlier profile that was given up, and go on for ever.
pub(crate) async fn stuck_loading(
    metrics: &Metrics,
    limit: Option<Duration>,
    before: Vec<InProgress>,
    in_progress: impl Fn() -> Vec<InProgress>,
) -> Hanging {
    let mut looks = Looks::default();
    let mut is_reported = false;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let seen = looks.look(in_progress());
        let is_new = |(_, call): &(u32, InProgress)| call.is_loading && !before.contains(call);
        let Some(hanging) = Hanging::longest(seen.into_iter().filter(is_new)) else {
            is_reported = false;
            continue;
        };
        if !is_reported {
            is_reported = true;
            // The plugin of a library that is opened is not known yet.
            if !hanging.call.plugin.is_empty() {
                metrics.plugin_hangs(hanging.call.plugin);
            }
            tracing::error!(%hanging, "a changed profile is not loaded while a call does not return; the old one decides");
        }
        if limit.is_some_and(|limit| hanging.age >= limit) {
            return hanging;
        }
    }
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
    pub(crate) fn hanging(&self) -> Option<Hanging> {
        self.lock().hanging.clone()
    }

    /// Notes which call hangs. The first time, it is counted and logged.
    pub(crate) fn hangs(&self, hanging: Option<Hanging>) {
        let before = std::mem::replace(&mut self.lock().hanging, hanging.clone());
        let is_known = match (&before, &hanging) {
            (Some(before), Some(hanging)) => before.is_same_call(hanging),
            (None, None) => true,
            _ => false,
        };
        if is_known {
            return;
        }
        if let Some(Hanging { call, age }) = before {
            tracing::warn!(
                plugin = call.plugin,
                point = call.step,
                binding = call.subject,
                duration = ?age,
                "a plugin call that hung has returned"
            );
        }
        if let Some(Hanging { call, .. }) = hanging {
            self.metrics.plugin_hangs(call.plugin);
            tracing::error!(
                plugin = call.plugin,
                point = call.step,
                binding = call.subject,
                "a plugin call does not return; no decision is made until it does"
            );
        }
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
                ExtensionPoint::Prepare | ExtensionPoint::Pace => continue,
            };
            self.metrics.step(step, duration);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallObserver for Watchdog {
    fn begins(&self, _plugin: &'static str, _call: Call) {
        self.lock().since = Some(Instant::now());
    }

    fn ends(&self, plugin: &'static str, call: Call, error: Option<&CallError>) {
        let mut state = self.lock();
        let Some(since) = state.since.take() else { return };
        let duration = since.elapsed();
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
        Call::Pace => ExtensionPoint::Pace,
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

    /// A call of a thread.
    fn call(number: u64, is_loading: bool) -> InProgress {
        InProgress {
            thread: 1,
            number,
            is_loading,
            plugin: "average",
            step: if is_loading { "its construction" } else { "Assign" },
            subject: String::new(),
        }
    }

    #[test]
    fn a_call_that_does_not_return_is_named_and_counted_once() {
        let metrics = Arc::new(Metrics::new("test", None));
        let watchdog = Watchdog::new(Arc::clone(&metrics));
        let hangs = || {
            let rendered = metrics.render();
            let mut lines = rendered.lines();
            let line = lines.find_map(|line| line.strip_prefix("divvy_plugin_hangs_total{plugin=\"average\"} "));
            line.map(ToOwned::to_owned)
        };
        let hanging = |number: u64, seconds: u64| Hanging {
            call: call(number, false),
            age: Duration::from_secs(seconds),
        };
        watchdog.hangs(None);
        assert_eq!((watchdog.hanging(), hangs()), (None, None));
        for (state, expected) in [
            (Some(hanging(1, 10)), "1"),
            (Some(hanging(1, 11)), "1"),
            (Some(hanging(3, 10)), "2"),
            (None, "2"),
        ] {
            watchdog.hangs(state.clone());
            assert_eq!((watchdog.hanging(), hangs().as_deref()), (state, Some(expected)));
        }
        let text = "plugin `average` has not returned from Assign for 12 s";
        assert_eq!(hanging(1, 12).to_string(), text);
    }

    #[test]
    fn the_call_that_has_hung_longest_counts() {
        let longest = |looks: &[u32]| {
            let seen = (1..).zip(looks).map(|(number, looks)| (*looks, call(number, false)));
            Hanging::longest(seen).map(|hanging| (hanging.call.number, hanging.age.as_secs()))
        };
        assert_eq!(longest(&[]), None);
        assert_eq!(longest(&[0, 9]), None);
        assert_eq!(longest(&[10]), Some((1, 10)));
        assert_eq!(longest(&[3, 40, 12]), Some((2, 40)));
    }

    /// The looks do not wait here.
    #[tokio::test(start_paused = true)]
    async fn a_profile_whose_plugin_hangs_while_it_is_loaded_is_given_up() {
        let metrics = Metrics::new("test", None);
        let stuck = async |limit: Option<u64>, before: &[InProgress], call: fn(u64) -> InProgress| {
            let looks = std::cell::Cell::new(0);
            let in_progress = || vec![call(looks.replace(looks.get() + 1))];
            let limit = limit.map(Duration::from_secs);
            let waiting = stuck_loading(&metrics, limit, before.to_vec(), in_progress);
            let stuck = tokio::time::timeout(Duration::from_secs(600), waiting).await;
            stuck.ok().map(|hanging| hanging.age.as_secs())
        };
        assert_eq!(stuck(Some(60), &[], |_| call(1, true)).await, Some(60));
        assert_eq!(stuck(Some(1), &[], |_| call(1, true)).await, Some(10));
        assert_eq!(stuck(None, &[], |_| call(1, true)).await, None);
        // A decision, a profile that was given up before, and many short calls.
        assert_eq!(stuck(Some(60), &[], |_| call(1, false)).await, None);
        assert_eq!(stuck(Some(60), &[call(1, true)], |_| call(1, true)).await, None);
        assert_eq!(stuck(Some(60), &[], |look| call(look / 9, true)).await, None);
    }
}
