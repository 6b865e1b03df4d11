//! What a worker uses between its calls: memory, threads and processors. The kernel bounds none of them for a process that means to evade it,
//! so a thread of the host looks at all workers, whether they are asked for something or not, and ends one that has too much. It looks as
//! long as there are workers.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::thread::sched_getaffinity;

use crate::error::{IsolationError, Operation};
use crate::usage::{MOST_THREADS, processor_time};

/// Time between two looks at all workers. A look takes some 50 µs per worker.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// Processor time that a worker may use between calls, beyond half a processor: collecting garbage after a call takes less.
const ADVANCE: Duration = Duration::from_secs(2);
/// Memory that a worker may use beyond its plugins', for itself.
const OWN_MEMORY: u64 = 64 << 20;
/// Memory shared with the host that a worker may have written to between calls, beyond what calls commonly use.
const SHARED_MEMORY: u64 = 16 << 20;

/// What a worker has too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excess {
    /// Private memory and tables of pages, in bytes, or memory that is shared with the host.
    Memory { bytes: u64, limit: u64 },
    /// Threads.
    Threads { threads: u64 },
    /// Processor time between calls.
    Processors,
}

impl Excess {
    /// The error of an operation that a worker with this was to do.
    pub(crate) fn error(self, operation: Operation) -> IsolationError {
        match self {
            Self::Memory { bytes, limit } => IsolationError::Memory {
                bytes,
                limit,
                operation,
            },
            Self::Threads { threads } => IsolationError::Threads {
                threads,
                limit: MOST_THREADS as u64,
                operation,
            },
            Self::Processors => IsolationError::Processors {
                time: ADVANCE,
                operation,
            },
        }
    }
}

/// Private memory and threads that are too much for a worker whose plugins may have `memory` bytes.
pub(crate) fn excess(footprint: crate::sandbox::Footprint, memory: u64) -> Option<Excess> {
    let bytes = footprint.memory;
    if bytes > memory.saturating_add(OWN_MEMORY) {
        return Some(Excess::Memory { bytes, limit: memory });
    }
    let threads = footprint.threads;
    (threads > MOST_THREADS as u64).then_some(Excess::Threads { threads })
}

/// Memory that is shared with the host and too much between calls: `bytes` are allocated, of which calls commonly use `common`.
pub(crate) fn shared_excess(bytes: u64, common: u64) -> Option<Excess> {
    let limit = common.saturating_add(SHARED_MEMORY);
    (bytes > limit).then_some(Excess::Memory { bytes, limit })
}

/// The operations of a worker: how many are in progress, and the time for which there was one.
#[derive(Debug, Default)]
pub(crate) struct Activity(Mutex<Operations>);

#[derive(Debug, Default)]
struct Operations {
    in_progress: u32,
    /// The time since which there is one.
    since: Option<Instant>,
    /// How long there was one before.
    before: Duration,
}

/// An operation in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct Active<'a>(&'a Activity);

impl Activity {
    /// Begins an operation.
    pub(crate) fn begin(&self) -> Active<'_> {
        let mut operations = self.operations();
        operations.in_progress += 1;
        operations.since.get_or_insert_with(Instant::now);
        Active(self)
    }

    /// True if no operation is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.operations().in_progress == 0
    }

    /// Time for which an operation was in progress so far. Several at the same time count once.
    fn taken(&self) -> Duration {
        let operations = self.operations();
        let since = operations.since.map_or(Duration::ZERO, |since| since.elapsed());
        operations.before + since
    }

    fn operations(&self) -> MutexGuard<'_, Operations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        let mut operations = self.0.operations();
        operations.in_progress -= 1;
        if operations.in_progress == 0 {
            let since = operations.since.take();
            operations.before += since.map_or(Duration::ZERO, |since| since.elapsed());
        }
    }
}

/// Processor time of a worker between its calls, as looks at it have found it.
///
/// While an operation is in progress, a plugin may use all processors: the deadline bounds how long. Between operations, it may use half a
/// processor, and [`ADVANCE`] more.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    last: Option<Look>,
    /// What it has used of the advance.
    beyond: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    used: Duration,
    in_calls: Duration,
}

impl Seen {
    /// Looks at the processor time of a process. [`Excess::Processors`] if it has used too much between its calls.
    pub(crate) fn look(&mut self, process: i32, activity: &Activity) -> Option<Excess> {
        let now = Look {
            at: Instant::now(),
            used: processor_time(process)?,
            in_calls: activity.taken(),
        };
        let last = self.last.replace(now)?;
        self.count(last, now, processors)
    }

    fn count(&mut self, last: Look, now: Look, processors: impl FnOnce() -> u32) -> Option<Excess> {
        let between = now.at.saturating_duration_since(last.at);
        let in_calls = now.in_calls.saturating_sub(last.in_calls);
        let mut beyond = now.used.saturating_sub(last.used).saturating_sub(in_calls);
        // Only a worker with several threads needs the number of processors, which takes longer to find than all else.
        if !beyond.is_zero() && !in_calls.is_zero() {
            let others = processors().saturating_sub(1);
            beyond = beyond.saturating_sub(in_calls.saturating_mul(others));
        }
        self.beyond = self.beyond.saturating_add(beyond).saturating_sub(between / 2);
        (self.beyond > ADVANCE).then_some(Excess::Processors)
    }
}

