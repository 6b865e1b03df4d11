//! Problems and warnings, each with its location. Every cause has its own variant.
//!
//! A problem prevents scheduling, so all problems of all files are collected before any is reported. A warning
//! prevents nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::names;
use super::path::FieldPath;

/// Location of an object in the input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The file; `-` is standard input.
    pub file: Arc<Path>,
    /// Number of the document in the file, counted from 1; 0 in a format with one document per file.
    pub document: usize,
    /// Line in the file, counted from 1.
    pub line: usize,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line) = (self.file.display(), self.line);
        match self.document {
            0 => write!(formatter, "{file}:{line}"),
            document => write!(formatter, "{file}: document {document}, line {line}"),
        }
    }
}

/// Kind, namespace and name of an object, displayed as `Deployment default/nginx`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// The kind.
    pub kind: String,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// The name; empty if it is missing.
    pub name: String,
}

impl ObjectName {
    /// The name of an object. `namespace` is empty for cluster-scoped objects.
    pub fn new(kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { "(no name)" } else { &self.name };
        if self.namespace.is_empty() {
            write!(formatter, "{} {name}", self.kind)
        } else {
            write!(formatter, "{} {}/{name}", self.kind, self.namespace)
        }
    }
}

/// An error in the input. Nothing is scheduled until it is fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Location in the input; `None` if no document exists, for example because a file cannot be opened.
    pub source_of: Option<Source>,
    /// The object, if it is known.
    pub object: Option<ObjectName>,
    /// The field; the root if the problem concerns the whole object.
    pub field: FieldPath,
    /// The cause, from which the message is made.
    pub cause: Cause,
    /// Suggested remedy, unless it is obvious.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem with a whole input, such as an unreadable file.
    pub fn unlocated(cause: Cause) -> Self {
        Self {
            source_of: None,
            object: None,
            field: FieldPath::root(),
            cause,
            hint: None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_location(formatter, self.source_of.as_ref(), self.object.as_ref())?;
        if !self.field.is_root() {
            write!(formatter, "{}: ", self.field)?;
        }
        self.cause.fmt(formatter)
    }
}

impl std::error::Error for Problem {}

/// The cause of a problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum Cause {
    /// An input path that does not exist.
    #[error("`{}` does not exist", .path.display())]
    NotFound {
        /// The path, as it was given.
        path: PathBuf,
    },
    /// A file or folder that cannot be opened or read.
    #[error("`{}` cannot be read: {reason}", .path.display())]
    Unreadable {
        path: PathBuf,
        /// Message of the operating system.
        reason: String,
    },
    /// Input beyond the size limit.
    #[error("`{}` is larger than {bytes_max} bytes", .path.display())]
    TooLarge {
        path: PathBuf,
        /// Maximum size in bytes.
        bytes_max: u64,
    },
    /// Input without any object.
    #[error("the input holds no object")]
    NoObject,
    /// A file that is not text.
    #[error("`{}` is not text: it contains a NUL byte", .path.display())]
    Binary { path: PathBuf },
    /// A file that is not UTF-8 text.
    #[error("`{}` is not UTF-8: byte {offset} (line {line}) is not valid", .path.display())]
    NotUtf8 {
        path: PathBuf,
        /// Offset of the first invalid byte.
        offset: usize,
        /// Line of that byte, counted from 1.
        line: usize,
    },
    /// Text that is not valid in its language.
    #[error("not valid {language}: {message}")]
    Syntax {
        /// `JSON`, `TOML` or `YAML`.
        language: &'static str,
        /// Message of the parser.
        message: String,
    },
    /// The same key twice in a mapping.
    #[error("the key `{key}` is given twice, first on line {first_line}")]
    DuplicateKey {
        key: String,
        /// Line of its first occurrence.
        first_line: usize,
    },
    /// Lists and mappings that are nested too deeply.
    #[error("nested deeper than {depth_max} levels")]
    TooDeep {
        /// Maximum depth.
        depth_max: usize,
    },
    /// YAML aliases that expand to too many values.
    #[error("aliases expand to more than {bytes_max} bytes")]
    TooManyAliases {
        /// Maximum bytes of the expanded values.
        bytes_max: usize,
    },
    /// A value of the wrong type.
    #[error("expected {expected}, got {actual}")]
    WrongType {
        /// Description of the expected value.
        expected: String,
        /// Description of the value in the input.
        actual: String,
    },
    /// A value of the right type that is not allowed.
    #[error("{reason}")]
    InvalidValue {
        /// Why it is not allowed.
        reason: String,
    },
    /// A value that a later check refuses, such as a plugin's own.
    #[error("{location}: {reason}")]
    Refused {
        /// Location in the notation of the check: a path, or the origin of a rule.
        location: String,
        /// Why it is refused.
        reason: String,
    },
    /// A required field that is missing.
    #[error("missing: expected {expected}")]
    Missing {
        /// Description of the expected value.
        expected: String,
    },
    /// A key that the type does not have.
    #[error("unknown key `{key}`")]
    UnknownKey {
        key: String,
        /// The keys of the type.
        known: Vec<String>,
    },
    /// A word that is not a value of the enumeration.
    #[error("unknown value `{value}`")]
    UnknownValue {
        value: String,
        /// The values of the enumeration.
        known: Vec<String>,
    },
    /// A required key that is missing.
    #[error("missing key `{key}`")]
    MissingKey { key: String },
    /// A selector that an API server would reject.
    #[error("invalid selector: {reason}")]
    InvalidSelector {
        /// Why it is invalid.
        reason: String,
    },
    /// A Karmada kind in an unsupported version.
    #[error("expected `{expected}` for the kind `{kind}`, got `{actual}`")]
    UnsupportedVersion {
        kind: String,
        /// The supported version.
        expected: String,
        /// The version in the input.
        actual: String,
    },
    /// Two different objects with the same name.
    #[error("given twice, first in {first}")]
    DuplicateObject {
        /// Location of its first occurrence.
        first: Source,
    },
}

