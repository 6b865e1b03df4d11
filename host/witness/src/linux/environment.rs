//! The environment, in place of `getenv` of the C library.

use std::ffi::{CStr, c_char};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::{detour, record};
use crate::Request;

/// Variables that runtimes read for themselves: they change messages and stacks, but no decision.
const OF_RUNTIMES: [&str; 3] = ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE", "RUST_MIN_STACK"];

unsafe extern "C" {
    /// The variables, as `NAME=value`; a null pointer ends them.
    static mut environ: *mut *mut c_char;
    #[cfg(target_env = "gnu")]
    fn secure_getenv(name: *const c_char) -> *mut c_char;
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

/// Diverts the functions that look a variable up.
pub(super) fn divert() -> io::Result<()> {
    let functions = [
        libc::getenv as *const (),
        #[cfg(target_env = "gnu")]
        {
            secure_getenv as *const ()
        },
    ];
    for function in functions {
        // SAFETY: the function has the type of `getenv` below, searches a list, which takes more than 16 bytes, and no other thread
        // looks for a variable now.
        unsafe { detour::divert(function.addr(), getenv as *const () as usize) }?;
    }
    Ok(())
}

extern "C" fn getenv(name: *const c_char) -> *mut c_char {
    if name.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: a caller of `getenv` passes a text that ends with a null byte.
    let name = unsafe { CStr::from_ptr(name) };
    if !OF_RUNTIMES.iter().any(|known| name.to_bytes() == known.as_bytes()) {
        record::note(|| Request::Variable(name.to_string_lossy().into_owned()));
    }
    // SAFETY: the C library keeps the list valid unless another thread changes it, which `getenv` excludes as well.
    let mut next: *const *mut c_char = unsafe { environ };
    if next.is_null() {
        return std::ptr::null_mut();
    }
    loop {
        // SAFETY: the list goes on until its null pointer.
        let variable = unsafe { *next };
        if variable.is_null() {
            return std::ptr::null_mut();
        }
        // SAFETY: each entry is a text that ends with a null byte.
        let text = unsafe { CStr::from_ptr(variable) }.to_bytes();
        if let Some(rest) = text.strip_prefix(name.to_bytes())
            && rest.first() == Some(&b'=')
        {
            // SAFETY: the name and the `=` are in front of the value, in the same text.
            return unsafe { variable.add(name.to_bytes().len() + 1) };
        }
        // SAFETY: as above; this entry is not the last.
        next = unsafe { next.add(1) };
    }
}
