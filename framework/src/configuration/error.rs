//! What can be wrong with a configuration or with preferences.

use std::fmt::Display;

/// Why a value was refused. The path is that of the offending key or value, `.` for the whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// A key that the type does not have.
    #[error("{}unknown key `{key}`", at(.path))]
    UnknownKey {
        /// Path of the object that holds the key.
        path: String,
        /// The key.
        key: String,
        /// The keys that the type has.
        known: Vec<String>,
    },
    /// A value of an enum that it does not have.
    #[error("{}unknown value `{value}`", at(.path))]
    UnknownValue {
        /// Path of the value.
        path: String,
        /// The value.
        value: String,
        /// The values that the enum has.
        known: Vec<String>,
    },
    /// A key that must be there is not.
    #[error("{}missing key `{key}`", at(.path))]
    MissingKey {
        /// Path of the object.
        path: String,
        /// The key.
        key: String,
    },
    /// A value of another type, or out of range.
    #[error("{}expected {expected}, got {actual}", at(.path))]
    WrongType {
        /// Path of the value.
        path: String,
        /// What was expected.
        expected: String,
        /// What was there.
        actual: String,
    },
    /// The text is not JSON.
    #[error("not valid JSON: {message}")]
    NotJson {
        /// What the parser says.
        message: String,
    },
    /// Anything else that a type refuses.
    #[error("{}{message}", at(.path))]
    Refused {
        /// Path of the value.
        path: String,
        /// Why.
        message: String,
    },
}

/// The path in front of a message; nothing for the whole value.
fn at(path: &str) -> String {
    match path {
        "" | "." => String::new(),
        _ => format!("{path}: "),
    }
}

impl ValueError {
    /// An error of the value at `path`, for checks that a type cannot express.
    pub fn refused(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Refused {
            path: path.into(),
            message: message.into(),
        }
    }

    /// The path of the offending key or value; empty for the whole.
    pub fn path(&self) -> &str {
        match self {
            Self::UnknownKey { path, .. }
            | Self::UnknownValue { path, .. }
            | Self::MissingKey { path, .. }
            | Self::WrongType { path, .. }
            | Self::Refused { path, .. } => match path.as_str() {
                "." => "",
                path => path,
            },
            Self::NotJson { .. } => "",
        }
    }

    /// The full path of the offending key, the key included: what a reader looks up to find the line.
    pub fn key_path(&self) -> String {
        let parent = self.path();
        match self {
            Self::UnknownKey { key, .. } if parent.is_empty() => key.clone(),
            Self::UnknownKey { key, .. } => format!("{parent}.{key}"),
            _ => parent.to_owned(),
        }
    }

    /// What would help, if it is known: the nearest known key or value, or all of them if they are few.
    pub fn hint(&self) -> Option<String> {
        let (wrong, known) = match self {
            Self::UnknownKey { key, known, .. } => (key, known),
            Self::UnknownValue { value, known, .. } => (value, known),
            _ => return None,
        };
        if let Some(nearest) = nearest(wrong, known.iter().map(String::as_str)) {
            return Some(format!("did you mean `{nearest}`?"));
        }
        match known.as_slice() {
            [] => Some("no key is known here".to_owned()),
            _ => Some(format!("known: {}", quoted(known))),
        }
    }

    /// The error with its path below `parent`.
    #[must_use]
    pub fn below(mut self, parent: &str) -> Self {
        if let Self::UnknownKey { path, .. }
        | Self::UnknownValue { path, .. }
        | Self::MissingKey { path, .. }
        | Self::WrongType { path, .. }
        | Self::Refused { path, .. } = &mut self
        {
            *path = match path.as_str() {
                "" | "." => parent.to_owned(),
                rest if rest.starts_with('[') => format!("{parent}{rest}"),
                rest => format!("{parent}.{rest}"),
            };
        }
        self
    }

    /// The error, found at `found`. An unknown key is reported by its object, so the key is taken off the path.
    pub(super) fn at(mut self, found: String) -> Self {
        match &mut self {
            Self::UnknownKey { path, key, .. } => {
                let parent = found.strip_suffix(key.as_str()).unwrap_or(&found);
                *path = parent.strip_suffix('.').unwrap_or(parent).to_owned();
            }
            Self::UnknownValue { path, .. }
            | Self::MissingKey { path, .. }
            | Self::WrongType { path, .. }
            | Self::Refused { path, .. } => *path = found,
            Self::NotJson { .. } => {}
        }
        self
    }
}

/// The known name nearest to a wrong one, if one is near enough to be what was meant.
///
/// ```
/// use divvy_framework::configuration::nearest;
/// assert_eq!(nearest("wieght", ["weight", "seed"]), Some("weight"));
/// assert_eq!(nearest("average", ["Average", "Aggregated"]), Some("Average"));
/// assert_eq!(nearest("zzz", ["weight", "seed"]), None);
/// ```
pub fn nearest<'known>(wrong: &str, known: impl IntoIterator<Item = &'known str>) -> Option<&'known str> {
    let folded = wrong.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&folded, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|left, right| left.0.total_cmp(&right.0).then_with(|| right.1.cmp(left.1)))
        .map(|(_, name)| name)
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

impl serde::de::Error for ValueError {
    fn custom<T: Display>(message: T) -> Self {
        Self::refused("", message.to_string())
    }

    fn invalid_type(unexpected: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::WrongType {
            path: String::new(),
            expected: expected.to_string(),
            actual: unexpected.to_string(),
        }
    }

    fn invalid_value(unexpected: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::UnknownValue {
            path: String::new(),
            value: variant.to_owned(),
            known: owned(expected),
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::UnknownKey {
            path: String::new(),
            key: field.to_owned(),
            known: owned(expected),
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::MissingKey {
            path: String::new(),
            key: field.to_owned(),
        }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}
