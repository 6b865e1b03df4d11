//! Standard output that was closed when the process started.
//!
//! Before `main`, Rust's runtime opens `/dev/null` in place of a closed descriptor, so that no other file gets its number. A result
//! written there would be lost, although the exit code is 0. `/dev/null` may also be the caller's choice, so the descriptor is
//! examined before the runtime starts.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// True if standard output was closed when the process started.
pub(crate) fn is_output_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

/// Closes standard output for the program that this process becomes, if it was closed for this one.
pub fn pass_on_closed_output() {
    if is_output_closed() {
        // Without an effect, the program only fails to notice.
        let _kept = rustix::io::fcntl_setfd(rustix::stdio::stdout(), rustix::io::FdFlags::CLOEXEC);
    }
}

/// Uses system calls only, because the runtime does not exist yet.
#[cfg(target_os = "linux")]
extern "C" fn look() {
    let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
    IS_CLOSED.store(is_closed, Ordering::Relaxed);
}

// SAFETY: the dynamic linker calls each function in this section once, before `main` and on the only thread. `look` follows
// the C calling convention, ignores its arguments, neither allocates nor panics, and relies on no initialisation.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;
