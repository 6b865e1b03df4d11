//! Sharing among groups: the promises, bounds and shares of random calls.

use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::Group;
use crate::clusters::Cluster;
use crate::prelude::*;
use crate::testing::{ClusterBuilder, Scenario};

/// Shares among groups; a cluster's group is the number in its region.
#[derive(Debug, Clone)]
struct Sharing(Vec<Group>);

impl Plugin for Sharing {
    const NAME: &'static str = "sharing";
    const DESCRIPTION: &'static str = "shares among groups";
}

impl AssignPlugin for Sharing {
    const STRATEGIES: &'static [&'static str] = &["Sharing"];
    const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let group_of = |candidate| context.cluster(candidate).region().parse().ok();
        context.share_among(&self.0, group_of, result)
    }
}

/// The group of a cluster in none.
const NONE: usize = usize::MAX;

/// A cluster: group, replicas that fit now, and last replicas.
type Row = (usize, i64, i64);

/// Clusters of these groups; a group of [`NONE`] is none.
fn scenario(rows: &[Row]) -> Scenario {
    let clusters = rows.iter().enumerate().map(|(number, &(group, fits_now, last))| {
        let region = if group == NONE {
            String::new()
        } else {
            group.to_string()
        };
        let cluster = ClusterBuilder::new(&format!("m{number}")).region(&region);
        cluster.fits_now(fits_now).last(last)
    });
    Scenario::new().clusters(clusters)
}

fn shared(groups: &[Group], rows: &[Row], replicas: i64) -> Result<Vec<i64>, Failure> {
    scenario(rows)
        .replicas(replicas)
        .assign_checked(&Sharing(groups.to_vec()))
}

#[test]
fn weights_counts_and_bounds_are_kept() {
    let rows = [(0, 50, 0), (0, 50, 0), (1, 30, 0), (2, 90, 0), (NONE, 90, 0)];
    let without = Group::weighing("c", 0);
    let weighing = |name: &str, weight| Group::weighing(name, weight);
    for (groups, replicas, expected) in [
        (
            vec![weighing("a", 60), weighing("b", 40), without.clone()],
            20,
            [6, 6, 8, 0, 0],
        ),
        // What `b` has no room for goes to `a`.
        (
            vec![weighing("a", 1), weighing("b", 1), without.clone()],
            80,
            [25, 25, 30, 0, 0],
        ),
        (
            vec![weighing("a", 1).at_most(4), weighing("b", 1), Group::rest("c")],
            40,
            [2, 2, 30, 6, 0],
        ),
        (
            vec![
                Group::exactly("a", 5).over_the_fewest(),
                weighing("b", 1),
                without.clone(),
            ],
            9,
            [0, 5, 4, 0, 0],
        ),
        (
            vec![
                Group::keeping("a").at_least(3).evenly(),
                weighing("b", 1),
                without.clone(),
            ],
            9,
            [2, 1, 6, 0, 0],
        ),
    ] {
        let counts = shared(&groups, &rows, replicas).map(|counts| {
            // Equal clusters are drawn by their ties.
            let mut counts = counts;
            counts[..2].sort_unstable_by(|one, other| other.cmp(one));
            counts
        });
        let mut expected = expected;
        expected[..2].sort_unstable_by(|one: &i64, other| other.cmp(one));
        assert_eq!(counts, Ok(expected.to_vec()), "{groups:?}");
    }
    // In a steady cycle, groups without weights keep what they have.
    let running = [(0, 10, 6), (0, 10, 1), (1, 10, 3)];
    assert_eq!(
        shared(&[Group::keeping("a"), Group::keeping("b")], &running, 10),
        Ok(vec![6, 1, 3])
    );
    assert_eq!(
        shared(&[Group::keeping("a"), Group::weighing("b", 1)], &running, 12),
        Ok(vec![6, 1, 5])
    );
}

#[test]
fn what_contradicts_each_other_is_named_with_the_nearest_count() {
    let rows = [(0, 5, 0), (1, 30, 0)];
    for (groups, replicas, message, nearest) in [
        (
            [Group::exactly("eu", 4), Group::weighing("us", 1).at_most(9)],
            20,
            "20 replicas cannot be shared: eu gets exactly 4; us gets at most 9",
            Some(13),
        ),
        (
            [Group::keeping("eu").at_least(4), Group::keeping("us").at_least(3)],
            5,
            "5 replicas cannot be shared: eu gets at least 4; us gets at least 3",
            Some(7),
        ),
        (
            [Group::keeping("eu").at_least(6), Group::keeping("us")],
            9,
            "9 replicas cannot be shared: eu gets at least 6; eu has room for 5",
            None,
        ),
        (
            [Group::keeping("eu"), Group::keeping("us")],
            36,
            "36 replicas cannot be shared: eu has room for 5; us has room for 30",
            Some(35),
        ),
    ] {
        let failure = Failure::unschedulable(message);
        let failure = match nearest {
            Some(nearest) => failure.with_figures(replicas, nearest),
            None => failure,
        };
        assert_eq!(shared(&groups, &rows, replicas), Err(failure));
    }
    assert_eq!(shared(&[], &[(NONE, 5, 0)], 3), Err(Failure::too_small(3, 0)));
    let negative = shared(&[Group::keeping("eu").at_least(-1)], &rows, 3);
    let expected = "`share_among`: a bound of the group `eu` is -1, expected 0 or more";
    assert_eq!(negative, Err(Failure::internal(expected)));
}