impl Cause {
    /// Text that is not valid in its language.
    pub(crate) fn syntax(language: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Syntax { language, message }
    }

    /// A value of the wrong type.
    pub fn wrong_type(expected: impl Into<String>, actual: impl Into<String>) -> Self {
        let (expected, actual) = (expected.into(), actual.into());
        Self::WrongType { expected, actual }
    }

    /// The nearest known name, or the likely mistake behind a wrong type; `None` if there is nothing to suggest.
    pub fn hint(&self) -> Option<String> {
        let (expected, actual) = match self {
            Self::UnknownKey { key: name, known } | Self::UnknownValue { value: name, known } => {
                return names::hint(name, known).or_else(|| Some("no key is known here".to_owned()));
            }
            Self::WrongType { expected, actual } => (expected, actual),
            _ => return None,
        };
        let is_plain_scalar = actual.starts_with("the number") || actual.starts_with("the boolean");
        if expected == "a string" && is_plain_scalar {
            return Some("put the value in quotes".to_owned());
        }
        let is_quoted_number = actual
            .strip_prefix("the string \"")
            .and_then(|text| text.strip_suffix('"'))
            .is_some_and(|text| text.parse::<i64>().is_ok());
        (expected.starts_with("a whole number") && is_quoted_number).then(|| "remove the quotes".to_owned())
    }
}

/// A remark on the input that does not prevent scheduling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Location in the input, if it is known.
    pub source_of: Option<Source>,
    /// The object, if it is known.
    pub object: Option<ObjectName>,
    /// Name of the annotation that it is about, if it is about one.
    pub annotation: Option<String>,
    /// The unusual part of the input, and how it is interpreted.
    pub message: String,
    /// Suggested remedy, if one is known.
    pub hint: Option<String>,
}

impl Warning {
    /// A warning without a location.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            source_of: None,
            object: None,
            annotation: None,
            message: message.into(),
            hint: None,
        }
    }

    /// The same warning, about an annotation with this name.
    #[must_use]
    pub fn in_annotation(self, name: &str) -> Self {
        Self {
            annotation: Some(name.to_owned()),
            ..self
        }
    }

    /// The same warning with a hint.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_location(formatter, self.source_of.as_ref(), self.object.as_ref())?;
        formatter.write_str(&self.message)
    }
}

/// Writes the known parts of the location in front of a message.
fn write_location(
    formatter: &mut fmt::Formatter<'_>,
    source: Option<&Source>,
    object: Option<&ObjectName>,
) -> fmt::Result {
    if let Some(source) = source {
        write!(formatter, "{source}: ")?;
    }
    match object {
        Some(object) => write!(formatter, "{object}: "),
        None => Ok(()),
    }
}
