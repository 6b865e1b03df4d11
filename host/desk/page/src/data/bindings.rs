//! Bindings, their counts per cluster, and their growth.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use super::{Names, index_of};
use crate::content::{Binding, Content};
use crate::texts::{Texts, visible};

/// Maximum number of cells of a page, each the count of a binding on a cluster. Beyond it, bindings have totals only.
const CELLS_MAX: usize = 600_000;

/// One entry per binding, sorted by key.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Bindings {
    pub(super) key: Vec<String>,
    kind: Vec<u32>,
    namespace: Vec<usize>,
    strategy: Vec<u32>,
    result: Vec<u32>,
    message: Vec<u32>,
    replicas: Vec<i64>,
    newly_unschedulable: Vec<bool>,
    from: Vec<i64>,
    to: Vec<i64>,
    moved: Vec<i64>,
    added: Vec<i64>,
    removed: Vec<i64>,
    lost: Vec<i64>,
    stranded: Vec<i64>,
    /// Index of the reasons of clusters without replicas; −1 if there are none.
    reasons: Vec<i64>,
}

/// One entry per binding and cluster with replicas in either state. −1 if the cluster is not listed in a state.
#[derive(Debug, Default, Serialize)]
pub(super) struct Cells {
    binding: Vec<usize>,
    cluster: Vec<usize>,
    from: Vec<i64>,
    to: Vec<i64>,
    /// Text; −1 if there is none.
    why: Vec<i64>,
}

/// Growth, one entry per measured binding.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GrowthColumns {
    binding: Vec<usize>,
    most: Vec<Option<i64>>,
    headroom: Vec<Option<i64>>,
    fits: Vec<Option<i64>>,
    unbounded: Vec<bool>,
    stopped_by: Vec<u32>,
    /// Unit of the costs; empty without prices.
    unit: String,
    /// Costs per hour as texts, now and with `most` replicas; empty without prices.
    cost_now: Vec<String>,
    cost_most: Vec<String>,
}

/// The bindings, their cells, and the number of bindings whose cells are left out.
pub(super) fn bindings(content: &Content, names: &Names<'_>, texts: &mut Texts) -> (Bindings, Cells, usize) {
    let mut columns = Bindings::default();
    let mut cells = Cells::default();
    let has_cells = with_cells(&content.bindings, CELLS_MAX);
    for ((index, binding), has_cells) in content.bindings.iter().enumerate().zip(&has_cells) {
        columns.key.push(binding.key.clone());
        columns.kind.push(texts.number(&binding.kind));
        columns.namespace.push(index_of(&names.namespaces, binding.namespace()));
        columns.strategy.push(texts.number(&binding.strategy));
        columns.result.push(texts.number(&binding.result));
        columns.message.push(texts.number(&binding.message));
        columns.replicas.push(binding.replicas);
        columns.newly_unschedulable.push(binding.newly_unschedulable);
        columns.from.push(binding.from.values().sum());
        columns.to.push(binding.to.values().sum());
        columns.moved.push(binding.movement.moved);
        columns.added.push(binding.movement.added);
        columns.removed.push(binding.movement.removed);
        columns.lost.push(binding.movement.lost);
        columns.stranded.push(binding.movement.stranded);
        let others = binding.explained.as_ref().and_then(|explained| explained.others);
        columns.reasons.push(others.map_or(-1, i64::from));
        if !has_cells {
            continue;
        }
        let clusters: BTreeSet<&String> = binding.from.keys().chain(binding.to.keys()).collect();
        for name in clusters {
            let Some(&cluster) = names.clusters.get(name.as_str()) else {
                continue;
            };
            let why = binding
                .explained
                .as_ref()
                .and_then(|explained| explained.with_replicas.get(name));
            cells.binding.push(index);
            cells.cluster.push(cluster);
            cells.from.push(binding.from.get(name).copied().unwrap_or(-1));
            cells.to.push(binding.to.get(name).copied().unwrap_or(-1));
            cells.why.push(why.map_or(-1, |text| i64::from(*text)));
        }
    }
    let without = has_cells.iter().filter(|has_cells| !**has_cells).count();
    (columns, cells, without)
}

/// The bindings whose cells are kept, up to the limit on cells. Bindings that change come first.
fn with_cells(bindings: &[Binding], most: usize) -> Vec<bool> {
    let mut order: Vec<(usize, &Binding)> = bindings.iter().enumerate().collect();
    order.sort_by_key(|(_, binding)| binding.from == binding.to);
    let mut has_cells = vec![false; bindings.len()];
    let mut count = 0;
    for (index, binding) in order {
        let size = binding.from.len()
            + binding
                .to
                .keys()
                .filter(|name| !binding.from.contains_key(*name))
                .count();
        if let (true, Some(has_cells)) = (count + size <= most, has_cells.get_mut(index)) {
            count += size;
            *has_cells = true;
        }
    }
    has_cells
}

pub(super) fn growth(content: &Content, bindings: &Bindings, texts: &mut Texts) -> GrowthColumns {
    let mut columns = GrowthColumns::default();
    let indexes: HashMap<&str, usize> = bindings.key.iter().map(String::as_str).zip(0..).collect();
    for growth in &content.growth {
        let Some(&index) = indexes.get(growth.row.binding.as_str()) else {
            continue;
        };
        columns.binding.push(index);
        columns.most.push(growth.row.most);
        columns.headroom.push(growth.row.headroom);
        columns.fits.push(growth.row.fits);
        columns.unbounded.push(growth.row.is_unbounded);
        columns.stopped_by.push(texts.number(&growth.stopped_by));
        if let Some(cost) = &growth.row.cost {
            columns.unit = visible(&cost.unit);
            columns.cost_now.push(cost.now.to_string());
            columns
                .cost_most
                .push(cost.most.as_ref().map(ToString::to_string).unwrap_or_default());
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(from: &[&str], to: &[&str]) -> Binding {
        let assignment = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), 1)).collect();
        Binding {
            from: assignment(from),
            to: assignment(to),
            ..Binding::default()
        }
    }

    #[test]
    fn cells_of_what_changes_are_kept_first() {
        let bindings = [
            binding(&["a", "b"], &["a", "b"]),
            binding(&["a", "b"], &["b", "c"]),
            binding(&["a"], &["a"]),
        ];
        let cases = [
            (6, [true, true, true]),
            (5, [true, true, false]),
            (4, [false, true, true]),
            (3, [false, true, false]),
            (2, [true, false, false]),
        ];
        for (most, expected) in cases {
            assert_eq!(with_cells(&bindings, most), expected, "{most}");
        }
    }
}
