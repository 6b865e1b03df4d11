//! Errors of a cycle, one variant per cause.

use crate::plugin::CallError;

use super::verify::Violation;

/// Reason why a binding was not scheduled. Its previous result stays in place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CycleError {
    /// The filters rejected every cluster, or there are no clusters.
    #[error("0/{clusters} clusters are available: {}", histogram(.reasons))]
    NoClusterFit {
        /// Number of clusters in the snapshot.
        clusters: usize,
        /// Rejected clusters per reason, the most frequent reason first.
        reasons: Vec<(usize, String)>,
    },
    /// Select found no candidates that satisfy the placement.
    #[error("{message}")]
    NotSelectable {
        /// Name of the Select plugin.
        plugin: String,
        /// Reason, as reported by the plugin or the host.
        message: String,
    },
    /// The requested replicas cannot be placed on the candidates.
    #[error("{message}")]
    Unschedulable {
        /// Name of the plugin that reported this; empty if the host did.
        plugin: String,
        /// Reason, as reported by the plugin or the host.
        message: String,
        /// Replicas requested and replicas that could be placed, if capacity is the cause.
        figures: Option<(i64, i64)>,
    },
    /// The binding or its policy is invalid, and its author has to correct it.
    #[error("{message}")]
    InvalidBinding {
        /// The problem and its location in the manifest.
        message: String,
        /// Suggested fix, if one is known.
        hint: Option<String>,
    },
    /// A plugin failed, panicked, is quarantined, or does not serve the call that the profile needs it for.
    #[error(transparent)]
    Plugin(CallError),
    /// A plugin's result breaks a rule, so the host discards it.
    #[error(transparent)]
    Violation(#[from] Violation),
}

impl CycleError {
    /// Converts the error of a plugin call. Only faults of the plugin become [`Self::Plugin`].
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

    /// Name of this error in results: `NoClusterFit`, `Unschedulable` or `Error`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoClusterFit { .. } => "NoClusterFit",
            Self::NotSelectable { .. } | Self::Unschedulable { .. } => "Unschedulable",
            Self::InvalidBinding { .. } | Self::Plugin(_) | Self::Violation(_) => "Error",
        }
    }

    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::InvalidBinding { hint, .. } => hint.as_deref(),
            _ => None,
        }
    }

    /// True if a plugin is at fault rather than the input.
    pub fn is_plugin_fault(&self) -> bool {
        matches!(self, Self::Plugin(_) | Self::Violation(_))
    }
}

/// Lists the reasons with their counts: `5 this reason, 7 that one`.
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
