//! The worked example of a plugin: the TOML block of its README, turned into clusters and one binding.
//!
//! ```toml
//! replicas = 10
//! strategy = "Average"
//! clusters = { a = 1, b = 10, c = { fits = 10, spec = { region = "north" } } }
//! last = { c = 4 }
//! preferences = { staticWeightList = [] }
//! placement = { clusterAffinity = { clusterNames = ["a", "b"] } }
//! spec = { gracefulEvictionTasks = [] }
//! peers = { cart = { a = 2 } }
//! time = "2026-03-14T02:00:00Z"
//! tables = { prices = "cluster,cpu-hour\na,0.03\n" }
//! result = "a=1 b=9"
//! explanation = "c: rejected by cluster-affinity: …"
//! ```
//!
//! All keys except `replicas`, `strategy`, `clusters` and `result` are optional. A cluster is the number of replicas
//! that fit, or a table with that number (`fits`) and fields of its manifest. `spec` holds fields of the binding, and
//! `peers` other bindings in its workload affinity groups with their clusters. `tables` holds the tables that the plugin
//! declares, in CSV.

use std::collections::BTreeMap;

use divvy_karmada::api::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::artifacts::repository;
use crate::manifests::{binding, cluster};

/// A worked example.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Example {
    replicas: i64,
    pub(super) strategy: String,
    clusters: BTreeMap<String, Value>,
    #[serde(default)]
    last: BTreeMap<String, i64>,
    preferences: Option<Value>,
    #[serde(default)]
    placement: Map<String, Value>,
    #[serde(default)]
    spec: Map<String, Value>,
    /// Other bindings in the same workload affinity groups, each with its clusters.
    #[serde(default)]
    peers: BTreeMap<String, BTreeMap<String, i64>>,
    /// Time of the decision.
    time: Option<String>,
    /// The tables that the plugin reads, in CSV.
    #[serde(default)]
    pub(super) tables: BTreeMap<String, String>,
    /// The decision, as formatted by `scheduling::told`.
    pub(super) result: String,
    /// A line of the explanation that only this plugin can produce.
    pub(super) explanation: Option<String>,
}

/// The README of a plugin.
pub(super) fn readme(folder: &str) -> String {
    let path = repository().join("plugins").join(folder).join("README.md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text under a heading of a README.
pub(super) fn section<'text>(readme: &'text str, heading: &str) -> Option<&'text str> {
    let (_, text) = readme.split_once(&format!("\n## {heading}\n"))?;
    Some(text.split_once("\n## ").map_or(text, |(section, _)| section))
}

/// The TOML block of the worked example in a plugin's README.
pub(super) fn worked_example<T: DeserializeOwned>(folder: &str) -> T {
    let readme = readme(folder);
    let block = section(&readme, "Worked example")
        .and_then(|section| section.split_once("```toml\n")?.1.split_once("```"))
        .unwrap_or_else(|| {
            panic!(
                "plugins/{folder}/README.md has no TOML block under `## Worked example`: \
                 tests/bundled/example.rs describes its keys, and tests/bundled/moves.rs those of a pace"
            )
        });
    toml::from_str(block.0).unwrap_or_else(|error| panic!("plugins/{folder}/README.md: {error}"))
}

impl Example {
    /// The worked example in a plugin's README.
    pub(super) fn read(folder: &str) -> Self {
        worked_example(folder)
    }

    /// Time of the decision, in milliseconds since 1970.
    pub(super) fn time(&self) -> Option<i64> {
        let time = self.time.as_ref()?.parse::<Timestamp>();
        Some(time.expect("`time` is a timestamp").milliseconds())
    }

    /// The clusters of the example, the binding `web` and its peers.
    pub(super) fn objects(&self) -> Vec<Value> {
        let mut binding = binding("web", self.replicas).strategy(&self.strategy);
        if !self.last.is_empty() {
            binding = binding.last(self.last.iter().map(|(name, replicas)| (name.as_str(), *replicas)));
        }
        if let Some(preferences) = &self.preferences {
            binding = binding.preferences(preferences);
        }
        for (key, value) in &self.placement {
            binding = binding.placement(key, value.clone());
        }
        for (key, value) in &self.spec {
            binding = binding.spec(key, value.clone());
        }
        let mut objects: Vec<Value> = self
            .clusters
            .iter()
            .map(|(name, written)| manifest(name, written))
            .collect();
        let groups = self.spec.get("workloadAffinityGroups").cloned().unwrap_or_default();
        objects.extend(self.peers.iter().map(|(name, clusters)| {
            let clusters = clusters.iter().map(|(cluster, replicas)| (cluster.as_str(), *replicas));
            let peer = crate::manifests::binding(name, 0).last(clusters);
            Value::from(peer.spec("workloadAffinityGroups", groups.clone()))
        }));
        objects.push(binding.into());
        objects
    }
}

/// The manifest of a cluster.
fn manifest(name: &str, written: &Value) -> Value {
    let fits = written.get("fits").unwrap_or(written).as_i64();
    let fits = fits.unwrap_or_else(|| panic!("cluster `{name}`: expected `fits`, the number of replicas that fit"));
    let mut manifest = Value::from(cluster(name, fits));
    for (part, fields) in written.as_object().into_iter().flatten() {
        for (field, value) in fields.as_object().into_iter().flatten() {
            manifest[part][field] = value.clone();
        }
    }
    manifest
}
