//! Named cases: the bindings that are decided, and the counting of replicas.

use divvy_forecast::change::{ChangeError, Changes};
use divvy_forecast::document::BindingRow;
use divvy_forecast::forecast::Comparison;
use divvy_forecast::future::Future;
use divvy_forecast::latent::latent;
use divvy_forecast::violations::violations;
use serde_json::{Value, json};

use super::{forecast, side, situation, threads};
use crate::manifests::{binding, cluster};

/// A binding that was scheduled by its present placement.
fn satisfied(name: &str, strategy: &str, last: &[(&str, i64)]) -> Value {
    let total = match strategy {
        "Duplicated" => last.first().map_or(0, |(_, count)| *count),
        _ => last.iter().map(|(_, count)| count).sum(),
    };
    let scheduling = match strategy {
        "Duplicated" => json!({"replicaSchedulingType": "Duplicated"}),
        other => json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": other}),
    };
    let built = binding(name, total).placement("replicaScheduling", scheduling.clone());
    let mut value: Value = built.last(last.iter().copied()).into();
    value["metadata"]["annotations"]["policy.karmada.io/applied-placement"] =
        json!({"replicaScheduling": scheduling}).to_string().into();
    value["status"]["lastScheduledTime"] = "2026-01-01T00:00:00Z".into();
    value
}

fn fleet(rooms: &[(&str, i64)]) -> Vec<Value> {
    rooms
        .iter()
        .map(|(name, room)| cluster(name, *room).region("here").into())
        .collect()
}

fn with(mut objects: Vec<Value>, bindings: impl IntoIterator<Item = Value>) -> Vec<Value> {
    objects.extend(bindings);
    objects
}

fn changes(change: impl FnOnce(&mut Changes)) -> Changes {
    let mut changes = Changes::default();
    change(&mut changes);
    changes
}

fn draining(name: &str) -> Changes {
    changes(|changes| changes.drain = vec![name.parse().expect("a choice")])
}

fn without(name: &str) -> Changes {
    changes(|changes| changes.without = vec![name.parse().expect("a choice")])
}

fn scaling(pattern: &str, count: &str) -> Changes {
    let replicas = (pattern.parse().expect("a pattern"), count.parse().expect("a count"));
    changes(|changes| changes.replicas = vec![replicas])
}

#[track_caller]
fn row<'a>(comparison: &'a Comparison, binding: &str) -> &'a BindingRow {
    let key = format!("default/{binding}");
    let found = comparison.bindings.iter().find(|row| row.binding == key);
    found.unwrap_or_else(|| panic!("no row for {binding}: {comparison:?}"))
}

#[test]
fn a_satisfied_binding_stays_where_it_is_and_is_latent() {
    // Uneven, so that Average would divide it otherwise.
    let objects = with(
        fleet(&[("a", 50), ("b", 50)]),
        [satisfied("web", "Average", &[("a", 9), ("b", 1)])],
    );
    let comparison = forecast(
        &objects,
        &changes(|changes| changes.cordon = vec!["a".parse().expect("a name")]),
    );
    assert_eq!(comparison.totals.changed, 0, "{comparison:?}");
    let situation = situation(&objects);
    let future = Future::decide(&situation, &side(), threads(1));
    let latent = latent(&future, &side(), threads(1), true);
    assert_eq!((latent.count, latent.movement.moved), (1, 4), "{latent:?}");
}

#[test]
fn a_drain_moves_what_ran_there() {
    let objects = with(
        fleet(&[("a", 50), ("b", 50)]),
        [satisfied("web", "Average", &[("a", 5), ("b", 5)])],
    );
    let comparison = forecast(&objects, &draining("a"));
    assert_eq!(row(&comparison, "web").movement.moved, 5);
    assert_eq!(comparison.totals.movement.lost, 0);
}

#[test]
fn what_no_longer_fits_is_lost_and_the_rest_survives() {
    let objects = with(
        fleet(&[("a", 50), ("b", 2)]),
        [satisfied("web", "Average", &[("a", 5), ("b", 5)])],
    );
    let comparison = forecast(&objects, &without("a"));
    let row = row(&comparison, "web");
    assert!(row.newly_unschedulable);
    assert_eq!(
        (row.result.as_str(), row.movement.lost, row.movement.moved),
        ("Unschedulable", 5, 0)
    );
    let survivors: Vec<_> = row
        .clusters
        .iter()
        .map(|counts| (counts.name.as_str(), counts.after))
        .collect();
    assert_eq!(survivors, [("a", None), ("b", Some(5))]);
}

#[test]
fn a_binding_that_fits_nowhere_loses_everything() {
    let objects = with(fleet(&[("a", 50)]), [satisfied("web", "Average", &[("a", 5)])]);
    let comparison = forecast(&objects, &without("a"));
    assert_eq!(row(&comparison, "web").result, "NoClusterFit");
    assert_eq!(comparison.totals.movement.lost, 5);
}

