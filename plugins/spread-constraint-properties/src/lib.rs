//! The Filter plugin `spread-constraint-properties`: rejects clusters without a property that a spread constraint
//! groups by.
//!
//! This file connects the SDK to the rule in [`spread_constraint_properties`]. Select groups clusters by these
//! properties and cannot use a cluster that lacks one; this filter rejects it beforehand, with a clear reason.

#![forbid(unsafe_code)]

mod spread_constraint_properties;
#[cfg(test)]
mod tests;

use divvy_framework::prelude::*;

use spread_constraint_properties::Property;

/// Rejects clusters without a property that a spread constraint groups by.
#[derive(Default)]
struct SpreadConstraintProperties;

impl Plugin for SpreadConstraintProperties {
    const NAME: &'static str = "spread-constraint-properties";
    const DESCRIPTION: &'static str = "rejects clusters without a property that a spread constraint groups by";
}

impl FilterPlugin for SpreadConstraintProperties {
    const PROMISES: Promises = Promises::NONE.each_alone();
    const ACTS_ON: BindingParts = BindingParts::SPREAD_CONSTRAINTS;

    fn filter(&self, context: &FilterContext<'_, Self>, result: &mut FilterResult<'_>) -> Result<(), Failure> {
        let clusters = context.clusters();
        // In the order of the policy: the reason names the first property that a cluster lacks.
        for constraint in context.binding().spread_constraints() {
            if let Some(property) = Property::required_by(constraint) {
                let column = property.column(&clusters);
                result.retain(|row| column.is_set(row), |_| property.reason());
            }
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(SpreadConstraintProperties: Filter);
