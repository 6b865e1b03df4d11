//! Tests of the plugin through the contexts that the host uses: configuration, promises, explanations.

use divvy_framework::prelude::*;
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;
use serde_json::json;

use crate::DynamicWeight;
use crate::DynamicWeightConfiguration;

fn plugin(configuration: serde_json::Value) -> DynamicWeight {
    let configuration = DynamicWeightConfiguration::read(&configuration).expect("a valid configuration");
    DynamicWeight::new(configuration).expect("it needs nothing else")
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
fn the_method_is_configured() {
    // The two methods often agree; 5 replicas over 4 : 3 : 3 distinguish them.
    let scenario = fleet(&[(4, 0), (3, 0), (3, 0)]).replicas(5);
    assert_eq!(scenario.assign(&plugin(json!({}))).expect("it fits")[0], 3);
    assert_eq!(
        scenario
            .assign(&plugin(json!({ "method": "even-remainder" })))
            .expect("it fits")[0],
        3
    );
    assert_eq!(
        scenario.assign(&plugin(json!({ "method": "webster" }))),
        Ok(vec![2, 1, 2])
    );
    let error = DynamicWeightConfiguration::read(&json!({ "method": "websta" })).expect_err("no such method");
    assert_eq!(error.hint().as_deref(), Some("did you mean `webster`?"));
}

#[test]
fn explanations_depend_on_the_kind_of_cycle() {
    let explained = |scenario: &Scenario| {
        let (_, said) = scenario.assign_explained(&plugin(json!({}))).expect("it fits");
        said.explanations[0].1.clone()
    };
    let scenario = fleet(&[(12, 1), (6, 1), (0, 1)]);
    assert_eq!(
        explained(&scenario.clone().replicas(12)),
        "keeps 1; fits 12 of 18: 6.0 → 6"
    );
    assert_eq!(
        explained(&scenario.clone().replicas(2)),
        "last 1 of 3: 0.6 → 0, +1 of the remainder (tie)"
    );
    assert_eq!(explained(&scenario.clone().replicas(3)), "nothing changes");
    assert_eq!(
        explained(&scenario.fresh(true).replicas(21)),
        "capacity 13 of 21: 13.0 → 13"
    );
}

#[test]
fn webster_rejects_zero_replicas_where_karmadas_sum_wraps() {
    let scenario = fleet(&[(i32::MAX.into(), 0); 2]).replicas(0).fresh(true);
    assert_eq!(scenario.assign(&plugin(json!({}))), Ok(vec![0, 0]));
    assert_eq!(
        scenario.assign(&plugin(json!({ "method": "webster" }))),
        Err(Failure::too_small(0, -2))
    );
}

proptest! {
    #[test]
    fn promises_hold(
        rows in prop::collection::vec((0..9_i64, 0..9_i64), 1..9),
        part in 0..=100_i64,
        fresh: bool,
        webster: bool,
    ) {
        let room: i64 = rows.iter().map(|row| row.0 + row.1).sum();
        let scenario = fleet(&rows).replicas(room * part / 100).fresh(fresh);
        let plugin = plugin(json!({ "method": if webster { "webster" } else { "even-remainder" } }));
        prop_assert_eq!(scenario.check_promises(&plugin), Ok(()));
    }
}
