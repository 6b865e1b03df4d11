//! What a plan says of components.

use divvy_karmada::detector::Binding;
use serde_json::{Value, json};

use super::*;

/// The warnings about a binding with this specification, under a profile that estimates complete sets or not.
fn warnings(spec: Value, component_sets: bool) -> Vec<String> {
    let object = json!({"kind": "ResourceBinding", "metadata": {"name": "b", "namespace": "n"}, "spec": spec});
    let binding = Binding {
        object: serde_json::from_value(object).expect("a binding"),
        ..Binding::default()
    };
    let input = PlanInput::new(&binding);
    let options = PlanOptions {
        component_sets,
        ..PlanOptions::default()
    };
    let found = uncounted_components(&input, &options, false).into_iter();
    let found = found.chain(ignored_replicas(&input));
    found
        .map(|warning| format!("{} / {}", warning.message, warning.hint.unwrap_or_default()))
        .collect()
}

#[test]
fn components_whose_room_is_not_counted_are_reported() {
    let components = json!([{"name": "a", "replicas": 1}, {"name": "b", "replicas": 3}]);
    let found = warnings(json!({ "components": components }), true);
    assert_eq!(
        found,
        [
            "the room for its components is not counted: only a complete set on exactly one cluster is / give its policy a spread \
             constraint by `cluster` with `minGroups: 1` and `maxGroups: 1`"
        ]
    );
    let found = warnings(json!({ "components": components }), false);
    assert!(
        found[0].contains("set `multiple-pod-templates = true` in the profile, and give"),
        "{found:?}"
    );
    let requests = json!({"resourceRequest": {"cpu": "1"}});
    assert!(warnings(json!({"replicas": 4, "replicaRequirements": requests}), true).is_empty());
}

#[test]
fn replicas_beside_several_components_are_reported() {
    let requests = json!({"resourceRequest": {"cpu": "1"}});
    let beside = |names: &[&str]| {
        let components: Vec<Value> = names.iter().map(|name| json!({"name": name, "replicas": 2})).collect();
        warnings(
            json!({"replicas": 4, "replicaRequirements": requests, "components": components}),
            true,
        )
    };
    assert_eq!(
        beside(&["a", "b"]),
        [
            "`spec.replicas` (4) is not divided beside several components: each cluster of the result gets all of them / remove one of \
             the two"
        ]
    );
    // The replicas of one component are those of the binding.
    assert!(beside(&["a"]).is_empty());
    assert!(beside(&[]).is_empty());
}
