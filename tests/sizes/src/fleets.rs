//! Fleets of the families for plans, as objects.
//!
//! The numbers of a fleet are those that plans without the command are made of, so both can be compared: each cluster has exactly the room of the
//! family, and each binding requests what its demand does and has the result of the fleet that grew.

use divvy_families::{Affinity, Instance, Policies, Policy, RESOURCES, Scattered, Strategy, grown};
use divvy_joint::Demand;
use serde_json::{Value, json};

use crate::inputs;

/// Workloads of a full fleet.
const WORKLOADS: usize = 50_000;
/// Clusters of a full fleet.
const CLUSTERS: usize = 1_000;
/// Choices of a workload with clusters of its own choice, unless it is bound to few.
const CHOICES: usize = 15;
/// All fleets are made from this one.
const SEED: u64 = 1;

/// A fleet of a family at a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) family: Family,
    /// Hundredths of the room that all workloads request.
    pub(crate) load: u32,
}

/// A family of fleets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Workloads with clusters of their own choice, some of which are wanted by many.
    Probe,
    /// Workloads under policies, and clusters that are sized for them.
    Policies,
}

impl Planned {
    /// A name such as `policies-90`.
    pub(crate) fn name(self) -> String {
        let family = match self.family {
            Family::Probe => "probe",
            Family::Policies => "policies",
        };
        format!("{family}-{}", self.load)
    }

    /// The fleet without running replicas. `scale` divides its size.
    pub(crate) fn instance(self, scale: usize) -> Instance {
        let (workloads, clusters) = (WORKLOADS.div_ceil(scale), CLUSTERS.div_ceil(scale));
        let load = f64::from(self.load) / 100.0;
        match self.family {
            Family::Probe => Scattered::probe(workloads, clusters, CHOICES, load).instance(SEED),
            Family::Policies => Policies::new(workloads, clusters, load, 1.0).instance(SEED),
        }
    }

    /// The same after it has grown.
    pub(crate) fn grown(self, scale: usize) -> Instance {
        grown(self.instance(scale), SEED)
    }
}

/// The clusters of a fleet as servers store them: what is allocated is what the results take.
pub(crate) fn clusters(instance: &Instance) -> impl Iterator<Item = Value> {
    let mut used = vec![vec![0; RESOURCES.len()]; instance.fleet.room.len()];
    for demand in &instance.fleet.demands {
        for (cluster, replicas) in &demand.running {
            for (used, request) in used[*cluster as usize].iter_mut().zip(&demand.request) {
                *used += request * replicas;
            }
        }
    }
    instance.clusters.iter().enumerate().map(move |(number, location)| {
        let mut cluster = inputs::cluster(number, 300, true);
        let region = format!("region-{}", location.region);
        cluster["metadata"]["labels"] = json!({"example.io/environment": environment(location.is_production)});
        cluster["spec"]["region"] = json!(region);
        cluster["spec"]["zones"] = json!([format!("{region}-a")]);
        let mut summary = json!({"allocatable": {"pods": "1000000"}, "allocated": {"pods": "0"}});
        for (resource, room) in instance.fleet.room[number].iter().enumerate() {
            summary["allocatable"][RESOURCES[resource]] = quantity(resource, *room);
            summary["allocated"][RESOURCES[resource]] = quantity(resource, used[number][resource]);
        }
        cluster["status"]["resourceSummary"] = summary;
        cluster
    })
}

/// The bindings of a fleet as servers store them. Those without a result wait.
pub(crate) fn bindings(instance: &Instance) -> impl Iterator<Item = Value> {
    let both = instance.fleet.demands.iter().zip(&instance.policies);
    both.enumerate()
        .map(|(number, (demand, policy))| binding(number, demand, policy))
}

fn binding(number: usize, demand: &Demand, policy: &Policy) -> Value {
    let mut request = json!({});
    for (resource, amount) in demand.request.iter().enumerate().filter(|(_, amount)| **amount > 0) {
        request[RESOURCES[resource]] = quantity(resource, *amount);
    }
    let placement = placement(demand, policy);
    let specification = json!({
        "replicas": demand.replicas,
        "schedulePriority": {"priority": demand.priority},
        "replicaRequirements": {"resourceRequest": request},
        "placement": placement,
    });
    let mut binding = inputs::deployment_binding(number, specification);
    let running = demand.running.iter();
    let targets: Vec<Value> = running
        .map(|(cluster, replicas)| json!({"name": inputs::cluster_name(*cluster as usize), "replicas": replicas}))
        .collect();
    if !targets.is_empty() {
        inputs::as_served(&mut binding, number, &placement, &targets);
        binding["spec"]["clusters"] = Value::Array(targets);
    }
    if policy.strategy == Strategy::Average {
        binding["metadata"]["annotations"]["divvy.io/strategy"] = json!("Average");
    }
    binding
}

fn placement(demand: &Demand, policy: &Policy) -> Value {
    let affinity = match &policy.affinity {
        Affinity::Names => {
            let names = demand.choices.iter();
            let names: Vec<String> = names
                .map(|choice| inputs::cluster_name(choice.cluster as usize))
                .collect();
            json!({"clusterNames": names})
        }
        Affinity::Regions { regions, is_production } => {
            let names: Vec<String> = regions.iter().map(|region| format!("region-{region}")).collect();
            let mut affinity = json!({
                "fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": names}]},
            });
            if let Some(is_production) = is_production {
                let labels = json!({"example.io/environment": environment(*is_production)});
                affinity["labelSelector"] = json!({"matchLabels": labels});
            }
            affinity
        }
    };
    let preference = match policy.strategy {
        Strategy::Aggregated => json!({"replicaDivisionPreference": "Aggregated"}),
        Strategy::Dynamic | Strategy::Average => json!({
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"dynamicWeight": "AvailableReplicas"},
        }),
    };
    let mut scheduling = json!({"replicaSchedulingType": "Divided"});
    if let (Value::Object(scheduling), Value::Object(preference)) = (&mut scheduling, preference) {
        scheduling.extend(preference);
    }
    let mut placement = json!({"clusterAffinity": affinity, "replicaScheduling": scheduling});
    if let Some(least) = policy.spread {
        let most = demand.clusters.unwrap_or(u32::MAX);
        placement["spreadConstraints"] = json!([
            {"spreadByField": "cluster", "minGroups": least, "maxGroups": most},
        ]);
    }
    placement
}

fn environment(is_production: bool) -> &'static str {
    if is_production { "production" } else { "other" }
}

/// Processors are in thousandths, memory in MiB.
fn quantity(resource: usize, amount: u64) -> Value {
    json!(format!("{amount}{}", ["m", "Mi", ""][resource]))
}
