//! The API server with Karmada's other controllers and the members.
//!
//! Whoever owns it sets its clock, calls what happens to it, and then takes from [`ControlPlane::happenings`] what came of it: to show changes
//! to schedulers, and to judge. So it neither knows who watches nor what is a breach.

mod clusters;
mod estimates;
mod evictions;
mod karmada;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use divvy_controller::engine::Moment;
use divvy_controller::objects::{Kind, ObjectKey};
use divvy_karmada::api::Timestamp;
use serde_json::Value;

use crate::agenda::Millis;
use crate::member::Member;
use crate::server::Server;

pub use self::clusters::{REPORT_PERIOD, cluster_key, cluster_number};
pub use self::estimates::Estimating;
pub use self::evictions::{Ends, ends};
pub use self::karmada::{requests_of, target_number};

/// Seconds since 1970 at which every world begins.
pub const EPOCH: i64 = 1_800_000_000;

/// Something that came of what the world did.
#[derive(Debug, Clone)]
pub enum Happening {
    /// A sentence of the story.
    Said(String),
    /// A controller, or someone else beside the scheduler, changed a binding.
    BindingChanged {
        /// The binding.
        key: ObjectKey,
        /// It before.
        before: Arc<Value>,
        /// It afterwards.
        after: Arc<Value>,
    },
    /// A cluster appeared, changed or disappeared.
    ClusterChanged,
    /// With this version, what a cluster offers beside its reports changed.
    Offered(u64),
    /// Pods ended in a cluster.
    PodsEnded(String),
    /// Karmada ends the evictions of a binding because they are replaced.
    Replaced {
        /// The binding.
        key: ObjectKey,
        /// It before that.
        binding: Arc<Value>,
        /// Its pods in each cluster that have been ready.
        ready: Vec<i64>,
    },
}

/// The API server, the rest of Karmada, and the members.
#[derive(Debug)]
pub struct ControlPlane {
    /// The present.
    pub now: Millis,
    /// The API server.
    pub server: Server,
    /// The members. Number `n` is the cluster `cn`.
    pub members: Vec<Member>,
    /// Seconds after which an eviction ends although its replacement is not healthy.
    grace: u32,
    /// Clusters that vanished, as they were.
    vanished: BTreeMap<usize, Value>,
    /// Bindings whose pods and reports may differ from what they ask for.
    dirty: BTreeSet<ObjectKey>,
    /// Writes to bindings that the controllers have seen.
    dispatched: usize,
    /// Sums by which late estimators answer.
    estimates: BTreeMap<usize, i64>,
    happenings: Vec<Happening>,
}

impl ControlPlane {
    /// Members that have not joined yet.
    pub fn new(members: Vec<Member>, grace: u32) -> Self {
        Self {
            now: 0,
            server: Server::default(),
            members,
            grace,
            vanished: BTreeMap::new(),
            dirty: BTreeSet::new(),
            dispatched: 0,
            estimates: BTreeMap::new(),
            happenings: Vec::new(),
        }
    }

    /// What came of everything since the last call, in order.
    pub fn happenings(&mut self) -> Vec<Happening> {
        std::mem::take(&mut self.happenings)
    }

    /// The present as an API server writes it.
    pub fn wall(&self) -> Timestamp {
        Timestamp::from_seconds(EPOCH + i64::try_from(self.now / 1_000).unwrap_or(0))
    }

    /// The present as an engine takes it, whose clock was at `base` when the world began.
    pub fn moment(&self, base: std::time::Instant) -> Moment {
        Moment {
            instant: base + std::time::Duration::from_millis(self.now),
            wall: self.wall(),
            milliseconds: EPOCH * 1_000 + i64::try_from(self.now).unwrap_or(0),
        }
    }

    /// Changes a binding as a controller does. Returns false if nothing changed.
    pub fn change_binding(&mut self, key: &ObjectKey, change: impl FnOnce(&mut Value)) -> bool {
        let before = self.server.get(Kind::Binding, key).cloned();
        if !self.server.change(self.now, Kind::Binding, key, change) {
            return false;
        }
        let after = self.server.get(Kind::Binding, key).cloned();
        if let (Some(before), Some(after)) = (before, after) {
            let key = key.clone();
            self.happenings.push(Happening::BindingChanged { key, before, after });
        }
        true
    }

    fn say(&mut self, sentence: String) {
        self.happenings.push(Happening::Said(sentence));
    }
}
