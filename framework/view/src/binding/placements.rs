//! Placements of the bindings that share a workload affinity group with the binding.

use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::row::{PeerRow, peer_group};
use divvy_framework_abi::text::Text;
use divvy_framework_abi::view::PlacementsView;

use crate::clusters::Row;

/// The workload affinity groups of a binding (`spec.workloadAffinityGroups`), and the other bindings in them: its peers.
#[derive(Clone, Copy)]
pub struct Placements<'a> {
    view: PlacementsView<'a>,
}

/// Another binding in a workload affinity group of the binding.
#[derive(Clone, Copy)]
pub struct Peer<'a> {
    view: PlacementsView<'a>,
    row: &'a PeerRow,
}

/// A cluster of a peer's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerTarget<'a> {
    /// Name of the cluster.
    pub cluster: &'a str,
    /// Its row in the snapshot; `None` if the cluster is gone.
    pub row: Option<Row>,
    /// Replicas of the peer on the cluster; 0 for a resource without replicas.
    pub replicas: i64,
}

impl std::fmt::Debug for Placements<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Placements")
            .field("affinity_group", &self.affinity_group())
            .field("anti_affinity_group", &self.anti_affinity_group())
            .field("peers", &self.peers().collect::<Vec<_>>())
            .finish()
    }
}

impl std::fmt::Debug for Peer<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Peer")
            .field("name", &self.name())
            .field("targets", &self.targets().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl<'a> Placements<'a> {
    /// The placements of a cycle. For the SDK; plugins receive them from their context.
    #[doc(hidden)]
    pub fn new(view: PlacementsView<'a>) -> Self {
        Self { view }
    }

    /// Name of the binding's affinity group, `<label key>=<label value>`; `None` if it has none.
    pub fn affinity_group(&self) -> Option<&'a str> {
        self.group(self.view.affinity_group)
    }

    /// Name of the binding's anti-affinity group; `None` if it has none.
    pub fn anti_affinity_group(&self) -> Option<&'a str> {
        self.group(self.view.anti_affinity_group)
    }

    fn group(&self, name: Text) -> Option<&'a str> {
        Some(name.read(self.view.pool.as_str())).filter(|name| !name.is_empty())
    }

    /// The other bindings in these groups, by name, without duplicates. They have the namespace of the binding, because
    /// a group never spans namespaces; a ClusterResourceBinding has no peers.
    pub fn peers(&self) -> impl ExactSizeIterator<Item = Peer<'a>> + Clone + use<'a> {
        let view = self.view;
        view.peers.as_slice().iter().map(move |row| Peer { view, row })
    }
}

impl<'a> Peer<'a> {
    /// Name of the peer's binding.
    pub fn name(&self) -> &'a str {
        self.row.name.read(self.view.pool.as_str())
    }

    /// True if the peer is in the binding's affinity group.
    #[inline]
    pub fn shares_affinity_group(&self) -> bool {
        self.row.groups & peer_group::AFFINITY != 0
    }

    /// True if the peer is in the binding's anti-affinity group.
    #[inline]
    pub fn shares_anti_affinity_group(&self) -> bool {
        self.row.groups & peer_group::ANTI_AFFINITY != 0
    }

    /// True if the peer has clusters, whether or not they still exist.
    #[inline]
    pub fn is_placed(&self) -> bool {
        self.row.targets.length > 0
    }

    /// The clusters of the peer. Each occurs once.
    pub fn targets(&self) -> impl ExactSizeIterator<Item = PeerTarget<'a>> + Clone + use<'a> {
        let (pool, rows) = (self.view.pool.as_str(), self.view.target_rows.as_slice());
        let targets = self.row.targets.of(self.view.targets.as_slice());
        let start = self.row.targets.start as usize;
        targets.iter().enumerate().map(move |(index, target)| PeerTarget {
            cluster: target.cluster.read(pool),
            row: rows
                .get(start.saturating_add(index))
                .filter(|&&row| row != NO_ROW)
                .map(|&row| Row::from_index(row as usize)),
            replicas: target.replicas,
        })
    }
}
