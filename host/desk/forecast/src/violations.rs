//! Replicas on clusters whose filters would refuse a newcomer today.
//!
//! Filters such as those for taints and APIs let a binding keep its clusters, so a fleet can have replicas on clusters that a
//! new decision would not choose. Each assignment is filtered as if the binding had none.

use std::sync::Arc;

use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::decision::Scheduler;
use divvy_scheduler::placements::Placements;
use divvy_scheduler::profile::ConfiguredProfile;

use crate::document::{ViolationRow, Violations};
use crate::future::{Future, Options, Prepared, prepare, prepare_one};
use crate::situation::Situation;

/// Finds the violations of a situation. If `lists` is true, the result has the pairs, not only their number.
///
/// # Errors
///
/// A [`CycleError`] if a filter fails.
pub fn violations(
    situation: &Situation,
    future: &Future,
    side: &ConfiguredProfile,
    options: Options,
    lists: bool,
) -> Result<Violations, CycleError> {
    let needs_placements = side.profile.needs_placements();
    let placements = needs_placements.then(|| {
        let prepared = prepare(situation, side, options, &[]);
        Arc::new(Placements::of(prepared.iter().map(|prepared| &*prepared.binding)))
    });
    let found = divvy_parallel::map(&situation.bindings, options.threads, || {
        let scheduler = Scheduler::new(Arc::clone(&side.profile)).keeping_no_plans();
        let mut scheduler = scheduler.deciding_at(options.time).knowing(placements.clone());
        move |binding: &Arc<Binding>| {
            // Prepared one at a time, because all of them together would be another copy of the input.
            let prepared = prepare_one(binding, None, situation, side, options.time);
            binding_violations(&prepared, future, &mut scheduler)
        }
    });
    let mut violations = Violations::default();
    let mut rows = Vec::new();
    for of_binding in found {
        for row in of_binding? {
            violations.count += 1;
            violations.replicas += row.replicas;
            rows.push(row);
        }
    }
    violations.list = lists.then_some(rows);
    Ok(violations)
}

fn binding_violations(
    prepared: &Prepared,
    future: &Future,
    scheduler: &mut Scheduler,
) -> Result<Vec<ViolationRow>, CycleError> {
    let assigned = &prepared.assigned;
    if prepared.skipped.is_some() || assigned.is_empty() {
        return Ok(Vec::new());
    }
    let mut newcomer = Binding::clone(&prepared.binding);
    newcomer.object.spec.clusters.clear();
    if scheduler.plan(&newcomer).is_err() {
        return Ok(Vec::new());
    }
    let mut feasible = scheduler.feasible(&newcomer, &future.fleet)?;
    // Already sorted if the snapshot is.
    feasible.sort_unstable();
    let refused = assigned
        .iter()
        .filter(|(cluster, _)| feasible.binary_search(&cluster.as_str()).is_err());
    let rows = refused.map(|(cluster, replicas)| ViolationRow {
        binding: newcomer.key(),
        cluster: cluster.clone(),
        replicas: *replicas,
    });
    Ok(rows.collect())
}
