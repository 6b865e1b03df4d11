//! The time that a worker has for an operation, by the host's clock, whatever the worker does meanwhile.
//!
//! The host looks at a worker several times within its deadline. A look comes when its time has come, however often the worker wakes the
//! host before, and looks are counted rather than time: a machine that was paused has seen nothing hang. A worker whose threads were ready
//! to run while others had the processors is given more time.

use std::time::{Duration, Instant};

use crate::usage::Usage;

/// Looks at a worker within its deadline.
const LOOKS: u32 = 20;
/// Times that a worker gets more time that was ready to run and got no processor.
const PATIENCE: u32 = 10;
/// The most that it gets each time; otherwise another deadline.
const MORE: Duration = Duration::from_secs(1);
/// The most looks that a look counts for, if it is late: on a busy machine it often is, and longer after a pause.
const LATE: u32 = 3;
/// A time at which nothing is waited for any more, for a deadline that no clock can hold.
const FAR: Duration = Duration::from_secs(1 << 32);

/// The deadline of one operation, however often the worker is asked for it.
#[derive(Debug)]
pub(crate) struct Deadline {
    time: Duration,
    /// The time after whose looks it is decided whether there is more: the deadline, and then what was added last.
    part: Duration,
    /// All parts so far.
    whole: Duration,
    next_look: Instant,
    /// Looks in the present part.
    looks: u32,
    starved: u32,
    /// Usage at the first look.
    used: Option<Usage>,
}

impl Deadline {
    /// A deadline that begins now.
    pub(crate) fn new(time: Duration) -> Self {
        Self {
            time,
            part: time,
            whole: time,
            next_look: after(time / LOOKS),
            looks: 0,
            starved: 0,
            used: None,
        }
    }

    /// The whole time.
    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// Time between two looks.
    pub(crate) fn between_looks(&self) -> Duration {
        self.part / LOOKS
    }

    /// Time until the next look; `None` if it is due.
    pub(crate) fn until_look(&self) -> Option<Duration> {
        let left = self.next_look.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Counts a look at a worker that has not answered. True if its time is over.
    pub(crate) fn is_over(&mut self, usage: impl FnOnce() -> Usage) -> bool {
        // From now on, and not from the time at which it was due: it may have been due while the machine was paused.
        let late = Instant::now().saturating_duration_since(self.next_look);
        let missed = late.as_nanos() / self.between_looks().as_nanos().max(1);
        self.next_look = after(self.between_looks());
        self.looks += 1 + u32::try_from(missed).unwrap_or(LATE).min(LATE - 1);
        // At the first look, and not before the operation: most are answered before it.
        if self.used.is_none() {
            self.used = Some(usage());
            return false;
        }
        if self.looks < LOOKS {
            return false;
        }
        let before = self.used.as_ref();
        let has_starved = before.is_some_and(|before| usage().has_starved_since(before, self.time, self.whole));
        if self.starved >= PATIENCE || !has_starved {
            return true;
        }
        self.part = self.time.min(MORE);
        self.whole = self.whole.saturating_add(self.part);
        (self.looks, self.starved) = (0, self.starved + 1);
        self.next_look = after(self.between_looks());
        false
    }
}

/// The time after this duration.
fn after(duration: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(duration).unwrap_or(now + FAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Number of looks until the time of a process is over, of which a thread gets a processor for `used` milliseconds per look, and
    /// waits for one for `waited`. Both have been more before.
    fn looks(used: u64, waited: u64) -> u32 {
        let mut deadline = Deadline::new(SECOND);
        let mut looks = 0;
        loop {
            looks += 1;
            let usage = || Usage {
                used: Duration::from_millis(100_000 + used * u64::from(looks)),
                waited: [(1, Duration::from_millis(50_000 + waited * u64::from(looks)))].into(),
            };
            if deadline.is_over(usage) {
                return looks;
            }
        }
    }

    #[test]
    fn a_process_that_gets_no_processor_has_more_time() {
        // All of the time, and a little more than half of it.
        assert_eq!(looks(50, 0), LOOKS);
        assert_eq!(looks(26, 24), LOOKS);
        assert_eq!(looks(0, 50), LOOKS * (PATIENCE + 1));
        // Until it has had a processor for half of its deadline.
        assert_eq!(looks(20, 30), LOOKS * 2);
        assert_eq!(looks(8, 42), LOOKS * 4);
        // It waits for something that does not come, and wakes up from time to time.
        assert_eq!(looks(0, 0), LOOKS);
        assert_eq!(looks(1, 5), LOOKS);
    }

    #[test]
    fn a_process_that_gets_a_processor_again_has_one_more_deadline() {
        let mut deadline = Deadline::new(SECOND);
        let (mut used, mut waited) = (0, 0);
        let mut over = (1..).map(|look| {
            (used, waited) = match look > LOOKS {
                true => (used + 50, waited),
                false => (used, waited + 50),
            };
            deadline.is_over(|| Usage {
                used: Duration::from_millis(used),
                waited: [(1, Duration::from_millis(waited))].into(),
            })
        });
        assert_eq!(over.position(|is_over| is_over), Some(2 * LOOKS as usize - 1));
    }

    #[test]
    fn a_look_comes_when_its_time_has_come() {
        let mut deadline = Deadline::new(SECOND);
        assert!(deadline.until_look().is_some_and(|left| left <= SECOND / LOOKS));
        deadline.next_look = Instant::now();
        assert_eq!(deadline.until_look(), None);
        assert!(!deadline.is_over(Usage::default));
        assert!(deadline.until_look().is_some());
        assert_eq!(deadline.looks, 1);
        // Late by two and a half, and by a pause.
        for late in [Duration::from_millis(125), SECOND * 60] {
            let Some(due) = Instant::now().checked_sub(late) else {
                continue;
            };
            (deadline.next_look, deadline.looks) = (due, 0);
            assert!(!deadline.is_over(Usage::default));
            assert_eq!(deadline.looks, LATE, "{late:?}");
        }
        // No clock can hold it.
        assert!(Deadline::new(Duration::MAX).until_look().is_some());
    }
}
