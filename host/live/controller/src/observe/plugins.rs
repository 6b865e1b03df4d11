//! Counters and histograms of plugins, looked up during a scrape: plugins choose their names, and a reload brings others.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use divvy_scheduler::plugin::{BOUNDS, MetricFigures};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;

type Source = Arc<dyn Fn() -> Vec<(&'static str, MetricFigures)> + Send + Sync>;

/// The function that returns the counters of the active profile's plugins; `None` before there is a profile.
#[derive(Clone, Default)]
pub(super) struct PluginSource(Arc<Mutex<Option<Source>>>);

impl fmt::Debug for PluginSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PluginSource")
    }
}

impl PluginSource {
    pub(super) fn replace(&self, source: impl Fn() -> Vec<(&'static str, MetricFigures)> + Send + Sync + 'static) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(source));
    }

    /// Figures by plugin. Those of two plugins with the same name are added up, because they would be the same series.
    fn figures(&self) -> BTreeMap<&'static str, MetricFigures> {
        // Called without the lock, which a reload needs.
        let source = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut by_plugin: BTreeMap<&'static str, MetricFigures> = BTreeMap::new();
        for (plugin, figures) in source.map(|source| source()).unwrap_or_default() {
            by_plugin.entry(plugin).or_default().add(&figures);
        }
        by_plugin
    }
}

impl Collector for PluginSource {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let by_plugin = self.figures();
        let mut counters = encoder.encode_descriptor(
            "divvy_plugin_counter",
            "Counters that plugins keep themselves, since they were loaded",
            None,
            MetricType::Counter,
        )?;
        for (plugin, figures) in &by_plugin {
            for (name, count) in &figures.counters {
                let labels = [("plugin", *plugin), ("name", name.as_str())];
                ConstCounter::new(*count).encode(counters.encode_family(&labels)?)?;
            }
        }
        let mut histograms = encoder.encode_descriptor(
            "divvy_plugin_histogram",
            "Histograms that plugins keep themselves, since they were loaded",
            None,
            MetricType::Histogram,
        )?;
        for (plugin, figures) in &by_plugin {
            for (name, figures) in &figures.histograms {
                let labels = [("plugin", *plugin), ("name", name.as_str())];
                let bounds = BOUNDS.into_iter().chain([f64::MAX]);
                let buckets: Vec<(f64, u64)> = bounds.zip(figures.counts.iter().copied()).collect();
                let mut family = histograms.encode_family(&labels)?;
                family.encode_histogram::<NoLabelSet>(figures.sum, figures.count(), &buckets, None)?;
            }
        }
        Ok(())
    }
}
