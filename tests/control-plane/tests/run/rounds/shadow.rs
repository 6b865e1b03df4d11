//! A scheduler in shadow mode beside the stand-in.

use std::path::Path;
use std::time::{Duration, Instant};

use divvy_control_plane_tests::divvy::Configuration;
use divvy_control_plane_tests::objects::PATIENCE;
use divvy_control_plane_tests::users::SCHEDULER;
use divvy_control_plane_tests::{Divvy, Error, Scenario};
use serde_json::Value;

use super::recorded::Transition;
use crate::ask_scheduler;

/// A running scheduler in shadow mode.
pub(super) struct Shadow {
    divvy: Divvy,
    profile: &'static str,
}

/// Comparisons so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comparisons {
    pub(super) agreed: u64,
    pub(super) differed: u64,
    /// Those among the differences that holding capacity explains.
    pub(super) by_holding: u64,
}

impl Shadow {
    /// Starts one under a profile. What it holds, it gives up only after longer than the test.
    pub(super) fn start(scenario: &Scenario, folder: &Path, profile: &'static str) -> Result<Self, Error> {
        let mut configuration: Configuration = scenario.configuration(SCHEDULER).with_rare_reports();
        configuration.profile = profile.into();
        configuration.further.push("--dry-run".to_owned());
        let divvy = Divvy::start(folder, &configuration)?;
        Ok(Self { divvy, profile })
    }

    /// The page with the comparisons.
    pub(super) fn page(&self) -> Value {
        let (status, body) = ask_scheduler(&self.divvy, "/shadow");
        match status {
            200 => serde_json::from_str(&body).expect("the page is JSON"),
            _ => Value::Null,
        }
    }

    /// The comparisons so far.
    pub(super) fn comparisons(&self) -> Comparisons {
        let page = self.page();
        let count = |field: &str| page[field].as_u64().unwrap_or(0);
        Comparisons {
            agreed: count("agreed"),
            differed: count("differed"),
            by_holding: count("differedByHolding"),
        }
    }

    /// The differences, which the page lists as long as they are few.
    pub(super) fn differences(&self) -> Vec<Value> {
        self.page()["differences"].as_array().cloned().unwrap_or_default()
    }

    /// The newest decision about a binding; `None` if there is none.
    pub(super) fn decision(&self, binding: &Transition) -> Option<Value> {
        let kind = binding.kind.name.to_lowercase();
        let path = match binding.namespace() {
            "" => format!("/explain/{kind}/{}", binding.name()),
            namespace => format!("/explain/{kind}/{namespace}/{}", binding.name()),
        };
        let (status, body) = ask_scheduler(&self.divvy, &path);
        (status == 200).then(|| serde_json::from_str(&body).expect("an explanation is JSON"))
    }

    /// Waits until something holds.
    pub(super) async fn until(&self, expectation: &str, holds: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(
                start.elapsed() < PATIENCE,
                "{}: {expectation}: {:#}\n{}",
                self.profile,
                self.page(),
                self.divvy.process.printed()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Sums of a metric over the series with a label, such as `cluster="a"`; over all if it is empty.
    pub(super) fn sum(&self, metric: &str, label: &str) -> f64 {
        let (_, text) = ask_scheduler(&self.divvy, "/metrics");
        let series = text.lines().filter(|line| line.starts_with(metric) && line.contains(label));
        let figures = series.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
        figures.sum()
    }
}
