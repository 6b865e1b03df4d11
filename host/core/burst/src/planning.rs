//! Plans whose every part the plugins of its binding accept.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use divvy_joint::{Fleet, Malformed, Plan, Settings, place_waiting, plan_whole};
use divvy_scheduler::cycle::{Cycle, Target};
use divvy_scheduler::decision::{Circumstances, Decision, Estimates, Outcome};
use divvy_scheduler::fleet::Ledger;

use crate::alone::in_both;
use crate::member::{Member, Placeable, placeable, sum};
use crate::model::model;
use crate::share::{Share, shares};
use crate::{Burst, GivenRoom};

/// Plans after which what plugins refuse is no longer planned without.
const ROUNDS: usize = 12;

/// Share of the least cost that prices are looked for.
const GAP: f64 = 0.002;

/// Replicas by row.
type Rows = Vec<(u32, u64)>;

/// A way to solve a fleet.
type Solve<'a> = &'a dyn Fn(&Fleet) -> Result<Plan, Malformed>;

/// A decision that is made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Position of the binding among the members.
    pub member: usize,
    /// The room with which it is decided; `None` if it is decided as ever, with what is free then.
    pub room: Option<GivenRoom>,
}

/// The outcome of a plan.
#[derive(Debug, Default)]
pub struct Jointly {
    /// The decisions to be made again, in this order. Empty if no plan places more than one after another does.
    pub changes: Vec<Change>,
    /// Capacity that is taken by everything that does not change.
    pub ledger: Ledger,
    /// What each member could have had, and gets; `None` if no plan may place it.
    pub shares: Vec<Option<Share>>,
    /// Members that wait if bindings are decided one after another, and that a plan may place.
    pub waiting: usize,
    /// Of these, the members that wait no more.
    pub placed: usize,
    /// Members that have all their replicas one after another, and wait so that others need not.
    pub giving_way: usize,
}

/// Parts of a plan that all plugins accept, and what the rest gets.
struct Accepted {
    changes: Vec<Change>,
    ledger: Ledger,
    /// By position among the placeable members, what those that are decided again get.
    parts: BTreeMap<usize, Part>,
}

/// What a member gets beyond what stays.
#[derive(Clone)]
struct Part {
    rows: Rows,
    /// Replicas, less those that leave their clusters.
    replicas: u64,
}

/// By priority, the highest first, how many replicas fewer are missing.
type Gain = Vec<i128>;

