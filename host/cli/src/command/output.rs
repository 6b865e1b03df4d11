//! `-o`: the formats of every command that decides, with kubectl's meanings.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use divvy_forecast::cluster_view::ClusterViewsDocument;
use serde::Serialize;

use crate::report::console::Console;
use crate::report::errors::{Diagnostic, Failure, headline};
use crate::report::jsonpath::JsonPath;
use crate::report::text::printable;
use crate::report::{structured, style};

/// Beginning of the format that takes a template.
const JSONPATH: &str = "jsonpath=";

/// Output format.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Output {
    Table,
    Wide,
    Json,
    Yaml,
    Name,
    JsonPath(Box<JsonPath>),
    /// A page, which the commands that have one print themselves.
    Html,
}

/// Parses `-o`.
#[derive(Debug, Clone)]
pub(super) struct OutputParser {
    has_page: bool,
}

impl OutputParser {
    /// Format of a command that has a page.
    pub(super) const WITH_PAGE: Self = Self { has_page: true };
    /// Format of a command that has none.
    pub(super) const WITHOUT_PAGE: Self = Self { has_page: false };
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
        match text.as_ref() {
            "table" => Ok(Output::Table),
            "wide" => Ok(Output::Wide),
            "json" => Ok(Output::Json),
            "yaml" => Ok(Output::Yaml),
            "name" => Ok(Output::Name),
            "html" if self.has_page => Ok(Output::Html),
            other => match other.strip_prefix(JSONPATH) {
                Some(template) => JsonPath::parse(template)
                    .map(|path| Output::JsonPath(Box::new(path)))
                    .map_err(|reason| refused(ErrorKind::ValueValidation, Some(reason))),
                None => Err(refused(ErrorKind::InvalidValue, None)),
            },
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = [
            ("table", "Aligned columns for people"),
            ("wide", "The table with all details"),
            ("json", "For programs"),
            ("yaml", "The same data as YAML"),
            (
                "name",
                "One line per binding that kubectl accepts: `resourcebinding.work.karmada.io/NAME`",
            ),
            (
                "jsonpath=TEMPLATE",
                "The data, printed by a template as in kubectl: `jsonpath={[*].binding}`, `{range}`, `{\"\\n\"}`; filters as in RFC 9535",
            ),
        ];
        let page = self.has_page.then_some((
            "html",
            "A page with charts, for a browser: one file that needs no network",
        ));
        Some(Box::new(
            values
                .into_iter()
                .chain(page)
                .map(|(name, help)| PossibleValue::new(name).help(help)),
        ))
    }
}

/// `resourcebinding.work.karmada.io/web-deployment`, as `kubectl get -o name` prints it: without the namespace.
pub(super) fn binding_name(kind: &str, key: &str) -> String {
    let name = key.rsplit('/').next().unwrap_or_default();
    format!("{}.work.karmada.io/{name}", kind.to_lowercase())
}

/// The bindings that clusters get something of, each once.
pub(super) fn cluster_names(document: &ClusterViewsDocument) -> Vec<String> {
    let rows = document.clusters.iter().flat_map(|view| &view.bindings);
    let here = rows.filter(|row| row.after.is_some());
    let names: BTreeSet<(&str, &str)> = here.map(|row| (row.binding.as_str(), row.kind.as_str())).collect();
    names.into_iter().map(|(key, kind)| binding_name(kind, key)).collect()
}

impl Output {
    /// True for the formats that people read, beside which notes are printed.
    pub(super) fn is_table(&self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }

    /// True for the formats in which the error of a binding is beside its result.
    pub(super) fn shows_errors(&self) -> bool {
        !matches!(self, Self::Name | Self::JsonPath(_))
    }

    /// True for a page.
    pub(super) fn is_page(&self) -> bool {
        *self == Self::Html
    }

    /// Refuses to print the page of a command onto a terminal, before anything is read.
    pub(super) fn check_destination(&self, command: &str, console: &Console) -> Result<(), Failure> {
        if !self.is_page() || !console.is_terminal() {
            return Ok(());
        }
        let message = "standard output is a terminal, and `-o html` prints a file for a browser";
        let hint = format!("write it to a file: `divvy {command} … -o html > report.html`");
        Err(Failure::usage(Diagnostic::new(message).with_hint(hint)))
    }

    /// Prints a document in this format. `names` gives the lines of `-o name`.
    pub(super) fn print<D: Serialize>(
        &self,
        console: &Console,
        document: &D,
        names: impl FnOnce() -> Vec<String>,
        table: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        if self.is_page() {
            return Err(Failure::usage(
                Diagnostic::new("this result has no page").with_hint("`-o json` prints the same for programs"),
            ));
        }
        let mut unmatched = Vec::new();
        match self {
            Self::Json => return console.print_data(|out| structured::write_value(document, out)),
            Self::Yaml => return console.print_data(|out| structured::write_yaml_value(document, out)),
            _ => {}
        }
        console.print(|out: &mut dyn Write| match self {
            Self::Table | Self::Wide => table(out),
            // Refused or printed above.
            Self::Html | Self::Json | Self::Yaml => Ok(()),
            Self::Name => names().iter().try_for_each(|name| writeln!(out, "{}", printable(name))),
            Self::JsonPath(path) => {
                let value = serde_json::to_value(document)?;
                unmatched = path.write(&value, out)?.into_iter().map(str::to_owned).collect();
                Ok(())
            }
        })?;
        for path in unmatched {
            let message = format!("`{path}` matches nothing in the output; `-o json` shows what there is");
            console.tell(|out| headline(out, "note", style::HINT, &message));
        }
        Ok(())
    }
}
