//! The clock: the same cases, decided again some seconds later.
//!
//! A plugin can read the clock without a system call, and runtimes such as Go's do so for their own purposes. So reading it is not a
//! finding, but a decision that changes with it is. One that changes at once is a finding of `determinism`. This check waits, because
//! nothing moves the clock that a process sees: what changes once per hour or per day stays unseen, and the contract that reports print
//! says so.

use std::time::Duration;

use super::tally::Tally;
use super::{Broken, Check, Method};
use crate::case::Case;
use crate::subject::{Subject, described, differ};

/// The check of the clock.
pub(super) fn check() -> Check {
    Check {
        name: "clock",
        contract: "the decision stays the same for 3 seconds; one that changes by the hour or the day is not found",
        takes_the_process: true,
        applies: |_| true,
        method: Method::Together(clock),
    }
}

/// Cases that are decided again.
const CASES: usize = 100;
/// Clusters of the largest of them.
const CLUSTERS: usize = 60;
/// Waits between decisions on a case. They differ, so that a period of seconds does not hide from them.
const WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

fn clock(subject: &Subject, cases: &[Case], tally: &mut Tally) -> Result<(), Broken> {
    let situations = subject.usual(cases, CLUSTERS, CASES);
    let mut first = Vec::with_capacity(situations.len());
    for (_, situation) in &situations {
        let (decision, shown) = subject.decide_shown(situation);
        tally.add(shown);
        let decided = described(&decision);
        let again = described(&subject.decide_situation(situation));
        first.push((!differ(&decided, &again)).then_some(decided));
    }
    let mut passed = Duration::ZERO;
    for wait in WAITS {
        std::thread::sleep(wait);
        passed += wait;
        for ((case, situation), before) in situations.iter().zip(&first) {
            let Some(before) = before else { continue };
            let later = described(&subject.decide_situation(situation));
            if differ(before, &later) {
                return Err(Broken {
                    message: format!(
                        "the decision depends on when it is made: `{before}`, {passed:?} later `{later}`. The time of a decision is an \
                         input: declare that the plugin needs it"
                    ),
                    case: Some((*case).clone()),
                });
            }
        }
    }
    Ok(())
}
