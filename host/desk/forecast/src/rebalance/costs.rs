//! Plans by cost: with the prices of the profile's `[profile.cost]`, the fewest moves that come near the least cost.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_joint::{Choice, Demand, Fleet, Plan, Relaxation, Settings, moved_back};
use divvy_karmada::api::Cluster;
use divvy_scheduler::cost::{Cost, KnownCost, Pricing};
use divvy_scheduler::fleet::Footprint;

use super::bound::{STEPS, of_same};
use super::planning::{Accepted, Planner};
use super::room::{Model, running};
use super::standing::Standing;
use super::{RebalanceError, Share, by_entry};
use crate::cost::HourlyCost;
use crate::load::Load;
use crate::planned::CurveRow;
use crate::situation::{Assignment, Situation};

/// Prices of a move that are tried, in mean costs of a replica for an hour: the lower it is, the more moves and the lower the cost.
const PRICES: [f64; 7] = [10.0, 3.0, 1.0, 0.3, 0.1, 0.03, LEAST];
/// The least price. Without any, replicas would move for nothing.
const LEAST: f64 = 0.01;
/// The highest price.
const MOST: f64 = 100.0;
/// How often the interval of prices in which a cost is reached is halved.
const HALVINGS: usize = 8;
/// What a replica that is not placed costs a bound, in the highest costs of one that is.
const WORTH: f64 = 20.0;

/// The costs of a fleet.
pub(super) struct Costs<'a> {
    planner: &'a Planner<'a>,
    pricing: &'a Pricing,
    situation: &'a Situation,
    /// By entry, its choices with the cost of a replica on each.
    choices: Vec<Arc<[Choice]>>,
    /// Mean cost of a replica.
    mean: f64,
    /// The highest cost of a replica.
    highest: f64,
    /// What everything costs without a plan.
    now: f64,
}

/// A plan that was looked at, with its cost.
struct Candidate {
    accepted: Accepted,
    cost: f64,
}

impl<'a> Costs<'a> {
    /// Costs of everything that may be planned.
    ///
    /// # Errors
    ///
    /// A [`RebalanceError`] if the profile has no prices, or none for a cluster that some workload may use.
    pub(super) fn new(planner: &'a Planner<'a>, situation: &'a Situation) -> Result<Self, RebalanceError> {
        let pricing = planner.side.profile.pricing().ok_or(RebalanceError::NoPrices)?;
        let model = planner.model(&planner.standings);
        let mut costs = Self {
            planner,
            pricing,
            situation,
            choices: vec![Arc::from([]); planner.future.entries.len()],
            mean: 0.0,
            highest: 0.0,
            now: 0.0,
        };
        let mut lists: HashMap<(*const Choice, &[u64]), Arc<[Choice]>> = HashMap::new();
        let (mut sum, mut replicas) = (0.0, 0.0);
        for (entry, demand) in model.entries.iter().zip(&model.fleet.demands) {
            let key = (demand.choices.as_ptr(), demand.request.as_slice());
            let list = match lists.get(&key) {
                Some(list) => Arc::clone(list),
                None => costs.list(*entry, demand)?,
            };
            lists.insert(key, Arc::clone(&list));
            if !list.is_empty() {
                let all: f64 = list.iter().map(|choice| choice.cost).sum();
                sum += all / list.len() as f64 * demand.replicas as f64;
                replicas += demand.replicas as f64;
            }
            costs.highest = list.iter().map(|choice| choice.cost).fold(costs.highest, f64::max);
            costs.choices[*entry] = list;
        }
        costs.mean = if replicas > 0.0 { sum / replicas } else { 0.0 };
        costs.now = number_of(costs.of_fleet(None).known);
        Ok(costs)
    }

    /// The choices of a demand, with the cost of a replica on each.
    fn list(&self, entry: usize, demand: &Demand) -> Result<Arc<[Choice]>, RebalanceError> {
        let entry = &self.planner.future.entries[entry];
        let footprint = Footprint::new(&entry.binding.object.spec);
        let priced = demand.choices.iter().map(|choice| {
            let cluster = self.planner.future.fleet.name(choice.cluster);
            let object = self.object(cluster);
            let cost = self.pricing.cost_of_replicas(object, &footprint, 1);
            match cost.errors.first() {
                None => Ok(Choice {
                    cost: number_of(cost.known),
                    ..*choice
                }),
                Some(reason) => Err(RebalanceError::UnknownCost {
                    binding: entry.binding.key(),
                    cluster: cluster.to_owned(),
                    reason: reason.to_string(),
                }),
            }
        });
        priced.collect()
    }

