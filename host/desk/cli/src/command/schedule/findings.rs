//! Warnings about the input and the plans of its bindings. The plans are not kept.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use divvy_command::console::Console;
use divvy_karmada::detector::{Binding, Detected};
use divvy_manifests::{Manifests, Warning};
use divvy_scheduler::decision::{Decision, Scheduler};
use divvy_scheduler::plan::PlanResult;
use divvy_scheduler::profile::Profile;

use crate::command::{clusters, moving};
use crate::report::warnings;

/// Findings from the plans of all bindings. The plans are not kept.
#[derive(Default)]
pub(in crate::command) struct PlanFindings {
    /// Warnings, each with the index of its binding.
    warnings: Vec<(usize, Warning)>,
    /// True if the replicas of a binding are divided by a strategy that respects capacity.
    divides_by_capacity: bool,
}

/// Findings from one plan.
#[derive(Default)]
pub(super) struct Finding {
    warnings: Vec<Warning>,
    divides_by_capacity: bool,
}

impl Finding {
    /// Findings from the plan of a decision, and from the decision.
    pub(super) fn of_decision(decision: &Decision, binding: &Binding, profile: &Profile) -> Self {
        let mut finding = Self::of(&decision.plan, binding, profile);
        let skipped = decision.without.iter();
        finding
            .warnings
            .extend(skipped.map(|skipped| Warning::new(skipped.to_string())));
        finding
    }

    fn of(plan: &PlanResult, binding: &Binding, profile: &Profile) -> Self {
        let Ok(plan) = plan.as_ref() else {
            return Self::default();
        };
        let strategy = profile.strategy(&plan.strategy);
        let respects_capacity = strategy.is_ok_and(|strategy| strategy.respects_capacity());
        Self {
            warnings: plan.warnings.clone(),
            divides_by_capacity: binding.is_workload() && respects_capacity,
        }
    }
}

impl PlanFindings {
    /// Findings of bindings that are not decided, or not all at once.
    pub(in crate::command) fn of(bindings: &[Binding], scheduler: &Scheduler, profile: &Profile) -> Self {
        let scheduler = Mutex::new(scheduler.another().keeping_no_plans());
        let worker = || {
            // No thread panics while it holds the lock.
            let mut scheduler = scheduler.lock().unwrap_or_else(PoisonError::into_inner).another();
            move |binding: &Binding| Finding::of(&scheduler.plan(binding), binding, profile)
        };
        let (mut findings, mut indices) = (Self::default(), 0..);
        let Ok(()) = divvy_parallel::each(bindings, divvy_parallel::threads(), worker, |finding| {
            if let Some(index) = indices.next() {
                findings.add(index, finding);
            }
            Ok::<(), Infallible>(())
        });
        findings
    }

    pub(super) fn add(&mut self, index: usize, finding: Finding) {
        let warnings = finding.warnings.into_iter();
        self.warnings.extend(warnings.map(|warning| (index, warning)));
        self.divides_by_capacity |= finding.divides_by_capacity;
    }

    /// Sorts the warnings by the order of their bindings.
    pub(super) fn sort(&mut self) {
        self.warnings.sort_by_key(|(index, _)| *index);
    }
}

/// Prints warnings about the input, about clusters and about bindings. `names_missing` adds one about replicas on clusters
/// that the input lacks.
pub(in crate::command) fn report_warnings(
    manifests: &Manifests,
    detected: &mut Detected,
    names_missing: bool,
    findings: PlanFindings,
    console: &Console,
) {
    let mut more = clusters::warnings(manifests, &detected.bindings, findings.divides_by_capacity);
    if names_missing {
        more.extend(clusters::missing(manifests, &detected.bindings));
    }
    more.extend(moving::warnings(&detected.bindings));
    detected.warnings.extend(more);
    let of_plans = findings.warnings.into_iter();
    let of_plans: Vec<(&Binding, Warning)> = of_plans
        .filter_map(|(index, warning)| Some((detected.bindings.get(index)?, warning)))
        .collect();
    warnings::report(manifests, detected, &of_plans, console);
}
