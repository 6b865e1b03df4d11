//! The decisions of `divvy schedule` as formats print them.

use std::io::{self, Write};

use divvy_command::form::Form;
use divvy_command::layout::Layout;

use super::explaining::Explaining;
use crate::command::output::binding_name;
use crate::report::entry::{Print, Report};
use crate::report::format::Content;
use crate::report::structured;
use crate::report::table::{self, TableOptions};

/// The decisions as formats print them.
pub(super) struct Decisions<'a> {
    pub(super) report: Report<'a>,
    pub(super) explaining: Option<&'a Explaining>,
    pub(super) options: TableOptions,
}

impl Decisions<'_> {
    /// Passes the entries on to be printed: all at once, or some at a time with their explanations.
    fn pass(&self, print: Print<'_>) -> io::Result<()> {
        match self.explaining {
            Some(explaining) => explaining.pass(&self.report, print),
            None => print(&self.report.entries),
        }
    }
}

impl Content for Decisions<'_> {
    fn write_text(&self, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
        match layout {
            Layout::Terminal(_) => table::write(&self.report, self.options, |print| self.pass(print), out),
            Layout::Markdown => table::write_markdown(&self.report, self.options, out),
        }
    }

    // Rows are made when they are written, on all cores, because all of them together may not fit into memory.
    fn write_data(&self, form: Form, out: &mut dyn Write) -> io::Result<()> {
        structured::write(&self.report, form, |print| self.pass(print), out)
    }

    fn data(&self) -> serde_json::Result<serde_json::Value> {
        structured::data(&self.report, |print| self.pass(print))
    }

    fn names(&self) -> Vec<String> {
        let entries = self.report.entries.iter();
        let names = entries.map(|entry| binding_name(entry.binding.object.scope().kind(), &entry.decision.binding));
        names.collect()
    }
}
