//! The bare client: the calls of a scheduler without the scheduler.
//!
//! For each binding it sends one merge patch of the specification and, from its answer, one of the status, and, if requested, two
//! events in the background, like `divvy run`. Before the first one it lists the same six kinds in the same pages, and it watches
//! them from there on. It reads only the versions that these requests need from the API server's answers, so it is as fast as the
//! API server allows on this machine.

use std::sync::Arc;
use std::time::Duration;

use divvy_client::{Clients, WATCH_SECONDS};
use divvy_controller::objects::Kind;
use futures::StreamExt;
use futures::future::try_join_all;
use kube::api::WatchParams;
use kube::core::{ListMeta, Request, WatchEvent};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::LoadError;
use crate::api::{Api, binding_path};
use crate::objects::{NAMESPACE, REPLICAS, SCHEDULER, placement, scheduled_status, targets};

/// Events that are sent at a time, as in the scheduler.
const EVENT_CONCURRENCY: usize = 8;
/// Wait before a watch that failed is begun again.
const RETRY: Duration = Duration::from_millis(250);
/// Time that is written: what it is makes no difference.
const NOW: &str = "2026-01-01T00:00:00Z";

/// A binding that was created.
#[derive(Debug, Clone, Deserialize)]
pub struct Created {
    /// The part that a write needs.
    pub metadata: Metadata,
}

/// Name and version of a binding.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
    /// Resource version.
    pub resource_version: String,
    /// Generation.
    pub generation: i64,
}

/// Settings of a bare client.
#[derive(Debug, Clone, Copy)]
pub struct BareOptions {
    /// Bindings that are written at a time.
    pub concurrency: usize,
    /// True to write two events per binding.
    pub events: bool,
    /// Wait before each write.
    pub write_latency: Duration,
    /// Number of clusters, for results.
    pub clusters: usize,
}

/// A client that makes a scheduler's calls. Its watches and events end when it is dropped.
pub struct BareClient {
    api: Api,
    options: BareOptions,
    permits: Arc<Semaphore>,
    events: mpsc::UnboundedSender<(String, String)>,
    _background: JoinSet<()>,
}

impl BareClient {
    /// A client that has listed six kinds and watches them, ready to write.
    ///
    /// # Errors
    ///
    /// [`LoadError::Request`] if a list is refused.
    pub async fn start(clients: &Clients, options: BareOptions) -> Result<Self, LoadError> {
        let watching = Api::new(clients.watching.clone());
        let versions = try_join_all(Kind::ALL.map(|kind| list(&watching, kind))).await?;
        let mut background = JoinSet::new();
        for (kind, version) in Kind::ALL.into_iter().zip(versions) {
            background.spawn(watch_from(watching.clone(), kind, version));
        }
        let api = Api::new(clients.writing.clone());
        let (events, queue) = mpsc::unbounded_channel();
        background.spawn(send_events(api.clone(), queue, options.write_latency));
        Ok(Self {
            api,
            permits: Arc::new(Semaphore::new(options.concurrency.max(1))),
            options,
            events,
            _background: background,
        })
    }

    /// Writes the result of a binding, as soon as fewer than `concurrency` are being written.
    ///
    /// # Errors
    ///
    /// [`LoadError::Request`] if a patch is refused.
    pub async fn write(&self, number: usize, created: &Created) -> Result<(), LoadError> {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await;
        let Metadata {
            name,
            uid,
            resource_version,
            ..
        } = &created.metadata;
        let path = binding_path(NAMESPACE, name);
        let specification = json!({
            "metadata": {
                "uid": uid,
                "resourceVersion": resource_version,
                "annotations": {"policy.karmada.io/applied-placement": placement().to_string()},
            },
            "spec": {"clusters": targets(number, self.options.clusters)},
        });
        self.delay().await;
        let answer: Created = self.api.merge(&path, &specification).await?;
        let status = json!({
            "metadata": {"uid": uid, "resourceVersion": answer.metadata.resource_version},
            "status": scheduled_status(answer.metadata.generation, NOW),
        });
        self.delay().await;
        self.api.merge::<IgnoredAny>(&format!("{path}/status"), &status).await?;
        if self.options.events {
            // The receiver ends with this client.
            let _ended = self.events.send((name.clone(), uid.clone()));
        }
        Ok(())
    }

