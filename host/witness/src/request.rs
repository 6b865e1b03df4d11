//! Requests of a call to the system.

use std::fmt;

/// Something that a call asked the system for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// The time.
    Clock,
    /// A variable of the environment.
    Variable(String),
    /// A system call.
    System {
        /// What was asked for, as the predicate of a sentence: "opens".
        what: &'static str,
        /// The path that it is about, if there is one.
        path: Option<String>,
    },
}

impl fmt::Display for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock => formatter.write_str("reads the clock"),
            Self::Variable(name) => write!(formatter, "reads the environment variable `{name}`"),
            Self::System { what, path: None } => formatter.write_str(what),
            Self::System { what, path: Some(path) } => write!(formatter, "{what} `{path}`"),
        }
    }
}
