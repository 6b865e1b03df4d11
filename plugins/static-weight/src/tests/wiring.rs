//! Tests of the plugin through the contexts that the host uses: configuration, rules, promises, explanations.

use divvy_framework::binding::{SpreadConstraint, SpreadField};
use divvy_framework::prelude::*;
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;
use serde_json::json;

use crate::StaticWeight;
use crate::StaticWeightConfiguration;

fn plugin(configuration: serde_json::Value) -> StaticWeight {
    let configuration = StaticWeightConfiguration::read(&configuration).expect("a valid configuration");
    StaticWeight::new(configuration).expect("it needs nothing else")
}

fn fleet(last: &[i64]) -> Scenario {
    last.iter()
        .enumerate()
        .fold(Scenario::new(), |scenario, (number, &last)| {
            scenario.cluster(ClusterBuilder::new(&format!("member{number}")).last(last))
        })
}

#[test]
fn the_largest_matching_rule_counts() {
    let scenario = fleet(&[0; 3])
        .replicas(8)
        .rule(&["member0", "member1"], "weight", 1)
        .rule(&["member1"], "weight", 3);
    assert_eq!(scenario.assign(&plugin(json!({}))), Ok(vec![2, 6, 0]));
}

#[test]
fn without_positive_weights_all_weights_are_one() {
    let unmatched = fleet(&[0; 3]).replicas(6).rule(&["elsewhere"], "weight", 3);
    assert_eq!(unmatched.assign(&plugin(json!({}))), Ok(vec![2; 3]));
    let negative = fleet(&[0; 2]).replicas(6).rule(&["member0"], "weight", -3);
    assert_eq!(negative.assign(&plugin(json!({ "method": "webster" }))), Ok(vec![3; 2]));
}

#[test]
fn weights_are_resolved_over_all_tiers() {
    let scenario = fleet(&[0; 3]).replicas(6).rule(&["member0"], "weight", 3);
    let failure = scenario.assign_in_tier(&plugin(json!({})), &[1, 2], (1, 2));
    let Err(Failure::Unschedulable { message, .. }) = failure else {
        panic!("no cluster of the tier has a weight, but the result is {failure:?}");
    };
    assert_eq!(
        message,
        "6 replicas requested in tier 2, in which no cluster has a positive weight"
    );
    // Karmada considers only the current tier.
    let webster = plugin(json!({ "method": "webster" }));
    assert_eq!(scenario.assign_in_tier(&webster, &[1, 2], (1, 2)), Ok(vec![3, 3]));
}

#[test]
fn karmadas_tie_rule_is_one_bit_of_the_uid() {
    let lone = |uid: &str| {
        fleet(&[0; 5])
            .replicas(1)
            .uid(uid)
            .assign(&plugin(json!({ "method": "webster" })))
    };
    assert_eq!(lone(""), Ok(vec![1, 0, 0, 0, 0]), "without a UID, names ascend");
    assert_eq!(lone("1"), Ok(vec![1, 0, 0, 0, 0]));
    assert_eq!(lone("b"), Ok(vec![0, 0, 0, 0, 1]));
}

#[test]
fn explanations_name_weight_share_and_rule() {
    let constraint = SpreadConstraint::by(SpreadField::Region, 1, 1);
    let scenario = fleet(&[0, 2, 0, 0])
        .replicas(8)
        .spread_constraint(constraint)
        .rule(&["member0"], "weight", 2)
        .rule(&["member1", "member2"], "weight", 1);
    let (counts, said) = scenario.assign_explained(&plugin(json!({}))).expect("it fits");
    assert_eq!(counts, [4, 2, 2, 0]);
    assert_eq!(said.explanations[0].1, "weight 2 of 4: 4.0 → 4");
    assert_eq!(said.explanations[3].1, "no rule gives it a positive weight");
    assert_eq!(
        said.notes,
        ["spread constraints are ignored: static weights decide where replicas go"]
    );
    let (_, said) = scenario
        .replicas(9)
        .assign_explained(&plugin(json!({})))
        .expect("it fits");
    assert_eq!(
        said.explanations[0].1,
        "weight 2 of 4: 4.5 → 4, +1 of the remainder (weight)"
    );
    assert_eq!(
        said.explanations[1].1,
        "weight 1 of 4: 2.2 → 2, none of the remainder (weight)"
    );
}

proptest! {
    #[test]
    fn promises_hold(
        rows in prop::collection::vec((0..9_i64, 0..5_i64), 1..9),
        replicas in 0..99_i64,
        webster: bool,
    ) {
        let last: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let scenario = rows.iter().enumerate().fold(fleet(&last).replicas(replicas), |scenario, (number, row)| {
            scenario.rule(&[&format!("member{number}")], "weight", row.1)
        });
        let plugin = plugin(json!({ "method": if webster { "webster" } else { "even-remainder" } }));
        prop_assert_eq!(scenario.check_promises(&plugin), Ok(()));
    }
}
