//! Errors of a cycle, one variant per cause.

use crate::guard::Defect;
use crate::plan::Plan;
use crate::plugin::{CallError, RefusedRow};
use crate::profile::{UnknownStrategy, UnusableTables};

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
    /// The binding or its policy is invalid; its author has to correct it.
    #[error("{message}")]
    InvalidBinding {
        /// The problem and its location in the manifest.
        message: String,
        /// Name of the annotation at fault, if one is.
        annotation: Option<Box<str>>,
        /// Suggested fix, if one is known.
        hint: Option<String>,
    },
    /// A plugin refuses the preferences that the binding or its policy carries for it.
    #[error("{}plugin `{plugin}`: {message}", prefix(.origin))]
    InvalidPreferences {
        /// Name of the plugin.
        plugin: String,
        /// The object and its annotation; empty if they are not known, or if the message begins with them.
        origin: Box<str>,
        /// Name of the annotation, if it is known.
        annotation: Option<Box<str>>,
        /// Path in the preferences, and the problem.
        message: String,
        /// Suggested fix, if one is known.
        hint: Option<String>,
    },
    /// A plugin needs the time of the decision, which the caller did not provide.
    #[error("plugin `{plugin}` needs the time of the decision, which is not known")]
    TimeUnknown {
        /// Name of the plugin.
        plugin: String,
    },
    /// A plugin reads a table that the caller does not provide.
    #[error("plugin `{plugin}` reads the table `{table}`, which is not known")]
    TableUnknown {
        /// Name of the plugin.
        plugin: String,
        /// Name of the table, as the plugin declares it.
        table: String,
    },
    /// The tables of a recorded case cannot be used.
    #[error(transparent)]
    UnusableTables(#[from] UnusableTables),
    /// A plugin cannot use a row of a table. Its profile is refused when it loads the next time.
    #[error(transparent)]
    TableRow(Box<RefusedRow>),
    /// A plugin needs the placements of other bindings, which the caller does not provide.
    #[error("plugin `{plugin}` needs the placements of other bindings in the groups of this one, which are not known")]
    PlacementsUnknown {
        /// Name of the plugin.
        plugin: String,
    },
    /// A plugin failed, panicked, is quarantined, or does not serve a call that the profile uses it for.
    #[error(transparent)]
    Plugin(CallError),
    /// A plugin's result breaks a rule, so the host discards it.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// Divvy's own code panicked.
    #[error(transparent)]
    Defect(#[from] Defect),
}

/// Kind of errors that are a fault, unlike a lack of room.
const ERROR: &str = "Error";

impl CycleError {
    /// Converts the error of a plugin call. Only faults of the plugin become [`Self::Plugin`].
    pub(super) fn from_call(error: CallError) -> Self {
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
            CallError::Preferences {
                plugin, message, hint, ..
            } => Self::InvalidPreferences {
                plugin,
                origin: Box::default(),
                annotation: None,
                message,
                hint,
            },
            CallError::Table(row) => Self::TableRow(row),
            other => Self::Plugin(other),
        }
    }

    /// Name of this error in results: `NoClusterFit`, `Unschedulable` or `Error`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoClusterFit { .. } => "NoClusterFit",
            Self::NotSelectable { .. } | Self::Unschedulable { .. } => "Unschedulable",
            Self::InvalidBinding { .. }
            | Self::InvalidPreferences { .. }
            | Self::TimeUnknown { .. }
            | Self::TableUnknown { .. }
            | Self::UnusableTables(_)
            | Self::TableRow(_)
            | Self::PlacementsUnknown { .. }
            | Self::Plugin(_)
            | Self::Violation(_)
            | Self::Defect(_) => ERROR,
        }
    }

    /// True if the clusters have too little room, or none of them can be selected, so that fewer replicas may fit.
    pub(crate) fn lacks_room(&self) -> bool {
        matches!(self, Self::NotSelectable { .. } | Self::Unschedulable { .. })
    }

    /// True if this is an outcome of scheduling rather than a fault.
    pub fn is_refusal(&self) -> bool {
        self.kind() != ERROR
    }

    /// A count that may be the largest that fits, if this error refuses `replicas` and counts what is missing.
    pub fn suggested_count(&self, replicas: i64) -> Option<i64> {
        match self {
            Self::Unschedulable {
                figures: Some((requested, available)),
                ..
            } => Some(replicas.saturating_sub(requested.saturating_sub(*available))),
            _ => None,
        }
    }

    /// Adds a note to the message of a lack of room.
    pub(crate) fn add(&mut self, note: &str) {
        if let Self::NotSelectable { message, .. } | Self::Unschedulable { message, .. } = self {
            message.push_str("; ");
            message.push_str(note);
        }
    }

    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::InvalidBinding { hint, .. } | Self::InvalidPreferences { hint, .. } => hint.as_deref(),
            Self::TableRow(row) => row.hint.as_deref(),
            Self::Defect(_) => Some(Defect::HINT),
            _ => None,
        }
    }

    /// True if the binding, its policy or the caller is at fault and has to be corrected.
    pub fn is_input_fault(&self) -> bool {
        self.kind() == ERROR && !self.is_plugin_fault() && !self.is_defect()
    }

    /// This error with the location of the preferences that a plugin refuses.
    pub(super) fn located(mut self, plan: &Plan) -> Self {
        if let Self::InvalidPreferences {
            plugin,
            origin,
            annotation,
            message,
            ..
        } = &mut self
            && let Some(known) = plan.preferences.iter().find(|known| known.plugin == *plugin)
        {
            *annotation = Some(known.annotation.as_str().into());
            // The message may begin with the location already, as for an entry of a list.
            if !message.starts_with(known.origin.as_str()) {
                *origin = known.origin.as_str().into();
            }
        }
        self
    }

    /// True if a plugin is at fault rather than the input.
    pub fn is_plugin_fault(&self) -> bool {
        matches!(self, Self::Plugin(_) | Self::Violation(_))
    }

    /// True if Divvy itself is at fault.
    pub fn is_defect(&self) -> bool {
        matches!(self, Self::Defect(_))
    }
}

/// A location before a message.
fn prefix(origin: &str) -> String {
    if origin.is_empty() {
        return String::new();
    }
    format!("{origin}: ")
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

impl From<UnknownStrategy> for CycleError {
    fn from(error: UnknownStrategy) -> Self {
        Self::InvalidBinding {
            message: error.to_string(),
            annotation: None,
            hint: Some(format!("known: {}", error.known.join(", "))),
        }
    }
}
