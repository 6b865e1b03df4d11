//! Counts what this thread asks of malloc, whoever asks.
//!
//! A plugin is a library with an allocator symbol of its own, so a counter behind Rust's `#[global_allocator]` would see the
//! host alone. They all end at libc's malloc, and the dynamic linker binds that name to the executable's definition before
//! libc's: the one here, which counts and forwards. Counters are the thread's own, so that the test harness's threads do
//! not disturb them; they need neither initialisation nor a destructor, either of which would allocate.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static LIVE_BYTES: Cell<i64> = const { Cell::new(0) };
}

/// What glibc keeps in front of each piece of memory, beside what it says is usable.
const HEADER_BYTES: i64 = 8;

/// `errno` of a request that cannot be met.
const OUT_OF_MEMORY: c_int = 12;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(memory: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(memory: *mut c_void);
    fn malloc_usable_size(memory: *mut c_void) -> usize;
}

/// Runs `work`; how many allocations it made, and its result. Growing a piece of memory counts as one.
pub(crate) fn allocations<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = CALLS.get();
    let result = work();
    (CALLS.get() - before, result)
}

/// Runs `work`; by how many bytes what this thread holds has grown, malloc's own included, and its result.
pub(crate) fn bytes_kept<T>(work: impl FnOnce() -> T) -> (i64, T) {
    let before = LIVE_BYTES.get();
    let result = work();
    (LIVE_BYTES.get() - before, result)
}

/// Bytes that a piece of memory takes.
fn bytes_of(memory: *mut c_void) -> i64 {
    if memory.is_null() {
        return 0;
    }
    // SAFETY: callers pass what malloc gave and what was not freed.
    unsafe { malloc_usable_size(memory) as i64 + HEADER_BYTES }
}

fn count(memory: *mut c_void) -> *mut c_void {
    CALLS.set(CALLS.get() + 1);
    LIVE_BYTES.set(LIVE_BYTES.get() + bytes_of(memory));
    memory
}

/// Stands before libc's.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: libc's own function, as the caller meant it.
    count(unsafe { __libc_malloc(size) })
}

/// Stands before libc's.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn calloc(count_of: usize, size: usize) -> *mut c_void {
    // SAFETY: libc's own function, as the caller meant it.
    count(unsafe { __libc_calloc(count_of, size) })
}

/// Stands before libc's.
///
/// # Safety
///
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    LIVE_BYTES.set(LIVE_BYTES.get() - bytes_of(memory));
    // SAFETY: libc's own function, as the caller meant it.
    count(unsafe { __libc_realloc(memory, size) })
}

/// Stands before libc's.
///
/// # Safety
///
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    // SAFETY: libc's own function, as the caller meant it.
    let memory = count(unsafe { __libc_memalign(alignment, size) });
    if memory.is_null() {
        return OUT_OF_MEMORY;
    }
    // SAFETY: the caller's place for the result.
    unsafe { out.write(memory) };
    0
}

/// Stands before libc's.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: libc's own function, as the caller meant it.
    count(unsafe { __libc_memalign(alignment, size) })
}

/// Stands before libc's.
///
/// # Safety
///
/// As libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn free(memory: *mut c_void) {
    LIVE_BYTES.set(LIVE_BYTES.get() - bytes_of(memory));
    // SAFETY: libc's own function, as the caller meant it.
    unsafe { __libc_free(memory) };
}
