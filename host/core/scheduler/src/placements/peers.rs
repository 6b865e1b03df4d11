//! Placements that one decision sees: the groups of a binding, and its peers.

use divvy_framework_calls::placements::PlacementsRecord;
use divvy_karmada::api::{TargetCluster, WorkloadAffinityGroups};
use divvy_karmada::detector::Binding;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::index::{Placements, Targets, targets_of};
use crate::input::Decidable;

/// The workload affinity groups of a binding, and the other bindings in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peers {
    /// The groups.
    pub groups: WorkloadAffinityGroups,
    /// The other bindings in them, by name.
    pub peers: Vec<Peer>,
}

/// Another binding in a workload affinity group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Peer {
    /// Name of the binding. Its namespace is that of the binding that sees it.
    pub name: String,
    /// True if both are in the same affinity group.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shares_affinity_group: bool,
    /// True if both are in the same anti-affinity group.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shares_anti_affinity_group: bool,
    /// Its clusters, each with its replicas; empty while it has none.
    #[serde(serialize_with = "write_targets", deserialize_with = "read_targets")]
    pub clusters: Targets,
}

fn write_targets<S: Serializer>(targets: &Targets, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(targets.iter())
}

fn read_targets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Targets, D::Error> {
    Vec::<TargetCluster>::deserialize(deserializer).map(|targets| targets_of(&targets))
}

impl Peers {
    /// The peers of a binding. `None` if the binding is in a group and `placements` is `None`; a binding in no group has no peers.
    pub fn of(binding: &dyn Decidable, placements: Option<&Placements>) -> Option<Self> {
        let groups = binding.input().affinity_groups;
        match groups.filter(|groups| !groups.is_empty()) {
            None => Some(Self::default()),
            Some(_) => placements.map(|placements| placements.peers(binding)),
        }
    }

    /// The peers of a recorded binding; `None` if it is in a group and `peers` is `None`.
    pub fn recorded(binding: &Binding, peers: Option<&[Peer]>) -> Option<Self> {
        let groups = binding.object.spec.workload_affinity_groups.clone().unwrap_or_default();
        if groups.is_empty() {
            return Some(Self::default());
        }
        let peers = peers?.to_vec();
        Some(Self { groups, peers })
    }

    /// Writes the tables that plugins read.
    pub(crate) fn write(&self, record: &mut PlacementsRecord) {
        record.reset(&self.groups.affinity_group, &self.groups.anti_affinity_group);
        for peer in &self.peers {
            let targets = peer.clusters.iter();
            let targets = targets.map(|target| (target.name.as_str(), i64::from(target.replicas)));
            record.peer(
                &peer.name,
                (peer.shares_affinity_group, peer.shares_anti_affinity_group),
                targets,
            );
        }
    }
}
