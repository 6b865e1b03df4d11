//! Connections that cannot be configured: the file, the field, what is wrong with it, and a hint.
//!
//! No text shows a value of a kubeconfig that may be secret.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A connection that cannot be configured.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The kubeconfig cannot be read or is not valid.
    #[error("kubeconfig `{}` cannot be used: {problem}", .file.display())]
    Kubeconfig {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: Box<KubeconfigProblem>,
    },
    /// There is neither a kubeconfig nor a pod's service account.
    #[error("no API server is configured: {0}")]
    NotConfigured(String),
    /// The user agent is not a header value.
    #[error("`{0}` cannot be sent as a user agent")]
    UserAgent(String),
    /// TLS or authentication cannot be set up.
    #[error("the connection cannot be set up: {0}")]
    Client(String),
}

impl ConnectionError {
    /// Suggested fix.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Kubeconfig { problem, .. } => problem.hint(),
            Self::NotConfigured(_) => Some("name a kubeconfig with `--kubeconfig FILE`".to_owned()),
            Self::UserAgent(_) | Self::Client(_) => None,
        }
    }
}

/// A field of a kubeconfig: `token` of the user `admin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The field's own name.
    pub(super) name: &'static str,
    /// `cluster`, `user` or `context`.
    pub(super) kind: &'static str,
    /// The name of that.
    pub(super) owner: String,
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, owner } = self;
        write!(formatter, "`{name}` of the {kind} `{owner}`")
    }
}

/// Something that is wrong with a kubeconfig.
#[derive(Debug, thiserror::Error)]
pub enum KubeconfigProblem {
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// The file is not text.
    #[error("it is not text in UTF-8")]
    Encoding,
    /// The text is not YAML.
    #[error("it is not YAML: {0}")]
    Syntax(String),
    /// A field has a value of another type.
    #[error("`{field}`: {problem}")]
    Type {
        /// Path of the field.
        field: String,
        /// The type that was found, and the one that was expected.
        problem: String,
    },
    /// There is no context, so it describes no connection.
    #[error("it has no contexts")]
    NoContexts,
    /// No context is chosen.
    #[error("`current-context` is missing")]
    NoCurrentContext {
        /// Names of all contexts.
        known: Vec<String>,
    },
    /// The chosen context does not exist.
    #[error("it has no context `{name}`")]
    UnknownContext {
        /// The context that was chosen.
        name: String,
        /// Names of all contexts.
        known: Vec<String>,
    },
    /// The context names a cluster that does not exist.
    #[error("`cluster` of the context `{context}` is `{cluster}`, and it has no cluster of this name")]
    UnknownCluster {
        /// The context.
        context: String,
        /// The cluster.
        cluster: String,
    },
    /// A field is missing.
    #[error("{0} is missing")]
    Missing(Field),
    /// A field has a value that cannot be used.
    #[error("{field} {problem}")]
    Invalid {
        /// The field.
        field: Field,
        /// What is wrong with the value.
        problem: String,
        /// Suggested fix.
        hint: Option<String>,
    },
    /// A field names a file that cannot be read.
    #[error("{field} is `{}`, which cannot be read: {source}", .file.display())]
    File {
        /// The field.
        field: Field,
        /// The file.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The plugin that provides credentials fails.
    #[error("`exec` of the user `{user}`: {problem}")]
    Exec {
        /// The user.
        user: String,
        /// What is wrong.
        problem: String,
        /// Suggested fix: the kubeconfig's `installHint`, if the command is missing.
        hint: Option<String>,
    },
}

impl KubeconfigProblem {
    fn hint(&self) -> Option<String> {
        let contexts = |known: &[String]| match known {
            [] => None,
            known => Some(format!(
                "its contexts are {}; choose one with `--context NAME`",
                listed(known)
            )),
        };
        match self {
            Self::NoCurrentContext { known } | Self::UnknownContext { known, .. } => contexts(known),
            Self::Invalid { hint, .. } | Self::Exec { hint, .. } => hint.clone(),
            Self::Unreadable(_) | Self::NoContexts | Self::Encoding => {
                Some("`--kubeconfig FILE` chooses another file".to_owned())
            }
            Self::Syntax(_) | Self::Type { .. } => {
                Some("`kubectl config view --kubeconfig FILE` reads it, too".to_owned())
            }
            Self::UnknownCluster { .. } | Self::Missing(_) => {
                Some("`--context NAME` chooses another context".to_owned())
            }
            Self::File { .. } => Some("a relative path begins at the folder of the kubeconfig".to_owned()),
        }
    }
}

/// Maximum of names in a hint.
const NAMES_MAX: usize = 10;

/// Names for a hint.
fn listed(names: &[String]) -> String {
    let mut quoted: Vec<String> = names.iter().take(NAMES_MAX).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMES_MAX {
        quoted.push(format!("and {} more", names.len() - NAMES_MAX));
    }
    quoted.join(", ")
}
