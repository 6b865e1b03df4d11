//! The smallest changes of its policy with which one binding survives. Each is decided, not estimated.
//!
//! A changed binding is decided without a loss, which says where it then runs, and then with each loss that takes one of these
//! clusters.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use divvy_karmada::api::{Cluster, ClusterAffinity, Placement, SelectorOperator, SpreadConstraint, SpreadField};
use divvy_karmada::detector::Binding;
use divvy_karmada::policy::default_spread_constraint;
use divvy_scheduler::decide::affinity::{ClusterProperties, matches};
use divvy_scheduler::profile::ConfiguredProfile;
use divvy_scheduler::strategy::QUORUM_ANNOTATION;

use super::Loss;
use super::document::{Remedy, RemedyChange};
use crate::failures::survival;
use crate::future::{Explains, Future, Options};
use crate::movement::{Ending, Movement};
use crate::situation::{Assignment, Situation};

/// Maximum number of changes of one kind that are decided.
const TRIED_MAX: usize = 12;

/// A change of a policy.
struct Candidate {
    change: String,
    binding: Binding,
    annotation: Option<String>,
}

/// The binding under a changed policy.
struct Settled {
    targets: Arc<Assignment>,
    is_duplicated: bool,
    survives: bool,
    /// The fewest replicas that a loss leaves.
    least: i64,
}

/// Finds the smallest changes with which a binding, by index, survives each of these losses.
pub fn remedy(
    situation: &Situation,
    side: &ConfiguredProfile,
    index: usize,
    losses: &[Loss],
    options: Options,
) -> Remedy {
    let options = Options {
        explains: Explains::Nothing,
        ..options
    };
    let Some(binding) = situation.bindings.get(index) else {
        return Remedy::default();
    };
    let trial = Trial {
        situation,
        side,
        index,
        losses,
        options,
    };
    let mut remedy = Remedy {
        binding: binding.key(),
        ..Remedy::default()
    };
    let now = trial.settle(binding);
    if now.as_ref().is_some_and(|settled| settled.survives) {
        remedy.survives = true;
        return remedy;
    }
    let before = now
        .as_ref()
        .map_or_else(Arc::default, |settled| Arc::clone(&settled.targets));
    if let Some(placement) = &binding.object.spec.placement {
        for candidates in trial.candidates(binding, placement, &before) {
            for candidate in candidates.into_iter().take(TRIED_MAX) {
                remedy.tried += 1;
                let settled = trial.settle(&candidate.binding);
                if let Some(settled) = settled.filter(|settled| settled.survives) {
                    remedy.changes.push(change(candidate, &settled, &before, placement));
                    break;
                }
            }
        }
    }
    if now.is_some_and(|settled| !settled.is_duplicated) {
        remedy.tried += 1;
        if let Some((candidate, settled)) = trial.quorum(binding) {
            remedy.tried += 1;
            let placement = binding.object.spec.placement.clone().unwrap_or_default();
            remedy.changes.push(change(candidate, &settled, &before, &placement));
        }
    }
    remedy
}

fn change(candidate: Candidate, settled: &Settled, before: &Assignment, old: &Placement) -> RemedyChange {
    let movement = Movement::between(before, &settled.targets, settled.is_duplicated, Ending::Placed);
    let placement = candidate.binding.object.spec.placement.as_deref();
    let placement = placement.filter(|placement| *placement != old);
    RemedyChange {
        change: candidate.change,
        clusters: settled.targets.keys().cloned().collect(),
        moved: movement.moved + movement.added,
        placement: placement.and_then(|placement| serde_json::to_value(placement).ok()),
        annotation: candidate.annotation,
    }
}

/// Everything that is the same for each change.
struct Trial<'a> {
    situation: &'a Situation,
    side: &'a ConfiguredProfile,
    index: usize,
    losses: &'a [Loss],
    options: Options,
}

