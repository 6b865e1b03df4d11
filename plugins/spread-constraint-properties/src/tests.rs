//! Named cases, and a comparison of several constraints with each one separately.

use divvy_framework::binding::{SpreadConstraint, SpreadField};
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::SpreadConstraintProperties;

fn by(field: SpreadField) -> SpreadConstraint<'static> {
    SpreadConstraint::by(field, 1, 2)
}

fn by_label(label: &str) -> SpreadConstraint<'_> {
    SpreadConstraint::by_label(label, 1, 2)
}

/// `all` has every property; every other cluster lacks the one in its name.
fn fleet() -> Scenario {
    let full = |name| ClusterBuilder::new(name).label("env", "prod");
    Scenario::new()
        .cluster(full("all").region("eu").provider("aws").zone("eu-1").label("rack", ""))
        .cluster(full("no-provider").region("eu").zone("eu-1").label("rack", "1"))
        .cluster(full("no-rack").region("eu").provider("aws").zone("eu-1"))
        .cluster(full("no-region").provider("aws").zone("eu-1").label("rack", "1"))
        .cluster(full("no-zones").region("eu").provider("aws").label("rack", "1"))
}

#[test]
fn each_field_needs_its_property() {
    let cases = [
        (by(SpreadField::Cluster), None),
        (
            by(SpreadField::Provider),
            Some(("no-provider", "cluster(s) did not have provider property")),
        ),
        (
            by(SpreadField::Region),
            Some(("no-region", "cluster(s) did not have region property")),
        ),
        (
            by(SpreadField::Zone),
            Some(("no-zones", "cluster(s) did not have zones property")),
        ),
        (
            by_label("rack"),
            Some(("no-rack", "cluster(s) did not have label rack")),
        ),
    ];
    for (constraint, expected) in cases {
        let scenario = fleet().spread_constraint(constraint);
        let (_, rejected) = scenario.filter(&SpreadConstraintProperties).expect("it filters");
        let expected: Vec<(String, String)> = expected
            .into_iter()
            .map(|(name, reason)| (name.to_owned(), reason.to_owned()))
            .collect();
        assert_eq!(rejected, expected, "{constraint:?}");
    }
}

#[test]
fn a_label_that_no_cluster_has_rejects_all() {
    let scenario = fleet().spread_constraint(by_label("unheard-of"));
    assert_eq!(scenario.feasible(&SpreadConstraintProperties), Ok(Vec::new()));
}

#[test]
fn the_first_constraint_in_the_policy_gives_the_reason() {
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .spread_constraint(by(SpreadField::Zone))
        .spread_constraint(by(SpreadField::Region));
    let (_, rejected) = scenario.filter(&SpreadConstraintProperties).expect("it filters");
    assert_eq!(rejected[0].1, "cluster(s) did not have zones property");
}

#[test]
fn a_cluster_of_the_last_result_is_not_exempt() {
    let scenario = Scenario::new()
        .cluster(ClusterBuilder::new("a").last(4))
        .spread_constraint(by(SpreadField::Region));
    assert_eq!(scenario.feasible(&SpreadConstraintProperties), Ok(Vec::new()));
}

proptest! {
    #[test]
    fn several_constraints_keep_what_each_of_them_keeps(fields in prop::collection::vec(0..5_usize, 0..5)) {
        let mut all = fleet();
        let mut expected = all.cluster_names();
        for field in fields {
            let constraint = match field {
                0 => by(SpreadField::Cluster),
                1 => by(SpreadField::Provider),
                2 => by(SpreadField::Region),
                3 => by(SpreadField::Zone),
                _ => by_label("rack"),
            };
            let kept = fleet()
                .spread_constraint(constraint)
                .feasible(&SpreadConstraintProperties)
                .unwrap();
            expected.retain(|name| kept.contains(name));
            all = all.spread_constraint(constraint);
        }
        prop_assert_eq!(all.feasible(&SpreadConstraintProperties).unwrap(), expected);
    }
}

/// A field that a newer host knows: no cluster has a property that this plugin cannot look up.
#[test]
fn a_constraint_by_an_unknown_field_rejects_all() {
    let scenario = fleet().spread_constraint(by(SpreadField::from_code(77)));
    let (feasible, rejected) = scenario.filter(&SpreadConstraintProperties).expect("it filters");
    assert!(feasible.is_empty());
    assert_eq!(
        rejected[0].1,
        "cluster(s) did not have a property that this plugin does not know"
    );
}