    /// Unit of the prices.
    pub(super) fn unit(&self) -> &str {
        self.pricing.unit()
    }

    /// What everything costs under a plan, exactly.
    pub(super) fn of_fleet(&self, accepted: Option<&Accepted>) -> KnownCost {
        let future = self.planner.future;
        let changed = accepted
            .map(|accepted| by_entry(&accepted.model, &accepted.plan))
            .unwrap_or_default();
        let mut load = Load::new(self.planner.side.profile.pricing());
        for (index, entry) in future.entries.iter().enumerate() {
            match changed.get(&index) {
                None => load.add(&entry.binding, &entry.targets),
                Some(part) => {
                    let named = part.iter().map(|(row, replicas)| {
                        let replicas = i64::try_from(*replicas).unwrap_or(i64::MAX);
                        (future.fleet.name(*row).to_owned(), replicas)
                    });
                    load.add(&entry.binding, &named.collect::<Assignment>());
                }
            }
        }
        load.total_cost(&|name: &str| self.object(name)).unwrap_or_default()
    }

    /// A fleet in which replicas cost what their clusters do, and a move so many mean costs of a replica.
    fn priced(&self, model: &Model, price: f64) -> Fleet {
        let move_price = price * self.mean;
        let unit = move_price + self.highest;
        let demands = model
            .entries
            .iter()
            .zip(&model.fleet.demands)
            .map(|(entry, demand)| Demand {
                // The worth of a model counts moves: what is more urgent stays so.
                worth: demand.worth * unit,
                choices: Arc::clone(&self.choices[*entry]),
                ..demand.clone()
            });
        Fleet {
            demands: demands.collect(),
            room: model.fleet.room.clone(),
            move_price,
        }
    }

    /// What a plan of a model costs: what it changes, beside what everything costs now.
    fn of_plan(&self, model: &Model, plan: &Plan) -> f64 {
        let mut cost = self.now;
        for (number, (demand, placed)) in model.fleet.demands.iter().zip(&plan.placed).enumerate() {
            if *placed != demand.running {
                let choices = &self.choices[model.entries[number]];
                cost += of_list(choices, placed) - of_list(choices, &demand.running) - self.gone(model, number);
            }
        }
        cost
    }

    /// What replicas of a demand cost now that it neither keeps nor runs in a model: a plan places them anew.
    fn gone(&self, model: &Model, number: usize) -> f64 {
        let entry = &self.planner.future.entries[model.entries[number]];
        let (present, keeps) = (&model.fleet.demands[number].running, &model.keeps[number]);
        let is_in = |list: &[(u32, u64)], row: u32| list.iter().any(|(other, _)| *other == row);
        let all = running(entry, self.planner.future).into_iter();
        let gone: Vec<(u32, u64)> = all
            .filter(|(row, _)| !is_in(present, *row) && !is_in(keeps, *row))
            .collect();
        if gone.is_empty() {
            return 0.0;
        }
        let footprint = Footprint::new(&entry.binding.object.spec);
        let costs = gone.into_iter().map(|(row, replicas)| {
            let object = self.object(self.planner.future.fleet.name(row));
            let replicas = i64::try_from(replicas).unwrap_or(i64::MAX);
            number_of(self.pricing.cost_of_replicas(object, &footprint, replicas).known)
        });
        costs.sum()
    }

