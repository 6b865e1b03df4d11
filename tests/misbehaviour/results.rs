//! Results that violate a rule, and failures that a plugin reports itself.

use super::{check_next_binding, clusters, host, told, told_with_fault};
use crate::manifests::binding;
use crate::scheduling::Host;

/// Checks the decision for each fault, and that the next binding is scheduled.
#[track_caller]
fn check(table: &[(&str, &str)]) {
    let host = host();
    for (fault, expected) in table {
        assert_eq!(told_with_fault(&host, fault), *expected, "{fault}");
        check_next_binding(&host);
    }
}

#[test]
fn impossible_scores_name_the_plugin_the_cluster_and_the_range() {
    check(&[
        (
            "score too low",
            "Error: plugin `faulty` gave cluster `b` score -1, expected 0 to 100",
        ),
        (
            "score too high",
            "Error: plugin `faulty` gave cluster `b` score 101, expected 0 to 100",
        ),
        (
            "score far too low",
            "Error: plugin `faulty` gave cluster `a` score -9223372036854775808, expected 0 to 100",
        ),
        (
            "score far too high",
            "Error: plugin `faulty` gave cluster `a` score 9223372036854775807, expected 0 to 100",
        ),
    ]);
}

#[test]
fn impossible_selections_name_the_plugin_and_the_cluster_or_the_index() {
    check(&[
        ("select twice", "Error: plugin `faulty` selected cluster `b` twice"),
        (
            "select out of range",
            "Error: plugin `faulty` selected index 3, but only 3 clusters are feasible",
        ),
        (
            "select far out of range",
            "Error: plugin `faulty` selected index 4294967295, but only 3 clusters are feasible",
        ),
        (
            "select too many",
            "Error: plugin `faulty` selected 4 clusters, but only 3 are feasible",
        ),
        ("select nothing", "Unschedulable: no clusters available to schedule"),
    ]);
}

#[test]
fn impossible_divisions_name_the_plugin_the_rule_and_the_figures() {
    check(&[
        (
            "divide nothing",
            "Error: plugin `faulty` divided 0 replicas, expected 6",
        ),
        (
            "divide too few",
            "Error: plugin `faulty` divided 5 replicas, expected 6",
        ),
        (
            "divide too many",
            "Error: plugin `faulty` divided 7 replicas, expected 6",
        ),
        (
            "divide negatively",
            "Error: plugin `faulty` gave cluster `b` -1 replicas",
        ),
        (
            "divide beyond 32 bits",
            "Error: plugin `faulty` gave cluster `a` 2147483648 replicas, more than 2147483647",
        ),
        (
            "divide beyond 64 bits",
            "Error: plugin `faulty` gave cluster `a` 9223372036854775807 replicas, more than 2147483647",
        ),
        (
            "divide over capacity",
            "Error: plugin `faulty` promises to respect capacity but gave cluster `b` 6 replicas, capacity 2",
        ),
    ]);
}

#[test]
fn broken_promises_that_come_with_a_result_name_the_plugin_the_cluster_and_the_group() {
    check(&[
        (
            "promise two clusters",
            "Error: plugin `faulty` promises to use at least 2 of the clusters but used 1",
        ),
        (
            "promise no cluster",
            "Error: plugin `faulty` promises to use at most 0 of the clusters but used 1: `a` is one too many",
        ),
        (
            "promise no cluster of a provider",
            "Error: plugin `faulty` promises to use at most 0 of the clusters of each provider but used 1 of provider `aws`: \
             `a` is one too many",
        ),
        (
            "promise no cluster of a region",
            "Error: plugin `faulty` promises to use at most 0 of the clusters of each region but used 1 of region `eu`: \
             `a` is one too many",
        ),
        (
            "promise no cluster of a zone",
            "Error: plugin `faulty` promises to use at most 0 of the clusters of each zone but used 1 of zone `eu-1`: \
             `a` is one too many",
        ),
        ("promise one of each", "a=6"),
        (
            "promise nothing",
            "Error: plugin `faulty` failed: promises are beneath me",
        ),
    ]);
}

/// The SDK ignores entries past the end; the rest of the result counts.
#[test]
fn results_for_unknown_clusters_are_ignored() {
    check(&[
        ("reject an unknown cluster", "a=6"),
        ("score an unknown cluster", "a=6"),
        ("divide over an unknown cluster", "a=6"),
    ]);
}

#[test]
fn a_duplicating_strategy_must_give_each_candidate_the_full_count() {
    let host = Host::extending("assign = ['false-duplicate', 'average']");
    assert_eq!(
        told(&host, binding("web", 6).strategy("FalseDuplicate")),
        "Error: plugin `false-duplicate` promises to duplicate but gave cluster `b` 5 replicas, expected 6"
    );
    assert_eq!(told(&host, binding("web", 6).strategy("Average")), "a=2 b=2 c=2");
}

#[test]
fn failures_that_a_plugin_reports_keep_their_kind() {
    check(&[
        (
            "internal failure",
            "Error: plugin `faulty` failed: the moon is in the wrong phase",
        ),
        (
            "unschedulable",
            "Unschedulable: 12 replicas requested, 5 fit in the candidate clusters",
        ),
        (
            "refused preferences",
            "Error: plugin `faulty`: specifiedClusters[0].name: no such cluster",
        ),
        (
            "reject all",
            "NoClusterFit: 0/3 clusters are available: 3 cluster(s) were not to its taste",
        ),
    ]);
}

#[test]
fn preferences_that_do_not_fit_name_the_key() {
    let host = host();
    let with =
        |preferences: serde_json::Value| told(&host, binding("web", 6).strategy("Faulty").preferences(&preferences));
    assert_eq!(with(serde_json::json!({ "patience": 3 })), "a=6");
    assert_eq!(
        with(serde_json::json!({ "patients": 3 })),
        "Error: the binding's `divvy.io/preferences`: plugin `faulty`: unknown key `patients`"
    );
    assert_eq!(
        with(serde_json::json!({ "patience": "long" })),
        "Error: the binding's `divvy.io/preferences`: plugin `faulty`: patience: expected a whole number from 0 to 4294967295, \
         got the string \"long\""
    );
}

/// The exit codes for a plugin fault and for a binding that cannot be scheduled differ.
#[test]
fn only_faults_of_a_plugin_count_as_plugin_faults() {
    use divvy_scheduler::decision::Outcome;
    let host = host();
    for (fault, is_plugin_fault) in [
        ("divide too few", true),
        ("score too high", true),
        ("panic in assign", true),
        ("internal failure", true),
        ("unschedulable", false),
        ("refused preferences", false),
        ("reject all", false),
        ("select nothing", false),
    ] {
        let struck = binding("struck", 6)
            .strategy("Faulty")
            .annotation("faulty.example/fault", fault);
        let mut objects = clusters();
        objects.push(struck.into());
        let decisions = host.decide(objects);
        let Outcome::Failed(error) = &decisions[0].outcome else {
            panic!("{fault}: {decisions:?}");
        };
        assert_eq!(error.is_plugin_fault(), is_plugin_fault, "{fault}");
    }
}
