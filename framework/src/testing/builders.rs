//! The builder for clusters.

use std::sync::Arc;

use divvy_framework_abi::arena::ABSENT;
use divvy_framework_driver::snapshot::{ClusterWriter, SnapshotStore};

use crate::clusters::{Condition, ConditionStatus, Resource, Taint, TaintEffect};

/// A function that writes a property. It is shared, so that a cluster can be cloned.
type Property = Arc<dyn Fn(&mut ClusterWriter<'_>) + Send + Sync>;

/// A cluster of a [`Scenario`](super::Scenario): its properties, and the results of earlier steps.
#[derive(Clone)]
pub struct ClusterBuilder {
    pub(super) name: String,
    properties: Vec<Property>,
    pub(super) score: i64,
    pub(super) fits_now: i64,
    pub(super) last: i64,
    pub(super) tier: u32,
}

impl std::fmt::Debug for ClusterBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ClusterBuilder")
            .field("name", &self.name)
            .field("score", &self.score)
            .field("fits_now", &self.fits_now)
            .field("last", &self.last)
            .field("tier", &self.tier)
            .finish_non_exhaustive()
    }
}

impl ClusterBuilder {
    /// A cluster with only a name, without room and without replicas.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            properties: Vec::new(),
            score: 0,
            fits_now: 0,
            last: ABSENT,
            tier: 0,
        }
    }

    /// Adds properties for which this builder has no method, through the writer that the host uses.
    #[must_use]
    pub fn with(mut self, write: impl Fn(&mut ClusterWriter<'_>) + Send + Sync + 'static) -> Self {
        self.properties.push(Arc::new(write));
        self
    }

    /// Writes the cluster to a store.
    pub(super) fn write(&self, store: &mut SnapshotStore) {
        store.upsert(&self.name, |cluster| {
            for write in &self.properties {
                write(cluster);
            }
        });
    }

    /// Sets `spec.region`.
    #[must_use]
    pub fn region(self, region: &str) -> Self {
        let region = region.to_owned();
        self.with(move |cluster| _ = cluster.region(&region))
    }

    /// Sets `spec.provider`.
    #[must_use]
    pub fn provider(self, provider: &str) -> Self {
        let provider = provider.to_owned();
        self.with(move |cluster| _ = cluster.provider(&provider))
    }

    /// Adds to `spec.zones`.
    #[must_use]
    pub fn zone(self, zone: &str) -> Self {
        let zone = zone.to_owned();
        self.with(move |cluster| _ = cluster.zone(&zone))
    }

    /// Adds a label.
    #[must_use]
    pub fn label(self, key: &str, value: &str) -> Self {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.with(move |cluster| _ = cluster.label(&key, &value))
    }

    /// Adds an annotation.
    #[must_use]
    pub fn annotation(self, key: &str, value: &str) -> Self {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.with(move |cluster| _ = cluster.annotation(&key, &value))
    }

    /// Adds a taint.
    #[must_use]
    pub fn taint(self, key: &str, value: &str, effect: TaintEffect) -> Self {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.with(move |cluster| {
            cluster.taint(Taint {
                key: &key,
                value: &value,
                effect,
                time_added: None,
            });
        })
    }

    /// Adds an API enablement.
    #[must_use]
    pub fn api(self, group_version: &str, kind: &str) -> Self {
        let (group_version, kind) = (group_version.to_owned(), kind.to_owned());
        self.with(move |cluster| _ = cluster.apis(&group_version, [kind.as_str()]))
    }

    /// Adds a condition that is true.
    #[must_use]
    pub fn condition(self, kind: &str) -> Self {
        let kind = kind.to_owned();
        self.with(move |cluster| {
            cluster.condition(Condition {
                kind: &kind,
                status: ConditionStatus::True,
                reason: "",
            });
        })
    }

    /// Adds a resource to the resource summary: `cpu` in thousandths, everything else in its own unit.
    #[must_use]
    pub fn resource(self, name: &str, allocatable: i64, allocated: i64) -> Self {
        let name = name.to_owned();
        self.with(move |cluster| {
            cluster.resource(Resource {
                name: &name,
                allocatable: Some(allocatable),
                allocated: Some(allocated),
                allocating: None,
                remaining: Some(allocatable.saturating_sub(allocated)),
            });
        })
    }

    /// Sets the whole object as JSON, for a plugin that needs the raw cluster.
    #[must_use]
    pub fn raw_json(self, json: &str) -> Self {
        let json = json.to_owned();
        self.with(move |cluster| _ = cluster.raw_json(json.as_str()))
    }

    /// Sets the weighted total of all Score plugins. 0 by default.
    #[must_use]
    pub fn score(mut self, score: i64) -> Self {
        self.score = score;
        self
    }

    /// Sets the estimate of replicas that fit now. 0 by default.
    #[must_use]
    pub fn fits_now(mut self, replicas: i64) -> Self {
        self.fits_now = replicas;
        self
    }

    /// Sets the replicas in the last result. By default, the last result does not list the cluster.
    #[must_use]
    pub fn last(mut self, replicas: i64) -> Self {
        self.last = replicas;
        self
    }

    /// Sets the tier, 0 being the best. 0 by default.
    #[must_use]
    pub fn tier(mut self, tier: u32) -> Self {
        self.tier = tier;
        self
    }
}
