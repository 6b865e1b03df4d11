//! The HTTP server for probes, metrics and explanations.
//!
//! | path | answer |
//! |---|---|
//! | `/healthz` | 200 as long as the process answers |
//! | `/readyz` | 200 if every check passes, else 503; one line per check, or JSON with `?format=json` |
//! | `/metrics` | metrics in the OpenMetrics text format |
//! | `/explain/{kind}/{namespace}/{name}` | the newest explanation of a namespaced binding, as JSON |
//! | `/explain/{kind}/{name}` | that of a `ClusterResourceBinding` |
//! | `/shadow` | the last differences from the scheduler in charge, as JSON |
//! | `/missing-clusters` | clusters that vanished without having been deleted, as a JSON list |
//! | POST to `/missing-clusters` | confirms that the clusters of a JSON list are gone |
//!
//! The server makes no decisions and knows no objects: it shows the data of an [`Insight`], which the scheduler implements.
//! A handler must never wait for the thread that decides, or a plugin that hangs would silence the probe that reports it.
//! Only a confirmation waits, with a deadline.
//!
//! There is neither authentication nor TLS, as on karmada-scheduler's port: bind it to an address that only probes,
//! Prometheus and operators can reach. The one request that changes anything is accepted only from the machine or pod
//! itself, from which `kubectl port-forward` connects, so it needs the right to forward ports to the pod. It must name the
//! clusters that it confirms, as JSON, which a page in a browser cannot send on its own.

mod answers;
mod confirmation;
mod server;

#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

pub use confirmation::Unconfirmed;
pub(crate) use confirmation::{Confirmation, Confirmations};
pub use server::ServeError;
pub(crate) use server::Server;

/// A condition for being ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Short name: `caches`, `plugins`, `watchdog`, `lease`.
    pub(crate) name: String,
    /// The problem and its remedy; `None` if the check passes.
    pub(crate) problem: Option<String>,
}

impl Check {
    /// A check that passes.
    pub(crate) fn passing(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            problem: None,
        }
    }

    /// A check that fails.
    pub(crate) fn failing(name: &str, problem: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            problem: Some(problem.into()),
        }
    }
}

/// Name of an object in a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectPath {
    /// The kind as given, for instance `resourcebinding`. Compare without regard to case.
    pub kind: String,
    /// The namespace; `None` for objects that have none.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name } = self;
        match namespace {
            Some(namespace) => write!(formatter, "{kind} {namespace}/{name}"),
            None => write!(formatter, "{kind} {name}"),
        }
    }
}

/// The reason why there is no explanation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unexplained {
    /// The kind is not that of a binding.
    #[error("`{kind}` is not a kind of binding, expected `ResourceBinding` or `ClusterResourceBinding`")]
    Kind {
        /// The kind from the path.
        kind: String,
    },
    /// No binding has this name, or it belongs to another scheduler.
    #[error("there is no {object} that this scheduler is responsible for")]
    Unknown {
        /// The object from the path.
        object: ObjectPath,
    },
    /// The binding was not decided since the start, or its explanation was dropped to save memory.
    #[error("no decision about {object} is remembered; only the newest explanations are kept")]
    Forgotten {
        /// The object from the path.
        object: ObjectPath,
    },
}

/// Pages of a scheduler. Called by the threads of the server, several at a time.
///
/// No method may wait for a decision; all of them read published data.
pub trait Insight: Send + Sync + 'static {
    /// The conditions for being ready. A standby is ready without the lease, as long as it sees another process that holds it.
    fn checks(&self) -> Vec<Check>;

    /// The metrics, in the format of [`Metrics::CONTENT_TYPE`](crate::observe::Metrics::CONTENT_TYPE).
    fn metrics(&self) -> String;

    /// The newest explanation of a binding.
    ///
    /// # Errors
    ///
    /// An [`Unexplained`], which becomes a response 404 with its text.
    fn explain(&self, object: &ObjectPath) -> Result<Value, Unexplained>;

    /// Clusters that vanished without having been deleted, sorted.
    fn missing_clusters(&self) -> Vec<String>;

    /// The last differences from the scheduler in charge; `None` outside shadow mode.
    fn shadow(&self) -> Option<Value>;
}
