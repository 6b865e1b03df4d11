//! Promises that a strategy states for one call.

use divvy_framework_abi::call::AssignCall;

/// Promises about one result, as [`AssignPlugin::stated_promises`](super::AssignPlugin::stated_promises) returns them: numbers of clusters with replicas. A promise that is made
/// twice has the later number.
///
/// They hold for the result of the call. If the policy has tiers, the host makes a call per tier, each with its own promises; if
/// a filter cordons clusters, it divides what they cannot take once more, among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedPromises {
    least_clusters: u32,
    most_clusters: u32,
    most_per_provider: u32,
    most_per_region: u32,
    most_per_zone: u32,
}

impl StatedPromises {
    /// Promises nothing.
    pub const NONE: Self = Self::from_call(&AssignCall::DEFAULT);

    /// At least this many clusters get replicas, or as many as there are replicas, if these are fewer.
    #[must_use]
    pub const fn least_clusters(self, count: u32) -> Self {
        Self {
            least_clusters: count,
            ..self
        }
    }

    /// At most this many clusters get replicas.
    #[must_use]
    pub const fn most_clusters(self, count: u32) -> Self {
        Self {
            most_clusters: count,
            ..self
        }
    }

    /// At most this many clusters of each provider get replicas. Clusters without a provider are not counted.
    #[must_use]
    pub const fn most_per_provider(self, count: u32) -> Self {
        Self {
            most_per_provider: count,
            ..self
        }
    }

    /// At most this many clusters of each region get replicas. Clusters without a region are not counted.
    #[must_use]
    pub const fn most_per_region(self, count: u32) -> Self {
        Self {
            most_per_region: count,
            ..self
        }
    }

    /// At most this many clusters of each zone get replicas. A cluster with several zones counts in each of them.
    #[must_use]
    pub const fn most_per_zone(self, count: u32) -> Self {
        Self {
            most_per_zone: count,
            ..self
        }
    }

    const fn from_call(call: &AssignCall<'_>) -> Self {
        Self {
            least_clusters: call.least_clusters,
            most_clusters: call.most_clusters,
            most_per_provider: call.most_per_provider,
            most_per_region: call.most_per_region,
            most_per_zone: call.most_per_zone,
        }
    }

    /// The numbers, in the order of the fields of the call.
    pub(crate) const fn numbers(self) -> [u32; 5] {
        [
            self.least_clusters,
            self.most_clusters,
            self.most_per_provider,
            self.most_per_region,
            self.most_per_zone,
        ]
    }

    /// The call as a host sees it once the promises are written to it.
    #[cfg(feature = "testing")]
    pub(crate) fn answered(self) -> AssignCall<'static> {
        AssignCall {
            least_clusters: self.least_clusters,
            most_clusters: self.most_clusters,
            most_per_provider: self.most_per_provider,
            most_per_region: self.most_per_region,
            most_per_zone: self.most_per_zone,
            ..AssignCall::DEFAULT
        }
    }
}

impl Default for StatedPromises {
    fn default() -> Self {
        Self::NONE
    }
}
