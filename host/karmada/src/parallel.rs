//! How many threads work that can be divided is given.

use std::num::NonZeroUsize;

/// Threads for independent work. Their number does not affect any result.
pub fn threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
