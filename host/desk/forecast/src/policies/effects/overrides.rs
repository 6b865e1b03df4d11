//! Overrides of replicas: override policies that set another number than the result has.
//!
//! Karmada applies overrides last (`ensureWork` in `pkg/controllers/binding`), after each cluster's share of the replicas is written
//! into its copy, so that an override wins over the result.

use std::collections::BTreeSet;

use divvy_karmada::api::{ClusterAffinity, OverridePolicy, PlaintextOverrider, TypeMeta};
use divvy_karmada::detector::Binding;
use divvy_scheduler::decide::affinity::{ClusterProperties, matches};
use divvy_spanned::ObjectName;

use super::{Expected, Surroundings, bindings, finding, is_duplicated, kinds};
use crate::notes::named;
use crate::policies::document::{Code, Finding};

/// One finding per override policy that changes the replicas of a result.
pub(super) fn findings(surroundings: &Surroundings<'_, '_>) -> Vec<Finding> {
    if surroundings.beside.overrides.is_empty() {
        return Vec::new();
    }
    let clusters = surroundings.beside.clusters.iter();
    let properties = clusters.map(|(cluster, _)| ClusterProperties::from(*cluster));
    let properties: Vec<ClusterProperties> = properties.collect();
    let overrides = surroundings.beside.overrides.iter();
    let findings = overrides.filter_map(|(policy, source)| review(policy, source, &properties, surroundings));
    findings.collect()
}

fn review(
    policy: &OverridePolicy,
    source: &str,
    properties: &[ClusterProperties],
    surroundings: &Surroundings<'_, '_>,
) -> Option<Finding> {
    let kinds = kinds();
    let (mut changes, mut clusters, mut names) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    let mut is_everywhere = false;
    for (index, binding) in surroundings.bindings.iter().enumerate() {
        let resource = &binding.object.spec.resource;
        let labels = binding.workload.as_ref().map(|workload| &workload.labels);
        let labels = labels.or_else(|| (surroundings.labels)(binding));
        let type_meta = TypeMeta {
            api_version: resource.api_version.clone(),
            kind: resource.kind.clone(),
        };
        let mut relevant = policy
            .changes()
            .filter(|(_, change)| kinds.sets_replicas(&type_meta, &change.path))
            .peekable();
        if relevant.peek().is_none() || !policy.selects(resource, labels) {
            continue;
        }
        let expected = (surroundings.expected)(index);
        let mut is_changed = false;
        for (target, change) in relevant.filter(|(_, change)| !is_as_decided(change, binding)) {
            let reached = reached(target, properties, &expected);
            is_changed |= !reached.is_empty();
            if !reached.is_empty() {
                changes.insert(described(change));
                is_everywhere |= target.is_none_or(ClusterAffinity::is_empty);
                clusters.extend(reached);
            }
        }
        if is_changed {
            names.push(binding.key());
        }
    }
    if names.is_empty() {
        return None;
    }
    let changes: Vec<String> = changes.into_iter().collect();
    let clusters: Vec<String> = clusters.into_iter().map(|name| format!("`{name}`")).collect();
    let on = match is_everywhere {
        true => "every cluster".to_owned(),
        false => named(&clusters),
    };
    let message = format!(
        "{} on {on}, after scheduling: {} another number than its result has",
        changes.join(" and "),
        bindings(names.len(), "runs", "run each"),
    );
    let metadata = &policy.metadata;
    let object = ObjectName::new(&policy.kind, &metadata.namespace, &metadata.name).to_string();
    Some(finding(Code::OverriddenReplicas, object, Some(source), message, names))
}

/// Names of the clusters of a binding on which a change applies. Without clusters in the input, those of the result are not compared.
fn reached(target: Option<&ClusterAffinity>, properties: &[ClusterProperties], expected: &Expected) -> Vec<String> {
    let matched = properties
        .iter()
        .filter(|cluster| target.is_none_or(|target| matches(target, cluster)))
        .filter(|cluster| expected.may_have(&cluster.name));
    matched.map(|cluster| cluster.name.clone()).collect()
}

/// True if a change sets what every cluster of a duplicated binding gets anyway.
fn is_as_decided(change: &PlaintextOverrider, binding: &Binding) -> bool {
    let replicas = binding.object.spec.replicas.map(i64::from);
    is_duplicated(binding) && change.value.as_i64().is_some_and(|value| Some(value) == replicas)
}

fn described(change: &PlaintextOverrider) -> String {
    let path = &change.path;
    match change.operator.as_str() {
        "remove" => format!("removes `{path}`"),
        _ if change.value.is_number() => format!("sets `{path}` to {}", change.value),
        _ => format!("replaces `{path}`"),
    }
}
