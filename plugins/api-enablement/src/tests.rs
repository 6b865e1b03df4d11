//! Named cases, and a comparison with checking each cluster separately.

use divvy_framework::clusters::ConditionStatus;
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::ApiEnablement;
use crate::api_enablement::REASON;

fn check(scenario: Scenario, feasible: &[&str]) {
    let (kept, rejected) = scenario.filter(&ApiEnablement).expect("it filters");
    assert_eq!(kept, feasible);
    assert!(rejected.iter().all(|(_, reason)| reason == REASON));
    assert_eq!(scenario.feasible(&ApiEnablement).expect("it filters"), feasible);
}

#[test]
fn a_cluster_that_serves_the_kind_passes() {
    check(
        Scenario::new()
            .cluster(ClusterBuilder::new("a").api("apps/v1", "Deployment"))
            .cluster(ClusterBuilder::new("b").api("apps/v1", "StatefulSet"))
            .cluster(ClusterBuilder::new("c").api("apps/v1beta1", "Deployment"))
            .cluster(ClusterBuilder::new("d")),
        &["a"],
    );
}

#[test]
fn group_version_and_kind_must_be_in_one_entry() {
    check(
        Scenario::new().cluster(
            ClusterBuilder::new("a")
                .api("apps/v1", "StatefulSet")
                .api("extensions/v1beta1", "Deployment"),
        ),
        &[],
    );
}

#[test]
fn no_cluster_passes_for_an_unknown_kind() {
    check(
        Scenario::new()
            .resource("argoproj.io/v1alpha1", "Rollout")
            .cluster(ClusterBuilder::new("a").api("apps/v1", "Deployment")),
        &[],
    );
}

#[test]
fn clusters_of_the_last_result_pass_with_any_number_of_replicas() {
    check(
        Scenario::new()
            .cluster(ClusterBuilder::new("a").last(3))
            .cluster(ClusterBuilder::new("b").last(0))
            .cluster(ClusterBuilder::new("c"))
            .lost("gone", 4),
        &["a", "b"],
    );
}

#[test]
fn the_condition_complete_api_enablements_is_ignored() {
    check(
        Scenario::new()
            .cluster(ClusterBuilder::new("a").condition("CompleteAPIEnablements", ConditionStatus::True))
            .cluster(ClusterBuilder::new("b"))
            .cluster(
                ClusterBuilder::new("c")
                    .condition("CompleteAPIEnablements", ConditionStatus::True)
                    .last(1),
            ),
        &["c"],
    );
}

#[test]
fn an_empty_fleet_is_not_a_failure() {
    check(Scenario::new(), &[]);
}

proptest! {
    #[test]
    fn each_cluster_is_filtered_by_its_own_entries(
        clusters in prop::collection::vec((prop::collection::vec((0..2_usize, 0..2_usize), 0..3), any::<bool>()), 0..12),
    ) {
        const VERSIONS: [&str; 2] = ["apps/v1", "batch/v1"];
        const KINDS: [&str; 2] = ["Deployment", "Job"];
        let mut scenario = Scenario::new();
        let mut expected = Vec::new();
        for (index, (apis, last)) in clusters.iter().enumerate() {
            let name = format!("member{index:02}");
            let mut cluster = ClusterBuilder::new(&name);
            for &(version, kind) in apis {
                cluster = cluster.api(VERSIONS[version], KINDS[kind]);
            }
            if *last {
                cluster = cluster.last(0);
            }
            scenario = scenario.cluster(cluster);
            if *last || apis.contains(&(0, 0)) {
                expected.push(name);
            }
        }
        prop_assert_eq!(scenario.feasible(&ApiEnablement).unwrap(), expected);
    }
}
