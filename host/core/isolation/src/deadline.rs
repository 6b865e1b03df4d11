//! The time that a worker has for an operation. Looks are counted rather than time, and a worker that is ready to run but gets no
//! processor is given more: a machine that was paused, or that has too much to do, has seen nothing hang.

use std::time::Duration;

use divvy_attribution::ThreadUsage;

/// Looks at a worker within its deadline.
const LOOKS: u32 = 20;
/// Further deadlines for a worker that was ready to run and got no processor.
const PATIENCE: u32 = 10;

/// The deadline of one operation.
#[derive(Debug)]
pub(crate) struct Deadline {
    time: Duration,
    looks: u32,
    starved: u32,
    /// Usage when the present deadline began.
    used: Option<Usage>,
}

impl Deadline {
    pub(crate) fn new(time: Duration) -> Self {
        Self {
            time,
            looks: 0,
            starved: 0,
            used: None,
        }
    }

    /// Time until the next look.
    pub(crate) fn until_look(&self) -> Duration {
        self.time / LOOKS
    }

    /// Counts a look at a worker that has not answered. True if its time is over.
    pub(crate) fn is_over(&mut self, usage: impl FnOnce() -> Usage) -> bool {
        self.looks += 1;
        if self.looks < LOOKS {
            // At the first look, and not before the operation: most are answered before it.
            if self.used.is_none() {
                self.used = Some(usage());
            }
            return false;
        }
        let now = usage();
        if self.starved >= PATIENCE || !now.has_starved_since(self.used.unwrap_or_default(), self.time) {
            return true;
        }
        (self.looks, self.starved, self.used) = (0, self.starved + 1, Some(now));
        false
    }
}

/// What a process has used, and whether it could use more.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// Processor time, in hundredths of a second.
    ticks: u64,
    /// True if a thread is ready to run.
    is_ready: bool,
}

impl Usage {
    /// Usage of a process; nothing if it has ended.
    pub(crate) fn of(id: i32) -> Self {
        let mut usage = Self::default();
        let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else {
            return usage;
        };
        for thread in threads.flatten() {
            let Ok(text) = std::fs::read_to_string(thread.path().join("stat")) else {
                continue;
            };
            if let Some(thread) = ThreadUsage::read(&text) {
                // A thread that waits for the disk is about to be ready.
                usage.is_ready |= matches!(thread.state, 'R' | 'D');
                usage.ticks += thread.ticks;
            }
        }
        usage
    }

    /// True if the process is ready to run, and got the processor for less than half of the time since then.
    fn has_starved_since(self, before: Self, between: Duration) -> bool {
        let used = self.ticks.saturating_sub(before.ticks);
        self.is_ready && u128::from(used) * 10 < between.as_millis() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Number of looks until the time of a process is over, whose ticks grow by `ticks` per look. It has used much before.
    fn looks(ticks: u64, is_ready: bool) -> u32 {
        let mut deadline = Deadline::new(SECOND);
        let mut used = 100_000;
        let mut looks = 0;
        loop {
            looks += 1;
            used += ticks;
            if deadline.is_over(|| Usage { ticks: used, is_ready }) {
                return looks;
            }
        }
    }

    #[test]
    fn a_process_that_gets_no_processor_has_more_time() {
        // All of the time, five hundredths of a second per look, and a little more than half of it.
        assert_eq!(looks(5, true), LOOKS);
        assert_eq!(looks(3, true), LOOKS);
        assert_eq!(looks(2, true), LOOKS * (PATIENCE + 1));
        assert_eq!(looks(0, true), LOOKS * (PATIENCE + 1));
        // It waits for something that does not come.
        assert_eq!(looks(0, false), LOOKS);
    }

    #[test]
    fn a_process_that_gets_a_processor_again_has_one_more_deadline() {
        let mut deadline = Deadline::new(SECOND);
        let mut ticks = 0;
        let mut over = (1..).map(|look| {
            ticks += if look > LOOKS { 5 } else { 0 };
            deadline.is_over(|| Usage { ticks, is_ready: true })
        });
        assert_eq!(over.position(|is_over| is_over), Some(2 * LOOKS as usize - 1));
    }

    #[test]
    fn the_usage_of_this_process_is_found() {
        assert!(Usage::of(std::process::id().cast_signed()).is_ready);
    }
}
