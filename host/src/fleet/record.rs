//! From Karmada's `Cluster` to the record that a snapshot takes in.

use std::collections::BTreeSet;

use divvy_framework_driver::snapshot::{
    ClusterRecord, ConditionRecord, ModelRecord, ResourceRecord, ResourceSummaryRecord, TaintRecord,
};
use divvy_framework_view::words::{ConditionStatus, TaintEffect};

use crate::api::{Cluster, Quantity, ResourceSummary, StringMap};

/// The name of the resource that is counted in thousandths.
pub(crate) const CPU: &str = "cpu";

/// A cluster as a snapshot takes it in; with its JSON if a plugin asks for that.
pub fn cluster_record(cluster: &Cluster, keeps_raw: bool) -> ClusterRecord {
    let Cluster {
        metadata, spec, status, ..
    } = cluster;
    ClusterRecord {
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        labels: pairs(&metadata.labels),
        annotations: pairs(&metadata.annotations),
        deleting: metadata.is_deleting(),
        region: spec.region.clone(),
        provider: spec.provider.clone(),
        zone: spec.zone.clone(),
        zones: spec.zones.clone(),
        taints: spec
            .taints
            .iter()
            .map(|taint| TaintRecord {
                key: taint.key.clone(),
                value: taint.value.clone(),
                effect: match taint.effect.as_str() {
                    // A taint without effect is none that Kubernetes defines, while a toleration without is any.
                    "" => TaintEffect::Unknown,
                    effect => TaintEffect::named(effect),
                },
                time_added: taint
                    .time_added
                    .and_then(|time| i64::try_from(time.as_nanoseconds().div_euclid(1_000_000_000)).ok()),
            })
            .collect(),
        models: spec
            .resource_models
            .iter()
            .map(|model| ModelRecord {
                grade: i64::from(model.grade),
                ranges: model
                    .ranges
                    .iter()
                    .map(|range| {
                        (
                            range.name.clone(),
                            units(&range.name, range.min),
                            units(&range.name, range.max),
                        )
                    })
                    .collect(),
            })
            .collect(),
        api_enablements: status
            .api_enablements
            .iter()
            .flat_map(|api| {
                api.resources
                    .iter()
                    .map(|resource| (api.group_version.clone(), resource.kind.clone()))
            })
            .collect(),
        conditions: status
            .conditions
            .iter()
            .map(|condition| ConditionRecord {
                kind: condition.kind.clone(),
                status: ConditionStatus::named(&condition.status),
                reason: condition.reason.clone(),
            })
            .collect(),
        resource_summary: status.resource_summary.as_ref().map(resource_summary),
        raw: keeps_raw.then(|| serde_json::to_string(cluster).unwrap_or_default()),
    }
}

fn pairs(map: &StringMap) -> Vec<(String, String)> {
    map.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// A quantity in the units of the snapshot: thousandths of `cpu`, everything else whole.
pub(crate) fn units(resource: &str, quantity: Quantity) -> i64 {
    if resource == CPU {
        quantity.milli_value()
    } else {
        quantity.value()
    }
}

fn resource_summary(summary: &ResourceSummary) -> ResourceSummaryRecord {
    let names: BTreeSet<&String> = [&summary.allocatable, &summary.allocated, &summary.allocating]
        .into_iter()
        .flat_map(|list| list.keys())
        .collect();
    ResourceSummaryRecord {
        resources: names
            .into_iter()
            .map(|name| {
                let allocatable = summary.allocatable.get(name).copied();
                let allocated = summary.allocated.get(name).copied();
                let allocating = summary.allocating.get(name).copied();
                ResourceRecord {
                    name: name.clone(),
                    allocatable: allocatable.map(|quantity| units(name, quantity)),
                    allocated: allocated.map(|quantity| units(name, quantity)),
                    allocating: allocating.map(|quantity| units(name, quantity)),
                    remaining: allocatable.map(|quantity| {
                        let left = quantity
                            .checked_sub(allocated.unwrap_or_default())
                            .and_then(|left| left.checked_sub(allocating.unwrap_or_default()));
                        // A difference beyond what 128 bits of billionths hold is an overcommitment like any other.
                        left.map_or(0, |left| units(name, left))
                    }),
                }
            })
            .collect(),
        modelings: summary
            .allocatable_modelings
            .iter()
            .map(|modeling| (i64::from(modeling.grade), modeling.count))
            .collect(),
    }
}
