//! Reasons across the boundary, and their lines.

use divvy_framework_abi::PluginText;
use divvy_framework_abi::reason::{self as abi, remainder};

use super::{Bound, Cause, Decider, Reason};

fn crossed(reason: &Reason) -> Reason {
    let mut read = None;
    reason.hand_over(7, |handed| {
        assert_eq!(handed.row, 7);
        read = Some(Reason::read(handed));
    });
    read.expect("it was handed over")
}

#[test]
fn a_reason_crosses_the_boundary_as_it_is() {
    for &cause in Cause::ALL {
        for &bound in Bound::ALL {
            for &decider in Decider::ALL {
                let reason = Reason::of(cause).bound(bound).remainder(cause.code() % 2 == 0, decider);
                let reason = reason.figure("last", -3).figure("prix", i64::MAX).text("as they say");
                assert_eq!(crossed(&reason), reason);
                assert!(!reason.to_string().is_empty());
            }
        }
    }
}

#[test]
fn a_reason_begins_with_words_or_with_a_rule() {
    assert_eq!(Reason::new("is green"), Reason::from("is green"));
    assert_eq!(Reason::new(format!("is {}", "green")), Reason::from("is green"));
    assert_eq!(Reason::new(Cause::Filled), Reason::of(Cause::Filled));
}

#[test]
fn what_a_reader_does_not_know_is_left_out() {
    let reason = Reason::from("words")
        .figure("a-b", 1)
        .figure("", 2)
        .figure("Big", 3)
        .figure("ok2", 4);
    assert_eq!(reason.invalid_figure(), Some("a-b"));
    assert_eq!(crossed(&reason).figures().collect::<Vec<_>>(), [("ok2", 4)]);
    let newer = abi::Reason {
        cause: 4_000,
        bound: 4_000,
        remainder: remainder::SERVED,
        decided_by: 4_000,
        text: PluginText::new("something new"),
        ..abi::Reason::DEFAULT
    };
    assert_eq!(Reason::read(&newer), Reason::from("something new"));
}

#[test]
fn every_rule_has_a_line_with_and_without_figures() {
    let proportion = |reason: Reason| reason.figure("sum", 5).figure("replicas", 7).figure("share", 3);
    let weighed = proportion(Reason::of(Cause::Proportion).figure("weight", 2));
    let grown = proportion(Reason::of(Cause::Proportion).figure("keeps", 1).figure("fitsNow", 2));
    for (reason, line) in [
        (
            Reason::of(Cause::FullCount).figure("replicas", 4),
            "every candidate gets the full count of 4",
        ),
        (weighed.clone(), "weight 2 of 5: 2.8 → 3"),
        (
            weighed.clone().remainder(true, Decider::Weight),
            "weight 2 of 5: 2.8 → 2, +1 of the remainder (weight)",
        ),
        (
            weighed.remainder(false, Decider::Tie),
            "weight 2 of 5: 2.8 → 2, none of the remainder (tie)",
        ),
        (grown, "keeps 1; fits 2 of 5: 2.8 → 3"),
        (
            Reason::of(Cause::Even).figure("capacity", 3).bound(Bound::Capacity),
            "capacity 3, full",
        ),
        (
            Reason::of(Cause::Proportion).bound(Bound::Tier),
            "in proportion within its tier",
        ),
        (Reason::of(Cause::Filled).bound(Bound::Capacity), "filled"),
        (
            Reason::of(Cause::BeyondMaximum).figure("maximum", 2),
            "others come first, at most 2 may be chosen",
        ),
        (
            Reason::of(Cause::GroupNotChosen).text("region eu"),
            "region eu is not chosen",
        ),
        (
            Reason::of(Cause::Even).figure("price", 3),
            "as even as possible (price 3)",
        ),
        (Reason::of(Cause::Other).figure("price", 3), "other (price 3)"),
    ] {
        assert_eq!(reason.to_string(), line);
    }
    // No figure of a plugin can break the arithmetic.
    let zero = Reason::of(Cause::Proportion)
        .figure("weight", i64::MAX)
        .figure("sum", 0);
    let zero = zero.figure("replicas", i64::MAX).figure("share", i64::MIN);
    assert!(zero.to_string().starts_with("in proportion (weight"));
    let extreme = Reason::of(Cause::Count)
        .figure("last", i64::MIN)
        .figure("change", -1)
        .figure("count", 0);
    assert!(
        extreme
            .figure("members", 0)
            .text("x")
            .to_string()
            .starts_with("x gives 0")
    );
}
