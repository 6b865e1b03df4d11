//! Each rule of a step by an example.

use divvy_framework_arithmetic::pace::Wait;
use divvy_karmada::api::GracefulEvictionTask;
use divvy_profile::Allowances;

use super::super::budgets::{Admission, Scope};
use super::super::look::Wish;
use super::super::mark::Void;
use super::super::step::{Occasion, Reason, Stepped, Terms, Verdict, claim};
use super::case::{Case, TERMS};
use super::targets;

fn result(result: &[(&str, i32)]) -> Vec<(String, i32)> {
    result
        .iter()
        .map(|(name, replicas)| ((*name).to_owned(), *replicas))
        .collect()
}

#[test]
fn a_move_goes_on_from_its_mark_until_it_ends() {
    let mut case = Case::new();
    let decided = targets(&[("b", 4)]);
    assert_eq!(
        case.written(Wish::Decided(&decided), &TERMS),
        (result(&[("a", 4), ("b", 2)]), Occasion::Step, true)
    );
    // Nothing is ready yet, and a report that has not changed does not show that anything is.
    assert_eq!(
        case.step(Wish::Continue, &TERMS),
        Verdict::Wait(Reason::Pace(Wait::Readiness))
    );
    case.ready.push(("b", 2));
    assert_eq!(
        case.written(Wish::Continue, &TERMS),
        (result(&[("a", 2), ("b", 4)]), Occasion::Step, true)
    );
    case.ready = vec![("a", 2), ("b", 4)];
    assert_eq!(
        case.written(Wish::Continue, &TERMS),
        (result(&[("b", 4)]), Occasion::Step, true)
    );
    assert_eq!(case.step(Wish::Continue, &TERMS), Verdict::Wait(Reason::Reports));
    case.now += 60_000;
    assert_eq!(
        case.written(Wish::Continue, &TERMS),
        (result(&[("b", 4)]), Occasion::Ended, true)
    );
    assert_eq!(case.step(Wish::Continue, &TERMS), Verdict::AtTarget);
    assert_eq!(case.step(Wish::Decided(&decided), &TERMS), Verdict::AtTarget);
}

/// A report of before a step shows more than was left, so that only time ends what bounds the cluster. Its replicas may be ready all the
/// same, and none of them is spared.
#[test]
fn what_may_be_ready_is_neither_counted_on_nor_taken() {
    let mut case = Case::new();
    case.present = targets(&[("a", 2), ("b", 2)]);
    case.ready = vec![("a", 3), ("b", 2)];
    case.total = 6;
    assert_eq!(
        case.written(Wish::Decided(&targets(&[("a", 4), ("b", 2)])), &TERMS),
        (result(&[("a", 4), ("b", 2)]), Occasion::AtOnce, true)
    );
    case.ready = vec![("a", 4), ("b", 2)];
    assert_eq!(
        case.written(Wish::Decided(&targets(&[("b", 6)])), &TERMS),
        (result(&[("a", 4), ("b", 4)]), Occasion::Step, true)
    );
    assert_eq!(case.step(Wish::Continue, &TERMS), Verdict::Wait(Reason::Reports));
    // Six are known to be ready without them, so that they go as if they were not.
    case.ready = vec![("a", 4), ("b", 4)];
    assert_eq!(
        case.written(Wish::Continue, &TERMS),
        (result(&[("a", 2), ("b", 6)]), Occasion::Step, true)
    );
}

/// Karmada evicts what a step gave, and it is given again. The first report may be of what was evicted.
#[test]
fn a_report_of_replicas_that_were_evicted_meanwhile_is_not_believed() {
    let mut case = Case::new();
    let decided = targets(&[("b", 4)]);
    let given = result(&[("a", 4), ("b", 2)]);
    assert_eq!(
        case.written(Wish::Decided(&decided), &TERMS),
        (given.clone(), Occasion::Step, true)
    );
    case.present = targets(&[("a", 4)]);
    assert_eq!(
        case.written(Wish::Decided(&decided), &TERMS),
        (given, Occasion::Step, true)
    );
    case.ready.push(("b", 2));
    assert_eq!(
        case.step(Wish::Continue, &TERMS),
        Verdict::Wait(Reason::Pace(Wait::Readiness))
    );
    case.now += 60_000;
    assert_eq!(
        case.written(Wish::Continue, &TERMS),
        (result(&[("a", 2), ("b", 4)]), Occasion::Step, true)
    );
}

