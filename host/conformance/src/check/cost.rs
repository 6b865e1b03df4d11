//! Time and memory on the largest case.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use divvy_scheduler::plugin::{Call, CallError, CallObserver};
use divvy_scheduler::profile::Profile;

use super::{Broken, Check, Cost, Method};
use crate::case::Case;
use crate::subject::Subject;

/// Rounds, of which the fastest counts: other work on the machine only ever makes a call slower.
const ROUNDS: usize = 12;

/// The check of costs.
pub(super) fn checks() -> Vec<Check> {
    vec![Check {
        name: "cost",
        contract: "time per call and memory on the largest case, which fail only beyond a limit",
        applies: |_| true,
        method: Method::Measured(cost),
    }]
}

/// Times the calls of one plugin.
struct Stopwatch {
    plugin: String,
    began: Mutex<Option<(Call, Instant)>>,
    /// Nanoseconds per kind of call, of the fastest one.
    fastest: Mutex<HashMap<Call, u64>>,
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
            let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let mut fastest = self.fastest.lock().unwrap_or_else(PoisonError::into_inner);
            let fastest = fastest.entry(call).or_insert(u64::MAX);
            *fastest = took.min(*fastest);
        }
    }
}

fn cost(subject: &Subject, case: &Case) -> Result<Cost, Broken> {
    let situation = case.read(subject)?;
    let profile = subject.constructed_again()?;
    // The largest case need not have the parts that the plugin acts on.
    let profile = Arc::new(Profile::clone(&profile).distrusting_parts_of(subject.plugin()));
    let stopwatch = Arc::new(Stopwatch {
        plugin: subject.plugin().to_owned(),
        began: Mutex::new(None),
        fastest: Mutex::new(HashMap::new()),
    });
    let observer: Arc<dyn CallObserver> = stopwatch.clone();
    profile.observe(&observer);
    let mut scheduler = situation.scheduler(profile);
    for _ in 0..ROUNDS {
        let _decision = scheduler.schedule(&situation.binding, &situation.fleet);
    }
    let fastest = stopwatch.fastest.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Cost {
        nanoseconds: fastest.values().copied().max().unwrap_or(0),
        clusters: situation.clusters.len() as u64,
    })
}
