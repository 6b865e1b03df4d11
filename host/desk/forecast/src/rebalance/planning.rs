//! Plans whose every part the plugins of its binding accept.

use std::collections::BTreeMap;

use divvy_joint::{Fleet, Former, Plan, Prices, Settings, place_waiting, plan_at_most, plan_whole, plan_whole_again};
use divvy_scheduler::profile::ConfiguredProfile;

use super::check::{self, Check};
use super::room::{Model, Surveyed, model, standings, survey};
use super::standing::{Standing, Stay};
use crate::future::{Future, Options};

/// Plans after which what plugins refuse is no longer planned without.
const ROUNDS: usize = 12;

/// A decided fleet, and what may be planned in it.
pub(super) struct Planner<'a> {
    pub(super) future: &'a Future,
    pub(super) side: &'a ConfiguredProfile,
    pub(super) options: Options,
    pub(super) surveyed: Vec<Surveyed>,
    /// What a plan may do with each entry before any plan is refused.
    pub(super) standings: Vec<Standing>,
}

/// A plan that all plugins accept.
#[derive(Clone)]
pub(super) struct Accepted {
    pub(super) model: Model,
    pub(super) plan: Plan,
    /// What each entry may do, with those that stay because their plugins refused a part.
    pub(super) standings: Vec<Standing>,
}

impl Accepted {
    /// Replicas that leave their cluster.
    pub(super) fn moves(&self) -> u64 {
        self.plan.moved.iter().sum()
    }

    /// Bindings that wait and are placed, by priority, the highest first.
    pub(super) fn placed(&self) -> Vec<(i64, usize)> {
        let mut counts: Vec<(i64, usize)> = Vec::new();
        let demands = self.model.fleet.demands.iter().zip(&self.model.waits);
        for ((demand, _), unplaced) in demands.zip(&self.plan.unplaced).filter(|((_, waits), _)| **waits) {
            let more = usize::from(*unplaced == 0);
            match counts.iter_mut().find(|(priority, _)| *priority == demand.priority) {
                Some((_, count)) => *count += more,
                None => counts.push((demand.priority, more)),
            }
        }
        counts.retain(|(_, count)| *count > 0);
        counts.sort_unstable_by(|left, right| right.cmp(left));
        counts
    }

    /// Bindings that wait and are placed, and their replicas.
    pub(super) fn gained(&self) -> (usize, u64) {
        let demands = self.model.fleet.demands.iter().zip(&self.model.waits);
        let demands = demands.zip(&self.plan.unplaced);
        let placed = demands.filter(|((_, waits), unplaced)| **waits && **unplaced == 0);
        placed.fold((0, 0), |(count, replicas), ((demand, _), _)| {
            (count + 1, replicas + demand.replicas)
        })
    }
}

/// A plan from which the next one is made.
struct Last {
    /// By entry, its replicas by cluster.
    placed: BTreeMap<usize, Vec<(u32, u64)>>,
    prices: Prices,
}

impl Last {
    fn new(model: &Model, plan: &Plan, prices: Prices) -> Self {
        let placed = model.entries.iter().copied().zip(plan.placed.iter().cloned());
        Self {
            placed: placed.collect(),
            prices,
        }
    }

    /// By demand of a model.
    fn placed_in(&self, model: &Model) -> Vec<Vec<(u32, u64)>> {
        let entries = model.entries.iter();
        entries
            .map(|entry| self.placed.get(entry).cloned().unwrap_or_default())
            .collect()
    }
}

impl<'a> Planner<'a> {
    pub(super) fn new(future: &'a Future, side: &'a ConfiguredProfile, options: Options) -> Self {
        let surveyed = survey(future, side, options);
        let standings = standings(future, &surveyed, side);
        Self {
            future,
            side,
            options,
            surveyed,
            standings,
        }
    }

    /// The fleet as a problem, with these standings.
    pub(super) fn model(&self, standings: &[Standing]) -> Model {
        model(self.future, standings, &self.surveyed)
    }

