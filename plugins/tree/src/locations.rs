//! Names and locations of all clusters: the part of a snapshot on which the clusters of most plans depend.
//!
//! Two snapshots with the same names and locations share one value, regardless of other differences, so the clusters
//! that a plan found in one are also right in the other.

use std::sync::Arc;

use divvy_framework::clusters::{Clusters, Symbol};

/// Names and locations of all clusters of a snapshot.
#[derive(Debug)]
pub(crate) struct Locations {
    names: Vec<u64>,
    regions: Vec<Symbol>,
    providers: Vec<Symbol>,
    /// The zones of all clusters, and the end of each cluster's zones.
    zones: Vec<Symbol>,
    zone_ends: Vec<usize>,
    /// The texts of all these symbols, because another snapshot may number them differently.
    texts: Vec<(Symbol, String)>,
}

impl Locations {
    /// The names and locations of a snapshot; `known` itself if they are the same.
    pub(crate) fn shared(clusters: &Clusters<'_>, known: Option<&Arc<Self>>) -> Arc<Self> {
        match known.filter(|known| known.are_those_of(clusters)) {
            Some(known) => Arc::clone(known),
            None => Arc::new(Self::read(clusters)),
        }
    }

    fn read(clusters: &Clusters<'_>) -> Self {
        let (mut zones, mut zone_ends) = (Vec::new(), Vec::with_capacity(clusters.len()));
        for cluster in clusters.iter() {
            zones.extend_from_slice(cluster.zone_symbols());
            zone_ends.push(zones.len());
        }
        let (regions, providers) = (clusters.regions().as_slice(), clusters.providers().as_slice());
        let mut symbols = [regions, providers, &zones].concat();
        symbols.sort_unstable();
        symbols.dedup();
        Self {
            names: clusters.name_hashes().as_slice().to_vec(),
            regions: regions.to_vec(),
            providers: providers.to_vec(),
            zones,
            zone_ends,
            texts: symbols
                .iter()
                .map(|&symbol| (symbol, clusters.text(symbol).to_owned()))
                .collect(),
        }
    }

    fn are_those_of(&self, clusters: &Clusters<'_>) -> bool {
        let mut start = 0;
        let mut zones_of = self.zone_ends.iter().map(|&end| {
            let zones = self.zones.get(start..end);
            start = end;
            zones
        });
        self.names == clusters.name_hashes().as_slice()
            && self.regions == clusters.regions().as_slice()
            && self.providers == clusters.providers().as_slice()
            && clusters
                .iter()
                .all(|cluster| zones_of.next() == Some(Some(cluster.zone_symbols())))
            && self.texts.iter().all(|(symbol, text)| clusters.text(*symbol) == text)
    }
}
