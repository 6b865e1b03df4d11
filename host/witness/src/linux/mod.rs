//! Linux, on the processors whose instructions [`detour`] knows.
//!
//! | asked for | how it is seen |
//! |---|---|
//! | the clock | the functions of the vDSO, which read it without a system call, are diverted to [`clock`] |
//! | the environment | `getenv` of the C library is diverted to [`environment`] |
//! | everything else | a seccomp filter of the thread reports system calls to another thread, which lets them go on: [`filter`] |
//!
//! Functions are diverted by writing a jump over their first instructions, rather than by the dynamic linker: that way, it does not
//! matter how a library finds them, and nothing has to be preloaded.

mod clock;
mod detour;
mod environment;
mod filter;
mod memory;
mod processor;
mod record;
mod state;

use crate::{NotInstalled, Request};

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
        let failed = |facility| move |source| NotInstalled { facility, source };
        clock::divert().map_err(failed("diverting the clock of the vDSO"))?;
        environment::divert().map_err(failed("diverting getenv"))?;
        filter::install().map_err(failed("seccomp with notifications"))?;
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

    /// Hides all variables of the environment from calls, or shows them again. This finds code that walks through the environment
    /// instead of asking for a variable.
    pub fn hide_environment(&self, is_hidden: bool) {
        environment::hide(is_hidden);
    }

    /// Moves the clock that calls of this thread see into the future, in addition to earlier moves: it never goes back.
    pub fn advance_clock(&self, seconds: i64) {
        clock::advance(seconds);
    }
}
