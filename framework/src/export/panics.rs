//! Catches a plugin's panics in its own library, with their message and location.
//!
//! A panic that left the library would abort the host. Nor does the host's panic hook see a plugin's panics, since each
//! library has its own copy of the standard library. So the SDK installs a hook in the plugin's library that records
//! message and location for the failure instead of printing them.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

use divvy_framework_abi::service::{Services, failure};

use super::Failed;

thread_local! {
    /// The services of the instance that is called on this thread; null outside of calls.
    static CURRENT: Cell<*const Services> = const { Cell::new(std::ptr::null()) };
    /// Message and location of the panic that ended the call.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// The services of the instance that is called on this thread; `None` outside of calls.
pub(crate) fn current_services() -> Option<Services> {
    // SAFETY: the pointer is set only for as long as the services are borrowed, and the previous one is put back after a panic, too.
    unsafe { CURRENT.get().as_ref() }.copied()
}

/// Runs `step` with these services in place of an instance's, for the test kit.
#[cfg(feature = "testing")]
pub(crate) fn with_services<T>(services: Services, step: impl FnOnce() -> T) -> T {
    struct Restore(*const Services);

    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }

    let _restore = Restore(CURRENT.replace(&raw const services));
    step()
}

/// Installs the hook, once per library. On threads that the plugin starts itself, the previous hook stays in charge.
pub(super) fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |information| {
            if !CURRENT.get().is_null() {
                PANIC.set(Some((message(information), location(information))));
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

fn location(information: &PanicHookInfo<'_>) -> String {
    information
        .location()
        .map(|location| format!("{}:{}", location.file(), location.line()))
        .unwrap_or_default()
}

/// Runs `call` for the instance with these services, and turns a panic in it into a failure with the panic's message
/// and location.
#[inline]
pub(super) fn caught<T>(services: &Services, call: impl FnOnce() -> T) -> Result<T, Failed> {
    let outer = CURRENT.replace(services);
    let result = catch_unwind(AssertUnwindSafe(call));
    CURRENT.set(outer);
    result.map_err(panicked)
}

#[cold]
fn panicked(payload: Box<dyn std::any::Any + Send>) -> Failed {
    // Dropping the payload may panic again; forgetting it leaks a message at most.
    std::mem::forget(payload);
    let (message, location) = PANIC
        .take()
        .unwrap_or_else(|| ("a panic without message".to_owned(), String::new()));
    Failed::new(failure::PANIC, message).at(location)
}
