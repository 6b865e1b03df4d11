//! The rules of a pace, on moves to the results of the cases.
//!
//! A pace that moves back and forth, or that goes on for ever, breaks the first of them: each step of a move is nearer to its target.

use divvy_scheduler::cycle::verify::Violation;
use divvy_scheduler::cycle::{PaceViolation, Step, Wait};

use super::Check;
use super::results::violation;
use crate::case::Case;
use crate::moves::{Asked, moves_to};
use crate::subject::{Shown, Subject};

/// The checks of paces.
pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::per_case(
            "path",
            "a pace keeps each cluster between its result and its target, and within its room",
            Subject::paces,
            |subject, case| {
                breaks(subject, case, |found| {
                    matches!(
                        found,
                        PaceViolation::AwayFromTarget { .. } | PaceViolation::AboveRoom { .. }
                    )
                })
            },
        ),
        Check::per_case(
            "allowances",
            "a pace keeps ready replicas, surge and number of clusters within the allowances",
            Subject::paces,
            |subject, case| {
                breaks(subject, case, |found| {
                    matches!(
                        found,
                        PaceViolation::BelowAllowance { .. }
                            | PaceViolation::AboveSurge { .. }
                            | PaceViolation::TooManyClusters { .. }
                    )
                })
            },
        ),
        Check::per_case(
            "progress",
            "a pace takes a step or names a reason, and not both",
            Subject::paces,
            |subject, case| {
                breaks(subject, case, |found| {
                    matches!(
                        found,
                        PaceViolation::NoProgress { .. } | PaceViolation::StepWhileWaiting { .. }
                    )
                })
            },
        ),
        Check::per_case(
            "waits",
            "a pace waits for no readiness, room, cluster or allowance that is there",
            Subject::paces,
            waits,
        ),
        Check::per_case(
            "same-steps",
            "a pace says the same step again, also when it explains and from another instance",
            Subject::paces,
            same_steps,
        ),
    ]
}

fn breaks(subject: &Subject, case: &Case, is_meant: fn(&PaceViolation) -> bool) -> Result<Shown, String> {
    violation(subject, case, |found| match found {
        Violation::Pace(found) => is_meant(found),
        _ => false,
    })
}

fn waits(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let (decision, shown) = subject.decide_shown(&situation);
    let profile = subject.profile();
    let Some(asked) = Asked::new(&profile, &situation, &decision) else {
        return Ok(Shown::Nothing);
    };
    for free in moves_to(&situation, &decision)
        .into_iter()
        .filter(|moving| moving.is_free)
    {
        // Errors are those of other checks. A pace may wait for a reason of its own, such as the time of day.
        if let Ok(Some(wait)) = free.walk(&asked)
            && !matches!(wait, Wait::Other | Wait::Removal)
        {
            return Err(format!(
                "it waits for {wait}, in a move in which everything is ready and has room, and whose allowances are its total"
            ));
        }
    }
    Ok(shown)
}

fn same_steps(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let (decision, shown) = subject.decide_shown(&situation);
    let (profile, twin) = (subject.profile(), subject.twin()?);
    let asked = Asked::new(&profile, &situation, &decision).zip(Asked::new(&twin, &situation, &decision));
    let Some((asked, other)) = asked else {
        return Ok(Shown::Nothing);
    };
    for moving in moves_to(&situation, &decision) {
        let Ok(first) = moving.step(&asked, false) else {
            continue;
        };
        for (what, second) in [
            ("the same move gets another step", moving.step(&asked, false)),
            ("an explanation changes the step", moving.step(&asked, true)),
            ("another instance says another step", moving.step(&other, false)),
        ] {
            if second.as_ref() != Ok(&first) {
                let second = second.map_or_else(|error| error.to_string(), |step| told(&step));
                return Err(format!("{what}: `{}`, then `{second}`", told(&first)));
            }
        }
    }
    Ok(shown)
}

fn told(step: &Step) -> String {
    match step {
        Step::Next(next) => {
            let counts: Vec<String> = next.iter().take(12).map(ToString::to_string).collect();
            counts.join(" ")
        }
        Step::Waits(wait) => format!("waits for {wait}"),
    }
}
