//! Ends of the process that a plugin brings about: they are named, and have an exit code of ours.

use std::time::Duration;

use divvy_attribution::{Armed, Watchdog};

use crate::errors::{Diagnostic, Failure};
use crate::exit::Exit;

/// How to let a plugin take its time.
pub const HINT: &str = "`--hang-limit` sets the limit, and 0s waits forever";

/// Names plugins that crash or end this process from now on. The answer is dropped when the program ends by itself.
pub fn arm() -> Armed {
    divvy_attribution::arm(i32::from(Exit::Internal.code()))
}

/// Ends this process if a call of a plugin does not return for `limit`, unless that is zero, as long as the answer is kept.
pub fn watch(limit: Duration) -> Result<Option<Watchdog>, Failure> {
    if limit.is_zero() {
        return Ok(None);
    }
    let watchdog = Watchdog::start(limit, i32::from(Exit::Internal.code()), HINT);
    watchdog.map(Some).map_err(|error| {
        Failure::internal(
            Diagnostic::new("the thread that watches plugins cannot be started").with_cause(error.to_string()),
        )
    })
}