impl Trial<'_> {
    /// Decides a changed binding, and then each loss of one of its clusters. `None` if it is not placed.
    fn settle(&self, binding: &Binding) -> Option<Settled> {
        let mut situation = self.situation.clone();
        *situation.bindings.get_mut(self.index)? = Arc::new(binding.clone());
        let future = Future::decide(&situation, self.side, self.options);
        let entry = future.entries.get(self.index)?;
        if entry.error().is_some() || entry.targets.is_empty() {
            return None;
        }
        let (targets, is_duplicated) = (Arc::clone(&entry.targets), entry.is_duplicated());
        let takes = |loss: &&Loss| targets.keys().any(|cluster| loss.clusters.contains(cluster));
        let losses: Vec<BTreeSet<String>> = self
            .losses
            .iter()
            .filter(takes)
            .map(|loss| loss.clusters.clone())
            .collect();
        let survival = survival(&situation, self.side, &losses, self.options, Some(self.index));
        let is_hit = |index: u32| usize::try_from(index).is_ok_and(|index| index == self.index);
        let hits = survival.losses.iter().flat_map(|survived| &survived.hits);
        let least = survival
            .losses
            .iter()
            .filter_map(|survived| survived.left)
            .map(|left| left.replicas);
        Some(Settled {
            targets,
            is_duplicated,
            survives: !hits.map(|hit| hit.binding).any(is_hit),
            least: least.min().unwrap_or(0),
        })
    }

    /// Changes of the placement, by kind, the smallest first.
    fn candidates(&self, binding: &Binding, placement: &Placement, now: &Assignment) -> Vec<Vec<Candidate>> {
        let candidate = |change: String, placement: Placement| {
            let mut binding = binding.clone();
            binding.object.spec.placement = Some(Arc::new(placement));
            Candidate {
                change,
                binding,
                annotation: None,
            }
        };
        let (mut fewer, mut more) = (Vec::new(), Vec::new());
        for (position, written) in placement.spread_constraints.iter().enumerate() {
            let constraint = default_spread_constraint(written);
            let what = spread_word(&constraint);
            let with = |changed: SpreadConstraint| {
                let mut placement = placement.clone();
                placement.spread_constraints[position] = changed;
                placement
            };
            for minimum in (1..constraint.min_groups).rev().take(TRIED_MAX) {
                let changed = SpreadConstraint {
                    min_groups: minimum,
                    ..constraint.clone()
                };
                let text = format!(
                    "lower `minGroups` by {what} from {} to {minimum}",
                    constraint.min_groups
                );
                fewer.push(candidate(text, with(changed)));
            }
            if constraint.max_groups > 0 {
                for (maximum, text) in [
                    (constraint.max_groups + 1, format!("to {}", constraint.max_groups + 1)),
                    (0, "to no limit".to_owned()),
                ] {
                    let changed = SpreadConstraint {
                        max_groups: maximum,
                        ..constraint.clone()
                    };
                    let text = format!("raise `maxGroups` by {what} from {} {text}", constraint.max_groups);
                    more.push(candidate(text, with(changed)));
                }
            }
        }
        let wider = self.wider(binding, placement, now);
        let wider = wider
            .into_iter()
            .map(|(change, placement)| candidate(change, placement));
        let spread = added_constraints(placement).into_iter();
        let spread = spread.map(|(change, placement)| candidate(change, placement));
        vec![fewer, more, wider.collect(), spread.collect()]
    }

    /// Placements with one more cluster, or one more region, zone or provider: those of other regions and providers first, then
    /// those with the most free CPU.
    fn wider(&self, binding: &Binding, placement: &Placement, now: &Assignment) -> Vec<(String, Placement)> {
        let clusters = || self.situation.clusters.values().map(|entry| &entry.object);
        let used: Vec<&Cluster> = clusters()
            .filter(|cluster| now.contains_key(&cluster.metadata.name))
            .collect();
        let likeness = |cluster: &Cluster| {
            let regions = used.iter().any(|used| used.spec.region == cluster.spec.region);
            let providers = used.iter().any(|used| used.spec.provider == cluster.spec.provider);
            usize::from(regions) + usize::from(providers)
        };
        let mut ranked: Vec<&Cluster> = clusters().collect();
        ranked.sort_by_key(|cluster| (likeness(cluster), Reverse(free(cluster))));
        let mut found: Vec<(String, Placement)> = Vec::new();
        for cluster in ranked {
            if found.len() == TRIED_MAX {
                break;
            }
            let mut placement = placement.clone();
            let group = binding.observed_affinity();
            let groups = &mut placement.cluster_affinities;
            let position = groups.iter().position(|term| term.affinity_name == group).unwrap_or(0);
            let affinity = match (groups.get_mut(position), &mut placement.cluster_affinity) {
                (Some(term), _) => &mut term.affinity,
                (None, Some(affinity)) => affinity,
                (None, None) => continue,
            };
            if let Some(change) = widen(affinity, cluster)
                && !found.iter().any(|(known, _)| *known == change)
            {
                found.push((change, placement));
            }
        }
        found
    }

    /// The largest quorum with which the binding survives: what the worst loss leaves.
    fn quorum(&self, binding: &Binding) -> Option<(Candidate, Settled)> {
        let with = |quorum: i64| {
            let mut binding = binding.clone();
            let annotations = &mut binding.object.metadata.annotations;
            annotations.insert(QUORUM_ANNOTATION.to_owned(), quorum.to_string());
            binding
        };
        let least = self.settle(&with(1)).filter(|settled| settled.survives)?.least;
        let quorum = least.max(1);
        let binding = with(quorum);
        let settled = self.settle(&binding).filter(|settled| settled.survives)?;
        let all: i64 = settled.targets.values().sum();
        let candidate = Candidate {
            change: format!("let {quorum} of {all} replicas be enough"),
            binding,
            annotation: Some(format!("{QUORUM_ANNOTATION}: \"{quorum}\"")),
        };
        Some((candidate, settled))
    }
}

