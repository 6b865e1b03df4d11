//! Counters and histograms of a plugin, by name.
//!
//! A plugin may use any name, from any thread. Names are checked and limited in number, so a plugin cannot exhaust the
//! memory of its host. A known name costs a lookup and an atomic addition, and allocates nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use divvy_framework_abi::service::limit;

/// Maximum number of counters of a plugin.
pub const MAXIMUM_COUNTERS: usize = limit::COUNTERS as usize;

/// Maximum number of histograms of a plugin.
pub const MAXIMUM_HISTOGRAMS: usize = limit::HISTOGRAMS as usize;

/// Maximum length of a name in bytes.
pub const MAXIMUM_NAME: usize = limit::FIGURE_NAME_BYTES as usize;

/// Upper bounds of the buckets of every histogram. A plugin's values have any unit, so the bounds cover nine decades.
/// One further bucket holds values above the last bound.
pub const BOUNDS: [f64; 19] = [
    0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6,
];

/// Why a count or a value is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Prometheus does not allow the name.
    #[error(
        "its name is not valid: expected up to {MAXIMUM_NAME} letters, digits and underscores, the first not a digit"
    )]
    InvalidName,
    /// The plugin already has [`MAXIMUM_COUNTERS`] counters.
    #[error("a plugin may have up to {MAXIMUM_COUNTERS} counters")]
    TooManyCounters,
    /// The plugin already has [`MAXIMUM_HISTOGRAMS`] histograms.
    #[error("a plugin may have up to {MAXIMUM_HISTOGRAMS} histograms")]
    TooManyHistograms,
    /// The value of a histogram is infinite or not a number.
    #[error("its value is not a finite number")]
    NotFinite,
}

/// The counters and histograms of one plugin, for use from several threads.
#[derive(Debug, Default)]
pub struct PluginMetrics {
    counters: RwLock<BTreeMap<String, AtomicU64>>,
    histograms: RwLock<BTreeMap<String, Buckets>>,
}

#[derive(Debug, Default)]
struct Buckets {
    counts: [AtomicU64; BOUNDS.len() + 1],
    /// The bits of a double.
    sum: AtomicU64,
}

/// The figures of a plugin's counters and histograms at one time, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetricFigures {
    /// Counters.
    pub counters: BTreeMap<String, u64>,
    /// Histograms.
    pub histograms: BTreeMap<String, HistogramFigures>,
}

/// The figures of a histogram.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistogramFigures {
    /// Number of values in each bucket of [`BOUNDS`], and above the last bound. Empty without values.
    pub counts: Vec<u64>,
    /// Sum of the values.
    pub sum: f64,
}

impl HistogramFigures {
    /// Number of values.
    pub fn count(&self) -> u64 {
        self.counts
            .iter()
            .fold(0, |count, of_bucket| count.saturating_add(*of_bucket))
    }
}

impl MetricFigures {
    /// Adds the figures of another instance of the plugin.
    pub fn add(&mut self, other: &Self) {
        for (name, count) in &other.counters {
            let own = self.counters.entry(name.clone()).or_default();
            *own = own.saturating_add(*count);
        }
        for (name, histogram) in &other.histograms {
            let own = self.histograms.entry(name.clone()).or_default();
            own.counts.resize(own.counts.len().max(histogram.counts.len()), 0);
            for (own, count) in own.counts.iter_mut().zip(&histogram.counts) {
                *own = own.saturating_add(*count);
            }
            own.sum += histogram.sum;
        }
    }
}

impl PluginMetrics {
    /// Adds to a counter.
    ///
    /// # Errors
    ///
    /// A [`Refusal`]; nothing is counted.
    pub fn count(&self, name: &str, amount: u64) -> Result<(), Refusal> {
        let add = |counter: &AtomicU64| saturating_add(counter, amount);
        with_entry(&self.counters, name, MAXIMUM_COUNTERS, Refusal::TooManyCounters, add)
    }

    /// Adds a value to a histogram.
    ///
    /// # Errors
    ///
    /// A [`Refusal`]; nothing is recorded.
    pub fn observe(&self, name: &str, value: f64) -> Result<(), Refusal> {
        if !value.is_finite() {
            return Err(Refusal::NotFinite);
        }
        let record = |buckets: &Buckets| buckets.record(value);
        with_entry(
            &self.histograms,
            name,
            MAXIMUM_HISTOGRAMS,
            Refusal::TooManyHistograms,
            record,
        )
    }

    /// The current figures.
    pub fn figures(&self) -> MetricFigures {
        let counters = self.counters.read().unwrap_or_else(PoisonError::into_inner);
        let histograms = self.histograms.read().unwrap_or_else(PoisonError::into_inner);
        let counter = |(name, count): (&String, &AtomicU64)| (name.clone(), count.load(Ordering::Relaxed));
        let histogram = |(name, buckets): (&String, &Buckets)| (name.clone(), buckets.figures());
        MetricFigures {
            counters: counters.iter().map(counter).collect(),
            histograms: histograms.iter().map(histogram).collect(),
        }
    }
}

