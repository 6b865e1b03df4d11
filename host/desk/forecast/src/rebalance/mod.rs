//! The fewest moves that place everything that waits, and a bound that says how many there must be.
//!
//! A live scheduler decides one binding after another, so what came first keeps room that only later ones could use. Here, all bindings that
//! run or wait are one problem ([`divvy_joint`]). Whatever the plan changes is decided by the binding's own plugins, as if it had exactly
//! the room that the plan gives it; what these refuse stays as it is, and the rest is planned again.
//!
//! The bound counts parts of replicas and knows neither limits of spread constraints nor a plugin's rules beside its filters. Both could only
//! make it higher, so it holds for every plan.

mod bound;
mod check;
mod costs;
mod could;
mod curve;
pub mod document;
mod planning;
mod room;
mod standing;

use std::collections::BTreeMap;

use divvy_joint::Plan;
use divvy_scheduler::profile::ConfiguredProfile;

use crate::future::{Entry, Future, Options};
use crate::planned::{MoveRow, MovedCluster, PlanCosts, RebalanceTotals, Rebalanced, StayRow, WaitingRow};
use crate::situation::Situation;
use bound::bound;
use costs::Costs;
pub use could::{could_be_tried, could_place};
use planning::{Accepted, Planner};
use room::{Model, running};
use standing::{Standing, waits};

/// Why a binding waits for which there is room in some plans, as far as is known.
const NO_PLAN: &str = "no plan was found that places it whole";

/// Why a binding waits that a plan with more moves places.
const BEYOND: &str = "the moves that are allowed do not place it";

/// What is planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// All that waits, by the fewest moves.
    Place,
    /// As much of what waits, the highest priority first, as so many moves can place.
    AtMost(u64),
    /// All that waits, and a cost within this share of the least, by the fewest moves.
    Within(Share),
}

/// A plan that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// What is planned for.
    pub goal: Goal,
    /// True for the curve of moves against what they gain.
    pub has_curve: bool,
    /// The clusters as objects, which prices are for.
    pub situation: &'a Situation,
}

/// A share of a cost, in hundredths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share(pub u32);

impl Share {
    fn part(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }
}

impl std::str::FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty();
        let parse = || {
            let (whole, part) = match text.strip_suffix('%')?.split_once('.') {
                Some((whole, part)) if digits(part) && part.len() <= 2 => (whole, format!("{part:0<2}")),
                Some(_) => return None,
                None => (text.strip_suffix('%')?, "00".to_owned()),
            };
            let whole: u32 = digits(whole).then(|| whole.parse().ok()).flatten()?;
            whole.checked_mul(100)?.checked_add(part.parse().ok()?)
        };
        let share = parse().ok_or_else(|| "expected a share such as `2%` or `0.5%`".to_owned())?;
        Ok(Self(share))
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.0 / 100, self.0 % 100) {
            (whole, 0) => write!(formatter, "{whole}%"),
            (whole, part) if part % 10 == 0 => write!(formatter, "{whole}.{}%", part / 10),
            (whole, part) => write!(formatter, "{whole}.{part:02}%"),
        }
    }
}

/// Why nothing can be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebalanceError {
    /// Costs are asked for, and the profile has no prices.
    #[error("the profile has no prices, so that no cost can be planned for")]
    NoPrices,
    /// A price is missing.
    #[error("what a replica of `{binding}` costs on cluster `{cluster}` is not known: {reason}")]
    UnknownCost {
        /// Key of the binding.
        binding: String,
        /// Name of the cluster.
        cluster: String,
        /// Which price is missing.
        reason: String,
    },
}

impl RebalanceError {
    /// What helps.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoPrices => "add `[profile.cost]` with a table of prices to the profile",
            Self::UnknownCost { .. } => "add the price to the table of `[profile.cost]`",
        }
    }
}

