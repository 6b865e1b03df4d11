//! A binding that was taken out of the queue, and the patch for its result.

use std::sync::Arc;

use divvy_karmada::api::{ResourceBinding, TargetCluster};
use divvy_karmada::detector::{Binding, PolicyFacts};
use serde_json::Value;

use super::{Announcement, Engine, News};
use crate::objects::BindingKey;
use crate::store::{Record, SharedPlacement};
use crate::write::SpecificationPatch;
use divvy_scheduler::decide::APPLIED_POLICY;
use divvy_scheduler::decide::policy::{AppliedPolicy, Awaited, Request, is_lazy, request_in_force};
use divvy_scheduler::moves::mark::MOVE_ANNOTATION;

/// A binding that was taken out of the queue, with everything that its decision reads.
pub(super) struct Candidate {
    pub(super) key: Arc<BindingKey>,
    /// The binding as plugins see it: with its placement, if that can be read, and with the request in force, but without the
    /// annotation of the applied placement. Its decision, the trial of a new profile and its write share it.
    pub(super) binding: Arc<Binding>,
    pub(super) placement: Arc<SharedPlacement>,
    pub(super) applied_placement: Option<Arc<str>>,
    pub(super) policy: Option<Arc<PolicyFacts>>,
    pub(super) applied: Option<AppliedPolicy>,
    /// The policy's request that is in force.
    pub(super) request: Request,
    pub(super) is_reschedule_pending: bool,
    pub(super) is_moved_by_clusters: bool,
}

impl Candidate {
    pub(super) fn new(key: &Arc<BindingKey>, record: &Record, engine: &Engine) -> Option<Self> {
        let placement = Arc::clone(record.placement.as_ref()?);
        let object = record.binding(key);
        let policy = engine.policies.of(&object.metadata).ok().flatten().cloned();
        let text = object.metadata.annotations.get(APPLIED_POLICY).map(String::as_str);
        let applied = AppliedPolicy::read(text, &object.spec.clusters);
        let awaited = Awaited {
            workload_version: &object.spec.resource.resource_version,
            was_scheduled: record.applied_placement.is_some(),
            has_changed: object.status.scheduler_observed_generation != record.generation
                && !engine
                    .lives
                    .get(key)
                    .is_some_and(|life| life.is_decided(record.generation)),
        };
        let request = request_in_force(policy.as_deref(), applied.as_ref(), awaited);
        let binding = Binding {
            object: Box::new(object),
            policy: request.facts(policy.as_ref()),
            ..Binding::default()
        };
        Some(Self {
            key: Arc::clone(key),
            binding: Arc::new(binding),
            request,
            placement,
            applied_placement: record.applied_placement.clone(),
            policy,
            applied,
            is_reschedule_pending: record.is_reschedule_pending,
            is_moved_by_clusters: record.is_moved_by_clusters,
        })
    }

    /// Has the result hold until this time at most, in milliseconds since 1970.
    pub(super) fn expires_at(&mut self, time: i64) {
        if let Some(applied) = &mut self.applied {
            applied.valid_until = Some(applied.valid_until.map_or(time, |until| until.min(time)));
        }
    }

    /// The binding in Karmada's type.
    pub(super) fn object(&self) -> &ResourceBinding {
        &self.binding.object
    }

    /// The clusters of the last result.
    pub(super) fn last(&self) -> &[TargetCluster] {
        &self.object().spec.clusters
    }

    /// Replicas that were requested when the last result was decided, if it has fewer; `None` if another number is requested now.
    pub(super) fn partial_of(&self) -> Option<i64> {
        let of = self.applied.as_ref().and_then(|applied| applied.partial_of);
        of.filter(|requested| *requested == self.binding.replicas())
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
        let ResourceBinding { metadata, spec, .. } = self.object();
        let workload_version = &spec.resource.resource_version;
        let applied = AppliedPolicy {
            policy: self.request.clone(),
            binding: Request::from_annotations(&metadata.annotations),
            workload_version: is_lazy(self.policy.as_deref()).then(|| workload_version.clone()),
            affinity: (!affinity.is_empty()).then(|| affinity.to_owned()),
            valid_until,
            partial_of,
            result: String::new(),
        };
        // The hash must match the result as it will be read back.
        let shown = if is_same { &spec.clusters } else { result };
        let is_known = self
            .applied
            .as_ref()
            .is_some_and(|known| known.says_the_same(&applied, shown));
        let applied = applied.write(shown);
        let current = metadata.annotations.get(APPLIED_POLICY);
        let text = &self.placement.text;
        let is_applied = self
            .applied_placement
            .as_deref()
            .is_some_and(|applied| is_same_json(applied, text));
        let patch = SpecificationPatch {
            clusters: (!is_same).then(|| result.to_vec()),
            applied_placement: (!is_applied).then(|| text.to_string()),
            ..SpecificationPatch::default()
        };
        // What 0.1.0 wrote gets the present form of the hash with the next write of something else.
        let is_written = patch != SpecificationPatch::default() || !is_known && current != applied.as_ref();
        is_written.then(|| SpecificationPatch {
            applied_policy: (current != applied.as_ref()).then_some(applied),
            ..patch
        })
    }

    /// True if it has the mark of a move.
    pub(super) fn has_mark(&self) -> bool {
        self.object().metadata.annotations.contains_key(MOVE_ANNOTATION)
    }

    /// A patch with the mark of a move, which is written, changed or removed.
    pub(super) fn with_mark(
        &self,
        specification: Option<SpecificationPatch>,
        mark: Option<&str>,
    ) -> Option<SpecificationPatch> {
        let current = self.object().metadata.annotations.get(MOVE_ANNOTATION);
        if current.map(String::as_str) == mark {
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
            uid: self.object().metadata.uid.clone(),
            resource: self.object().spec.resource.clone(),
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
