//! The bare client: the calls of a scheduler without the scheduler.
//!
//! For each binding it sends one merge patch of the specification and, from its answer, one of the status, and if asked for two
//! events in the background: what `divvy run` sends. It keeps the same six watches open and reads them without looking at what
//! they say. So it is as fast as the API server allows on this machine.

use std::sync::Arc;
use std::time::Duration;

use divvy_controller::client::Clients;
use divvy_controller::objects::Kind;
use futures::StreamExt;
use kube::api::WatchParams;
use kube::core::Request;
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
/// Server-side duration of a watch, in seconds.
const WATCH_SECONDS: u32 = 60;
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
    /// A client with six open watches.
    pub fn start(clients: &Clients, options: BareOptions) -> Self {
        let mut background = JoinSet::new();
        for kind in Kind::ALL {
            let client = clients.watching.clone();
            background.spawn(async move {
                loop {
                    read_watch(&client, kind).await;
                    tokio::time::sleep(Duration::from_millis(250)).await;
                }
            });
        }
        let api = Api::new(clients.writing.clone());
        let (events, queue) = mpsc::unbounded_channel();
        background.spawn(send_events(api.clone(), queue, options.write_latency));
        Self {
            api,
            permits: Arc::new(Semaphore::new(options.concurrency.max(1))),
            options,
            events,
            _background: background,
        }
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

/// Reads a watch to its end.
async fn read_watch(client: &kube::Client, kind: Kind) {
    let parameters = WatchParams::default().timeout(WATCH_SECONDS);
    let Ok(request) = Request::new(kind.path("")).watch(&parameters, "") else {
        return;
    };
    let Ok(events) = client.request_events::<Ignored>(request).await else {
        return;
    };
    let mut events = std::pin::pin!(events);
    while let Some(Ok(_)) = events.next().await {}
}

/// An object of a watch that is not looked at.
#[derive(Clone, Deserialize)]
struct Ignored {}

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
