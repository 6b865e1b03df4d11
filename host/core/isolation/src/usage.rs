//! What a worker's process has used, as the system says it. Nothing here is read from the worker itself, and names of threads, which it
//! chooses, may be any bytes.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use divvy_attribution::ThreadUsage;

/// Threads of a process that are looked at. A worker with more is ended.
pub(crate) const MOST_THREADS: usize = 512;

/// What a process has used, and how long each of its threads was ready to run and did not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Usage {
    /// Processor time of all threads, those that have ended included.
    pub(crate) used: Duration,
    /// Time that each thread has waited for a processor, by its number.
    pub(crate) waited: BTreeMap<i32, Duration>,
}

impl Usage {
    /// Usage of a process; nothing if it has ended.
    pub(crate) fn of(process: i32) -> Self {
        let Some(used) = processor_time(process) else {
            return Self::default();
        };
        let threads = fs::read_dir(format!("/proc/{process}/task"));
        let threads = threads.into_iter().flatten().flatten().take(MOST_THREADS);
        let waited = threads.filter_map(|thread| {
            let number = thread.file_name().to_str()?.parse().ok()?;
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            Some((number, waiting_time(&text)?))
        });
        Self {
            used,
            waited: waited.collect(),
        }
    }

    /// True if the process had a processor for less than half of `time`, and a thread of it waited for one for a quarter of the time since
    /// then, and for longer than the whole process had one. Others had the processors then: threads that wait for each other cannot wait
    /// for longer than they run, and one that sleeps waits for nothing.
    pub(crate) fn has_starved_since(&self, before: &Self, time: Duration, between: Duration) -> bool {
        let used = self.used.saturating_sub(before.used);
        let waited = self.waited.iter().map(|(thread, waited)| {
            let before = before.waited.get(thread).copied().unwrap_or_default();
            waited.saturating_sub(before)
        });
        let longest = waited.max().unwrap_or_default();
        used < time / 2 && longest > used && longest >= between / 4
    }
}

/// Processor time of a process, with all its threads; `None` if it has ended.
pub(crate) fn processor_time(process: i32) -> Option<Duration> {
    let text = fs::read(format!("/proc/{process}/stat")).ok()?;
    let usage = ThreadUsage::read(&String::from_utf8_lossy(&text))?;
    // The system's ticks are hundredths of a second for every program.
    Some(Duration::from_millis(usage.ticks.saturating_mul(10)))
}

/// The time that a thread has waited for a processor, from the text of its `schedstat`: time on a processor, time of waiting, both in
/// nanoseconds, and a count.
fn waiting_time(text: &str) -> Option<Duration> {
    let waited = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(waited))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_of_this_process_is_found() {
        let process = std::process::id().cast_signed();
        let before = Usage::of(process);
        assert!(!before.waited.is_empty());
        let begun = std::time::Instant::now();
        while Usage::of(process).used < before.used + Duration::from_millis(20) {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "no processor time is counted"
            );
        }
    }

    /// A plugin chooses names of its threads: any bytes.
    #[test]
    fn a_thread_with_a_name_that_is_not_text_counts() {
        let (number, found) = std::sync::mpsc::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            rustix::thread::set_name(c"\xff\xfe").expect("any bytes");
            let own = rustix::thread::gettid().as_raw_nonzero().get();
            number.send(own).expect("the test waits");
            _ = ends.recv();
        });
        let number = found.recv().expect("the thread has begun");
        let usage = Usage::of(std::process::id().cast_signed());
        assert!(usage.waited.contains_key(&number), "{usage:?}");
        drop(end);
        thread.join().expect("it ends");
    }

    #[test]
    fn the_time_of_waiting_is_the_second_figure() {
        assert_eq!(waiting_time("0 31611772 1\n"), Some(Duration::from_nanos(31_611_772)));
        assert_eq!(waiting_time(""), None);
        assert_eq!(waiting_time("1 x 2"), None);
    }

    #[test]
    fn only_who_waits_for_others_has_starved() {
        let seconds = Duration::from_secs;
        let usage = |used: u64, waited: &[u64]| Usage {
            used: seconds(used),
            waited: (1..).zip(waited.iter().map(|waited| seconds(*waited))).collect(),
        };
        let before = usage(100, &[50, 50]);
        let has_starved = |now: Usage| now.has_starved_since(&before, seconds(8), seconds(8));
        // A sixth of the processors, and none at all.
        assert!(has_starved(usage(101, &[50, 57])));
        assert!(has_starved(usage(100, &[58, 50])));
        // It slept, and ran a little.
        assert!(!has_starved(usage(101, &[51, 50])));
        assert!(!has_starved(usage(100, &[51, 50])));
        // It ran all the time.
        assert!(!has_starved(usage(108, &[50, 50])));
        // Its own threads kept each other waiting: on one processor, and sixteen on two.
        assert!(!has_starved(usage(108, &[54, 54])));
        assert!(!has_starved(usage(116, &[57; 16])));
        // A thread that is new waited as long as it says.
        assert!(has_starved(usage(101, &[50, 50, 6])));
        // Nothing is known.
        assert!(!has_starved(Usage::default()));
    }
}
