//! Growth of a review, counted and not timed.

use divvy_karmada::api::{PropagationPolicy, StringMap};
use serde_json::json;

use super::reach::{Object, Reach};

/// Comparisons for `count` policies with `count` workloads in one namespace, where each policy has this selector, with `#` as its
/// number.
fn tried(count: usize, selector: &str) -> usize {
    let policies: Vec<PropagationPolicy> = (0..count)
        .map(|number| {
            let selector: serde_json::Value =
                serde_json::from_str(&selector.replace('#', &number.to_string())).unwrap();
            serde_json::from_value(json!({
                "kind": "PropagationPolicy",
                "metadata": {"name": format!("p{number}"), "namespace": "shop"},
                "spec": {"resourceSelectors": [selector]},
            }))
            .unwrap()
        })
        .collect();
    let names: Vec<(String, StringMap)> = (0..count)
        .map(|number| {
            let labels = [("app", format!("w{number}")), ("env", "production".to_owned())];
            let labels = labels.into_iter().map(|(key, value)| (key.to_owned(), value));
            (format!("w{number}"), labels.collect())
        })
        .collect();
    let objects: Vec<Object<'_>> = names
        .iter()
        .map(|(name, labels)| Object {
            api_version: "apps/v1",
            kind: "Deployment",
            namespace: "shop",
            name,
            labels: Some(labels),
        })
        .collect();
    let policies: Vec<&PropagationPolicy> = policies.iter().collect();
    let reach = Reach::new(&policies, &objects);
    let members: usize = reach.groups().map(|(_, members)| members.len()).sum();
    reach.tried + members
}

#[test]
fn comparisons_grow_with_policies_and_not_with_their_product() {
    for selector in [
        // Each names one workload.
        r##"{"apiVersion":"apps/v1","kind":"Deployment","name":"w#"}"##,
        // Each requires a label that one workload has, and one that all have.
        r##"{"apiVersion":"apps/v1","kind":"Deployment","labelSelector":{"matchLabels":{"env":"production","app":"w#"}}}"##,
        r##"{"apiVersion":"apps/v1","kind":"Deployment","labelSelector":{"matchExpressions":[{"key":"app","operator":"In","values":["w#","x#"]}]}}"##,
        // All select everything: the worst case for a comparison of each policy with each workload.
        r##"{"apiVersion":"apps/v1","kind":"Deployment"}"##,
        r##"{"apiVersion":"apps/v1","kind":"Deployment","labelSelector":{"matchLabels":{"env":"production"}}}"##,
        r##"{"apiVersion":"apps/v1","kind":"Deployment","labelSelector":{"matchExpressions":[{"key":"env","operator":"Exists"}]}}"##,
    ] {
        let (small, large) = (tried(200, selector), tried(2_000, selector));
        assert!(small >= 200, "{selector}: {small}");
        assert!(large <= 11 * small, "{selector}: {small}, then {large}");
    }
}
