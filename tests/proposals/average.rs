//! `average-replicas.md`: the story, the printed policy, and the steps of its process with limited capacity.

use super::{deployment, documents, printed};
use crate::manifests::{binding, cluster, list};
use crate::scheduling::Host;

/// Checks the decision for clusters with these capacities.
#[track_caller]
fn check(capacity: &[(&str, i64)], replicas: i64, told: &str) {
    let mut objects: Vec<_> = capacity
        .iter()
        .map(|(name, fits)| cluster(name, *fits).into())
        .collect();
    objects.push(binding("web", replicas).strategy("Average").into());
    assert_eq!(Host::built_in().told(objects), told, "{replicas} over {capacity:?}");
}

#[test]
fn story_1_six_replicas_on_three_clusters_are_two_each() {
    let clusters = list(["member1", "member2", "member3"].map(|name| cluster(name, 10).into()));
    let policy = printed("average-policy");
    let manifest = documents(&[&clusters, &policy, &deployment("bar", "foo", 6)]);
    assert_eq!(Host::built_in().told_text(&manifest), "member1=2 member2=2 member3=2");
}

#[test]
fn replicas_that_do_not_fit_go_to_the_other_clusters() {
    check(&[("a", 1), ("b", 10), ("c", 10)], 9, "a=1 b=4 c=4");
    check(&[("a", 0), ("b", 10), ("c", 2)], 9, "b=7 c=2");
    check(&[("a", 3), ("b", 3), ("c", 3)], 9, "a=3 b=3 c=3");
    // The proposal loses the remainder of the division: 2 of these 8 replicas.
    check(&[("a", 2), ("b", 2), ("c", 4)], 8, "a=2 b=2 c=4");
}

#[test]
fn too_little_room_is_unschedulable_with_both_figures() {
    check(
        &[("a", 1), ("b", 2)],
        4,
        "Unschedulable: 4 replicas requested, 3 fit in the candidate clusters",
    );
}
