//! Connections to an API server, and requests to a scheduler that runs.
//!
//! There are two clients of an API server: one for watches and lists, one for writes. Whoever writes also decides whether to try again, and
//! whether that is still permitted: the client's own fifteen retries could outlive a lost lease. Each request has a deadline.
//!
//! - [`kubeconfig`]: the text of a kubeconfig, and the context that is chosen.
//! - [`configuration`]: what the context says, checked field by field, as settings of a client.
//! - [`exec`], [`certificate`], [`proxy`]: the parts of it with rules of their own.
//! - [`renewal`]: clients that read all of it again when it changes and when the API server refuses the credentials. [`files`]: the versions
//!   of files by which a change is noticed.
//! - [`wording`]: failures in words.
//! - [`kind`]: the kinds that Divvy reads, with their paths. [`listing`]: a control plane as manifests, for commands that read it once.
//! - [`request`], [`explanation`]: questions to the port of a running scheduler, and its answer about a binding.

pub mod annotation;
mod certificate;
mod configuration;
mod error;
mod exec;
pub mod explanation;
mod files;
mod kind;
mod kubeconfig;
pub mod listing;
mod proxy;
mod renewal;
pub mod request;
mod source;
mod wording;

#[cfg(test)]
mod tests;

use std::time::Duration;

use kube::Client;

pub use error::{ConnectionError, KubeconfigProblem};
pub use files::FileVersions;
pub use kind::Kind;
pub use source::check_kubeconfig;
pub use wording::{asked_wait, tls_error, worded};

/// Deadline of a request that is not a watch. Karmada's webhooks have three seconds, and the lease is held for five seconds
/// after the last moment at which a write may start.
pub const REQUEST_DEADLINE: Duration = Duration::from_millis(4500);

/// Server-side duration of a watch. A dead connection is noticed five seconds after it.
pub const WATCH_SECONDS: u32 = 60;

/// Address of the API server, and the user for requests to it.
#[derive(Debug, Clone, Default)]
pub struct ConnectionOptions {
    /// Kubeconfig file; `None` for `KUBECONFIG`, `~/.kube/config`, or the pod's service account.
    pub kubeconfig: Option<std::path::PathBuf>,
    /// Context of the kubeconfig; `None` for its current one.
    pub context: Option<String>,
    /// User agent, which audit logs name.
    pub user_agent: String,
}

impl ConnectionOptions {
    /// The API server of a kubeconfig's context, with a user agent that says for what this process is, such as `read`.
    pub fn new(kubeconfig: Option<std::path::PathBuf>, context: Option<String>, identity: &str) -> Self {
        Self {
            kubeconfig,
            context,
            user_agent: format!("divvy/{} {identity}", env!("CARGO_PKG_VERSION")),
        }
    }
}

/// Clients of one API server. Both renew their credentials.
#[derive(Clone)]
pub struct Clients {
    /// For watches and lists.
    pub watching: Client,
    /// For everything else.
    pub writing: Client,
    /// URL of the API server, for messages.
    pub server: String,
}

/// Connects to an API server. No request is made yet; a plugin for credentials is run.
///
/// # Errors
///
/// A [`ConnectionError`] if the configuration cannot be used.
pub async fn connect(options: &ConnectionOptions) -> Result<Clients, ConnectionError> {
    renewal::connect(options).await
}

/// Waits before a write, to simulate a slow API server in a measurement.
pub async fn delay(latency: Duration) {
    if !latency.is_zero() {
        tokio::time::sleep(latency).await;
    }
}
