//! Warnings and notes on standard error. Each is printed once, with the objects that it applies to.

use std::collections::HashMap;
use std::io::{self, Write};

use divvy_command::console::Console;
use divvy_command::errors::{headline, location, remark};
use divvy_command::style;
use divvy_command::text::{counted, listed};
use divvy_karmada::detector::{Binding, Detected};
use divvy_manifests::{Manifests, ObjectName, Warning};

use super::locations;

/// Maximum number of objects named per warning without `--verbose`; a note names twice as many.
const NAMED_MAX: usize = 3;

/// One warning and all objects that it applies to.
#[derive(Debug, PartialEq, Eq)]
struct Group<'a> {
    message: &'a str,
    hint: Option<&'a str>,
    locations: Vec<String>,
}

/// Prints warnings about the input, grouped by message, and then warns of an input without clusters or bindings.
pub(crate) fn report(manifests: &Manifests, detected: &Detected, warned: &[(&Binding, Warning)], console: &Console) {
    console.message(|out| write(manifests, detected, warned, out, console.verbosity()));
}

pub(super) fn write(
    manifests: &Manifests,
    detected: &Detected,
    warned: &[(&Binding, Warning)],
    out: &mut dyn Write,
    verbosity: u8,
) -> io::Result<()> {
    let most = if verbosity > 0 { usize::MAX - 1 } else { NAMED_MAX };
    for group in groups(detected, warned) {
        headline(out, "warning", style::WARNING, group.message)?;
        if let Some(hint) = group.hint {
            remark(out, "hint", hint)?;
        }
        if !group.locations.is_empty() {
            remark(out, "in", &listed(group.locations.iter().map(String::as_str), most))?;
        }
    }
    // With problems, clusters or bindings may be missing only because they could not be read.
    if !manifests.problems.is_empty() {
        return Ok(());
    }
    if manifests.clusters.is_empty() {
        headline(out, "warning", style::WARNING, "the input holds no cluster")?;
    }
    if detected.bindings.is_empty() {
        let message = "the input holds no binding, and no workload that a policy matches";
        headline(out, "warning", style::WARNING, message)?;
    }
    Ok(())
}

/// Prints a note that names the resources that no policy matches, and one that names those that follow their workloads all the same.
pub(crate) fn report_unmatched(detected: &Detected, console: &Console) {
    console.message(|out| write_unmatched(detected, out, console.verbosity()));
}

pub(super) fn write_unmatched(detected: &Detected, out: &mut dyn Write, verbosity: u8) -> io::Result<()> {
    let most = if verbosity > 0 { usize::MAX - 1 } else { 2 * NAMED_MAX };
    // Both are sorted.
    let follows = |name: &&ObjectName| detected.following.binary_search(name).is_ok();
    let (following, unmatched): (Vec<&ObjectName>, Vec<&ObjectName>) = detected.unmatched.iter().partition(follows);
    let mut note = |names: &[&ObjectName], text: &dyn Fn(&str) -> String| {
        if names.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = names.iter().map(ToString::to_string).collect();
        let counted = text(&counted(texts.len(), "resource"));
        let listed = listed(texts.iter().map(String::as_str), most);
        headline(out, "note", style::HINT, &format!("{counted}: {listed}"))
    };
    note(&unmatched, &|count| format!("no policy matches {count}"))?;
    let (follow, them) = match following.len() {
        1 => ("follows", "it"),
        _ => ("follow", "them"),
    };
    note(&following, &|count| {
        format!("{count} {follow} the workloads that refer to {them}, by `propagateDeps`")
    })
}

/// Groups warnings by message and hint, in the order of their first occurrence.
fn groups<'a>(detected: &'a Detected, warned: &'a [(&Binding, Warning)]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known = HashMap::new();
    let of_input = detected.warnings.iter().map(|warning| (warning, None));
    let of_bindings = warned.iter().map(|(binding, warning)| (warning, Some(*binding)));
    for (warning, binding) in of_input.chain(of_bindings) {
        let number = *known.entry((&warning.message, &warning.hint)).or_insert(groups.len());
        if number == groups.len() {
            groups.push(Group {
                message: &warning.message,
                hint: warning.hint.as_deref(),
                locations: Vec::new(),
            });
        }
        if let (Some(group), Some(location)) = (groups.get_mut(number), warning_location(warning, binding)) {
            group.locations.push(location);
        }
    }
    groups
}

/// Object and location of a warning: the object that it names, else the binding that it is about.
fn warning_location(warning: &Warning, binding: Option<&Binding>) -> Option<String> {
    let object = warning
        .object
        .as_ref()
        .map(ToString::to_string)
        .or_else(|| binding.map(Binding::key));
    let own = |binding: &Binding| {
        let annotation = warning.annotation.as_deref();
        let annotation = annotation.and_then(|name| locations::policys(binding, name));
        annotation.or_else(|| binding.source.clone())
    };
    let source = warning.source_of.clone().or_else(|| own(binding?));
    match (object, source.as_ref().map(location)) {
        (Some(object), Some(source)) => Some(format!("{object} ({source})")),
        (object, source) => object.or(source),
    }
}
