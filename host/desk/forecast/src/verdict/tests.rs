//! Sentences and tones of verdicts.

use super::*;
use crate::planned::PriorityBound;

#[test]
fn a_difference_is_bad_only_if_something_is_lost_or_does_not_fit() {
    let moved = |moved, lost| Movement {
        moved,
        lost,
        ..Movement::default()
    };
    let cases = [
        (
            0,
            moved(0, 0),
            0,
            "nothing changes; 2 unschedulable as before; 7 replicas missing as before",
            Tone::Notable,
        ),
        (
            1,
            moved(9, 0),
            0,
            "1 binding changes: 9 replicas moved; 2 unschedulable as before; 7 replicas missing as before",
            Tone::Notable,
        ),
        (
            2,
            moved(0, 1),
            1,
            "2 bindings change: 1 replica lost; 1 newly unschedulable; 2 unschedulable as before; 1 replica newly missing; 7 missing as before",
            Tone::Bad,
        ),
    ];
    for (changed, movement, newly_unschedulable, sentence, tone) in cases {
        let totals = Totals {
            changed,
            movement,
            newly_unschedulable,
            unschedulable: newly_unschedulable + 2,
            missing: movement.lost + 7,
            newly_missing: movement.lost,
            ..Totals::default()
        };
        let verdict = totals.verdict();
        assert_eq!((verdict.sentence.as_str(), verdict.tone), (sentence, tone));
    }
}

#[test]
fn all_is_well_only_if_nothing_is_missing() {
    // Missing in all, newly, and newly in copies of duplicated workloads.
    let cases = [
        ((0, 0, 0), "nothing changes", Tone::Good),
        ((10, 10, 0), "nothing changes; 10 replicas newly missing", Tone::Bad),
        (
            (2, 2, 2),
            "nothing changes; 2 replicas newly missing in copies of duplicated workloads",
            Tone::Notable,
        ),
        (
            (17, 12, 2),
            "nothing changes; 12 replicas newly missing, 2 of them in copies of duplicated workloads; 5 missing as before",
            Tone::Bad,
        ),
        ((1, 0, 0), "nothing changes; 1 replica missing as before", Tone::Notable),
    ];
    for ((missing, newly_missing, missing_copies), sentence, tone) in cases {
        let totals = Totals {
            missing,
            newly_missing,
            missing_copies,
            ..Totals::default()
        };
        let verdict = totals.verdict();
        assert_eq!((verdict.sentence.as_str(), verdict.tone), (sentence, tone));
        assert_eq!(totals.is_harmful(), tone == Tone::Bad, "{sentence}");
    }
}

#[test]
fn a_plan_is_judged_by_what_still_waits() {
    let judged = |waiting: usize, placed: usize, moved: i64, bound: (usize, i64)| {
        let mut plan = Rebalanced::default();
        (plan.totals.waiting, plan.totals.placed, plan.totals.moved) = (waiting, placed, moved);
        (plan.bound.waiting, plan.bound.moves) = (Some(bound.0), Some(bound.1));
        let Verdict { sentence, more, tone } = plan.verdict();
        (sentence + "; " + &more, tone)
    };
    let least = "any plan that places the same needs at least";
    let cases = [
        ((0, 0, 0, (0, 0)), "nothing waits; ".to_owned(), Tone::Good),
        (
            (1, 1, 0, (0, 0)),
            "the binding that waits is placed without a move; ".to_owned(),
            Tone::Good,
        ),
        (
            (75, 75, 873, (0, 809)),
            format!("all 75 bindings that wait are placed by 873 moves; {least} 809 moves"),
            Tone::Good,
        ),
        (
            (3, 1, 1, (1, 1)),
            format!(
                "1 of 3 bindings that wait is placed by 1 move; at least 1 of them waits in any plan; {least} 1 move"
            ),
            Tone::Notable,
        ),
        (
            (2, 0, 0, (0, 0)),
            "none of 2 bindings that wait is placed; as far as the bound knows, none of them needs to".to_owned(),
            Tone::Bad,
        ),
        (
            (1, 0, 0, (1, 0)),
            "the binding that waits is not placed; it waits in any plan".to_owned(),
            Tone::Bad,
        ),
    ];
    for ((waiting, placed, moved, bound), sentence, tone) in cases {
        assert_eq!(judged(waiting, placed, moved, bound), (sentence, tone));
    }
}

#[test]
fn a_plan_says_what_limits_it() {
    let mut plan = Rebalanced::default();
    (plan.totals.waiting, plan.totals.placed, plan.totals.moved) = (3, 1, 2);
    (plan.bound.waiting, plan.at_most) = (Some(1), Some(5));
    plan.bound.by_priority = [(7, 1, 0), (5, 2, 1), (0, 3, 1)]
        .map(|(priority, waiting, must_wait)| PriorityBound {
            priority,
            waiting,
            must_wait,
        })
        .to_vec();
    let Verdict { sentence, more, .. } = plan.verdict();
    assert_eq!(sentence, "1 of 3 bindings that wait is placed by 2 of at most 5 moves");
    assert_eq!(
        more,
        "at least 1 of them waits in any plan; at least 1 of 2 with priority 5 or above"
    );
    let mut cheaper = Rebalanced::default();
    cheaper.totals.moved = 1;
    assert_eq!(cheaper.verdict().sentence, "nothing waits; 1 move makes it cheaper");
}

#[test]
fn what_could_be_placed_is_a_sentence_if_anything_could() {
    let sentence = |waiting, placed, moves| {
        let could_place = CouldPlace { waiting, placed, moves };
        could_place.sentence()
    };
    assert_eq!(sentence(2, 0, 0), None);
    let one = "the binding that waits for room could be placed by 1 move";
    assert_eq!(sentence(1, 1, 1).as_deref(), Some(one));
    let all = "all 4 bindings that wait for room could be placed if all were decided together";
    assert_eq!(sentence(4, 4, 0).as_deref(), Some(all));
    let some = "3 of 4 bindings that wait for room could be placed by 12 moves";
    assert_eq!(sentence(4, 3, 12).as_deref(), Some(some));
}

#[test]
fn decisions_are_judged_by_what_cannot_be_scheduled() {
    let judged = |outcomes: Outcomes| {
        let Verdict { sentence, tone, .. } = outcomes.verdict();
        (sentence, tone)
    };
    let scheduled = Outcomes {
        scheduled: 5,
        skipped: 1,
        ..Outcomes::default()
    };
    assert_eq!(
        judged(scheduled),
        ("6 bindings: 5 scheduled, 1 skipped".to_owned(), Tone::Good)
    );
    let lacking = Outcomes {
        missing: 66,
        beyond_capacity: 3,
        ..scheduled
    };
    assert_eq!(
        judged(lacking),
        (
            "6 bindings: 5 scheduled, 1 skipped; 66 replicas missing, 3 beyond capacity".to_owned(),
            Tone::Notable
        )
    );
    let errors = Outcomes { errors: 1, ..scheduled };
    assert_eq!(
        judged(errors),
        ("7 bindings: 5 scheduled, 1 in error, 1 skipped".to_owned(), Tone::Bad)
    );
}
