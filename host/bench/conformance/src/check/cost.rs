//! Time and memory of calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use divvy_scheduler::plugin::{Call, CallError, CallObserver};
use divvy_scheduler::profile::Profile;
use serde::{Deserialize, Serialize};

use super::{Broken, Check, Method};
use crate::case::Case;
use crate::moves;
use crate::subject::{Shown, Subject, shown};

/// Number of times that the largest case is decided, unless that takes too long.
const ROUNDS: usize = 12;
/// Minimum number of times that the largest case is decided.
const FEWEST_ROUNDS: usize = 3;
/// Time for the largest case and for the small ones, each.
const PATIENCE: Duration = Duration::from_secs(4);

/// Number of times that a small case is decided whose calls take long. The fastest counts, because a call that waits for a processor on a
/// busy machine is not slow by itself.
const ATTEMPTS: usize = 3;
/// Nanoseconds from which a call on a small case takes long.
const REPEATED: u64 = 1_000_000;

/// Cost of a plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Nanoseconds of the slowest kind of call of the plugin on the largest case: the fastest of several calls.
    pub nanoseconds: u64,
    /// That kind of call.
    pub call: String,
    /// Clusters of that case.
    pub clusters: u64,
    /// Nanoseconds within which 99 of 100 calls on small cases end.
    pub percentile99_nanoseconds: u64,
    /// Cases that were decided.
    pub decided: u64,
}

impl Cost {
    /// The greater of the two times.
    pub fn slowest(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.max(self.percentile99_nanoseconds))
    }
}

/// The check of costs.
pub(super) fn check() -> Check {
    Check {
        name: "cost",
        contract: "a call ends within `--max-time`, and the process needs no more than `--max-memory`",
        takes_the_process: false,
        applies: |_| true,
        method: Method::Measured(cost),
    }
}

/// Times the calls of one plugin.
struct Stopwatch {
    plugin: String,
    began: Mutex<Option<(Call, Instant)>>,
    /// Nanoseconds of each call, by kind.
    took: Mutex<HashMap<Call, Vec<u64>>>,
}

impl CallObserver for Stopwatch {
    fn begins(&self, plugin: &'static str, call: Call) {
        if plugin == self.plugin {
            *self.began.lock().unwrap_or_else(PoisonError::into_inner) = Some((call, Instant::now()));
        }
    }

    fn ends(&self, plugin: &'static str, call: Call, _: Option<&CallError>) {
        if plugin != self.plugin {
            return;
        }
        let began = self.began.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((known, began)) = began else { return };
        if known == call {
            let nanoseconds = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let mut took = self.took.lock().unwrap_or_else(PoisonError::into_inner);
            took.entry(call).or_default().push(nanoseconds);
        }
    }
}

impl Stopwatch {
    /// The times so far, which are then forgotten.
    fn take(&self) -> HashMap<Call, Vec<u64>> {
        std::mem::take(&mut *self.took.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn cost(subject: &Subject, largest: &Case, small: &[Case]) -> Result<Cost, Broken> {
    let profile = subject.constructed_again()?;
    // The largest case need not have the parts that the plugin acts on.
    let profile = Arc::new(Profile::clone(&profile).distrusting_parts_of(subject.plugin()));
    let stopwatch = Arc::new(Stopwatch {
        plugin: subject.plugin().to_owned(),
        began: Mutex::new(None),
        took: Mutex::new(HashMap::new()),
    });
    let observer: Arc<dyn CallObserver> = stopwatch.clone();
    profile.observe(&observer);
    let situation = subject.read(largest)?;
    let mut decided = 0;
    let mut count = |decision| decided += u64::from(shown(&decision) != Shown::Nothing);
    let mut scheduler = situation.scheduler(Arc::clone(&profile));
    let started = Instant::now();
    for round in 0..ROUNDS {
        if round >= FEWEST_ROUNDS && started.elapsed() > PATIENCE {
            break;
        }
        let decision = scheduler.schedule(&situation.binding, &situation.fleet);
        let _other_checks = moves::follow(&profile, &situation, &decision, 1);
        if round == 0 {
            count(decision);
        }
    }
    let kinds = stopwatch.take().into_iter();
    // The fastest: a call that waits for a processor on a busy machine is not slow by itself.
    let slowest = kinds
        .map(|(call, took)| (percentile(took, 0), call))
        .max_by_key(|(took, _)| *took);
    let started = Instant::now();
    let mut all = Vec::new();
    for situation in small.iter().filter_map(|case| subject.read(case).ok()) {
        let mut scheduler = situation.scheduler(Arc::clone(&profile));
        let mut fastest: Option<Vec<u64>> = None;
        for attempt in 0..ATTEMPTS {
            let decision = scheduler.schedule(&situation.binding, &situation.fleet);
            let _other_checks = moves::follow(&profile, &situation, &decision, 1);
            if attempt == 0 {
                count(decision);
            }
            let took: Vec<u64> = stopwatch.take().into_values().flatten().collect();
            let longest = |took: &[u64]| took.iter().copied().max().unwrap_or(0);
            if fastest.as_deref().is_none_or(|known| longest(&took) < longest(known)) {
                fastest = Some(took);
            }
            if fastest.as_deref().is_none_or(|known| longest(known) < REPEATED) {
                break;
            }
        }
        all.extend(fastest.unwrap_or_default());
        if started.elapsed() > PATIENCE {
            break;
        }
    }
    let (nanoseconds, call) = slowest.map_or((0, String::new()), |(took, call)| (took, call.to_string()));
    Ok(Cost {
        nanoseconds,
        call,
        clusters: situation.clusters.len() as u64,
        percentile99_nanoseconds: percentile(all, 99),
        decided,
    })
}

/// The value that this percentage of the values does not exceed; 0 if there are none.
fn percentile(mut values: Vec<u64>, percentage: usize) -> u64 {
    values.sort_unstable();
    let index = (values.len() * percentage).div_ceil(100).saturating_sub(1);
    values.get(index).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_values() {
        assert_eq!(percentile(Vec::new(), 99), 0);
        assert_eq!(percentile(vec![7, 9], 0), 7);
        assert_eq!(percentile((1..=12).rev().collect(), 50), 6);
        assert_eq!(percentile((1..=100).collect(), 99), 99);
        assert_eq!(percentile((1..=50).collect(), 99), 50);
    }
}
