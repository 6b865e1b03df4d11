//! Random fleets as manifests: clusters with taints, and bindings in every state that leads to a decision.

use std::collections::BTreeSet;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

/// A generator of numbers, so that a fleet is named by its number.
#[derive(Debug)]
pub(super) struct Numbers(SplitMix64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    /// True once in `times`.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(super) fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

const STRATEGIES: [&str; 6] = [
    "Duplicated",
    "StaticWeight",
    "DynamicWeight",
    "Aggregated",
    "Average",
    "PriorityAggregated",
];

/// A fleet: clusters first, then bindings.
#[derive(Debug, Clone)]
pub(super) struct FleetManifests {
    pub(super) clusters: Vec<Value>,
    pub(super) bindings: Vec<Value>,
}

impl FleetManifests {
    /// The fleet with this number.
    pub(super) fn numbered(number: u64) -> Self {
        let mut numbers = Numbers::new(number);
        let names: Vec<String> = (0..2 + numbers.below(5)).map(|index| format!("m{index}")).collect();
        let clusters = names.iter().map(|name| cluster(name, &mut numbers)).collect();
        let bindings = 1 + numbers.below(6);
        let bindings = (0..bindings)
            .map(|index| binding(index, &names, &mut numbers))
            .collect();
        Self { clusters, bindings }
    }

    /// A fleet of more clusters, most of whose bindings may use only a few of them.
    pub(super) fn wide(number: u64) -> Self {
        let mut numbers = Numbers::new(number);
        let names: Vec<String> = (0..8 + numbers.below(9)).map(|index| format!("m{index:02}")).collect();
        let clusters = names.iter().map(|name| cluster(name, &mut numbers)).collect();
        let bindings = 8 + numbers.below(12);
        let bindings = (0..bindings).map(|index| {
            let few = 1 + numbers.below(3);
            let few: BTreeSet<String> = (0..few).map(|_| numbers.one_of(&names).clone()).collect();
            let few: Vec<String> = few.into_iter().collect();
            let names = if numbers.once_in(4) { &names } else { &few };
            let mut binding = binding(index, names, &mut numbers);
            let placement = &mut binding["spec"]["placement"];
            if placement["clusterAffinity"].is_null() && !numbers.once_in(5) {
                placement["clusterAffinity"] = json!({"clusterNames": names});
                // What was applied is this placement, or the same without the affinity.
                let text = placement.to_string();
                if let Some(applied) = binding["metadata"]
                    .get_mut("annotations")
                    .and_then(Value::as_object_mut)
                    && !numbers.once_in(6)
                {
                    applied.insert("policy.karmada.io/applied-placement".to_owned(), text.into());
                }
            }
            if numbers.once_in(12) {
                binding["metadata"]["annotations"]["divvy.io/strategy"] = "Unknown".into();
            }
            // They count only under a profile whose filters enforce them.
            if numbers.once_in(3) {
                let kind = *numbers.one_of(&["affinityGroup", "antiAffinityGroup"]);
                binding["spec"]["workloadAffinityGroups"] = json!({kind: numbers.one_of(&["app=a", "app=b"])});
            }
            binding
        });
        Self {
            bindings: bindings.collect(),
            clusters,
        }
    }

    /// A wide fleet, most of whose bindings are duplicated and decided by every scheduler that sees them, in all the ways that
    /// can make them different: with growth that others see, spread constraints, several groups, priorities and taints.
    pub(super) fn duplicated(number: u64) -> Self {
        let mut fleet = Self::wide(number);
        let mut numbers = Numbers::new(!number);
        for binding in &mut fleet.bindings {
            // The rest is divided, and sees what the others take.
            if numbers.once_in(3) {
                continue;
            }
            let spec = &mut binding["spec"];
            let is_workload = spec["replicas"].is_u64();
            let placement = &mut spec["placement"];
            placement["replicaScheduling"] = json!({"replicaSchedulingType": "Duplicated"});
            match numbers.below(10) {
                0 => {
                    placement["spreadConstraints"] =
                        json!([{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 3}])
                }
                1 => {
                    placement["spreadConstraints"] =
                        json!([{"spreadByField": "region", "minGroups": 1, "maxGroups": 2}])
                }
                2 => {
                    let group = |name: &str, tier: &str| json!({"affinityName": name, "labelSelector": {"matchLabels": {"tier": tier}}});
                    if let Some(placement) = placement.as_object_mut() {
                        placement.remove("clusterAffinity");
                    }
                    placement["clusterAffinities"] = json!([group("best", "gold"), group("good", "iron")]);
                }
                3 => placement["clusterAffinity"] = json!({"labelSelector": {"matchLabels": {"tier": "gold"}}}),
                4 => {
                    if let Some(placement) = placement.as_object_mut() {
                        placement.remove("clusterAffinity");
                    }
                }
                _ => {}
            }
            let groups_are_tiers = !placement["clusterAffinities"].is_null() && numbers.once_in(2);
            if is_workload {
                spec["replicas"] = numbers.below(7).into();
                let cpu = numbers.one_of(&["1", "2", "500m"]);
                spec["replicaRequirements"] = json!({"resourceRequest": {"cpu": cpu, "memory": "1Gi"}});
            }
            // Without the placement that was applied, it is decided.
            let metadata = binding["metadata"].as_object_mut().expect("a binding has metadata");
            if !numbers.once_in(4) {
                metadata.remove("annotations");
            }
            if groups_are_tiers {
                binding["metadata"]["annotations"]["divvy.io/affinity-groups"] = "tiers".into();
            }
        }
        fleet
    }

    pub(super) fn objects(&self) -> Vec<Value> {
        self.clusters.iter().chain(&self.bindings).cloned().collect()
    }

    pub(super) fn cluster_name(&self, numbers: &mut Numbers) -> String {
        let cluster = numbers.one_of(&self.clusters);
        cluster["metadata"]["name"]
            .as_str()
            .expect("clusters have names")
            .to_owned()
    }
}

fn cluster(name: &str, numbers: &mut Numbers) -> Value {
    let mut taints = Vec::new();
    if numbers.once_in(6) {
        taints.push(json!({"key": "maintenance", "effect": "NoSchedule"}));
    }
    if numbers.once_in(8) {
        taints.push(json!({"key": "flaky", "effect": "NoExecute"}));
    }
    let mut apis = vec![json!({"groupVersion": "v1", "resources": [{"kind": "ConfigMap", "name": "configmaps"}]})];
    if !numbers.once_in(12) {
        apis.push(json!({"groupVersion": "apps/v1", "resources": [{"kind": "Deployment", "name": "deployments"}]}));
    }
    json!({
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": name, "labels": {"tier": numbers.one_of(&["gold", "iron"])}},
        "spec": {
            "region": numbers.one_of(&["east", "west", ""]),
            "provider": numbers.one_of(&["p", "q"]),
            "zones": [numbers.one_of(&["a", "b"])],
            "taints": taints,
        },
        "status": {
            "apiEnablements": apis,
            "resourceSummary": {
                "allocatable": {"cpu": (5 + numbers.below(40)).to_string(), "pods": "100"},
                "allocated": {"cpu": numbers.below(5).to_string(), "pods": "3"},
            },
        },
    })
}

fn binding(index: u64, names: &[String], numbers: &mut Numbers) -> Value {
    let name = format!("w{index}");
    let strategy = *numbers.one_of(&STRATEGIES);
    let is_whole = numbers.once_in(8);
    let placement = placement(strategy, names, numbers);
    let targets: Vec<&String> = names.iter().filter(|_| numbers.once_in(2)).collect();
    let count = if is_whole { 0 } else { 1 + numbers.below(20) };
    let clusters: Vec<Value> = targets
        .iter()
        .map(|name| match is_whole {
            true => json!({"name": name}),
            false if strategy == "Duplicated" => json!({"name": name, "replicas": count}),
            false => json!({"name": name, "replicas": 1 + numbers.below(8)}),
        })
        .collect();
    let sum: u64 = clusters.iter().filter_map(|target| target["replicas"].as_u64()).sum();
    // Mostly satisfied, so that most bindings are decided only because of a change.
    let replicas = match strategy {
        _ if is_whole || strategy == "Duplicated" || sum == 0 || numbers.once_in(4) => count,
        _ => sum,
    };
    let kind = if is_whole { "ConfigMap" } else { "Deployment" };
    let mut binding = json!({
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {"name": name, "namespace": "default", "uid": format!("{name}-{}", numbers.below(1000))},
        "spec": {
            "resource": {
                "apiVersion": if is_whole { "v1" } else { "apps/v1" }, "kind": kind, "namespace": "default", "name": name,
            },
            "clusters": clusters,
            "placement": placement,
            "schedulePriority": {"priority": numbers.below(3)},
        },
        "status": {"lastScheduledTime": "2026-01-01T00:00:00Z"},
    });
    if !is_whole {
        binding["spec"]["replicas"] = replicas.into();
        binding["spec"]["replicaRequirements"] = json!({"resourceRequest": {"cpu": "1"}});
    }
    if !numbers.once_in(5) {
        let applied = placement.to_string();
        binding["metadata"]["annotations"] = json!({"policy.karmada.io/applied-placement": applied});
    }
    if numbers.once_in(10) {
        binding["spec"]["suspension"] = json!({"scheduling": true});
    }
    if numbers.once_in(12) {
        binding["spec"]["rescheduleTriggeredAt"] = "2026-01-02T00:00:00Z".into();
    }
    binding
}

fn placement(strategy: &str, names: &[String], numbers: &mut Numbers) -> Value {
    let mut placement = match strategy {
        "Duplicated" => json!({"replicaScheduling": {"replicaSchedulingType": "Duplicated"}}),
        strategy => json!({"replicaScheduling": {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": match strategy {
                "StaticWeight" | "DynamicWeight" => "Weighted",
                other => other,
            },
        }}),
    };
    if strategy == "DynamicWeight" {
        placement["replicaScheduling"]["weightPreference"] = json!({"dynamicWeight": "AvailableReplicas"});
    }
    if numbers.once_in(3) {
        let chosen: Vec<&String> = names.iter().filter(|_| !numbers.once_in(3)).collect();
        placement["clusterAffinity"] = json!({"clusterNames": chosen});
    }
    let toleration = match numbers.below(8) {
        0 => json!([{"operator": "Exists"}]),
        1 => json!([{"key": "cluster.karmada.io/unschedulable", "operator": "Exists", "effect": "NoExecute"}]),
        2 => json!([{"operator": "Exists", "tolerationSeconds": 300}]),
        3 => json!([{"key": "flaky", "operator": "Exists"}]),
        _ => return placement,
    };
    placement["clusterTolerations"] = toleration;
    placement
}