#[test]
fn a_group_that_does_not_exist_is_a_fault_of_the_plugin() {
    let beyond = shared(&[Group::keeping("a")], &[(1, 3, 0)], 1);
    let expected = "`share_among`: cluster `m0` is in group 1, but there are 1";
    assert_eq!(beyond, Err(Failure::internal(expected)));
}

fn group() -> impl Strategy<Value = Group> {
    let share = prop_oneof![
        (0..5_u32).prop_map(|weight| Group::weighing("", weight)),
        (0..9_i64).prop_map(|count| Group::exactly("", count)),
        any::<bool>().prop_map(|is_rest| if is_rest { Group::rest("") } else { Group::keeping("") }),
    ];
    (share, 0..6_i64, 4..40_i64, any::<bool>()).prop_map(|(group, least, most, is_bounded)| match is_bounded {
        true if group.bounds() == (0, None) => group.at_least(least.min(most)).at_most(most),
        _ => group,
    })
}

#[test]
fn the_test_kit_names_a_group_whose_bounds_are_not_kept() {
    let asked = scenario(&[(0, 9, 0), (1, 9, 0), (NONE, 9, 0)]).replicas(8);
    let plugin = Sharing(vec![Group::weighing("a", 1), Group::weighing("b", 1)]);
    let group_of = |cluster: &Cluster<'_>| cluster.region().parse().ok();
    let check = |groups: &[Group]| asked.check_groups(&plugin, groups, group_of);
    assert_eq!(check(&[Group::exactly("a", 4), Group::keeping("b").at_most(4)]), Ok(()));
    let broken = |text: &str| Err(text.to_owned());
    assert_eq!(
        check(&[Group::keeping("a"), Group::keeping("b").at_least(5)]),
        broken("b has 4, expected from 5 to any: [4, 4, 0]")
    );
    assert_eq!(
        check(&[Group::exactly("a", 3), Group::keeping("b")]),
        broken("a has 4, expected from 3 to 3: [4, 4, 0]")
    );
    assert_eq!(
        check(&[Group::keeping("a")]),
        broken("cluster `m1` is in no group and has 4: [4, 4, 0]")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// `assign_checked` also checks the promises: capacity, inertia, and that order does not matter.
    #[test]
    fn results_keep_bounds_room_and_promises(
        groups in proptest::collection::vec(group(), 1..4),
        rows in proptest::collection::vec((0..4_usize, 0..12_i64, 0..9_i64), 1..7),
        replicas in 0..60_i64,
    ) {
        let groups: Vec<Group> = (0..).zip(&groups).map(|(number, group): (usize, _)| group.clone().named(&format!("g{number}"))).collect();
        let rows: Vec<Row> = rows.into_iter().map(|(group, fits, last)| (if group < groups.len() { group } else { NONE }, fits, last)).collect();
        let scenario = scenario(&rows);
        let plugin = Sharing(groups.clone());
        scenario.clone().replicas(replicas).check_promises(&plugin).map_err(proptest::prelude::TestCaseError::fail)?;
        match scenario.clone().replicas(replicas).assign(&plugin) {
            Ok(counts) => {
                prop_assert_eq!(counts.iter().sum::<i64>(), replicas);
                let group_of = |cluster: &Cluster<'_>| cluster.region().parse().ok();
                let checked = scenario.replicas(replicas).check_groups(&plugin, &groups, group_of);
                prop_assert_eq!(checked, Ok(()));
            }
            Err(Failure::Unschedulable { figures: Some((requested, nearest)), .. }) => {
                prop_assert_eq!(requested, replicas);
                prop_assert!(scenario.replicas(nearest).assign(&plugin).is_ok(), "{nearest} instead of {replicas}");
            }
            // No count can be shared.
            Err(error) => prop_assert!(matches!(error, Failure::Unschedulable { .. }), "{error}"),
        }
    }
}
