//! The builder of clusters.

use divvy_framework_abi::arena::ABSENT;

use divvy_framework_driver::snapshot::{ClusterRecord, ConditionRecord, ResourceRecord, TaintRecord};

use crate::clusters::{ConditionStatus, TaintEffect};

/// A cluster of a [`Scenario`](super::Scenario): its properties, and what earlier steps would have found out.
#[derive(Debug, Clone)]
pub struct ClusterBuilder {
    pub(super) record: ClusterRecord,
    pub(super) score: i64,
    pub(super) fits_now: i64,
    pub(super) last: i64,
    pub(super) tier: u32,
}

impl ClusterBuilder {
    /// A cluster with nothing but a name, in which nothing fits and nothing runs.
    pub fn new(name: &str) -> Self {
        Self {
            record: ClusterRecord {
                name: name.to_owned(),
                ..ClusterRecord::default()
            },
            score: 0,
            fits_now: 0,
            last: ABSENT,
            tier: 0,
        }
    }

    /// `spec.region`.
    #[must_use]
    pub fn region(mut self, region: &str) -> Self {
        region.clone_into(&mut self.record.region);
        self
    }

    /// `spec.provider`.
    #[must_use]
    pub fn provider(mut self, provider: &str) -> Self {
        provider.clone_into(&mut self.record.provider);
        self
    }

    /// Adds to `spec.zones`.
    #[must_use]
    pub fn zone(mut self, zone: &str) -> Self {
        self.record.zones.push(zone.to_owned());
        self
    }

    /// Adds a label.
    #[must_use]
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.record.labels.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Adds an annotation.
    #[must_use]
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.record.annotations.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Adds a taint.
    #[must_use]
    pub fn taint(mut self, key: &str, value: &str, effect: TaintEffect) -> Self {
        self.record.taints.push(TaintRecord {
            key: key.to_owned(),
            value: value.to_owned(),
            effect,
            time_added: None,
        });
        self
    }

    /// Adds an API enablement.
    #[must_use]
    pub fn api(mut self, group_version: &str, kind: &str) -> Self {
        self.record
            .api_enablements
            .push((group_version.to_owned(), kind.to_owned()));
        self
    }

    /// Adds a condition that is true.
    #[must_use]
    pub fn condition(mut self, kind: &str) -> Self {
        self.record.conditions.push(ConditionRecord {
            kind: kind.to_owned(),
            status: ConditionStatus::True,
            reason: String::new(),
        });
        self
    }

    /// Adds a resource to the summary: `cpu` in thousandths, everything else in its own unit.
    #[must_use]
    pub fn resource(mut self, name: &str, allocatable: i64, allocated: i64) -> Self {
        self.record
            .resource_summary
            .get_or_insert_default()
            .resources
            .push(ResourceRecord {
                name: name.to_owned(),
                allocatable: Some(allocatable),
                allocated: Some(allocated),
                allocating: None,
                remaining: Some(allocatable.saturating_sub(allocated)),
            });
        self
    }

    /// The object as JSON.
    #[must_use]
    pub fn raw_json(mut self, json: &str) -> Self {
        self.record.raw = Some(json.to_owned());
        self
    }

    /// Its score, as all Score plugins together would give it.
    #[must_use]
    pub fn score(mut self, score: i64) -> Self {
        self.score = score;
        self
    }

    /// Replicas that fit now, as the estimators would find.
    #[must_use]
    pub fn fits_now(mut self, replicas: i64) -> Self {
        self.fits_now = replicas;
        self
    }

    /// Replicas that the last result gave it.
    #[must_use]
    pub fn last(mut self, replicas: i64) -> Self {
        self.last = replicas;
        self
    }

    /// Its tier, the best being 0.
    #[must_use]
    pub fn tier(mut self, tier: u32) -> Self {
        self.tier = tier;
        self
    }
}