/// The most processors that a worker can use at the same time: those of this process. A quota is counted in whole processors, rounded down,
/// so that one more may be in use where there is one.
fn processors() -> u32 {
    let counted = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let counted = u32::try_from(counted).unwrap_or(u32::MAX);
    let all = sched_getaffinity(None).map_or(u32::MAX, |all| all.count());
    counted.saturating_add(1).min(all.max(counted))
}

/// A worker that is looked at.
pub(crate) trait Watched: Send + Sync {
    /// Ends the worker if it has too much.
    fn look(&self);
}

/// The workers that run.
static WORKERS: Mutex<Workers> = Mutex::new(Workers {
    running: Vec::new(),
    is_watched: false,
});

struct Workers {
    running: Vec<Weak<dyn Watched>>,
    /// True if a thread looks at them.
    is_watched: bool,
}

/// Has a worker looked at until it is dropped.
///
/// # Errors
///
/// The system's, if there is no thread to look at it.
pub(crate) fn begin(worker: Weak<dyn Watched>) -> std::io::Result<()> {
    let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
    workers.running.push(worker);
    if !workers.is_watched {
        let thread = std::thread::Builder::new().name("plugin-watch".to_owned());
        thread.spawn(watch)?;
        workers.is_watched = true;
    }
    Ok(())
}

fn watch() {
    loop {
        std::thread::sleep(BETWEEN_LOOKS);
        look_at_all();
        let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
        workers.running.retain(|worker| worker.strong_count() > 0);
        if workers.running.is_empty() {
            workers.is_watched = false;
            return;
        }
    }
}

/// Looks at all workers now, so that one with too much ends before another needs what it has.
pub(crate) fn look_at_all() {
    // Not held while they are looked at, which may drop one.
    let running = {
        let workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
        workers.running.clone()
    };
    for worker in running.iter().filter_map(Weak::upgrade) {
        worker.look();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Footprint;

    /// Looks until a worker is ended on four processors, which uses these milliseconds of them in turn from look to look, with this long
    /// in calls; `None` if it never is.
    fn looks(used: &[u64], in_calls: u64) -> Option<u32> {
        let (mut seen, begun) = (Seen::default(), Instant::now());
        let mut last = Look {
            at: begun,
            used: Duration::ZERO,
            in_calls: Duration::ZERO,
        };
        (1..1_000).zip(used.iter().cycle()).find_map(|(number, used)| {
            let now = Look {
                at: begun + BETWEEN_LOOKS * number,
                used: last.used + Duration::from_millis(*used),
                in_calls: last.in_calls + Duration::from_millis(in_calls),
            };
            let found = seen.count(last, now, || 4);
            last = now;
            found.map(|_| number)
        })
    }

    #[test]
    fn a_worker_that_uses_processors_between_calls_is_ended() {
        assert_eq!(looks(&[0], 0), None);
        // It answers all the time, on one thread and on all processors; and for a part of it.
        assert_eq!(looks(&[100], 100), None);
        assert_eq!(looks(&[400], 100), None);
        assert_eq!(looks(&[100], 25), None);
        // It tidies up after its calls.
        assert_eq!(looks(&[60], 20), None);
        assert_eq!(looks(&[&[400; 3][..], &[0; 21]].concat(), 0), None);
        // It spins on one thread, on all processors, and on those that its calls leave.
        assert_eq!(looks(&[100], 0), Some(41));
        assert_eq!(looks(&[400], 0), Some(6));
        assert_eq!(looks(&[400], 50), Some(14));
        // It rests at every other look.
        assert_eq!(looks(&[200, 0], 0), Some(39));
    }

    #[test]
    fn the_time_with_an_operation_in_progress_counts_once() {
        let activity = Activity::default();
        assert!(activity.is_idle());
        assert_eq!(activity.taken(), Duration::ZERO);
        let (begun, first, second) = (Instant::now(), activity.begin(), activity.begin());
        assert!(!activity.is_idle());
        std::thread::sleep(Duration::from_millis(20));
        drop(first);
        let in_progress = activity.taken();
        assert!(in_progress >= Duration::from_millis(20) && !activity.is_idle());
        drop(second);
        let taken = activity.taken();
        assert!(taken >= in_progress && taken <= begun.elapsed());
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(activity.taken(), taken);
        // Another one later.
        drop(activity.begin());
        assert!(activity.is_idle() && activity.taken() >= taken);
    }

    #[test]
    fn a_worker_has_the_processors_of_this_process() {
        let counted = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        assert!((counted..=counted + 1).contains(&(processors() as usize)));
    }

    #[test]
    fn memory_and_threads_beyond_the_limits_are_too_much() {
        let footprint = |memory, threads| Footprint { memory, threads };
        let limit = 1 << 30;
        assert_eq!(excess(footprint(limit + OWN_MEMORY, 512), limit), None);
        assert_eq!(
            excess(footprint(limit + OWN_MEMORY + 1, 512), limit),
            Some(Excess::Memory {
                bytes: limit + OWN_MEMORY + 1,
                limit
            })
        );
        assert_eq!(excess(footprint(0, 513), limit), Some(Excess::Threads { threads: 513 }));
        assert_eq!(shared_excess(SHARED_MEMORY + 7, 7), None);
        assert!(shared_excess(SHARED_MEMORY + 8, 7).is_some());
    }
}
