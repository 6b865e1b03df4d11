//! Everything that a profile decides with: its plugins, and the keys of its configuration that concern results.

use std::sync::Arc;

use divvy_profile::{
    JointlyConfiguration, MovesConfiguration, ProfileConfiguration, WhenClustersChange, WhenNoClusterFits,
    WhileCapacityIsUnreported,
};

use super::Profile;

/// A profile with its plugins, and the keys of its configuration by which a scheduler treats results. A live scheduler and a forecast decide
/// with the same type, so that a key can neither be read differently by them nor be known to only one of them.
#[derive(Debug, Clone)]
pub struct ConfiguredProfile {
    /// The plugins.
    pub profile: Arc<Profile>,
    /// Treatment of the previous result if no cluster fits.
    pub when_no_cluster_fits: WhenNoClusterFits,
    /// Treatment of capacity that results have taken and clusters do not report yet.
    pub while_capacity_is_unreported: WhileCapacityIsUnreported,
    /// Treatment of satisfied bindings if labels or taints of clusters change.
    pub when_clusters_change: WhenClustersChange,
    /// The way in which results are written in steps; `None` if they are written as a whole.
    pub moves: Option<Arc<MovesConfiguration>>,
    /// The bursts that a live scheduler decides as one plan; `None` if it decides one binding after another.
    pub jointly: Option<JointlyConfiguration>,
}

impl ConfiguredProfile {
    /// A profile that was made from this configuration. Keys without a value have their defaults.
    pub fn new(profile: Arc<Profile>, configuration: &ProfileConfiguration) -> Self {
        Self {
            profile,
            when_no_cluster_fits: configuration.clearing(),
            while_capacity_is_unreported: configuration.while_capacity_is_unreported.unwrap_or_default(),
            when_clusters_change: configuration.when_clusters_change.unwrap_or_default(),
            moves: configuration.moves.clone().map(Arc::new),
            jointly: configuration.jointly.clone(),
        }
    }

    /// True if capacity that results have taken is held until the clusters report it.
    pub fn holds(&self) -> bool {
        self.while_capacity_is_unreported == WhileCapacityIsUnreported::Hold
    }
}
