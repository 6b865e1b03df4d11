//! Columns of clusters that a plugin declares to read.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use divvy_framework_abi::arena::{Restriction, group};

use super::{SnapshotValueContext, SnapshotValuePlugin};
use crate::clusters::{Clusters, Row};
use crate::cycle::Cycle;
use crate::plugin::Failure;

/// Columns of clusters that a value is made from: [`SnapshotValuePlugin::READS`].
///
/// Names of clusters can always be read, and so can tables of the profile. While the value is made, an undeclared
/// column reads as empty, and reading it makes the value an error, in the test kit as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterColumns(u64);

impl ClusterColumns {
    /// No columns but the names of the clusters.
    pub const NONE: Self = Self(group::NAMES);

    /// All columns, in this version of the SDK and in later ones.
    pub const ALL: Self = Self(0);

    /// `metadata.uid`.
    #[must_use]
    pub const fn uid(self) -> Self {
        self.and(group::UID)
    }

    /// `is_deleting`, `is_ready`, `has_complete_api_enablements` and `has_resource_summary` of a
    /// [`Cluster`](crate::clusters::Cluster).
    #[must_use]
    pub const fn flags(self) -> Self {
        self.and(group::FLAGS)
    }

    /// Region, provider and zones.
    #[must_use]
    pub const fn location(self) -> Self {
        self.and(group::LOCATION)
    }

    /// Labels.
    #[must_use]
    pub const fn labels(self) -> Self {
        self.and(group::LABELS)
    }

    /// Annotations.
    #[must_use]
    pub const fn annotations(self) -> Self {
        self.and(group::ANNOTATIONS)
    }

    /// Taints.
    #[must_use]
    pub const fn taints(self) -> Self {
        self.and(group::TAINTS)
    }

    /// API enablements.
    #[must_use]
    pub const fn apis(self) -> Self {
        self.and(group::APIS)
    }

    /// Conditions.
    #[must_use]
    pub const fn conditions(self) -> Self {
        self.and(group::CONDITIONS)
    }

    /// Amounts of resources. Heartbeats of clusters change them, so such a value is often made again.
    #[must_use]
    pub const fn resources(self) -> Self {
        self.and(group::RESOURCES)
    }

    /// Resource models, and the numbers of nodes in their grades. Heartbeats of clusters change these.
    #[must_use]
    pub const fn models(self) -> Self {
        self.and(group::MODELS)
    }

    /// The raw JSON of clusters, which also needs [`Needs::raw_cluster`](crate::plugin::Needs::raw_cluster). Heartbeats of
    /// clusters change it.
    #[must_use]
    pub const fn raw(self) -> Self {
        self.and(group::RAW)
    }

    const fn and(self, groups: u64) -> Self {
        // `ALL` is 0, so adding to it needs a case of its own.
        match self.0 {
            0 => self,
            known => Self(known | groups),
        }
    }

    /// The bits that cross the boundary; 0 for all columns.
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// Methods of this type that declare these groups of columns.
    fn methods(groups: u64) -> String {
        let known = [
            (group::UID, "uid"),
            (group::FLAGS, "flags"),
            (group::LOCATION, "location"),
            (group::LABELS, "labels"),
            (group::ANNOTATIONS, "annotations"),
            (group::TAINTS, "taints"),
            (group::APIS, "apis"),
            (group::CONDITIONS, "conditions"),
            (group::RESOURCES, "resources"),
            (group::MODELS, "models"),
            (group::RAW, "raw"),
        ];
        let refused = known.iter().filter(|(group, _)| groups & group != 0);
        let names: Vec<String> = refused.map(|(_, name)| format!("`{name}`")).collect();
        names.join(", ")
    }
}

/// Makes the value of a plugin, which sees only the columns that it declares.
///
/// # Errors
///
/// The plugin's own error, or one that names the undeclared columns that it read.
pub(crate) fn make<P: SnapshotValuePlugin>(
    plugin: &P,
    cycle: Cycle<'_>,
    changed_rows: Option<&[Row]>,
    previous: Option<&P::SnapshotValue>,
) -> Result<P::SnapshotValue, Failure> {
    let given = |clusters| SnapshotValueContext {
        cycle,
        clusters,
        changed_rows,
    };
    if P::READS == ClusterColumns::ALL {
        return plugin.snapshot_value(&given(cycle.clusters()), previous);
    }
    let arena = cycle.arena();
    let restriction = Restriction::new(arena, P::READS.bits());
    let clusters = cycle.seen(Clusters::new(restriction.arena(arena)));
    // A column that reads as empty may make the plugin panic; the error must then name the column.
    let made = catch_unwind(AssertUnwindSafe(|| plugin.snapshot_value(&given(clusters), previous)));
    match restriction.refused() {
        0 => made.unwrap_or_else(|payload| resume_unwind(payload)),
        groups => {
            drop_quietly(made);
            let names = ClusterColumns::methods(groups);
            let message = format!("reads columns for its snapshot value that `READS` does not declare: {names}");
            Err(Failure::internal(message))
        }
    }
}

/// Drops a value whose destructor may panic.
fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}
