//! Errors of single bindings on standard error, where the report does not show them.
//!
//! A run that ends with exit code 2 or 3 always prints the reason, whatever the format of its result. An error that was there before the
//! changes of a forecast, and does not determine its exit code, is a warning.

use std::collections::HashMap;
use std::io::{self, Write};

use divvy_command::console::Console;
use divvy_command::errors::{headline, remark};
use divvy_command::style;
use divvy_command::text::listed;
use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::CycleError;

use super::locations;

/// Maximum number of bindings that are named per error without `--verbose`.
const NAMED_MAX: usize = 3;

/// The error of one binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BindingError {
    /// Key of the binding.
    pub(crate) binding: String,
    /// Locations of what is wrong with it, if they are known.
    pub(crate) location: Option<String>,
    /// The error.
    pub(crate) message: String,
    /// Suggested fix.
    pub(crate) hint: Option<String>,
    /// True if it does not determine the exit code.
    pub(crate) is_warning: bool,
}

impl BindingError {
    /// The error of a binding.
    pub(crate) fn of(binding: &Binding, error: &CycleError) -> Self {
        Self {
            binding: binding.key(),
            location: locations::fault(binding, error).map(|found| found.all),
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
            is_warning: false,
        }
    }

    /// `shop/web (web.yaml:5; policy PropagationPolicy shop/web in web.yaml:1)`
    fn located(&self) -> String {
        match &self.location {
            Some(location) => format!("{} ({})", self.binding, location.trim_start_matches("in ")),
            None => self.binding.clone(),
        }
    }
}

/// Prints each error once, with the bindings that have it.
pub(crate) fn report(errors: &[BindingError], console: &Console) {
    console.message(|out| write(errors, out, console.verbosity()));
}

fn write(errors: &[BindingError], out: &mut dyn Write, verbosity: u8) -> io::Result<()> {
    let most = if verbosity > 0 { usize::MAX - 1 } else { NAMED_MAX };
    let mut groups: Vec<(&BindingError, Vec<String>)> = Vec::new();
    let mut known = HashMap::new();
    for error in errors {
        let index = *known
            .entry((&error.message, &error.hint, error.is_warning))
            .or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, bindings)) => bindings.push(error.located()),
            None => groups.push((error, vec![error.located()])),
        }
    }
    for (error, bindings) in groups {
        match error.is_warning {
            true => headline(out, "warning", style::WARNING, &error.message)?,
            false => headline(out, "error", style::ERROR, &error.message)?,
        }
        remark(out, "in", &listed(bindings.iter().map(String::as_str), most))?;
        if let Some(hint) = &error.hint {
            remark(out, "hint", hint)?;
        }
    }
    Ok(())
}
