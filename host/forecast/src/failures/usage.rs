//! Use of the resources that clusters report, by the clusters' numbers.

use std::collections::BTreeMap;

use divvy_karmada::detector::Binding;
use divvy_scheduler::fleet::units;

use super::numbers::Share;
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
    /// One entry per cluster that exists and resource: what is allocatable and what is used; `None` if the cluster does not
    /// report the resource.
    cells: Vec<Option<Cell>>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    allocatable: i64,
    used: i128,
}

/// Changes of use by one loss: cell and quantity. They are taken back by [`Usage::undo`].
pub(super) type Undo = Vec<(usize, i128)>;

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

    /// Changes a binding's shares from `before` to `after`. What that changes is added to `undo`.
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
                    // Clusters that do not exist have the numbers after those that do.
                    if number >= self.clusters.len() || replicas == 0 {
                        continue;
                    }
                    let place = number * width + index;
                    if let Some(Some(cell)) = self.cells.get_mut(place) {
                        let change = i128::from(quantity) * i128::from(replicas) * sign;
                        cell.used += change;
                        undo.push((place, change));
                    }
                }
            }
        }
    }

    /// Takes changes back.
    pub(super) fn undo(&mut self, undo: &mut Undo) {
        for (place, change) in undo.drain(..) {
            if let Some(Some(cell)) = self.cells.get_mut(place) {
                cell.used -= change;
            }
        }
    }

    /// The fullest resource of the clusters that are not lost; `None` if none of them reports any. The first by name if there
    /// are several.
    pub(super) fn tightest(&self, is_lost: &[bool]) -> Option<Tightest> {
        let width = self.resources.len();
        let mut fullest: Option<(i128, usize)> = None;
        for (place, cell) in self.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            if is_lost.get(place / width).copied().unwrap_or(false) {
                continue;
            }
            // A document holds 64 bits.
            let used = cell.used.clamp(i64::MIN.into(), i64::MAX.into());
            let Some(percent) = (used * 100).checked_div(cell.allocatable.into()) else {
                continue;
            };
            if fullest.is_none_or(|(most, _)| percent > most) {
                fullest = Some((percent, place));
            }
        }
        let (percent, place) = fullest?;
        Some(Tightest {
            cluster: self.clusters.get(place / width)?.clone(),
            resource: self.resources.keys().nth(place % width)?.clone(),
            percent: i64::try_from(percent).unwrap_or(i64::MAX),
        })
    }
}
