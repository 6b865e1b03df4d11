//! Why a cycle gave no result: one variant a cause.

use crate::plugin::CallError;

use super::verify::Violation;

/// Why a binding was not scheduled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CycleError {
    /// No cluster is feasible.
    #[error("0/{clusters} clusters are available: {}", histogram(.reasons))]
    NoClusterFit {
        /// How many clusters there are.
        clusters: usize,
        /// How many clusters were rejected for each reason, most first.
        reasons: Vec<(usize, String)>,
    },
    /// The candidates cannot be chosen as the placement demands.
    #[error("{message}")]
    NotSelectable {
        /// The plugin that says so.
        plugin: String,
        /// Why.
        message: String,
    },
    /// The candidates cannot take what is asked.
    #[error("{message}")]
    Unschedulable {
        /// The plugin that says so; empty if it is the host.
        plugin: String,
        /// Why.
        message: String,
        /// Replicas asked for and replicas that could be placed, if that is the cause.
        figures: Option<(i64, i64)>,
    },
    /// The binding or its policy asks for something that cannot be followed: an error of its author.
    #[error("{message}")]
    InvalidBinding {
        /// The reason and its place.
        message: String,
        /// What would help.
        hint: Option<String>,
    },
    /// A plugin failed, panicked or does not serve what the profile names it for.
    #[error(transparent)]
    Plugin(CallError),
    /// A plugin's result breaks a rule.
    #[error(transparent)]
    Violation(#[from] Violation),
}

impl CycleError {
    /// The error of a call that is not about schedulability.
    pub(super) fn of_call(error: CallError) -> Self {
        match error {
            CallError::Unschedulable {
                plugin,
                message,
                figures,
            } => Self::Unschedulable {
                plugin,
                message,
                figures,
            },
            CallError::Preferences { message, hint, .. } => Self::InvalidBinding { message, hint },
            other => Self::Plugin(other),
        }
    }

    /// The word for it in results.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoClusterFit { .. } => "NoClusterFit",
            Self::NotSelectable { .. } | Self::Unschedulable { .. } => "Unschedulable",
            Self::InvalidBinding { .. } | Self::Plugin(_) | Self::Violation(_) => "Error",
        }
    }

    /// What would help, if it is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::InvalidBinding { hint, .. } => hint.as_deref(),
            _ => None,
        }
    }

    /// Whether a plugin is at fault, rather than the input.
    pub fn is_plugin_fault(&self) -> bool {
        matches!(self, Self::Plugin(_) | Self::Violation(_))
    }
}

/// "5 this reason, 7 that one".
fn histogram(reasons: &[(usize, String)]) -> String {
    if reasons.is_empty() {
        return "there is no cluster".to_owned();
    }
    let parts: Vec<String> = reasons
        .iter()
        .map(|(count, reason)| format!("{count} {reason}"))
        .collect();
    parts.join(", ")
}
