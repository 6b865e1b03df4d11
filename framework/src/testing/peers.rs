//! Placements of other bindings, for plugins that declare that need.

use divvy_framework_abi::descriptor::binding_part;
use divvy_framework_calls::placements::PlacementsRecord;

use super::Scenario;

/// Another binding in a workload affinity group of the scenario's binding.
#[derive(Debug, Clone)]
pub struct PeerBuilder {
    name: String,
    affinity: bool,
    anti_affinity: bool,
    targets: Vec<(String, i64)>,
}

impl PeerBuilder {
    /// A peer that shares the binding's affinity group, without clusters.
    pub fn in_affinity_group(name: &str) -> Self {
        Self::new(name, true, false)
    }

    /// A peer that shares the binding's anti-affinity group, without clusters.
    pub fn in_anti_affinity_group(name: &str) -> Self {
        Self::new(name, false, true)
    }

    /// A peer that shares both groups, without clusters.
    pub fn in_both_groups(name: &str) -> Self {
        Self::new(name, true, true)
    }

    fn new(name: &str, affinity: bool, anti_affinity: bool) -> Self {
        Self {
            name: name.to_owned(),
            affinity,
            anti_affinity,
            targets: Vec::new(),
        }
    }

    /// Adds a cluster with its replicas, replacing one with the same name. A cluster that is not in the scenario is
    /// gone.
    #[must_use]
    pub fn on(mut self, cluster: &str, replicas: i64) -> Self {
        self.targets.retain(|(known, _)| known != cluster);
        self.targets.push((cluster.to_owned(), replicas));
        self
    }

    /// Adds clusters like [`Self::on`], with one replica each.
    #[must_use]
    pub fn on_each<T: AsRef<str>>(self, clusters: impl IntoIterator<Item = T>) -> Self {
        let clusters = clusters.into_iter();
        clusters.fold(self, |peer, cluster| peer.on(cluster.as_ref(), 1))
    }
}

/// The groups of the scenario's binding, and its peers.
#[derive(Debug, Clone, Default)]
pub(super) struct Peers {
    affinity_group: String,
    anti_affinity_group: String,
    peers: Vec<PeerBuilder>,
}

impl Peers {
    /// The groups and peers, as the host would pass them.
    pub(super) fn record(&self) -> PlacementsRecord {
        let mut record = PlacementsRecord::default();
        record.reset(&self.affinity_group, &self.anti_affinity_group);
        for peer in &self.peers {
            let targets = peer.targets.iter();
            let targets = targets.map(|(cluster, replicas)| (cluster.as_str(), *replicas));
            record.peer(&peer.name, (peer.affinity, peer.anti_affinity), targets);
        }
        record
    }

    /// Removes the binding from groups, given as bits of [`binding_part`], and peers that then share no group with it.
    pub(super) fn leave(&mut self, groups: u64) {
        if groups & binding_part::AFFINITY_GROUP != 0 {
            self.affinity_group.clear();
            self.peers.iter_mut().for_each(|peer| peer.affinity = false);
        }
        if groups & binding_part::ANTI_AFFINITY_GROUP != 0 {
            self.anti_affinity_group.clear();
            self.peers.iter_mut().for_each(|peer| peer.anti_affinity = false);
        }
        self.peers.retain(|peer| peer.affinity || peer.anti_affinity);
    }
}

impl Scenario {
    /// Sets the affinity group of the binding, such as `app=shop`. It has none by default.
    #[must_use]
    pub fn affinity_group(mut self, name: &str) -> Self {
        name.clone_into(&mut self.peers.affinity_group);
        self
    }

    /// Sets the anti-affinity group of the binding, such as `app=shop`. It has none by default.
    #[must_use]
    pub fn anti_affinity_group(mut self, name: &str) -> Self {
        name.clone_into(&mut self.peers.anti_affinity_group);
        self
    }

    /// Adds another binding in a group of the binding, replacing one with the same name. Like the host, gives the
    /// binding a group of that kind if it has none.
    #[must_use]
    pub fn peer(mut self, peer: PeerBuilder) -> Self {
        let Peers {
            affinity_group,
            anti_affinity_group,
            peers,
        } = &mut self.peers;
        for (group, is_shared) in [
            (affinity_group, peer.affinity),
            (anti_affinity_group, peer.anti_affinity),
        ] {
            if is_shared && group.is_empty() {
                "group=test".clone_into(group);
            }
        }
        peers.retain(|known| known.name != peer.name);
        peers.push(peer);
        peers.sort_by(|left, right| left.name.cmp(&right.name));
        self
    }

    /// Adds other bindings, as [`Self::peer`] does.
    #[must_use]
    pub fn peers(self, peers: impl IntoIterator<Item = PeerBuilder>) -> Self {
        peers.into_iter().fold(self, Self::peer)
    }
}
