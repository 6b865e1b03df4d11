//! Promises that a single result cannot show: other orders, the next cycle, spread constraints.

use std::collections::BTreeSet;
use std::sync::Arc;

use divvy_framework_abi::descriptor::feature;
use divvy_framework_arithmetic::random::Generator;
use divvy_karmada::api::{SpreadConstraint, SpreadField};
use divvy_karmada::policy::default_spread_constraint;
use divvy_scheduler::cycle::{Cycle, CycleError, CycleInput, GivenCandidate, Target};
use divvy_scheduler::plan::{AffinityGroup, Plan};
use divvy_scheduler::plugin::CallError;
use divvy_scheduler::profile::Profile;

use super::Check;
use crate::case::{Case, Situation};
use crate::subject::{Shown, Subject, features_of};

/// The checks of promises.
pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::per_case(
            "order",
            "as promised, the order of the candidates changes nothing",
            |subject| promises(subject, feature::ORDER_INDEPENDENT),
            order,
        ),
        Check::per_case(
            "inertia",
            "as promised, a division that is given its own result as the last one repeats it",
            |subject| promises(subject, feature::INERT),
            inertia,
        ),
        Check::per_case(
            "spread",
            "as promised, the candidates satisfy the spread constraints",
            Subject::enforces_spread,
            spread,
        ),
        Check::per_case(
            "no-candidates",
            "a division among no candidates does not panic",
            |subject| !subject.strategies().is_empty(),
            no_candidates,
        ),
    ]
}

fn promises(subject: &Subject, bit: u64) -> bool {
    subject.any_strategy(|strategy| features_of(strategy) & bit != 0)
}

/// A case with its plan, of which one group is decided.
struct Division {
    situation: Situation,
    plan: Plan,
    profile: Arc<Profile>,
}

impl Division {
    /// `None` for a case that is not divided by a strategy of the plugin with the feature `bit`, or that has tiers, whose
    /// quotas are the host's.
    fn of(subject: &Subject, case: &Case, bit: u64) -> Option<Self> {
        let situation = subject.read(case).ok()?;
        let plan = subject.plan(&situation)?;
        let profile = subject.profile();
        let strategy = profile.strategy(&plan.strategy).ok()?;
        let features = features_of(&strategy);
        let has_tiers = plan.groups.first().is_none_or(AffinityGroup::has_tiers);
        let is_meant =
            strategy.plugin().name() == subject.plugin() && features & bit == bit && !has_tiers && !plan.whole;
        is_meant.then_some(Self {
            situation,
            plan,
            profile,
        })
    }

    /// Evidence of a comparison of this division.
    fn shown(&self) -> Shown {
        Shown::Decision(self.plan.strategy.clone())
    }

    fn input<'a>(&'a self, plan: &'a Plan, fresh: bool) -> Option<CycleInput<'a>> {
        Some(CycleInput {
            fresh,
            time: Some(self.situation.time),
            peers: self.situation.peers.as_ref(),
            ..CycleInput::new(&self.profile, &self.situation.fleet, plan, plan.groups.first()?)
        })
    }

    /// The candidates of the case, and the division among them; `None` if there is none.
    fn first(&self, cycle: &mut Cycle) -> Option<(Vec<GivenCandidate>, Vec<Target>)> {
        let input = self.input(&self.plan, self.situation.binding.is_fresh())?;
        cycle.run(&input, None).ok()?;
        let candidates: Vec<GivenCandidate> = cycle.candidates().collect();
        let targets = cycle.divide_among(&input, &candidates).ok()?.to_vec();
        Some((candidates, targets))
    }

