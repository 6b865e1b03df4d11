//! Requests during a call.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::environment;
use crate::Request;

/// Different requests that are kept of one call.
const KEPT: usize = 16;

static IS_CALLING: AtomicBool = AtomicBool::new(false);
static REQUESTS: Mutex<Vec<Request>> = Mutex::new(Vec::new());

thread_local! {
    /// True on the thread that makes the call. Without a destructor, so that reading it asks for nothing.
    static MAKES_THE_CALL: Cell<bool> = const { Cell::new(false) };
    /// True while a request is written down: what that asks for does not count.
    static IS_WRITING: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn begin() {
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    environment::enter();
    MAKES_THE_CALL.set(true);
    IS_CALLING.store(true, Ordering::SeqCst);
}

pub(super) fn end() -> Vec<Request> {
    IS_CALLING.store(false, Ordering::SeqCst);
    MAKES_THE_CALL.set(false);
    environment::leave();
    std::mem::take(&mut *REQUESTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// True during a call.
pub(super) fn is_calling() -> bool {
    IS_CALLING.load(Ordering::SeqCst)
}

/// True during a call, on the thread that makes it.
pub(super) fn makes_the_call() -> bool {
    MAKES_THE_CALL.get() && is_calling()
}

/// Writes a request down, if a call is being made.
pub(super) fn note(request: impl FnOnce() -> Request) {
    if !is_calling() || IS_WRITING.replace(true) {
        return;
    }
    let request = request();
    let mut requests = REQUESTS.lock().unwrap_or_else(PoisonError::into_inner);
    if requests.len() < KEPT && !requests.contains(&request) {
        requests.push(request);
    }
    drop(requests);
    IS_WRITING.set(false);
}
