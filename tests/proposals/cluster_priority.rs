//! `priority-aggregated.md`, Alternatives: priorities combined with any strategy, declared by `clusterPriority` or
//! implied by affinity groups. The strategy then runs tier by tier.

use serde_json::{Value, json};

use super::{deployment, documents, printed};
use crate::manifests::{binding, cluster, list, priorities, weights};
use crate::scheduling::Host;

const MEMBERS: [&str; 4] = ["member1", "member2", "member3", "member4"];

fn clusters() -> Vec<Value> {
    MEMBERS.map(|name| cluster(name, 10).into()).to_vec()
}

/// member1 and member2 before member3 and member4.
fn two_tiers() -> Value {
    priorities([("member1", 2), ("member2", 2), ("member3", 1), ("member4", 1)])
}

/// Checks the decision of a strategy with these preferences and `clusterPriority`.
#[track_caller]
fn check(strategy: &str, preferences: Value, replicas: i64, told: &str) {
    let mut objects = clusters();
    let mut preferences = preferences;
    preferences["clusterPriority"] = two_tiers();
    objects.push(
        binding("web", replicas)
            .strategy(strategy)
            .preferences(&preferences)
            .into(),
    );
    assert_eq!(
        Host::built_in().told(objects),
        told,
        "{strategy} {replicas} {preferences}"
    );
}

/// A policy with these annotations and a placement, of which the proposal prints only the content.
fn policy(placement: &str, annotations: &str) -> String {
    let placement: String = placement.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata:\n  name: p\n  annotations: {{{annotations}}}\n\
         spec:\n  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment}}]\n  placement:\n{placement}"
    )
}

#[track_caller]
fn check_printed(host: &Host, policy: &str, table: &[(i64, &str)]) {
    for (replicas, told) in table {
        let manifest = documents(&[&list(clusters()), policy, &deployment("default", "nginx", *replicas)]);
        assert_eq!(host.told_text(&manifest), *told, "{replicas}");
    }
}

/// The table of the proposal, which Aggregated produces tier by tier.
const TABLE: [(i64, &str); 4] = [
    (8, "member1=8"),
    (16, "member1=8 member2=8"),
    (28, "member1=10 member2=10 member3=8"),
    (36, "member1=10 member2=10 member3=8 member4=8"),
];

#[test]
fn the_printed_cluster_priority_runs_aggregated_tier_by_tier() {
    let policy = policy(&printed("priority-cluster-priority"), "");
    check_printed(Host::built_in(), &policy, &TABLE);
}

#[test]
fn every_other_divided_strategy_runs_tier_by_tier() {
    let within = "member1=10 member2=10 member3=4 member4=4";
    check("Aggregated", json!({}), 28, "member1=10 member2=10 member3=8");
    check("DynamicWeight", json!({}), 28, within);
    check("Average", json!({}), 28, within);
    check("StaticWeight", json!({}), 28, within);
    // Only the last tier of StaticWeight may exceed its capacity; the others are full.
    check(
        "StaticWeight",
        json!({}),
        44,
        "member1=10 member2=10 member3=12 member4=12",
    );
    for strategy in ["Aggregated", "DynamicWeight", "Average"] {
        check(
            strategy,
            json!({}),
            44,
            "Unschedulable: 44 replicas requested, 40 fit in the candidate clusters",
        );
    }
}

#[test]
fn static_weights_are_resolved_over_all_tiers() {
    // As without tiers, clusters without a weight get nothing, so member1 and member3 alone limit their tiers.
    check(
        "StaticWeight",
        weights([("member1", 3), ("member3", 1)]),
        12,
        "member1=10 member3=2",
    );
    check(
        "StaticWeight",
        weights([("member1", 3), ("member2", 1), ("member4", 1)]),
        8,
        "member1=6 member2=2",
    );
}

#[test]
fn with_duplicated_and_specified_it_is_an_error() {
    for strategy in ["Duplicated", "Specified"] {
        let message =
            format!("Error: clusterPriority: cluster priorities cannot be combined with the strategy `{strategy}`");
        check(strategy, json!({}), 8, &message);
    }
}

#[test]
fn the_printed_affinity_groups_are_tiers_if_the_annotation_requests_it() {
    let policy = policy(&printed("priority-implicit-tiers"), "divvy.io/affinity-groups: tiers");
    check_printed(Host::built_in(), &policy, &TABLE);
}

#[test]
fn the_printed_affinity_groups_are_tiers_if_the_profile_requests_it() {
    let host = Host::extending("affinity-groups = 'tiers'");
    check_printed(&host, &policy(&printed("priority-implicit-tiers"), ""), &TABLE);
}

#[test]
fn affinity_groups_are_fallbacks_by_default() {
    let policy = policy(&printed("priority-implicit-tiers"), "");
    check_printed(
        Host::built_in(),
        &policy,
        &[
            (8, "member1=8"),
            // Too many for the first group, so only the second is used: three clusters hold equal parts.
            (27, "member1=9 member2=9 member3=9"),
        ],
    );
}
