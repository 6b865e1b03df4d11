//! The last result of the binding, in the order of `spec.clusters`.

use std::collections::BTreeMap;

use divvy_framework_abi::arena::ABSENT;

use super::{ClusterBuilder, Scenario};

/// Clusters that a scenario lists itself, in addition to those with [`ClusterBuilder::last`].
#[derive(Debug, Clone, Default)]
pub(super) struct LastResult {
    /// Those of [`Scenario::last_result`], in its order.
    listed: Vec<(String, i64)>,
    /// Those of [`Scenario::lost`].
    lost: Vec<(String, i64)>,
}

impl LastResult {
    /// Gives a cluster its replicas of the last result, unless it states its own.
    pub(super) fn complete(&self, cluster: &mut ClusterBuilder) {
        let listed = self.listed.iter().find(|(name, _)| *name == cluster.name);
        if let (ABSENT, Some((_, replicas))) = (cluster.last, listed) {
            cluster.last = *replicas;
        }
    }
}

impl Scenario {
    /// Sets the last result: names of clusters with their replicas, in the order of `spec.clusters`. A cluster that the
    /// scenario does not have is one that is gone. Without this call, the last result lists the clusters with
    /// [`ClusterBuilder::last`], by name.
    #[must_use]
    pub fn last_result(mut self, targets: &[(&str, i64)]) -> Self {
        let owned = |(name, replicas): &(&str, i64)| ((*name).to_owned(), *replicas);
        self.last.listed = targets.iter().map(owned).collect();
        for cluster in &mut self.clusters {
            cluster.last = ABSENT;
            self.last.complete(cluster);
        }
        self
    }

    /// Adds a cluster of the last result that is not in the snapshot.
    #[must_use]
    pub fn lost(mut self, cluster: &str, replicas: i64) -> Self {
        self.last.lost.push((cluster.to_owned(), replicas));
        self
    }

    /// The last result as the binding lists it: the clusters that the scenario lists, the other clusters by name, then
    /// the lost ones.
    pub(super) fn last_targets(&self) -> Vec<(&str, i64)> {
        let mut unlisted: BTreeMap<&str, i64> = self
            .clusters
            .iter()
            .filter(|cluster| cluster.last != ABSENT)
            .map(|cluster| (cluster.name.as_str(), cluster.last))
            .collect();
        let listed = self.last.listed.iter();
        // The replicas that the cluster itself states take precedence, for instance after a change to it.
        let mut targets: Vec<(&str, i64)> = listed
            .map(|(name, replicas)| (name.as_str(), unlisted.remove(name.as_str()).unwrap_or(*replicas)))
            .collect();
        targets.extend(unlisted);
        targets.extend(self.last.lost.iter().map(|(name, replicas)| (name.as_str(), *replicas)));
        targets
    }
}
