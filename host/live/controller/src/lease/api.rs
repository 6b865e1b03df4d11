//! The three requests that an election needs of an API server.

use std::future::Future;

use divvy_client::worded;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kube::api::PostParams;

/// A request about a lease that failed.
#[derive(Debug, thiserror::Error)]
pub enum LeaseApiError {
    /// The lease does not exist. For a creation: its namespace does not.
    #[error("not found")]
    NotFound,
    /// The lease has changed since it was read, or exists already.
    #[error("changed by another scheduler")]
    Conflict,
    /// Any other failure, in the API server's words if there are any.
    #[error("{0}")]
    Other(String),
}

/// Reads and writes one lease.
pub trait LeaseApi: Send + Sync {
    /// Reads the lease.
    fn get(&self) -> impl Future<Output = Result<Lease, LeaseApiError>> + Send;

    /// Creates the lease; a [`LeaseApiError::Conflict`] if it exists.
    fn create(&self, lease: &Lease) -> impl Future<Output = Result<Lease, LeaseApiError>> + Send;

    /// Replaces the lease; a [`LeaseApiError::Conflict`] if its resourceVersion is not the current one.
    fn update(&self, lease: &Lease) -> impl Future<Output = Result<Lease, LeaseApiError>> + Send;
}

/// A lease of a cluster.
#[derive(Debug, Clone)]
pub struct LeasesOfCluster {
    api: Api<Lease>,
    name: String,
}

impl LeasesOfCluster {
    /// The lease `name` among those of `api`.
    ///
    /// The client must not retry by itself (`default_retry = false`): a retry would outlive the moment for which it was
    /// meant. The elector gives every request a deadline.
    pub fn new(api: Api<Lease>, name: &str) -> Self {
        Self {
            api,
            name: name.to_owned(),
        }
    }
}

impl LeaseApi for LeasesOfCluster {
    async fn get(&self) -> Result<Lease, LeaseApiError> {
        Ok(self.api.get(&self.name).await?)
    }

    async fn create(&self, lease: &Lease) -> Result<Lease, LeaseApiError> {
        Ok(self.api.create(&PostParams::default(), lease).await?)
    }

    async fn update(&self, lease: &Lease) -> Result<Lease, LeaseApiError> {
        Ok(self.api.replace(&self.name, &PostParams::default(), lease).await?)
    }
}

impl From<kube::Error> for LeaseApiError {
    fn from(error: kube::Error) -> Self {
        match &error {
            kube::Error::Api(status) if status.is_not_found() => Self::NotFound,
            kube::Error::Api(status) if status.is_conflict() || status.is_already_exists() => Self::Conflict,
            _ => Self::Other(worded(&error)),
        }
    }
}
