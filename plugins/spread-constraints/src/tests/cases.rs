//! Named cases for every rule except those for several properties.

use divvy_framework::prelude::Configuration;

use super::*;

/// Four clusters in three regions; the order is d, b, a, c.
fn fleet() -> Scenario {
    Scenario::new()
        .replicas(10)
        .cluster(roomy("a", 5).region("eu").provider("aws").label("tier", "x"))
        .cluster(roomy("b", 9).region("eu").provider("gcp").label("tier", "y"))
        .cluster(roomy("c", 2).region("us").provider("gcp").label("tier", "x"))
        .cluster(roomy("d", 1).region("ap").provider("aws").label("tier", "x").score(100))
}

#[test]
fn without_constraint_every_cluster_is_a_candidate_in_order() {
    check("score, then room", &fleet(), &["d", "b", "a", "c"]);
    let tiered = fleet()
        .cluster(roomy("b", 9).tier(1))
        .cluster(roomy("d", 1).tier(1).score(100));
    check("the tier comes first", &tiered, &["a", "c", "d", "b"]);
    let equal = Scenario::new().cluster(roomy("b", 3)).cluster(roomy("a", 3));
    check("equals by name", &equal, &["a", "b"]);
    let ignoring = fleet()
        .spread_constraint(by(SpreadField::Cluster, 1, 1))
        .ignores_spread_constraints(true);
    check("a strategy that ignores them", &ignoring, &["d", "b", "a", "c"]);
}

#[test]
fn figures_of_any_size_are_ordered() {
    let huge = Scenario::new()
        .cluster(roomy("a", 0).score(i64::MIN).tier(u32::MAX))
        .cluster(roomy("b", i64::MAX).score(i64::MAX))
        .cluster(roomy("c", 0).score(i64::MAX))
        .cluster(roomy("d", i64::MAX).score(i64::MIN).tier(u32::MAX));
    check("more than 64 bits apart", &huge, &["b", "c", "d", "a"]);
}

#[test]
fn a_constraint_by_cluster_keeps_the_first_that_are_large_enough() {
    let at_most = |maximum, replicas| {
        let scenario = fleet().replicas(replicas);
        scenario.spread_constraint(by(SpreadField::Cluster, 1, maximum))
    };
    check("large enough at once", &at_most(2, 10), &["d", "b"]);
    check("the first is exchanged at its position", &at_most(2, 14), &["a", "b"]);
    check("more than there are", &at_most(9, 17), &["d", "b", "a", "c"]);
    check("no maximum", &at_most(0, 17), &["d", "b", "a", "c"]);
}

#[test]
fn the_last_of_several_constraints_by_one_field_counts() {
    let scenario = fleet()
        .spread_constraint(by(SpreadField::Cluster, 4, 4))
        .spread_constraint(by(SpreadField::Cluster, 1, 2));
    check("the last", &scenario, &["d", "b"]);
}

#[test]
fn a_maximum_of_clusters_never_excludes_a_preferred_one() {
    let scenario = Scenario::new()
        .replicas(12)
        .cluster(roomy("a", 1))
        .cluster(roomy("b", 2).tier(1))
        .cluster(roomy("c", 10).tier(1))
        .cluster(roomy("d", 50).tier(2))
        .spread_constraint(by(SpreadField::Cluster, 1, 2));
    check_refused(
        "a tier that the policy made",
        &scenario,
        "no enough resource when selecting 2 clusters: 11 of 12 replicas fit",
    );
    let overflowing = scenario.affinity(|_| {}).affinity(|_| {});
    check("Karmada's overflow affinities", &overflowing, &["a", "d"]);
}

#[test]
fn a_constraint_by_cluster_refuses_with_figures() {
    let constrained = |minimum, maximum| fleet().spread_constraint(by(SpreadField::Cluster, minimum, maximum));
    check_refused(
        "too few",
        &constrained(5, 9),
        "the number of feasible clusters is less than spreadConstraint.MinGroups: 4 of 5",
    );
    check_refused(
        "too small",
        &constrained(1, 1),
        "no enough resource when selecting 1 clusters: 9 of 10 replicas fit",
    );
    let needless = constrained(1, 1).duplicated(true);
    check("availability does not matter", &needless, &["d"]);
}