#[test]
fn what_is_evicted_is_replaced_at_once_and_observed_when_it_is_complete() {
    let mut case = Case::new();
    case.total = 8;
    case.evicted.push(GracefulEvictionTask {
        from_cluster: "c".to_owned(),
        replicas: Some(4),
        ..GracefulEvictionTask::default()
    });
    case.admission = Admission::Waits(Scope::All);
    case.room = 3;
    let closed = Terms {
        is_open: false,
        ..TERMS
    };
    let decided = targets(&[("a", 2), ("b", 6)]);
    assert_eq!(
        case.written(Wish::Decided(&decided), &closed),
        (result(&[("a", 4), ("b", 3)]), Occasion::AtOnce, false)
    );
    case.room = 1;
    assert_eq!(
        case.written(Wish::Continue, &closed),
        (result(&[("a", 4), ("b", 4)]), Occasion::AtOnce, true)
    );
    // The rest is a move.
    assert_eq!(case.step(Wish::Continue, &closed), Verdict::Wait(Reason::Hours));
    assert_eq!(
        case.step(Wish::Continue, &TERMS),
        Verdict::Wait(Reason::Budget(Scope::All))
    );
}

/// Karmada removes what runs in a cluster first of all when the cluster is deleted.
#[test]
fn a_cluster_that_is_being_deleted_is_left_at_once_within_room_whatever_the_terms() {
    let closed = Terms {
        is_open: false,
        ..TERMS
    };
    let case = || Case {
        present: targets(&[("a", 2), ("b", 2), ("c", 4)]),
        total: 8,
        ready: vec![("a", 2), ("b", 2), ("c", 4)],
        admission: Admission::Waits(Scope::All),
        deleting: "c",
        ..Case::new()
    };
    // What the decision moves besides is a move.
    let decided = targets(&[("a", 7), ("b", 1)]);
    let mut decided_now = case();
    assert_eq!(
        decided_now.written(Wish::Decided(&decided), &closed),
        (result(&[("a", 6), ("b", 2)]), Occasion::AtOnce, true)
    );
    assert_eq!(decided_now.step(Wish::Continue, &closed), Verdict::Wait(Reason::Hours));
    let mut crowded = case();
    crowded.room = 3;
    assert_eq!(
        crowded.written(Wish::Decided(&decided), &closed).0,
        result(&[("a", 5), ("b", 2)])
    );

    // The deletion begins while a move takes steps away from the cluster.
    let mut moving = case();
    (moving.deleting, moving.admission) = ("", Admission::Goes);
    let step = moving.step(Wish::Decided(&decided), &TERMS);
    assert_eq!(moving.write(&step).0, result(&[("a", 4), ("b", 2), ("c", 4)]));
    (moving.deleting, moving.admission) = ("c", Admission::Waits(Scope::All));
    assert_eq!(
        moving.written(Wish::Continue, &closed),
        (result(&[("a", 6), ("b", 2)]), Occasion::AtOnce, true)
    );
}

#[test]
fn a_smaller_total_is_written_at_once_as_far_as_the_rest_is_ready() {
    let mut case = Case::new();
    case.present = targets(&[("a", 6), ("b", 4)]);
    (case.ready, case.total) = (vec![("a", 6), ("b", 0)], 4);
    case.admission = Admission::Waits(Scope::All);
    let decided = targets(&[("b", 4)]);
    assert_eq!(
        case.written(Wish::Decided(&decided), &TERMS),
        (result(&[("a", 4), ("b", 4)]), Occasion::AtOnce, true)
    );
}

/// A plan may give a binding another target before its mark has been removed.
#[test]
fn the_mark_of_a_move_that_has_reached_its_target_does_not_let_another_begin() {
    let mut case = Case::new();
    let (first, second) = (targets(&[("b", 4)]), targets(&[("c", 4)]));
    case.written(Wish::Decided(&first), &TERMS);
    while case.present != first {
        case.ready = [("a", 4), ("b", 4)].to_vec();
        case.now += 60_000;
        case.written(Wish::Continue, &TERMS);
    }
    case.ready = vec![("b", 4)];
    case.now += 60_000;
    assert!(case.mark.is_some());
    case.take_the_only_place();
    let waiting = case.pass(Wish::Decided(&second), &TERMS);
    assert_eq!(waiting.verdict, Verdict::Wait(Reason::Budget(Scope::All)));
    assert!(!waiting.claim.unwrap().is_under_way);
    case.others.clear();
    let begins = case.pass(Wish::Decided(&second), &TERMS);
    assert!(matches!(begins.verdict, Verdict::Write(_)));
    assert!(begins.claim.unwrap().is_under_way);
}

