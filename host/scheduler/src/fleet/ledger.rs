//! Capacity that earlier results of the same run have taken (`--assume`).

use std::collections::BTreeMap;

/// Resources taken per cluster, in the units of the snapshot. Growth is booked; shrinkage gives nothing back by itself.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    taken: BTreeMap<String, Vec<i64>>,
}

impl Ledger {
    /// Books `growth` replicas with these requests, and one pod per replica, on the cluster in `row`. Does nothing
    /// unless `growth` is positive.
    pub fn book<'requests>(
        &mut self,
        row: usize,
        growth: i64,
        requests: impl IntoIterator<Item = (&'requests str, i64)>,
    ) {
        if growth > 0 {
            self.change(row, growth, requests);
        }
    }

    /// Gives back what `replicas` replicas had booked with these requests on the cluster in `row`. Does nothing unless
    /// `replicas` is positive.
    pub fn release<'requests>(
        &mut self,
        row: usize,
        replicas: i64,
        requests: impl IntoIterator<Item = (&'requests str, i64)>,
    ) {
        if replicas > 0 {
            self.change(row, -replicas, requests);
        }
    }

    fn change<'requests>(
        &mut self,
        row: usize,
        replicas: i64,
        requests: impl IntoIterator<Item = (&'requests str, i64)>,
    ) {
        let mut take = |resource: &str, quantity: i64| {
            if !self.taken.contains_key(resource) {
                self.taken.insert(resource.to_owned(), Vec::new());
            }
            let Some(column) = self.taken.get_mut(resource) else {
                return;
            };
            if column.len() <= row {
                column.resize(row + 1, 0);
            }
            column[row] = column[row].saturating_add(quantity.saturating_mul(replicas));
        };
        take(super::estimate::PODS, 1);
        for (resource, quantity) in requests {
            if quantity > 0 && resource != super::estimate::PODS {
                take(resource, quantity);
            }
        }
    }

    /// Quantity of a resource that is booked on the cluster in `row`.
    pub fn taken(&self, resource: &str, row: usize) -> i64 {
        self.column(resource).get(row).copied().unwrap_or(0)
    }

    /// Booked quantities of a resource by row. Nothing is booked in rows past the end.
    pub fn column(&self, resource: &str) -> &[i64] {
        self.taken.get(resource).map_or(&[], Vec::as_slice)
    }
}
