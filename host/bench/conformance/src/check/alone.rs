//! The promise that each cluster is judged alone: clusters are taken away, and the result for the others must stay.
//!
//! Filters are compared on every case. Selectors, scores and strategies are compared where the promise counts: under a strategy
//! that duplicates, without spread constraints in force and without tiers.

use std::collections::BTreeSet;

use divvy_framework_abi::descriptor::feature;
use divvy_framework_abi::sized::kind;
use divvy_scheduler::cycle::{ClusterExplanation, Cycle, CycleError, CycleInput, Explanation};
use divvy_scheduler::fleet::{FleetSnapshot, Ledger};
use divvy_scheduler::plan::{Plan, PlanInput};
use divvy_scheduler::plugin::CallError;
use divvy_scheduler::profile::Profile;

use super::Check;
use crate::case::{Case, Situation, fleet_of};
use crate::subject::{Shown, Subject, features_of};

/// The check of the promise.
pub(super) fn check() -> Check {
    Check::per_case(
        "each-alone",
        "as promised, clusters that are taken away change nothing for the others",
        |subject| subject.promises_anywhere(feature::EACH_ALONE),
        each_alone,
    )
}

/// Sets of clusters that are taken away per case.
const LOSSES: usize = 6;

/// Verdict of the plugin under test on a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The plugin let it pass.
    Taken,
    /// The plugin rejected it or left it out.
    Refused,
    /// The plugin did not see it, or it cannot be known.
    Unknown,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Taken => "takes",
            Self::Refused => "refuses",
            Self::Unknown => "does not see",
        }
    }
}

/// Reads the verdict on a cluster from its explanation.
type Judge = fn(&Subject, &ClusterExplanation) -> Verdict;

/// A cycle that was run.
struct Ran {
    error: Option<CycleError>,
    explanation: Explanation,
}

fn each_alone(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let Some(plan) = subject.plan(&situation) else {
        return Ok(Shown::Nothing);
    };
    let asked = compare(subject, &situation, &subject.profile(), &plan)?;
    // The promise counts most under a strategy that duplicates, so the case is decided by one as well.
    let Some(strategy) = duplicating(subject) else {
        return Ok(asked);
    };
    let profile = Profile::clone(&subject.profile()).overriding_strategy(Some(strategy));
    let Ok(plan) = Plan::under(&profile, &PlanInput::new(&situation.binding)) else {
        return Ok(asked);
    };
    let duplicated = compare(subject, &situation, &profile, &plan)?;
    Ok(match asked {
        Shown::Nothing => duplicated,
        shown @ Shown::Decision(_) => shown,
    })
}

/// A strategy of the profile that duplicates; one of the plugin under test must promise that it judges each cluster alone.
fn duplicating(subject: &Subject) -> Option<String> {
    let profile = subject.profile();
    let mut strategies: Vec<_> = profile.strategies().filter(|strategy| strategy.duplicates()).collect();
    // The plugin's own first.
    strategies.sort_by_key(|strategy| strategy.plugin().name() != subject.plugin());
    let mut strategies = strategies.into_iter().filter(|strategy| {
        strategy.plugin().name() != subject.plugin() || features_of(strategy) & feature::EACH_ALONE != 0
    });
    strategies.next().map(|strategy| strategy.name().to_owned())
}

