//! The types, read from objects as API servers and operators write them.

use super::{Cluster, Placement, PropagationPolicy, ResourceBinding, Timestamp};

#[test]
fn null_is_the_same_as_absent() {
    let cluster: Cluster = serde_json::from_str(
        r#"{"metadata":{"name":"a","labels":null,"creationTimestamp":null},
            "spec":{"zones":null,"taints":null},"status":{"apiEnablements":null,"resourceSummary":null}}"#,
    )
    .unwrap();
    assert_eq!(cluster.metadata.name, "a");
    assert!(cluster.status.resource_summary.is_none());
}

#[test]
fn an_affinity_term_is_flat_in_a_manifest() {
    let text = r#"{"clusterAffinities":[{"affinityName":"g0","clusterNames":["m3"],"overflowAffinities":[{"affinityName":"g0o0","exclude":["m1"]}]}]}"#;
    let placement: Placement = serde_json::from_str(text).unwrap();
    let term = &placement.cluster_affinities[0];
    assert_eq!(term.affinity.cluster_names, ["m3"]);
    assert_eq!(term.overflow_affinities[0].affinity.exclude_clusters, ["m1"]);
    assert_eq!(serde_json::to_string(&placement).unwrap(), text);
}

#[test]
fn a_binding_survives_a_round_trip() {
    let text = r#"{"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{"name":"nginx-deployment","namespace":"default"},"spec":{"resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":"nginx"},"replicas":3,"replicaRequirements":{"resourceRequest":{"cpu":"250m","memory":"1Gi"}},"clusters":[{"name":"m1","replicas":3}],"placement":{"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Weighted","weightPreference":{"staticWeightList":[{"targetCluster":{"clusterNames":["m1"]},"weight":2}]}}},"suspension":{"scheduling":true}},"status":{"schedulerObservingAffinityName":"g0","lastScheduledTime":"2026-11-01T00:00:00Z"}}"#;
    let binding: ResourceBinding = serde_json::from_str(text).unwrap();
    assert_eq!(binding.status.scheduler_observed_affinity_name, "g0");
    assert_eq!(serde_json::to_string(&binding).unwrap(), text);
}

#[test]
fn words_of_a_newer_karmada_do_not_fail_an_object() {
    let policy: PropagationPolicy = serde_json::from_str(
        r#"{"kind":"ClusterPropagationPolicy","spec":{"placement":{"spreadConstraints":[{"spreadByField":"rack"}],
            "replicaScheduling":{"replicaSchedulingType":"Sliced"}},"failover":{"cluster":{}}}}"#,
    )
    .unwrap();
    let field = policy.spec.placement.spread_constraints[0].spread_by_field.as_ref();
    assert_eq!(field.map(super::Word::as_str), Some("rack"));
}

#[test]
fn timestamps_compare_across_offsets_and_print_in_utc() {
    let timestamp = |text: &str| text.parse::<Timestamp>();
    let midnight = timestamp("2026-11-01T00:00:00Z").unwrap();
    assert_eq!(timestamp("2026-11-01T02:00:00+02:00"), Ok(midnight));
    assert!(timestamp("2026-11-01T00:00:00.000001Z").unwrap() > midnight);
    for (text, printed) in [
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"),
        ("2000-01-01T00:30:00-01:30", "2000-01-01T02:00:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("2026-11-01T00:00:00.120Z", "2026-11-01T00:00:00.12Z"),
    ] {
        assert_eq!(timestamp(text).unwrap().to_string(), printed, "{text}");
    }
    for text in [
        "",
        "now",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-11-01 00:00:00Z",
        "2026-11-01T24:00:00Z",
        "2026-11-01T00:00:00",
        "2026-11-01T00:00:00.Z",
        "2026-11-01T00:00:00+0200",
        "２026-11-01T00:00:00Z",
    ] {
        assert!(timestamp(text).is_err(), "{text}");
    }
}
