//! The desk: the one way in which `schedule`, `diff`, `headroom`, `survive`, `rebalance` and `policies` answer.
//!
//! A question is the arguments of one command. Its file says what it reads, what it decides, and which document the answer is. This file
//! has the order of the steps, and everything that is the same for all of them: errors, formats, notes, and the exit code. A new question
//! is one file that implements [`Question`], and a line in the list of commands.

use std::io::{self, Write};

use divvy_command::console::Console;
use divvy_command::errors::{Failure, headline};
use divvy_command::exit::Exit;
use divvy_command::layout::Layout;
use divvy_command::notes::folded;
use divvy_command::style;
use divvy_command::time::TimeArguments;
use divvy_page::{Content as Page, Sheet};
use serde::Serialize;

use super::origin::{Origin, heading};
use super::output::{Output, check_destination};
use crate::report::binding_errors::{self, BindingError};
use crate::report::format::{Content, Printed};
use crate::report::{page, sheets};

/// A question about the manifests. The methods are called in this order, each once.
pub(super) trait Question {
    /// Name of the command.
    const COMMAND: &'static str;
    /// The profile with its plugins, the manifests, and everything else that is known before a decision.
    type Input;
    /// The decisions.
    type Decided;

    /// Refuses options that contradict each other, before anything is read.
    fn check(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Loads the profile and reads the manifests. Any problem in them ends the run here, unless objects with problems are left out.
    fn read(&self, console: &Console) -> Result<Self::Input, Failure>;

    /// Decides. A binding that fails does not end the run.
    fn decide(&self, input: &mut Self::Input, console: &Console) -> Result<Self::Decided, Failure>;

    /// Makes the document from the decisions.
    fn answer<'a>(
        &'a self,
        input: &'a Self::Input,
        decided: &'a mut Self::Decided,
        console: &Console,
    ) -> Result<Answer<'a>, Failure>;

    /// How the answer is presented.
    fn presentation(&self) -> Presentation<'_>;
}

/// How an answer is presented.
pub(super) struct Presentation<'a> {
    /// Output format.
    pub(super) output: &'a Output,
    /// True if only errors are printed.
    pub(super) is_quiet: bool,
    /// Time that a page shows.
    pub(super) time: TimeArguments,
}

/// The answer to a question.
pub(super) struct Answer<'a> {
    /// Exit code of the run.
    pub(super) exit: Exit,
    /// Errors of single bindings that the document does not show.
    pub(super) errors: Vec<BindingError>,
    pub(super) document: Document<'a>,
    /// Notes of the document, which are printed after a table: only documents for programs and pages contain them.
    pub(super) notes: Vec<String>,
    /// Where the input came from.
    pub(super) origin: &'a Origin,
    /// Prints the messages that follow the document, where it does not scroll them away. Called even if nothing else is printed.
    pub(super) closing: Box<dyn FnOnce(&Console) + 'a>,
}

/// The document of an answer, in the form that the output format needs.
pub(super) enum Document<'a> {
    /// Table, Markdown or data.
    Content(Box<dyn Content + 'a>),
    /// Page with charts of bindings and clusters.
    Page(Box<Page>),
    /// Page of tables.
    Sheet(Box<Sheet>),
    /// Nothing: standard output is used for something else.
    Nothing,
}

impl<'a> Document<'a> {
    /// A document in the form that the output format needs: its page, or the document with its names and its text for people.
    pub(super) fn new<D, P: Into<Self>>(
        output: &Output,
        document: D,
        page: impl FnOnce(&D) -> P,
        names: impl Fn(&D) -> Vec<String> + 'a,
        text: impl Fn(&D, &mut dyn Write, Layout) -> io::Result<()> + 'a,
    ) -> Self
    where
        D: Serialize + 'a,
    {
        match output.is_page() {
            true => page(&document).into(),
            false => Self::Content(Box::new(Printed::new(document, names, text))),
        }
    }
}

impl From<Page> for Document<'_> {
    fn from(page: Page) -> Self {
        Self::Page(Box::new(page))
    }
}

impl From<Sheet> for Document<'_> {
    fn from(sheet: Sheet) -> Self {
        Self::Sheet(Box::new(sheet))
    }
}

/// Answers a question, and returns the exit code of the run.
pub(super) fn ask<Q: Question>(question: &Q, console: &Console) -> Result<Exit, Failure> {
    let presentation = question.presentation();
    check_destination(presentation.output, Q::COMMAND, console)?;
    question.check()?;
    let mut input = question.read(console)?;
    let mut decided = question.decide(&mut input, console)?;
    let mut answer = question.answer(&input, &mut decided, console)?;
    answer
        .errors
        .retain(|error| !(error.is_warning && presentation.is_quiet));
    binding_errors::report(&answer.errors, console);
    if !presentation.is_quiet {
        print(answer.document, answer.origin, &presentation, console)?;
        if presentation.output.is_table() {
            print_notes(&answer.notes, console);
        }
    }
    (answer.closing)(console);
    Ok(answer.exit)
}

fn print(
    document: Document<'_>,
    origin: &Origin,
    presentation: &Presentation<'_>,
    console: &Console,
) -> Result<(), Failure> {
    match document {
        Document::Content(content) => presentation.output.print(&*content, console),
        Document::Page(content) => {
            let heading = heading(origin, &presentation.time)?;
            let notes = folded(&content.notes);
            page::print(
                &Page {
                    heading,
                    notes,
                    ..*content
                },
                console,
            )
        }
        Document::Sheet(sheet) => {
            let notes = folded(&sheet.notes);
            sheets::print(Sheet { notes, ..*sheet }, heading(origin, &presentation.time)?, console)
        }
        Document::Nothing => Ok(()),
    }
}

fn print_notes(notes: &[String], console: &Console) {
    for note in folded(notes) {
        console.message(|out| headline(out, "note", style::HINT, &note));
    }
}
