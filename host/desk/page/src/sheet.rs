//! A page of tables: losses of single clusters, what workloads do not survive, findings about policies.

use divvy_forecast::document::SideDocument;
use serde::Serialize;

use crate::content::Heading;
use crate::headline::Headline;
use crate::table::Table;

/// Content of a page of tables.
#[derive(Debug)]
pub struct Sheet {
    /// The question that the page answers, as its title.
    pub title: &'static str,
    /// The arguments of the command, as they were given, the program's name first.
    pub arguments: Vec<String>,
    /// Version of the program.
    pub version: String,
    /// The input and the time.
    pub heading: Heading,
    /// The side that decides; `None` if nothing is decided.
    pub side: Option<SideDocument>,
    /// The first thing that a reader should know.
    pub headline: Headline,
    /// The tables, the most important first.
    pub tables: Vec<Table>,
    /// Remarks, as sentences.
    pub notes: Vec<String>,
}

/// The data as the page's scripts read them.
#[derive(Debug, Serialize)]
pub(crate) struct SheetData<'a> {
    /// Version of this form.
    pub(crate) format: u32,
    pub(crate) command: &'static str,
    pub(crate) tables: &'a [Table],
}
