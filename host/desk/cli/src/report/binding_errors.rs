//! Errors of single bindings on standard error, where the report does not show them.
//!
//! A run that ends with exit code 2 or 3 always prints the reason, whatever the format of its result.

use std::collections::HashMap;
use std::io::{self, Write};

use divvy_command::console::Console;
use divvy_command::errors::{headline, remark};
use divvy_command::style;
use divvy_command::text::listed;
use divvy_scheduler::cycle::CycleError;

/// Maximum number of bindings that are named per error without `--verbose`.
const NAMED_MAX: usize = 3;

/// The error of one binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BindingError {
    /// Key of the binding, and its location if that is known.
    pub(crate) binding: String,
    /// The error.
    pub(crate) message: String,
    /// Suggested fix.
    pub(crate) hint: Option<String>,
}

impl BindingError {
    /// The error of a binding.
    pub(crate) fn of(binding: String, error: &CycleError) -> Self {
        Self {
            binding,
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
        }
    }
}

/// Prints each error once, with the bindings that have it.
pub(crate) fn report(errors: &[BindingError], console: &Console) {
    console.message(|out| write(errors, out, console.verbosity()));
}

fn write(errors: &[BindingError], out: &mut dyn Write, verbosity: u8) -> io::Result<()> {
    let most = if verbosity > 0 { usize::MAX - 1 } else { NAMED_MAX };
    let mut groups: Vec<(&BindingError, Vec<&str>)> = Vec::new();
    let mut known = HashMap::new();
    for error in errors {
        let index = *known.entry((&error.message, &error.hint)).or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, bindings)) => bindings.push(&error.binding),
            None => groups.push((error, vec![&error.binding])),
        }
    }
    for (error, bindings) in groups {
        headline(out, "error", style::ERROR, &error.message)?;
        remark(out, "in", &listed(bindings.into_iter(), most))?;
        if let Some(hint) = &error.hint {
            remark(out, "hint", hint)?;
        }
    }
    Ok(())
}
