//! Configuration of PriorityAggregated, and its translation for the arithmetic.

use divvy_framework::division::Rounding;
use divvy_framework::division::aggregate;
use divvy_framework::prelude::Configuration;

/// Configuration of the plugin in a profile.
#[derive(Debug, Clone, Copy, Default, Configuration)]
#[serde(default)]
pub struct PriorityAggregatedConfiguration {
    /// Division of the replicas over the selected clusters of a tier.
    pub fill: Fill,
}

/// Division of the replicas over the selected clusters of a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Fill {
    /// In proportion to their capacities, as in Aggregated and in the proposal's table.
    #[default]
    Proportional,
    /// Fills each cluster before the next.
    Pack,
}

impl From<Fill> for aggregate::Fill {
    fn from(fill: Fill) -> Self {
        match fill {
            Fill::Proportional => Self::Proportional(Rounding::FloorThenRank),
            Fill::Pack => Self::Pack,
        }
    }
}