impl Buckets {
    fn record(&self, value: f64) {
        let bucket = BOUNDS.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get(bucket) {
            saturating_add(count, 1);
        }
        let add = |sum: u64| Some((f64::from_bits(sum) + value).to_bits());
        // The closure always returns a number, so the update succeeds.
        let _ = self.sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    fn figures(&self) -> HistogramFigures {
        HistogramFigures {
            counts: self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
            sum: f64::from_bits(self.sum.load(Ordering::Relaxed)),
        }
    }
}

fn saturating_add(counter: &AtomicU64, amount: u64) {
    let add = |count: u64| Some(count.saturating_add(amount));
    // The closure always returns a number, so the update succeeds.
    let _ = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
}

/// Uses the entry with this name; the first use creates it.
fn with_entry<T: Default>(
    entries: &RwLock<BTreeMap<String, T>>,
    name: &str,
    maximum: usize,
    refusal: Refusal,
    work: impl Fn(&T),
) -> Result<(), Refusal> {
    if let Some(entry) = entries.read().unwrap_or_else(PoisonError::into_inner).get(name) {
        work(entry);
        return Ok(());
    }
    if !is_valid(name) {
        return Err(Refusal::InvalidName);
    }
    let mut entries = entries.write().unwrap_or_else(PoisonError::into_inner);
    if entries.len() >= maximum && !entries.contains_key(name) {
        return Err(refusal);
    }
    work(entries.entry(name.to_owned()).or_default());
    Ok(())
}

/// True for a name that Prometheus allows. Colons are left to its recording rules.
fn is_valid(name: &str) -> bool {
    let mut bytes = name.bytes();
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.len() <= MAXIMUM_NAME
        && bytes.next().is_some_and(is_first)
        && bytes.all(|byte| is_first(byte) || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_prometheus() {
        let metrics = PluginMetrics::default();
        let longest = "x".repeat(MAXIMUM_NAME);
        for valid in ["a", "_", "cache_hits", "Hits2", longest.as_str()] {
            assert_eq!(metrics.count(valid, 1), Ok(()), "{valid}");
        }
        let too_long = "x".repeat(MAXIMUM_NAME + 1);
        for invalid in [
            "",
            "2hits",
            "cache hits",
            "cache-hits",
            "a:b",
            "größe",
            too_long.as_str(),
        ] {
            assert_eq!(metrics.count(invalid, 1), Err(Refusal::InvalidName), "{invalid}");
            assert_eq!(metrics.observe(invalid, 1.0), Err(Refusal::InvalidName), "{invalid}");
        }
    }

    #[test]
    fn there_are_only_so_many() {
        let metrics = PluginMetrics::default();
        for number in 0..MAXIMUM_COUNTERS {
            assert_eq!(metrics.count(&format!("c{number}"), 2), Ok(()));
        }
        assert_eq!(metrics.count("more", 1), Err(Refusal::TooManyCounters));
        assert_eq!(metrics.count("c0", u64::MAX), Ok(()));
        for number in 0..MAXIMUM_HISTOGRAMS {
            assert_eq!(metrics.observe(&format!("h{number}"), 1.0), Ok(()));
        }
        assert_eq!(metrics.observe("more", 1.0), Err(Refusal::TooManyHistograms));
        let figures = metrics.figures();
        assert_eq!((figures.counters["c0"], figures.counters["c1"]), (u64::MAX, 2));
        assert_eq!((figures.counters.len(), figures.histograms.len()), (64, 16));
    }

    #[test]
    fn values_fall_into_the_bucket_of_the_next_larger_bound() {
        let metrics = PluginMetrics::default();
        for value in [-1.0, 0.001, 0.002, 1e6, 2e6] {
            assert_eq!(metrics.observe("sizes", value), Ok(()));
        }
        for value in [f64::NAN, f64::INFINITY] {
            assert_eq!(metrics.observe("sizes", value), Err(Refusal::NotFinite));
        }
        let figures = &metrics.figures().histograms["sizes"];
        assert_eq!((figures.counts[0], figures.counts[1]), (2, 1));
        assert_eq!((figures.counts[18], figures.counts[19]), (1, 1));
        assert_eq!((figures.count(), figures.sum), (5, 2_999_999.003));
    }

    #[test]
    fn threads_count_together() {
        let metrics = PluginMetrics::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        metrics.count("hits", 1).expect("it is counted");
                        metrics.observe("sizes", 2.0).expect("it is recorded");
                    }
                });
            }
        });
        let mut figures = metrics.figures();
        assert_eq!(figures.counters["hits"], 4_000);
        figures.add(&metrics.figures());
        let sizes = &figures.histograms["sizes"];
        assert_eq!(
            (figures.counters["hits"], sizes.count(), sizes.sum),
            (8_000, 8_000, 16_000.0)
        );
    }
}
