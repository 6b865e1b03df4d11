//! Columns of the clusters of a cycle: of the feasible ones, and of candidates in the order of a selector. All but the result are in memory that
//! plugins can only read.

use divvy_framework_memory::Column;

/// Columns with one entry per feasible cluster, in row order.
#[derive(Debug, Default)]
pub(super) struct Feasible {
    pub(super) rows: Column<u32>,
    pub(super) scores: Column<i64>,
    /// 0 if the last result does not list the cluster.
    pub(super) last: Column<i64>,
    /// Index in the last result. Empty if it lists none of the clusters.
    pub(super) last_index: Column<u32>,
    pub(super) fits_now: Column<i64>,
    pub(super) capacity: Column<i64>,
    /// Empty if the binding has no tiers.
    pub(super) tiers: Column<u32>,
}

/// Columns with one entry per candidate, in the order that Select returned.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) rows: Column<u32>,
    pub(super) scores: Column<i64>,
    pub(super) last: Column<i64>,
    /// Empty if the last result lists none of the feasible clusters.
    pub(super) last_index: Column<u32>,
    pub(super) fits_now: Column<i64>,
    pub(super) capacity: Column<i64>,
    pub(super) tiers: Column<u32>,
    /// Rank of the cluster's name in the placement's affinities; empty if no affinity lists names.
    pub(super) policy_index: Column<u32>,
    pub(super) result: Vec<i64>,
}

/// Columns of the clusters of a call, in one order.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) rows: &'a [u32],
    pub(super) scores: &'a [i64],
    pub(super) last: &'a [i64],
    pub(super) last_index: &'a [u32],
    pub(super) fits_now: &'a [i64],
    pub(super) capacity: &'a [i64],
    pub(super) tiers: &'a [u32],
}

macro_rules! columns {
    ($($columns:ident),+) => {$(
        impl $columns {
            pub(super) fn columns(&self) -> Columns<'_> {
                Columns {
                    rows: &self.rows,
                    scores: &self.scores,
                    last: &self.last,
                    last_index: &self.last_index,
                    fits_now: &self.fits_now,
                    capacity: &self.capacity,
                    tiers: &self.tiers,
                }
            }
        }
    )+};
}

columns!(Feasible, Candidates);

impl Candidates {
    /// Copies the columns of the selected clusters, in the order of `selected`.
    pub(super) fn gather(&mut self, feasible: &Feasible, selected: &[u32]) {
        fn column<T: Copy>(own: &mut Column<T>, of_feasible: &[T], selected: &[u32]) {
            own.clear();
            // A column that this cycle does not use is empty.
            if !of_feasible.is_empty() {
                own.extend(selected.iter().map(|&index| of_feasible[index as usize]));
            }
        }
        column(&mut self.rows, &feasible.rows, selected);
        column(&mut self.scores, &feasible.scores, selected);
        column(&mut self.last, &feasible.last, selected);
        column(&mut self.last_index, &feasible.last_index, selected);
        column(&mut self.fits_now, &feasible.fits_now, selected);
        column(&mut self.capacity, &feasible.capacity, selected);
        column(&mut self.tiers, &feasible.tiers, selected);
    }
}
