//! Progress of long work on a terminal's standard error: the work, and the time that it has taken.
//!
//! Nothing is shown in the first second, so most commands show no progress, nor if standard error is not a terminal. The
//! progress is removed before anything else is printed.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Time before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two updates.
const TICK: Duration = Duration::from_millis(100);

/// Progress of one piece of work, which is removed from the terminal when this is dropped.
pub(crate) struct Progress {
    done: Arc<AtomicUsize>,
    /// Ends the thread when it is dropped; `None` where nothing is shown.
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Work of unknown size.
    pub(crate) fn start(work: &'static str) -> Self {
        Self::counting(work, 0)
    }

    /// Work on `total` items; 0 if their number is not known.
    pub(crate) fn counting(work: &'static str, total: usize) -> Self {
        let done = Arc::new(AtomicUsize::new(0));
        let shown = io::stderr().is_terminal().then(|| {
            let (sender, receiver) = channel();
            let position = Arc::clone(&done);
            let thread = thread::spawn(move || {
                let mut wait = PATIENCE;
                let mut bar = None;
                // The sender never sends anything; dropping it ends the loop.
                while receiver.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    wait = TICK;
                    let bar = bar.get_or_insert_with(|| self::bar(work, total));
                    bar.set_position(position.load(Ordering::Relaxed) as u64);
                    bar.tick();
                }
                if let Some(bar) = bar {
                    bar.finish_and_clear();
                }
            });
            (sender, thread)
        });
        Self { done, shown }
    }

    /// Counts one more item as done.
    pub(crate) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

fn bar(work: &'static str, total: usize) -> ProgressBar {
    let target = ProgressDrawTarget::stderr();
    let (bar, template) = match total {
        0 => (ProgressBar::with_draw_target(None, target), "{spinner} {msg} {elapsed}"),
        total => (
            ProgressBar::with_draw_target(Some(total as u64), target),
            "{spinner} {msg} {human_pos} of {human_len} {elapsed}",
        ),
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.with_style(style).with_message(work).with_elapsed(PATIENCE)
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.shown.take() {
            drop(sender);
            // Progress that cannot be drawn is not a reason to fail.
            let _drawn = thread.join();
        }
    }
}
