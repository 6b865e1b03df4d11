//! What a profile can configure of Aggregated, and what that means to the arithmetic.

use divvy_framework::division::Rounding;
use divvy_framework::division::aggregate;
use divvy_framework::prelude::Configuration;

/// What a profile can configure.
#[derive(Debug, Clone, Copy, Default, Configuration)]
#[serde(default)]
pub struct AggregatedConfiguration {
    /// How the replicas are divided over the clusters that are used.
    pub fill: Fill,
    /// How proportional shares become whole replicas.
    pub method: Method,
}

/// How the replicas are divided over the clusters that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Fill {
    /// In proportion to their capacities, as Karmada.
    #[default]
    Proportional,
    /// Each is filled before the next is touched.
    Pack,
}

/// How proportional shares become whole replicas, and which order goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Configuration)]
pub enum Method {
    /// Floors, then the remainder one each by capacity, last replicas, tie.
    #[default]
    EvenRemainder,
    /// By highest averages, with the tie rule and the orders of Karmada 1.16 and later.
    Webster,
}

impl AggregatedConfiguration {
    /// The fill of the arithmetic.
    pub fn division_fill(self) -> aggregate::Fill {
        match (self.fill, self.method) {
            (Fill::Pack, _) => aggregate::Fill::Pack,
            (Fill::Proportional, Method::EvenRemainder) => aggregate::Fill::Proportional(Rounding::FloorThenRank),
            (Fill::Proportional, Method::Webster) => aggregate::Fill::Proportional(Rounding::Karmada),
        }
    }
}
