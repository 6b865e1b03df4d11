//! The allocator of the binary. Plugins have allocators of their own: what they allocate, they free.

use std::ffi::{c_int, c_long};

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Time in milliseconds before freed memory goes back to the system: an option of mimalloc 2, which the crate does not name.
const PURGE_DELAY: c_int = 15;

// A function of the library that `mimalloc` links. The crate declares it with another crate's types of C, and only on request.
unsafe extern "C" {
    fn mi_option_set(option: c_int, value: c_long);
}

/// Returns freed memory to the system at once, because each relist by `divvy run` frees as much as it keeps. Commands that end soon
/// are faster without.
///
/// Must be called before any thread is started.
pub fn return_memory_at_once() {
    // SAFETY: the function stores a number without synchronisation, so no other thread may run: `command::run` calls it before it
    // starts the runtime, and nothing before that starts a thread.
    unsafe { mi_option_set(PURGE_DELAY, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        fn mi_option_get(option: c_int) -> c_long;
    }

    #[test]
    fn the_option_is_the_one_that_delays_by_ten_milliseconds() {
        // SAFETY: the function reads a number, which only `return_memory_at_once` changes; no test calls that.
        let default = unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(default, 10);
    }
}
