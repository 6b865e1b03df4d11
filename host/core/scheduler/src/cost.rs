//! Costs by the hour, with the prices of a profile. Reports count them; no decision reads them.

pub use divvy_framework_arithmetic::cost::{Amounts, Cost, CostError};

pub use crate::profile::{KnownCost, Pricing};
