//! Panics of a plugin: caught in its own library, with their message and place.
//!
//! A panic that leaves the library would abort the host. The host's panic hook does not see a plugin's panics either,
//! since each library has its own standard library: the SDK installs a hook in the library that keeps message and place
//! for the failure to carry, instead of printing them.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

use divvy_framework_abi::object::{PluginFailure, failure};

thread_local! {
    /// Whether a call of this library is under way on this thread.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    /// Message and place of the panic that ended the call.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Installs the hook, once a library. Threads that a plugin starts itself keep the hook that was there before.
pub(super) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |information| {
            if GUARDED.get() {
                PANIC.set(Some((message(information), place(information))));
            } else {
                previous(information);
            }
        }));
    });
}

fn message(information: &PanicHookInfo<'_>) -> String {
    information
        .payload_as_str()
        .unwrap_or("a panic without message")
        .to_owned()
}

fn place(information: &PanicHookInfo<'_>) -> String {
    information
        .location()
        .map(|location| format!("{}:{}", location.file(), location.line()))
        .unwrap_or_default()
}

/// Runs `call`; a panic in it becomes a failure that carries its message and place.
pub(super) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, PluginFailure> {
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(outer);
    result.map_err(|payload| {
        // What was thrown may panic again when it is dropped; forgetting it leaks a message at most.
        std::mem::forget(payload);
        let (message, place) = PANIC
            .take()
            .unwrap_or_else(|| ("a panic without message".to_owned(), String::new()));
        PluginFailure {
            kind: failure::PANIC,
            message: message.into(),
            path: place.into(),
            hint: String::new().into(),
            requested: -1,
            available: -1,
        }
    })
}
