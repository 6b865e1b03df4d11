//! A fault inside one document, and the error with which types refuse values.

use std::fmt;

use serde::de::{self, Unexpected};

use super::diagnostic::{Cause, Problem, Source};
use super::node::{Node, NodeValue};
use super::path::{FieldPath, PathSegment};
use super::words;

/// A fault inside one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Path of the value. An unknown or missing key is reported at the mapping that contains or lacks it.
    pub path: FieldPath,
    /// Line in the file, counted from 1.
    pub line: usize,
    /// The cause, from which the message is made.
    pub cause: Cause,
    /// Suggested remedy, if one is known.
    pub hint: Option<String>,
}

impl Fault {
    /// A fault without a hint.
    pub fn new(path: FieldPath, line: usize, cause: Cause) -> Self {
        Self {
            path,
            line,
            cause,
            hint: None,
        }
    }

    /// A fault with the hint of its cause.
    pub fn with_usual_hint(path: FieldPath, line: usize, cause: Cause) -> Self {
        Self {
            hint: cause.hint(),
            ..Self::new(path, line, cause)
        }
    }

    /// Path of the value or key at fault. The path of an unknown key ends in the key.
    pub fn key_path(&self) -> FieldPath {
        match &self.cause {
            Cause::UnknownKey { key, .. } => self.path.key(key),
            _ => self.path.clone(),
        }
    }

    /// Turns the fault into a problem at a location.
    pub fn into_problem(self, source: Source) -> Problem {
        Problem {
            source_of: Some(source),
            object: None,
            field: self.path,
            cause: self.cause,
            hint: self.hint,
        }
    }
}

/// Why a value was refused, with the path of the offending key or value.
// Boxed, because serde passes errors through every level of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueError(Box<Fault>);

impl ValueError {
    /// An error that concerns the whole document.
    pub fn new(cause: Cause) -> Self {
        // Line 0 means that the line is not known yet.
        Fault::new(FieldPath::root(), 0, cause).into()
    }

    /// An error for the value at `location` (`entries[1].weight`), for checks that a type cannot express. An empty
    /// `location` means the whole document.
    pub fn refused(location: impl Into<String>, message: impl Into<String>) -> Self {
        let (location, reason) = (location.into(), message.into());
        Self::new(match location.is_empty() {
            true => Cause::InvalidValue { reason },
            false => Cause::Refused { location, reason },
        })
    }

    /// An error for text that is not valid JSON.
    pub fn not_json(error: &serde_json::Error) -> Self {
        Self::new(Cause::syntax("JSON", error.to_string()))
    }

    /// Path of the value or key at fault; empty for the whole document.
    pub fn key_path(&self) -> String {
        match &self.0.cause {
            Cause::Refused { location, .. } => location.clone(),
            _ => self.0.key_path().to_string(),
        }
    }

    /// This error with a suggested remedy.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Suggested remedy, if one is known: for a wrong name, the nearest known name or all of them.
    pub fn hint(&self) -> Option<String> {
        self.0.hint.clone().or_else(|| self.0.cause.hint())
    }

    /// An error for a value that is not of the expected type.
    pub(crate) fn wrong_type(node: &Node, expected: &dyn de::Expected) -> Self {
        let cause = Cause::wrong_type(words::expected(&expected.to_string()), node.describe());
        Fault::new(FieldPath::root(), node.line, cause).into()
    }

    /// Sets the line, unless it is already known.
    pub(crate) fn on_line(mut self, line: usize) -> Self {
        if self.0.line == 0 {
            self.0.line = line;
        }
        self
    }

    /// Sets the value that the error is in, unless a nested value is already known. Replaces the description of a number or a
    /// text, which serde may have rounded, with the document's.
    pub(crate) fn in_value(mut self, node: &Node) -> Self {
        // Serde reads tagged variants from a copy, so the value that it describes can be inside this one. Its
        // description of a list also lacks the length.
        let is_inside = matches!(node.value, NodeValue::List(_) | NodeValue::Mapping(_));
        if let (0, Cause::WrongType { actual, .. }, false) = (self.0.line, &mut self.0.cause, is_inside) {
            *actual = node.describe();
        }
        self.on_line(node.line)
    }

    /// Puts an error of a key's own type at the key. An unknown name is at the mapping that contains it.
    pub(crate) fn under_key(self, key: &str) -> Self {
        match self.0.cause {
            Cause::WrongType { .. } => self.below(PathSegment::Key(key.to_owned())),
            _ => self,
        }
    }

    pub(crate) fn below(mut self, segment: PathSegment) -> Self {
        self.0.path.prepend(segment);
        self
    }
}

impl From<Fault> for ValueError {
    fn from(fault: Fault) -> Self {
        Self(Box::new(fault))
    }
}

impl From<ValueError> for Fault {
    fn from(error: ValueError) -> Self {
        *error.0
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.path.is_root() {
            write!(formatter, "{}: ", self.0.path)?;
        }
        self.0.cause.fmt(formatter)
    }
}

impl std::error::Error for ValueError {}

impl de::Error for ValueError {
    fn custom<Message: fmt::Display>(message: Message) -> Self {
        Self::refused("", words::reason(message.to_string()))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let actual = words::actual(unexpected);
        Self::new(Cause::wrong_type(words::expected(&expected.to_string()), actual))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        let actual = format!("a list of {length}");
        Self::new(Cause::wrong_type(words::expected(&expected.to_string()), actual))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::refused("", format!("`{field}` is given twice, also by another name"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Cause::UnknownValue {
            value: variant.to_owned(),
            known: expected.iter().map(ToString::to_string).collect(),
        })
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Cause::UnknownKey {
            key: field.to_owned(),
            known: expected.iter().map(ToString::to_string).collect(),
        })
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Cause::MissingKey { key: field.to_owned() })
    }
}
