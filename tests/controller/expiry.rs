//! Results that a plugin limits to a time, after which the scheduler decides again.

use std::time::Duration;

use divvy_controller::write::WriteOutcome;
use divvy_world::plane::EPOCH;
use serde_json::{Value, json};

use super::simulation::Simulation;
use super::{cluster, clusters};

const HOUR: u64 = 3600;

/// Two clusters in regions that a policy can close.
fn regions() -> [Value; 2] {
    [("a", "eu"), ("b", "us")].map(|(name, region)| {
        let mut cluster = cluster(name, 10);
        cluster["spec"] = json!({ "region": region });
        cluster
    })
}

/// Preferences by which the plugin `windows` closes the region eu for an hour.
fn closed() -> String {
    let from = EPOCH * 1000;
    json!({ "closed": [{ "region": "eu", "from": from, "until": from + 3_600_000 }] }).to_string()
}

/// A scheduler that has placed a binding outside the closed region.
fn placed() -> Simulation {
    let mut simulation = Simulation::with_profile("filters = ['windows', 'cluster-affinity']", &regions());
    simulation.create(
        "web",
        json!({
            "replicas": 2,
            "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
            "placement": {"replicaScheduling": {
                "replicaSchedulingType": "Divided",
                "replicaDivisionPreference": "Weighted",
            }},
        }),
    );
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 1)]));
    simulation.patch(
        "web",
        &json!({"metadata": {"annotations": {"divvy.io/preferences.windows": closed()}}}),
    );
    assert_eq!(simulation.result("web"), clusters(&[("b", 2)]));
    assert_eq!(valid_until(&simulation), json!(EPOCH * 1000 + 3_600_000));
    simulation
}

/// The time in the annotation that the last decision left.
fn valid_until(simulation: &Simulation) -> Value {
    let applied = &simulation.binding("web")["metadata"]["annotations"]["divvy.io/applied-policy"];
    let applied: Value = serde_json::from_str(applied.as_str().expect("an annotation")).expect("JSON");
    applied["validUntil"].clone()
}

#[test]
fn a_binding_is_decided_again_when_its_result_no_longer_holds() {
    let mut simulation = placed();
    let before = simulation.writes("web");
    simulation.pass(Duration::from_secs(HOUR - 1));
    assert_eq!(simulation.writes("web"), before);
    simulation.pass(Duration::from_secs(1));
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 1)]));
    // The new decision holds whatever the time.
    assert_eq!(valid_until(&simulation), Value::Null);
    let after = simulation.writes("web");
    simulation.pass(Duration::from_secs(100 * HOUR));
    assert_eq!(simulation.writes("web"), after);
    assert_eq!(simulation.engine().next_due(), None);
}

#[test]
fn the_time_survives_other_events_failed_writes_and_a_restart() {
    // An event that wakes the binding, which is satisfied.
    let mut simulation = placed();
    simulation.patch("web", &json!({"metadata": {"annotations": {"example.com/note": "x"}}}));
    assert_eq!(simulation.result("web"), clusters(&[("b", 2)]));
    simulation.pass(Duration::from_secs(HOUR));
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 1)]));

    // A write that fails, and is tried again with another decision.
    let mut simulation = placed();
    simulation.fail_next_write(WriteOutcome::Failed("no answer".to_owned()));
    simulation.pass(Duration::from_secs(HOUR));
    assert_eq!(simulation.result("web"), clusters(&[("b", 2)]));
    simulation.pass(Duration::from_secs(1));
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 1)]));

    // Another process, which finds the time in the annotation.
    let mut simulation = placed();
    simulation.lead(2);
    assert_eq!(simulation.result("web"), clusters(&[("b", 2)]));
    simulation.pass(Duration::from_secs(HOUR));
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 1)]));

    // Another process that starts after the time.
    let mut simulation = placed();
    simulation.wait(Duration::from_secs(2 * HOUR));
    simulation.lead(2);
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 1)]));
}

#[test]
fn a_new_decision_replaces_the_time() {
    let mut simulation = placed();
    simulation.patch(
        "web",
        &json!({"metadata": {"annotations": {"divvy.io/preferences.windows": null}}}),
    );
    assert_eq!(simulation.result("web"), clusters(&[("a", 1), ("b", 1)]));
    let after = simulation.writes("web");
    assert_eq!(simulation.engine().next_due(), None);
    simulation.pass(Duration::from_secs(2 * HOUR));
    assert_eq!(simulation.writes("web"), after);
}

#[test]
fn a_binding_that_is_gone_is_not_decided_again() {
    let mut simulation = placed();
    simulation.delete("web");
    assert_eq!(simulation.engine().next_due(), None);
    simulation.pass(Duration::from_secs(2 * HOUR));
    assert!(!simulation.engine().has_ready());
}

/// The policy's metadata is watched; that of the workload is not.
#[test]
fn plugins_see_the_metadata_of_the_policy_that_claims_a_binding() {
    let lines = "filters = ['windows', 'cluster-affinity']\nscores = [{ plugin = 'windows', weight = 1 }]";
    let mut simulation = Simulation::with_profile(lines, &regions());
    let one = json!({
        "replicas": 1,
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "placement": {
            "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}],
            "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
        },
    });
    for (home, expected) in [("us", "b"), ("eu", "a")] {
        let labels = json!({"propagationpolicy.karmada.io/permanent-id": "policy", "home": home});
        simulation.policy(&json!({"metadata": {"name": "p", "namespace": "default", "labels": labels}}));
        simulation.create(home, one.clone());
        assert_eq!(simulation.result(home), clusters(&[(expected, 1)]));
    }
}

/// The profile before it needed none, so none was kept.
#[test]
fn a_profile_that_begins_to_read_metadata_sees_that_of_every_policy() {
    let mut simulation = Simulation::new(&regions());
    let labels = json!({"propagationpolicy.karmada.io/permanent-id": "policy", "home": "us"});
    simulation.policy(&json!({"metadata": {"name": "p", "namespace": "default", "labels": labels}}));
    let lines = "filters = ['windows', 'cluster-affinity']\nscores = [{ plugin = 'windows', weight = 1 }]";
    assert_eq!(simulation.exchange(lines).refusal, None);
    let one = json!({
        "replicas": 1,
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "placement": {
            "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}],
            "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
        },
    });
    simulation.create("web", one);
    assert_eq!(simulation.result("web"), clusters(&[("b", 1)]));
}
