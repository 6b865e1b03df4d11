//! The bodies of the patches. Everything here is a pure function.

use divvy_karmada::api::{Condition, ObjectMeta, ResourceBindingStatus, TargetCluster};
use serde_json::{Map, Value, json};

use super::{SpecificationPatch, StatusWanted, WriteJob};
use crate::condition::{SCHEDULED, ScheduledReason, scheduled_condition};
use divvy_scheduler::decide::{APPLIED_PLACEMENT, APPLIED_POLICY, PLUGIN_FAILURE};
use divvy_scheduler::moves::failback::FAILBACK_ANNOTATION;
use divvy_scheduler::moves::mark::MOVE_ANNOTATION;
use divvy_scheduler::moves::planned::PLANNED_ANNOTATION;

/// Merge patch of the specification, valid for one object at one version.
pub fn specification_patch(job: &WriteJob, patch: &SpecificationPatch, version: &str) -> Value {
    let mut annotations = Map::new();
    if let Some(placement) = &patch.applied_placement {
        annotations.insert(APPLIED_PLACEMENT.to_owned(), json!(placement));
    }
    if let Some(policy) = &patch.applied_policy {
        annotations.insert(APPLIED_POLICY.to_owned(), json!(policy));
    }
    if let Some(failure) = &patch.plugin_failure {
        annotations.insert(PLUGIN_FAILURE.to_owned(), json!(failure));
    }
    if let Some(mark) = &patch.mark {
        annotations.insert(MOVE_ANNOTATION.to_owned(), json!(mark));
    }
    if let Some(departures) = &patch.departures {
        annotations.insert(FAILBACK_ANNOTATION.to_owned(), json!(departures));
    }
    if patch.ends_plan {
        annotations.insert(PLANNED_ANNOTATION.to_owned(), Value::Null);
    }
    let mut metadata = json!({"uid": job.decided().uid(), "resourceVersion": version});
    if !annotations.is_empty() {
        metadata["annotations"] = Value::Object(annotations);
    }
    let mut body = json!({"metadata": metadata});
    if let Some(clusters) = &patch.clusters {
        // As in Karmada, no result is `null`, which a merge patch removes.
        let clusters = if clusters.is_empty() {
            Value::Null
        } else {
            json!(clusters)
        };
        body["spec"] = json!({"clusters": clusters});
    }
    body
}

/// Merge patch of the status, valid for one object at one version; `None` if the status already is as wanted.
///
/// `status` is the status that the patch applies to, and `generation` the generation to record as observed. The list of
/// conditions is replaced as a whole, so all conditions of other controllers are repeated unchanged.
pub fn status_patch(
    uid: &str,
    version: &str,
    generation: i64,
    status: &ResourceBindingStatus,
    wanted: &StatusWanted,
) -> Option<Value> {
    let mut patch = Map::new();
    if let Some((reason, message)) = &wanted.condition
        && let Some(conditions) = conditions(&status.conditions, (*reason, message), generation, wanted)
    {
        patch.insert("conditions".to_owned(), conditions);
    }
    if wanted.observes && status.scheduler_observed_generation != generation {
        patch.insert("schedulerObservedGeneration".to_owned(), json!(generation));
    }
    if let Some(affinity) = &wanted.affinity
        && status.scheduler_observed_affinity_name != *affinity
    {
        patch.insert("schedulerObservingAffinityName".to_owned(), json!(affinity));
    }
    if let Some(scheduled_at) = wanted.scheduled_at {
        let current = status.last_scheduled_time;
        let is_due = current.is_none() || wanted.stamps || !patch.is_empty();
        if is_due && current != Some(scheduled_at) {
            patch.insert("lastScheduledTime".to_owned(), json!(scheduled_at));
        }
    }
    if patch.is_empty() {
        return None;
    }
    Some(json!({"metadata": {"uid": uid, "resourceVersion": version}, "status": patch}))
}

/// All conditions with the wanted one; `None` if they already are as wanted.
fn conditions(
    current: &[Condition],
    (reason, message): (ScheduledReason, &str),
    generation: i64,
    wanted: &StatusWanted,
) -> Option<Value> {
    let status = match reason {
        ScheduledReason::Success => "True",
        _ => "False",
    };
    let known = scheduled_condition(current);
    let noted = known.map_or(0, |known| known.observed_generation);
    let observed_generation = if wanted.notes_generation { generation } else { noted };
    let says_so = |known: &Condition| {
        known.status == status
            && known.reason == reason.as_str()
            && known.message == message
            && noted == observed_generation
    };
    if known.is_some_and(says_so) {
        return None;
    }
    let keeps_time = known.is_some_and(|known| known.status == status);
    let wanted = Condition {
        kind: SCHEDULED.to_owned(),
        status: status.to_owned(),
        reason: reason.as_str().to_owned(),
        message: message.to_owned(),
        observed_generation,
        last_transition_time: match known.filter(|_| keeps_time) {
            Some(known) => known.last_transition_time,
            None => Some(wanted.now),
        },
    };
    let all = current.iter().map(|condition| match condition.kind == SCHEDULED {
        true => written(&wanted),
        false => written(condition),
    });
    let new = known.is_none().then(|| written(&wanted));
    Some(all.chain(new).collect())
}

/// A condition as it is written. Its reason and message are required even if they are empty.
fn written(condition: &Condition) -> Value {
    let mut written = json!({
        "type": condition.kind,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
    });
    if let Some(time) = condition.last_transition_time {
        written["lastTransitionTime"] = json!(time);
    }
    if condition.observed_generation != 0 {
        written["observedGeneration"] = json!(condition.observed_generation);
    }
    written
}

/// True if an object with this metadata and result already has the result and the annotations of a patch.
pub(crate) fn is_applied(patch: &SpecificationPatch, metadata: &ObjectMeta, result: &[TargetCluster]) -> bool {
    let annotation = |key: &str| metadata.annotations.get(key).map(String::as_str);
    let clusters = patch.clusters.as_deref().is_none_or(|clusters| clusters == result);
    let placement = patch.applied_placement.as_deref();
    let policy = patch.applied_policy.as_ref();
    let failure = patch.plugin_failure.as_ref();
    let mark = patch.mark.as_ref();
    let departures = patch.departures.as_ref();
    clusters
        && placement.is_none_or(|placement| annotation(APPLIED_PLACEMENT) == Some(placement))
        && policy.is_none_or(|policy| annotation(APPLIED_POLICY) == policy.as_deref())
        && failure.is_none_or(|failure| annotation(PLUGIN_FAILURE) == failure.as_deref())
        && mark.is_none_or(|mark| annotation(MOVE_ANNOTATION) == mark.as_deref())
        && departures.is_none_or(|departures| annotation(FAILBACK_ANNOTATION) == departures.as_deref())
        && (!patch.ends_plan || annotation(PLANNED_ANNOTATION).is_none())
}

#[cfg(test)]
mod tests;
