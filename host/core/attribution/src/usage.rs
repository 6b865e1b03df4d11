//! What a thread has used, as the system says it.

/// Processor time and state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Processor time, in the system's ticks.
    pub ticks: u64,
    /// State, a letter of proc_pid_stat(5): `R` runs or is ready to, `D` waits for the disk.
    pub state: char,
}

impl ThreadUsage {
    /// Usage of a thread of this process.
    pub(crate) fn of(thread: i32) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
        Self::read(&text)
    }

    /// Reads the text of a thread's `stat`; `None` if it is anything else.
    pub fn read(text: &str) -> Option<Self> {
        // The second field is the name in parentheses, which may contain anything. The state follows.
        let (_, fields) = text.rsplit_once(") ")?;
        let mut fields = fields.split_whitespace();
        let state = fields.next()?.chars().next()?;
        // utime and stime are the fields 14 and 15 of proc_pid_stat(5).
        let mut times = fields.skip(10).map(str::parse::<u64>);
        let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
        Some(Self {
            ticks: user + system,
            state,
        })
    }

    /// True if the thread runs or is ready to.
    pub fn is_running(self) -> bool {
        self.state == 'R'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_of_a_thread_is_read() {
        let text = "12 (a) R 1) S 1 2 3 4 5 6 7 8 9 10 70 5 0 0 20 0 3 0";
        let expected = ThreadUsage { ticks: 75, state: 'S' };
        assert_eq!(ThreadUsage::read(text), Some(expected));
        let usage = ThreadUsage::of(rustix::thread::gettid().as_raw_pid());
        assert!(usage.expect("this thread is known").is_running());
        assert_eq!(ThreadUsage::read(""), None);
    }
}
