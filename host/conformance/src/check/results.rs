//! The rules of a result. A whole cycle decides each case, and the host finds violations.

use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::cycle::verify::Violation;
use divvy_scheduler::decision::Outcome;
use divvy_scheduler::plugin::CallError;

use super::{Check, Method};
use crate::case::Case;
use crate::subject::Subject;

/// The checks of results.
pub(super) fn checks() -> Vec<Check> {
    let assigns = |subject: &Subject| !subject.strategies().is_empty();
    vec![
        per_case("panics", "no call panics", |_| true, panics),
        per_case(
            "failures",
            "no call fails for a reason of the plugin's own, or that it does not serve",
            |_| true,
            failures,
        ),
        per_case(
            "range-of-results",
            "no result is for a cluster that the call does not have",
            |_| true,
            range_of_results,
        ),
        per_case(
            "rejections",
            "a filter leaves the rejections of others as they are",
            Subject::filters,
            |subject, case| {
                violation(subject, case, |found| {
                    matches!(found, Violation::ChangedRejection { .. })
                })
            },
        ),
        per_case(
            "scores",
            "every score is from 0 to 100",
            Subject::scores,
            |subject, case| {
                violation(subject, case, |found| {
                    matches!(found, Violation::ScoreOutOfRange { .. })
                })
            },
        ),
        per_case(
            "members",
            "a selector chooses from the clusters of its call, and no more than there are",
            Subject::selects,
            |subject, case| {
                violation(subject, case, |found| {
                    matches!(found, Violation::NoSuchIndex { .. } | Violation::TooManySelected { .. })
                })
            },
        ),
        per_case(
            "distinct",
            "a selector chooses no cluster twice",
            Subject::selects,
            |subject, case| violation(subject, case, |found| matches!(found, Violation::SelectedTwice { .. })),
        ),
        per_case(
            "counts",
            "every count is from 0 to 2147483647",
            assigns,
            |subject, case| {
                violation(subject, case, |found| {
                    matches!(found, Violation::Negative { .. } | Violation::TooLarge { .. })
                })
            },
        ),
        per_case(
            "sum",
            "the counts add up to the replicas",
            |subject| subject.any_strategy(|strategy| !strategy.duplicates()),
            |subject, case| violation(subject, case, |found| matches!(found, Violation::WrongSum { .. })),
        ),
        per_case(
            "duplicates",
            "as promised, every candidate gets the full count",
            |subject| subject.any_strategy(|strategy| strategy.duplicates()),
            |subject, case| violation(subject, case, |found| matches!(found, Violation::NotDuplicated { .. })),
        ),
        per_case(
            "capacity",
            "as promised, no cluster gets more than its capacity",
            |subject| subject.any_strategy(|strategy| strategy.respects_capacity()),
            |subject, case| violation(subject, case, |found| matches!(found, Violation::OverCapacity { .. })),
        ),
    ]
}

fn per_case(
    name: &'static str,
    contract: &'static str,
    applies: fn(&Subject) -> bool,
    holds: fn(&Subject, &Case) -> Result<(), String>,
) -> Check {
    Check {
        name,
        contract,
        applies,
        method: Method::PerCase(holds),
    }
}

/// The error of a case that is the fault of the plugin under test; `None` if there is none, or another plugin's.
pub(super) fn fault(subject: &Subject, case: &Case) -> Option<CycleError> {
    // A case that cannot be read breaks nothing. Shrinking tries such cases.
    let decision = subject.decide(case).ok()?;
    let Outcome::Failed(error) = decision.outcome else {
        return None;
    };
    let plugin = match &error {
        CycleError::Violation(violation) => plugin_of(violation),
        CycleError::Plugin(
            CallError::Internal { plugin, .. }
            | CallError::Panic { plugin, .. }
            | CallError::NotServed { plugin, .. }
            | CallError::Suspended { plugin, .. }
            | CallError::Quarantined { plugin, .. },
        ) => plugin,
        _ => return None,
    };
    (plugin == subject.plugin()).then_some(error)
}

fn plugin_of(violation: &Violation) -> &str {
    match violation {
        Violation::ScoreOutOfRange { plugin, .. }
        | Violation::NoSuchIndex { plugin, .. }
        | Violation::SelectedTwice { plugin, .. }
        | Violation::TooManySelected { plugin, .. }
        | Violation::Negative { plugin, .. }
        | Violation::TooLarge { plugin, .. }
        | Violation::WrongSum { plugin, .. }
        | Violation::NotDuplicated { plugin, .. }
        | Violation::ChangedRejection { plugin, .. }
        | Violation::OverCapacity { plugin, .. } => plugin,
    }
}

fn violation(subject: &Subject, case: &Case, is_meant: impl Fn(&Violation) -> bool) -> Result<(), String> {
    match fault(subject, case) {
        Some(CycleError::Violation(violation)) if is_meant(&violation) => Err(violation.to_string()),
        _ => Ok(()),
    }
}

fn panics(subject: &Subject, case: &Case) -> Result<(), String> {
    match fault(subject, case) {
        Some(error @ CycleError::Plugin(CallError::Panic { .. })) => Err(error.to_string()),
        _ => Ok(()),
    }
}

fn failures(subject: &Subject, case: &Case) -> Result<(), String> {
    match fault(subject, case) {
        Some(error @ CycleError::Plugin(CallError::Internal { .. } | CallError::NotServed { .. })) => {
            Err(error.to_string())
        }
        _ => Ok(()),
    }
}

/// The SDK ignores results out of range and counts them.
fn range_of_results(subject: &Subject, case: &Case) -> Result<(), String> {
    let counted = || {
        let metrics = subject.with_instance(|instance| instance.metrics());
        metrics.and_then(|metrics| metrics.counters.get("results_out_of_range").copied())
    };
    let before = counted().unwrap_or(0);
    let _decided = subject.decide(case);
    match counted().unwrap_or(0).saturating_sub(before) {
        0 => Ok(()),
        count => Err(format!(
            "plugin `{}` wrote {count} results for clusters that the call does not have",
            subject.plugin()
        )),
    }
}