    fn described(&self, result: Result<&[Target], CycleError>) -> String {
        match result {
            Err(error) => format!("{}: {error}", error.kind()),
            Ok(targets) => {
                let parts = targets
                    .iter()
                    .take(12)
                    .map(|target| format!("{}={}", self.situation.fleet.name(target.row), target.replicas));
                parts.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

fn order(subject: &Subject, case: &Case) -> Result<Shown, String> {
    /// Orders that are tried per case, beside the reverse one.
    const ORDERS: u64 = 4;
    let Some(division) = Division::of(subject, case, feature::ORDER_INDEPENDENT) else {
        return Ok(Shown::Nothing);
    };
    let mut cycle = Cycle::new();
    let Some((candidates, expected)) = division.first(&mut cycle) else {
        return Ok(Shown::Nothing);
    };
    let Some(input) = division.input(&division.plan, division.situation.binding.is_fresh()) else {
        return Ok(Shown::Nothing);
    };
    let mut candidates = candidates;
    candidates.reverse();
    for turn in 0..=ORDERS {
        let result = cycle.divide_among(&input, &candidates);
        if !matches!(&result, Ok(targets) if **targets == *expected) {
            let names: Vec<&str> = candidates
                .iter()
                .take(12)
                .map(|candidate| division.situation.fleet.name(candidate.row))
                .collect();
            return Err(format!(
                "in one order: `{}`; in the order {}: `{}`",
                division.described(Ok(&expected)),
                names.join(", "),
                division.described(result)
            ));
        }
        Generator::new(turn, "conformance: order").shuffle(&mut candidates);
    }
    Ok(division.shown())
}

fn inertia(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Some(division) = Division::of(subject, case, feature::INERT) else {
        return Ok(Shown::Nothing);
    };
    let mut cycle = Cycle::new();
    let Some((mut candidates, expected)) = division.first(&mut cycle) else {
        return Ok(Shown::Nothing);
    };
    let fleet = &division.situation.fleet;
    let binding = &division.situation.binding;
    let replicas_of = |row: u32| {
        let target = expected.iter().find(|target| target.row == row);
        target.map_or(0, |target| target.replicas)
    };
    let last_of = |row: u32| {
        let known = binding.last().find(|(name, _)| *name == fleet.name(row));
        known.map_or(0, |(_, replicas)| replicas.max(0))
    };
    for candidate in &mut candidates {
        let room = candidate.fits_now.saturating_add(last_of(candidate.row));
        candidate.fits_now = room.saturating_sub(replicas_of(candidate.row)).max(0);
    }
    let mut settled = binding.clone();
    settled.object.spec.clusters = expected
        .iter()
        .map(|target| divvy_karmada::api::TargetCluster {
            name: fleet.name(target.row).to_owned(),
            replicas: i32::try_from(target.replicas).unwrap_or(i32::MAX),
            ..Default::default()
        })
        .collect();
    let plan = subject.scheduler().plan(&settled);
    let Ok(plan) = plan.as_ref() else {
        return Ok(Shown::Nothing);
    };
    let Some(input) = division.input(plan, false) else {
        return Ok(Shown::Nothing);
    };
    let result = cycle.divide_among(&input, &candidates);
    match &result {
        Ok(targets) if **targets == *expected => Ok(division.shown()),
        _ => Err(format!(
            "`{}` becomes `{}` with itself as the last result",
            division.described(Ok(&expected)),
            division.described(result)
        )),
    }
}

fn no_candidates(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Some(division) = Division::of(subject, case, 0) else {
        return Ok(Shown::Nothing);
    };
    let Some(input) = division.input(&division.plan, division.situation.binding.is_fresh()) else {
        return Ok(Shown::Nothing);
    };
    match Cycle::new().divide_among(&input, &[]) {
        Err(error @ CycleError::Plugin(CallError::Panic { .. })) => Err(error.to_string()),
        _ => Ok(division.shown()),
    }
}

fn spread(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let Some(plan) = subject.plan(&situation) else {
        return Ok(Shown::Nothing);
    };
    let profile = subject.profile();
    let ignores = profile
        .strategy(&plan.strategy)
        .is_ok_and(|strategy| plan.ignores_spread(strategy));
    let Some(placement) = situation.binding.object.spec.placement.as_deref() else {
        return Ok(Shown::Nothing);
    };
    if placement.spread_constraints.is_empty() || ignores {
        return Ok(Shown::Nothing);
    }
    let Some(group) = plan.groups.first() else {
        return Ok(Shown::Nothing);
    };
    let input = CycleInput {
        fresh: situation.binding.is_fresh(),
        time: Some(situation.time),
        peers: situation.peers.as_ref(),
        ..CycleInput::new(&profile, &situation.fleet, &plan, group)
    };
    let mut cycle = Cycle::new();
    let _result = cycle.run(&input, None);
    let names: Vec<&str> = cycle
        .candidates()
        .map(|candidate| situation.fleet.name(candidate.row))
        .collect();
    if names.is_empty() {
        return Ok(Shown::Nothing);
    }
    for constraint in placement.spread_constraints.iter().map(default_spread_constraint) {
        let groups = groups(&situation, &constraint, &names);
        let (minimum, maximum) = (constraint.min_groups.max(1), constraint.max_groups);
        let count = i64::try_from(groups).unwrap_or(i64::MAX);
        if count < minimum || (maximum > 0 && count > maximum) {
            return Err(format!(
                "the candidates {} have {count} groups by {}, expected {minimum} to {maximum}",
                names.join(", "),
                named(&constraint)
            ));
        }
    }
    Ok(Shown::Decision(plan.strategy.clone()))
}

fn named(constraint: &SpreadConstraint) -> String {
    match constraint.spread_by_label.as_str() {
        "" => constraint
            .spread_by_field
            .as_ref()
            .map_or("cluster", |field| field.as_str())
            .to_owned(),
        label => format!("label `{label}`"),
    }
}

/// Number of groups by a constraint among clusters. A cluster in several zones is in the group of each.
fn groups(situation: &Situation, constraint: &SpreadConstraint, names: &[&str]) -> usize {
    let clusters = situation
        .clusters
        .iter()
        .filter(|cluster| names.contains(&cluster.metadata.name.as_str()));
    let mut groups: BTreeSet<&str> = BTreeSet::new();
    for cluster in clusters {
        if !constraint.spread_by_label.is_empty() {
            groups.extend(
                cluster
                    .metadata
                    .labels
                    .get(&constraint.spread_by_label)
                    .map(|value| &**value),
            );
            continue;
        }
        match constraint.spread_by_field.as_ref().and_then(|field| field.known()) {
            Some(SpreadField::Region) => _ = groups.insert(&cluster.spec.region),
            Some(SpreadField::Provider) => _ = groups.insert(&cluster.spec.provider),
            Some(SpreadField::Zone) => groups.extend(cluster.spec.zones.iter().map(|zone| &**zone)),
            _ => _ = groups.insert(&cluster.metadata.name),
        }
    }
    groups.remove("");
    groups.len()
}
