//! Progress of long work on a terminal's standard error: the work, and the time that it has taken.
//!
//! Nothing is shown in the first second, so most commands show no progress, nor if standard error is not a terminal. The
//! progress is removed before anything else is printed.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two updates.
const TICK: Duration = Duration::from_millis(100);
/// Signs that take turns, so that work of unknown size does not look stuck.
const SPINNER: [char; 8] = ['⠁', '⠂', '⠄', '⡀', '⢀', '⠠', '⠐', '⠈'];
/// Clears the line from the cursor to its end.
const CLEAR: &str = "\x1b[K";

/// Progress of one piece of work, which is removed from the terminal when this is dropped.
pub struct Progress {
    done: Arc<AtomicUsize>,
    /// Ends the thread when it is dropped; `None` where nothing is shown.
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Work of unknown size.
    pub fn start(work: &'static str) -> Self {
        Self::counting(work, 0)
    }

    /// Work on `total` items; 0 if their number is not known.
    pub fn counting(work: &'static str, total: usize) -> Self {
        let done = Arc::new(AtomicUsize::new(0));
        let shown = io::stderr().is_terminal().then(|| {
            let (sender, receiver) = channel();
            let position = Arc::clone(&done);
            let thread = thread::spawn(move || {
                let start = Instant::now();
                let (mut wait, mut signs) = (PATIENCE, SPINNER.iter().cycle());
                // The sender never sends anything; dropping it ends the loop.
                while receiver.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    wait = TICK;
                    let sign = signs.next().copied().unwrap_or_default();
                    let done = position.load(Ordering::Relaxed);
                    draw(&format!("{sign} {}", line(work, done, total, start.elapsed())));
                }
                if wait == TICK {
                    draw("");
                }
            });
            (sender, thread)
        });
        Self { done, shown }
    }

    /// Counts one more item as done.
    pub fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The work, what of it is done, and the time that it has taken.
fn line(work: &str, done: usize, total: usize, elapsed: Duration) -> String {
    let time = match elapsed.as_secs() {
        seconds @ ..120 => format!("{seconds}s"),
        seconds => format!("{}m {:02}s", seconds / 60, seconds % 60),
    };
    match total {
        0 => format!("{work} {time}"),
        total => format!("{work} {} of {} {time}", grouped(done), grouped(total)),
    }
}

/// A number with a comma after each group of three digits: `12,345`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Replaces the line on the terminal. A text that is wider than the terminal would become lines that stay.
fn draw(text: &str) {
    let mut terminal = io::stderr();
    let width = terminal_size::terminal_size_of(&terminal).map_or(80, |(terminal_size::Width(width), _)| width);
    let shown: String = text.chars().take(usize::from(width).saturating_sub(1)).collect();
    // Progress that cannot be drawn is not a reason to fail.
    let _drawn = write!(terminal, "\r{shown}{CLEAR}").and_then(|()| terminal.flush());
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.shown.take() {
            drop(sender);
            // A thread that panicked has nothing to clear.
            let _joined = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_work_the_counts_and_the_time() {
        let second = Duration::from_secs(1);
        assert_eq!(line("reading", 0, 0, second * 3), "reading 3s");
        assert_eq!(
            line("deciding", 999, 1_234_567, second * 119),
            "deciding 999 of 1,234,567 119s"
        );
        assert_eq!(
            line("deciding", 12_345, 12_345, second * 3_725),
            "deciding 12,345 of 12,345 62m 05s"
        );
    }
}
