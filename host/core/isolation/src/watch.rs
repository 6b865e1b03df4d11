//! What a worker uses beyond its calls: memory, threads and processors. The kernel bounds none of them for a process that means to evade it,
//! so a thread of the host looks at all workers, whether they are asked for something or not, and ends one that has too much. It looks as
//! long as there are workers.

use std::sync::{Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::error::{IsolationError, Operation};
use crate::usage::{MOST_THREADS, processor_time};

/// Time between two looks at all workers. A look takes some 50 µs per worker.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// Looks at which a worker must have used too much of the processors: garbage that is collected after a call takes less.
const LOOKS: u32 = 10;
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
    /// Processor time beyond that of its calls.
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
                time: BETWEEN_LOOKS * LOOKS,
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

/// The operations of a worker: how many are in progress, and the processor time that all of them together may have used.
#[derive(Debug)]
pub(crate) struct Activity {
    since: Instant,
    operations: Mutex<Operations>,
}

#[derive(Debug, Default)]
struct Operations {
    in_progress: u32,
    /// Processors that those in progress may use.
    processors: i128,
    /// Nanoseconds at which operations have ended, less those at which they have begun, for each processor that they may use.
    balance: i128,
}

/// An operation in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct Active<'a> {
    activity: &'a Activity,
    processors: i128,
}

impl Default for Activity {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            operations: Mutex::default(),
        }
    }
}

impl Activity {
    /// Begins an operation that may use this many processors as long as it lasts.
    pub(crate) fn begin(&self, processors: usize) -> Active<'_> {
        let processors = i128::try_from(processors).unwrap_or(i128::from(u32::MAX));
        self.change(|operations, now| {
            operations.in_progress += 1;
            operations.processors += processors;
            operations.balance -= processors * now;
        });
        Active {
            activity: self,
            processors,
        }
    }

    /// True if no operation is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.change(|operations, _| operations.in_progress == 0)
    }

    /// Processor time that operations may have used so far; what was done at the same time counts several times.
    fn taken(&self) -> Duration {
        let nanoseconds = self.change(|operations, now| operations.balance + operations.processors * now);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Operations, i128) -> T) -> T {
        let mut operations = self.operations.lock().unwrap_or_else(PoisonError::into_inner);
        let now = i128::try_from(self.since.elapsed().as_nanos()).unwrap_or(i128::MAX);
        change(&mut operations, now)
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.activity.change(|operations, now| {
            operations.in_progress -= 1;
            operations.processors -= self.processors;
            operations.balance += self.processors * now;
        });
    }
}

/// What a look at the processor time of a worker has found.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    last: Option<Look>,
    /// Looks at which it had used too much since the one before, less those at which it had not.
    looks: u32,
}

#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    used: Duration,
    in_calls: Duration,
}

impl Seen {
    /// Looks at the processor time of a process. [`Excess::Processors`] if it has used, again and again, half a processor more than it
    /// had calls to answer.
    pub(crate) fn look(&mut self, process: i32, activity: &Activity) -> Option<Excess> {
        let now = Look {
            at: Instant::now(),
            used: processor_time(process)?,
            in_calls: activity.taken(),
        };
        let last = self.last.replace(now)?;
        self.count(last, now)
    }

    fn count(&mut self, last: Look, now: Look) -> Option<Excess> {
        let between = now.at.saturating_duration_since(last.at);
        let in_calls = now.in_calls.saturating_sub(last.in_calls);
        let beyond = now.used.saturating_sub(last.used).saturating_sub(in_calls);
        self.looks = match beyond > between / 2 {
            true => self.looks + 1,
            false => self.looks.saturating_sub(1),
        };
        (self.looks >= LOOKS).then_some(Excess::Processors)
    }
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

    /// Looks until a worker is ended that uses the processors for this many milliseconds per look, with this long in calls; `None` if it
    /// never is.
    fn looks(used: u64, in_calls: u64) -> Option<u32> {
        let (mut seen, begun) = (Seen::default(), Instant::now());
        let look = |number: u32| Look {
            at: begun + BETWEEN_LOOKS * number,
            used: Duration::from_millis(used * u64::from(number)),
            in_calls: Duration::from_millis(in_calls * u64::from(number)),
        };
        (1..100).find(|number| seen.count(look(number - 1), look(*number)).is_some())
    }

    #[test]
    fn who_uses_processors_between_calls_is_ended() {
        assert_eq!(looks(0, 0), None);
        // It answers all the time, and on several threads.
        assert_eq!(looks(100, 100), None);
        assert_eq!(looks(400, 400), None);
        // It tidies up after its calls.
        assert_eq!(looks(60, 20), None);
        // It spins on one thread, on two, and on two beside its calls.
        assert_eq!(looks(100, 0), Some(LOOKS));
        assert_eq!(looks(200, 10), Some(LOOKS));
        assert_eq!(looks(190, 100), Some(LOOKS));
    }

    #[test]
    fn operations_take_their_time_once() {
        let activity = Activity::default();
        assert!(activity.is_idle());
        assert_eq!(activity.taken(), Duration::ZERO);
        let (begun, first, second) = (Instant::now(), activity.begin(1), activity.begin(1));
        assert!(!activity.is_idle());
        std::thread::sleep(Duration::from_millis(20));
        let in_progress = activity.taken();
        assert!(in_progress >= Duration::from_millis(40));
        drop((first, second));
        let taken = activity.taken();
        assert!(taken >= in_progress && taken <= 2 * begun.elapsed());
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(activity.taken(), taken);
        // It may use four processors.
        let wide = activity.begin(4);
        std::thread::sleep(Duration::from_millis(5));
        assert!(activity.taken() >= taken + Duration::from_millis(20));
        drop(wide);
        assert!(activity.is_idle());
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