/// Plans for everything at once.
///
/// # Errors
///
/// A [`RebalanceError`] if a cost is asked for that is not known.
pub fn rebalance(
    future: &Future,
    side: &ConfiguredProfile,
    options: Options,
    wish: Wish<'_>,
) -> Result<Rebalanced, RebalanceError> {
    let planner = Planner::new(future, side, options);
    let first = planner.model(&planner.standings);
    // Where a goal does not need prices, a missing one leaves costs out.
    let costs = match (Costs::new(&planner, wish.situation), wish.goal) {
        (Ok(costs), _) => Some(costs),
        (Err(error), Goal::Within(_)) => return Err(error),
        (Err(_), _) => None,
    };
    let is_waiting = first.waits.contains(&true);
    let unlimited = is_waiting.then(|| planner.fewest_moves()).flatten();
    let (mut least, mut at_most, mut within) = (None, None, None);
    let curve = wish.has_curve.then(|| {
        let plans = unlimited.clone().map(|unlimited| curve::limited(&planner, unlimited));
        let plans: Vec<Option<Accepted>> = std::iter::once(None).chain(plans.unwrap_or_default()).collect();
        let row = |plan: &Option<Accepted>| match &costs {
            Some(costs) => costs.row(plan.as_ref()),
            None => curve::row(plan.as_ref()),
        };
        let cheaper = costs.iter().flat_map(|costs| costs.curve(unlimited.as_ref()));
        curve::sorted(plans.iter().map(row).chain(cheaper).collect())
    });
    let beyond: Vec<usize> = unlimited.as_ref().map(placed_entries).unwrap_or_default();
    let accepted = match (wish.goal, &costs) {
        (Goal::AtMost(most), _) => {
            at_most = Some(most);
            match unlimited {
                Some(unlimited) if unlimited.moves() <= most => Some(unlimited),
                unlimited => planner.at_most(unlimited.as_ref(), most),
            }
        }
        (Goal::Within(share), Some(costs)) => {
            within = Some(share.to_string());
            let (accepted, cost) = costs.within(share, unlimited);
            least = Some(cost.into());
            accepted
        }
        _ => unlimited,
    };
    let planned = accepted.as_ref().map(|accepted| (&accepted.model, &accepted.plan));
    let has_least = least.is_some();
    let mut rebalanced = Rebalanced {
        bound: bound(&first, future, options, planned.filter(|_| !has_least)),
        at_most,
        cost: costs.as_ref().map(|costs| PlanCosts {
            unit: costs.unit().to_owned(),
            now: costs.of_fleet(None).into(),
            planned: costs.of_fleet(accepted.as_ref()).into(),
            within,
            least,
            bound: has_least
                .then(|| costs.bound(&first, accepted.as_ref()))
                .flatten()
                .map(costs::rounded_down),
        }),
        curve,
        ..Rebalanced::default()
    };
    if has_least {
        rebalanced.bound.moves = None;
    }
    rebalanced.fill(&planner, accepted.as_ref(), &beyond);
    Ok(rebalanced)
}

/// Places what waits in a future by moving others, each in a chain of at most two moves. Nothing else changes.
pub fn place_pending(future: &Future, side: &ConfiguredProfile, options: Options) -> Rebalanced {
    let planner = Planner::new(future, side, options);
    let first = planner.model(&planner.standings);
    let accepted = first.waits.contains(&true).then(|| planner.repaired()).flatten();
    let planned = accepted.as_ref().map(|accepted| (&accepted.model, &accepted.plan));
    let mut rebalanced = Rebalanced {
        bound: bound(&first, future, options, planned),
        ..Rebalanced::default()
    };
    rebalanced.fill(&planner, accepted.as_ref(), &[]);
    rebalanced
}

/// The entries that wait and that a plan places.
fn placed_entries(accepted: &Accepted) -> Vec<usize> {
    let waits = accepted.model.waits.iter().zip(&accepted.plan.unplaced);
    let placed = accepted.model.entries.iter().zip(waits);
    placed
        .filter(|(_, (waits, unplaced))| **waits && **unplaced == 0)
        .map(|(entry, _)| *entry)
        .collect()
}

/// What each entry has under a plan, as far as that is another number of replicas somewhere.
fn by_entry(model: &Model, plan: &Plan) -> BTreeMap<usize, Vec<(u32, u64)>> {
    let placed = plan.placed.iter().zip(&model.fleet.demands).enumerate();
    let changed = placed.filter(|(_, (placed, demand))| **placed != demand.running);
    changed
        .map(|(number, (placed, _))| (model.entries[number], model.part(number, placed)))
        .collect()
}

impl Rebalanced {
    /// Lists some bindings alone, by key and kind. The sums are those of all.
    pub fn retain(&mut self, is_shown: impl Fn(&str, &str) -> bool) {
        self.waiting.retain(|row| is_shown(&row.binding, &row.kind));
        self.moves.retain(|row| is_shown(&row.binding, &row.kind));
    }

