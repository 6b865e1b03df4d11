//! Errors as a user meets them: `error: …`, then hints, then causes; lower case, no final period.
//!
//! The library's errors are typed, one variant a cause. Here they become text, each with its place first, so that an
//! editor can jump there, and with the exit code that they end a run with.

use std::error::Error;
use std::io::{self, Write};

use divvy_manifests::{Problem, Source};
use divvy_scheduler::profile::ProfileError;

use super::console::Console;
use super::style;
use super::text::{counted, printable};
use crate::command::Exit;

/// One error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// What is wrong, its place first.
    pub(crate) message: String,
    /// In which object, where that is not said already.
    pub(crate) object: Option<String>,
    /// What would help.
    pub(crate) hint: Option<String>,
    /// Why, from the outside in.
    pub(crate) causes: Vec<String>,
    /// More than a line on the cause, for `--verbose`.
    pub(crate) detail: Option<String>,
}

/// Why a command ended without doing what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Everything that is wrong, in order.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What that means for the run as a whole, where it is not plain.
    pub(crate) conclusion: Option<String>,
    /// The exit code.
    pub(crate) exit: Exit,
}

impl Diagnostic {
    /// An error of which nothing is known but its message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// The same with a hint.
    #[must_use]
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The same with a cause.
    #[must_use]
    pub(crate) fn with_cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// The same with what is behind an error.
    #[must_use]
    pub(crate) fn with_causes_of(mut self, error: &dyn Error) -> Self {
        let mut cause = error.source();
        while let Some(error) = cause {
            self.causes.push(error.to_string());
            cause = error.source();
        }
        self
    }

    fn write(&self, out: &mut dyn Write, verbosity: u8) -> io::Result<()> {
        headline(out, "error", style::ERROR, &self.message)?;
        if let Some(object) = &self.object {
            remark(out, "in", object)?;
        }
        if let Some(hint) = &self.hint {
            remark(out, "hint", hint)?;
        }
        for cause in &self.causes {
            remark(out, "cause", cause)?;
        }
        if let Some(detail) = &self.detail {
            if verbosity > 0 {
                for line in detail.lines() {
                    writeln!(out, "    {}", printable(line))?;
                }
            } else {
                remark(out, "hint", "`--verbose` shows everything that was found")?;
            }
        }
        Ok(())
    }
}

impl Failure {
    /// One error of usage, configuration or input.
    pub(crate) fn usage(diagnostic: Diagnostic) -> Self {
        Self::of_all(vec![diagnostic])
    }

    /// Errors of usage, configuration or input.
    pub(crate) fn of_all(diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            diagnostics,
            conclusion: None,
            exit: Exit::Usage,
        }
    }

    /// What is wrong with the input, in its order.
    pub(crate) fn input(problems: &[Problem]) -> Self {
        let count = counted(problems.len(), "problem");
        Self {
            diagnostics: problems.iter().map(diagnostic_from_problem).collect(),
            conclusion: Some(format!("{count} in the input; nothing is scheduled")),
            exit: Exit::Usage,
        }
    }

    /// The report cannot be written.
    pub(crate) fn output(error: &io::Error) -> Self {
        Self {
            diagnostics: vec![Diagnostic {
                causes: vec![error.to_string()],
                ..Diagnostic::new("standard output cannot be written")
            }],
            conclusion: None,
            exit: Exit::Internal,
        }
    }

    /// Tells everything.
    pub(crate) fn tell(&self, console: &Console) {
        console.tell(|out| self.write(out, console.verbosity()));
    }

    pub(super) fn write(&self, out: &mut dyn Write, verbosity: u8) -> io::Result<()> {
        for diagnostic in &self.diagnostics {
            diagnostic.write(out, verbosity)?;
        }
        match &self.conclusion {
            Some(conclusion) => headline(out, "error", style::ERROR, conclusion),
            None => Ok(()),
        }
    }
}

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        if let ProfileError::Invalid { problems } = &error {
            return Self::of_all(problems.iter().map(diagnostic_from_problem).collect());
        }
        Self::usage(Diagnostic {
            hint: error.hint(),
            ..Diagnostic::new(error.to_string()).with_causes_of(&error)
        })
    }
}

fn diagnostic_from_problem(problem: &Problem) -> Diagnostic {
    let mut message = String::new();
    if let Some(source) = &problem.source_of {
        message.push_str(&format!("{}: ", location(source)));
    }
    if !problem.field.is_root() {
        message.push_str(&format!("{}: ", problem.field));
    }
    message.push_str(&problem.cause.to_string());
    Diagnostic {
        message,
        object: match (&problem.object, &problem.source_of) {
            (Some(object), Some(source)) => Some(format!("{object} (document {})", source.document)),
            (None, Some(source)) if source.document > 0 => Some(format!("document {}", source.document)),
            (object, _) => object.as_ref().map(ToString::to_string),
        },
        hint: problem.hint.clone(),
        ..Diagnostic::default()
    }
}

/// A place in the input, as editors and terminals understand it.
pub(crate) fn location(source: &Source) -> String {
    match source.file.to_str() {
        Some("-") => format!("standard input:{}", source.line),
        _ => format!("{}:{}", source.file.display(), source.line),
    }
}

/// `error: …`.
pub(crate) fn headline(out: &mut dyn Write, word: &str, style: anstyle::Style, text: &str) -> io::Result<()> {
    writeln!(out, "{style}{word}{style:#}: {}", printable(text))
}

/// `  hint: …`.
pub(crate) fn remark(out: &mut dyn Write, word: &str, text: &str) -> io::Result<()> {
    let style = if word == "hint" { style::HINT } else { style::FAINT };
    writeln!(out, "  {style}{word}{style:#}: {}", printable(text))
}
