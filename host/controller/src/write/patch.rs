//! The bodies of the patches. Everything here is a pure function.

use std::hash::{DefaultHasher, Hash, Hasher};

use divvy_karmada::api::ObjectMeta;
use serde_json::{Map, Value, json};

use super::{SpecificationPatch, StatusWanted, WriteJob};
use crate::condition::{SCHEDULED, ScheduledReason};
use crate::decide::{APPLIED_PLACEMENT, APPLIED_POLICY};

/// Merge patch of the specification, valid for one object at one version.
pub fn specification_patch(job: &WriteJob, patch: &SpecificationPatch, version: &str) -> Value {
    let mut annotations = Map::new();
    if let Some(placement) = &patch.applied_placement {
        annotations.insert(APPLIED_PLACEMENT.to_owned(), json!(placement));
    }
    if let Some(policy) = &patch.applied_policy {
        annotations.insert(APPLIED_POLICY.to_owned(), json!(policy));
    }
    let mut metadata = json!({"uid": job.base.metadata.uid, "resourceVersion": version});
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

/// Merge patch of the status, valid for one object at one version; `None` if the status is as wanted already.
///
/// `status` is the status that the patch meets and `generation` the generation to record as observed. The list of
/// conditions is replaced as a whole, so all conditions of other controllers are repeated as they are.
pub fn status_patch(uid: &str, version: &str, generation: i64, status: &Value, wanted: &StatusWanted) -> Option<Value> {
    let mut patch = Map::new();
    if let Some((reason, message)) = &wanted.condition
        && let Some(conditions) = conditions(&status["conditions"], *reason, message, wanted)
    {
        patch.insert("conditions".to_owned(), conditions);
    }
    if wanted.observes && status["schedulerObservedGeneration"].as_i64() != Some(generation) {
        patch.insert("schedulerObservedGeneration".to_owned(), json!(generation));
    }
    if let Some(affinity) = &wanted.affinity
        && status["schedulerObservingAffinityName"].as_str().unwrap_or_default() != affinity
    {
        patch.insert("schedulerObservingAffinityName".to_owned(), json!(affinity));
    }
    if let Some(scheduled_at) = &wanted.scheduled_at {
        let current = &status["lastScheduledTime"];
        let scheduled_at = json!(scheduled_at);
        let is_due = current.is_null() || wanted.stamps || !patch.is_empty();
        if is_due && *current != scheduled_at {
            patch.insert("lastScheduledTime".to_owned(), scheduled_at);
        }
    }
    if patch.is_empty() {
        return None;
    }
    Some(json!({"metadata": {"uid": uid, "resourceVersion": version}, "status": patch}))
}

/// All conditions with the wanted one; `None` if they are as wanted already.
fn conditions(current: &Value, reason: ScheduledReason, message: &str, wanted: &StatusWanted) -> Option<Value> {
    let status = match reason {
        ScheduledReason::Success => "True",
        _ => "False",
    };
    let mut conditions = current.as_array().cloned().unwrap_or_default();
    let known = conditions.iter_mut().find(|condition| condition["type"] == SCHEDULED);
    let Some(known) = known else {
        conditions.push(json!({
            "type": SCHEDULED,
            "status": status,
            "reason": reason.as_str(),
            "message": message,
            "lastTransitionTime": wanted.now,
        }));
        return Some(Value::Array(conditions));
    };
    if known["status"] == status && known["reason"] == reason.as_str() && known["message"] == message {
        return None;
    }
    if known["status"] != status {
        known["lastTransitionTime"] = json!(wanted.now);
    }
    known["status"] = json!(status);
    known["reason"] = json!(reason.as_str());
    known["message"] = json!(message);
    Some(Value::Array(conditions))
}

/// True if an object has the result and the annotations of a patch already.
pub fn is_applied(patch: &SpecificationPatch, metadata: &ObjectMeta, specification: &Value) -> bool {
    let annotation = |key: &str| metadata.annotations.get(key).map(String::as_str);
    let clusters = patch
        .clusters
        .as_ref()
        .is_none_or(|clusters| match &specification["clusters"] {
            Value::Null => clusters.is_empty(),
            current => *current == json!(clusters),
        });
    let placement = patch.applied_placement.as_deref();
    let policy = patch.applied_policy.as_ref();
    clusters
        && placement.is_none_or(|placement| annotation(APPLIED_PLACEMENT) == Some(placement))
        && policy.is_none_or(|policy| annotation(APPLIED_POLICY) == policy.as_deref())
}

/// Hash of the metadata that a decision reads: labels and annotations, except those that decisions write.
pub fn read_metadata(metadata: &ObjectMeta) -> u64 {
    let mut hasher = DefaultHasher::new();
    metadata.labels.hash(&mut hasher);
    metadata.is_deleting().hash(&mut hasher);
    let written = [APPLIED_PLACEMENT, APPLIED_POLICY];
    for (key, value) in &metadata.annotations {
        if !written.contains(&key.as_str()) {
            (key, value).hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;
