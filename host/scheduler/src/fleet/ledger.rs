//! What earlier results of the same run have taken from the clusters' free capacity (`--assume`).

use std::collections::BTreeMap;

/// Resources taken, in the units of the snapshot. Growth takes, shrinkage gives nothing back.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    taken: BTreeMap<String, Vec<i64>>,
}

impl Ledger {
    /// Books `growth` replicas of `requests` each to the cluster in `row`. A pod is taken for each replica.
    pub fn book<'requests>(
        &mut self,
        row: usize,
        growth: i64,
        requests: impl IntoIterator<Item = (&'requests str, i64)>,
    ) {
        let mut take = |resource: &str, quantity: i64| {
            let column = self.taken.entry(resource.to_owned()).or_default();
            if column.len() <= row {
                column.resize(row + 1, 0);
            }
            column[row] = column[row].saturating_add(quantity.saturating_mul(growth));
        };
        if growth <= 0 {
            return;
        }
        take(super::estimate::PODS, 1);
        for (resource, quantity) in requests {
            if quantity > 0 && resource != super::estimate::PODS {
                take(resource, quantity);
            }
        }
    }

    /// What was taken of a resource from the cluster in a row.
    pub fn taken(&self, resource: &str, row: usize) -> i64 {
        self.taken
            .get(resource)
            .and_then(|column| column.get(row))
            .copied()
            .unwrap_or(0)
    }
}
