//! The bindings that a scheduler takes: Karmada's `resourceBindingEventFilter` and `schedulerNameFilter`
//! (`pkg/scheduler/event_handler.go:120`).

use divvy_karmada::api::ResourceBinding;

/// Labels. A binding must have at least one: its policy's identity, or its manager for bindings without a
/// policy. Bindings that the dependencies distributor made have none.
const LABELS: [&str; 3] = [
    "propagationpolicy.karmada.io/permanent-id",
    "clusterpropagationpolicy.karmada.io/permanent-id",
    "binding.karmada.io/managed-by",
];

/// True if the scheduler called `scheduler` decides this binding.
///
/// It must carry one of the labels, name exactly this scheduler, not be deleted, and not have its scheduling
/// suspended. A binding that becomes another scheduler's is left unchanged.
pub fn is_ours(binding: &ResourceBinding, scheduler: &str) -> bool {
    let ResourceBinding { metadata, spec, .. } = binding;
    let is_labelled = LABELS
        .iter()
        .any(|label| metadata.labels.get(*label).is_some_and(|value| !value.is_empty()));
    let is_suspended = spec.suspension.as_ref().and_then(|suspension| suspension.scheduling) == Some(true);
    is_labelled && spec.scheduler_name == scheduler && !metadata.is_deleting() && !is_suspended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(change: serde_json::Value) -> ResourceBinding {
        let mut value = serde_json::json!({
            "metadata": {"labels": {"propagationpolicy.karmada.io/permanent-id": "1"}},
            "spec": {"schedulerName": "default-scheduler"},
        });
        for (path, change) in change.as_object().unwrap() {
            *value.pointer_mut(path).unwrap() = change.clone();
        }
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn only_labelled_bindings_of_this_scheduler_are_ours() {
        let cases = [
            (serde_json::json!({}), true),
            (
                serde_json::json!({"/metadata/labels": {"clusterpropagationpolicy.karmada.io/permanent-id": "1"}}),
                true,
            ),
            (
                serde_json::json!({"/metadata/labels": {"binding.karmada.io/managed-by": "mcs"}}),
                true,
            ),
            (
                serde_json::json!({"/metadata/labels": {"propagationpolicy.karmada.io/permanent-id": ""}}),
                false,
            ),
            (serde_json::json!({"/metadata/labels": {"app": "web"}}), false),
            (serde_json::json!({"/metadata/labels": null}), false),
            (serde_json::json!({"/spec/schedulerName": "other"}), false),
            (serde_json::json!({"/spec/schedulerName": ""}), false),
            (
                serde_json::json!({"/spec": {"schedulerName": "default-scheduler", "suspension": {"scheduling": true}}}),
                false,
            ),
            (
                serde_json::json!({"/spec": {"schedulerName": "default-scheduler", "suspension": {"scheduling": false}}}),
                true,
            ),
            (
                serde_json::json!({"/spec": {"schedulerName": "default-scheduler", "suspension": {"dispatching": true}}}),
                true,
            ),
            (
                serde_json::json!({"/metadata": {"labels": {"binding.karmada.io/managed-by": "x"}, "deletionTimestamp": "2026-01-01T00:00:00Z"}}),
                false,
            ),
        ];
        for (change, expected) in cases {
            assert_eq!(
                is_ours(&binding(change.clone()), "default-scheduler"),
                expected,
                "{change}"
            );
        }
    }
}
