//! Errors as users see them: `error: …`, then hints, then causes, in lower case and without a final period.
//!
//! The library's errors are typed, one variant per cause. This module turns them into text and assigns the exit code.
//! Each message starts with its location, so that an editor can jump there.

use std::error::Error;
use std::io::{self, Write};

use divvy_manifests::{Problem, Source};
use divvy_profile::ProfileError;

use crate::exit::Exit;
use crate::style;
use crate::text::{counted, plural, printable};

/// One error, with everything that helps to understand and fix it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostic {
    /// The problem, starting with its location.
    pub message: String,
    /// The object with the problem, if the message does not name it.
    pub object: Option<String>,
    /// Suggested fix.
    pub hint: Option<String>,
    /// Underlying errors, the outermost first.
    pub causes: Vec<String>,
    /// Several lines about the cause, printed with `--verbose` only.
    pub detail: Option<String>,
}

/// Errors that kept a command from doing its work. Each is printed, and the process ends with the exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The errors, in the order of the input.
    pub diagnostics: Vec<Diagnostic>,
    /// Consequence for the whole run, printed last, unless it is obvious.
    pub conclusion: Option<String>,
    /// Exit code of the process.
    pub exit: Exit,
}

impl Diagnostic {
    /// A diagnostic with a message only.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// Sets the hint.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Appends a cause.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Appends the sources of an error, the outermost first.
    #[must_use]
    pub fn with_causes_of(mut self, error: &dyn Error) -> Self {
        let sources = std::iter::successors(error.source(), |&error| error.source());
        self.causes.extend(sources.map(ToString::to_string));
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
    /// One error of usage, configuration or input: exit code 2.
    pub fn usage(diagnostic: Diagnostic) -> Self {
        Self::usage_errors(vec![diagnostic])
    }

    /// One error of Divvy itself: exit code 3.
    pub fn internal(diagnostic: Diagnostic) -> Self {
        Self {
            exit: Exit::Internal,
            ..Self::usage(diagnostic)
        }
    }

    /// Several errors of usage, configuration or input: exit code 2.
    pub fn usage_errors(diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            diagnostics,
            conclusion: None,
            exit: Exit::Usage,
        }
    }

    /// Problems in the input, in its order: nothing is scheduled, exit code 2.
    pub fn input(problems: &[Problem]) -> Self {
        let count = counted(problems.len(), "problem");
        Self {
            conclusion: Some(format!("{count} in the input; nothing is scheduled")),
            ..Self::usage_errors(problems.iter().map(diagnostic_from_problem).collect())
        }
    }

    /// Problems in the input that do not end the run: the objects that have them, so many, are left out.
    pub fn left_out(problems: &[Problem], objects: usize) -> Self {
        let count = counted(problems.len(), "problem");
        let objects = match (problems.len(), objects) {
            (1, _) => "its object is".to_owned(),
            (_, objects) => format!("{} {}", counted(objects, "object"), plural(objects, "is", "are")),
        };
        Self {
            conclusion: Some(format!("{count} in the input; {objects} left out")),
            ..Self::input(problems)
        }
    }

    /// Standard output cannot be written: exit code 3.
    pub fn output(error: &io::Error) -> Self {
        Self {
            exit: Exit::Internal,
            ..Self::usage(Diagnostic::new("standard output cannot be written").with_cause(error.to_string()))
        }
    }

    /// Every error and the conclusion as one text without colour, for logs.
    pub fn text(&self) -> String {
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _infallible = self.write(&mut anstream::StripStream::new(&mut text), 0);
        String::from_utf8_lossy(&text).trim_end().to_owned()
    }

    /// Writes every error, then the conclusion.
    pub fn write(&self, out: &mut dyn Write, verbosity: u8) -> io::Result<()> {
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
            return Self::usage_errors(problems.iter().map(diagnostic_from_problem).collect());
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

/// A location in the input as `FILE:LINE`, which editors and terminals can open.
pub fn location(source: &Source) -> String {
    match source.file.to_str() {
        Some("-") => format!("standard input:{}", source.line),
        _ => format!("{}:{}", source.file.display(), source.line),
    }
}

/// Writes the first line of a message: `error: …`.
pub fn headline(out: &mut dyn Write, word: &str, style: anstyle::Style, text: &str) -> io::Result<()> {
    writeln!(out, "{style}{word}{style:#}: {}", printable(text))
}

/// Writes an indented line below a message: `  hint: …`.
pub fn remark(out: &mut dyn Write, word: &str, text: &str) -> io::Result<()> {
    let style = if word == "hint" { style::HINT } else { style::FAINT };
    writeln!(out, "  {style}{word}{style:#}: {}", printable(text))
}