impl Burst<'_> {
    /// Plans for all members at once, which are given in the order in which they are decided one after another.
    pub fn plan(&self, members: &[Member<'_>]) -> Jointly {
        let placeable = placeable(self, members);
        let waiting: Vec<usize> = (0..placeable.len())
            .filter(|position| placeable[*position].missing() > 0)
            .collect();
        let best = match waiting.is_empty() {
            true => None,
            false => self.best(members, &placeable),
        };
        let parts = best.as_ref().map(|best| &best.parts);
        let part = |position: usize| parts.and_then(|parts| parts.get(&position));
        let growth: Vec<&Rows> = placeable
            .iter()
            .enumerate()
            .map(|(position, one)| part(position).map_or(&one.alone, |part| &part.rows))
            .collect();
        let is_whole = |position: usize| match part(position) {
            Some(part) => part.replicas == placeable[position].wanted,
            None => placeable[position].missing() == 0,
        };
        let gives_way = |position: &usize| placeable[*position].missing() == 0 && !is_whole(*position);
        Jointly {
            placed: waiting.iter().filter(|position| is_whole(**position)).count(),
            giving_way: (0..placeable.len()).filter(gives_way).count(),
            waiting: waiting.len(),
            shares: shares(self, members, &placeable, &growth),
            ledger: best
                .as_ref()
                .map_or_else(|| self.ledger.clone(), |best| best.ledger.clone()),
            changes: best.map(|best| best.changes).unwrap_or_default(),
        }
    }

    /// The plan that leaves fewest replicas out, by priority; `None` if that is one after another.
    fn best(&self, members: &[Member<'_>], placeable: &[Placeable]) -> Option<Accepted> {
        let settings = Settings {
            steps: self.steps,
            gap: GAP,
            threads: self.threads,
        };
        // The first two keep what has been placed, and change as little of it as possible. The others know nothing of it, and so may leave
        // lower priorities out for higher ones.
        let priced = |fleet: &Fleet| plan_whole(fleet, &settings).map(|(plan, _)| plan);
        let chained = |fleet: &Fleet| place_waiting(fleet, true);
        let ways: [Solve<'_>; 4] = [&priced, &chained, &|fleet| priced(&afresh(fleet)), &|fleet| {
            chained(&afresh(fleet))
        }];
        let mut best: Option<(Gain, Accepted)> = None;
        for solve in ways {
            let Some(accepted) = self.accepted(members, placeable, solve) else {
                continue;
            };
            let gain = gain(placeable, &accepted.parts);
            let is_best = best.as_ref().map_or(is_more(&gain), |(other, _)| gain > *other);
            if is_best {
                best = Some((gain, accepted));
            }
            if best
                .as_ref()
                .is_some_and(|(_, best)| leaves_none(placeable, &best.parts))
            {
                break;
            }
        }
        best.map(|(_, accepted)| accepted)
    }

    /// A solved plan whose every part its plugins accept: what they refuse is left out, and the rest is solved again. `None` if there is
    /// none after some rounds, or if numbers are beyond all that can be planned.
    fn accepted(&self, members: &[Member<'_>], placeable: &[Placeable], solve: Solve<'_>) -> Option<Accepted> {
        let mut refused = BTreeSet::new();
        for _ in 0..ROUNDS {
            let open: Vec<usize> = (0..placeable.len())
                .filter(|position| !refused.contains(position))
                .collect();
            let planned: Vec<&Placeable> = open.iter().map(|position| &placeable[*position]).collect();
            let plan = solve(&model(self, &planned)).ok()?;
            let changed = open.into_iter().zip(plan.placed);
            let changed = changed.filter(|(position, rows)| *rows != placeable[*position].alone);
            match self.decide(members, placeable, changed.collect()) {
                Ok(accepted) => return Some(accepted),
                Err(more) => refused.extend(more),
            }
        }
        None
    }

    /// Decides the parts of a plan that change, by position, and then what it leaves out.
    ///
    /// # Errors
    ///
    /// The positions of the members whose plugins decide otherwise than the plan.
    fn decide(
        &self,
        members: &[Member<'_>],
        placeable: &[Placeable],
        changed: BTreeMap<usize, Rows>,
    ) -> Result<Accepted, Vec<usize>> {
        let is_whole = |position: usize, rows: &Rows| sum(rows) == placeable[position].wanted;
        // What gives way to a higher priority, and what waits as before, gets what is left.
        let is_given = |position: &usize| changed.get(position).is_some_and(|rows| is_whole(*position, rows));
        let is_left = |position: &usize| {
            !is_given(position) && (changed.contains_key(position) || placeable[*position].missing() > 0)
        };
        let given: Vec<usize> = (0..placeable.len()).filter(is_given).collect();
        let left: Vec<usize> = (0..placeable.len()).filter(is_left).collect();
        let mut ledger = self.ledger.clone();
        for position in given.iter().chain(&left) {
            release(&mut ledger, &placeable[*position]);
        }
        let mut accepted = Accepted {
            ledger: ledger.clone(),
            changes: Vec::new(),
            parts: BTreeMap::new(),
        };
        let mut deciding = Deciding {
            burst: self,
            cycle: Cycle::new(),
            ledger,
        };
        let mut refused = Vec::new();
        for position in given {
            let (one, rows) = (&placeable[position], &changed[&position]);
            let room = GivenRoom::new(rows, self.fleet);
            let part = deciding.part(&members[one.number], one, Some(&room));
            match part.filter(|part| part.rows == *rows && part.replicas == one.wanted) {
                Some(part) => accepted.add(one.number, position, Some(room), part),
                None => refused.push(position),
            }
        }
        if !refused.is_empty() {
            return Err(refused);
        }
        for position in left {
            let one = &placeable[position];
            let part = deciding.part(&members[one.number], one, None);
            let part = part.unwrap_or(Part {
                rows: Rows::new(),
                replicas: 0,
            });
            accepted.add(one.number, position, None, part);
        }
        Ok(accepted)
    }
}

impl Accepted {
    fn add(&mut self, member: usize, position: usize, room: Option<GivenRoom>, part: Part) {
        self.changes.push(Change { member, room });
        self.parts.insert(position, part);
    }
}

/// Decisions one after another, each with what those before it take.
struct Deciding<'a> {
    burst: &'a Burst<'a>,
    cycle: Cycle,
    ledger: Ledger,
}

impl Deciding<'_> {
    /// What a member gets, with this room or with what is free, and takes. `None` if it is not scheduled.
    fn part(&mut self, member: &Member<'_>, one: &Placeable, room: Option<&GivenRoom>) -> Option<Part> {
        let circumstances = Circumstances {
            profile: self.burst.profile,
            fleet: self.burst.fleet,
            ledger: Some(&self.ledger),
            estimates: room.map(|room| room as &dyn Estimates),
            fresh: false,
            time: self.burst.time,
            peers: None,
            detail: None,
            without: &[],
        };
        let mut targets: Vec<Target> = Vec::new();
        let decision = Decision::make(
            &mut self.cycle,
            &mut targets,
            member.binding,
            &member.plan,
            &circumstances,
        );
        if !matches!(decision.outcome, Outcome::Scheduled(_)) {
            return None;
        }
        let kept: BTreeMap<u32, u64> = one.kept.iter().copied().collect();
        let placed = targets
            .iter()
            .map(|target| (target.row, u64::try_from(target.replicas).unwrap_or(0)));
        let growth = |(row, replicas): (u32, u64)| {
            let more = replicas.saturating_sub(kept.get(&row).copied().unwrap_or(0));
            (more > 0).then_some((row, more))
        };
        let rows: Rows = placed.clone().filter_map(growth).collect();
        for (row, replicas) in &rows {
            let replicas = i64::try_from(*replicas).unwrap_or(i64::MAX);
            in_both(&mut self.ledger, |ledger| {
                ledger.book(*row as usize, replicas, one.requests())
            });
        }
        let all: u64 = placed.map(|(_, replicas)| replicas).sum();
        Some(Part {
            rows,
            replicas: all.saturating_sub(sum(&one.kept)),
        })
    }
}

