//! A case: clusters and a binding, as manifests.

use std::sync::Arc;

use divvy_karmada::api::Cluster;
use divvy_karmada::detector::Binding;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_manifests::{ReadOptions, read_text};
use divvy_scheduler::decision::Scheduler;
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::placements::{Peers, Placements};
use divvy_scheduler::profile::Profile;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Clusters and a binding, as manifests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    /// The clusters.
    pub clusters: Vec<Value>,
    /// All other objects: a binding, or a policy and the workload that it claims.
    pub objects: Vec<Value>,
    /// Key of the binding that is decided, `<namespace>/<name>`; the first one if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// Time of the decision, in milliseconds since 1970.
    pub time: i64,
}

/// A list of manifests.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    api_version: &'static str,
    kind: &'static str,
    items: Vec<&'a Value>,
}

/// A case as the scheduler reads it.
#[derive(Debug)]
pub struct Situation {
    /// The binding that is decided.
    pub binding: Binding,
    /// The clusters, in the order of the case.
    pub clusters: Vec<Cluster>,
    /// The clusters as a snapshot.
    pub fleet: FleetSnapshot,
    /// Time of the decision.
    pub time: i64,
    /// The other bindings of the case in the groups of the binding.
    pub peers: Option<Peers>,
    /// The placements of all bindings of the case.
    pub placements: Arc<Placements>,
}

impl Case {
    /// The manifests as one list, which is valid YAML and JSON.
    ///
    /// They are written from where they are: a copy of thousands of clusters took as long as writing them.
    pub fn manifests(&self) -> impl Serialize {
        List {
            api_version: "v1",
            kind: "List",
            items: self.clusters.iter().chain(&self.objects).collect(),
        }
    }

    /// The text of [`Self::manifests`].
    fn text(&self) -> Result<String, String> {
        serde_json::to_string(&self.manifests()).map_err(|error| error.to_string())
    }

    /// Reads the manifests as `divvy schedule` does, for a profile and its kinds with replicas.
    ///
    /// # Errors
    ///
    /// The first problem of a manifest, or a message if the binding is missing.
    pub(crate) fn read(&self, kinds: &WorkloadKinds, profile: &Profile) -> Result<Situation, String> {
        let mut manifests = read_text("case", &self.text()?, &ReadOptions::default());
        if let Some(problem) = manifests.problems.first() {
            return Err(problem.cause.to_string());
        }
        let detected = manifests.detect(kinds.clone());
        let placements = Placements::of(&detected.bindings);
        let mut bindings = detected.bindings.into_iter();
        let binding = match &self.binding {
            None => bindings.next(),
            Some(key) => bindings.find(|binding| binding.key() == *key),
        };
        let binding = binding.ok_or_else(|| "the manifests have no such binding".to_owned())?;
        let clusters: Vec<Cluster> = manifests.clusters.into_iter().map(|located| located.object).collect();
        Ok(Situation {
            peers: Peers::of(&binding, Some(&placements)),
            fleet: fleet_of(&clusters, profile),
            binding,
            clusters,
            time: self.time,
            placements: Arc::new(placements),
        })
    }
}

/// A fleet of these clusters, as a profile needs it.
pub(crate) fn fleet_of(clusters: &[Cluster], profile: &Profile) -> FleetSnapshot {
    let mut fleet = Fleet::new(profile.needs_raw_clusters());
    fleet.extend(clusters);
    fleet.snapshot()
}

/// Cases that the user provides: one per binding in these manifests, for a profile with these kinds with replicas.
///
/// # Errors
///
/// The first problem of a manifest.
pub(crate) fn cases_from_manifests(
    name: &str,
    text: &str,
    kinds: &WorkloadKinds,
    time: i64,
) -> Result<Vec<Case>, String> {
    let mut documents = Vec::new();
    let (nodes, faults) = divvy_spanned::yaml::parse(text, 1);
    if let Some(fault) = faults.into_iter().next() {
        return Err(format!("{name}:{}: {}", fault.line, fault.cause));
    }
    for node in nodes {
        flatten(node.to_json(), &mut documents);
    }
    let is_cluster = |object: &Value| object["kind"] == "Cluster";
    let (clusters, objects): (Vec<Value>, Vec<Value>) = documents.into_iter().partition(is_cluster);
    let whole = Case {
        clusters,
        objects,
        binding: None,
        time,
    };
    let mut manifests = read_text(name, &whole.text()?, &ReadOptions::default());
    if let Some(problem) = manifests.problems.first() {
        return Err(format!("{name}: {}", problem.cause));
    }
    let detected = manifests.detect(kinds.clone());
    let keys = detected.bindings.iter().map(Binding::key);
    Ok(keys
        .map(|key| Case {
            binding: Some(key),
            ..whole.clone()
        })
        .collect())
}

/// The objects of a document, which may be a list.
fn flatten(document: Value, objects: &mut Vec<Value>) {
    match document {
        Value::Object(mut list) if list.get("items").is_some_and(Value::is_array) => {
            if let Some(Value::Array(items)) = list.remove("items") {
                items.into_iter().for_each(|item| flatten(item, objects));
            }
        }
        Value::Null => {}
        object => objects.push(object),
    }
}

impl Situation {
    /// A scheduler that decides at the time of the case and knows its placements.
    pub(crate) fn scheduler(&self, profile: Arc<Profile>) -> Scheduler {
        Scheduler::new(profile)
            .deciding_at(Some(self.time))
            .knowing(Some(Arc::clone(&self.placements)))
    }
}