#[test]
fn every_wait_has_its_reason() {
    let decided = targets(&[("b", 4)]);
    let wait = |change: fn(&mut Case), terms: Terms| {
        let mut case = Case::new();
        change(&mut case);
        match case.step(Wish::Decided(&decided), &terms) {
            Verdict::Wait(reason) => reason,
            verdict => panic!("expected a reason, got {verdict:?}"),
        }
    };
    let nothing = |_: &mut Case| ();
    assert_eq!(
        wait(|case| case.is_dispatching_suspended = true, TERMS),
        Reason::Dispatching
    );
    assert_eq!(
        wait(
            nothing,
            Terms {
                is_open: false,
                ..TERMS
            }
        ),
        Reason::Hours
    );
    assert_eq!(
        wait(|case| case.admission = Admission::Blocked, TERMS),
        Reason::Admission
    );
    assert_eq!(
        wait(
            nothing,
            Terms {
                is_surge_refused: true,
                ..TERMS
            }
        ),
        Reason::Quota
    );
    // A surge of one is a quarter of four.
    assert_eq!(
        wait(
            nothing,
            Terms {
                is_scaled_by_federated_hpa: true,
                ..TERMS
            }
        ),
        Reason::Autoscaler
    );
    assert_eq!(wait(|case| case.room = 0, TERMS), Reason::Pace(Wait::Room));
    assert_eq!(
        wait(|case| case.max_clusters = Some(1), TERMS),
        Reason::Pace(Wait::Clusters)
    );
    let swapped = Terms {
        allowances: Allowances {
            max_surge: 0,
            max_unavailable: 1,
        },
        is_surge_refused: true,
        ..TERMS
    };
    let case = Case::new();
    assert!(matches!(
        case.step(Wish::Decided(&decided), &swapped),
        Verdict::Write(_)
    ));
    let texts = [
        Reason::Hours,
        Reason::Quota,
        Reason::Pace(Wait::Room),
        Reason::Budget(Scope::Cluster("a".to_owned())),
    ];
    assert!(texts.iter().all(|reason| !reason.to_string().is_empty()));
}

#[test]
fn a_step_is_as_large_as_the_budget_of_replicas_and_names_it_when_it_is_used_up() {
    let mut case = Case::new();
    case.budgets = r#"{"replicas": 1}"#;
    let decided = targets(&[("b", 4)]);
    let first = case.step(Wish::Decided(&decided), &TERMS);
    assert_eq!(case.write(&first).0, result(&[("a", 4), ("b", 1)]));
}

#[test]
fn a_federated_hpa_never_sees_a_surge_of_its_tolerance() {
    for (total, surge) in [(10, 0), (11, 1), (20, 1), (21, 2), (100, 9), (101, 10)] {
        let mut case = Case::new();
        let count = i32::try_from(total).unwrap();
        case.present = targets(&[("a", count)]);
        (case.total, case.ready) = (total, vec![("a", total)]);
        let allowances = Allowances {
            max_surge: 50,
            max_unavailable: 0,
        };
        let terms = Terms {
            allowances,
            is_scaled_by_federated_hpa: true,
            ..TERMS
        };
        let decided = targets(&[("b", count)]);
        match case.step(Wish::Decided(&decided), &terms) {
            Verdict::Wait(reason) => assert_eq!((reason, surge), (Reason::Autoscaler, 0)),
            verdict => assert_eq!(case.write(&verdict).0, result(&[("a", count), ("b", surge)]), "{total}"),
        }
    }
}

/// A smaller total leaves what is not ready beyond it, unless an autoscaler would ask for even fewer because of it. The ready replicas stay.
#[test]
fn a_federated_hpa_never_sees_what_a_smaller_total_leaves() {
    let case = || Case {
        present: targets(&[("a", 10), ("b", 6)]),
        total: 12,
        ready: vec![("a", 10), ("b", 0)],
        ..Case::new()
    };
    let target = targets(&[("a", 4), ("b", 8)]);
    let verdict = case().step(Wish::Decided(&target), &TERMS);
    assert_eq!(verdict, Verdict::Wait(Reason::Pace(Wait::Readiness)));
    let scaled = Terms {
        is_scaled_by_federated_hpa: true,
        ..TERMS
    };
    let mut paced = case();
    let verdict = paced.step(Wish::Decided(&target), &scaled);
    assert_eq!(
        paced.write(&verdict),
        (result(&[("a", 10), ("b", 2)]), Occasion::AtOnce, true)
    );
}

