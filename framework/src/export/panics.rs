//! Catches a plugin's panics in its own library, with their message and location.
//!
//! A panic that left the library would abort the host. The host's panic hook does not see a plugin's panics, because
//! each library has its own copy of the standard library. So the SDK installs a hook in the plugin's library that
//! records message and location for the failure instead of printing them.
//!
//! If the host records details for debugging, the log also gets a backtrace. Otherwise none is captured, because that
//! takes milliseconds.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

use divvy_framework_abi::service::{Services, failure, level};

use super::Failed;

thread_local! {
    /// The services of the instance that is called on this thread; null outside of calls.
    static CURRENT: Cell<*const Services> = const { Cell::new(std::ptr::null()) };
    /// The panic that ended the call.
    static PANIC: RefCell<Option<Panic>> = const { RefCell::new(None) };
}

/// A panic as the hook sees it.
struct Panic {
    message: String,
    location: String,
    /// `None` unless the host records details.
    backtrace: Option<Backtrace>,
}

/// The services of the instance that is called on this thread; `None` outside of calls.
pub(crate) fn current_services() -> Option<Services> {
    // SAFETY: `caught` and `with_services` set the pointer only while the services live, and restore the previous one
    // even after a panic.
    unsafe { CURRENT.get().as_ref() }.copied()
}

/// Runs `step` with these services as those of the called instance.
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
            let Some(services) = current_services() else {
                return previous(information);
            };
            // SAFETY: the services come from the table that the host offered when it constructed the instance.
            let is_debugged = unsafe { services.recorded_level() } >= level::DEBUG;
            PANIC.set(Some(Panic {
                message: message(information),
                location: location(information),
                // Regardless of RUST_BACKTRACE: the level of the log requests it.
                backtrace: is_debugged.then(Backtrace::force_capture),
            }));
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
    result.map_err(|payload| panicked(services, payload))
}

/// Runs a destructor. A panic in it cannot fail a call, so it becomes an error in the log. `dropped` is its subject.
pub(super) fn caught_while_dropping(services: &Services, dropped: &str, destructor: impl FnOnce()) {
    if let Err(failed) = caught(services, destructor) {
        let text = format!("panicked while {dropped} was dropped: {}", failed.described());
        // SAFETY: the services come from the table that the host offered when it constructed the instance.
        unsafe { services.record(level::ERROR, MODULE, &text) };
    }
}

/// Runs a destructor within a call, whose result is complete and remains valid.
pub(crate) fn caught_while_dropping_in_call(dropped: &str, destructor: impl FnOnce()) {
    // The test kit calls plugins without services.
    let services = current_services().unwrap_or(Services::DEFAULT);
    caught_while_dropping(&services, dropped, destructor);
}

/// The module in the log records of panics.
const MODULE: &str = module_path!();

#[cold]
fn panicked(services: &Services, payload: Box<dyn std::any::Any + Send>) -> Failed {
    // Dropping the payload may panic again; forgetting it leaks a message at most.
    std::mem::forget(payload);
    let panic = PANIC.take().unwrap_or_else(|| Panic {
        message: "a panic without message".to_owned(),
        location: String::new(),
        backtrace: None,
    });
    let failed = Failed::new(failure::PANIC, panic.message).at(panic.location);
    if let Some(backtrace) = panic.backtrace {
        let text = format!(
            "panicked: {}\n{}",
            failed.described(),
            own_frames(&backtrace.to_string())
        );
        // SAFETY: the services come from the table that the host offered when it constructed the instance.
        unsafe { services.record(level::DEBUG, MODULE, &text) };
    }
    failed
}

/// The frames of a backtrace between the panic's machinery and the boundary; all frames in a library without symbols,
/// which has no names.
fn own_frames(backtrace: &str) -> String {
    let mut frames: Vec<Vec<&str>> = Vec::new();
    for line in backtrace.lines() {
        match frames.last_mut() {
            Some(frame) if line.trim_start().starts_with("at ") => frame.push(line),
            _ => frames.push(vec![line]),
        }
    }
    let is_named = |frame: &[&str], names: &[&str]| names.iter().any(|name| frame[0].contains(name));
    // Not all of `std::panicking`, because that module also has the functions that catch panics.
    let machinery = [
        "core::panicking::",
        "rust_begin_unwind",
        "panicking::begin_panic",
        "panicking::panic_with_hook",
    ];
    let start = frames.iter().rposition(|frame| is_named(frame, &machinery));
    let mut own = frames.split_off(start.map_or(0, |last| last + 1));
    if own.is_empty() {
        own = frames;
    }
    let boundary = own
        .iter()
        .position(|frame| is_named(frame, &["divvy_framework::export::"]));
    own.truncate(boundary.filter(|boundary| *boundary > 0).unwrap_or(own.len()));
    own.concat().join("\n")
}

#[cfg(test)]
mod tests {
    use super::own_frames;

    #[test]
    fn a_backtrace_has_the_frames_of_the_plugin() {
        let whole = "   0: divvy_framework::export::panics::install_hook\n   1: std::panicking::panic_with_hook\n   2: \
                     core::panicking::panic_fmt\n             at /rustc/x.rs:1:2\n   3: mine::rule::divide\n             \
                     at ./src/rule.rs:7:5\n   4: <mine::Mine as AssignPlugin>::assign\n   5: \
                     divvy_framework::export::calls::assign\n   6: std::panicking::catch_unwind\n   7: main";
        let own = "   3: mine::rule::divide\n             at ./src/rule.rs:7:5\n   4: <mine::Mine as \
                   AssignPlugin>::assign";
        assert_eq!(own_frames(whole), own);
        let unnamed = "   0: <unknown>\n   1: <unknown>";
        assert_eq!(own_frames(unnamed), unnamed);
        assert_eq!(own_frames(""), "");
    }
}
