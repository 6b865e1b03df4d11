//! Bindings one after another, on trial.

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::cycle::{Cycle, Target};
use divvy_scheduler::decision::{Circumstances, Decision, Outcome};
use divvy_scheduler::fleet::{Footprint, Ledger};
use divvy_scheduler::placements::Peers;
use divvy_scheduler::plan::{Decidable, PlanResult};

use crate::{Alone, Burst};

/// The result of a binding after those whose results are in the ledger, which then has what it takes as well. The ledger of the burst is
/// not read.
pub fn decide_alone(
    burst: &Burst<'_>,
    (binding, plan): (&dyn Decidable, &PlanResult),
    (is_fresh, peers): (bool, Option<&Peers>),
    cycle: &mut Cycle,
    ledger: &mut Ledger,
) -> Alone {
    let circumstances = Circumstances {
        profile: burst.profile,
        fleet: burst.fleet,
        ledger: Some(ledger),
        estimates: None,
        fresh: is_fresh,
        time: burst.time,
        peers,
        detail: None,
        without: &[],
    };
    let mut targets: Vec<Target> = Vec::new();
    let decision = Decision::make(cycle, &mut targets, binding, plan, &circumstances);
    if let Outcome::Scheduled(_) = decision.outcome {
        let input = binding.input();
        let footprint = Footprint::from_input(&input);
        for target in &targets {
            let result = TargetCluster {
                name: burst.fleet.name(target.row).to_owned(),
                // The cycle divides at most the binding's replicas, which are 32 bits wide.
                replicas: i32::try_from(target.replicas).unwrap_or(i32::MAX),
                ..TargetCluster::default()
            };
            let growth = footprint.growth(&result, input.last);
            in_both(ledger, |ledger| footprint.book(ledger, target.row as usize, &growth));
        }
    }
    let rows = targets.iter().map(|target| (target.row, target.replicas));
    Alone::of(&decision.outcome, rows)
}

/// Changes a ledger, and what it keeps apart for clusters that are estimated by their models.
pub(crate) fn in_both(ledger: &mut Ledger, change: impl Fn(&mut Ledger)) {
    change(ledger);
    if let Some(by_models) = ledger.by_models_mut() {
        change(by_models);
    }
}