#[test]
fn a_binding_that_is_unschedulable_anyway_is_not_newly_so() {
    let mut huge = satisfied("huge", "Average", &[("a", 5)]);
    huge["spec"]["replicas"] = 5000.into();
    let objects = with(fleet(&[("a", 50), ("b", 50)]), [huge]);
    let comparison = forecast(
        &objects,
        &changes(|changes| changes.cordon = vec!["b".parse().expect("a name")]),
    );
    assert_eq!(
        (comparison.totals.unschedulable, comparison.totals.newly_unschedulable),
        (1, 0)
    );
}

#[test]
fn a_suspended_binding_that_loses_a_cluster_is_stranded() {
    let mut paused = satisfied("paused", "Average", &[("a", 3), ("b", 3)]);
    paused["spec"]["suspension"] = json!({"scheduling": true});
    let objects = with(fleet(&[("a", 50), ("b", 50)]), [paused]);
    for change in [without("a"), draining("a")] {
        let comparison = forecast(&objects, &change);
        let row = row(&comparison, "paused");
        assert_eq!(
            (row.result.as_str(), row.movement.stranded, row.movement.lost),
            ("Skipped", 3, 0)
        );
    }
}

#[test]
fn a_later_binding_gets_what_an_earlier_one_leaves() {
    let mut urgent = satisfied("zeta", "Average", &[("a", 5)]);
    urgent["spec"]["schedulePriority"] = json!({"priority": 5});
    let objects = with(
        fleet(&[("a", 10), ("b", 6)]),
        [satisfied("alpha", "Average", &[("a", 5)]), urgent],
    );
    let comparison = forecast(&objects, &without("a"));
    assert_eq!(row(&comparison, "zeta").result, "Scheduled");
    assert_eq!(row(&comparison, "alpha").result, "Unschedulable");
    let side = side();
    let situation = situation(&objects);
    let after = super::changed(&situation, &without("a"));
    let alone = divvy_forecast::future::Options {
        assumes: false,
        ..threads(1)
    };
    let independent = Future::decide(&after, &side, alone);
    assert!(
        independent.entries.iter().all(|entry| entry.error().is_none()),
        "without a ledger both fit"
    );
}

#[test]
fn a_duplicated_binding_only_adds_and_removes() {
    let objects = with(
        fleet(&[("a", 50), ("b", 50)]),
        [satisfied("agent", "Duplicated", &[("a", 2), ("b", 2)])],
    );
    let drained = forecast(&objects, &draining("a"));
    assert_eq!(row(&drained, "agent").movement.removed, 2);
    let scaled = forecast(&objects, &scaling("agent", "+1"));
    assert_eq!(
        (
            row(&scaled, "agent").movement.added,
            row(&scaled, "agent").movement.moved
        ),
        (2, 0)
    );
}

#[test]
fn replicas_on_clusters_that_would_refuse_them_are_violations() {
    let mut clusters = fleet(&[("a", 50), ("b", 50)]);
    clusters[0]["spec"]["taints"] = json!([{"key": "maintenance", "effect": "NoSchedule"}]);
    let objects = with(clusters, [satisfied("web", "Average", &[("a", 4), ("b", 4)])]);
    let situation = situation(&objects);
    let future = Future::decide(&situation, &side(), threads(1));
    let found = violations(&situation, &future, &side(), threads(1), true).expect("no filter fails");
    assert_eq!((found.count, found.replicas), (1, 4), "{found:?}");
}

#[test]
fn contradictions_and_choices_without_a_match_are_refused_together() {
    let objects = with(
        fleet(&[("eu-1", 50), ("eu-2", 50)]),
        [satisfied("web", "Average", &[("eu-1", 4)])],
    );
    let situation = situation(&objects);
    let change = changes(|changes| {
        changes.cordon = vec!["eu-*".parse().expect("a choice"), "eu-9".parse().expect("a choice")];
        changes.without = vec![
            "eu-1".parse().expect("a choice"),
            "region=there".parse().expect("a choice"),
        ];
        changes.replicas = vec![
            ("web".parse().expect("a pattern"), "5".parse().expect("a count")),
            (
                "deployment/*".parse().expect("a pattern"),
                "+3".parse().expect("a count"),
            ),
            ("nothing".parse().expect("a pattern"), "5".parse().expect("a count")),
        ];
        changes.reschedule = vec!["none/*".parse().expect("a pattern")];
    });
    let errors = change.resolve(&situation, &situation).expect_err("it is contradictory");
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "`--cordon eu-9` matches no cluster",
            "`--without region=there` matches no cluster",
            "`--without` removes the cluster `eu-1`, which `--cordon` changes",
            "`default/web` would have 5 replicas by `--replicas web=5`, and 7 by `--replicas deployment/*=+3`",
            "`--replicas nothing` matches no binding with replicas",
            "`--reschedule none/*` matches no binding",
        ]
    );
    assert!(matches!(&errors[0], ChangeError::NoCluster { nearest: Some(nearest), .. } if nearest.starts_with("eu-")));
}

#[test]
fn two_changes_that_agree_are_not_a_contradiction() {
    let objects = with(fleet(&[("a", 50)]), [satisfied("web", "Average", &[("a", 4)])]);
    let mut change = scaling("web", "8");
    change.replicas.extend(scaling("default/*", "x2").replicas);
    assert_eq!(forecast(&objects, &change), forecast(&objects, &scaling("web", "+4")));
}