/// Gives back what a member takes one after another.
pub(crate) fn release(ledger: &mut Ledger, one: &Placeable) {
    for (row, replicas) in &one.alone {
        let replicas = i64::try_from(*replicas).unwrap_or(i64::MAX);
        in_both(ledger, |ledger| ledger.release(*row as usize, replicas, one.requests()));
    }
}

/// The same fleet, of which nothing is placed yet.
fn afresh(fleet: &Fleet) -> Fleet {
    let mut fleet = fleet.clone();
    fleet.demands.iter_mut().for_each(|demand| demand.running.clear());
    fleet
}

/// True if nothing waits.
fn leaves_none(placeable: &[Placeable], parts: &BTreeMap<usize, Part>) -> bool {
    let mut numbered = placeable.iter().enumerate();
    numbered.all(|(position, one)| match parts.get(&position) {
        Some(part) => part.replicas == one.wanted,
        None => one.missing() == 0,
    })
}

/// What a plan gains over one after another.
fn gain(placeable: &[Placeable], parts: &BTreeMap<usize, Part>) -> Gain {
    let mut gain: BTreeMap<Reverse<i32>, i128> = placeable.iter().map(|one| (Reverse(one.priority), 0)).collect();
    for (position, part) in parts {
        let one = &placeable[*position];
        *gain.entry(Reverse(one.priority)).or_insert(0) += i128::from(part.replicas) - i128::from(sum(&one.alone));
    }
    gain.into_values().collect()
}

/// True if fewer replicas are missing at the highest priority at which anything differs.
fn is_more(gain: &Gain) -> bool {
    gain.iter().find(|more| **more != 0).is_some_and(|more| *more > 0)
}
