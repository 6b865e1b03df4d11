//! Linux, on the processors whose registers [`processor`] knows.
//!
//! A seccomp filter of the thread reports system calls to another thread, which notes them and lets them go on: [`filter`]. What code reads
//! from its own memory needs no system call: the environment, and the clock, which the kernel maps into each process (vDSO). The
//! environment can be taken away ([`environment`]); the clock cannot be moved.

mod activity;
mod environment;
mod filter;
mod memory;
mod processor;
mod record;
mod state;

use crate::{NotInstalled, Request};

pub use activity::{processor_time, thread_count};
pub use memory::memory_in_use;
pub use state::ProcessState;

/// Sees what calls of this thread, and of threads that they start, ask of the system.
#[derive(Debug)]
pub struct Witness {
    _private: (),
}

impl Witness {
    /// Watches the calling thread from now on. This cannot be undone.
    ///
    /// # Errors
    ///
    /// [`NotInstalled`] if the system does not let a process watch its own calls.
    pub fn install() -> Result<Self, NotInstalled> {
        filter::install().map_err(|source| NotInstalled {
            facility: "seccomp with notifications",
            source,
        })?;
        filter::try_clock();
        Ok(Self { _private: () })
    }

    /// A call begins.
    pub fn begin(&self) {
        record::begin();
    }

    /// The call has ended. Returns what was asked for meanwhile, each once, in order.
    pub fn end(&self) -> Vec<Request> {
        record::end()
    }

    /// Hides all variables of the environment from calls, or shows them again. This finds code whose answer depends on one.
    pub fn hide_environment(&self, is_hidden: bool) {
        environment::hide(is_hidden);
    }
}
