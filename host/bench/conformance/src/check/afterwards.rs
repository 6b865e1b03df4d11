//! The processor and the threads of the process after an answer: a plugin has nothing to do while it is not called.
//!
//! A runtime may keep threads, as Go's does, if they sleep and do not become more with each call.

use std::time::Duration;

use divvy_witness::{processor_time, thread_count};

use super::observed::{Observed, Observer};
use super::tally::Tally;
use super::{Broken, Check, Method};
use crate::case::Case;
use crate::subject::Subject;

/// The check of what a plugin does while it is not called.
pub(super) fn check() -> Check {
    Check {
        name: "afterwards",
        contract: "after an answer, nothing runs and no thread is left: processors are those of the calls alone",
        takes_the_process: true,
        applies: |_| true,
        method: Method::Together(afterwards),
    }
}

/// Cases that are decided in each round.
const CASES: usize = 30;
/// Clusters of the largest of them.
const CLUSTERS: usize = 60;
/// Rounds, in each of which the threads must become more.
const ROUNDS: usize = 3;
/// Time for what was begun in a call to end, such as the collection of garbage.
const SETTLING: Duration = Duration::from_millis(200);
/// Time in which nothing may run.
const QUIET: Duration = Duration::from_millis(400);
/// Processor time that may be used meanwhile, by timers of a runtime: one part in this many.
const PART: u32 = 20;

/// Calls are only counted.
struct Counted;

impl Observer for Counted {}

fn afterwards(subject: &Subject, cases: &[Case], tally: &mut Tally) -> Result<(), Broken> {
    let observed = Observed::new(subject, Counted)?;
    let situations = subject.usual(cases, CLUSTERS, CASES);
    let mut threads = Vec::new();
    for round in 0..ROUNDS {
        for (_, situation) in &situations {
            let (_, shown) = observed.decide(situation);
            if round == 0 {
                tally.add(shown);
            }
        }
        std::thread::sleep(SETTLING);
        threads.push(thread_count());
    }
    // The least of several: what a call began may still be ending in the first.
    let mut least = Duration::MAX;
    for _ in 0..ROUNDS {
        let before = processor_time();
        std::thread::sleep(QUIET);
        least = least.min(processor_time().saturating_sub(before));
        if least <= QUIET / PART {
            break;
        }
    }
    if least > QUIET / PART {
        return Err(Broken::from(format!(
            "after {} calls have answered, the process still uses its processors: {} ms in {} ms in which the plugin is not called",
            observed.calls(),
            least.as_millis(),
            QUIET.as_millis()
        )));
    }
    match threads.is_sorted_by(|before, after| before < after) {
        false => Ok(()),
        true => Err(Broken::from(format!(
            "calls leave threads behind: {} of them after the first {} cases, {} after the same cases were decided {ROUNDS} times",
            threads.first().unwrap_or(&0),
            situations.len(),
            threads.last().unwrap_or(&0),
        ))),
    }
}