/// Placements with another spread constraint, by the smallest groups first. Karmada requires one by cluster beside any other.
fn added_constraints(placement: &Placement) -> Vec<(String, Placement)> {
    let fields = [
        SpreadField::Cluster,
        SpreadField::Zone,
        SpreadField::Region,
        SpreadField::Provider,
    ];
    let has = |placement: &Placement, field: SpreadField| {
        let mut constraints = placement.spread_constraints.iter().map(default_spread_constraint);
        constraints.any(|constraint| {
            constraint.spread_by_label.is_empty()
                && constraint.spread_by_field.as_ref().and_then(|field| field.known()) == Some(field)
        })
    };
    let at_least_two = |field: SpreadField| SpreadConstraint {
        spread_by_field: Some(field.into()),
        min_groups: 2,
        ..SpreadConstraint::default()
    };
    let missing = fields.into_iter().filter(|field| !has(placement, *field));
    let changed = missing.map(|field| {
        let mut changed = placement.clone();
        changed.spread_constraints.push(at_least_two(field));
        if !has(&changed, SpreadField::Cluster) {
            changed.spread_constraints.push(at_least_two(SpreadField::Cluster));
        }
        (
            format!("require at least 2 {}s by a spread constraint", field.word()),
            changed,
        )
    });
    changed.collect()
}

/// Widens an affinity to a cluster that it does not match. Returns the change in words; `None` if it matches the cluster, or cannot
/// be widened to it, as if labels are missing.
fn widen(affinity: &mut ClusterAffinity, cluster: &Cluster) -> Option<String> {
    let properties = ClusterProperties::from(cluster);
    if matches(affinity, &properties) {
        return None;
    }
    let mut parts = Vec::new();
    let name = &cluster.metadata.name;
    if !affinity.cluster_names.is_empty() && !affinity.cluster_names.contains(name) {
        affinity.cluster_names.push(name.clone());
        parts.push(format!("add the cluster `{name}`"));
    }
    let excluded = affinity.exclude_clusters.len();
    affinity.exclude_clusters.retain(|excluded| excluded != name);
    if affinity.exclude_clusters.len() < excluded {
        parts.push(format!("do not exclude the cluster `{name}`"));
    }
    for requirement in affinity
        .field_selector
        .iter_mut()
        .flat_map(|selector| &mut selector.match_expressions)
    {
        if requirement.operator.known() != Some(SelectorOperator::In) {
            continue;
        }
        let values = match requirement.key.as_str() {
            "region" => vec![properties.region.clone()],
            "provider" => vec![properties.provider.clone()],
            "zone" => properties.zones.clone(),
            _ => Vec::new(),
        };
        for value in values.into_iter().filter(|value| !value.is_empty()) {
            if !requirement.values.contains(&value) {
                parts.push(format!("add the {} `{value}`", requirement.key));
                requirement.values.push(value);
            }
        }
    }
    (!parts.is_empty() && matches(affinity, &properties)).then(|| parts.join(" and "))
}

/// CPU that no pod requests, in thousandths.
fn free(cluster: &Cluster) -> i64 {
    let summary = cluster.status.resource_summary.as_ref();
    let of = |list: &divvy_karmada::api::ResourceList| list.get("cpu").map_or(0, |cpu| cpu.milli_value());
    summary.map_or(0, |summary| {
        of(&summary.allocatable).saturating_sub(of(&summary.allocated))
    })
}

fn spread_word(constraint: &SpreadConstraint) -> String {
    let field = constraint.spread_by_field.as_ref().and_then(|field| field.known());
    match (constraint.spread_by_label.as_str(), field) {
        ("", Some(field)) => field.word().to_owned(),
        ("", None) => "an unknown field".to_owned(),
        (label, _) => format!("the label `{label}`"),
    }
}
