//! A decision as a control plane keeps it: targets and conditions in Karmada's types.
//!
//! The decision itself is [`Decision::make`], as it is offline. A plan is not kept, because a live binding is rarely decided twice with
//! the same input.

use divvy_karmada::api::{TargetCluster, TargetComponent};
use divvy_scheduler::cycle::Cycle;
use divvy_scheduler::decide::clearing::clears;
use divvy_scheduler::decision::{Circumstances, Decision, Outcome};
use divvy_scheduler::fleet::Footprint;
use divvy_scheduler::plan::{Decidable, Plan, PlanInput, PlanResult};

use crate::condition::Failure;

/// A decision, ready to be written.
#[derive(Debug)]
pub struct LiveDecision {
    /// The decision.
    pub decision: Decision,
    /// The clusters with their replicas, sorted by name, or the failure.
    pub result: Result<Vec<TargetCluster>, Failure>,
    /// Pod templates of the binding, which determine the room that the result takes.
    pub(crate) footprint: Footprint,
}

impl LiveDecision {
    /// Decides a binding. `plan` is made from it under the same profile.
    pub fn make(
        cycle: &mut Cycle,
        binding: &dyn Decidable,
        plan: &PlanResult,
        circumstances: &Circumstances<'_>,
    ) -> Self {
        let mut targets = Vec::new();
        let input = binding.input();
        let decision = Decision::make(cycle, &mut targets, binding, plan, circumstances);
        let result = match Failure::from_decision(&decision) {
            Some(failure) => Err(failure),
            None => {
                let components = components(&input, plan, circumstances);
                let target = |target: &divvy_scheduler::cycle::Target| TargetCluster {
                    name: circumstances.fleet.name(target.row).to_owned(),
                    // The cycle divides at most the binding's replicas, which are 32 bits wide.
                    replicas: i32::try_from(target.replicas).unwrap_or(i32::MAX),
                    components: components.clone(),
                };
                Ok(targets.iter().map(target).collect())
            }
        };
        Self {
            decision,
            result,
            footprint: Footprint::from_input(&input),
        }
    }

    /// The affinity group that fits; empty if none does or the placement has none.
    pub fn affinity(&self) -> &str {
        match &self.result {
            Ok(_) => &self.decision.affinity,
            Err(_) => "",
        }
    }

    /// Mistakes in the binding or its policy that were tolerated, each with its hint, and plugins that the decision went on without, as
    /// shown to people.
    pub fn warnings(&self) -> Vec<String> {
        let plan = self.decision.plan.as_ref().as_ref();
        let warnings = plan.map_or(&[][..], |plan| &plan.warnings).iter();
        let texts = warnings.map(|warning| match &warning.hint {
            Some(hint) => format!("{} (hint: {hint})", warning.message),
            None => warning.message.clone(),
        });
        let skipped = self.decision.without.iter().map(ToString::to_string);
        texts.chain(skipped).collect()
    }

    /// True if the decision failed in a way that removes the previous result.
    pub(crate) fn clears(&self, rule: divvy_profile::WhenNoClusterFits) -> bool {
        match &self.decision.outcome {
            Outcome::Failed(error) => clears(rule, error, self.decision.fits_nowhere()),
            Outcome::Scheduled(_) | Outcome::Skipped(_) => false,
        }
    }
}

/// Replicas of a result in a cluster; `None` if it is not in the result.
pub(crate) fn replicas_on(result: &[TargetCluster], cluster: &str) -> Option<i32> {
    let target = result.iter().find(|target| target.name == cluster);
    target.map(|target| target.replicas)
}

/// Components that each target carries: all of them, for a resource with several pod templates, if the profile has
/// Karmada's feature gate on.
fn components(input: &PlanInput<'_>, plan: &PlanResult, circumstances: &Circumstances<'_>) -> Vec<TargetComponent> {
    let is_whole = plan.as_ref().as_ref().is_ok_and(|plan: &Plan| plan.whole);
    if !is_whole || !circumstances.profile.plan_options().component_sets {
        return Vec::new();
    }
    let components = input.components.iter().map(|(name, replicas, _)| TargetComponent {
        name: (*name).to_owned(),
        // The counts of the binding, which are 32 bits wide.
        replicas: i32::try_from(*replicas).unwrap_or(i32::MAX),
    });
    components.collect()
}
