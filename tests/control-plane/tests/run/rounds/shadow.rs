//! A scheduler in shadow mode beside the stand-in.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use divvy_control_plane_tests::divvy::Configuration;
use divvy_control_plane_tests::objects::PATIENCE;
use divvy_control_plane_tests::users::OBSERVER;
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
    /// Starts one under a profile, with the rights of shadow mode. What it holds, it gives up only after longer than the test.
    pub(super) fn start(scenario: &Scenario, folder: &Path, profile: &'static str) -> Result<Self, Error> {
        let mut configuration: Configuration = scenario.configuration(OBSERVER).with_rare_reports();
        configuration.profile = profile.into();
        configuration.further.push("--dry-run".to_owned());
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
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

    /// The bindings that were decided otherwise, either those for which holding is named as the cause or the others.
    pub(super) fn differences(&self, by_holding: bool) -> BTreeSet<String> {
        let page = self.page();
        let listed = page["differences"].as_array().map_or(&[][..], Vec::as_slice);
        assert_eq!(page["differed"], listed.len(), "the page no longer lists all of them");
        let wanted = listed
            .iter()
            .filter(|difference| difference["cause"].is_string() == by_holding);
        let keys = wanted.filter_map(|difference| difference["binding"].as_str());
        keys.map(str::to_owned).collect()
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

    /// Waits for a decision about a binding.
    pub(super) async fn until_decided(&self, binding: &Transition) {
        let expectation = format!("decides {}", binding.key());
        self.until(&expectation, |shadow| shadow.decision(binding).is_some())
            .await;
    }

    /// Waits until this many decisions were compared.
    pub(super) async fn until_compared(&self, expected: usize) {
        let is_compared = |shadow: &Self| {
            let comparisons = shadow.comparisons();
            comparisons.agreed + comparisons.differed >= expected as u64
        };
        self.until(&format!("compares {expected} decisions"), is_compared).await;
    }

    /// Waits until something holds. `expectation` completes the sentence "the scheduler …".
    pub(super) async fn until(&self, expectation: &str, holds: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(
                start.elapsed() < PATIENCE,
                "the scheduler under `{}` never {expectation}: {:#}\n{}",
                self.profile,
                self.page(),
                self.divvy.process.printed()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The sum of a metric over the series with a label, such as `cluster="a"`; over all if it is empty.
    pub(super) fn sum(&self, metric: &str, label: &str) -> f64 {
        self.sum_where(metric, |series| series.contains(label))
    }

    /// The sum of all that is held, except on one cluster.
    pub(super) fn held_outside(&self, cluster: &str) -> f64 {
        self.sum_where("divvy_held_capacity{", |series| !series.contains(cluster))
    }

    fn sum_where(&self, metric: &str, is_counted: impl Fn(&str) -> bool) -> f64 {
        let (status, text) = ask_scheduler(&self.divvy, "/metrics");
        assert_eq!(status, 200, "{text}");
        let series = text.lines().filter(|line| line.starts_with(metric) && is_counted(line));
        let figures = series.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
        figures.sum()
    }
}
