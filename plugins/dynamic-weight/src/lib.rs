//! DynamicWeight as a plugin. [`dynamic_weight`] implements the rule; this file passes it the context.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod dynamic_weight;
mod explanation;

use divvy_framework::division::Scratch;
use divvy_framework::prelude::*;
use dynamic_weight::Method;

/// Configuration of the plugin in a profile.
#[derive(Debug, Clone, Copy, Default, Configuration)]
#[serde(default)]
struct DynamicWeightConfiguration {
    /// Method of rounding proportional shares to whole replicas.
    method: Method,
}

/// The strategy, as configured.
struct DynamicWeight {
    configuration: DynamicWeightConfiguration,
}

impl Plugin for DynamicWeight {
    const NAME: &'static str = "dynamic-weight";
    const DESCRIPTION: &'static str = "divides replicas in proportion to what fits";
}

impl ConfiguredPlugin for DynamicWeight {
    type Configuration = DynamicWeightConfiguration;

    fn new(configuration: DynamicWeightConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self { configuration })
    }
}

impl AssignPlugin for DynamicWeight {
    const STRATEGIES: &'static [&'static str] = &["DynamicWeight"];
    const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let request = context.division_request();
        let out = result.replicas();
        let method = self.configuration.method;
        with_scratch(|scratch: &mut Scratch| match method {
            Method::EvenRemainder => dynamic_weight::divide(&request, method, context.ties(), out, scratch),
            Method::Webster => dynamic_weight::divide(&request, method, context.karmada_ties(), out, scratch),
        })?;
        if context.wants_explanation() {
            explanation::explain(context, method, result.replicas());
        }
        Ok(())
    }
}

divvy_framework::export_plugin!(DynamicWeight: Assign);

#[cfg(test)]
mod tests;
