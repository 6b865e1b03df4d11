//! Tests of the plugin through the contexts that the host uses: configuration, tiers, promises, explanations.

use divvy_framework::prelude::*;
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;
use serde_json::json;

use crate::PriorityAggregated;
use crate::configuration::PriorityAggregatedConfiguration;

fn plugin(configuration: serde_json::Value) -> PriorityAggregated {
    let configuration = PriorityAggregatedConfiguration::read(&configuration).expect("a valid configuration");
    PriorityAggregated::new(configuration).expect("it needs nothing else")
}

fn fleet(rows: &[(i64, i64, u32)]) -> Scenario {
    rows.iter()
        .enumerate()
        .fold(Scenario::new(), |scenario, (number, &(fits_now, last, tier))| {
            let cluster = ClusterBuilder::new(&format!("member{number:02}"));
            scenario.cluster(cluster.fits_now(fits_now).last(last).tier(tier))
        })
}

#[test]
fn tiers_are_walked_and_fill_is_configured() {
    let scenario = fleet(&[(10, 0, 0), (10, 0, 0), (10, 0, 1), (10, 0, 1)]);
    for (replicas, proportional, packed) in [
        (8, [8, 0, 0, 0], [8, 0, 0, 0]),
        (16, [8, 8, 0, 0], [10, 6, 0, 0]),
        (28, [10, 10, 8, 0], [10, 10, 8, 0]),
        (36, [10, 10, 8, 8], [10, 10, 10, 6]),
    ] {
        let scenario = scenario.clone().replicas(replicas);
        assert_eq!(scenario.assign(&plugin(json!({}))), Ok(proportional.to_vec()));
        assert_eq!(scenario.assign(&plugin(json!({ "fill": "pack" }))), Ok(packed.to_vec()));
    }
}

#[test]
fn a_priority_below_one_is_refused() {
    let scenario = fleet(&[(10, 0, 0)]).replicas(1).rule(&["member00"], "priority", 0);
    let Err(Failure::Preferences(error)) = scenario.assign(&plugin(json!({}))) else {
        panic!("priority 0 was accepted");
    };
    assert_eq!(
        error.to_string(),
        "rules[0].priority: expected a priority of 1 or more, got 0"
    );
}

#[test]
fn explanations_name_tier_and_room() {
    let scenario = fleet(&[(10, 0, 0), (10, 0, 1), (10, 0, 1)]).replicas(18);
    let (_, said) = scenario.assign_explained(&plugin(json!({}))).expect("it fits");
    let texts: Vec<&str> = said.explanations.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["filled", "in proportion within its tier", "not needed",]);
}

#[test]
fn too_little_room_is_unschedulable_with_the_figures_of_all_tiers() {
    let scenario = fleet(&[(10, 1, 0), (10, 0, 1)]).replicas(22);
    assert_eq!(scenario.assign(&plugin(json!({}))), Err(Failure::too_small(22, 21)));
}

proptest! {
    #[test]
    fn promises_hold(
        rows in prop::collection::vec((0..9_i64, 0..9_i64, 0..3_u32), 1..9),
        part in 0..=100_i64,
        fresh: bool,
        pack: bool,
    ) {
        let room: i64 = rows.iter().map(|row| row.0 + row.1).sum();
        let scenario = fleet(&rows).replicas(room * part / 100).fresh(fresh);
        let plugin = plugin(json!({ "fill": if pack { "pack" } else { "proportional" } }));
        prop_assert_eq!(scenario.check_promises(&plugin), Ok(()));
    }
}
