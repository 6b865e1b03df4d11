//! Named cases, and properties of the scores.

use divvy_framework::cost::PRICE_SCALE;
use divvy_framework::prelude::*;
use divvy_framework::testing::{ClusterBuilder, Scenario, TableBuilder, Value, json};
use proptest::prelude::*;

use crate::Cheapest;
use crate::configuration::CheapestConfiguration;

const GIB: i64 = 1 << 30;

fn plugin(configuration: &Value) -> Cheapest {
    let configuration = CheapestConfiguration::read(configuration).expect("the configuration is valid");
    Cheapest::new(configuration).expect("the plugin can be constructed")
}

/// Clusters `a`, `b`, …, with prices of a CPU, a GiB and a GPU in millionths.
fn priced(prices: &[[Option<i64>; 3]]) -> Scenario {
    let names: Vec<String> = ('a'..).take(prices.len()).map(String::from).collect();
    let cells = |column: usize| -> Vec<(&str, i64)> {
        let named = names.iter().zip(prices);
        named
            .filter_map(|(name, prices)| Some((name.as_str(), prices[column]?)))
            .collect()
    };
    let table = TableBuilder::new("prices")
        .decimals("cpu-hour", PRICE_SCALE, &cells(0))
        .decimals("gib-hour", PRICE_SCALE, &cells(1))
        .decimals("gpu-hour", PRICE_SCALE, &cells(2));
    Scenario::new()
        .clusters(names.iter().map(|name| ClusterBuilder::new(name)))
        .table(table)
}

/// `b` has the cheapest memory, `a` the cheapest CPUs, and only `c` has GPUs.
fn fleet() -> Scenario {
    priced(&[
        [Some(20_000), Some(8_000), None],
        [Some(30_000), Some(2_000), None],
        [Some(40_000), Some(8_000), Some(2_000_000)],
    ])
}

#[test]
fn named_cases() {
    for (name, requests, expected) in [
        ("by CPUs", &[("cpu", 500)][..], [100, 66, 50]),
        ("by memory", &[("memory", 3 * GIB)], [25, 100, 25]),
        ("by both", &[("cpu", 1000), ("memory", 4 * GIB)], [73, 100, 52]),
        ("by what only one has", &[("nvidia.com/gpu", 1)], [0, 0, 100]),
        ("nothing that has a price", &[("ephemeral-storage", GIB)], [0, 0, 0]),
        ("nothing at all", &[], [0, 0, 0]),
    ] {
        let scores = fleet().requests(requests).scores_checked(&plugin(&json!({})));
        assert_eq!(scores.unwrap(), expected, "{name}");
    }
}

#[test]
fn a_complete_set_of_components_is_compared() {
    let set = fleet()
        .component("driver", 1, &[("cpu", 1000)])
        .component("worker", 4, &[("memory", GIB)]);
    assert_eq!(set.scores_checked(&plugin(&json!({}))).unwrap(), [73, 100, 52]);
}

#[test]
fn the_resource_that_counts_gpus_is_configured() {
    let scenario = fleet().requests(&[("amd.com/gpu", 1)]);
    assert_eq!(scenario.scores(&plugin(&json!({}))).unwrap(), [0, 0, 0]);
    let other = plugin(&json!({ "gpu-resource": "amd.com/gpu" }));
    assert_eq!(scenario.scores(&other).unwrap(), [0, 0, 100]);
    let empty = CheapestConfiguration::read(&json!({ "gpu-resource": "" })).expect("it is a text");
    let error = Cheapest::new(empty).err().expect("it is refused").to_string();
    assert_eq!(
        error,
        "`gpu-resource` is empty, expected the name of a resource such as `nvidia.com/gpu`"
    );
}

#[test]
fn a_missing_price_is_not_zero() {
    let scenario = fleet().requests(&[("cpu", 500), ("nvidia.com/gpu", 1)]);
    let (scores, said) = scenario.scores_explained(&plugin(&json!({}))).expect("it scores");
    assert_eq!(scores, [0, 0, 100]);
    let lines: Vec<&str> = said.explanations.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "no price per GPU hour",
            "no price per GPU hour",
            "a replica costs 2.0200 per hour"
        ]
    );
}

#[test]
fn a_cluster_without_cost_is_the_cheapest() {
    let scenario = priced(&[[Some(0); 3], [Some(1); 3], [None; 3]]).requests(&[("cpu", 500)]);
    assert_eq!(scenario.scores_checked(&plugin(&json!({}))).unwrap(), [100, 0, 0]);
}

#[test]
fn a_negative_price_is_an_error_that_names_table_and_cluster() {
    let scenario = priced(&[[Some(1); 3], [Some(-500_000); 3]]).requests(&[("cpu", 500)]);
    let failure = scenario.scores(&plugin(&json!({}))).unwrap_err();
    assert_eq!(
        failure,
        Failure::internal("table `prices`, cluster `b`: the price per CPU hour is -0.5000, expected at least 0")
    );
}

proptest! {
    /// Clusters are ordered by their cost; a more expensive cluster changes no other score.
    #[test]
    fn scores_order_clusters_by_cost(
        prices in prop::collection::vec(prop::option::of(0..1_i64 << 40), 1..8),
        dearest in 1..1_i64 << 20,
        cpu in 1..100_000_i64,
    ) {
        let plugin = plugin(&json!({}));
        let scores = |prices: &[Option<i64>]| {
            let columns: Vec<[Option<i64>; 3]> = prices.iter().map(|price| [*price, None, None]).collect();
            priced(&columns).requests(&[("cpu", cpu)]).scores_checked(&plugin).unwrap()
        };
        let of_fleet = scores(&prices);
        let cheapest = prices.iter().flatten().min();
        for (price, score) in prices.iter().zip(&of_fleet) {
            prop_assert_eq!(*score == 100, price.is_some() && (price.as_ref() == cheapest), "{:?}", of_fleet);
            for (other, lower) in prices.iter().zip(&of_fleet) {
                prop_assert!(price.zip(*other).is_none_or(|(price, other)| price > other || score >= lower));
            }
        }
        let mut larger = prices.clone();
        larger.push(prices.iter().flatten().max().map(|most| most + dearest));
        prop_assert_eq!(&scores(&larger)[..prices.len()], &of_fleet[..]);
    }
}
