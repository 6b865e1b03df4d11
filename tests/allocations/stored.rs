//! Deciding a stored binding: the input of its plan borrows from the store, whatever the binding has.

use std::sync::Arc;

use divvy_controller::objects::{Kind, Object};
use divvy_controller::store::BindingStore;
use divvy_karmada::detector::PolicyFacts;
use divvy_scheduler::plan::Decidable;
use serde_json::{Value, json};

use crate::counter::allocations;

/// A binding with so many labels, annotations, conditions and clusters in its result, and so many components and evictions.
fn binding(texts: usize, lists: usize) -> Value {
    let numbers = |count| (0..count).map(|number: usize| format!("example.com/{number}"));
    let pairs: Value = numbers(texts).map(|key| (key, json!("value"))).collect();
    let clusters: Vec<Value> = numbers(texts)
        .map(|name| json!({"name": name, "replicas": 1}))
        .collect();
    let conditions: Vec<Value> = numbers(texts)
        .map(|kind| json!({"type": kind, "status": "True"}))
        .collect();
    let components: Vec<Value> = numbers(lists)
        .map(|name| json!({"name": name, "replicas": 2}))
        .collect();
    let evictions: Vec<Value> = numbers(lists).map(|name| json!({"fromCluster": name})).collect();
    json!({
        "metadata": {"name": "web", "namespace": "shop", "uid": "u", "labels": pairs, "annotations": pairs},
        "spec": {
            "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web", "uid": "r"},
            "replicas": texts,
            "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
            "placement": {"clusterAffinity": {"clusterNames": ["a"]}},
            "clusters": clusters,
            "components": components,
            "gracefulEvictionTasks": evictions,
        },
        "status": {"conditions": conditions},
    })
}

/// Allocations of the input of a stored binding.
fn allocations_of_input(binding: &Value) -> u64 {
    let fetched = serde_json::from_str(&binding.to_string()).expect("an object");
    let Ok(Object::Binding(document)) = Object::read(Kind::Binding, fetched) else {
        panic!("it is a binding");
    };
    let mut store = BindingStore::default();
    let (key, _) = store.upsert(*document, true, false);
    let policy = Some(Arc::new(PolicyFacts::default()));
    let stored = store.stored(&key, policy).expect("it is stored");
    let (count, input) = allocations(|| stored.input());
    assert!(input.labels.get("example.com/0").is_some());
    count
}

#[test]
fn a_stored_binding_is_not_copied_for_its_plan() {
    assert_eq!(allocations_of_input(&binding(1, 0)), 0);
    assert_eq!(allocations_of_input(&binding(50, 0)), 0);
    // The lists of components and of evictions, which few bindings have.
    assert_eq!(allocations_of_input(&binding(50, 20)), 2);
}
