//! Problems and warnings, each with its place: one variant per cause.
//!
//! A problem stops everything, so every problem of every file is collected before any is reported. A warning
//! stops nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::names;
use super::path::FieldPath;

/// Where an object came from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The file; `-` is standard input.
    pub file: Arc<Path>,
    /// The document in the file, counted from 1; 0 in a format whose files are one document.
    pub document: usize,
    /// The line in the file, counted from 1.
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

/// The kind and name of an object, as people write them: `Deployment default/nginx`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// The kind.
    pub kind: String,
    /// The namespace; empty for what has none.
    pub namespace: String,
    /// The name; empty where it is missing.
    pub name: String,
}

impl ObjectName {
    /// The name of an object; `namespace` is empty for one that has none.
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

/// Something in the input that must be put right before anything is scheduled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Place in the input; `None` if there is no document, as for a file that cannot be opened.
    pub source_of: Option<Source>,
    /// The object, as far as it is known.
    pub object: Option<ObjectName>,
    /// The field; the root for the whole object.
    pub field: FieldPath,
    /// Cause.
    pub cause: Cause,
    /// Remedy, unless it is obvious.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem with an input as a whole.
    pub fn of_input(cause: Cause) -> Self {
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
        write_place(formatter, self.source_of.as_ref(), self.object.as_ref())?;
        if !self.field.is_root() {
            write!(formatter, "{}: ", self.field)?;
        }
        self.cause.fmt(formatter)
    }
}

impl std::error::Error for Problem {}

/// The cause of a problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// A path that does not exist.
    #[error("`{}` does not exist", .path.display())]
    NotFound {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A file or folder that cannot be read.
    #[error("`{}` cannot be read: {reason}", .path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Message of the operating system.
        reason: String,
    },
    /// More input than is plausible.
    #[error("`{}` is larger than {bytes_max} bytes", .path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// The limit.
        bytes_max: u64,
    },
    /// A file that is not text.
    #[error("`{}` is not UTF-8: byte {offset} (line {line}) is not valid", .path.display())]
    NotUtf8 {
        /// The path.
        path: PathBuf,
        /// The offset of the first invalid byte.
        offset: usize,
        /// Its line.
        line: usize,
    },
    /// Text that breaks the rules of its language.
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
        /// The key.
        key: String,
        /// Where it is given first.
        first_line: usize,
    },
    /// Lists and mappings nested beyond reason.
    #[error("nested deeper than {depth_max} levels")]
    TooDeep {
        /// The limit.
        depth_max: usize,
    },
    /// Aliases that multiply a document.
    #[error("aliases expand to more than {nodes_max} values")]
    TooManyAliases {
        /// The limit.
        nodes_max: usize,
    },
    /// A value of another type.
    #[error("expected {expected}, got {actual}")]
    WrongType {
        /// The value that belongs there.
        expected: String,
        /// The value that is there.
        actual: String,
    },
    /// A value of the right type that is not allowed.
    #[error("{reason}")]
    InvalidValue {
        /// Why not.
        reason: String,
    },
    /// A value that a check beyond its type refuses.
    #[error("{place}: {reason}")]
    Refused {
        /// Its place in the words of whoever checks: a path, or the origin of a rule.
        place: String,
        /// The reason.
        reason: String,
    },
    /// A field that must be there.
    #[error("missing: expected {expected}")]
    Missing {
        /// The value that belongs there.
        expected: String,
    },
    /// A key that a type does not have.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// The keys of the type.
        known: Vec<String>,
    },
    /// A word that is not one of an enumeration.
    #[error("unknown value `{value}`")]
    UnknownValue {
        /// The word.
        value: String,
        /// The words of the enumeration.
        known: Vec<String>,
    },
    /// A key that a type needs.
    #[error("missing key `{key}`")]
    MissingKey {
        /// The key.
        key: String,
    },
    /// A selector that no API server would take.
    #[error("invalid selector: {reason}")]
    InvalidSelector {
        /// Why.
        reason: String,
    },
    /// A kind of Karmada in a version that is not read.
    #[error("expected `{expected}` for the kind `{kind}`, got `{actual}`")]
    UnsupportedVersion {
        /// The kind.
        kind: String,
        /// The version that is read.
        expected: String,
        /// The version in the input.
        actual: String,
    },
    /// The same object twice.
    #[error("given twice, first in {first}")]
    DuplicateObject {
        /// Where it is given first.
        first: Source,
    },
}

impl Cause {
    /// Text that breaks the rules of a language.
    pub(crate) fn syntax(language: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Syntax { language, message }
    }

    /// A value of another type.
    pub(crate) fn wrong_type(expected: impl Into<String>, actual: impl Into<String>) -> Self {
        let (expected, actual) = (expected.into(), actual.into());
        Self::WrongType { expected, actual }
    }

    /// The nearest known name, or the usual slip behind a wrong type.
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
        (expected.starts_with("an integer") && is_quoted_number).then(|| "remove the quotes".to_owned())
    }
}

/// Something in the input that is read as best it can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Place in the input, as far as it is known.
    pub source_of: Option<Source>,
    /// The object, as far as it is known.
    pub object: Option<ObjectName>,
    /// The oddity, and how it was read.
    pub message: String,
    /// Remedy, if one is known.
    pub hint: Option<String>,
}

impl Warning {
    /// A warning without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            source_of: None,
            object: None,
            message: message.into(),
            hint: None,
        }
    }

    /// The same with a hint.
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
        write_place(formatter, self.source_of.as_ref(), self.object.as_ref())?;
        formatter.write_str(&self.message)
    }
}

/// The place in front of a message, as far as it is known.
fn write_place(
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