#[test]
fn a_move_that_waits_for_room_releases_its_claim_once() {
    let mut case = Case::new();
    let decided = targets(&[("b", 4)]);
    let first = case.step(Wish::Decided(&decided), &TERMS);
    case.write(&first);
    (case.ready, case.room) = (vec![("a", 4), ("b", 2)], 0);
    let second = case.step(Wish::Continue, &TERMS);
    assert_eq!(
        case.write(&second).0,
        result(&[("a", 2), ("b", 2)]),
        "what is ready elsewhere goes"
    );
    case.ready = vec![("a", 2), ("b", 2)];
    assert_eq!(
        case.written(Wish::Continue, &TERMS),
        (result(&[("a", 2), ("b", 2)]), Occasion::Released, true)
    );
    assert_eq!(
        case.step(Wish::Continue, &TERMS),
        Verdict::Wait(Reason::Pace(Wait::Room))
    );
    case.room = 5;
    let next = case.step(Wish::Continue, &TERMS);
    case.write(&next);
    assert!(case.mark.is_some_and(|mark| !mark.is_released));
}

#[test]
fn cancelling_brings_the_sum_back_and_keeps_what_is_ready() {
    let mut case = Case::new();
    let decided = targets(&[("b", 4)]);
    let first = case.step(Wish::Decided(&decided), &TERMS);
    case.write(&first);
    assert_eq!(
        case.written(Wish::Cancel, &TERMS),
        (result(&[("a", 4)]), Occasion::Cancelled, true)
    );
    // What it took may still be there, and a later move must not count it.
    assert_eq!(case.step(Wish::Cancel, &TERMS), Verdict::Wait(Reason::Reports));
    assert_eq!(case.step(Wish::Continue, &TERMS), Verdict::Wait(Reason::Reports));
    case.now += 60_000;
    let ended = case.step(Wish::Cancel, &TERMS);
    assert_eq!(case.write(&ended).1, Occasion::Ended);
    assert_eq!(case.step(Wish::Cancel, &TERMS), Verdict::AtTarget);
    let mut case = Case::new();
    let first = case.step(Wish::Decided(&decided), &TERMS);
    case.write(&first);
    case.ready = vec![("a", 3), ("b", 1)];
    let cancelled = case.step(Wish::Cancel, &TERMS);
    assert_eq!(case.write(&cancelled).0, result(&[("a", 3), ("b", 1)]));
}

#[test]
fn a_void_mark_is_decided_anew_and_what_must_leave_leaves_at_once() {
    let mut case = Case::new();
    case.void = Some(Void::Asked);
    assert_eq!(case.step(Wish::Continue, &TERMS), Verdict::DecideAnew(Void::Asked));
    let decided = targets(&[("b", 4)]);
    assert!(matches!(case.step(Wish::Decided(&decided), &TERMS), Verdict::Write(_)));
    case.leaves = "a";
    case.admission = Admission::Waits(Scope::All);
    assert_eq!(
        case.written(Wish::Decided(&decided), &TERMS),
        (result(&[("b", 4)]), Occasion::AtOnce, true)
    );
}

#[test]
fn one_pass_says_what_to_do_and_what_the_move_uses_then() {
    let decided = targets(&[("a", 2), ("b", 2)]);
    let wish = Wish::Decided(&decided);
    let mut case = Case::new();
    let used = |stepped: &Stepped| -> Vec<(String, i64)> {
        let claim = stepped.claim.as_ref().unwrap();
        let clusters = claim.clusters.iter();
        clusters
            .map(|cluster| (cluster.name.clone(), cluster.unready))
            .collect()
    };
    let both = |given| vec![("a".to_owned(), 0), ("b".to_owned(), given)];
    let first = case.pass(wish, &TERMS);
    assert_eq!(first.verdict, case.step(wish, &TERMS));
    assert_eq!((used(&first), first.valid_until), (both(2), Some(9)));
    let begun = first.claim.unwrap();
    assert!(begun.is_under_way && begun.has_mark && !begun.is_blocked && begun.wants.is_empty());
    assert_eq!(begun.target, decided);
    // Without a step, it uses nothing yet.
    let claim = case.seen(wish, |seen| claim(seen, &case)).unwrap();
    assert!(!claim.is_under_way && claim.is_blocked && !claim.has_given());

    case.take_the_only_place();
    let waiting = case.pass(wish, &TERMS);
    assert_eq!(waiting.verdict, Verdict::Wait(Reason::Budget(Scope::All)));
    assert_eq!((used(&waiting), waiting.valid_until), (both(0), None));
    let claim = waiting.claim.unwrap();
    assert!(
        !claim.is_under_way && !claim.has_mark && !claim.is_blocked,
        "it waits for its place"
    );

    // Clusters are missing, so nothing is written, and its turn is left to others.
    (case.budgets, case.misses_clusters) = ("{}", true);
    let held = case.pass(wish, &TERMS);
    assert_eq!(held.verdict, Verdict::Wait(Reason::MissingClusters));
    assert_eq!(used(&held), both(0));
    assert!(held.claim.unwrap().is_blocked);
    assert!(
        case.pass(Wish::Continue, &TERMS).claim.is_none(),
        "there is no mark to go on from"
    );
}