    /// Adds the rows of all entries, and their sums. `beyond` are those that only a plan with more moves places.
    fn fill(&mut self, planner: &Planner<'_>, accepted: Option<&Accepted>, beyond: &[usize]) {
        let standings = accepted.map_or(&planner.standings, |accepted| &accepted.standings);
        let placed = accepted
            .map(|accepted| by_entry(&accepted.model, &accepted.plan))
            .unwrap_or_default();
        for (index, (entry, standing)) in planner.future.entries.iter().zip(standings).enumerate() {
            let part = placed.get(&index).map(Vec::as_slice);
            let strategy = &planner.surveyed[index].strategy;
            let reason = match beyond.binary_search(&index) {
                Ok(_) => BEYOND,
                Err(_) => NO_PLAN,
            };
            self.add(entry, (strategy, *standing, reason), part, planner.future);
        }
        self.name_the_hopeless();
        self.totals.count(&self.waiting, &self.moves);
    }

    /// Says of bindings that no plan can place that this is so.
    fn name_the_hopeless(&mut self) {
        let alone = &self.bound.alone;
        for row in self.waiting.iter_mut().filter(|row| row.reason == NO_PLAN) {
            if alone
                .iter()
                .any(|other| (&other.binding, &other.kind) == (&row.binding, &row.kind))
            {
                row.reason = "there is no room for all of it in any plan".to_owned();
            }
        }
    }

    fn add(
        &mut self,
        entry: &Entry,
        (strategy, standing, otherwise): (&str, Standing, &str),
        part: Option<&[(u32, u64)]>,
        future: &Future,
    ) {
        let before = running(entry, future);
        let after = part.unwrap_or(&before);
        let placed: u64 = after.iter().map(|(_, replicas)| replicas).sum();
        let missing = entry
            .binding
            .replicas()
            .saturating_sub(i64::try_from(placed).unwrap_or(i64::MAX))
            .max(0);
        let kind = || entry.binding.object.scope().kind().to_owned();
        if waits(entry) {
            let was_placed: u64 = before.iter().map(|(_, replicas)| replicas).sum();
            let was_missing = entry
                .binding
                .replicas()
                .saturating_sub(i64::try_from(was_placed).unwrap_or(i64::MAX))
                .max(0);
            self.waiting.push(WaitingRow {
                binding: entry.binding.key(),
                kind: kind(),
                generation: entry.binding.object.metadata.generation,
                strategy: strategy.to_owned(),
                priority: entry.binding.priority(),
                replicas: entry.binding.replicas(),
                missing: was_missing,
                is_placed: missing == 0 && after != before,
                clusters: if after == before {
                    Vec::new()
                } else {
                    clusters(&before, after, future)
                },
                reason: match standing {
                    Standing::Stays(stay) => stay.text().to_owned(),
                    _ if missing == 0 && after != before => String::new(),
                    _ => otherwise.to_owned(),
                },
            });
        } else if after != before {
            let left = |(row, replicas): &(u32, u64)| {
                let now = after.iter().find(|(other, _)| other == row).map_or(0, |(_, now)| *now);
                replicas.saturating_sub(now)
            };
            self.moves.push(MoveRow {
                binding: entry.binding.key(),
                kind: kind(),
                generation: entry.binding.object.metadata.generation,
                strategy: strategy.to_owned(),
                replicas: entry.binding.replicas(),
                moved: i64::try_from(before.iter().map(left).sum::<u64>()).unwrap_or(i64::MAX),
                clusters: clusters(&before, after, future),
            });
        }
        if let (Standing::Stays(stay), false) = (standing, waits(entry)) {
            let reason = stay.text();
            match self.stays.iter_mut().find(|row| row.reason == reason) {
                Some(row) => row.bindings += 1,
                None => self.stays.push(StayRow {
                    reason: reason.to_owned(),
                    bindings: 1,
                }),
            }
        }
    }
}

/// The clusters in which a binding has another number of replicas.
fn clusters(before: &[(u32, u64)], after: &[(u32, u64)], future: &Future) -> Vec<MovedCluster> {
    let mut both: BTreeMap<u32, (u64, u64)> = before.iter().map(|(row, replicas)| (*row, (*replicas, 0))).collect();
    for (row, replicas) in after {
        both.entry(*row).or_insert((0, 0)).1 = *replicas;
    }
    let count = |replicas: u64| i64::try_from(replicas).unwrap_or(i64::MAX);
    let changed = both.into_iter().filter(|(_, (before, after))| before != after);
    changed
        .map(|(row, (before, after))| MovedCluster {
            name: future.fleet.name(row).to_owned(),
            before: count(before),
            after: count(after),
        })
        .collect()
}

impl RebalanceTotals {
    fn count(&mut self, waiting: &[WaitingRow], moves: &[MoveRow]) {
        self.waiting = waiting.len();
        self.placed = waiting.iter().filter(|row| row.is_placed).count();
        self.missing = waiting.iter().map(|row| row.missing).sum();
        self.moved = moves.iter().map(|row| row.moved).sum();
        self.moved_bindings = moves.len();
    }
}
