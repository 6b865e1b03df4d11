//! Claims of policies, names of bindings, and defaults.

use super::{Policies, binding_name, default_spread_constraint};
use crate::api::{ObjectMeta, PropagationPolicy, SpreadConstraint, TypeMeta};

fn policy(kind: &str, name: &str, priority: i32, selector: serde_json::Value) -> PropagationPolicy {
    let namespace = if kind == "PropagationPolicy" { "default" } else { "" };
    serde_json::from_value(serde_json::json!({
        "kind": kind,
        "metadata": {
            "name": name, "namespace": namespace,
            "labels": {"propagationpolicy.karmada.io/permanent-id": format!("id-{name}")},
        },
        "spec": {"priority": priority, "resourceSelectors": [selector]},
    }))
    .unwrap()
}

fn selector(further: serde_json::Value) -> serde_json::Value {
    let mut selector = serde_json::json!({"apiVersion": "apps/v1", "kind": "Deployment"});
    let fields = selector.as_object_mut().unwrap();
    fields.extend(further.as_object().unwrap().clone());
    selector
}

#[track_caller]
fn check(policies: &[PropagationPolicy], metadata: serde_json::Value, expected: Option<&str>) {
    let type_meta = TypeMeta {
        api_version: "apps/v1".to_owned(),
        kind: "Deployment".to_owned(),
    };
    let metadata: ObjectMeta = serde_json::from_value(metadata).unwrap();
    let mut known = Policies::default();
    policies.iter().cloned().for_each(|policy| known.insert(policy));
    let found = known.policy_for(&type_meta, &metadata);
    assert_eq!(found.map(|policy| policy.metadata.name.as_str()), expected);
}

#[test]
fn policies_claim_in_karmadas_order() {
    let all = || selector(serde_json::json!({}));
    let by_name = || selector(serde_json::json!({"name": "nginx"}));
    let by_label = || selector(serde_json::json!({"labelSelector": {"matchLabels": {"app": "web"}}}));
    let nginx = serde_json::json!({"name": "nginx", "namespace": "default", "labels": {"app": "web"}});
    let namespaced = |name, priority, selector| policy("PropagationPolicy", name, priority, selector);
    let cluster = |name, priority, selector| policy("ClusterPropagationPolicy", name, priority, selector);

    check(
        &[cluster("c", 9, by_name()), namespaced("n", 0, all())],
        nginx.clone(),
        Some("n"),
    );
    check(
        &[namespaced("a", 0, by_name()), namespaced("b", 1, all())],
        nginx.clone(),
        Some("b"),
    );
    check(
        &[
            namespaced("a", 0, all()),
            namespaced("b", 0, by_label()),
            namespaced("c", 0, by_name()),
        ],
        nginx.clone(),
        Some("c"),
    );
    check(
        &[namespaced("a", 0, all()), namespaced("b", 0, by_label())],
        nginx.clone(),
        Some("b"),
    );
    check(
        &[namespaced("b", 0, all()), namespaced("a", 0, all())],
        nginx.clone(),
        Some("a"),
    );
    check(&[cluster("c", -5, all())], nginx.clone(), Some("c"));
    check(&[], nginx.clone(), None);

    // The label selector is ignored if there is a name.
    let both = selector(serde_json::json!({"name": "nginx", "labelSelector": {"matchLabels": {"app": "other"}}}));
    check(&[namespaced("a", 0, both)], nginx.clone(), Some("a"));
    // A different namespace, of the policy or of the selector.
    let elsewhere = serde_json::json!({"name": "nginx", "namespace": "prod"});
    check(&[namespaced("a", 0, all())], elsewhere.clone(), None);
    check(
        &[namespaced("a", 0, selector(serde_json::json!({"namespace": "prod"})))],
        elsewhere.clone(),
        None,
    );
    check(
        &[cluster("a", 0, selector(serde_json::json!({"namespace": "prod"})))],
        elsewhere,
        Some("a"),
    );
    check(
        &[cluster("a", 0, selector(serde_json::json!({"namespace": "prod"})))],
        nginx,
        None,
    );
}

#[test]
fn a_claim_outlasts_a_better_match() {
    let policies = [
        policy("PropagationPolicy", "best", 9, selector(serde_json::json!({}))),
        policy(
            "PropagationPolicy",
            "first",
            0,
            selector(serde_json::json!({"name": "other"})),
        ),
    ];
    for claim in [
        serde_json::json!({"annotations": {"propagationpolicy.karmada.io/name": "first", "propagationpolicy.karmada.io/namespace": "default"}}),
        serde_json::json!({"labels": {"propagationpolicy.karmada.io/name": "first"}}),
        serde_json::json!({"labels": {"propagationpolicy.karmada.io/permanent-id": "id-first"}}),
    ] {
        let mut metadata = serde_json::json!({"name": "nginx", "namespace": "default"});
        metadata
            .as_object_mut()
            .unwrap()
            .extend(claim.as_object().unwrap().clone());
        check(&policies, metadata, Some("first"));
    }
    let gone = serde_json::json!({"name": "nginx", "namespace": "default", "annotations": {"propagationpolicy.karmada.io/name": "gone"}});
    check(&policies, gone, Some("best"));
}

#[test]
fn bindings_are_named_as_karmada_names_them() {
    assert_eq!(binding_name("Deployment", "nginx"), "nginx-deployment");
    assert_eq!(binding_name("ClusterRole", "system:node"), "system.node-clusterrole");
}

#[test]
fn defaults_are_the_api_servers() {
    for (written, expected) in [
        (
            r#"{"maxGroups":2}"#,
            r#"{"spreadByField":"cluster","maxGroups":2,"minGroups":1}"#,
        ),
        (
            r#"{"spreadByLabel":"rack","minGroups":2}"#,
            r#"{"spreadByLabel":"rack","minGroups":2}"#,
        ),
    ] {
        let constraint: SpreadConstraint = serde_json::from_str(written).unwrap();
        let completed = default_spread_constraint(&constraint);
        assert_eq!(serde_json::to_string(&completed).unwrap(), expected);
        assert_eq!(default_spread_constraint(&completed), completed);
    }
}
