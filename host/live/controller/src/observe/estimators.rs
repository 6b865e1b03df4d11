//! The estimators' state, looked up during a scrape: clusters come and go, so their series must too.

use std::fmt;
use std::sync::Arc;

use divvy_estimator::{BreakerState, EstimatorState, Estimators};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

pub(super) struct EstimatorCollector(pub(super) Arc<Estimators>);

impl fmt::Debug for EstimatorCollector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("EstimatorCollector")
    }
}

impl Collector for EstimatorCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let states = self.0.states();
        encode(
            &mut encoder,
            &states,
            "divvy_estimator_age_seconds",
            "Time since a cluster's estimator last answered",
            |state| state.last_answer_age.map(|age| age.as_secs_f64()),
        )?;
        encode(
            &mut encoder,
            &states,
            "divvy_estimator_breaker",
            "State of a cluster's breaker: 0 closed, 1 half open, 2 open",
            |state| {
                Some(match state.breaker {
                    BreakerState::Closed => 0.0,
                    BreakerState::HalfOpen => 1.0,
                    BreakerState::Open => 2.0,
                })
            },
        )
    }
}

/// Writes one gauge per cluster that has the figure.
fn encode(
    encoder: &mut DescriptorEncoder<'_>,
    states: &[EstimatorState],
    name: &str,
    help: &str,
    figure: impl Fn(&EstimatorState) -> Option<f64>,
) -> Result<(), fmt::Error> {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for state in states {
        if let Some(figure) = figure(state) {
            let labels = [("cluster", state.cluster.as_str())];
            ConstGauge::new(figure).encode(metric.encode_family(&labels)?)?;
        }
    }
    Ok(())
}
