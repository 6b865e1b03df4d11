//! A live control plane as manifests: one list per kind, as `kubectl get -o json` prints it.
//!
//! For commands that read once and do not watch. They parse the text with the same reader as files, so that both are
//! validated and reported alike.

mod labels;

pub use labels::{ListedWorkloads, list_workloads};

use std::time::Duration;

use http::Request as HttpRequest;
use kube::core::Request;
use kube::core::params::ListParams;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::Kind;
use crate::{Clients, REQUEST_DEADLINE, asked_wait, worded};

/// A list that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The API server refused or failed.
    #[error("{kind} objects cannot be listed")]
    Failed {
        /// The kind.
        kind: &'static str,
        /// The API server's answer, or the failure of the connection.
        source: Failure,
    },
    /// The API server did not answer.
    #[error("{kind} objects cannot be listed: no answer within {REQUEST_DEADLINE:?}")]
    Deadline {
        /// The kind.
        kind: &'static str,
    },
}

/// A request that failed, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Failure(String);

impl Failure {
    pub(crate) fn of(error: &kube::Error) -> Self {
        Self(worded(error))
    }
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
    list_kinds(clients, &KINDS, namespace).await
}

/// Lists the bindings alone, as [`list`] does.
///
/// # Errors
///
/// The same as those of [`list`].
pub async fn list_bindings(clients: &Clients) -> Result<Vec<(String, String)>, ListError> {
    list_kinds(clients, &[Kind::Binding, Kind::ClusterBinding], None).await
}

async fn list_kinds(
    clients: &Clients,
    kinds: &[Kind],
    namespace: Option<&str>,
) -> Result<Vec<(String, String)>, ListError> {
    let mut lists = Vec::new();
    for &kind in kinds {
        let path = match (kind, namespace) {
            (Kind::Policy | Kind::Binding, Some(namespace)) => kind.path(namespace),
            (Kind::ClusterBinding, Some(_)) => continue,
            _ => kind.path(""),
        };
        let request = Request::new(path);
        let mut parameters = ListParams::default().limit(kind.page_size());
        loop {
            let failed = |source: &kube::Error| ListError::Failed {
                kind: kind.kind(),
                source: Failure::of(source),
            };
            let page = request
                .list(&parameters)
                .map_err(|error| failed(&kube::Error::BuildRequest(error)))?;
            let page = ask(clients, page).await;
            let mut page = page
                .ok_or(ListError::Deadline { kind: kind.kind() })?
                .map_err(|error| failed(&error))?;
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

/// Attempts of a request that an overloaded API server asks to repeat.
const ATTEMPTS: u32 = 10;
/// Longest wait between two of them.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Wait for an API server that does not say how long.
const WAIT: Duration = Duration::from_secs(1);

/// Sends a request, again if the API server has too many (429). `None` if there is no answer in time.
pub(crate) async fn ask(clients: &Clients, request: HttpRequest<Vec<u8>>) -> Option<Result<Value, kube::Error>> {
    let mut attempt = 1;
    loop {
        let answer = timeout(REQUEST_DEADLINE, clients.watching.request::<Value>(request.clone())).await;
        let answer = answer.ok()?;
        match &answer {
            Err(kube::Error::Api(status)) if status.code == 429 && attempt < ATTEMPTS => {
                let wait = asked_wait(status).unwrap_or(WAIT).min(WAIT_MAX);
                tracing::info!(?wait, "the API server has too many requests; waiting");
                sleep(wait).await;
            }
            _ => return Some(answer),
        }
        attempt += 1;
    }
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
