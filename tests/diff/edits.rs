//! Each change made by hand in a manifest, as an operator or a controller of Karmada would make it.

use serde_json::{Value, json};

use super::fleets::FleetManifests;

const UNSCHEDULABLE: &str = "cluster.karmada.io/unschedulable";

fn is_named(object: &Value, name: &str) -> bool {
    object["metadata"]["name"] == name
}

fn list<'a>(value: &'a mut Value, key: &str) -> &'a mut Vec<Value> {
    if value[key].is_null() {
        value[key] = json!([]);
    }
    value[key].as_array_mut().expect("a list")
}

fn taint(fleet: &mut FleetManifests, cluster: &str, effect: &str) {
    for object in fleet.clusters.iter_mut().filter(|object| is_named(object, cluster)) {
        list(&mut object["spec"], "taints").push(json!({"key": UNSCHEDULABLE, "effect": effect}));
    }
}

pub(super) fn cordon(fleet: &mut FleetManifests, cluster: &str) {
    taint(fleet, cluster, "NoSchedule");
}

/// Adds the taint, and does what Karmada's taint manager then does.
pub(super) fn drain(fleet: &mut FleetManifests, cluster: &str) {
    taint(fleet, cluster, "NoExecute");
    let tainted = fleet.clusters.iter().find(|object| is_named(object, cluster));
    let taints = tainted.expect("the cluster exists")["spec"]["taints"]
        .as_array()
        .cloned();
    let taints: Vec<Value> = taints.unwrap_or_default();
    for binding in &mut fleet.bindings {
        let tolerations = binding["spec"]["placement"]["clusterTolerations"].as_array().cloned();
        let tolerations = tolerations.unwrap_or_default();
        let covers = |toleration: &Value, taint: &Value| {
            (toleration["key"].is_null() || toleration["key"] == taint["key"])
                && (toleration["effect"].is_null() || toleration["effect"] == taint["effect"])
        };
        let no_execute = taints.iter().filter(|taint| taint["effect"] == "NoExecute");
        let mut untolerated =
            no_execute.filter(|taint| !tolerations.iter().any(|toleration| covers(toleration, taint)));
        if untolerated.next().is_some() {
            evict(binding, cluster);
        }
    }
}

fn evict(binding: &mut Value, cluster: &str) {
    let targets = list(&mut binding["spec"], "clusters");
    let Some(index) = targets.iter().position(|target| target["name"] == cluster) else {
        return;
    };
    let target = targets.remove(index);
    list(&mut binding["spec"], "gracefulEvictionTasks").push(json!({
        "fromCluster": cluster, "replicas": target["replicas"], "reason": "TaintUntolerated", "producer": "TaintManager",
    }));
}

pub(super) fn remove(fleet: &mut FleetManifests, cluster: &str) {
    fleet.clusters.retain(|object| !is_named(object, cluster));
}

/// Sets the replicas of a workload; a resource without replicas has none to set.
pub(super) fn scale(fleet: &mut FleetManifests, binding: &str, replicas: impl Fn(i64) -> i64) {
    for object in fleet.bindings.iter_mut().filter(|object| is_named(object, binding)) {
        if let Some(present) = object["spec"]["replicas"].as_i64() {
            object["spec"]["replicas"] = replicas(present).into();
        }
    }
}

pub(super) fn reschedule(fleet: &mut FleetManifests, binding: &str) {
    for object in fleet.bindings.iter_mut().filter(|object| is_named(object, binding)) {
        object["spec"]["rescheduleTriggeredAt"] = "2026-03-01T00:00:00Z".into();
    }
}
