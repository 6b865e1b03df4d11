//! Confines a defect of Divvy to one decision: a panic becomes the error of the binding that is decided.
//!
//! A panic of a plugin never gets here, because the SDK catches it in the plugin's library. Everything that a decision changes and
//! a later one reads is either replaced after a panic, as [`Cycle`](crate::cycle::Cycle) is, or behind a lock whose poison is
//! ignored because its contents are complete after each statement.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

/// A panic of Divvy's own code that ended a decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a defect of Divvy ended the decision: {message} ({location})")]
pub struct Defect {
    /// Message of the panic.
    pub message: String,
    /// File and line in Divvy's sources, separated by a colon.
    pub location: String,
}

impl Defect {
    /// Hint for messages about a defect.
    pub const HINT: &str = "report it with the manifests and the profile; other bindings are not affected";

    fn new(information: &PanicHookInfo<'_>) -> Self {
        let location = information.location();
        Self {
            message: information
                .payload_as_str()
                .unwrap_or("a panic without message")
                .to_owned(),
            location: location.map_or_else(
                || "unknown location".to_owned(),
                |location| format!("{}:{}", location.file(), location.line()),
            ),
        }
    }
}

thread_local! {
    /// True while this thread runs a guarded step.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    /// The panic that ended the guarded step, as the hook saw it.
    static PANIC: RefCell<Option<Defect>> = const { RefCell::new(None) };
}

/// Runs a step of a decision and returns the defect if it panics.
///
/// The caller replaces what the step may have left incomplete, so no later decision reads it.
pub fn guarded<T>(step: impl FnOnce() -> T) -> Result<T, Defect> {
    install_hook();
    let outer = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(step));
    IS_GUARDED.set(outer);
    result.map_err(|payload| {
        // Dropping the payload may panic again; forgetting it leaks a message at most.
        std::mem::forget(payload);
        PANIC.take().unwrap_or_else(|| Defect {
            message: "a panic without message".to_owned(),
            location: "unknown location".to_owned(),
        })
    })
}

/// Installs a hook, once per process, that keeps the message and the location of a guarded panic instead of printing them. All other
/// panics reach the previous hook.
fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |information| {
            if !IS_GUARDED.get() {
                return previous(information);
            }
            let defect = Defect::new(information);
            // Captured only if RUST_BACKTRACE asks for it.
            let backtrace = Backtrace::capture();
            if backtrace.status() == BacktraceStatus::Captured {
                tracing::error!("{defect}\n{backtrace}");
            }
            PANIC.set(Some(defect));
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_becomes_a_defect_with_its_message_and_location() {
        let defect = guarded(|| panic!("{} of {}", 7, 5)).expect_err("the step panics");
        let line = line!() - 1;
        assert_eq!(defect.message, "7 of 5");
        assert_eq!(defect.location, format!("{}:{line}", file!()));
        let expected = format!("a defect of Divvy ended the decision: 7 of 5 ({}:{line})", file!());
        assert_eq!(defect.to_string(), expected);
    }

    #[test]
    fn a_step_inside_a_guarded_step_has_its_own_defect() {
        let outer = guarded(|| {
            let inner = guarded(|| panic!("inner")).expect_err("the inner step panics");
            assert_eq!(inner.message, "inner");
            panic!("outer")
        });
        assert_eq!(outer.expect_err("the outer step panics").message, "outer");
        assert_eq!(guarded(|| 3), Ok(3));
    }
}
