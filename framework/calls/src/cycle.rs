//! The view of a binding and a snapshot that every call of a cycle reads.

use divvy_framework_abi::Slice;
use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::text::Span;
use divvy_framework_abi::view::{CycleView, PolicyView, flag};
use divvy_framework_memory::Column;
use divvy_framework_view::clusters::{AffinityTables, ClusterMatcher, LabelColumn, Row};

use crate::binding::BindingRecord;
use crate::snapshot::Snapshot;

/// A binding's names, resolved to rows of a snapshot. Reuse one across cycles to save its allocations.
#[derive(Debug, Default)]
pub struct Resolution {
    last_rows: Column<u32>,
    rule_spans: Column<Span>,
    rule_rows: Column<Row>,
    /// Scratch memory for the rows of one rule.
    matching: Vec<Row>,
    label: LabelColumn,
}

impl Resolution {
    /// Resolves the names of a binding in a snapshot: the clusters of the last result and the targets of rules.
    pub fn resolve(&mut self, snapshot: &Snapshot, record: &BindingRecord) {
        let arena = snapshot.arena();
        let pool = &*record.pool;
        self.last_rows.clear();
        self.last_rows.extend(record.last.iter().map(|target| {
            arena
                .row_hashed(target.cluster.read(pool), target.cluster.hash)
                .unwrap_or(NO_ROW)
        }));
        self.rule_spans.clear();
        self.rule_rows.clear();
        self.label.forget();
        for rule in &record.rules {
            let start = self.rule_rows.len();
            if let Some(target) = record.affinities.get(rule.target as usize) {
                let matcher = ClusterMatcher::compile(arena, target, tables(record));
                self.matching.clear();
                matcher.collect_rows(&mut self.label, &mut self.matching);
                self.rule_rows.extend_from_slice(&self.matching);
            }
            self.rule_spans.push(Span {
                start: start as u32,
                length: (self.rule_rows.len() - start) as u32,
            });
        }
    }

    /// Row of each cluster in the last result; [`NO_ROW`] if the cluster is gone.
    pub fn last_rows(&self) -> &[u32] {
        &self.last_rows
    }

    /// Rows of the clusters that a rule matches, ascending.
    #[cfg(test)]
    fn rule_rows(&self, rule: usize) -> &[Row] {
        self.rule_spans[rule].of(&self.rule_rows)
    }
}

/// Fills `priorities` with the priority of each cluster in the snapshot: the largest that any entry of the policy gives
/// it, or `i64::MIN` if no entry matches, so that the cluster comes last. `rows` is scratch memory.
pub fn priorities(snapshot: &Snapshot, record: &BindingRecord, priorities: &mut Vec<i64>, rows: &mut Vec<Row>) {
    let arena = snapshot.arena();
    priorities.clear();
    priorities.resize(arena.rows(), i64::MIN);
    let mut label = LabelColumn::default();
    for &(target, priority) in &record.priority_rules {
        let Some(target) = record.affinities.get(target as usize) else {
            continue;
        };
        rows.clear();
        ClusterMatcher::compile(arena, target, tables(record)).collect_rows(&mut label, rows);
        for row in rows.iter() {
            if let Some(known) = priorities.get_mut(row.index()) {
                *known = (*known).max(priority);
            }
        }
    }
}

/// Fills `first` with the index of the first placement affinity that each of `rows` matches, or with the number of
/// affinities if none matches.
pub fn first_affinities(snapshot: &Snapshot, record: &BindingRecord, rows: &[u32], first: &mut Vec<u32>) {
    let arena = snapshot.arena();
    let affinities = record.head.placement_affinities.of(&record.affinities);
    first.clear();
    first.resize(rows.len(), affinities.len() as u32);
    // In reverse, so that the earliest match is written last and stays.
    for (number, affinity) in affinities.iter().enumerate().rev() {
        let matcher = ClusterMatcher::compile(arena, affinity, tables(record));
        for (slot, &row) in first.iter_mut().zip(rows) {
            if matcher.matches(Row::from_index(row as usize)) {
                *slot = number as u32;
            }
        }
    }
}

/// Fills `indices` with the index of each cluster's name in the placement's affinities, one per cluster of the
/// snapshot; [`NO_ROW`] for a cluster that is not listed. Returns false and leaves `indices` empty if no affinity lists
/// names.
pub fn policy_indices(snapshot: &Snapshot, record: &BindingRecord, indices: &mut Vec<u32>) -> bool {
    let arena = snapshot.arena();
    let affinities = record.head.placement_affinities.of(&record.affinities);
    indices.clear();
    if affinities.iter().all(|affinity| affinity.cluster_names.length == 0) {
        return false;
    }
    indices.resize(arena.rows(), NO_ROW);
    let names = affinities
        .iter()
        .flat_map(|affinity| affinity.cluster_names.of(&record.texts));
    for (index, name) in (0..).zip(names) {
        let row = arena.row_hashed(name.read(&record.pool), name.hash);
        if let Some(slot) = row.and_then(|row| indices.get_mut(row as usize))
            && *slot == NO_ROW
        {
            *slot = index;
        }
    }
    true
}

fn tables(record: &BindingRecord) -> AffinityTables<'_> {
    AffinityTables {
        pool: &record.pool,
        texts: &record.texts,
        expressions: &record.expressions,
    }
}

/// Inputs of a cycle that are not part of the binding.
#[derive(Debug, Clone, Copy, Default)]
pub struct CycleOptions {
    /// Seed for breaking ties, derived from the profile's seed and the binding's UID.
    pub seed: u64,
    /// True if the division starts from scratch.
    pub fresh: bool,
    /// True if plugins should return reasons and explanations.
    pub explain: bool,
    /// True if every candidate gets the full replica count.
    pub duplicated: bool,
    /// True if Select ignores spread constraints.
    pub ignore_spread: bool,
    /// Time of the decision in milliseconds since 1970; `None` if it is unknown or no plugin needs it.
    pub time: Option<i64>,
}

/// The view of one binding against one snapshot. It borrows everything and converts nothing.
pub fn cycle_view<'a>(
    snapshot: &'a Snapshot,
    record: &'a BindingRecord,
    resolution: &'a Resolution,
    options: CycleOptions,
) -> CycleView<'a> {
    let mut flags = record.head.flags;
    for (bit, set) in [
        (flag::FRESH, options.fresh),
        (flag::EXPLAIN, options.explain),
        (flag::DUPLICATED, options.duplicated),
        (flag::IGNORE_SPREAD, options.ignore_spread),
        (flag::TIME, options.time.is_some()),
    ] {
        if set {
            flags |= bit;
        }
    }
    CycleView {
        snapshot: Slice::new(snapshot.words()),
        flags,
        seed: options.seed,
        last_rows: Slice::new(&resolution.last_rows),
        time: options.time.unwrap_or(0),
        ..record.view()
    }
}

/// Preferences and rules of the policy, for the plugin of the strategy.
pub fn policy_view<'a>(record: &'a BindingRecord, resolution: &'a Resolution) -> PolicyView<'a> {
    PolicyView {
        preferences: record.head.preferences,
        rules: Slice::new(&record.rules),
        rule_values: Slice::new(&record.rule_values),
        rule_spans: Slice::new(&resolution.rule_spans),
        rule_rows: Slice::new(Row::numbers(&resolution.rule_rows)),
        ..PolicyView::DEFAULT
    }
}

#[cfg(test)]
mod tests;
