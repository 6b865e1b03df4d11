//! A binding that was taken out of the queue, and the patch for its result.

use std::sync::Arc;

use divvy_karmada::api::TargetCluster;
use divvy_karmada::detector::PolicyFacts;
use divvy_karmada::policy::Claim;
use serde_json::Value;

use super::{Announcement, Engine, News};
use crate::objects::BindingKey;
use crate::store::{Record, SharedPlacement, StoredBinding};
use crate::write::SpecificationPatch;
use divvy_scheduler::decide::APPLIED_POLICY;
use divvy_scheduler::decide::policy::{AppliedPolicy, Awaited, Request, is_lazy, request_in_force};
use divvy_scheduler::moves::mark::MOVE_ANNOTATION;

/// A binding that was taken out of the queue, with everything that its decision reads.
pub(super) struct Candidate {
    pub(super) key: Arc<BindingKey>,
    /// The version that was taken, with the request in force. Its decision, the trial of a new profile and its write share it.
    pub(super) binding: Arc<StoredBinding>,
    pub(super) placement: Arc<SharedPlacement>,
    pub(super) policy: Option<Arc<PolicyFacts>>,
    pub(super) applied: Option<AppliedPolicy>,
    /// The policy's request that is in force.
    pub(super) request: Request,
    /// The binding's own request.
    pub(super) own: Request,
}

impl Candidate {
    /// The binding as it is stored now; `None` if it has no placement.
    pub(super) fn new(key: &Arc<BindingKey>, record: &Arc<Record>, engine: &Engine) -> Option<Self> {
        let placement = Arc::clone(record.placement.as_ref()?);
        let policy = engine
            .policies
            .of(record.claimed_in(&key.namespace))
            .ok()
            .flatten()
            .cloned();
        let last = record.clusters.targets();
        let applied = AppliedPolicy::read(record.annotation(APPLIED_POLICY), &last);
        let awaited = Awaited {
            workload_version: &record.workload_version(),
            was_scheduled: record.applied_placement.is_some(),
            has_changed: record.observed_generation != record.generation
                && !engine
                    .lives
                    .get(key)
                    .is_some_and(|life| life.is_decided(record.generation)),
        };
        let request = request_in_force(policy.as_deref(), applied.as_ref(), awaited);
        let binding = StoredBinding::new(key, record, last, request.facts(policy.as_ref()));
        Some(Self {
            key: Arc::clone(key),
            own: Request::from_annotations(record.annotations()),
            binding: Arc::new(binding),
            request,
            placement,
            policy,
            applied,
        })
    }

    /// Has the result hold until this time at most, in milliseconds since 1970.
    pub(super) fn expires_at(&mut self, time: i64) {
        if let Some(applied) = &mut self.applied {
            applied.valid_until = Some(applied.valid_until.map_or(time, |until| until.min(time)));
        }
    }

    /// The record of the version that was taken.
    pub(super) fn record(&self) -> &Record {
        self.binding.record()
    }

    /// The clusters of the last result.
    pub(super) fn last(&self) -> &[TargetCluster] {
        self.binding.last()
    }

    /// Replicas that it asks for.
    pub(super) fn replicas(&self) -> i64 {
        self.record().replicas()
    }

    /// The claim of its policy.
    pub(super) fn claim(&self) -> Option<Claim<'_>> {
        self.record().claimed_in(&self.key.namespace)
    }

    /// Replicas that were requested when the last result was decided, if it has fewer; `None` if another number is requested now.
    pub(super) fn partial_of(&self) -> Option<i64> {
        let of = self.applied.as_ref().and_then(|applied| applied.partial_of);
        of.filter(|requested| *requested == self.replicas())
    }

    /// The patch of the specification for a result, with the time until which it holds, and with the requested replicas if it has
    /// fewer; `None` if nothing has to change.
    pub(super) fn specification(
        &self,
        result: &[TargetCluster],
        is_same: bool,
        affinity: &str,
        (valid_until, partial_of): (Option<i64>, Option<i64>),
    ) -> Option<SpecificationPatch> {
        let record = self.record();
        let applied = AppliedPolicy {
            policy: self.request.clone(),
            binding: self.own.clone(),
            workload_version: is_lazy(self.policy.as_deref()).then(|| record.workload_version()),
            affinity: (!affinity.is_empty()).then(|| affinity.to_owned()),
            valid_until,
            partial_of,
            result: String::new(),
        };
        // The hash must match the result as it will be read back.
        let shown = if is_same { self.last() } else { result };
        let is_known = self
            .applied
            .as_ref()
            .is_some_and(|known| known.says_the_same(&applied, shown));
        let applied = applied.write(shown);
        let current = record.annotation(APPLIED_POLICY);
        let text = &self.placement.text;
        let is_applied = record
            .applied_placement
            .as_deref()
            .is_some_and(|applied| is_same_json(applied, text));
        let patch = SpecificationPatch {
            clusters: (!is_same).then(|| result.to_vec()),
            applied_placement: (!is_applied).then(|| text.to_string()),
            ..SpecificationPatch::default()
        };
        // What 0.1.0 wrote gets the present form of the hash with the next write of something else.
        let is_written = patch != SpecificationPatch::default() || !is_known && current != applied.as_deref();
        is_written.then(|| SpecificationPatch {
            applied_policy: (current != applied.as_deref()).then_some(applied),
            ..patch
        })
    }

    /// A patch with the mark of a move, which is written, changed or removed.
    pub(super) fn with_mark(
        &self,
        specification: Option<SpecificationPatch>,
        mark: Option<&str>,
    ) -> Option<SpecificationPatch> {
        if self.record().annotation(MOVE_ANNOTATION) == mark {
            return specification;
        }
        Some(SpecificationPatch {
            mark: Some(mark.map(str::to_owned)),
            ..specification.unwrap_or_default()
        })
    }

    /// A patch with the annotation of what left clusters; the outer `None` leaves it.
    pub(super) fn with_departures(
        specification: Option<SpecificationPatch>,
        departures: Option<Option<String>>,
    ) -> Option<SpecificationPatch> {
        match departures {
            None => specification,
            departures => Some(SpecificationPatch {
                departures,
                ..specification.unwrap_or_default()
            }),
        }
    }

    pub(super) fn announcement(&self, news: News, message: String) -> Announcement {
        Announcement {
            key: Arc::clone(&self.key),
            uid: self.binding.uid().to_owned(),
            resource: self.record().resource(),
            news,
            message,
        }
    }
}

/// True if two texts are the same JSON.
fn is_same_json(left: &str, right: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    left == right || value(left).is_some_and(|left| Some(left) == value(right))
}

/// True if two results are the same, in any order.
pub(super) fn is_same_result(left: &[TargetCluster], right: &[TargetCluster]) -> bool {
    let sorted = |targets: &[TargetCluster]| {
        let mut sorted = targets.to_vec();
        sorted.sort();
        sorted
    };
    left.len() == right.len() && (left == right || sorted(left) == sorted(right))
}

/// Replicas that a result takes from clusters of the last one and gives to others.
pub(super) fn moved(last: &[TargetCluster], result: &[TargetCluster]) -> u64 {
    let taken = last.iter().map(|before| {
        let after = result.iter().find(|after| after.name == before.name);
        u64::try_from(before.replicas - after.map_or(0, |after| after.replicas)).unwrap_or(0)
    });
    let given = result.iter().map(|after| {
        let before = last.iter().find(|before| before.name == after.name);
        u64::try_from(after.replicas - before.map_or(0, |before| before.replicas)).unwrap_or(0)
    });
    taken.sum::<u64>().min(given.sum())
}