    /// A solved plan whose every part the plugins of its binding accept: what they refuse stays, and the rest is solved again. `None` if
    /// there is none after some rounds, or if the numbers of a manifest are beyond all that can be planned.
    pub(super) fn accepted(
        &self,
        mut standings: Vec<Standing>,
        mut solve: impl FnMut(&Model) -> Option<Plan>,
    ) -> Option<Accepted> {
        for _ in 0..ROUNDS {
            let model = self.model(&standings);
            let plan = solve(&model)?;
            let refused = self.refused(&model, &plan);
            if refused.is_empty() {
                return Some(Accepted { model, plan, standings });
            }
            for index in refused {
                standings[index] = Standing::Stays(Stay::Refused);
            }
        }
        None
    }

    /// The entries whose plugins decide otherwise than a plan.
    fn refused(&self, model: &Model, plan: &Plan) -> Vec<usize> {
        let is_changed = |number: &usize| plan.placed[*number] != model.fleet.demands[*number].running;
        let changed: Vec<usize> = (0..model.entries.len()).filter(is_changed).collect();
        let parts: Vec<Vec<(u32, u64)>> = changed
            .iter()
            .map(|number| model.part(*number, &plan.placed[*number]))
            .collect();
        let entries = changed
            .iter()
            .map(|number| &self.future.entries[model.entries[*number]]);
        let parts: Vec<check::Part<'_>> = entries.zip(parts.iter().map(Vec::as_slice)).collect();
        let mut check = Check::new(self.future, self.side, self.options, &parts);
        let verdicts: Vec<bool> = parts.iter().map(|part| check.accepts(*part)).collect();
        changed
            .iter()
            .zip(verdicts)
            .filter(|(_, accepted)| !accepted)
            .map(|(number, _)| model.entries[*number])
            .collect()
    }

    /// What waits, placed by chains of moves: nothing else changes.
    pub(super) fn repaired(&self) -> Option<Accepted> {
        self.accepted(self.standings.clone(), |model| place_waiting(&model.fleet, true).ok())
    }

    /// What waits, placed by the fewest moves of all plans. Once plugins have refused a part, the next plan is made from the last one.
    pub(super) fn fewest_moves(&self) -> Option<Accepted> {
        let mut last = None;
        self.accepted(self.standings.clone(), |model| {
            let (plan, prices) = self.whole_like(model, last.take())?;
            last = Some(Last::new(model, &plan, prices));
            Some(plan)
        })
    }

    /// A plan like the last one, as far as its fleet is like that.
    fn whole_like(&self, model: &Model, last: Option<Last>) -> Option<(Plan, Prices)> {
        let settings = Settings::new(self.options.threads);
        let again = last.and_then(|last| {
            let placed = last.placed_in(model);
            let former = Former {
                placed: &placed,
                prices: &last.prices,
            };
            // Prices of other resources are of no use.
            plan_whole_again(&model.fleet, former, &settings).ok()
        });
        if let Some(again) = again {
            return Some((again.plan, again.prices));
        }
        let (plan, relaxation) = plan_whole(&model.fleet, &settings).ok()?;
        Some((plan, relaxation.prices))
    }

    /// As much of what waits, the highest priority first, as so many moves can place. `unlimited` is the plan without a limit.
    pub(super) fn at_most(&self, unlimited: Option<&Accepted>, moves: u64) -> Option<Accepted> {
        let standings = unlimited.map_or(&self.standings, |unlimited| &unlimited.standings);
        self.accepted(standings.clone(), |model| {
            let known = unlimited.filter(|unlimited| unlimited.model.entries == model.entries);
            match known {
                Some(unlimited) => plan_at_most(&model.fleet, &unlimited.plan, moves).ok(),
                None => plan_at_most(&model.fleet, &self.whole(&model.fleet)?, moves).ok(),
            }
        })
    }

    /// The plan of least cost for a fleet.
    pub(super) fn whole(&self, fleet: &Fleet) -> Option<Plan> {
        let settings = Settings::new(self.options.threads);
        plan_whole(fleet, &settings).ok().map(|(plan, _)| plan)
    }
}
