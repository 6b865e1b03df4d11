//! `-o` of every command that decides: the argument, and the names of bindings as kubectl writes them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::Arc;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_forecast::cluster_view::ClusterViewsDocument;

use crate::report::format::{Format, Needs, OFFERS, Offer};

/// Output format.
pub(super) type Output = Arc<dyn Format>;

/// Parses `-o`.
#[derive(Debug, Clone)]
pub(super) struct OutputParser {
    /// What the command has.
    has: &'static [Needs],
}

impl OutputParser {
    /// Format of a command that has a page and Markdown.
    pub(super) const WITH_PAGE_AND_MARKDOWN: Self = Self {
        has: &[Needs::Nothing, Needs::Markdown, Needs::Page],
    };
    /// Format of a command that has neither.
    pub(super) const PLAIN: Self = Self { has: &[Needs::Nothing] };
}

impl TypedValueParser for OutputParser {
    type Value = Output;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Output, clap::Error> {
        let text = value.to_string_lossy();
        let refused = |kind: ErrorKind, reason: Option<String>| {
            let mut error = clap::Error::new(kind).with_cmd(command);
            if let Some(argument) = argument {
                error.insert(ContextKind::InvalidArg, ContextValue::String(argument.to_string()));
            }
            match reason {
                Some(reason) => clap::Error::raw(kind, format!("--output: {reason}\n")).with_cmd(command),
                None => {
                    let valid = self.possible_values().into_iter().flatten();
                    let valid = valid.map(|value| value.get_name().to_owned()).collect();
                    error.insert(ContextKind::InvalidValue, ContextValue::String(text.to_string()));
                    error.insert(ContextKind::ValidValue, ContextValue::Strings(valid));
                    error
                }
            }
        };
        match self.offers().find_map(|offer| offer.parse(&text)) {
            Some(made) => made.map_err(|reason| refused(ErrorKind::ValueValidation, Some(reason))),
            None => Err(refused(ErrorKind::InvalidValue, None)),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = self.offers();
        Some(Box::new(
            values.map(|offer| PossibleValue::new(offer.name).help(offer.help)),
        ))
    }
}

impl OutputParser {
    /// The formats of the command.
    fn offers(&self) -> impl Iterator<Item = &'static Offer> + use<> {
        let has = self.has;
        OFFERS.iter().filter(move |offer| has.contains(&offer.needs))
    }
}

/// `resourcebinding.work.karmada.io/web-deployment`, as `kubectl get -o name` prints it: without the namespace.
pub(super) fn binding_name(kind: &str, key: &str) -> String {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    format!("{}.work.karmada.io/{name}", kind.to_lowercase())
}

/// These bindings, each a kind and a key, as `kubectl get -o name` prints them.
pub(super) fn binding_names<'a>(bindings: impl Iterator<Item = (&'a String, &'a String)>) -> Vec<String> {
    bindings.map(|(kind, key)| binding_name(kind, key)).collect()
}

/// The bindings that have or get replicas on these clusters, each once.
pub(super) fn cluster_names(document: &ClusterViewsDocument) -> Vec<String> {
    let rows = document.clusters.iter().flat_map(|view| &view.bindings);
    let here = rows.filter(|row| row.after.is_some());
    let names: BTreeSet<(&str, &str)> = here.map(|row| (row.binding.as_str(), row.kind.as_str())).collect();
    names.into_iter().map(|(key, kind)| binding_name(kind, key)).collect()
}

/// Refuses to print the page of a command onto a terminal, before anything is read.
pub(super) fn check_destination(output: &Output, command: &str, console: &Console) -> Result<(), Failure> {
    if !output.is_page() || !console.is_terminal() {
        return Ok(());
    }
    let message = "standard output is a terminal, and `-o html` prints a file for a browser";
    let hint = format!("write it to a file: `divvy {command} … -o html > report.html`");
    Err(Failure::usage(Diagnostic::new(message).with_hint(hint)))
}
