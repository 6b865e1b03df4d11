//! The environment: an empty one takes its place during calls, for code that decides differently without it.

use std::ffi::c_char;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

unsafe extern "C" {
    /// The variables, as `NAME=value`; a null pointer ends them.
    static mut environ: *mut *mut c_char;
}

/// True if calls see an environment without variables.
static IS_HIDDEN: AtomicBool = AtomicBool::new(false);
/// The list of variables while it is hidden.
static HIDDEN: AtomicPtr<*mut c_char> = AtomicPtr::new(std::ptr::null_mut());
/// A list without variables.
static NONE: AtomicPtr<c_char> = AtomicPtr::new(std::ptr::null_mut());

/// Hides all variables from calls, or shows them again.
pub(super) fn hide(is_hidden: bool) {
    IS_HIDDEN.store(is_hidden, Ordering::SeqCst);
}

/// A call begins.
pub(super) fn enter() {
    if IS_HIDDEN.load(Ordering::SeqCst) {
        // SAFETY: no other thread of a process that observes calls uses the environment.
        HIDDEN.store(unsafe { environ }, Ordering::SeqCst);
        // SAFETY: as above; the list consists of the null pointer that ends it, which nothing writes to.
        unsafe { environ = NONE.as_ptr() };
    }
}

/// The call has ended.
pub(super) fn leave() {
    let hidden = HIDDEN.swap(std::ptr::null_mut(), Ordering::SeqCst);
    if !hidden.is_null() {
        // SAFETY: no other thread of a process that observes calls uses the environment.
        unsafe { environ = hidden };
    }
}
