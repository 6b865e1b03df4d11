//! Promises that a strategy states with its result, for host and test kit.
//!
//! They depend on the policy or on the configuration, so they come with each call, unlike those of a descriptor. Each is
//! a number of clusters with replicas.

use std::collections::BTreeMap;
use std::fmt;

use divvy_framework_abi::call::AssignCall;
use divvy_framework_view::clusters::Cluster;

/// A property by which clusters are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// `spec.provider`.
    Provider,
    /// `spec.region`.
    Region,
    /// Each of `spec.zones`.
    Zone,
}

impl fmt::Display for Group {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Provider => "provider",
            Self::Region => "region",
            Self::Zone => "zone",
        })
    }
}

/// A promise that a result breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum StatedViolation {
    /// Too few clusters with replicas.
    #[error("plugin `{plugin}` promises to use at least {expected} of the clusters but used {actual}")]
    TooFewClusters {
        plugin: String,
        expected: usize,
        actual: usize,
    },
    /// Too many clusters with replicas.
    #[error(
        "plugin `{plugin}` promises to use at most {expected} of the clusters but used {actual}: `{cluster}` is one too many"
    )]
    TooManyClusters {
        plugin: String,
        /// The last one with replicas, in the order of the candidates.
        cluster: String,
        expected: usize,
        actual: usize,
    },
    /// Too many clusters of one provider, region or zone with replicas.
    #[error(
        "plugin `{plugin}` promises to use at most {expected} of the clusters of each {group} but used {actual} of {group} `{value}`: `{cluster}` is one too many"
    )]
    TooManyOfGroup {
        plugin: String,
        group: Group,
        /// The provider, region or zone.
        value: String,
        /// The last one with replicas, in the order of the candidates.
        cluster: String,
        expected: usize,
        actual: usize,
    },
}

impl StatedViolation {
    /// Name of the plugin.
    pub fn plugin(&self) -> &str {
        match self {
            Self::TooFewClusters { plugin, .. }
            | Self::TooManyClusters { plugin, .. }
            | Self::TooManyOfGroup { plugin, .. } => plugin,
        }
    }
}

/// The promises that came with a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stated {
    least_clusters: usize,
    most_clusters: usize,
    most_of: [(Group, usize); 3],
}

impl Stated {
    /// The promises in an answered call.
    pub fn of(call: &AssignCall<'_>) -> Self {
        // Clusters are numbered by `u32`, so its maximum is not a limit.
        let number = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        Self {
            least_clusters: number(call.least_clusters),
            most_clusters: number(call.most_clusters),
            most_of: [
                (Group::Provider, number(call.most_per_provider)),
                (Group::Region, number(call.most_per_region)),
                (Group::Zone, number(call.most_per_zone)),
            ],
        }
    }

    /// Checks a result with one count per candidate, of `replicas` in all. `duplicates` is true if each candidate gets the full count, and
    /// `cluster` returns the candidate at an index.
    ///
    /// # Errors
    ///
    /// The first promise that the result breaks. The caller must discard the whole result.
    pub fn check<'c>(
        &self,
        plugin: &str,
        (replicas, duplicates): (i64, bool),
        result: &[i64],
        cluster: impl Fn(usize) -> Cluster<'c>,
    ) -> Result<(), StatedViolation> {
        if *self == Self::of(&AssignCall::DEFAULT) {
            return Ok(());
        }
        let used = || {
            (0..)
                .zip(result)
                .filter(|(_, count)| **count > 0)
                .map(|(index, _)| index)
        };
        let actual = used().count();
        let least = match usize::try_from(replicas) {
            Ok(replicas) if replicas > 0 && duplicates => self.least_clusters,
            // Without replicas, a workload is stopped everywhere.
            replicas => self.least_clusters.min(replicas.unwrap_or(0)),
        };
        if actual < least {
            return Err(StatedViolation::TooFewClusters {
                plugin: plugin.to_owned(),
                expected: least,
                actual,
            });
        }
        if let Some(last) = used().last().filter(|_| actual > self.most_clusters) {
            return Err(StatedViolation::TooManyClusters {
                plugin: plugin.to_owned(),
                cluster: cluster(last).name().to_owned(),
                expected: self.most_clusters,
                actual,
            });
        }
        for (group, most) in self.most_of {
            // A group cannot have more clusters than all together.
            if actual <= most {
                continue;
            }
            let members = members(group, used(), &cluster);
            let broken = members.into_iter().find(|(_, (count, _))| *count > most);
            if let Some((value, (actual, last))) = broken {
                return Err(StatedViolation::TooManyOfGroup {
                    plugin: plugin.to_owned(),
                    group,
                    value: value.to_owned(),
                    cluster: cluster(last).name().to_owned(),
                    expected: most,
                    actual,
                });
            }
        }
        Ok(())
    }
}

/// Number of the clusters of each group, and the index of the last, by the group's text.
fn members<'c>(
    group: Group,
    used: impl Iterator<Item = usize>,
    cluster: &impl Fn(usize) -> Cluster<'c>,
) -> BTreeMap<&'c str, (usize, usize)> {
    let mut members: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut add = |value: &'c str, index: usize| {
        if value.is_empty() {
            return;
        }
        let (count, last) = members.entry(value).or_default();
        // A zone that a cluster lists twice counts once.
        if *count == 0 || *last != index {
            (*count, *last) = (*count + 1, index);
        }
    };
    for index in used {
        let cluster = cluster(index);
        match group {
            Group::Provider => add(cluster.provider(), index),
            Group::Region => add(cluster.region(), index),
            Group::Zone => cluster.zones().for_each(|zone| add(zone, index)),
        }
    }
    members
}

#[cfg(test)]
mod tests;
