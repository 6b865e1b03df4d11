//! Use of the resources that clusters report, by the clusters' numbers.

use std::collections::{BTreeMap, HashMap};

use divvy_karmada::detector::Binding;
use divvy_scheduler::fleet::units;

use super::numbers::Share;
use crate::capacity::{Gains, excess, fewest, is_too_full};
use crate::document::Tightest;
use crate::load::requested;
use crate::situation::Situation;

/// Resources of all clusters.
#[derive(Debug, Clone, Default)]
pub(super) struct Usage {
    /// Index of each resource that any cluster reports, in the order of the names.
    resources: BTreeMap<String, usize>,
    /// Names of the clusters that exist, by number.
    clusters: Vec<String>,
    /// Allocatable and used quantity per existing cluster and resource; `None` if the cluster does not report the resource.
    cells: Vec<Option<Cell>>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    allocatable: i64,
    used: i128,
}

/// Changes of use by one loss, which [`Usage::undo`] takes back.
#[derive(Debug, Clone, Default)]
pub(super) struct Undo {
    /// Cell and quantity.
    changes: Vec<(usize, i128)>,
    /// Replicas that a cluster gains: cell, quantity that each requests, and their number.
    gains: Vec<(usize, i64, i64)>,
}

/// Resources that gaining clusters lack.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Filled {
    /// Replicas beyond capacity.
    pub(super) beyond_capacity: i64,
    /// Clusters that are full because of the loss.
    pub(super) newly_full: usize,
    /// True if one is fuller than the limit.
    pub(super) too_full: bool,
}

impl Usage {
    /// The use that clusters report.
    pub(super) fn new(situation: &Situation) -> Self {
        let summaries = || {
            let entries = situation.clusters.values();
            entries.map(|entry| entry.object.status.resource_summary.as_ref())
        };
        let names = summaries().flatten().flat_map(|summary| summary.allocatable.keys());
        let names: std::collections::BTreeSet<&String> = names.collect();
        let resources: BTreeMap<String, usize> = names.into_iter().cloned().zip(0..).collect();
        let mut cells = vec![None; situation.clusters.len() * resources.len()];
        for (summary, cells) in summaries().zip(cells.chunks_mut(resources.len().max(1))) {
            let Some(summary) = summary else { continue };
            for (name, quantity) in &summary.allocatable {
                let of = |list: &divvy_karmada::api::ResourceList| {
                    list.get(name).map_or(0, |quantity| units(name, *quantity))
                };
                let used = of(&summary.allocated).saturating_add(of(&summary.allocating));
                if let Some(cell) = resources.get(name).and_then(|&index| cells.get_mut(index)) {
                    *cell = Some(Cell {
                        allocatable: units(name, *quantity),
                        used: used.into(),
                    });
                }
            }
        }
        Self {
            resources,
            clusters: situation.clusters.keys().cloned().collect(),
            cells,
        }
    }

    /// Changes a binding's shares from `before` to `after`, and adds the changes of use to `undo`.
    pub(super) fn change(&mut self, binding: &Binding, before: &[Share], after: &[Share], undo: &mut Undo) {
        let width = self.resources.len();
        let signed = [(before, -1), (after, 1)];
        for (resource, quantity) in requested(binding) {
            let Some(&index) = self.resources.get(resource) else {
                continue;
            };
            for (shares, sign) in signed {
                for &(number, replicas) in shares {
                    let number = number as usize;
                    // Clusters that do not exist have higher numbers than those that do.
                    if number >= self.clusters.len() || replicas == 0 {
                        continue;
                    }
                    let position = number * width + index;
                    if let Some(Some(cell)) = self.cells.get_mut(position) {
                        let change = i128::from(quantity) * i128::from(replicas) * sign;
                        cell.used += change;
                        undo.changes.push((position, change));
                    }
                }
            }
            // Both are in the order of the numbers.
            let mut earlier = before.iter().peekable();
            for &(number, replicas) in after {
                while earlier.next_if(|share| share.0 < number).is_some() {}
                let had = earlier.next_if(|share| share.0 == number).map_or(0, |share| share.1);
                if replicas > had && (number as usize) < self.clusters.len() {
                    undo.gains
                        .push((number as usize * width + index, quantity, replicas - had));
                }
            }
        }
    }

    /// Resources that the gaining clusters lack, compared with their use without the loss. `percent` is the limit, if there is one.
    pub(super) fn filled(&self, base: &Self, undo: &Undo, percent: Option<i64>) -> Filled {
        let width = self.resources.len();
        let mut gaining: Vec<usize> = undo.gains.iter().map(|(position, ..)| position / width).collect();
        gaining.sort_unstable();
        gaining.dedup();
        let mut filled = Filled::default();
        let mut gains: HashMap<usize, (i128, Gains)> = HashMap::new();
        for &number in &gaining {
            let (mut was_full, mut is_full) = (false, false);
            for position in number * width..(number + 1) * width {
                let (Some(Some(from)), Some(Some(to))) = (base.cells.get(position), self.cells.get(position)) else {
                    continue;
                };
                // A document holds 64 bits.
                let bounded = |used: i128| used.clamp(i64::MIN.into(), i64::MAX.into());
                let (allocatable, from, to) = (i128::from(to.allocatable), bounded(from.used), bounded(to.used));
                was_full |= from > allocatable;
                is_full |= to > allocatable;
                filled.too_full |= percent.is_some_and(|percent| is_too_full(percent, allocatable, from, to));
                let excess = excess(allocatable, from, to);
                if excess > 0 {
                    gains.insert(position, (excess, Gains::new()));
                }
            }
            filled.newly_full += usize::from(is_full && !was_full);
        }
        if gains.is_empty() {
            return filled;
        }
        for (position, quantity, replicas) in &undo.gains {
            if let Some((_, gains)) = gains.get_mut(position) {
                *gains.entry(*quantity).or_insert(0) += replicas;
            }
        }
        // Per cluster, the resource for which most replicas have to be removed.
        let mut by_cluster: HashMap<usize, i64> = HashMap::new();
        for (position, (excess, gains)) in &gains {
            let most = by_cluster.entry(position / width).or_insert(0);
            *most = fewest(gains, *excess).max(*most);
        }
        filled.beyond_capacity = by_cluster.values().sum();
        filled
    }

    /// Takes changes back.
    pub(super) fn undo(&mut self, undo: &mut Undo) {
        undo.gains.clear();
        for (position, change) in undo.changes.drain(..) {
            if let Some(Some(cell)) = self.cells.get_mut(position) {
                cell.used -= change;
            }
        }
    }

    /// The fullest resource of the clusters that are not lost, the first by name among equals; `None` if no cluster reports any.
    pub(super) fn tightest(&self, is_lost: &[bool]) -> Option<Tightest> {
        let width = self.resources.len();
        let mut fullest: Option<(i128, usize)> = None;
        for (position, cell) in self.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            if is_lost.get(position / width).copied().unwrap_or(false) {
                continue;
            }
            // A document holds 64 bits.
            let used = cell.used.clamp(i64::MIN.into(), i64::MAX.into());
            let Some(percent) = (used * 100).checked_div(cell.allocatable.into()) else {
                continue;
            };
            if fullest.is_none_or(|(most, _)| percent > most) {
                fullest = Some((percent, position));
            }
        }
        let (percent, position) = fullest?;
        Some(Tightest {
            cluster: self.clusters.get(position / width)?.clone(),
            resource: self.resources.keys().nth(position % width)?.clone(),
            percent: i64::try_from(percent).unwrap_or(i64::MAX),
        })
    }
}
