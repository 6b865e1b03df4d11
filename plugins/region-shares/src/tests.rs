//! Shares through the contexts that the host uses. The arithmetic is tested in `divvy_framework::division`.

use divvy_framework::binding::{SelectorField, SelectorOperator};
use divvy_framework::prelude::*;
use divvy_framework::testing::{ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::RegionShares;

/// Two clusters in `eu`, one in `us`, and one elsewhere: room and last replicas of each.
fn fleet(rows: [(i64, i64); 4]) -> Scenario {
    let regions = ["eu", "eu", "us", "ap"];
    let clusters = rows.into_iter().zip(regions).enumerate();
    clusters.fold(Scenario::new(), |scenario, (number, ((fits_now, last), region))| {
        let cluster = ClusterBuilder::new(&format!("member{number}")).region(region);
        scenario.cluster(cluster.fits_now(fits_now).last(last))
    })
}

fn share(scenario: Scenario, region: &str, values: &[(&str, i64)]) -> Scenario {
    scenario.rule_for("regionShareList", region, values, |target| {
        _ = target.field(SelectorField::Region, SelectorOperator::In, [region]);
    })
}

/// At least half in Europe, and at most 30 percent in America.
fn shares(rows: [(i64, i64); 4], replicas: i64) -> Scenario {
    let scenario = share(fleet(rows), "eu", &[("minPercent", 50)]);
    share(scenario, "us", &[("maxPercent", 30)]).replicas(replicas)
}

#[test]
fn named_cases() {
    for (name, rows, replicas, expected) in [
        ("least and most", [(4, 0), (4, 0), (90, 0), (90, 0)], 10, [2, 3, 0, 5]),
        ("inside what fits", [(9, 0), (0, 0), (90, 0), (0, 0)], 9, [8, 0, 1, 0]),
        ("steady", [(9, 4), (9, 1), (9, 3), (9, 2)], 10, [4, 1, 3, 2]),
        (
            "a share that is no longer kept",
            [(9, 1), (9, 1), (9, 3), (9, 5)],
            10,
            [2, 3, 2, 3],
        ),
        (
            "a least share is rounded down",
            [(0, 0), (0, 0), (9, 0), (9, 0)],
            1,
            [0, 0, 0, 1],
        ),
        (
            "a most share is rounded up",
            [(0, 0), (0, 0), (9, 0), (0, 0)],
            1,
            [0, 0, 1, 0],
        ),
        ("nothing", [(9, 0), (9, 0), (9, 0), (9, 0)], 0, [0, 0, 0, 0]),
    ] {
        let counts = shares(rows, replicas).assign_checked(&RegionShares);
        assert_eq!(counts, Ok(expected.to_vec()), "{name}");
    }
}

#[test]
fn demands_that_cannot_be_met_are_explained_by_figures() {
    let room = [(9, 0); 4];
    let refused = |scenario: Scenario| scenario.assign(&RegionShares).expect_err("it is refused").to_string();
    assert_eq!(
        refused(shares([(2, 0), (1, 0), (90, 0), (90, 0)], 10)),
        "eu requires at least 5 replicas, but its clusters have room for 3"
    );
    assert_eq!(
        refused(shares([(5, 0), (0, 0), (90, 0), (1, 0)], 10)),
        "10 replicas are too many: the groups can have at most 9 together, by capacity and upper bounds"
    );
    let both = share(
        share(fleet(room), "eu", &[("minPercent", 60)]),
        "us",
        &[("minPercent", 60)],
    );
    assert_eq!(
        refused(both.replicas(10)),
        "10 replicas are too few: the groups must have at least 12 together"
    );
    assert_eq!(refused(shares([(1, 0); 4], 10)), Failure::too_small(10, 4).to_string());
}

#[test]
fn meaningless_entries_are_refused_by_name() {
    let refused = |region: &str, values: &[(&str, i64)]| {
        let scenario = share(share(fleet([(9, 0); 4]), "eu", &[]), region, values).replicas(5);
        scenario.assign(&RegionShares).expect_err("it is refused")
    };
    let expected = |region: &str, message: &str| Failure::preferences(region, message);
    assert_eq!(
        refused("us", &[("minPercent", 101)]),
        expected("us", "`minPercent`: expected 0 to 100 percent, got 101")
    );
    assert_eq!(
        refused("us", &[("minPercent", 80), ("maxPercent", 20)]),
        expected("us", "`minPercent` is above `maxPercent`")
    );
    assert_eq!(refused("sa", &[]), expected("sa", "matches no cluster"));
    assert_eq!(
        refused("eu", &[]),
        expected("eu", "cluster `member0` is already in the group of eu")
    );
}

#[test]
fn explanations_name_the_group_and_its_bounds() {
    let scenario = shares([(4, 0), (4, 0), (90, 0), (90, 0)], 10);
    let (_, said) = scenario.assign_explained(&RegionShares).expect("it fits");
    let texts: Vec<&str> = said.explanations.iter().map(|(_, text)| text.as_str()).collect();
    let eu = "eu has 5, at least 5 and at most 10: in proportion to what fits";
    let us = "us has 0, at least 0 and at most 3: in proportion to what fits";
    assert_eq!(texts, [eu, eu, us, "in no group: in proportion to what fits"]);
}

proptest! {
    #[test]
    fn promises_hold(
        rows in prop::array::uniform4((0..9_i64, 0..9_i64)),
        least in 0..=100_i64,
        most in 0..=100_i64,
        part in 0..=100_i64,
    ) {
        let room: i64 = rows.iter().map(|row| row.0 + row.1).sum();
        let scenario = share(fleet(rows), "eu", &[("minPercent", least)]);
        let scenario = share(scenario, "us", &[("maxPercent", most)]).replicas(room * part / 100);
        prop_assert_eq!(scenario.check_promises(&RegionShares), Ok(()));
    }
}

#[test]
fn shares_are_rounded_down_and_up() {
    use crate::region_shares::bounds;
    let of = |replicas, minimum, maximum| bounds(replicas, minimum, maximum).map(|bounds| (bounds.least, bounds.most));
    assert_eq!(of(10, 33, 66), Some((3, 7)));
    assert_eq!(of(0, 50, 50), Some((0, 0)));
    assert_eq!(of(1, 50, 50), Some((0, 1)));
    assert_eq!(of(10, 51, 50), None);
    assert_eq!(of(i64::MAX, 100, 100), Some((i64::MAX, i64::MAX)));
}
