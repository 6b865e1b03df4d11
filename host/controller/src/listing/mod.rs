//! A live control plane as manifests: one list per kind, as `kubectl get -o json` prints it.
//!
//! For commands that read once and do not watch. They parse the text with the same reader as files, so that both are
//! validated and reported alike.

mod labels;

pub use labels::{ListedWorkloads, list_workloads};

use kube::core::Request;
use kube::core::params::ListParams;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::client::{Clients, REQUEST_DEADLINE};
use crate::objects::Kind;

/// A list that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The API server refused or failed.
    #[error("{kind} objects cannot be listed")]
    Failed {
        /// The kind.
        kind: &'static str,
        /// The API server's answer, or the connection's error.
        source: Box<kube::Error>,
    },
    /// The API server did not answer.
    #[error("{kind} objects cannot be listed: no answer within {REQUEST_DEADLINE:?}")]
    Deadline {
        /// The kind.
        kind: &'static str,
    },
}

/// Kinds that decide, in the order in which they are listed.
const KINDS: [Kind; 5] = [
    Kind::Cluster,
    Kind::Policy,
    Kind::ClusterPolicy,
    Kind::Binding,
    Kind::ClusterBinding,
];

/// Lists everything that decides: clusters, policies and bindings. With a namespace, only its own policies and bindings,
/// besides those that have none.
///
/// Returns pairs of a name for messages and a `List` as JSON, one per page.
///
/// # Errors
///
/// A [`ListError`] for the first kind that cannot be listed.
pub async fn list(clients: &Clients, namespace: Option<&str>) -> Result<Vec<(String, String)>, ListError> {
    let mut lists = Vec::new();
    for kind in KINDS {
        let path = match (kind, namespace) {
            (Kind::Policy | Kind::Binding, Some(namespace)) => kind.path(namespace),
            (Kind::ClusterBinding, Some(_)) => continue,
            _ => kind.path(""),
        };
        let request = Request::new(path);
        let mut parameters = ListParams::default().limit(kind.page_size());
        loop {
            let failed = |source: kube::Error| ListError::Failed {
                kind: kind.kind(),
                source: Box::new(source),
            };
            let page = request
                .list(&parameters)
                .map_err(|error| failed(kube::Error::BuildRequest(error)))?;
            let page = timeout(REQUEST_DEADLINE, clients.watching.request::<Value>(page)).await;
            let mut page = page
                .map_err(|_| ListError::Deadline { kind: kind.kind() })?
                .map_err(failed)?;
            let items = page["items"].take();
            lists.push((format!("{} at {}", kind.plural(), clients.server), as_list(kind, items)));
            match page["metadata"]["continue"].as_str() {
                Some(next) if !next.is_empty() => parameters = parameters.continue_token(next),
                _ => break,
            }
        }
    }
    Ok(lists)
}

/// Items as a `List`. Those of an aggregated API server lack their type.
fn as_list(kind: Kind, items: Value) -> String {
    let mut items = items;
    for item in items.as_array_mut().into_iter().flatten() {
        item["apiVersion"] = json!(format!("{}/{}", kind.group(), kind.version()));
        item["kind"] = json!(kind.kind());
        // Data that other controllers keep for themselves is large and irrelevant to decisions.
        if let Some(metadata) = item["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}
