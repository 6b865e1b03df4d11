//! Counts the allocations of this thread, in the host and in plugins.
//!
//! A plugin is a library with its own allocator symbol, so a counter behind Rust's `#[global_allocator]` would count
//! only the allocations of the host. All allocators call libc's malloc, and the dynamic linker prefers the executable's
//! definition of that name: the one in this file, which counts and forwards. Counters are thread-local, so that other
//! threads of the test harness do not affect them. They need neither initialisation nor a destructor, because either
//! would allocate.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static LIVE_BYTES: Cell<i64> = const { Cell::new(0) };
}

/// Bytes that glibc stores in front of each block, in addition to its usable size.
const HEADER_BYTES: i64 = 8;

/// `errno` of a failed allocation.
const OUT_OF_MEMORY: c_int = 12;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(memory: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(memory: *mut c_void);
    fn malloc_usable_size(memory: *mut c_void) -> usize;
}

/// Runs `work` and returns the number of its allocations and its result. Growing a block counts as one allocation.
pub(crate) fn allocations<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = CALLS.get();
    let result = work();
    (CALLS.get() - before, result)
}

/// Runs `work` and returns the growth of this thread's memory in bytes, including malloc's overhead, and its result.
pub(crate) fn bytes_kept<T>(work: impl FnOnce() -> T) -> (i64, T) {
    let before = LIVE_BYTES.get();
    let result = work();
    (LIVE_BYTES.get() - before, result)
}

/// Bytes of a block, including its header.
fn bytes_of(memory: *mut c_void) -> i64 {
    if memory.is_null() {
        return 0;
    }
    // SAFETY: callers pass a block that malloc returned and that was not freed.
    unsafe { malloc_usable_size(memory) as i64 + HEADER_BYTES }
}

fn count(memory: *mut c_void) -> *mut c_void {
    CALLS.set(CALLS.get() + 1);
    LIVE_BYTES.set(LIVE_BYTES.get() + bytes_of(memory));
    memory
}

/// Overrides libc's `malloc`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: forwards the caller's arguments unchanged to libc's function.
    count(unsafe { __libc_malloc(size) })
}

/// Overrides libc's `calloc`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn calloc(count_of: usize, size: usize) -> *mut c_void {
    // SAFETY: forwards the caller's arguments unchanged to libc's function.
    count(unsafe { __libc_calloc(count_of, size) })
}

/// Overrides libc's `realloc`.
///
/// # Safety
///
/// The same requirements as for libc's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    LIVE_BYTES.set(LIVE_BYTES.get() - bytes_of(memory));
    // SAFETY: forwards the caller's arguments unchanged to libc's function.
    count(unsafe { __libc_realloc(memory, size) })
}

/// Overrides libc's `posix_memalign`.
///
/// # Safety
///
/// The same requirements as for libc's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    // SAFETY: forwards the caller's arguments unchanged to libc's function.
    let memory = count(unsafe { __libc_memalign(alignment, size) });
    if memory.is_null() {
        return OUT_OF_MEMORY;
    }
    // SAFETY: the caller provides a valid location for the result.
    unsafe { out.write(memory) };
    0
}

/// Overrides libc's `aligned_alloc`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: forwards the caller's arguments unchanged to libc's function.
    count(unsafe { __libc_memalign(alignment, size) })
}

/// Overrides libc's `free`.
///
/// # Safety
///
/// The same requirements as for libc's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn free(memory: *mut c_void) {
    LIVE_BYTES.set(LIVE_BYTES.get() - bytes_of(memory));
    // SAFETY: forwards the caller's arguments unchanged to libc's function.
    unsafe { __libc_free(memory) };
}
