//! Metrics that the kit collects from a plugin.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use divvy_framework_abi::service::Services;
use divvy_framework_abi::{Address, Function, PluginText};
use divvy_framework_calls::metrics::{MetricFigures, PluginMetrics, Refusal};

pub use divvy_framework_calls::metrics::HistogramFigures;

/// The counters and histograms that a plugin used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics(MetricFigures);

impl Metrics {
    /// A counter; 0 if the plugin did not use it.
    pub fn counter(&self, name: &str) -> u64 {
        self.0.counters.get(name).copied().unwrap_or(0)
    }

    /// A histogram; without values if the plugin did not use it.
    pub fn histogram(&self, name: &str) -> HistogramFigures {
        self.0.histograms.get(name).cloned().unwrap_or_default()
    }
}

/// Runs `step`, such as a method of a [`Scenario`](super::Scenario), and returns its result with the metrics that
/// plugins recorded in it on this thread.
///
/// # Panics
///
/// If a plugin uses a name or a value that the host would ignore.
#[track_caller]
pub fn measured<T>(step: impl FnOnce() -> T) -> (T, Metrics) {
    let measurements = Measurements::default();
    let services = Services {
        context: Address::of(&measurements),
        count: Function::new(count),
        observe: Function::new(observe),
        ..Services::DEFAULT
    };
    let result = crate::export::with_services(services, step);
    let refused = measurements
        .refused
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some((name, refusal)) = refused {
        panic!("the host would ignore the metric `{name}`: {refusal}");
    }
    (result, Metrics(measurements.metrics.figures()))
}

#[derive(Default)]
struct Measurements {
    metrics: PluginMetrics,
    /// The first metric that the host would ignore.
    refused: Mutex<Option<(String, Refusal)>>,
}

impl Measurements {
    fn note(&self, name: &str, recorded: Result<(), Refusal>) {
        if let Err(refusal) = recorded {
            let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            refused.get_or_insert_with(|| (name.to_owned(), refusal));
        }
    }
}

unsafe extern "C" fn count(context: *const c_void, name: PluginText<'_>, amount: u64) {
    // SAFETY: `measured` made the context from a value that outlives the step.
    let measurements = unsafe { &*context.cast::<Measurements>() };
    let name = name.read();
    measurements.note(&name, measurements.metrics.count(&name, amount));
}

unsafe extern "C" fn observe(context: *const c_void, name: PluginText<'_>, value: f64) {
    // SAFETY: `measured` made the context from a value that outlives the step.
    let measurements = unsafe { &*context.cast::<Measurements>() };
    let name = name.read();
    measurements.note(&name, measurements.metrics.observe(&name, value));
}
