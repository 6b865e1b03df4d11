//! The index: groups with their members, and the clusters of each member.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use divvy_karmada::api::{BindingScope, ResourceBinding, TargetCluster, WorkloadAffinityGroups};
use divvy_karmada::detector::Binding;

use super::peers::{Peer, Peers};
use crate::input::Decidable;

/// The clusters of a binding, sorted by name.
pub type Targets = Arc<[TargetCluster]>;

/// Placements of bindings, by workload affinity group. Bindings in no group are left out.
#[derive(Debug, Clone, Default)]
pub struct Placements {
    namespaces: HashMap<String, Namespace>,
}

/// The groups of one namespace.
#[derive(Debug, Clone, Default)]
struct Namespace {
    members: BTreeMap<String, Member>,
    affinity: HashMap<String, Group>,
    anti_affinity: HashMap<String, Group>,
}

/// Names of the bindings of a group, sorted.
type Group = std::collections::BTreeSet<String>;

/// A binding in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Member {
    groups: WorkloadAffinityGroups,
    targets: Targets,
}

impl Placements {
    /// The placements of these bindings in their last results.
    pub fn of<'a>(bindings: impl IntoIterator<Item = &'a Binding>) -> Self {
        let mut placements = Self::default();
        for binding in bindings {
            placements.insert(&binding.object);
        }
        placements
    }

    /// Adds or updates a binding with its last result. Returns true if its peers see a change.
    pub fn insert(&mut self, binding: &ResourceBinding) -> bool {
        self.place(binding, targets_of(&binding.spec.clusters))
    }

    /// Adds or updates a binding with these clusters instead of its last result. Returns true if its peers see a change.
    pub fn place(&mut self, binding: &ResourceBinding, targets: Targets) -> bool {
        let (namespace, name) = (&binding.metadata.namespace, &binding.metadata.name);
        match groups_of(binding) {
            None => self.remove(namespace, name),
            Some(groups) => self.set(namespace, name, groups, targets),
        }
    }

    /// Adds or updates a member of these groups. Returns true if its peers see a change.
    pub fn set(&mut self, namespace: &str, name: &str, groups: &WorkloadAffinityGroups, targets: Targets) -> bool {
        let known = self.namespaces.entry(namespace.to_owned()).or_default();
        if let Some(member) = known.members.get_mut(name) {
            if member.groups == *groups {
                let has_changed = member.targets != targets;
                member.targets = targets;
                return has_changed;
            }
            self.remove(namespace, name);
        }
        let known = self.namespaces.entry(namespace.to_owned()).or_default();
        for (groups, group) in [
            (&mut known.affinity, &groups.affinity_group),
            (&mut known.anti_affinity, &groups.anti_affinity_group),
        ] {
            if !group.is_empty() {
                groups.entry(group.clone()).or_default().insert(name.to_owned());
            }
        }
        let groups = groups.clone();
        known.members.insert(name.to_owned(), Member { groups, targets });
        true
    }

    /// Removes a binding. Returns true if it was in a group.
    pub fn remove(&mut self, namespace: &str, name: &str) -> bool {
        let Some(known) = self.namespaces.get_mut(namespace) else {
            return false;
        };
        let Some(member) = known.members.remove(name) else {
            return false;
        };
        for (groups, group) in [
            (&mut known.affinity, &member.groups.affinity_group),
            (&mut known.anti_affinity, &member.groups.anti_affinity_group),
        ] {
            if let Some(names) = groups.get_mut(group) {
                names.remove(name);
                if names.is_empty() {
                    groups.remove(group);
                }
            }
        }
        if known.members.is_empty() {
            self.namespaces.remove(namespace);
        }
        true
    }

    /// The groups of a binding and its clusters; `None` if it is in no group.
    pub fn get(&self, namespace: &str, name: &str) -> Option<(&WorkloadAffinityGroups, &Targets)> {
        let member = self.namespaces.get(namespace)?.members.get(name)?;
        Some((&member.groups, &member.targets))
    }

    /// The groups of a binding and its peers.
    pub fn peers(&self, binding: &dyn Decidable) -> Peers {
        let input = binding.input();
        let groups = input.affinity_groups.cloned().unwrap_or_default();
        let is_in_one = !groups.is_empty() && input.kind == BindingScope::Namespaced.kind();
        let peers = match is_in_one {
            true => self.peers_of(input.namespace, input.name, &groups),
            false => Vec::new(),
        };
        Peers { groups, peers }
    }

    fn peers_of(&self, namespace: &str, name: &str, groups: &WorkloadAffinityGroups) -> Vec<Peer> {
        let Some(known) = self.namespaces.get(namespace) else {
            return Vec::new();
        };
        let mut peers: BTreeMap<&str, Peer> = BTreeMap::new();
        for (group, is_affinity) in [
            (known.affinity.get(&groups.affinity_group), true),
            (known.anti_affinity.get(&groups.anti_affinity_group), false),
        ] {
            for other in group.into_iter().flatten().filter(|other| *other != name) {
                let Some(member) = known.members.get(other) else {
                    continue;
                };
                let peer = peers.entry(other).or_insert_with(|| Peer {
                    name: other.clone(),
                    clusters: Arc::clone(&member.targets),
                    ..Peer::default()
                });
                match is_affinity {
                    true => peer.shares_affinity_group = true,
                    false => peer.shares_anti_affinity_group = true,
                }
            }
        }
        peers.into_values().collect()
    }

    /// Names of the other bindings in some groups of a namespace, sorted and each once.
    pub fn names_in(&self, namespace: &str, name: &str, groups: &WorkloadAffinityGroups) -> Vec<String> {
        let peers = self.peers_of(namespace, name, groups);
        peers.into_iter().map(|peer| peer.name).collect()
    }
}

/// The clusters of a result in the form of the index.
pub fn targets_of(clusters: &[TargetCluster]) -> Targets {
    let mut targets: Vec<TargetCluster> = clusters
        .iter()
        .map(|target| TargetCluster {
            name: target.name.clone(),
            replicas: target.replicas,
            ..TargetCluster::default()
        })
        .collect();
    targets.sort();
    targets.dedup_by(|left, right| left.name == right.name);
    targets.into()
}

/// The groups of a binding that can be in one; `None` if it is in none.
fn groups_of(binding: &ResourceBinding) -> Option<&WorkloadAffinityGroups> {
    let groups = binding.spec.workload_affinity_groups.as_ref();
    groups.filter(|groups| !groups.is_empty() && binding.scope() == BindingScope::Namespaced)
}
