//! Reports a plugin's counts and measurements to the host of the called instance.

use crate::logging::services;

/// Adds to a counter.
pub(crate) fn count(name: &str, amount: u64) {
    if let Some(services) = services() {
        // SAFETY: `services` returns a table that the host offered when it constructed an instance.
        unsafe { services.add(name, amount) };
    }
}

/// Adds a value to a histogram.
pub(crate) fn observe(name: &str, value: f64) {
    if let Some(services) = services() {
        // SAFETY: `services` returns a table that the host offered when it constructed an instance.
        unsafe { services.observe(name, value) };
    }
}
