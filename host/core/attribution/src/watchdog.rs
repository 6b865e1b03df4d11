//! Ends a process in which a call does not return: one thread for all calls, which looks from time to time.

use std::fmt::Write;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use crate::exits::end_now;
use crate::line::Line;
use crate::looks::{Looks, in_progress};

/// Looks within the limit of a call.
const LOOKS: u32 = 20;

/// Least time between two looks.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// A thread that ends the process if a call does not return. It stops when this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Watchdog {
    stop: Sender<()>,
}

impl Watchdog {
    /// Ends the process with `code` once a call has not returned for `limit`, and names plugin, call and binding on standard error, with
    /// a hint.
    ///
    /// # Errors
    ///
    /// That of the system if the thread cannot be started.
    pub fn start(limit: Duration, code: i32, hint: &'static str) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let (ready, started) = mpsc::channel();
        let interval = (limit / LOOKS).max(LEAST_INTERVAL);
        let watch = move || {
            let mut looks = Looks::default();
            // What a thread does for the first time may wait for the dynamic linker, which a library that hangs while it is opened keeps
            // to itself: a destructor of a value of the thread is registered with it.
            let _waited = stopped.recv_timeout(LEAST_INTERVAL);
            let _looked = looks.look(in_progress());
            let _started = ready.send(());
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                let seen = looks.look(in_progress());
                let Some((_, call)) = seen.into_iter().find(|(looks, _)| *looks >= LOOKS) else {
                    continue;
                };
                let mut line = Line::new();
                let _whole = writeln!(line, "error: {call} for {limit:?}\nhint: {hint}");
                line.print();
                end_now(code);
            }
        };
        std::thread::Builder::new().name("watchdog".to_owned()).spawn(watch)?;
        // It sends at once, or the thread is gone.
        let _started = started.recv();
        Ok(Self { stop })
    }

    /// Watches as long as the process lives.
    pub fn stay(self) {
        std::mem::forget(self.stop);
    }
}
