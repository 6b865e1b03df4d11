//! Evictions from clusters with `NoExecute` taints, as Karmada's taint manager makes them
//! (`pkg/controllers/cluster/taint_manager.go`).
//!
//! By default, Karmada does not run this controller's evictions (`--enable-no-execute-taint-eviction` is off), so a
//! forecast makes them only if requested.

use std::collections::BTreeSet;
use std::sync::Arc;

use divvy_karmada::api::{
    GracefulEvictionTask, Placement, ReadJson, Taint, TaintEffect, Toleration, TolerationOperator,
};
use divvy_karmada::detector::Binding;
use divvy_scheduler::decide::APPLIED_PLACEMENT;

use crate::situation::{Situation, assigned};

/// Reason for an eviction task, and the controller of Karmada that made it.
const REASON: &str = "TaintUntolerated";
const PRODUCER: &str = "TaintManager";

/// The effect of a cluster's `NoExecute` taints on a binding that is assigned to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The binding is evicted at once.
    Evicts,
    /// The binding tolerates all taints, at least one of them only for this many seconds from its beginning.
    EvictsLater(i64),
    /// The binding tolerates all taints for good.
    Stays,
}

/// The moment up to which evictions are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Horizon {
    /// Evictions that happen at once.
    AtOnce,
    /// Also evictions that wait until a toleration runs out.
    InTheEnd,
}

impl Effect {
    /// True if the binding has left within a horizon.
    pub fn leaves(self, horizon: Horizon) -> bool {
        match self {
            Self::Evicts => true,
            Self::EvictsLater(_) => horizon == Horizon::InTheEnd,
            Self::Stays => false,
        }
    }
}

/// A binding on a cluster with `NoExecute` taints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// Key of the binding.
    pub binding: String,
    /// Name of the cluster.
    pub cluster: String,
    /// Replicas assigned there.
    pub replicas: i64,
    /// Effect of the taints.
    pub effect: Effect,
}

/// The effect of `NoExecute` taints on a binding with these tolerations. Other taints are ignored.
pub fn effect(taints: &[Taint], tolerations: &[Toleration]) -> Effect {
    let mut soonest: Option<i64> = None;
    for taint in taints.iter().filter(|taint| taint.effect == TaintEffect::NoExecute) {
        // As in Kubernetes, the first toleration that matches decides how long.
        let Some(toleration) = tolerations.iter().find(|toleration| tolerates(toleration, taint)) else {
            return Effect::Evicts;
        };
        if let Some(seconds) = toleration.toleration_seconds {
            soonest = Some(soonest.map_or(seconds, |known| known.min(seconds)));
        }
    }
    match soonest {
        None => Effect::Stays,
        Some(seconds) if seconds <= 0 => Effect::Evicts,
        Some(seconds) => Effect::EvictsLater(seconds),
    }
}

/// Kubernetes' `Toleration.ToleratesTaint`.
fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let effect = toleration.effect.as_ref().map_or("", |effect| effect.as_str());
    if !effect.is_empty() && effect != taint.effect.as_str() {
        return false;
    }
    if !toleration.key.is_empty() && toleration.key != taint.key {
        return false;
    }
    match &toleration.operator {
        Some(operator) if *operator == TolerationOperator::Exists => true,
        Some(operator) if *operator != TolerationOperator::Equal && !operator.as_str().is_empty() => false,
        _ => toleration.value == taint.value,
    }
}

/// The bindings on these clusters, each with the effect of the cluster's taints. A cluster without `NoExecute` taints
/// has none.
///
/// The tolerations are those of the applied placement or, for a binding that was not scheduled yet, those of its own
/// placement. A binding that is being deleted is left out.
pub fn departures(situation: &Situation, clusters: &BTreeSet<String>) -> Vec<Departure> {
    let mut departures = Vec::new();
    for binding in &situation.bindings {
        if binding.object.metadata.is_deleting() {
            continue;
        }
        let targets = assigned(binding);
        let mut tolerations = None;
        for (name, &replicas) in targets.iter().filter(|(name, _)| clusters.contains(*name)) {
            let Some(cluster) = situation.clusters.get(name) else {
                continue;
            };
            let taints = &cluster.object.spec.taints;
            if !taints.iter().any(|taint| taint.effect == TaintEffect::NoExecute) {
                continue;
            }
            let tolerations = tolerations.get_or_insert_with(|| applied_tolerations(binding));
            departures.push(Departure {
                binding: binding.key(),
                cluster: name.clone(),
                replicas,
                effect: effect(taints, tolerations),
            });
        }
    }
    departures
}

