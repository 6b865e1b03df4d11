//! Values that plugins keep per snapshot and per binding, through a library and a host.

mod columns;

use std::sync::Arc;

use divvy_karmada::api::Cluster;
use divvy_scheduler::decision::Scheduler;
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use serde_json::Value;

use crate::artifacts::fixture;
use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, detected, told};

/// A host with a filter and strategy whose only result is a report of the values that it got.
fn keeper_host() -> Host {
    Host::extending(&format!(
        "filters = ['keeper']\nassign = ['keeper', 'average']\n[profile.plugin.keeper]\npath = '{}'\n",
        fixture("keeper").display()
    ))
}

fn in_region(name: &str, region: &str) -> Cluster {
    let mut object = Value::from(cluster(name, 4));
    object["spec"]["region"] = region.into();
    serde_json::from_value(object).expect("a cluster")
}

fn fleet_of(names: &[&str]) -> Fleet {
    let mut fleet = Fleet::new(false);
    for name in names {
        fleet.upsert(&in_region(name, "eu"));
    }
    fleet
}

#[test]
fn values_are_made_once_per_snapshot_and_once_per_plan() {
    let host = keeper_host();
    let preferences = serde_json::json!({ "word": "hello" });
    let refusing = serde_json::json!({ "refuse": true });
    let keeper = |name| binding(name, 3).strategy("Keeper");
    let (manifests, found) = detected(&list([
        cluster("a", 4).into(),
        cluster("b", 4).into(),
        keeper("first").preferences(&preferences).last([("a", 1)]).into(),
        keeper("second").into(),
        keeper("third").preferences(&refusing).into(),
        // The filter is called for it as well, but it is not its strategy.
        binding("fourth", 2).strategy("Average").into(),
    ]));
    let mut fleet = Fleet::new(false);
    fleet.extend(manifests.clusters.iter().map(|cluster| &cluster.object));
    let mut scheduler = Scheduler::new(host.shared());
    let mut decide = |fleet: &mut Fleet, name: &str| {
        let binding = found
            .bindings
            .iter()
            .find(|binding| binding.object.metadata.name == name);
        let binding = binding.unwrap_or_else(|| panic!("there is a binding `{name}`"));
        told(&scheduler.schedule(binding, &fleet.snapshot()))
    };
    let expected = |snapshot: &str, dropped: u32, binding: &str| {
        format!("Unschedulable: snapshot {snapshot}, {dropped} dropped; binding {binding}")
    };
    let first = "1 after 0, 2 clusters, anything changed";
    for _ in 0..2 {
        assert_eq!(decide(&mut fleet, "first"), expected(first, 0, "first 1 hello 0"));
        assert_eq!(decide(&mut fleet, "second"), expected(first, 0, "second 2 none 0"));
        assert_eq!(
            decide(&mut fleet, "third"),
            "Error: the binding's `divvy.io/preferences`: plugin `keeper`: refuse: it was asked to refuse"
        );
        assert_eq!(decide(&mut fleet, "fourth"), "a=1 b=1");
    }
    // Another snapshot: the next value is made from the kept one, which is then dropped. Values of bindings stay.
    let (more, _) = detected(&list([cluster("c", 4).into()]));
    fleet.extend(more.clusters.iter().map(|cluster| &cluster.object));
    for _ in 0..2 {
        let second = "2 after 1, 3 clusters, anything changed";
        assert_eq!(decide(&mut fleet, "first"), expected(second, 1, "first 1 hello 0"));
        assert_eq!(decide(&mut fleet, "second"), expected(second, 1, "second 2 none 0"));
    }
    // Another plan of the same binding.
    let mut changed = found.bindings[0].clone();
    changed.object.spec.replicas = Some(9);
    let decision = Scheduler::new(Arc::clone(&host.shared())).schedule(&changed, &fleet.snapshot());
    assert_eq!(
        told(&decision),
        expected("2 after 1, 3 clusters, anything changed", 1, "first 4 hello 0")
    );
}

/// The filter asserts that the value, kept up by the changed rows, is what a new one would be.
#[test]
fn a_value_is_made_from_the_kept_one_and_the_rows_that_changed() {
    let host = keeper_host();
    let (_, found) = detected(&list([binding("web", 3).strategy("Keeper").into()]));
    let mut scheduler = Scheduler::new(host.shared());
    let mut decide = |snapshot: &FleetSnapshot| {
        let answer = told(&scheduler.schedule(&found.bindings[0], snapshot));
        let (_, answer) = answer.split_once("snapshot ").expect("a report");
        answer.split_once(" changed").expect("a report").0.to_owned()
    };
    let mut fleet = fleet_of(&["a", "b", "c"]);
    let change = |fleet: &mut Fleet, name: &str, region: &str| {
        fleet.upsert(&in_region(name, region));
        fleet.snapshot()
    };
    assert_eq!(decide(&fleet.snapshot()), "1 after 0, 3 clusters, anything");
    let held = change(&mut fleet, "c", "us");
    assert_eq!(decide(&held), "2 after 1, 3 clusters, [2]");
    // Three versions without a decision, and a copy of the arena that is held.
    change(&mut fleet, "c", "asia");
    change(&mut fleet, "a", "us");
    let third = change(&mut fleet, "a", "asia");
    for _ in 0..2 {
        assert_eq!(decide(&third), "3 after 2, 3 clusters, [0, 2]");
    }
    // Nothing changes in an older snapshot; it is not known what a newer one has that it lacks.
    assert_eq!(decide(&held), "4 after 3, 3 clusters, anything");
    assert_eq!(decide(&third), "5 after 4, 3 clusters, [0, 2]");
    assert_eq!(
        decide(&change(&mut fleet, "d", "eu")),
        "6 after 5, 4 clusters, anything"
    );
    assert_eq!(decide(&change(&mut fleet, "d", "us")), "7 after 6, 4 clusters, [3]");
    // Another store, with the same clusters.
    let mut other = fleet_of(&["a", "b", "c", "d"]);
    assert_eq!(decide(&other.snapshot()), "8 after 7, 4 clusters, anything");
}
