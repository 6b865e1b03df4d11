//! Claims of policies, names of bindings, and defaults.

use serde_json::{Value, json};

use super::{Policies, binding_name, default_spread_constraint};
use crate::api::{ObjectMeta, PropagationPolicy, SpreadConstraint, TypeMeta};

fn policy(kind: &str, name: &str, priority: i32, selector: Value) -> PropagationPolicy {
    let namespace = if kind == "PropagationPolicy" { "default" } else { "" };
    serde_json::from_value(json!({
        "kind": kind,
        "metadata": {
            "name": name, "namespace": namespace,
            "labels": {"propagationpolicy.karmada.io/permanent-id": format!("id-{name}")},
        },
        "spec": {"priority": priority, "resourceSelectors": [selector]},
    }))
    .unwrap()
}

/// A selector of deployments with further fields.
fn selector(mut further: Value) -> Value {
    further["apiVersion"] = "apps/v1".into();
    further["kind"] = "Deployment".into();
    further
}

#[track_caller]
fn check(policies: &[PropagationPolicy], metadata: Value, expected: Option<&str>) {
    let type_meta = TypeMeta {
        api_version: "apps/v1".to_owned(),
        kind: "Deployment".to_owned(),
    };
    let metadata: ObjectMeta = serde_json::from_value(metadata).unwrap();
    let mut known = Policies::default();
    for policy in policies {
        known.insert(policy.clone(), None);
    }
    let found = known.policy_for(&type_meta, &metadata);
    assert_eq!(found.map(|known| known.policy.metadata.name.as_str()), expected);
}

#[test]
fn policies_claim_in_karmadas_order() {
    let all = || selector(json!({}));
    let by_name = || selector(json!({"name": "nginx"}));
    let by_label = || selector(json!({"labelSelector": {"matchLabels": {"app": "web"}}}));
    let in_prod = || selector(json!({"namespace": "prod"}));
    // The label selector is ignored if there is a name.
    let by_both = selector(json!({"name": "nginx", "labelSelector": {"matchLabels": {"app": "other"}}}));
    let namespaced = |name, priority, selector| policy("PropagationPolicy", name, priority, selector);
    let cluster = |name, priority, selector| policy("ClusterPropagationPolicy", name, priority, selector);
    for (policies, expected) in [
        (vec![cluster("c", 9, by_name()), namespaced("n", 0, all())], Some("n")),
        (
            vec![namespaced("a", 0, by_name()), namespaced("b", 1, all())],
            Some("b"),
        ),
        (
            vec![namespaced("b", 0, by_label()), namespaced("c", 0, by_name())],
            Some("c"),
        ),
        (
            vec![namespaced("a", 0, all()), namespaced("b", 0, by_label())],
            Some("b"),
        ),
        (vec![namespaced("b", 0, all()), namespaced("a", 0, all())], Some("a")),
        (vec![cluster("c", -5, all())], Some("c")),
        (vec![], None),
        (vec![namespaced("a", 0, by_both)], Some("a")),
        (vec![cluster("a", 0, in_prod())], None),
    ] {
        let nginx = json!({"name": "nginx", "namespace": "default", "labels": {"app": "web"}});
        check(&policies, nginx, expected);
    }
    // A different namespace, of the policy or of the selector.
    for (policy, expected) in [
        (namespaced("a", 0, all()), None),
        (namespaced("a", 0, in_prod()), None),
        (cluster("a", 0, in_prod()), Some("a")),
    ] {
        check(&[policy], json!({"name": "nginx", "namespace": "prod"}), expected);
    }
}

#[test]
fn a_claim_outlasts_a_better_match() {
    let policies = [
        policy("PropagationPolicy", "best", 9, selector(json!({}))),
        policy("PropagationPolicy", "first", 0, selector(json!({"name": "nginx"}))),
        policy("PropagationPolicy", "narrowed", 0, selector(json!({"name": "other"}))),
    ];
    let (name, namespace) = (
        "propagationpolicy.karmada.io/name",
        "propagationpolicy.karmada.io/namespace",
    );
    for (field, claim, expected) in [
        ("annotations", json!({name: "first", namespace: "default"}), "first"),
        ("labels", json!({name: "first"}), "first"),
        (
            "labels",
            json!({"propagationpolicy.karmada.io/permanent-id": "id-first"}),
            "first",
        ),
        ("annotations", json!({name: "gone"}), "best"),
        ("annotations", json!({name: "narrowed", namespace: "default"}), "best"),
    ] {
        let metadata = json!({"name": "nginx", "namespace": "default", field: claim});
        check(&policies, metadata, Some(expected));
    }
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