#[test]
fn a_constraint_by_region_takes_the_first_of_each_and_fills_up() {
    let regions = |groups: (i64, i64), clusters: (i64, i64)| {
        fleet()
            .spread_constraint(by(SpreadField::Region, groups.0, groups.1))
            .spread_constraint(by(SpreadField::Cluster, clusters.0, clusters.1))
    };
    // Each region aims at 5 replicas: eu holds all 5, us holds 2, and ap holds 1 but has a score.
    check("eu and us weigh most", &regions((2, 2), (2, 2)), &["b", "c"]);
    check("filled up", &regions((2, 2), (2, 3)), &["b", "c", "a"]);
    check("all regions", &regions((3, 3), (3, 3)), &["b", "c", "d"]);
    check("one region", &regions((1, 1), (1, 5)), &["b", "a"]);
    check_refused(
        "too few regions",
        &regions((4, 4), (4, 4)),
        "the number of feasible region is less than spreadConstraint.MinGroups: 3 of 4",
    );
    check_refused(
        "too few clusters in them",
        &regions((1, 2), (4, 4)),
        "the number of clusters is less than the cluster spreadConstraint.MinGroups: no permitted choice of groups has 4",
    );
}

#[test]
fn a_constraint_by_region_alone_has_no_limit_of_clusters_or_karmadas() {
    let scenario = fleet().spread_constraint(by(SpreadField::Region, 2, 2));
    check("no limit of clusters", &scenario, &["b", "c", "a"]);
    let as_karmada = outcome_as_karmada(&scenario);
    assert_eq!(as_karmada, Ok(vec!["b".to_owned(), "c".to_owned()]));
    let none = fleet().spread_constraint(by(SpreadField::Cluster, 1, 0));
    assert_eq!(
        outcome_as_karmada(&none),
        Err("no enough resource when selecting 0 clusters: 0 of 10 replicas fit".to_owned())
    );
    assert_eq!(outcome_as_karmada(&none.duplicated(true)), Ok(Vec::new()));
}

#[test]
fn providers_and_labels_are_groups_as_regions_are() {
    let providers = fleet()
        .spread_constraint(by(SpreadField::Provider, 2, 2))
        .spread_constraint(by(SpreadField::Cluster, 2, 2));
    check("by provider", &providers, &["d", "b"]);
    let labels = fleet().spread_constraint(by_label("tier", 2, 2));
    check("by label", &labels, &["d", "b", "a", "c"]);
    check_refused(
        "a label that no cluster has",
        &fleet().spread_constraint(by_label("rack", 1, 2)),
        "the number of feasible rack is less than spreadConstraint.MinGroups: 0 of 1",
    );
}

#[test]
fn clusters_without_the_property_are_in_no_group() {
    let scenario = fleet()
        .cluster(roomy("e", 500))
        .spread_constraint(by(SpreadField::Region, 1, 3))
        .spread_constraint(by(SpreadField::Cluster, 1, 9));
    let candidates = outcome(&scenario).expect("there are candidates");
    assert!(!candidates.contains(&"e".to_owned()));
}

#[test]
fn the_configuration_is_spelled_as_the_readme_says() {
    let read = |value| SpreadConstraintsConfiguration::read(&value);
    let as_karmada = serde_json::json!({ "absent-maximum": "zero", "spread-by": "cluster-and-region" });
    let expected = SpreadConstraintsConfiguration {
        absent_maximum: AbsentMaximum::Zero,
        spread_by: SpreadBy::ClusterAndRegion,
    };
    assert_eq!(read(as_karmada), Ok(expected));
    let written = serde_json::json!({ "absent-maximum": "unlimited", "spread-by": "any" });
    assert_eq!(read(written), read(serde_json::json!({})));
}

#[test]
fn only_clusters_and_regions_count_as_in_karmada() {
    let by_provider = || fleet().spread_constraint(by(SpreadField::Provider, 1, 1));
    let beside = by_provider().spread_constraint(by(SpreadField::Cluster, 2, 2));
    let alone = fleet().spread_constraint(by(SpreadField::Cluster, 2, 2));
    assert_eq!(outcome_as_karmada(&beside), outcome_as_karmada(&alone));
    assert_ne!(outcome(&beside), outcome(&alone), "by default, providers count");
    let message =
        "just support cluster and region spread constraint: `spread-by` is `cluster-and-region` in this profile";
    for scenario in [
        by_provider(),
        fleet().spread_constraint(by(SpreadField::Zone, 1, 1)),
        fleet().spread_constraint(by_label("tier", 1, 1)),
    ] {
        assert_eq!(outcome_as_karmada(&scenario), Err(message.to_owned()));
    }
}
