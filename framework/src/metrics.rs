//! Counters and histograms of a plugin, for the people who run it.
//!
//! `divvy run` serves them on `/metrics` as `divvy_plugin_counter_total{plugin="…",name="…"}` and
//! `divvy_plugin_histogram{plugin="…",name="…"}`; `divvy schedule -v` prints them at its end. They may be used in any
//! call and on any thread. On a thread that the plugin started, they count for the first plugin of the library.
//!
//! A name consists of letters, digits and underscores and does not begin with a digit. A plugin may have 64 counters and 16
//! histograms; the host ignores any other, and warns once. So a name must never depend on a cluster or a binding. The first
//! use of a name allocates, later ones do not.
//!
//! ```
//! use divvy_framework::metrics::{counter, histogram};
//! use divvy_framework::testing::measured;
//!
//! let (sum, metrics) = measured(|| {
//!     counter("cache_hits").add(2);
//!     histogram("groups").record(3.0);
//!     1 + 1
//! });
//! assert_eq!((sum, metrics.counter("cache_hits")), (2, 2));
//! assert_eq!((metrics.histogram("groups").count(), metrics.histogram("groups").sum), (1, 3.0));
//! ```
//!
//! **Experimental**: no bundled plugin uses them, so a later minor version of the ABI may stop serving them. Nothing is then counted.
//!
//! A counter must not influence a decision: the same binding must get the same result, regardless of earlier counts. So
//! counters cannot be read.

use crate::export::measuring;

/// A number of events since the plugin was constructed.
#[derive(Debug, Clone, Copy)]
#[must_use = "a counter counts with `add`"]
pub struct Counter(&'static str);

/// The counter with this name.
pub const fn counter(name: &'static str) -> Counter {
    Counter(name)
}

impl Counter {
    /// Adds `amount` to the counter; the sum stops at `u64::MAX`.
    pub fn add(self, amount: u64) {
        measuring::count(self.0, amount);
    }
}

/// The distribution of a figure, in buckets from 0.001 to 1,000,000.
#[derive(Debug, Clone, Copy)]
#[must_use = "a histogram counts with `record`"]
pub struct Histogram(&'static str);

/// The histogram with this name.
pub const fn histogram(name: &'static str) -> Histogram {
    Histogram(name)
}

impl Histogram {
    /// Adds a value, in any unit. The host ignores a value that is infinite or not a number.
    pub fn record(self, value: f64) {
        measuring::observe(self.0, value);
    }
}
