//! `priority-aggregated.md`: the printed policy with the figures of its table, scaled up, scaled down and rescheduled.

use super::{deployment, documents, printed};
use crate::manifests::{Binding, binding, cluster, list};
use crate::scheduling::Host;

/// Replicas that each cluster of the proposal can hold.
const CAPACITY: i64 = 10;

const MEMBERS: [&str; 4] = ["member1", "member2", "member3", "member4"];

/// The printed policy with its omitted selectors filled in.
fn policy() -> String {
    printed("priority-policy").replace("#...", "resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]")
}

/// Clusters whose room is reduced by the last result.
fn clusters(last: &[i64]) -> String {
    list(MEMBERS.iter().enumerate().map(|(number, name)| {
        let taken = last.get(number).copied().unwrap_or(0);
        cluster(name, CAPACITY - taken).into()
    }))
}

/// The binding of a Deployment that the printed policy propagates, after its last result.
fn scheduled_before(last: &[i64], replicas: i64) -> Binding {
    let targets = MEMBERS.iter().copied().zip(last.iter().copied());
    binding("nginx", replicas)
        .last(targets.filter(|(_, replicas)| *replicas > 0))
        .annotation("propagationpolicy.karmada.io/name", "default-pp")
        .annotation("propagationpolicy.karmada.io/namespace", "default")
        .without_placement()
}

#[track_caller]
fn check(binding: Binding, last: &[i64], told: &str) {
    let manifest = documents(&[&clusters(last), &policy(), &list([binding.into()])]);
    assert_eq!(Host::built_in().told_text(&manifest), told, "from {last:?}");
}

#[test]
fn the_table_of_the_proposal() {
    for (replicas, told) in [
        (8, "member1=8"),
        (16, "member1=8 member2=8"),
        (28, "member1=10 member2=10 member3=8"),
        (36, "member1=10 member2=10 member3=8 member4=8"),
    ] {
        let manifest = documents(&[&clusters(&[]), &policy(), &deployment("default", "nginx", replicas)]);
        assert_eq!(Host::built_in().told_text(&manifest), told, "{replicas}");
    }
}

#[test]
fn scaling_up_keeps_existing_replicas_and_fills_preferred_clusters_first() {
    // 8 more: 2 and 10 fit on the preferred clusters, which get shares of 1 and 6; the odd one goes to the larger room.
    check(
        scheduled_before(&[8, 0, 0, 0], 16),
        &[8, 0, 0, 0],
        "member1=9 member2=7",
    );
    check(
        scheduled_before(&[8, 8, 0, 0], 28),
        &[8, 8, 0, 0],
        "member1=10 member2=10 member3=8",
    );
    // Replicas on a less preferred cluster stay there.
    check(scheduled_before(&[0, 0, 5, 0], 8), &[0, 0, 5, 0], "member1=3 member3=5");
}

#[test]
fn scaling_down_drains_less_preferred_clusters_first() {
    check(
        scheduled_before(&[10, 10, 8, 0], 22),
        &[10, 10, 8, 0],
        "member1=10 member2=10 member3=2",
    );
    check(
        scheduled_before(&[10, 10, 8, 0], 12),
        &[10, 10, 8, 0],
        "member1=6 member2=6",
    );
    check(scheduled_before(&[10, 10, 8, 8], 8), &[10, 10, 8, 8], "member1=8");
}

#[test]
fn equal_totals_stay_until_a_reschedule_is_requested() {
    let last = [0, 0, 8, 0];
    check(scheduled_before(&last, 8), &last, "member3=8");
    check(scheduled_before(&last, 8).fresh(), &last, "member1=8");
}

#[test]
fn too_little_room_is_unschedulable_with_both_figures() {
    check(
        scheduled_before(&[], 41),
        &[],
        "Unschedulable: 41 replicas requested, 40 fit in the candidate clusters",
    );
}
