//! Held capacity, and the reports and limits that end it.

mod contained;
mod jobs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::{BindingScope, Cluster, TargetCluster, Timestamp};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot, Footprint};
use serde_json::{Value, json};

use super::{DecisionNumber, HoldingLimits, Holdings, NewResult, Usage};
use crate::objects::{AggregatedStatus, BindingKey, Health};

/// A scheduler at one moment, with clusters `a` and `b`.
struct Story {
    holdings: Holdings,
    now: Instant,
}

fn key(name: &str) -> Arc<BindingKey> {
    Arc::new(BindingKey {
        scope: BindingScope::Namespaced,
        namespace: "default".to_owned(),
        name: name.to_owned(),
    })
}

fn targets(list: &[(&str, i32)]) -> Vec<TargetCluster> {
    let target = |(name, replicas): &(&str, i32)| TargetCluster {
        name: (*name).to_owned(),
        replicas: *replicas,
        ..TargetCluster::default()
    };
    list.iter().map(target).collect()
}

fn footprint(specification: Value) -> Footprint {
    Footprint::new(&serde_json::from_value(specification).expect("a specification"))
}

/// Replicas of one CPU.
fn cpu() -> Footprint {
    footprint(json!({"replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}}))
}

/// A status that reports these requests, of pods that are bound and of those that wait for a node.
fn reporting(bound: Value, waiting: Value, has_models: bool) -> Cluster {
    let mut cluster = json!({
        "status": {"resourceSummary": {
            "allocatable": {"cpu": "100", "memory": "100", "pods": "110"},
            "allocated": bound,
            "allocating": waiting,
        }},
    });
    if has_models {
        cluster["spec"] =
            json!({"resourceModels": [{"grade": 0, "ranges": [{"name": "cpu", "min": "0", "max": "100"}]}]});
        cluster["status"]["resourceSummary"]["allocatableModelings"] = json!([{"grade": 0, "count": 2}]);
    }
    serde_json::from_value(cluster).expect("a cluster")
}

fn fleet(names: &[&str]) -> FleetSnapshot {
    let mut fleet = Fleet::new(false);
    for name in names {
        let mut cluster = Cluster::default();
        cluster.metadata.name = (*name).to_owned();
        fleet.upsert(&cluster);
    }
    fleet.snapshot()
}

fn entry(cluster: &str, replicas: Option<i64>, fingerprint: u64) -> AggregatedStatus {
    AggregatedStatus {
        cluster: cluster.into(),
        health: Health::Unknown,
        applied: true,
        replicas,
        ready_replicas: None,
        is_rolling_out: false,
        started: None,
        has_ended: false,
        fingerprint,
    }
}

impl Story {
    fn new() -> Self {
        Self {
            holdings: Holdings::default(),
            now: Instant::now(),
        }
    }

    fn pass(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }

    fn take(
        &mut self,
        name: &str,
        result: &[(&str, i32)],
        last: &[(&str, i32)],
        footprint: &Footprint,
    ) -> DecisionNumber {
        self.take_seeing(name, result, last, footprint, &[])
    }

    fn take_seeing(
        &mut self,
        name: &str,
        result: &[(&str, i32)],
        last: &[(&str, i32)],
        footprint: &Footprint,
        aggregated: &[AggregatedStatus],
    ) -> DecisionNumber {
        let result = NewResult {
            targets: &targets(result),
            last: &targets(last),
            aggregated,
            footprint,
            is_written: true,
            since: self.now,
            began: Timestamp::from_seconds(0),
        };
        self.holdings.take(&key(name), &result)
    }

    /// A result of CPUs whose write is under way.
    fn take_unwritten(&mut self, name: &str, result: &[(&str, i32)]) -> DecisionNumber {
        let result = NewResult {
            targets: &targets(result),
            last: &[],
            aggregated: &[],
            footprint: &cpu(),
            is_written: false,
            since: self.now,
            began: Timestamp::from_seconds(0),
        };
        self.holdings.take(&key(name), &result)
    }

    /// The status shows replicas of a binding on `a`.
    fn shows(&mut self, name: &str, replicas: i64) {
        let entry = entry(
            "a",
            Some(replicas),
            u64::try_from(replicas).expect("a number of replicas"),
        );
        self.holdings
            .observe(&key(name), std::slice::from_ref(&entry), self.now);
    }

    /// Names of the bindings that hold anything on `a`.
    fn holders(&self) -> Vec<String> {
        let parts = self.holdings.parts_on("a");
        parts.map(|part| part.binding.name.clone()).collect()
    }

    /// A report of CPUs and pods: both bound to nodes.
    fn report(&mut self, cluster: &str, bound: i64) -> bool {
        let requests = json!({"cpu": bound.to_string(), "pods": bound.to_string()});
        self.report_of(cluster, &reporting(requests, json!({}), false))
    }

    fn report_of(&mut self, cluster: &str, report: &Cluster) -> bool {
        self.holdings.reported(cluster, Usage::new(report), self.now)
    }

    /// Deductions of estimates on the clusters `a` and `b`: thousandths of a CPU by sums and by models, and pods.
    fn deducted(&mut self) -> [(i64, i64, i64); 2] {
        let ledger = self.holdings.ledger(&fleet(&["a", "b"]), 1);
        [0, 1].map(|row| {
            (
                ledger.taken("cpu", row),
                ledger.by_models().taken("cpu", row),
                ledger.taken("pods", row),
            )
        })
    }

    fn on_a(&mut self) -> (i64, i64, i64) {
        self.deducted()[0]
    }
}

const NOTHING: (i64, i64, i64) = (0, 0, 0);

#[test]
fn only_growth_is_held() {
    let mut story = Story::new();
    story.take("web", &[("a", 5), ("b", 1)], &[("a", 3), ("b", 4)], &cpu());
    assert_eq!(story.deducted(), [(2000, 2000, 2), NOTHING]);
    // A further decision adds to the quantity that is not reported yet.
    story.take("web", &[("a", 6)], &[("a", 5)], &cpu());
    assert_eq!(story.on_a(), (3000, 3000, 3));
}

#[test]
fn the_ledger_follows_the_rows() {
    let mut story = Story::new();
    story.take("web", &[("b", 2)], &[], &cpu());
    assert_eq!(story.holdings.ledger(&fleet(&["a", "b"]), 1).taken("cpu", 1), 2000);
    assert_eq!(story.holdings.ledger(&fleet(&["b"]), 2).taken("cpu", 0), 2000);
    let number = story.take("web", &[("b", 3)], &[("b", 2)], &cpu());
    assert_eq!(story.holdings.ledger(&fleet(&["b"]), 2).taken("cpu", 0), 3000);
    // The write failed.
    story.holdings.retract(&key("web"), number);
    assert_eq!(story.holdings.ledger(&fleet(&["b"]), 2).taken("cpu", 0), 2000);
    story.holdings.remove(&key("web"));
    assert_eq!(story.holdings.ledger(&fleet(&["b"]), 2).taken("cpu", 0), 0);
    assert!(story.holdings.is_empty());
}

#[test]
fn growth_settles_the_oldest_decision_first_and_no_more_than_it_shows() {
    let mut story = Story::new();
    story.report("a", 10);
    story.take("old", &[("a", 5)], &[], &cpu());
    story.take("new", &[("a", 4)], &[], &cpu());
    assert!(story.report("a", 17));
    assert_eq!(story.on_a(), (2000, 2000, 2));
    let parts: Vec<String> = story.holdings.parts().map(|part| part.to_string()).collect();
    assert_eq!(
        parts,
        ["cpu 2 and pods 2 on a by default/new since 1970-01-01T00:00:00Z"]
    );
    // A report with less, and one with the same, do not settle anything.
    assert!(!story.report("a", 12));
    assert!(!story.report("a", 17));
    assert!(story.report("a", 19));
    assert_eq!(story.on_a(), NOTHING);
    assert!(story.holdings.is_empty());
}

/// A write whose request was lost is older than the result that the report shows.
#[test]
fn a_report_shows_written_results_before_those_that_may_fail() {
    let mut story = Story::new();
    story.report("a", 10);
    let lost = story.take_unwritten("lost", &[("a", 4)]);
    story.take("web", &[("a", 8)], &[], &cpu());
    assert!(story.report("a", 18));
    assert_eq!(story.on_a(), (4000, 4000, 4));
    assert!(story.holdings.retract(&key("lost"), lost));
    assert_eq!(story.on_a(), NOTHING);
    // One write under way may be older than another.
    let lost = story.take_unwritten("lost", &[("a", 4)]);
    let late = story.take_unwritten("late", &[("a", 3)]);
    story.report("a", 21);
    let later = story.take_unwritten("later", &[("a", 2)]);
    assert_eq!(story.on_a(), (6000, 6000, 6));
    assert!(story.holdings.retract(&key("lost"), lost));
    story.holdings.confirm(&key("late"), late);
    assert_eq!(
        story.on_a(),
        (2000, 2000, 2),
        "what came after the report is still held"
    );
    assert!(story.holdings.retract(&key("later"), later));
    assert!(story.holdings.is_empty());
    story.report("a", 18);
    // Growth beyond what is written is that of the other.
    let late = story.take_unwritten("late", &[("a", 4)]);
    story.take("web", &[("a", 9)], &[("a", 8)], &cpu());
    assert!(story.report("a", 21));
    assert_eq!(story.on_a(), (2000, 2000, 2));
    // Once it is known to be written, it is the oldest.
    story.holdings.confirm(&key("late"), late);
    story.take("web", &[("a", 10)], &[("a", 9)], &cpu());
    assert!(story.report("a", 23));
    assert_eq!(
        story
            .holdings
            .parts_on("a")
            .map(|part| part.binding.name.clone())
            .collect::<Vec<_>>(),
        ["web"]
    );
}

#[test]
fn a_later_decision_counts_growth_from_its_own_report() {
    let mut story = Story::new();
    story.report("a", 50);
    story.take("before", &[("a", 5)], &[], &cpu());
    // Other pods end, and the next decision is made.
    story.report("a", 20);
    story.take("after", &[("a", 3)], &[], &cpu());
    // These three are above the highest value since the second decision, but not since the first.
    story.report("a", 23);
    let left: Vec<_> = story.holdings.parts().map(|part| part.binding.name.clone()).collect();
    assert_eq!(left, ["before"]);
}

#[test]
fn the_first_report_of_a_cluster_is_no_growth() {
    let mut story = Story::new();
    story.take("web", &[("a", 5)], &[], &cpu());
    story.report_of("a", &Cluster::default());
    assert!(!story.report("a", 40));
    assert_eq!(story.on_a(), (5000, 5000, 5));
    assert!(story.report("a", 45));
    assert_eq!(story.on_a(), NOTHING);
}

#[test]
fn a_report_that_falls_to_nothing_and_returns_is_no_growth() {
    let mut story = Story::new();
    story.report("a", 40);
    story.take("before", &[("a", 5)], &[], &cpu());
    story.report("a", 0);
    story.take("meanwhile", &[("a", 3)], &[], &cpu());
    assert!(!story.report("a", 40));
    assert_eq!(story.on_a(), (8000, 8000, 8));
    // Repeated reports of zero count.
    story.report("a", 0);
    story.pass(20);
    story.take("later", &[("a", 1)], &[], &cpu());
    assert!(story.report("a", 1));
    assert_eq!(story.on_a(), (8000, 8000, 8));
}

#[test]
fn models_show_pods_once_they_are_bound_and_pods_count_at_once() {
    let mut story = Story::new();
    let report = |bound: i64, waiting: i64, has_models| {
        let list = |count: i64| json!({"cpu": count.to_string(), "pods": count.to_string()});
        reporting(list(bound), list(waiting), has_models)
    };
    story.report_of("a", &report(10, 0, true));
    story.take("web", &[("a", 5)], &[], &cpu());
    assert!(story.report_of("a", &report(10, 5, true)));
    assert_eq!(story.on_a(), (0, 5000, 0));
    let left: Vec<_> = story.holdings.parts().map(|part| part.resources.clone()).collect();
    assert_eq!(left, [[("cpu", 5000)]]);
    assert!(story.report_of("a", &report(13, 2, true)));
    assert_eq!(story.on_a(), (0, 2000, 0));
    assert!(story.report_of("a", &report(15, 0, true)));
    assert!(story.holdings.is_empty());
    // Without models, the sums count, which have the waiting pods.
    story.take("web", &[("a", 7)], &[("a", 5)], &cpu());
    assert!(story.report_of("a", &report(15, 2, false)));
    assert!(story.holdings.is_empty());
}

#[test]
fn each_resource_is_settled_by_its_own_growth() {
    let mut story = Story::new();
    let both =
        footprint(json!({"replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1", "memory": "2"}}}));
    let report = |cpu: i64, memory: i64, pods: i64| {
        let list = json!({"cpu": cpu.to_string(), "memory": memory.to_string(), "pods": pods.to_string()});
        reporting(list, json!({}), false)
    };
    story.report_of("a", &report(0, 0, 0));
    story.take("two", &[("a", 4)], &[], &both);
    story.take("one", &[("a", 3)], &[], &cpu());
    // Pods of others, which request no memory, look like these. Memory shows that some are still missing.
    story.report_of("a", &report(7, 2, 7));
    let left: Vec<_> = story
        .holdings
        .parts()
        .map(|part| (part.binding.name.clone(), part.resources))
        .collect();
    assert_eq!(left, [("two".to_owned(), vec![("memory", 6)])]);
    story.report_of("a", &report(7, 8, 7));
    assert!(story.holdings.is_empty());
}

#[test]
fn all_components_are_held_wherever_they_are_new() {
    let component = |name: &str, replicas: i32, cpu: &str| json!({"name": name, "replicas": replicas, "replicaRequirements": {"resourceRequest": {"cpu": cpu}}});
    let of_workers = |workers: i32| {
        footprint(json!({"components": [component("manager", 1, "500m"), component("worker", workers, "2")]}))
    };
    let mut story = Story::new();
    story.take("flink", &[("a", 0)], &[], &of_workers(3));
    assert_eq!(story.deducted(), [(6500, 6500, 4), NOTHING]);
    story.take("flink", &[("a", 0), ("b", 0)], &[("a", 0)], &of_workers(3));
    assert_eq!(story.deducted(), [(6500, 6500, 4), (6500, 6500, 4)]);
    story.report_of("a", &reporting(json!({}), json!({}), false));
    let shown = json!({"cpu": "6500m", "pods": "4"});
    assert!(story.report_of("a", &reporting(shown, json!({}), false)));
    assert_eq!(story.deducted(), [NOTHING, (6500, 6500, 4)]);
}

#[test]
fn whoever_shrinks_a_target_releases_what_was_held_for_it() {
    let mut story = Story::new();
    story.take("web", &[("a", 5), ("b", 4)], &[("a", 2)], &cpu());
    assert!(
        !story
            .holdings
            .shrink(&key("web"), &targets(&[("a", 5), ("b", 4)]), &cpu())
    );
    assert!(story.holdings.shrink(&key("web"), &targets(&[("a", 2)]), &cpu()));
    assert_eq!(story.deducted(), [(2000, 2000, 2), NOTHING]);
    assert!(story.holdings.shrink(&key("web"), &[], &cpu()));
    assert!(story.holdings.is_empty());
}

#[test]
fn what_no_report_shows_is_given_up_two_reports_after_it_was_applied() {
    let before = [entry("a", Some(3), 1)];
    for (entry, expected) in [
        // The entry is the one from before the decision.
        (entry("a", Some(5), 1), false),
        // The resource has grown in part.
        (entry("a", Some(4), 2), false),
        (entry("a", Some(5), 2), true),
        // A kind without replicas.
        (entry("a", None, 2), true),
    ] {
        let mut story = Story::new();
        story.take_seeing("web", &[("a", 5)], &[("a", 3)], &cpu(), &before);
        story.pass(1);
        story
            .holdings
            .observe(&key("web"), std::slice::from_ref(&entry), story.now);
        story.pass(19);
        assert!(story.holdings.expire(story.now).given_up.is_empty(), "{entry:?}");
        story.pass(1);
        let given_up = story.holdings.expire(story.now).given_up;
        assert_eq!(!given_up.is_empty(), expected, "{entry:?}");
        assert_eq!(story.on_a() == NOTHING, expected, "{entry:?}");
    }
}

#[test]
fn the_limit_ends_everything() {
    let mut story = Story::new();
    story.take("web", &[("a", 5)], &[], &cpu());
    story.pass(HoldingLimits::default().limit.as_secs() - 1);
    assert!(story.holdings.expire(story.now).given_up.is_empty());
    story.pass(1);
    let given_up = story.holdings.expire(story.now).given_up;
    assert_eq!(given_up, [(key("web"), Arc::from("a"))]);
    assert_eq!(story.on_a(), NOTHING);
}

#[test]
fn only_the_part_of_a_found_result_that_cannot_be_reported_yet_is_held() {
    let of = |aggregated: &[AggregatedStatus], age: u64| {
        let mut story = Story::new();
        let result = NewResult {
            targets: &targets(&[("a", 5), ("b", 2)]),
            last: &[],
            aggregated,
            footprint: &cpu(),
            is_written: true,
            since: story.now,
            began: Timestamp::from_seconds(0),
        };
        story.holdings.restore(&key("web"), &result, Duration::from_secs(age));
        story.deducted().map(|(cpu, ..)| cpu)
    };
    assert_eq!(of(&[], 3), [5000, 2000]);
    // Four of five exist on `a`, and all on `b`, whose kind does not say how many.
    assert_eq!(of(&[entry("a", Some(4), 1), entry("b", None, 1)], 3), [1000, 0]);
    assert_eq!(of(&[], 20), [0, 0]);
}

#[test]
fn a_cluster_that_is_gone_and_returns_begins_with_a_first_report() {
    let mut story = Story::new();
    story.report("a", 10);
    story.holdings.forget_reports("a");
    story.take("web", &[("a", 5)], &[], &cpu());
    assert!(!story.report("a", 30));
    assert!(story.report("a", 35));
    assert!(story.holdings.is_empty());
}
