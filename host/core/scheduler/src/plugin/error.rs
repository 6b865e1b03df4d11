//! Errors of calls to plugins, one variant per cause.

use divvy_isolation::IsolationError;
use divvy_loader::LoadError;

use super::call::Call;

/// Reason why a call to a plugin gave no result. It aborts the cycle and leaves the binding's previous result in place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The binding cannot be scheduled on these clusters: a scheduling outcome, not a plugin fault.
    #[error("{message}")]
    Unschedulable {
        /// Name of the plugin.
        plugin: String,
        /// Reason, as reported by the plugin.
        message: String,
        /// Replicas requested and replicas that could be placed, if capacity is the cause.
        figures: Option<(i64, i64)>,
    },
    /// The plugin rejected the preferences of the policy. The host reports an invalid binding.
    #[error("preferences for plugin `{plugin}`: {message}")]
    Preferences {
        /// Name of the plugin.
        plugin: String,
        /// The problem, with the path of the key.
        message: String,
        /// Path of the invalid key.
        path: String,
        /// Suggested fix, if one is known.
        hint: Option<String>,
    },
    /// The plugin cannot use a row of a table.
    #[error(transparent)]
    Table(Box<RefusedRow>),
    /// The plugin reported an internal error.
    #[error("plugin `{plugin}` failed: {message}")]
    Internal {
        /// Name of the plugin.
        plugin: String,
        /// Message of the plugin.
        message: String,
    },
    /// The plugin panicked. After a few panics in a row, the host quarantines it.
    #[error("plugin `{plugin}` panicked: {message}{}", at(.location))]
    Panic {
        /// Name of the plugin.
        plugin: String,
        /// Message of the panic.
        message: String,
        /// File and line in the plugin's source; empty if unknown.
        location: String,
    },
    /// The plugin's worker gave no answer: it ended, hung, or broke the protocol. The next call starts it again.
    #[error("plugin `{plugin}` failed in {call}: {error}")]
    Isolated {
        /// Name of the plugin.
        plugin: String,
        /// The call that was not answered.
        call: Call,
        /// What happened.
        error: IsolationError,
    },
    /// The plugin's worker ended too many times in a row. `divvy run` calls it again after a while.
    #[error(
        "plugin `{plugin}` is not called after its worker failed for {failures} bindings in a row; the last time, {message}"
    )]
    Suspended {
        /// Name of the plugin.
        plugin: String,
        /// Number of consecutive bindings.
        failures: u32,
        /// The last failure.
        message: String,
    },
    /// The plugin does not serve this call.
    #[error("plugin `{plugin}` {message}")]
    NotServed {
        /// Name of the plugin.
        plugin: String,
        /// The call that is not served.
        message: String,
    },
    /// The plugin panicked too many times in a row and is no longer called until its profile is loaded again.
    #[error("plugin `{plugin}` is quarantined after {panics} panics in a row; the last one: {message}")]
    Quarantined {
        /// Name of the plugin.
        plugin: String,
        /// Number of consecutive panics.
        panics: u32,
        /// Message of the last panic.
        message: String,
    },
}

/// Reason why a plugin could not be constructed.
#[derive(Debug, thiserror::Error)]
pub enum ConstructError {
    /// The plugin refused, or failed.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Its worker gave no answer.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
}

fn at(location: &str) -> String {
    if location.is_empty() {
        String::new()
    } else {
        format!(" (at {location})")
    }
}

/// A row of a table that a plugin cannot use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("plugin `{plugin}` refuses row {number} of the table `{table}` for cluster `{cluster}`{}: {message}", in_column(.column))]
pub struct RefusedRow {
    /// Name of the plugin.
    pub plugin: String,
    /// Name of the table, as the plugin declares it.
    pub table: String,
    /// Name of a cluster that the row is for.
    pub cluster: String,
    /// Number of the row among those for the cluster, starting at 0.
    pub number: usize,
    /// Name of the column; empty for the whole row.
    pub column: String,
    /// Message of the plugin.
    pub message: String,
    /// Suggested fix, if one is known.
    pub hint: Option<String>,
}

fn in_column(column: &str) -> String {
    match column {
        "" => String::new(),
        column => format!(", column `{column}`"),
    }
}
