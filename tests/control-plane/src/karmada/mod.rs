//! A simulation of the rest of Karmada: the controllers that write the scheduler's input and read its output.
//!
//! Every controller is one method that compares all objects with what they should be and writes the differences. A test calls
//! the methods in the order that it needs, or lets [`Karmada::run`] call them all, again and again.
//!
//! It is beside the world in memory (`tests/world`) on purpose. It shows what real servers do with the scheduler's requests: it
//! validates, waits for watches and is late. It is made of requests, and its detector is that of `divvy-karmada`, which a world of
//! bindings does not need. What Karmada decides is stated in both; neither can be made of the other.

mod detector;
mod eviction;
pub mod late_members;
pub mod members;
mod status;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::objects::{CLUSTER, Objects};
use crate::users::KARMADA;
use crate::{ControlPlane, Error};

/// Name that Karmada gives to a policy without a scheduler.
pub const DEFAULT_SCHEDULER: &str = "default-scheduler";
/// Time between two passes of [`Karmada::run`].
const PASS: Duration = Duration::from_millis(250);
/// Time between two heartbeats of every cluster.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Karmada's controllers, except the scheduler.
#[derive(Clone)]
pub struct Karmada {
    objects: Objects,
    scheduler_name: String,
}

/// Controllers that run in the background, until this is dropped.
#[derive(Debug)]
pub struct Running {
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Karmada {
    /// The controllers of a control plane. Bindings of policies that name no scheduler get `scheduler_name`.
    pub async fn new(control_plane: &ControlPlane, scheduler_name: &str) -> Result<Self, Error> {
        Ok(Self {
            objects: Objects::new(control_plane.client(KARMADA).await?),
            scheduler_name: scheduler_name.to_owned(),
        })
    }

    /// The objects, as Karmada's controllers see them.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Runs all controllers in the background. A pass that fails is repeated: the API server may be away.
    pub fn run(&self) -> Running {
        let karmada = self.clone();
        Running {
            task: tokio::spawn(async move {
                let mut heartbeat = tokio::time::Instant::now();
                loop {
                    if heartbeat.elapsed() >= HEARTBEAT {
                        heartbeat = tokio::time::Instant::now();
                        let _ = karmada.heartbeat().await;
                    }
                    let _ = karmada.pass().await;
                    tokio::time::sleep(PASS).await;
                }
            }),
        }
    }

    /// Runs every controller once.
    pub async fn pass(&self) -> Result<(), Error> {
        self.detect().await?;
        self.report().await?;
        self.account().await?;
        self.purge_evictions().await
    }

    /// Writes what every cluster reports all the time: a status that changed in nothing that a scheduler reads.
    pub async fn heartbeat(&self) -> Result<(), Error> {
        for cluster in self.objects.list(CLUSTER, "").await? {
            let before = cluster["status"]["nodeSummary"]["readyNum"].as_i64().unwrap_or(0);
            let patch = json!({"status": {"nodeSummary": {"totalNum": 10, "readyNum": 9 + (before + 1) % 2}}});
            self.objects.merge_status(CLUSTER, "", name(&cluster), &patch).await?;
        }
        Ok(())
    }
}

/// Namespace and name of an object.
fn key(object: &Value) -> (&str, &str) {
    (
        object["metadata"]["namespace"].as_str().unwrap_or_default(),
        name(object),
    )
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// A list of an object; empty if it is absent.
fn items<'a>(object: &'a Value, list: &str) -> &'a [Value] {
    object
        .pointer(list)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
