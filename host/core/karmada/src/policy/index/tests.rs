//! The index finds the same as a search through every policy, and tries few selectors.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::api::PropagationPolicy;
use crate::policy::Policies;

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the object is valid")
}

/// The rule in plain words: of all policies of a scope, the highest priority, then precision, then the first name.
fn plainly<'policies>(
    policies: &'policies [PropagationPolicy],
    scope: PolicyScope,
    type_meta: &TypeMeta,
    metadata: &ObjectMeta,
) -> Option<&'policies PropagationPolicy> {
    let matched = |policy: &PropagationPolicy| {
        let selectors = policy.spec.resource_selectors.iter();
        let of_resource = selectors.filter(|selector| {
            selector.api_version == type_meta.api_version
                && selector.kind == type_meta.kind
                && (selector.namespace.is_empty() || selector.namespace == metadata.namespace)
        });
        of_resource.filter_map(|selector| precision(selector, metadata)).max()
    };
    policies
        .iter()
        .filter(|policy| policy.scope() == scope && !policy.metadata.is_deleting())
        .filter(|policy| scope == PolicyScope::Cluster || policy.metadata.namespace == metadata.namespace)
        .filter_map(|policy| {
            let rank = (
                policy.spec.priority.unwrap_or(0),
                matched(policy)?,
                Reverse(&policy.metadata.name),
            );
            Some((rank, policy))
        })
        .max_by(|(left, _), (right, _)| left.cmp(right))
        .map(|(_, policy)| policy)
}

fn few(texts: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(texts)
}

fn labels() -> impl Strategy<Value = Value> {
    let entries = proptest::collection::vec((few(&["app", "tier"]), few(&["a", "b", ""])), 0..3);
    entries.prop_map(|entries| entries.into_iter().map(|(key, value)| (key, json!(value))).collect())
}

fn selector() -> impl Strategy<Value = Value> {
    let values = proptest::collection::vec(few(&["a", "b", ""]), 0..3);
    let operator = few(&["In", "NotIn", "Exists", "DoesNotExist", "Near"]);
    let expression = (few(&["app", "tier"]), operator, values)
        .prop_map(|(key, operator, values)| json!({"key": key, "operator": operator, "values": values}));
    let by_labels = (labels(), proptest::collection::vec(expression, 0..3))
        .prop_map(|(labels, expressions)| json!({"matchLabels": labels, "matchExpressions": expressions}));
    let parts = (
        few(&["Deployment", "Job"]),
        few(&["", "one", "two"]),
        few(&["", "", "x", "y"]),
    );
    (parts, proptest::option::of(by_labels)).prop_map(|((kind, namespace, name), by_labels)| {
        json!({"apiVersion": "apps/v1", "kind": kind, "namespace": namespace, "name": name, "labelSelector": by_labels})
    })
}

fn policy() -> impl Strategy<Value = PropagationPolicy> {
    let parts = (
        any::<bool>(),
        few(&["one", "two"]),
        few(&["p", "q", "r"]),
        0_i32..3,
        0_u8..8,
    );
    (parts, proptest::collection::vec(selector(), 0..3)).prop_map(|(parts, selectors)| {
        let (is_namespaced, namespace, name, priority, chance) = parts;
        let kind = if is_namespaced {
            "PropagationPolicy"
        } else {
            "ClusterPropagationPolicy"
        };
        let namespace = if is_namespaced { namespace } else { "" };
        let deleted = (chance == 0).then_some("2026-01-01T00:00:00Z");
        read(json!({
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace, "deletionTimestamp": deleted},
            "spec": {"priority": priority, "resourceSelectors": selectors},
        }))
    })
}

proptest! {
    #[test]
    fn the_index_finds_what_a_look_at_every_policy_finds(
        arrivals in proptest::collection::vec((policy(), any::<bool>()), 0..12),
        resources in proptest::collection::vec(
            (few(&["Deployment", "Job"]), few(&["one", "two", ""]), few(&["x", "y", "z"]), labels()), 1..6),
    ) {
        let (mut known, mut list) = (Policies::default(), Vec::<PropagationPolicy>::new());
        for (policy, is_removed) in arrivals {
            let key = |policy: &PropagationPolicy| {
                (policy.scope(), policy.metadata.namespace.clone(), policy.metadata.name.clone())
            };
            list.retain(|other| key(other) != key(&policy));
            if is_removed {
                let (scope, namespace, name) = key(&policy);
                known.remove(scope, &namespace, &name);
            } else {
                known.insert(policy.clone(), None);
                list.push(policy);
            }
        }
        for (kind, namespace, name, labels) in resources {
            let type_meta: TypeMeta = read(json!({"apiVersion": "apps/v1", "kind": kind}));
            let metadata: ObjectMeta = read(json!({"name": name, "namespace": namespace, "labels": labels}));
            let expected = [PolicyScope::Namespaced, PolicyScope::Cluster]
                .into_iter()
                .find_map(|scope| plainly(&list, scope, &type_meta, &metadata));
            let found = known.policy_for(&type_meta, &metadata);
            prop_assert_eq!(
                found.map(|known| &known.policy.metadata),
                expected.map(|policy| &policy.metadata)
            );
        }
    }
}

/// The largest number of selectors that is tried for one of 10,000 resources, each with a policy of its own.
fn most_tried(selector: impl Fn(usize) -> Value) -> usize {
    let mut index = Index::default();
    for number in 0..10_000 {
        let mut written = selector(number);
        written["apiVersion"] = "apps/v1".into();
        written["kind"] = "Deployment".into();
        let policy = read(json!({
            "kind": "PropagationPolicy",
            "metadata": {"name": format!("policy-{number}"), "namespace": "shop"},
            "spec": {"resourceSelectors": [written]},
        }));
        let facts = Arc::default();
        index.insert(&Arc::new(KnownPolicy { policy, facts }));
    }
    let type_meta: TypeMeta = read(json!({"apiVersion": "apps/v1", "kind": "Deployment"}));
    let tried = (0..10_000).step_by(97).map(|number| {
        let labels = json!({"app": format!("web-{number}"), "tier": "gold"});
        let metadata: ObjectMeta =
            read(json!({"name": format!("web-{number}"), "namespace": "shop", "labels": labels}));
        let best = index.best(PolicyScope::Namespaced, &type_meta, &metadata);
        assert!(best.is_some(), "{number} has a policy");
        let candidates = index.candidates(PolicyScope::Namespaced, &type_meta, &metadata);
        candidates.map(|(tried, _)| tried).sum()
    });
    tried.max().unwrap_or_default()
}

#[test]
fn few_selectors_are_tried_however_many_policies_there_are() {
    let name = |number| format!("web-{number}");
    assert_eq!(most_tried(|number| json!({"name": name(number)})), 1);
    assert_eq!(most_tried(|_| json!({})), 1);
    let app = |number| json!({"labelSelector": {"matchLabels": {"app": name(number)}}});
    assert_eq!(most_tried(app), 1);
    // All share one label, and the first selectors do not show which label distinguishes them.
    let shared = |number| json!({"labelSelector": {"matchLabels": {"app": name(number), "tier": "gold"}}});
    assert!(most_tried(shared) <= 2);
    let expression = |number| {
        let apps = json!({"key": "app", "operator": "In", "values": [name(number), name(number + 1)]});
        let tiers = json!({"key": "tier", "operator": "In", "values": ["gold", "silver"]});
        json!({"labelSelector": {"matchExpressions": [tiers, apps]}})
    };
    assert!(most_tried(expression) <= 4);
}
