//! Tests of the plugin through the contexts that the host uses: promises, explanations, errors.

use divvy_framework::prelude::*;
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::Average;

fn plugin() -> Average {
    Average
}

fn fleet(rows: &[(i64, i64, i64)]) -> Scenario {
    rows.iter()
        .enumerate()
        .fold(Scenario::new(), |scenario, (number, &(fits_now, last, score))| {
            let cluster = ClusterBuilder::new(&format!("member{number:02}"));
            scenario.cluster(cluster.fits_now(fits_now).last(last).score(score))
        })
}

#[test]
fn explanations_name_level_capacity_and_rule() {
    let scenario = fleet(&[(1, 0, 0), (10, 0, 50), (10, 0, 80)]).replicas(12);
    let (counts, said) = scenario.assign_explained(&plugin()).expect("it fits");
    assert_eq!(counts, [1, 5, 6]);
    let texts: Vec<&str> = said.explanations.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "capacity 1, full",
            "capacity 10: 5 each, none of the remainder (score)",
            "capacity 10: 5 each, +1 of the remainder (score)",
        ]
    );
}

#[test]
fn too_little_room_is_unschedulable_with_both_figures() {
    let failure = fleet(&[(1, 0, 0), (1, 1, 0)]).replicas(12).assign(&plugin());
    assert_eq!(failure, Err(Failure::too_small(12, 3)));
}

proptest! {
    #[test]
    fn promises_hold(rows in prop::collection::vec((0..9_i64, 0..9_i64, 0..3_i64), 1..9), part in 0..=100_i64) {
        let room: i64 = rows.iter().map(|row| row.0 + row.1).sum();
        let scenario = fleet(&rows).replicas(room * part / 100);
        prop_assert_eq!(scenario.check_promises(&plugin()), Ok(()));
    }
}