    fn object(&self, cluster: &str) -> Option<&'a Cluster> {
        self.situation.clusters.get(cluster).map(|entry| &entry.object)
    }

    /// A plan at a price of moves, accepted by all plugins. With a `limit` of the cost, moves are taken back up to it.
    fn plan(&self, standings: Vec<Standing>, price: f64, limit: Option<f64>) -> Option<Candidate> {
        let accepted = self.planner.accepted(standings, |model| {
            let fleet = self.priced(model, price);
            let plan = self.planner.whole(&fleet)?;
            match limit.map(|limit| limit - self.of_plan(model, &plan)) {
                Some(more) if more >= 0.0 => moved_back(&fleet, &plan, more).ok(),
                _ => Some(plan),
            }
        })?;
        let cost = self.of_plan(&accepted.model, &accepted.plan);
        Some(Candidate { accepted, cost })
    }

    /// The fewest moves whose cost is within a share of the least that was found, and that least cost. `first` is the plan of the fewest
    /// moves; every other one places as much.
    pub(super) fn within(&self, share: Share, first: Option<Accepted>) -> (Option<Accepted>, KnownCost) {
        let standings = first
            .as_ref()
            .map_or_else(|| self.planner.standings.clone(), |first| first.standings.clone());
        let placed = first.as_ref().map(Accepted::placed).unwrap_or_default();
        let first_cost = first
            .as_ref()
            .map_or(self.now, |first| self.of_plan(&first.model, &first.plan));
        let as_much = |candidate: &Candidate| candidate.accepted.placed() >= placed;
        let cheapest = self.plan(standings.clone(), LEAST, None).filter(as_much);
        let Some(cheapest) = cheapest.filter(|cheapest| cheapest.cost < first_cost) else {
            let least = self.of_fleet(first.as_ref());
            return (first, least);
        };
        let least = self.of_fleet(Some(&cheapest.accepted));
        let limit = cheapest.cost * (1.0 + share.part());
        if first_cost <= limit {
            return (first, least);
        }
        let is_within = |candidate: &Candidate| as_much(candidate) && candidate.cost <= limit;
        let mut best = cheapest;
        let better = |one: &Candidate, other: &Candidate| {
            let moves = one.accepted.moves().cmp(&other.accepted.moves());
            moves.then(one.cost.total_cmp(&other.cost)).is_lt()
        };
        let mut consider = |price: f64| -> bool {
            let found = self.plan(standings.clone(), price, Some(limit)).filter(is_within);
            let is_found = found.is_some();
            if let Some(found) = found.filter(|found| better(found, &best)) {
                best = found;
            }
            is_found
        };
        consider(LEAST);
        let (mut low, mut high) = (LEAST, MOST);
        if !consider(MOST) {
            for _ in 0..HALVINGS {
                let middle = (low * high).sqrt();
                match consider(middle) {
                    true => low = middle,
                    false => high = middle,
                }
            }
        }
        (Some(best.accepted), least)
    }

    /// What more moves save, for plans that place as much as the one of the fewest moves.
    pub(super) fn curve(&self, first: Option<&Accepted>) -> Vec<CurveRow> {
        let placed = first.map(Accepted::placed).unwrap_or_default();
        let standings = first.map_or(&self.planner.standings, |first| &first.standings);
        let plans = PRICES
            .into_iter()
            .filter_map(|price| self.plan(standings.clone(), price, None));
        let plans = plans.filter(|candidate| candidate.accepted.placed() >= placed);
        plans.map(|candidate| self.row(Some(&candidate.accepted))).collect()
    }

    /// A row of the curve with its cost.
    pub(super) fn row(&self, accepted: Option<&Accepted>) -> CurveRow {
        CurveRow {
            cost: Some(HourlyCost::from(self.of_fleet(accepted))),
            ..super::curve::row(accepted)
        }
    }

    /// What no plan can cost less than that places the same as this one; `None` if that is not known.
    pub(super) fn bound(&self, first: &Model, accepted: Option<&Accepted>) -> Option<f64> {
        let settings = Settings {
            steps: STEPS,
            gap: 1e-4,
            ..Settings::new(self.planner.options.threads)
        };
        let planned = accepted.map(|accepted| (&accepted.model, &accepted.plan));
        let mut fixed = self.now;
        let mut demands = Vec::new();
        for number in of_same(first, planned) {
            let (demand, entry) = (&first.fleet.demands[number], first.entries[number]);
            fixed -= of_list(&self.choices[entry], &demand.running) + self.gone(first, number);
            demands.push(Demand {
                worth: WORTH * self.highest.max(f64::MIN_POSITIVE),
                choices: Arc::clone(&self.choices[entry]),
                largest: None,
                clusters: None,
                ..demand.clone()
            });
        }
        let fleet = Fleet {
            demands,
            room: first.fleet.room.clone(),
            move_price: 0.0,
        };
        let solved = Relaxation::solve(&fleet, &settings).ok()?;
        Some(fixed + solved.bound.cost())
    }
}

/// What replicas cost on these choices.
fn of_list(choices: &[Choice], placed: &[(u32, u64)]) -> f64 {
    let cost = |row: u32| {
        let found = choices.binary_search_by_key(&row, |choice| choice.cluster);
        found.map_or(0.0, |position| choices[position].cost)
    };
    placed.iter().map(|(row, replicas)| cost(*row) * *replicas as f64).sum()
}

/// A cost as a number, which plans are made of. Documents have the exact one.
fn number_of(cost: Cost) -> f64 {
    format!("{cost:.9}").parse().unwrap_or(0.0)
}

/// A bound in the digits of a document, rounded down.
pub(super) fn rounded_down(bound: f64) -> String {
    let digits = 1e6;
    // The rounding of the sums that the bound is compared with is far below the last digit.
    format!("{:.6}", ((bound - 1e-9 * bound.abs()) * digits).floor() / digits)
}