    async fn delay(&self) {
        if !self.options.write_latency.is_zero() {
            tokio::time::sleep(self.options.write_latency).await;
        }
    }
}

/// One page of a list.
#[derive(Deserialize)]
struct Page {
    metadata: ListMeta,
}

/// Lists a kind in the scheduler's pages, and returns the version of the list.
async fn list(api: &Api, kind: Kind) -> Result<String, LoadError> {
    let path = format!("{}?limit={}", kind.path(""), kind.page_size());
    let mut page: Page = api.get(&path).await?;
    // The API server sends a token with every page but the last.
    while let Some(next) = page.metadata.continue_.filter(|next| !next.is_empty()) {
        page = api.get(&format!("{path}&continue={next}")).await?;
    }
    Ok(page.metadata.resource_version.unwrap_or_default())
}

/// Watches a kind for ever. A watch that ends is begun again from where it ended, one that fails after another list.
async fn watch_from(api: Api, kind: Kind, mut version: String) {
    loop {
        if read_watch(api.client(), kind, &mut version).await.is_some() {
            continue;
        }
        tokio::time::sleep(RETRY).await;
        if let Ok(listed) = list(&api, kind).await {
            version = listed;
        }
    }
}

/// Reads a watch to its end; `None` if it fails. `version` is that of the last event.
async fn read_watch(client: &kube::Client, kind: Kind, version: &mut String) -> Option<()> {
    let parameters = WatchParams::default().timeout(WATCH_SECONDS);
    let request = Request::new(kind.path("")).watch(&parameters, version).ok()?;
    let events = client.request_events::<Changed>(request).await.ok()?;
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        match event.ok()? {
            WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object) => {
                *version = object.metadata.resource_version;
            }
            WatchEvent::Bookmark(bookmark) => *version = bookmark.metadata.resource_version,
            WatchEvent::Error(_) => return None,
        }
    }
    Some(())
}

/// An object of a watch, of which only the version is read.
#[derive(Clone, Deserialize)]
struct Changed {
    metadata: Version,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    resource_version: String,
}

/// Sends two events per binding, about itself and about its workload.
async fn send_events(api: Api, mut queue: mpsc::UnboundedReceiver<(String, String)>, latency: Duration) {
    let permits = Arc::new(Semaphore::new(EVENT_CONCURRENCY));
    while let Some((name, uid)) = queue.recv().await {
        for (api_version, kind) in [
            ("work.karmada.io/v1alpha2", "ResourceBinding"),
            ("apps/v1", "Deployment"),
        ] {
            let event = event(api_version, kind, &name, &uid);
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
                return;
            };
            let api = api.clone();
            tokio::spawn(async move {
                if !latency.is_zero() {
                    tokio::time::sleep(latency).await;
                }
                // As in the scheduler, an event that fails is dropped.
                let _dropped = api
                    .create::<IgnoredAny>(&format!("/api/v1/namespaces/{NAMESPACE}/events"), &event)
                    .await;
                drop(permit);
            });
        }
    }
}

fn event(api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    let each: Vec<String> = (0..REPLICAS)
        .map(|number| format!("{}:1", crate::objects::cluster_name(number)))
        .collect();
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": format!("{name}.{}", kind.to_lowercase()), "namespace": NAMESPACE},
        "involvedObject": {"apiVersion": api_version, "kind": kind, "namespace": NAMESPACE, "name": name, "uid": uid},
        "type": "Normal",
        "reason": "ScheduleBindingSucceed",
        "message": format!("Binding has been scheduled successfully. Result: {{{}}}", each.join(", ")),
        "source": {"component": SCHEDULER},
        "reportingComponent": SCHEDULER,
        "reportingInstance": SCHEDULER,
        "firstTimestamp": NOW,
        "lastTimestamp": NOW,
        "count": 1,
    })
}
