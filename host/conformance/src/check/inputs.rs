//! Columns that a call may only read. A write to the snapshot faults at once; the other columns are compared before and after each call.

use std::sync::{Mutex, PoisonError};

use divvy_scheduler::plugin::Call;

use super::observed::{Observed, Observer, without_finding};
use super::{Check, Holds, Method, Stop};
use crate::subject::Subject;

/// The check of inputs.
pub(super) fn check() -> Check {
    Check {
        name: "inputs",
        contract: "a call writes only to its results",
        takes_the_process: false,
        applies: |_| true,
        method: Method::Prepared(inputs),
    }
}

/// Records the first field that a call has overwritten.
#[derive(Default)]
struct Overwritten(Mutex<Option<String>>);

impl Observer for Overwritten {
    fn compares_inputs(&self) -> bool {
        true
    }

    fn overwrote(&self, call: Call, field: &'static str) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.get_or_insert_with(|| format!("{call} overwrites `{field}`, which it may only read"));
    }
}

fn inputs(subject: &Subject) -> Result<Holds, Stop> {
    let observed = Observed::new(subject, Overwritten::default())?;
    Ok(without_finding(observed, |overwritten| &overwritten.0))
}
