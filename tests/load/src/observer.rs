//! Records the time at which each binding is scheduled, with a watch of its own.
//!
//! The same observer is open while the scheduler and while the bare client is measured, so that its cost is in both.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use divvy_client::WATCH_SECONDS;
use divvy_controller::objects::Kind;
use futures::StreamExt;
use kube::Client;
use kube::api::WatchParams;
use kube::core::{Request, WatchEvent};
use serde::Deserialize;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::objects::NAMESPACE;

/// Watches the bindings of the namespace until it is dropped.
pub struct Observer {
    seen: Arc<Mutex<HashMap<String, Instant>>>,
    count: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

#[derive(Clone, Deserialize)]
struct Seen {
    metadata: Name,
    #[serde(default)]
    status: Status,
}

#[derive(Clone, Deserialize)]
struct Name {
    name: String,
}

#[derive(Clone, Default, Deserialize)]
struct Status {
    #[serde(default)]
    conditions: Vec<Condition>,
}

#[derive(Clone, Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

impl Observer {
    /// Starts to watch on the current runtime.
    pub fn start(client: Client) -> Self {
        let seen = Arc::new(Mutex::new(HashMap::new()));
        let (counter, count) = watch::channel(0);
        let noted = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            loop {
                observe(&client, &noted, &counter).await;
                // A watch ends every minute, or with the API server.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        Self { seen, count, task }
    }

    /// Waits until `count` bindings are scheduled. Returns how many are if none is added within `patience`.
    pub async fn wait(&self, count: usize, patience: Duration) -> Result<(), usize> {
        let mut counter = self.count.clone();
        loop {
            let seen = *counter.borrow_and_update();
            if seen >= count {
                return Ok(());
            }
            match tokio::time::timeout(patience, counter.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return Err(seen),
            }
        }
    }

    /// Time at which each binding was first seen scheduled, by name.
    pub fn times(&self) -> HashMap<String, Instant> {
        locked(&self.seen).clone()
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn locked(seen: &Mutex<HashMap<String, Instant>>) -> MutexGuard<'_, HashMap<String, Instant>> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One watch, from the present state on.
async fn observe(client: &Client, seen: &Mutex<HashMap<String, Instant>>, counter: &watch::Sender<usize>) {
    let parameters = WatchParams::default().timeout(WATCH_SECONDS);
    let Ok(request) = Request::new(Kind::Binding.path(NAMESPACE)).watch(&parameters, "") else {
        return;
    };
    let Ok(events) = client.request_events::<Seen>(request).await else {
        return;
    };
    let mut events = std::pin::pin!(events);
    while let Some(Ok(event)) = events.next().await {
        let (WatchEvent::Added(binding) | WatchEvent::Modified(binding)) = event else {
            continue;
        };
        let mut conditions = binding.status.conditions.iter();
        if conditions.any(|condition| condition.kind == "Scheduled" && condition.status == "True") {
            let mut seen = locked(seen);
            seen.entry(binding.metadata.name).or_insert_with(Instant::now);
            counter.send_replace(seen.len());
        }
    }
}
