//! Warnings about clusters: placements and results name some that the input lacks, and some report no capacity.
//!
//! None of them prevents a decision, but each affects the result without being visible in it.

use std::collections::{BTreeMap, HashMap};

use divvy_command::text::listed;
use divvy_karmada::api::{ClusterAffinity, Placement};
use divvy_karmada::detector::Binding;
use divvy_manifests::{Manifests, ObjectName, Source, Warning};
use divvy_spanned::names::nearest;

/// Maximum number of absent clusters with a warning of their own.
const ABSENT_MAX: usize = 10;
/// Maximum number of clusters with replicas that are named per line.
const NAMED_MAX: usize = 10;

/// The warnings about an input; none if it has problems, which may be why a cluster is missing. `divides_by_capacity` is true
/// if the capacity of clusters matters to any binding.
pub(super) fn warnings(manifests: &Manifests, bindings: &[Binding], divides_by_capacity: bool) -> Vec<Warning> {
    let names = manifests.clusters.iter();
    let names: Vec<&str> = names.map(|cluster| cluster.object.metadata.name.as_str()).collect();
    // An input without clusters has a warning of its own.
    if names.is_empty() || !manifests.problems.is_empty() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    if divides_by_capacity {
        warnings.extend(without_summary(manifests));
    }
    warnings.extend(absent_from_placements(&names, bindings));
    warnings
}

/// A warning about replicas on clusters that the input lacks. Commands that compare refuse them instead.
pub(super) fn missing(manifests: &Manifests, bindings: &[Binding]) -> Option<Warning> {
    if manifests.clusters.is_empty() || !manifests.problems.is_empty() {
        return None;
    }
    let names = manifests.clusters.iter();
    let mut known = Names::new(names.map(|cluster| cluster.object.metadata.name.as_str()));
    let mut missing: BTreeMap<&str, i64> = BTreeMap::new();
    for binding in bindings {
        for (cluster, replicas) in binding.last() {
            if !known.contains(cluster) {
                let sum = missing.entry(cluster).or_default();
                *sum = sum.saturating_add(replicas);
            }
        }
    }
    let hint = "add the clusters to the input; without them, replicas there are scheduled elsewhere";
    (!missing.is_empty()).then(|| Warning::new(assigned_to_missing(&missing)).with_hint(hint))
}

/// Message about the clusters that the input lacks, with the replicas assigned to each.
pub(super) fn assigned_to_missing<Name: AsRef<str>>(missing: &BTreeMap<Name, i64>) -> String {
    let named = missing.iter().map(|(name, replicas)| {
        let plural = if *replicas == 1 { "" } else { "s" };
        format!("`{}` ({replicas} replica{plural})", name.as_ref())
    });
    let named: Vec<String> = named.collect();
    let named = listed(named.iter().map(String::as_str), NAMED_MAX);
    format!("bindings are assigned to clusters that the input lacks: {named}")
}

/// Clusters that do not report their capacity.
fn without_summary(manifests: &Manifests) -> impl Iterator<Item = Warning> {
    let clusters = manifests.clusters.iter();
    let clusters = clusters.filter(|cluster| cluster.object.status.resource_summary.is_none());
    clusters.map(|cluster| Warning {
        source_of: Some(cluster.source.clone()),
        object: Some(ObjectName::new("Cluster", "", &cluster.object.metadata.name)),
        ..Warning::new("the cluster has no `status.resourceSummary`, so its capacity counts as 0")
    })
}

/// Names of clusters in placements that no cluster has, each with the objects that contain it.
fn absent_from_placements(names: &[&str], bindings: &[Binding]) -> Vec<Warning> {
    let mut known = Names::new(names.iter().copied());
    let mut absent: BTreeMap<&str, Vec<&Binding>> = BTreeMap::new();
    for binding in bindings {
        let placement = binding.object.spec.placement.as_deref().into_iter();
        for affinity in placement.flat_map(affinities) {
            let named = affinity.cluster_names.iter().chain(&affinity.exclude_clusters);
            for name in named.filter(|name| !known.contains(name)) {
                absent.entry(name).or_default().push(binding);
            }
        }
    }
    let mut warnings = Vec::new();
    for (name, bindings) in absent.iter().take(ABSENT_MAX) {
        let hint = nearest(name, names.iter().copied()).map(|nearest| format!("did you mean `{nearest}`?"));
        // Bindings of one policy share its placement.
        let objects: BTreeMap<String, Warning> = bindings
            .iter()
            .map(|binding| {
                let (object, source_of) = placed_by(binding);
                let warning = Warning {
                    source_of,
                    hint: hint.clone(),
                    object: Some(object.clone()),
                    ..Warning::new(format!("no cluster is named `{name}`"))
                };
                (object.to_string(), warning)
            })
            .collect();
        warnings.extend(objects.into_values());
    }
    let more = absent.len().saturating_sub(ABSENT_MAX);
    if more > 0 {
        let clusters = if more == 1 { "cluster" } else { "clusters" };
        let message = format!("placements name {more} more {clusters} that the input lacks");
        warnings.push(Warning::new(message));
    }
    warnings
}

/// The object that has the placement of a binding, and its location if it is known: the policy or, without one, the binding.
fn placed_by(binding: &Binding) -> (ObjectName, Option<Source>) {
    let Some(policy) = &binding.policy else {
        let (kind, metadata) = (binding.object.scope().kind(), &binding.object.metadata);
        let object = ObjectName::new(kind, &metadata.namespace, &metadata.name);
        return (object, binding.source.clone());
    };
    let location = policy.location.0.as_ref();
    (policy.object_name(), location.map(|location| location.source.clone()))
}

/// Every set of clusters that a placement chooses from: its affinity, or its groups with their tiers.
pub(super) fn chosen_from(placement: &Placement) -> impl Iterator<Item = &ClusterAffinity> {
    let groups = placement.cluster_affinities.iter().flat_map(|term| {
        let overflow = term.overflow_affinities.iter().map(|tier| &tier.affinity);
        std::iter::once(&term.affinity).chain(overflow)
    });
    placement.cluster_affinity.iter().chain(groups)
}

/// Every set of clusters in a placement that can name some of them.
fn affinities(placement: &Placement) -> impl Iterator<Item = &ClusterAffinity> {
    let division = placement.replica_scheduling.iter();
    let weights = division.flat_map(|division| &division.weight_preference);
    let entries = weights.flat_map(|weights| &weights.static_weight_list);
    let targets = entries.filter_map(|entry| entry.target_cluster.as_ref());
    chosen_from(placement).chain(targets)
}

/// Names of all clusters, for looking up lists of them.
///
/// Results with thousands of clusters usually list them in the order of the input, so the name after the last one found is
/// compared first.
struct Names<'a> {
    names: Vec<&'a str>,
    indices: HashMap<&'a str, usize>,
    next: usize,
}

impl<'a> Names<'a> {
    fn new(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.collect();
        let indices = names.iter().enumerate().map(|(index, name)| (*name, index)).collect();
        Self {
            names,
            indices,
            next: 0,
        }
    }

    fn contains(&mut self, name: &str) -> bool {
        let index = match self.names.get(self.next) {
            Some(next) if *next == name => Some(self.next),
            _ => self.indices.get(name).copied(),
        };
        if let Some(index) = index {
            self.next = index + 1;
        }
        index.is_some()
    }
}
