//! Memory over many calls: deciding the same cases again needs no more of it.

use divvy_witness::{MemoryInUse, memory_in_use};

use super::observed::{Observed, Observer};
use super::tally::Tally;
use super::{Broken, Check, Method};
use crate::case::Case;
use crate::subject::Subject;

/// The check of memory.
pub(super) fn check() -> Check {
    Check {
        name: "memory",
        contract: "the same cases, decided again and again, need no more memory",
        takes_the_process: true,
        applies: |_| true,
        method: Method::Together(memory),
    }
}

/// Cases that are decided again and again.
const CASES: usize = 100;
/// Clusters of the largest of them.
const CLUSTERS: usize = 60;
/// Rounds before the first window, which fill what the plugin keeps on purpose.
const WARM_UP: usize = 3;
/// Windows, each of which must show the growth.
const WINDOWS: usize = 3;
/// Rounds of a window.
const ROUNDS: usize = 8;

/// Bytes per call by which the C library's allocator may grow. It counts to the byte, and its smallest block has 32.
const ALLOCATED: u64 = 16;
/// Bytes by which it may grow in a window. The profile's other plugins use it as well, and grow by some hundred bytes now and then.
const ALLOCATED_OF_OTHERS: u64 = 4_096;
/// Bytes per call by which the process may grow. The system counts in pages, and the host is in the process as well.
const RESIDENT: u64 = 1_024;

/// Calls are only counted.
struct Counted;

impl Observer for Counted {}

/// Growth in a window.
struct Window {
    calls: u64,
    allocated: u64,
    resident: u64,
}

fn memory(subject: &Subject, cases: &[Case], tally: &mut Tally) -> Result<(), Broken> {
    let observed = Observed::new(subject, Counted)?;
    let situations = subject.usual(cases, CLUSTERS, CASES);
    let decide_all = || {
        for (_, situation) in &situations {
            let _decision = observed.decide(situation);
        }
    };
    for (_, situation) in &situations {
        tally.add(observed.decide(situation).1);
    }
    (0..WARM_UP).for_each(|_| decide_all());
    let mut windows = Vec::new();
    for _ in 0..WINDOWS {
        let (calls, before) = (observed.calls(), memory_in_use());
        (0..ROUNDS).for_each(|_| decide_all());
        let calls = observed.calls() - calls;
        windows.push(Window::new(calls, before, memory_in_use()));
    }
    let calls = windows.iter().map(|window| window.calls).min().unwrap_or(0);
    let least = |bytes: fn(&Window) -> u64| {
        // The least growth per call of all windows: what is filled once does not grow in each.
        let per_call = windows.iter().map(|window| bytes(window) / window.calls.max(1));
        per_call.min().unwrap_or(0)
    };
    let (allocated, resident) = (least(|window| window.allocated), least(|window| window.resident));
    let bytes = match (allocated >= ALLOCATED, resident >= RESIDENT) {
        (true, _) => allocated,
        (false, true) => resident,
        (false, false) => return Ok(()),
    };
    Err(Broken::from(format!(
        "memory grows by {bytes} bytes per call, in each of {WINDOWS} times {calls} calls that decide the same {} cases again",
        situations.len()
    )))
}

impl Window {
    fn new(calls: u64, before: MemoryInUse, after: MemoryInUse) -> Self {
        // The counter has 32 bits and wraps around. A smaller number is one that became less.
        let allocated = after.allocated.wrapping_sub(before.allocated).cast_signed();
        Self {
            calls,
            allocated: u64::try_from(allocated)
                .ok()
                .filter(|bytes| *bytes > ALLOCATED_OF_OTHERS)
                .unwrap_or(0),
            resident: after.resident.saturating_sub(before.resident),
        }
    }
}
