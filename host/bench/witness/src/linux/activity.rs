//! What the threads of this process do: their number, and the processor time that all of them have used.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// Number of threads of this process; 0 if the system does not say.
pub fn thread_count() -> usize {
    tasks().count()
}

/// Processor time of the threads that live; zero if the system does not say.
pub fn processor_time() -> Duration {
    // The first number of `schedstat` is in nanoseconds; that of `stat` would be in hundredths of a second.
    let nanoseconds = tasks().filter_map(|task| {
        let text = fs::read_to_string(task.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}

fn tasks() -> impl Iterator<Item = std::path::PathBuf> {
    let entries = fs::read_dir(Path::new("/proc/self/task"));
    entries.into_iter().flatten().flatten().map(|entry| entry.path())
}