/// Compares the cycle with cycles without some clusters. It shows something if both have a result.
fn compare(subject: &Subject, situation: &Situation, profile: &Profile, plan: &Plan) -> Result<Shown, String> {
    let run = |fleet: &FleetSnapshot, ledger: &Ledger| {
        let input = CycleInput {
            fresh: situation.binding.is_fresh(),
            time: Some(situation.time),
            peers: situation.peers.as_ref(),
            ..CycleInput::new(profile, fleet, plan, plan.groups.first()?)
        };
        let mut cycle = Cycle::new();
        let (result, explanation) = cycle.run_explained(&input, Some(ledger));
        Some(Ran {
            error: result.err(),
            explanation,
        })
    };
    let Some(before) = run(&situation.fleet, &Ledger::default()) else {
        return Ok(Shown::Nothing);
    };
    let mut shown = Shown::Nothing;
    let counts_after_filters = before.error.is_none() && counts_after_filters(profile, plan);
    for (number, taken) in losses(situation).into_iter().enumerate() {
        let left = situation.clusters.iter();
        let left: Vec<_> = left
            .filter(|cluster| !taken.contains(cluster.metadata.name.as_str()))
            .cloned()
            .collect();
        let fleet = fleet_of(&left, &subject.profile());
        // Half of the time, the others have no room left.
        let mut ledger = Ledger::default();
        if number % 2 == 1 {
            (0..left.len()).for_each(|row| ledger.book(row, i64::MAX, []));
        }
        let Some(after) = run(&fleet, &ledger) else { continue };
        if before.error.is_none() && after.error.is_none() {
            shown = Shown::Decision(plan.strategy.clone());
        }
        let names: Vec<&str> = taken.iter().copied().take(12).collect();
        let without = names.join(", ");
        for cluster in &after.explanation.clusters {
            let known = &before.explanation.clusters;
            let Some(known) = known.iter().find(|known| known.name == cluster.name) else {
                continue;
            };
            let verdicts: [(u32, &str, Judge); 2] =
                [(kind::FILTER, "Filter", filtered), (kind::SELECT, "Select", selected)];
            for (point, name, verdict) in verdicts {
                let counts = point == kind::FILTER || counts_after_filters && after.error.is_none();
                let (was, is) = (verdict(subject, known), verdict(subject, cluster));
                let differs = was != is && was != Verdict::Unknown && is != Verdict::Unknown;
                if counts && differs && subject.promises_at(point, feature::EACH_ALONE) {
                    return Err(format!(
                        "{name} {} {} and {} it without {without}",
                        was.word(),
                        cluster.name,
                        is.word()
                    ));
                }
            }
        }
        let mut candidates = before.explanation.clusters.iter().filter(|cluster| cluster.candidate);
        let is_any_left = candidates.any(|cluster| !taken.contains(cluster.name.as_str()));
        if let Some(error) = &after.error
            && counts_after_filters
            && is_any_left
            && is_of(error, subject)
        {
            return Err(format!("succeeds, and without {without}: {error}"));
        }
    }
    Ok(shown)
}

/// True if the promise counts at Select and Assign.
fn counts_after_filters(profile: &Profile, plan: &Plan) -> bool {
    let (Ok(strategy), Some(group)) = (profile.strategy(&plan.strategy), plan.groups.first()) else {
        return false;
    };
    plan.leaves_clusters_alone(strategy, group)
}

/// Sets of clusters to take away: single ones, and the first and the last half.
fn losses(situation: &Situation) -> Vec<BTreeSet<&str>> {
    let mut names: Vec<&str> = situation
        .clusters
        .iter()
        .map(|cluster| cluster.metadata.name.as_str())
        .collect();
    names.sort_unstable();
    let (first, last) = names.split_at(names.len() / 2);
    let singles = LOSSES - 2;
    let step = names.len().div_ceil(singles).max(1);
    let singles = names.iter().step_by(step).map(|&name| BTreeSet::from([name]));
    // Each set twice: with and without room for the others.
    let sets = singles.chain([first, last].map(|half| half.iter().copied().collect()));
    sets.filter(|set: &BTreeSet<&str>| !set.is_empty())
        .flat_map(|set| [set.clone(), set])
        .collect()
}

fn filtered(subject: &Subject, cluster: &ClusterExplanation) -> Verdict {
    match &cluster.rejected {
        None => Verdict::Taken,
        Some(note) if note.plugin == subject.plugin() => Verdict::Refused,
        // By an earlier or a later filter, or because it is being deleted.
        Some(_) => Verdict::Unknown,
    }
}

fn selected(subject: &Subject, cluster: &ClusterExplanation) -> Verdict {
    match &cluster.left_out {
        _ if cluster.candidate => Verdict::Taken,
        Some(left_out) if left_out.plugin == subject.plugin() => Verdict::Refused,
        _ => Verdict::Unknown,
    }
}

/// True if an error is an answer of the plugin under test. A panic is a finding of its own.
fn is_of(error: &CycleError, subject: &Subject) -> bool {
    let own = match error {
        CycleError::Plugin(CallError::Panic { .. } | CallError::Quarantined { .. }) => return false,
        CycleError::NotSelectable { plugin, .. }
        | CycleError::Unschedulable { plugin, .. }
        | CycleError::InvalidPreferences { plugin, .. } => plugin == subject.plugin(),
        // Its message names the plugin.
        CycleError::Plugin(failure) => failure.to_string().contains(&format!("`{}`", subject.plugin())),
        _ => false,
    };
    let promises = |point| subject.promises_at(point, feature::EACH_ALONE);
    let points = [kind::FILTER, kind::SCORE, kind::SELECT, kind::ASSIGN];
    // A plugin that serves several points may fail at one for which it promises nothing.
    own && points
        .into_iter()
        .all(|point| !subject.serves(point) || promises(point))
}
