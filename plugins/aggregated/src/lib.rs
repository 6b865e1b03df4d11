//! Aggregated as a plugin. The rule is in [`aggregated`]; this file hands it the context.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod aggregated;

use aggregated::{Fill, Method};
use divvy_framework::division::Scratch;
use divvy_framework::prelude::*;

/// What a profile can configure.
#[derive(Debug, Clone, Copy, Default, Configuration)]
#[serde(default)]
struct AggregatedConfiguration {
    /// How proportional shares become whole replicas.
    method: Method,
    /// How the replicas are divided over the clusters that are used.
    fill: Fill,
}

/// Memory reused from call to call.
#[derive(Debug, Default)]
struct AggregatedScratch {
    division: Scratch,
    places_in_spec: Vec<u32>,
}

/// The strategy, as configured.
struct Aggregated {
    configuration: AggregatedConfiguration,
}

impl Plugin for Aggregated {
    const NAME: &'static str = "aggregated";
    const DESCRIPTION: &'static str = "divides replicas over as few clusters as possible";
    type Configuration = AggregatedConfiguration;
    type Preferences = NoPreferences;
    type Prepared = ();

    fn new(configuration: AggregatedConfiguration) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self { configuration })
    }

    fn prepare(&self, _: &PrepareContext<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

impl AssignPlugin for Aggregated {
    const STRATEGIES: &'static [&'static str] = &["Aggregated"];
    /// Not independent of the order of the candidates: `method = "webster"` breaks ties of capacity by it, as Karmada does.
    const PROMISES: Promises = Promises::NONE.respects_capacity().inert();

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let request = context.division_request();
        let out = result.replicas();
        let AggregatedConfiguration { method, fill } = self.configuration;
        with_scratch(|scratch: &mut AggregatedScratch| {
            let AggregatedScratch {
                division,
                places_in_spec,
            } = scratch;
            match method {
                Method::EvenRemainder => aggregated::divide(
                    &request,
                    (fill, method),
                    context.policy_order(),
                    context.ties(),
                    out,
                    division,
                ),
                Method::Webster if request.shrinks() => {
                    context.places_in_last(places_in_spec);
                    let order = |place: usize| places_in_spec.get(place).copied().unwrap_or(u32::MAX).into();
                    aggregated::divide(&request, (fill, method), order, context.karmada_ties(), out, division)
                }
                Method::Webster => {
                    let order = |place: usize| place as u64;
                    aggregated::divide(&request, (fill, method), order, context.karmada_ties(), out, division)
                }
            }
        })?;
        Ok(())
    }
}

divvy_framework::export_plugin!(Aggregated: Assign);

#[cfg(test)]
mod tests;
