//! Decisions without their plans, which are larger than the rest of a decision.

use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_scheduler::decision::Decision;
use divvy_scheduler::plan::{Plan, PlanResult};

/// Plans reduced to their strategy, one per strategy.
#[derive(Debug, Default)]
pub struct PlanSummaries(BTreeMap<String, PlanResult>);

impl PlanSummaries {
    /// Replaces the plan of a decision. An error stays.
    pub fn put_into(&mut self, decision: &mut Decision) {
        let Ok(plan) = decision.plan.as_ref() else { return };
        if !self.0.contains_key(&plan.strategy) {
            let summary = Plan {
                warnings: Vec::new(),
                requests: Vec::new(),
                preferences: Vec::new(),
                groups: Vec::new(),
                ..plan.clone()
            };
            self.0.insert(plan.strategy.clone(), Arc::new(Ok(summary)));
        }
        if let Some(summary) = self.0.get(&plan.strategy) {
            decision.plan = Arc::clone(summary);
        }
    }
}
