//! Requests during a call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::environment;
use crate::Request;

/// Different requests that are kept of one call.
const KEPT: usize = 16;

static IS_CALLING: AtomicBool = AtomicBool::new(false);
static REQUESTS: Mutex<Vec<Request>> = Mutex::new(Vec::new());

pub(super) fn begin() {
    REQUESTS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    environment::enter();
    IS_CALLING.store(true, Ordering::SeqCst);
}

pub(super) fn end() -> Vec<Request> {
    IS_CALLING.store(false, Ordering::SeqCst);
    environment::leave();
    std::mem::take(&mut *REQUESTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// True during a call.
pub(super) fn is_calling() -> bool {
    IS_CALLING.load(Ordering::SeqCst)
}

/// Writes a request down, if a call is being made.
pub(super) fn note(request: Request) {
    let mut requests = REQUESTS.lock().unwrap_or_else(PoisonError::into_inner);
    if is_calling() && requests.len() < KEPT && !requests.contains(&request) {
        requests.push(request);
    }
}
