//! The clusters of a result beside those of the last one.

use std::cmp::Ordering;

use divvy_karmada::detector::Binding;
use divvy_scheduler::decision::TargetFigures;

use super::names::Names;
use super::targets::Target;

/// A cluster of the result, or one that was in the last result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share<'a> {
    /// Name of the cluster.
    pub(crate) cluster: &'a str,
    /// Row of the cluster in the snapshot, if it is known.
    pub(crate) row: Option<u32>,
    /// Replicas in this result; `None` if the cluster is not in it.
    pub(crate) replicas: Option<i64>,
    /// Replicas in the last result; `None` if the cluster was not in it.
    pub(crate) last: Option<i64>,
    /// Score and capacity from the cycle; the default if the cluster is not in this result.
    pub(crate) figures: TargetFigures,
}

impl Share<'_> {
    /// Change against the last result, in replicas.
    pub(crate) fn growth(&self) -> i64 {
        self.replicas.unwrap_or(0) - self.last.unwrap_or(0)
    }

    /// Number of replicas that still fit after this decision, negative if the strategy exceeded capacity. Removed
    /// replicas do not count as free. `None` if the cluster is not in this result or its capacity is unknown.
    pub(crate) fn free(&self) -> Option<i64> {
        self.replicas?;
        self.figures
            .fits_now
            .map(|fits| fits.saturating_sub(self.growth().max(0)))
    }

    /// Region of the cluster; empty if it has none.
    pub(crate) fn region<'fleet>(&self, names: &Names<'fleet>) -> &'fleet str {
        let row = self.row.or_else(|| names.row(self.cluster));
        row.map_or("", |row| names.region(row))
    }
}

/// Clusters of a result and of the last one, sorted by name.
pub(crate) fn shares<'a>(binding: &'a Binding, targets: &[Target], names: &'a Names<'_>) -> Vec<Share<'a>> {
    let mut last: Vec<(&str, i64)> = binding.last().collect();
    // If a cluster is listed twice, its first entry counts, as in the cycle.
    last.sort_by_key(|(cluster, _)| *cluster);
    last.dedup_by_key(|(cluster, _)| *cluster);
    let (mut last, mut targets) = (last.into_iter().peekable(), targets.iter().peekable());
    let mut shares = Vec::with_capacity(last.len().max(targets.len()));
    loop {
        let (order, cluster) = match (targets.peek(), last.peek()) {
            (Some(target), Some((cluster, _))) => {
                let name = names.name(target.row);
                (name.cmp(cluster), name.min(cluster))
            }
            (Some(target), None) => (Ordering::Less, names.name(target.row)),
            (None, Some((cluster, _))) => (Ordering::Greater, *cluster),
            (None, None) => return shares,
        };
        let target = targets.next_if(|_| order.is_le());
        let before = last.next_if(|_| order.is_ge());
        shares.push(Share {
            cluster,
            row: target.map(|target| target.row),
            replicas: target.map(|target| target.replicas),
            last: before.map(|(_, replicas)| replicas),
            figures: target.map(|target| target.figures).unwrap_or_default(),
        });
    }
}

/// Change of all shares against the last result.
pub(crate) fn growth(shares: &[Share<'_>]) -> i64 {
    shares.iter().map(Share::growth).fold(0, i64::saturating_add)
}

/// Replicas that still fit in all clusters of the result; `None` if that is known of none.
pub(crate) fn free(shares: &[Share<'_>]) -> Option<i64> {
    shares.iter().filter_map(Share::free).reduce(i64::saturating_add)
}

/// True if every cluster of the result has the same: all of these replicas, or the whole resource.
pub(crate) fn is_uniform(shares: &[Share<'_>], replicas: i64) -> bool {
    let mut clusters = 0_usize;
    for share in shares {
        match share.replicas {
            Some(count) if count == replicas => clusters += 1,
            Some(_) => return false,
            None => {}
        }
    }
    // A single cluster with all replicas is a division like any other.
    clusters > 1 || (clusters == 1 && replicas == 0)
}
