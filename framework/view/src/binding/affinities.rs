//! Affinities of a placement.

use divvy_framework_abi::row::AffinityRow;
use divvy_framework_abi::text::Text;

use crate::clusters::{AffinityTables, ClusterMatcher, Clusters, Row};

/// A cluster affinity.
#[derive(Debug, Clone, Copy)]
pub struct Affinity<'a> {
    pub(super) row: AffinityRow,
    pub(super) tables: AffinityTables<'a>,
}

impl<'a> Affinity<'a> {
    /// Name of the affinity group; empty for an affinity outside a group.
    pub fn name(&self) -> &'a str {
        self.row.name.read(self.tables.pool)
    }

    /// `clusterNames`, in the order of the policy.
    pub fn cluster_names(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        let pool = self.tables.pool;
        let names: &'a [Text] = self.row.cluster_names.of(self.tables.texts);
        names.iter().map(move |name| name.read(pool))
    }

    /// Rows of the clusters in `clusterNames`, in the order of the policy; `None` for a name that is not in the
    /// snapshot.
    pub fn cluster_rows(&self, clusters: &Clusters<'a>) -> impl Iterator<Item = Option<Row>> + use<'a> {
        let pool = self.tables.pool;
        let arena = clusters.arena();
        let names: &'a [Text] = self.row.cluster_names.of(self.tables.texts);
        names
            .iter()
            .map(move |name| arena.row_hashed(name.read(pool), name.hash))
            .map(|row| row.map(|row| Row::from_index(row as usize)))
    }

    /// Compiles the affinity into a matcher of rows. Compile once per cycle, not once per cluster.
    pub fn compile(&self, clusters: &Clusters<'a>) -> ClusterMatcher<'a> {
        ClusterMatcher::compile(clusters.arena(), &self.row, self.tables)
    }
}

/// The affinities of a placement as one matcher: an affinity and its overflow affinities.
#[derive(Debug)]
pub struct Affinities<'a> {
    /// Usually the only one, so it is not in the list.
    first: ClusterMatcher<'a>,
    others: Vec<ClusterMatcher<'a>>,
}

impl<'a> Affinities<'a> {
    /// Matches a cluster if one of `affinities` does. `None` if every cluster matches.
    #[inline]
    pub(super) fn new(mut affinities: impl Iterator<Item = ClusterMatcher<'a>>) -> Option<Self> {
        let first = affinities.next()?;
        if first.matches_all() {
            return None;
        }
        let Some(second) = affinities.next() else {
            return Some(Self {
                first,
                others: Vec::new(),
            });
        };
        let others: Vec<_> = std::iter::once(second).chain(affinities).collect();
        if others.iter().any(ClusterMatcher::matches_all) {
            return None;
        }
        Some(Self { first, others })
    }

    /// The only affinity, whose clusters are found in a loop that looks for no other; `None` if there are overflow affinities.
    #[inline]
    pub fn only(&self) -> Option<&ClusterMatcher<'a>> {
        self.others.is_empty().then_some(&self.first)
    }

    /// True if the cluster in that row matches one of them.
    #[inline]
    pub fn matches(&self, row: Row) -> bool {
        self.first.matches(row) || self.others.iter().any(|other| other.matches(row))
    }
}
