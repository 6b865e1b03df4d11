//! What a profile can configure of PriorityAggregated, and what that means to the arithmetic.

use divvy_framework::division::Rounding;
use divvy_framework::division::aggregate;
use divvy_framework::prelude::Configuration;

/// What a profile can configure.
#[derive(Debug, Clone, Copy, Default, Configuration)]
#[serde(default)]
pub struct PriorityAggregatedConfiguration {
    /// How replicas are divided over the clusters that a tier uses.
    pub fill: Fill,
}

/// How replicas are divided over the clusters that a tier uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Fill {
    /// In proportion to their capacities, as Aggregated and the proposal's table.
    #[default]
    Proportional,
    /// Each is filled before the next is touched.
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
