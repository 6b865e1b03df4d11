//! An annotation of a binding, written by a command.

use kube::core::Request;
use kube::core::params::{Patch, PatchParams};
use serde_json::json;

use crate::listing::{Failure, ask};
use crate::{Clients, Kind, REQUEST_DEADLINE};

/// A binding at one version.
#[derive(Debug, Clone, Copy)]
pub struct Version<'a> {
    /// `Kind::Binding` or `Kind::ClusterBinding`.
    pub kind: Kind,
    /// Its namespace; empty if it has none.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its UID.
    pub uid: &'a str,
    /// Its resource version.
    pub resource_version: &'a str,
}

/// Reason why an annotation was not written.
#[derive(Debug, thiserror::Error)]
pub enum AnnotationError {
    /// The binding has another version, or is another one.
    #[error("it was changed meanwhile")]
    Changed,
    /// There is no such binding any more.
    #[error("it is gone")]
    Gone,
    /// The API server refused or failed.
    #[error("{0}")]
    Failed(Failure),
    /// The API server did not answer.
    #[error("no answer within {REQUEST_DEADLINE:?}")]
    Deadline,
}

/// Writes an annotation of a binding, or removes it, if the binding has this version.
///
/// # Errors
///
/// An [`AnnotationError`]. After [`AnnotationError::Deadline`], it may have been written.
pub async fn annotate(
    clients: &Clients,
    binding: &Version<'_>,
    (key, value): (&str, Option<&str>),
) -> Result<(), AnnotationError> {
    let body = json!({"metadata": {
        "uid": binding.uid,
        "resourceVersion": binding.resource_version,
        "annotations": {key: value},
    }});
    let path = Request::new(binding.kind.path(binding.namespace));
    let request = path.patch(binding.name, &PatchParams::default(), &Patch::Merge(body));
    let request = request.map_err(|error| AnnotationError::Failed(Failure::of(&kube::Error::BuildRequest(error))))?;
    match ask(clients, request).await {
        None => Err(AnnotationError::Deadline),
        Some(Ok(_)) => Ok(()),
        // A changed UID is a conflict as well.
        Some(Err(kube::Error::Api(status))) if status.code == 409 => Err(AnnotationError::Changed),
        Some(Err(kube::Error::Api(status))) if status.code == 404 => Err(AnnotationError::Gone),
        Some(Err(error)) => Err(AnnotationError::Failed(Failure::of(&error))),
    }
}
