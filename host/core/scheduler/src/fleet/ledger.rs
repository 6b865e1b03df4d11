//! Capacity that earlier results have taken: those of the same run (`--assume`), or those of a live scheduler that clusters do not
//! report yet.

use std::collections::BTreeMap;

use super::estimate::PODS;

/// Resources taken per cluster, in the units of the snapshot. Growth is booked; shrinkage gives nothing back by itself.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// Index of each resource in `columns`.
    indices: BTreeMap<String, usize>,
    /// Booked quantities by row.
    columns: Vec<Vec<i64>>,
    /// Bookings for clusters that are estimated by their models; `None` if they are the same.
    by_models: Option<Box<Ledger>>,
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

    /// Returns the booking of `replicas` replicas with these requests on the cluster in `row`. Does nothing unless `replicas` is
    /// positive.
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
        for (resource, quantity) in quantities(replicas, requests) {
            let resource = self.resource(resource);
            self.take(resource, row, quantity);
        }
    }

    /// The bookings that count for clusters that are estimated by their models. Models show pods only once they are bound to a
    /// node, so a booking can end later there.
    pub fn by_models(&self) -> &Self {
        self.by_models.as_deref().unwrap_or(self)
    }

    /// From now on, keeps separate bookings for clusters that are estimated by their models.
    #[must_use]
    pub fn keeping_models_apart(self) -> Self {
        Self {
            by_models: Some(Box::default()),
            ..self
        }
    }

    /// The bookings for models, to change them; `None` unless they are kept apart.
    pub fn by_models_mut(&mut self) -> Option<&mut Self> {
        self.by_models.as_deref_mut()
    }

    /// The index of a resource, for [`Self::take`].
    pub fn resource(&mut self, name: &str) -> usize {
        if let Some(&index) = self.indices.get(name) {
            return index;
        }
        let index = self.columns.len();
        self.indices.insert(name.to_owned(), index);
        self.columns.push(Vec::new());
        index
    }

    /// Books a quantity of the resource with this index on the cluster in `row`.
    #[inline]
    pub fn take(&mut self, resource: usize, row: usize, quantity: i64) {
        let Some(column) = self.columns.get_mut(resource) else {
            return;
        };
        if column.len() <= row {
            column.resize(row + 1, 0);
        }
        column[row] = column[row].saturating_add(quantity);
    }

    /// Quantity of a resource that is booked on the cluster in `row`.
    pub fn taken(&self, resource: &str, row: usize) -> i64 {
        self.column(resource).get(row).copied().unwrap_or(0)
    }

    /// Booked quantities of a resource by row. Nothing is booked in rows past the end.
    pub fn column(&self, resource: &str) -> &[i64] {
        let column = self.indices.get(resource).and_then(|&index| self.columns.get(index));
        column.map_or(&[], Vec::as_slice)
    }
}

/// Each resource that replicas with these requests take, with the quantity; one pod per replica.
pub(super) fn quantities<'requests>(
    replicas: i64,
    requests: impl IntoIterator<Item = (&'requests str, i64)>,
) -> impl Iterator<Item = (&'requests str, i64)> {
    let requests = requests.into_iter();
    let requests = requests.filter(|(resource, quantity)| *quantity > 0 && *resource != PODS);
    let requested = requests.map(move |(resource, quantity)| (resource, quantity.saturating_mul(replicas)));
    std::iter::once((PODS, replicas)).chain(requested)
}
