//! A version of a binding in the store, as its decision, the trial of a new profile and its write read it.
//!
//! It shares the record of that version with the store: what arrives meanwhile, or is noted of the binding, does not change it. Nothing is
//! converted back but the last result, because results are compared and written in Karmada's type.

use std::sync::Arc;

use divvy_karmada::api::TargetCluster;
use divvy_karmada::detector::PolicyFacts;
use divvy_scheduler::plan::{Decidable, PlanInput};

use super::Record;
use crate::objects::BindingKey;

/// A version of a binding, with the facts about its policy.
#[derive(Debug, Clone)]
pub struct StoredBinding {
    key: Arc<BindingKey>,
    record: Arc<Record>,
    last: Box<[TargetCluster]>,
    policy: Option<Arc<PolicyFacts>>,
}

impl StoredBinding {
    /// The version that this record is. `last` must be its result, and `policy` has the request that is in force.
    pub(crate) fn new(
        key: &Arc<BindingKey>,
        record: &Arc<Record>,
        last: Vec<TargetCluster>,
        policy: Option<Arc<PolicyFacts>>,
    ) -> Self {
        Self {
            key: Arc::clone(key),
            record: Arc::clone(record),
            last: last.into(),
            policy,
        }
    }

    /// Its key in the store.
    pub(crate) fn key(&self) -> &Arc<BindingKey> {
        &self.key
    }

    /// Its record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Its result.
    pub fn last(&self) -> &[TargetCluster] {
        &self.last
    }

    /// UID.
    pub fn uid(&self) -> &str {
        &self.record.uid
    }

    /// Generation.
    pub fn generation(&self) -> i64 {
        self.record.generation
    }

    /// Resource version.
    pub fn resource_version(&self) -> String {
        self.record.resource_version()
    }
}

impl Decidable for StoredBinding {
    fn input(&self) -> PlanInput<'_> {
        self.record.input(&self.key, &self.last, self.policy.as_deref())
    }

    fn observed_affinity(&self) -> &str {
        self.record.observed_group.as_deref().unwrap_or_default()
    }
}
