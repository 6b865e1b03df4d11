//! Requests of a call to the system.

use std::fmt;

/// Something that a call asked the system for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What was asked for, as the predicate of a sentence: "opens".
    pub what: &'static str,
    /// The path that it is about, if there is one.
    pub path: Option<String>,
}

impl fmt::Display for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            None => formatter.write_str(self.what),
            Some(path) => write!(formatter, "{} `{path}`", self.what),
        }
    }
}
