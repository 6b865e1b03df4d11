//! Stacks for handlers of signals: one that runs on a stack that has overflowed would fault itself.
//!
//! Rust's runtime gives each of its threads one of 8 KiB. Two signals on top of each other do not fit into it: a stack that has overflowed
//! raises SIGSEGV, and what Rust's handler then does raises SIGABRT, which is ours; each may store all registers of a large processor.
//! Go's handler, which forwards faults to ours, uses the stack that it finds, too.

use std::sync::atomic::Ordering;

use crate::slot::Slot;

const BYTES: usize = 64 << 10;
/// Pages below a stack that fault. As large as the largest page.
const GUARD: usize = 64 << 10;

/// Gives this thread, whose slot this is, a stack for handlers of signals, unless it has one of this size.
pub(crate) fn provide(slot: &Slot) {
    if current().is_some_and(|stack| stack.ss_flags & libc::SS_DISABLE == 0 && stack.ss_size >= BYTES) {
        return;
    }
    let mut stack = slot.stack.load(Ordering::Relaxed);
    if stack.is_null() {
        let Some(mapped) = map() else { return };
        stack = mapped;
        slot.stack.store(stack, Ordering::Relaxed);
    }
    set(stack, 0);
}

/// Takes the stack back from this thread, which ends. It stays with the slot.
pub(crate) fn take_back(slot: &Slot) {
    let stack = slot.stack.load(Ordering::Relaxed);
    if !stack.is_null() && current().is_some_and(|current| current.ss_sp == stack.cast()) {
        set(std::ptr::null_mut(), libc::SS_DISABLE);
    }
}

/// A new stack above pages that fault.
fn map() -> Option<*mut u8> {
    let (protection, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the system's choice.
    let whole = unsafe { libc::mmap(std::ptr::null_mut(), GUARD + BYTES, protection, flags, -1, 0) };
    if whole == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the address is inside the mapping.
    let stack = unsafe { whole.cast::<u8>().add(GUARD) };
    // SAFETY: the pages are this mapping's, which nothing uses yet.
    let code = unsafe { libc::mprotect(stack.cast(), BYTES, libc::PROT_READ | libc::PROT_WRITE) };
    (code == 0).then_some(stack)
}

fn current() -> Option<libc::stack_t> {
    let mut current = std::mem::MaybeUninit::<libc::stack_t>::uninit();
    // SAFETY: only `current` is written, which is large enough.
    let code = unsafe { libc::sigaltstack(std::ptr::null(), current.as_mut_ptr()) };
    // SAFETY: the system has written it.
    (code == 0).then(|| unsafe { current.assume_init() })
}

fn set(stack: *mut u8, flags: libc::c_int) {
    let stack = libc::stack_t {
        ss_sp: stack.cast(),
        ss_flags: flags,
        ss_size: BYTES,
    };
    // It fails only while a handler runs on the present stack, which is then good enough.
    // SAFETY: the pages are a slot's, which only this thread uses and which are never unmapped.
    unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) };
}
