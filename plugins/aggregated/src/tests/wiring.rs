//! Tests of the plugin through the contexts that the host uses: configuration, orders, promises, explanations.

use divvy_framework::prelude::*;
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;
use serde_json::json;

use crate::Aggregated;
use crate::configuration::AggregatedConfiguration;

fn plugin(configuration: serde_json::Value) -> Aggregated {
    let configuration = AggregatedConfiguration::read(&configuration).expect("a valid configuration");
    Aggregated::new(configuration).expect("it needs nothing else")
}

fn fleet(rows: &[(i64, i64)]) -> Scenario {
    rows.iter()
        .enumerate()
        .fold(Scenario::new(), |scenario, (number, &(fits_now, last))| {
            let cluster = ClusterBuilder::new(&format!("member{number:02}"));
            scenario.cluster(cluster.fits_now(fits_now).last(last))
        })
}

#[test]
fn fill_and_method_are_configured() {
    let scenario = fleet(&[(10, 0); 3]).replicas(16);
    assert_eq!(scenario.assign(&plugin(json!({}))), Ok(vec![8, 8, 0]));
    assert_eq!(scenario.assign(&plugin(json!({ "fill": "pack" }))), Ok(vec![10, 6, 0]));
    assert!(AggregatedConfiguration::read(&json!({ "fil": "pack" })).is_err());
}

#[test]
fn equal_capacities_are_sorted_by_the_policys_list_then_by_name() {
    let scenario = fleet(&[(10, 0); 3]).replicas(10);
    assert_eq!(scenario.assign(&plugin(json!({}))), Ok(vec![10, 0, 0]));
    let listed = scenario.affinity(|affinity| _ = affinity.cluster_names(["member02", "member01"]));
    assert_eq!(listed.assign(&plugin(json!({}))), Ok(vec![0, 0, 10]));
}

#[test]
fn webster_uses_the_orders_of_select_and_of_the_last_result() {
    let webster = plugin(json!({ "method": "webster" }));
    let growing = fleet(&[(10, 0); 3]).replicas(10);
    assert_eq!(growing.assign_in_order(&webster, &[1, 2, 0]), Ok(vec![0, 10, 0]));
    // When shrinking, the order of the last result counts, which is by name here.
    let shrinking = fleet(&[(0, 5); 3]).replicas(5);
    assert_eq!(shrinking.assign_in_order(&webster, &[1, 2, 0]), Ok(vec![5, 0, 0]));
}

#[test]
fn explanations_name_capacity_and_the_number_of_clusters_used() {
    let texts = |scenario: &Scenario| -> Vec<String> {
        let (_, said) = scenario.assign_explained(&plugin(json!({}))).expect("it fits");
        said.explanations.into_iter().map(|(_, text)| text).collect()
    };
    let scenario = fleet(&[(10, 1), (10, 0), (10, 0)]);
    assert_eq!(
        texts(&scenario.clone().replicas(17)),
        [
            "keeps 1, fits 10: +8 in proportion over 2 clusters",
            "keeps 0, fits 10: +8 in proportion over 2 clusters",
            "keeps 0, fits 10: not needed, 2 of 3 clusters are enough",
        ]
    );
    assert_eq!(texts(&scenario.replicas(1))[0], "nothing changes");
}

proptest! {
    #[test]
    fn promises_hold(
        rows in prop::collection::vec((0..9_i64, 0..9_i64), 1..9),
        part in 0..=100_i64,
        fresh: bool,
        webster: bool,
        pack: bool,
    ) {
        let room: i64 = rows.iter().map(|row| row.0 + row.1).sum();
        let scenario = fleet(&rows).replicas(room * part / 100).fresh(fresh);
        let plugin = plugin(json!({
            "method": if webster { "webster" } else { "even-remainder" },
            "fill": if pack { "pack" } else { "proportional" },
        }));
        prop_assert_eq!(scenario.check_promises(&plugin), Ok(()));
        if !webster {
            // Stronger than the promise, which must hold for every configuration.
            let order: Vec<usize> = (0..rows.len()).rev().collect();
            prop_assert_eq!(scenario.assign_in_order(&plugin, &order), scenario.assign(&plugin));
        }
    }
}
