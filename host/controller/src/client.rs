//! Connections to the API server.
//!
//! There are two clients: one for watches and lists, one for writes. Writes are retried by this crate, which knows whether
//! they are still permitted; the client's own fifteen retries could outlive a lost lease. Each request has a deadline.

use std::path::Path;
use std::time::Duration;

use axum::http::header::{HeaderName, HeaderValue};
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

/// Deadline of a request that is not a watch. Karmada's webhooks have three seconds, and the lease is held for five seconds
/// after the last moment at which a write may start.
pub(crate) const REQUEST_DEADLINE: Duration = Duration::from_millis(4500);

/// Server-side duration of a watch. A dead connection is noticed five seconds after it.
pub const WATCH_SECONDS: u32 = 60;

/// Time without data after which a watching connection is dropped.
const READ_TIMEOUT: Duration = Duration::from_secs(WATCH_SECONDS as u64 + 10);

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

/// Clients of one API server.
#[derive(Clone)]
pub struct Clients {
    /// For watches and lists.
    pub watching: Client,
    /// For everything else.
    pub writing: Client,
    /// URL of the API server, for messages.
    pub server: String,
}

/// A connection that cannot be configured.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The kubeconfig cannot be read or is not valid.
    #[error("kubeconfig cannot be used: {0}")]
    Kubeconfig(KubeconfigError),
    /// There is neither a kubeconfig nor a pod's service account.
    #[error("no API server is configured: {0}")]
    NotConfigured(kube::config::InferConfigError),
    /// The user agent is not a header value.
    #[error("`{0}` cannot be sent as a user agent")]
    UserAgent(String),
    /// TLS or authentication cannot be set up.
    #[error("the connection cannot be set up: {0}")]
    Client(kube::Error),
}

impl ConnectionError {
    /// Suggested fix.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Kubeconfig(_) => Some("`--kubeconfig FILE` and `--context NAME` choose another"),
            Self::NotConfigured(_) => Some("name a kubeconfig with `--kubeconfig FILE`"),
            Self::UserAgent(_) | Self::Client(_) => None,
        }
    }
}

/// Connects to an API server. No request is made yet.
///
/// # Errors
///
/// A [`ConnectionError`] if the configuration cannot be used.
pub async fn connect(options: &ConnectionOptions) -> Result<Clients, ConnectionError> {
    let mut config = configuration(options).await?;
    let agent = HeaderValue::from_str(&options.user_agent)
        .map_err(|_| ConnectionError::UserAgent(options.user_agent.clone()))?;
    config.headers.push((HeaderName::from_static("user-agent"), agent));
    config.default_retry = false;
    let mut watching = config.clone();
    watching.read_timeout = Some(READ_TIMEOUT);
    watching.reset_reader_on_write = true;
    Ok(Clients {
        server: config.cluster_url.to_string(),
        watching: Client::try_from(watching).map_err(ConnectionError::Client)?,
        writing: Client::try_from(config).map_err(ConnectionError::Client)?,
    })
}

/// Waits before a write, to simulate a slow API server in a measurement.
pub(crate) async fn delay(latency: Duration) {
    if !latency.is_zero() {
        tokio::time::sleep(latency).await;
    }
}

async fn configuration(options: &ConnectionOptions) -> Result<Config, ConnectionError> {
    let choice = KubeConfigOptions {
        context: options.context.clone(),
        ..KubeConfigOptions::default()
    };
    match &options.kubeconfig {
        Some(file) => {
            let kubeconfig = read(file)?;
            let config = Config::from_custom_kubeconfig(kubeconfig, &choice).await;
            config.map_err(ConnectionError::Kubeconfig)
        }
        None if options.context.is_some() => Config::from_kubeconfig(&choice)
            .await
            .map_err(ConnectionError::Kubeconfig),
        None => Config::infer().await.map_err(ConnectionError::NotConfigured),
    }
}

fn read(file: &Path) -> Result<Kubeconfig, ConnectionError> {
    Kubeconfig::read_from(file).map_err(ConnectionError::Kubeconfig)
}
