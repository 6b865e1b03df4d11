//! Labels of workloads on a control plane, for commands that choose bindings by them.
//!
//! Karmada copies neither the labels of a workload into its binding nor those of the binding's policy. So the workloads are
//! listed: one list per kind that has bindings, of their metadata alone. Only the right to `list` them is needed.

use std::collections::BTreeSet;

use divvy_karmada::api::{ObjectMeta, TypeMeta};
use http::Request as HttpRequest;
use kube::core::Request;
use kube::core::params::ListParams;
use serde::Deserialize;
use serde_json::Value;

use super::ask;
use crate::{Clients, REQUEST_DEADLINE, worded};

/// Objects per page. Metadata is small.
const PAGE_SIZE: u32 = 500;

/// The metadata of all workloads of some kinds.
#[derive(Debug, Default)]
pub struct ListedWorkloads {
    /// Type and metadata of each.
    pub workloads: Vec<(TypeMeta, ObjectMeta)>,
    /// Kinds that could not be listed.
    pub unlisted: Vec<Unlisted>,
}

/// A kind whose objects cannot be listed, so that their labels are unknown.
#[derive(Debug, thiserror::Error)]
#[error("the labels of {} objects ({}) are unknown, because these cannot be listed", .kind.kind, .kind.api_version)]
pub struct Unlisted {
    /// The kind.
    pub(crate) kind: TypeMeta,
    /// The cause.
    pub source: UnlistedCause,
}

/// The cause for which a kind cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum UnlistedCause {
    /// The API server serves no such kind.
    #[error("the API server does not serve them")]
    NotServed,
    /// The API server refused or failed.
    #[error("{}", worded(.0))]
    Request(Box<kube::Error>),
    /// The API server did not answer.
    #[error("no answer within {REQUEST_DEADLINE:?}")]
    Deadline,
}

/// The resources of a version of an API group.
#[derive(Deserialize)]
struct ApiResources {
    #[serde(default)]
    resources: Vec<ApiResource>,
}

#[derive(Deserialize)]
struct ApiResource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
}

/// Lists the metadata of all workloads of these kinds, in a namespace if one is given. A kind that cannot be listed does not affect the
/// others.
pub async fn list_workloads(clients: &Clients, kinds: &BTreeSet<TypeMeta>, namespace: Option<&str>) -> ListedWorkloads {
    let mut listed = ListedWorkloads::default();
    for kind in kinds {
        match list_kind(clients, kind, namespace).await {
            Ok(metadata) => {
                let of_kind = metadata.into_iter().map(|metadata| (kind.clone(), metadata));
                listed.workloads.extend(of_kind);
            }
            Err(source) => listed.unlisted.push(Unlisted {
                kind: kind.clone(),
                source,
            }),
        }
    }
    listed
}

async fn list_kind(
    clients: &Clients,
    kind: &TypeMeta,
    namespace: Option<&str>,
) -> Result<Vec<ObjectMeta>, UnlistedCause> {
    let root = match kind.api_version.contains('/') {
        true => format!("/apis/{}", kind.api_version),
        false => format!("/api/{}", kind.api_version),
    };
    let request = HttpRequest::get(&root)
        .body(Vec::new())
        .map_err(kube::core::request::Error::BuildRequest);
    let served = match send(clients, request).await {
        Err(UnlistedCause::Request(error)) if matches!(&*error, kube::Error::Api(status) if status.code == 404) => {
            return Err(UnlistedCause::NotServed);
        }
        served => served?,
    };
    let served: ApiResources = read(served)?;
    // A name with a slash is a subresource.
    let is_meant = |resource: &&ApiResource| resource.kind == kind.kind && !resource.name.contains('/');
    let resource = served.resources.iter().find(is_meant).ok_or(UnlistedCause::NotServed)?;
    let path = match namespace.filter(|_| resource.namespaced) {
        Some(namespace) => format!("{root}/namespaces/{namespace}/{}", resource.name),
        None => format!("{root}/{}", resource.name),
    };
    let request = Request::new(path);
    let mut parameters = ListParams::default().limit(PAGE_SIZE);
    let mut listed = Vec::new();
    loop {
        let mut page = send(clients, request.list_metadata(&parameters)).await?;
        for item in page["items"].as_array_mut().into_iter().flatten() {
            listed.push(read(item["metadata"].take())?);
        }
        match page["metadata"]["continue"].as_str() {
            Some(next) if !next.is_empty() => parameters = parameters.continue_token(next),
            _ => return Ok(listed),
        }
    }
}

async fn send(
    clients: &Clients,
    request: Result<HttpRequest<Vec<u8>>, kube::core::request::Error>,
) -> Result<Value, UnlistedCause> {
    let failed = |error| UnlistedCause::Request(Box::new(error));
    let request = request.map_err(|error| failed(kube::Error::BuildRequest(error)))?;
    let answer = ask(clients, request).await;
    answer.ok_or(UnlistedCause::Deadline)?.map_err(failed)
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, UnlistedCause> {
    serde_json::from_value(value).map_err(|error| UnlistedCause::Request(Box::new(kube::Error::SerdeError(error))))
}
