//! The columns of the clusters of a call, as the host would pass them.

use std::collections::BTreeMap;

use divvy_framework_abi::arena::{ABSENT, NO_ROW};

use super::{ClusterBuilder, Scenario};
use crate::clusters::Row;
use crate::cycle::{CallContext, Cycle};
use crate::export::GivenAny;
use crate::plugin::Plugin;
use crate::prepare::Kept;

/// The columns of the clusters of a call.
pub(super) struct Columns {
    pub(super) scores: Vec<i64>,
    pub(super) last: Vec<i64>,
    pub(super) last_index: Vec<u32>,
    pub(super) fits_now: Vec<i64>,
    pub(super) capacity: Vec<i64>,
    pub(super) tiers: Vec<u32>,
}

impl Columns {
    pub(super) fn context<'a, P: Plugin>(
        &'a self,
        plugin: &'a P,
        cycle: &'a Cycle<'a>,
        rows: &'a [Row],
        preferences: &'a dyn GivenAny,
    ) -> CallContext<'a, P> {
        CallContext {
            plugin,
            cycle,
            kept: Kept::default(),
            preferences,
            rows,
            scores: &self.scores,
            last: &self.last,
            last_index: &self.last_index,
            fits_now: &self.fits_now,
            capacity: &self.capacity,
            tiers: &self.tiers,
        }
    }
}

impl Scenario {
    /// The columns of the clusters with these numbers, as the host would pass them.
    pub(super) fn columns(&self, rows: &[Row]) -> Columns {
        let clusters = || rows.iter().filter_map(|row| self.clusters.get(row.index()));
        let targets = self.last_targets();
        let listed: BTreeMap<&str, u32> = targets.iter().map(|(name, _)| *name).zip(0..).collect();
        let is_listed = self.clusters.iter().any(|cluster| cluster.last != ABSENT);
        let tiers: Vec<u32> = clusters().map(|cluster| cluster.tier).collect();
        Columns {
            scores: clusters().map(|cluster| cluster.score).collect(),
            last: clusters().map(|cluster| cluster.last.max(0)).collect(),
            last_index: if is_listed {
                let index = |cluster: &ClusterBuilder| listed.get(cluster.name.as_str()).copied();
                clusters().map(|cluster| index(cluster).unwrap_or(NO_ROW)).collect()
            } else {
                Vec::new()
            },
            fits_now: clusters().map(|cluster| cluster.fits_now).collect(),
            capacity: clusters()
                .map(|cluster| cluster.fits_now.saturating_add(cluster.last.max(0)))
                .collect(),
            // Like the host, pass no tiers if all clusters are in the best one.
            tiers: if tiers.iter().any(|&tier| tier > 0) {
                tiers
            } else {
                Vec::new()
            },
        }
    }
}
