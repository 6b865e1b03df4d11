//! `-o`: the formats in which a command prints its result, with kubectl's meanings.
//!
//! A format is a file of this folder and a line in [`OFFERS`]; nothing else names one. A command prints a [`Content`], from which
//! each format takes what it needs.

mod data;
mod jsonpath;
mod markdown;
mod names;
mod page;
mod table;

use std::fmt::Debug;
use std::io::{self, Write};
use std::sync::Arc;

use divvy_command::console::Console;
use divvy_command::errors::Failure;
use divvy_command::form::Form;
use divvy_command::layout::Layout;
use serde::Serialize;
use serde_json::Value;

/// All formats, in the order in which `--help` lists them.
pub(crate) const OFFERS: &[Offer] = &[
    table::TABLE,
    table::WIDE,
    data::JSON,
    data::YAML,
    names::OFFER,
    jsonpath::OFFER,
    markdown::OFFER,
    markdown::WITH_LINK,
    page::OFFER,
];

/// What a command must have to offer a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing: every command offers it.
    Nothing,
    /// A text that can be Markdown.
    Markdown,
    /// A page.
    Page,
}

/// A format as the command line offers it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    /// The word after `-o`; `WORD=ARGUMENT` for a format that takes an argument.
    pub(crate) name: &'static str,
    /// One line for `--help`.
    pub(crate) help: &'static str,
    /// What a command must have to offer it.
    pub(crate) needs: Needs,
    /// Makes the format from its argument, which is empty if the format takes none. Returns a reason if the argument is invalid.
    make: fn(&str) -> Result<Arc<dyn Format>, String>,
}

impl Offer {
    /// Reads the text after `-o`; `None` if it asks for another format.
    pub(crate) fn parse(&self, text: &str) -> Option<Result<Arc<dyn Format>, String>> {
        let argument = match self.name.split_once('=') {
            Some((word, _)) => text.strip_prefix(word)?.strip_prefix('=')?,
            None => (text == self.name).then_some("")?,
        };
        Some((self.make)(argument))
    }
}

/// A format of a command's result.
pub(crate) trait Format: Debug + Send + Sync {
    /// True for formats that people read. Notes are printed beside them.
    fn is_table(&self) -> bool {
        false
    }

    /// True for the table with all details.
    fn is_wide(&self) -> bool {
        false
    }

    /// True for data for programs.
    fn is_data(&self) -> bool {
        false
    }

    /// True for Markdown.
    fn is_markdown(&self) -> bool {
        false
    }

    /// True for formats that show the error of a binding beside its result.
    fn shows_errors(&self) -> bool {
        true
    }

    /// True for a page, which the commands that have one print themselves.
    fn is_page(&self) -> bool {
        false
    }

    /// Prints a result to standard output.
    ///
    /// # Errors
    ///
    /// The format cannot express the result, or standard output cannot be written.
    fn print(&self, content: &dyn Content, console: &Console) -> Result<(), Failure>;
}

/// A result that a format prints.
pub(crate) trait Content {
    /// Writes the text for people. Commands that do not offer Markdown ignore the layout.
    ///
    /// # Errors
    ///
    /// The error of `out`. Part of the output may have been written.
    fn write_text(&self, layout: Layout, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the data for programs, without all of them being in memory.
    ///
    /// # Errors
    ///
    /// The error of `out`. Part of the output may have been written.
    fn write_data(&self, form: Form, out: &mut dyn Write) -> io::Result<()>;

    /// The same data in memory.
    ///
    /// # Errors
    ///
    /// A value that JSON cannot express.
    fn data(&self) -> serde_json::Result<Value>;

    /// The bindings that the result is about, as `kubectl get -o name` prints them.
    fn names(&self) -> Vec<String>;
}

/// A document with the table and the names that belong to it.
pub(crate) struct Printed<D, N, T> {
    document: D,
    names: N,
    table: T,
}

impl<D, N, T> Printed<D, N, T>
where
    D: Serialize,
    N: Fn(&D) -> Vec<String>,
    T: Fn(&D, &mut dyn Write, Layout) -> io::Result<()>,
{
    /// A document for programs, the names of what it is about, and its text for people.
    pub(crate) fn new(document: D, names: N, table: T) -> Self {
        Self { document, names, table }
    }
}

impl<D, N, T> Content for Printed<D, N, T>
where
    D: Serialize,
    N: Fn(&D) -> Vec<String>,
    T: Fn(&D, &mut dyn Write, Layout) -> io::Result<()>,
{
    fn write_text(&self, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
        (self.table)(&self.document, out, layout)
    }

    fn write_data(&self, form: Form, out: &mut dyn Write) -> io::Result<()> {
        form.write_document(&self.document, out)
    }

    fn data(&self) -> serde_json::Result<Value> {
        serde_json::to_value(&self.document)
    }

    fn names(&self) -> Vec<String> {
        (self.names)(&self.document)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_format_is_found_by_its_own_name_alone() {
        let names: BTreeSet<&str> = OFFERS.iter().map(|offer| offer.name).collect();
        assert_eq!(names.len(), OFFERS.len());
        for offer in OFFERS {
            let text = match offer.name.split_once('=') {
                Some(("markdown", _)) => "markdown=https://x.example/1".to_owned(),
                Some((word, _)) => format!("{word}={{.binding}}"),
                None => offer.name.to_owned(),
            };
            let found: Vec<&str> = OFFERS
                .iter()
                .filter(|known| known.parse(&text).is_some())
                .map(|known| known.name)
                .collect();
            assert_eq!(found, [offer.name]);
        }
    }

    #[test]
    fn a_format_without_an_argument_takes_none() {
        let is_known = |text: &str| OFFERS.iter().any(|offer| offer.parse(text).is_some());
        for text in ["json=", "json={.binding}", "jsonpath", "", "tables"] {
            assert!(!is_known(text), "{text}");
        }
    }
}
