//! Configuration of Aggregated, and its translation for the arithmetic.

use divvy_framework::division::Rounding;
use divvy_framework::division::aggregate;
use divvy_framework::prelude::Configuration;

/// Configuration of the plugin in a profile.
#[derive(Debug, Clone, Copy, Default, Configuration)]
#[serde(default)]
pub struct AggregatedConfiguration {
    /// Division of the replicas over the selected clusters.
    pub fill: Fill,
    /// Method of rounding proportional shares to whole replicas.
    pub method: Method,
}

/// Division of the replicas over the selected clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Fill {
    /// In proportion to their capacities, as in Karmada.
    #[default]
    Proportional,
    /// Fills each cluster before the next.
    Pack,
}

/// Method of rounding proportional shares to whole replicas, with its sort order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Method {
    /// Rounds down, then gives the remainder one each by capacity, last replicas, tie.
    #[default]
    EvenRemainder,
    /// Highest averages, with the tie rule and sort orders of Karmada 1.16 and later.
    Webster,
}

impl AggregatedConfiguration {
    /// Combines `fill` and `method` into the fill of the arithmetic. Packing needs no rounding.
    pub fn division_fill(self) -> aggregate::Fill {
        match (self.fill, self.method) {
            (Fill::Pack, _) => aggregate::Fill::Pack,
            (Fill::Proportional, Method::EvenRemainder) => aggregate::Fill::Proportional(Rounding::FloorThenRank),
            (Fill::Proportional, Method::Webster) => aggregate::Fill::Proportional(Rounding::Karmada),
        }
    }
}
