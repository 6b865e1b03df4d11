//! Writes Karmada's `Cluster` into a snapshot's store.

use std::collections::BTreeSet;

use divvy_framework_calls::snapshot::ClusterWriter;
use divvy_framework_view::clusters::{Condition, Resource, Taint};
use divvy_framework_view::words::{ConditionStatus, TaintEffect};

use divvy_karmada::api::{Cluster, Quantity, ResourceList, ResourceSummary, Timestamp};

/// Name of the resource that is counted in thousandths.
pub(crate) const CPU: &str = "cpu";

/// Writes everything but the cluster's name.
pub(super) fn write_cluster(cluster: &Cluster, writer: &mut ClusterWriter<'_>) {
    let Cluster {
        metadata, spec, status, ..
    } = cluster;
    writer.uid(&metadata.uid).region(&spec.region);
    writer.provider(&spec.provider).deprecated_zone(&spec.zone);
    if metadata.is_deleting() {
        writer.deleting();
    }
    for (key, value) in &metadata.labels {
        writer.label(key, value);
    }
    for (key, value) in &metadata.annotations {
        writer.annotation(key, value);
    }
    for zone in &spec.zones {
        writer.zone(zone);
    }
    for taint in &spec.taints {
        // Kubernetes defines no taint without an effect, whereas a toleration without one matches every effect.
        let effect = taint.effect.known().unwrap_or(TaintEffect::Unknown);
        let mut view = Taint::new(&taint.key, &taint.value, effect);
        view.time_added = taint.time_added.map(Timestamp::seconds);
        writer.taint(view);
    }
    for model in &spec.resource_models {
        let ranges = model.ranges.iter().map(|range| {
            let name = range.name.as_str();
            (name, units(name, range.min), units(name, range.max))
        });
        writer.model(i64::from(model.grade), ranges);
    }
    for api in &status.api_enablements {
        let kinds = api.resources.iter().map(|resource| resource.kind.as_str());
        writer.apis(&api.group_version, kinds);
    }
    for condition in &status.conditions {
        let status = ConditionStatus::named(&condition.status).unwrap_or(ConditionStatus::Unknown);
        writer.condition(Condition::new(&condition.kind, status, &condition.reason));
    }
    if let Some(summary) = &status.resource_summary {
        write_summary(summary, writer);
    }
}

/// Resource and quantity of each request, in the units of the snapshot.
pub fn requests(list: Option<&ResourceList>) -> impl Iterator<Item = (&str, i64)> {
    let entries = list.into_iter().flatten();
    entries.map(|(resource, quantity)| (resource.as_str(), units(resource, *quantity)))
}

/// Converts a quantity to the units of the snapshot: thousandths for `cpu`, whole units for everything else.
pub fn units(resource: &str, quantity: Quantity) -> i64 {
    if resource == CPU {
        quantity.milli_value()
    } else {
        quantity.value()
    }
}

fn write_summary(summary: &ResourceSummary, writer: &mut ClusterWriter<'_>) {
    writer.resource_summary();
    let names: BTreeSet<&String> = [&summary.allocatable, &summary.allocated, &summary.allocating]
        .into_iter()
        .flat_map(|list| list.keys())
        .collect();
    for name in names {
        let allocatable = summary.allocatable.get(name).copied();
        let allocated = summary.allocated.get(name).copied();
        let allocating = summary.allocating.get(name).copied();
        let in_units = |quantity| units(name, quantity);
        let mut view = Resource::new(name);
        view.allocatable = allocatable.map(in_units);
        view.allocated = allocated.map(in_units);
        view.allocating = allocating.map(in_units);
        view.remaining = allocatable.map(|quantity| {
            let left = quantity
                .checked_sub(allocated.unwrap_or_default())
                .and_then(|left| left.checked_sub(allocating.unwrap_or_default()));
            // A difference that overflows 128 bits of billionths is an overcommitment, so nothing remains.
            left.map_or(0, in_units)
        });
        writer.resource(view);
    }
    for modeling in &summary.allocatable_modelings {
        writer.modeling(i64::from(modeling.grade), modeling.count);
    }
}
