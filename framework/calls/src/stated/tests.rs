//! Each promise, kept and broken.

use divvy_framework_view::clusters::Row;

use super::*;
use crate::snapshot::SnapshotStore;

/// Three clusters: two of one provider, the last without any, and the zones overlap.
fn checked(promises: AssignCall<'_>, replicas: i64, duplicates: bool, result: [i64; 3]) -> Option<String> {
    let mut store = SnapshotStore::new();
    store.upsert("a", |cluster| {
        cluster.provider("aws").region("eu").zone("z1").zone("z1");
    });
    store.upsert("b", |cluster| {
        cluster.provider("aws").region("us").zone("z1").zone("z2");
    });
    store.upsert("c", |cluster| {
        cluster.region("us").zone("z2");
    });
    let snapshot = store.snapshot();
    let clusters = snapshot.clusters();
    let cluster = |index: usize| clusters.get(Row::from_index(index));
    let outcome = Stated::of(&promises).check("p", (replicas, duplicates), &result, cluster);
    outcome.err().map(|violation| {
        assert_eq!(violation.plugin(), "p");
        violation.to_string()
    })
}

const NONE: AssignCall<'static> = AssignCall::DEFAULT;

#[test]
fn without_a_promise_every_result_passes() {
    for result in [[0, 0, 0], [9, 9, 9], [-1, 0, i64::MAX]] {
        assert_eq!(checked(NONE, 9, false, result), None);
    }
}

#[test]
fn the_number_of_clusters_is_checked_from_both_sides() {
    let least = |least_clusters| AssignCall { least_clusters, ..NONE };
    let too_few = |expected: u32, actual: u32| {
        Some(format!(
            "plugin `p` promises to use at least {expected} of the clusters but used {actual}"
        ))
    };
    assert_eq!(checked(least(2), 9, false, [5, 4, 0]), None);
    assert_eq!(checked(least(3), 9, false, [5, 4, 0]), too_few(3, 2));
    // A cluster needs a replica, unless each gets all of them.
    assert_eq!(checked(least(3), 2, false, [1, 1, 0]), None);
    assert_eq!(checked(least(3), 2, false, [2, 0, 0]), too_few(2, 1));
    assert_eq!(checked(least(3), 2, true, [2, 2, 0]), too_few(3, 2));
    // A workload that is stopped is nowhere.
    assert_eq!(checked(least(3), 0, false, [0, 0, 0]), None);
    assert_eq!(checked(least(3), 0, true, [0, 0, 0]), None);
    assert_eq!(
        checked(least(u32::MAX), i64::MAX, false, [9, 9, 9]),
        too_few(u32::MAX, 3)
    );

    let most = |most_clusters| AssignCall { most_clusters, ..NONE };
    assert_eq!(checked(most(2), 9, false, [5, 0, 4]), None);
    let expected = "plugin `p` promises to use at most 1 of the clusters but used 2: `c` is one too many";
    assert_eq!(checked(most(1), 9, false, [5, 0, 4]).as_deref(), Some(expected));
    assert_eq!(checked(most(0), 0, false, [0, 0, 0]), None);
}

#[test]
fn clusters_are_counted_by_provider_region_and_zone() {
    let by_provider = |most_per_provider| AssignCall {
        most_per_provider,
        ..NONE
    };
    let expected = "plugin `p` promises to use at most 1 of the clusters of each provider but used 2 of provider `aws`: \
                    `b` is one too many";
    assert_eq!(checked(by_provider(1), 9, false, [4, 4, 1]).as_deref(), Some(expected));
    // A cluster without a provider does not count, and neither does one without replicas.
    assert_eq!(checked(by_provider(1), 9, false, [0, 4, 5]), None);
    assert_eq!(checked(by_provider(0), 9, false, [0, 0, 9]), None);
    assert_eq!(checked(by_provider(2), 9, false, [4, 4, 1]), None);

    let by_region = AssignCall {
        most_per_region: 1,
        ..NONE
    };
    let expected = "plugin `p` promises to use at most 1 of the clusters of each region but used 2 of region `us`: \
                    `c` is one too many";
    assert_eq!(checked(by_region, 9, false, [4, 4, 1]).as_deref(), Some(expected));
    assert_eq!(checked(by_region, 9, false, [4, 5, 0]), None);

    // Both zones have two clusters; a zone that is listed twice counts once.
    let by_zone = AssignCall {
        most_per_zone: 1,
        ..NONE
    };
    assert_eq!(checked(by_zone, 9, false, [4, 0, 5]), None);
    let expected = "plugin `p` promises to use at most 1 of the clusters of each zone but used 2 of zone `z1`: \
                    `b` is one too many";
    assert_eq!(checked(by_zone, 9, false, [4, 4, 1]).as_deref(), Some(expected));
    let expected = "plugin `p` promises to use at most 1 of the clusters of each zone but used 2 of zone `z2`: \
                    `c` is one too many";
    assert_eq!(checked(by_zone, 9, false, [0, 4, 5]).as_deref(), Some(expected));
}