/// True if a cluster takes the replicas of a binding away: it does not exist, or has a `NoExecute` taint that the binding does not
/// tolerate; not for good, if the cluster failed.
pub(crate) fn takes_away(situation: &Situation, cluster: &str, binding: &Binding) -> bool {
    let Some(entry) = situation.clusters.get(cluster) else {
        return true;
    };
    let placement = binding.object.spec.placement.as_deref();
    let tolerations = placement.map_or(&[][..], |placement| &placement.cluster_tolerations);
    let horizon = match situation.failed.contains(cluster) {
        true => Horizon::InTheEnd,
        false => Horizon::AtOnce,
    };
    effect(&entry.object.spec.taints, tolerations).leaves(horizon)
}

fn applied_tolerations(binding: &Binding) -> Vec<Toleration> {
    let applied = binding.object.metadata.annotations.get(APPLIED_PLACEMENT);
    let applied = applied.and_then(|text| Placement::from_json(text).ok());
    match (applied, &binding.object.spec.placement) {
        (Some(placement), _) => placement.cluster_tolerations,
        (None, Some(placement)) => placement.cluster_tolerations.clone(),
        (None, None) => Vec::new(),
    }
}

/// Evicts the bindings on these clusters that leave within a horizon. Returns all bindings on these clusters.
pub fn evict(situation: &mut Situation, clusters: &BTreeSet<String>, horizon: Horizon) -> Vec<Departure> {
    let departures = departures(situation, clusters);
    let mut leaving = departures
        .iter()
        .filter(|departure| departure.effect.leaves(horizon))
        .peekable();
    // Both are in the order of the bindings; keys of a ResourceBinding and a ClusterResourceBinding differ by the slash.
    for binding in &mut situation.bindings {
        let key = binding.key();
        while let Some(departure) = leaving.next_if(|departure| departure.binding == key) {
            write_eviction(Arc::make_mut(binding), &departure.cluster);
        }
    }
    departures
}

/// Takes a cluster out of a binding's result and adds an eviction task for it (`GracefulEvictCluster`).
fn write_eviction(binding: &mut Binding, cluster: &str) {
    let spec = &mut binding.object.spec;
    let Some(index) = spec.clusters.iter().position(|target| target.name == cluster) else {
        return;
    };
    let target = spec.clusters.remove(index);
    let is_known = spec
        .graceful_eviction_tasks
        .iter()
        .any(|task| task.from_cluster == cluster);
    if is_known {
        return;
    }
    spec.graceful_eviction_tasks.push(GracefulEvictionTask {
        from_cluster: target.name,
        replicas: (target.replicas > 0).then_some(target.replicas),
        reason: REASON.to_owned(),
        producer: PRODUCER.to_owned(),
        ..GracefulEvictionTask::default()
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_binding_stays_only_if_it_tolerates_every_no_execute_taint() {
        let taint = |key: &str, effect: &str| json!({"key": key, "value": "v", "effect": effect});
        let cases = [
            (json!([]), json!([]), Effect::Stays),
            (json!([taint("a", "NoSchedule")]), json!([]), Effect::Stays),
            (json!([taint("a", "NoExecute")]), json!([]), Effect::Evicts),
            (
                json!([taint("a", "NoExecute")]),
                json!([{"key": "a", "operator": "Exists"}]),
                Effect::Stays,
            ),
            (
                json!([taint("a", "NoExecute")]),
                json!([{"key": "a", "operator": "Exists", "effect": "NoSchedule"}]),
                Effect::Evicts,
            ),
            (
                json!([taint("a", "NoExecute")]),
                json!([{"key": "a", "value": "v"}]),
                Effect::Stays,
            ),
            (
                json!([taint("a", "NoExecute")]),
                json!([{"key": "a", "value": "w"}]),
                Effect::Evicts,
            ),
            (
                json!([taint("a", "NoExecute")]),
                json!([{"operator": "Exists"}]),
                Effect::Stays,
            ),
            (
                json!([taint("a", "NoExecute"), taint("b", "NoExecute")]),
                json!([{"key": "a", "operator": "Exists"}]),
                Effect::Evicts,
            ),
            (
                json!([taint("a", "NoExecute"), taint("b", "NoExecute")]),
                json!([{"key": "a", "operator": "Exists", "tolerationSeconds": 300}, {"key": "b", "operator": "Exists", "tolerationSeconds": 60}]),
                Effect::EvictsLater(60),
            ),
            (
                json!([taint("a", "NoExecute")]),
                json!([{"key": "a", "operator": "Exists", "tolerationSeconds": 0}]),
                Effect::Evicts,
            ),
        ];
        for (taints, tolerations, expected) in cases {
            let parsed: Vec<Taint> = serde_json::from_value(taints.clone()).unwrap();
            let tolerated: Vec<Toleration> = serde_json::from_value(tolerations.clone()).unwrap();
            assert_eq!(effect(&parsed, &tolerated), expected, "{taints} {tolerations}");
        }
    }
}
