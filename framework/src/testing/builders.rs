//! The builders for clusters and affinities.

use std::sync::Arc;

use divvy_framework_abi::arena::ABSENT;
use divvy_framework_calls::binding::AffinityWriter;
use divvy_framework_calls::snapshot::{ClusterWriter, SnapshotStore};

use crate::binding::{SelectorField, SelectorOperator};
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
    /// A cluster with a name only, without room and replicas.
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

    fn with(mut self, write: impl Fn(&mut ClusterWriter<'_>) + Send + Sync + 'static) -> Self {
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

    /// Sets `metadata.uid`.
    #[must_use]
    pub fn uid(self, uid: &str) -> Self {
        let uid = uid.to_owned();
        self.with(move |cluster| _ = cluster.uid(&uid))
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

    /// Sets the deprecated `spec.zone`.
    #[must_use]
    pub fn deprecated_zone(self, zone: &str) -> Self {
        let zone = zone.to_owned();
        self.with(move |cluster| _ = cluster.deprecated_zone(&zone))
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
        self.with(move |cluster| _ = cluster.taint(Taint::new(&key, &value, effect)))
    }

    /// Adds a taint with the time at which it was added, in seconds since 1970.
    #[must_use]
    pub fn taint_since(self, key: &str, value: &str, effect: TaintEffect, seconds: i64) -> Self {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.with(move |cluster| {
            let mut taint = Taint::new(&key, &value, effect);
            taint.time_added = Some(seconds);
            cluster.taint(taint);
        })
    }

    /// Adds an API enablement.
    #[must_use]
    pub fn api(self, group_version: &str, kind: &str) -> Self {
        let (group_version, kind) = (group_version.to_owned(), kind.to_owned());
        self.with(move |cluster| _ = cluster.apis(&group_version, [kind.as_str()]))
    }

    /// Adds a condition.
    #[must_use]
    pub fn condition(self, kind: &str, status: ConditionStatus) -> Self {
        let kind = kind.to_owned();
        self.with(move |cluster| _ = cluster.condition(Condition::new(&kind, status, "")))
    }

    /// Adds a condition with its reason.
    #[must_use]
    pub fn condition_with_reason(self, kind: &str, status: ConditionStatus, reason: &str) -> Self {
        let (kind, reason) = (kind.to_owned(), reason.to_owned());
        self.with(move |cluster| _ = cluster.condition(Condition::new(&kind, status, &reason)))
    }

    /// Marks the cluster as being deleted. The host rejects such a cluster before any filter sees it.
    #[must_use]
    pub fn deleting(self) -> Self {
        self.with(|cluster| _ = cluster.deleting())
    }

    /// Adds a resource to the resource summary: `cpu` in thousandths, everything else in its own unit.
    #[must_use]
    pub fn resource(self, name: &str, allocatable: i64, allocated: i64) -> Self {
        self.amounts(name, allocatable, allocated, None)
    }

    /// Adds a resource like [`Self::resource`], with the amount that is being allocated to pods which are not running
    /// yet.
    #[must_use]
    pub fn resource_with_allocating(self, name: &str, allocatable: i64, allocated: i64, allocating: i64) -> Self {
        self.amounts(name, allocatable, allocated, Some(allocating))
    }

    fn amounts(self, name: &str, allocatable: i64, allocated: i64, allocating: Option<i64>) -> Self {
        let name = name.to_owned();
        self.with(move |cluster| {
            let mut resource = Resource::new(&name);
            resource.allocatable = Some(allocatable);
            resource.allocated = Some(allocated);
            resource.allocating = allocating;
            let used = allocated.saturating_add(allocating.unwrap_or(0));
            resource.remaining = Some(allocatable.saturating_sub(used));
            cluster.resource(resource);
        })
    }

    /// Gives the status a resource summary, even without a resource.
    #[must_use]
    pub fn resource_summary(self) -> Self {
        self.with(|cluster| _ = cluster.resource_summary())
    }

    /// Adds a resource model: its grade, the number of nodes of that grade, and name, minimum and maximum of each
    /// resource.
    #[must_use]
    pub fn model(self, grade: i64, nodes: i64, ranges: &[(&str, i64, i64)]) -> Self {
        let ranges: Vec<(String, i64, i64)> = ranges
            .iter()
            .map(|range| (range.0.to_owned(), range.1, range.2))
            .collect();
        self.with(move |cluster| {
            let ranges = ranges
                .iter()
                .map(|(name, minimum, maximum)| (name.as_str(), *minimum, *maximum));
            cluster.model(grade, ranges).modeling(grade, nodes);
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

/// An affinity of a [`Scenario`](super::Scenario). Every cluster matches an affinity without requirements.
#[derive(Debug, Clone, Default)]
pub struct AffinityBuilder {
    name: String,
    cluster_names: Vec<String>,
    exclude: Vec<String>,
    requirements: Vec<Requirement>,
}

/// A requirement of an affinity on a label or on a field.
#[derive(Debug, Clone)]
struct Requirement {
    subject: Subject,
    operator: SelectorOperator,
    values: Vec<String>,
}

#[derive(Debug, Clone)]
enum Subject {
    Label(String),
    Field(SelectorField),
}

fn owned<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Vec<String> {
    texts.into_iter().map(|text| text.as_ref().to_owned()).collect()
}

impl AffinityBuilder {
    /// Sets the name of the affinity group.
    pub fn name(&mut self, name: &str) -> &mut Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Sets `clusterNames`: only these clusters match. An empty list restricts nothing.
    pub fn cluster_names<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) -> &mut Self {
        self.cluster_names = owned(names);
        self
    }

    /// Sets `exclude`: these clusters do not match.
    pub fn exclude<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) -> &mut Self {
        self.exclude = owned(names);
        self
    }

    /// Adds a requirement on a cluster label.
    pub fn label<T: AsRef<str>>(
        &mut self,
        key: &str,
        operator: SelectorOperator,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        self.require(Subject::Label(key.to_owned()), operator, owned(values))
    }

    /// Adds a requirement on a cluster field.
    pub fn field<T: AsRef<str>>(
        &mut self,
        field: SelectorField,
        operator: SelectorOperator,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        self.require(Subject::Field(field), operator, owned(values))
    }

    fn require(&mut self, subject: Subject, operator: SelectorOperator, values: Vec<String>) -> &mut Self {
        self.requirements.push(Requirement {
            subject,
            operator,
            values,
        });
        self
    }

    /// Writes the affinity to a binding.
    pub(super) fn write(&self, writer: &mut AffinityWriter<'_>) {
        writer.name(&self.name);
        writer.cluster_names(&self.cluster_names);
        writer.exclude(&self.exclude);
        for requirement in &self.requirements {
            let (operator, values) = (requirement.operator, &requirement.values);
            match &requirement.subject {
                Subject::Label(key) => writer.label(key, operator, values),
                Subject::Field(field) => writer.field(*field, operator, values),
            };
        }
    }
}
