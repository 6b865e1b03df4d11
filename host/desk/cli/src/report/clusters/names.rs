//! The names of a fleet's clusters.

use divvy_framework_view::clusters::Row;
use divvy_scheduler::fleet::FleetSnapshot;

/// A fleet with the names and regions of its clusters by row. Each cluster may be in every result, and reading a text from a snapshot
/// checks it each time.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    fleet: &'a FleetSnapshot,
    names: Vec<&'a str>,
    regions: Vec<&'a str>,
}

impl<'a> Names<'a> {
    /// The names in a fleet.
    pub(crate) fn of(fleet: &'a FleetSnapshot) -> Self {
        let clusters = fleet.snapshot().clusters();
        let rows = || (0..fleet.len()).map(|row| clusters.get(Row::from_index(row)));
        Self {
            fleet,
            names: rows().map(|cluster| cluster.name()).collect(),
            regions: rows().map(|cluster| cluster.region()).collect(),
        }
    }

    /// The fleet.
    pub(crate) fn fleet(&self) -> &'a FleetSnapshot {
        self.fleet
    }

    /// Number of clusters.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Name of the cluster in a row of the snapshot. The snapshot must have the row.
    pub(crate) fn name(&self, row: u32) -> &'a str {
        self.names[row as usize]
    }

    /// Region of the cluster in a row of the snapshot; empty if it has none. The snapshot must have the row.
    pub(crate) fn region(&self, row: u32) -> &'a str {
        self.regions[row as usize]
    }

    /// Row of the cluster with a name; `None` if the snapshot lacks it.
    pub(crate) fn row(&self, name: &str) -> Option<u32> {
        let row = self.fleet.snapshot().clusters().row(name)?;
        u32::try_from(row.index()).ok()
    }
}
