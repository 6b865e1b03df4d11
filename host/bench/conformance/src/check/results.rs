//! The rules of a result. A whole cycle decides each case, and the host finds violations.

use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::cycle::verify::Violation;
use divvy_scheduler::decision::Outcome;
use divvy_scheduler::plugin::CallError;
use divvy_scheduler::profile::Strategy;

use super::Check;
use crate::case::Case;
use crate::subject::{Shown, Subject};

/// The checks of results.
pub(super) fn checks() -> Vec<Check> {
    let assigns = |subject: &Subject| !subject.strategies().is_empty();
    vec![
        Check::per_case("panics", "no call panics", |_| true, panics),
        Check::per_case(
            "failures",
            "no call fails for a reason of the plugin's own, or that it does not serve",
            |_| true,
            failures,
        ),
        Check::per_case(
            "range-of-results",
            "no result is for a cluster that the call does not have",
            |_| true,
            range_of_results,
        ),
        Check::per_case(
            "rejections",
            "a filter leaves the rejections of others as they are",
            Subject::filters,
            |subject, case| {
                violation(subject, case, |found| {
                    matches!(found, Violation::ChangedRejection { .. })
                })
            },
        ),
        Check::per_case(
            "scores",
            "every score is from 0 to 100",
            Subject::scores,
            |subject, case| {
                violation(subject, case, |found| {
                    matches!(found, Violation::ScoreOutOfRange { .. })
                })
            },
        ),
        Check::per_case(
            "members",
            "a selector chooses from the clusters of its call, and no more than there are",
            Subject::selects,
            |subject, case| {
                violation(subject, case, |found| {
                    matches!(found, Violation::NoSuchIndex { .. } | Violation::TooManySelected { .. })
                })
            },
        ),
        Check::per_case(
            "distinct",
            "a selector chooses no cluster twice",
            Subject::selects,
            |subject, case| violation(subject, case, |found| matches!(found, Violation::SelectedTwice { .. })),
        ),
        Check::per_case(
            "counts",
            "every count is from 0 to 2147483647",
            assigns,
            |subject, case| {
                assigned(
                    subject,
                    case,
                    |_| true,
                    |found| matches!(found, Violation::Negative { .. } | Violation::TooLarge { .. }),
                )
            },
        ),
        Check::per_case(
            "sum",
            "the counts add up to the replicas",
            |subject| subject.any_strategy(|strategy| !strategy.duplicates()),
            |subject, case| {
                assigned(
                    subject,
                    case,
                    |strategy| !strategy.duplicates(),
                    |found| matches!(found, Violation::WrongSum { .. }),
                )
            },
        ),
        Check::per_case(
            "duplicates",
            "as promised, every candidate gets the full count",
            |subject| subject.any_strategy(|strategy| strategy.duplicates()),
            |subject, case| {
                assigned(
                    subject,
                    case,
                    |strategy| strategy.duplicates(),
                    |found| matches!(found, Violation::NotDuplicated { .. }),
                )
            },
        ),
        Check::per_case(
            "capacity",
            "as promised, no cluster gets more than its capacity",
            |subject| subject.any_strategy(|strategy| strategy.respects_capacity()),
            |subject, case| {
                assigned(
                    subject,
                    case,
                    |strategy| strategy.respects_capacity(),
                    |found| matches!(found, Violation::OverCapacity { .. }),
                )
            },
        ),
        Check::per_case(
            "stated-promises",
            "no result breaks a promise that is stated with it, such as a maximum number of clusters",
            assigns,
            |subject, case| assigned(subject, case, |_| true, |found| matches!(found, Violation::Stated(_))),
        ),
    ]
}

/// Decides a case: the error that is the fault of the plugin under test, or what the decision shows. Errors of other plugins show nothing.
fn decided(subject: &Subject, case: &Case) -> Result<Shown, CycleError> {
    // A case that cannot be read breaks nothing. Shrinking tries such cases.
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let (decision, shown) = subject.decide_shown(&situation);
    let paced = subject.pace(&situation, &decision, usize::MAX);
    let error = match (decision.outcome, paced) {
        (Outcome::Failed(error), _) | (_, Err(error)) => error,
        _ => return Ok(shown),
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
        _ => return Ok(shown),
    };
    match plugin == subject.plugin() {
        true => Err(error),
        false => Ok(shown),
    }
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
        Violation::Stated(violation) => violation.plugin(),
        Violation::Pace(violation) => violation.plugin(),
    }
}

/// An error if the plugin under test breaks a rule that is meant. Other faults are those of other checks.
pub(super) fn violation(
    subject: &Subject,
    case: &Case,
    is_meant: impl Fn(&Violation) -> bool,
) -> Result<Shown, String> {
    match decided(subject, case) {
        Ok(shown) => Ok(shown),
        Err(CycleError::Violation(violation)) if is_meant(&violation) => Err(violation.to_string()),
        Err(_) => Ok(Shown::Nothing),
    }
}

/// As [`violation`], for a rule about results of the plugin's strategies with a feature.
fn assigned(
    subject: &Subject,
    case: &Case,
    has: impl Fn(&Strategy<'_>) -> bool,
    is_meant: impl Fn(&Violation) -> bool,
) -> Result<Shown, String> {
    Ok(match violation(subject, case, is_meant)? {
        Shown::Decision(strategy) if subject.serves_strategy(&strategy, has) => Shown::Decision(strategy),
        _ => Shown::Nothing,
    })
}

fn panics(subject: &Subject, case: &Case) -> Result<Shown, String> {
    match decided(subject, case) {
        Ok(shown) => Ok(shown),
        Err(error @ CycleError::Plugin(CallError::Panic { .. })) => Err(error.to_string()),
        Err(_) => Ok(Shown::Nothing),
    }
}

fn failures(subject: &Subject, case: &Case) -> Result<Shown, String> {
    match decided(subject, case) {
        Ok(shown) => Ok(shown),
        Err(error @ CycleError::Plugin(CallError::Internal { .. } | CallError::NotServed { .. })) => {
            Err(error.to_string())
        }
        Err(_) => Ok(Shown::Nothing),
    }
}

/// The SDK ignores results out of range and counts them.
fn range_of_results(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let counted = || {
        let metrics = subject.with_instance(|instance| instance.metrics());
        metrics.and_then(|metrics| metrics.counters.get("results_out_of_range").copied())
    };
    let before = counted().unwrap_or(0);
    let shown = subject.decide(case).map_or(Shown::Nothing, |(_, shown)| shown);
    match counted().unwrap_or(0).saturating_sub(before) {
        0 => Ok(shown),
        count => Err(format!(
            "plugin `{}` wrote {count} results for clusters that the call does not have",
            subject.plugin()
        )),
    }
}
