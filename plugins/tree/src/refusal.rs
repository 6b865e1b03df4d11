//! Failures of a division, in the terms of the policy.

use divvy_framework::binding::Binding;
use divvy_framework::division::tree::Amount;
use divvy_framework::prelude::*;

use crate::Tree;
use crate::division::{
    Constraint, ConstraintKind, Floor, LeafRule, Members, Memory, TreeError, find_conflict, nearest_counts,
};
use crate::fleet::Fleet;
use crate::preferences::TreePreferences;

type Context<'a> = AssignContext<'a, Tree, TreePreferences>;

/// The failure to report for an error of the division.
pub(crate) fn failure(error: TreeError, context: &Context<'_>, fleet: &Fleet, members: Members<'_>) -> Failure {
    match error {
        TreeError::Division(error) => error.into(),
        TreeError::Unsatisfiable { .. } => {
            let found = find_conflict(
                &context.division_request(),
                &fleet.tree,
                members,
                &mut Memory::default(),
            );
            match found {
                Ok(conflict) => with_nearest(
                    contradiction(context, fleet, members, &conflict),
                    context,
                    fleet,
                    members,
                ),
                Err(error) => Failure::unschedulable(error.to_string()),
            }
        }
        error => Failure::unschedulable(error.to_string()),
    }
}

/// Refuses a binding with several components.
///
/// # Errors
///
/// [`Failure::Preferences`] with their names.
pub(crate) fn check_components(binding: &Binding<'_>) -> Result<(), Failure> {
    let names: Vec<&str> = binding.components().map(|component| component.name()).collect();
    match names.len() {
        0 | 1 => Ok(()),
        _ => Err(Failure::preferences(
            "",
            format!(
                "a tree divides the replicas of one pod template, and this workload has several components, which stay together: {}",
                names.join(", ")
            ),
        )),
    }
}

/// A contradiction with the nearest count that the tree can divide, so that a search for it starts there.
fn with_nearest(failure: Failure, context: &Context<'_>, fleet: &Fleet, members: Members<'_>) -> Failure {
    let request = context.division_request();
    let nearest = nearest_counts(&request, &fleet.tree, members, &mut Memory::default());
    match nearest.ok().and_then(|nearest| nearest.instead()) {
        Some(count) => failure.with_figures(context.replicas(), count),
        None => failure,
    }
}

/// Bounds that contradict each other, none of which can be left out.
fn contradiction(context: &Context<'_>, fleet: &Fleet, members: Members<'_>, conflict: &[Constraint]) -> Failure {
    let replicas = context.replicas();
    let rooms = conflict.iter().map(|constraint| match constraint.kind {
        ConstraintKind::Room { available, .. } => Some(available),
        _ => None,
    });
    // Only room contradicts the count: the candidates are too small.
    if let Some(rooms) = rooms.collect::<Option<Vec<i64>>>() {
        let available = rooms.into_iter().fold(0, i64::saturating_add);
        // Some candidates may be in no leaf; what fits there does not count.
        let has_all = members.leaf_of.iter().enumerate().all(|(candidate, &leaf)| {
            let leaf = fleet.tree.nodes().get(leaf as usize).map(|node| node.leaf.rule);
            match leaf {
                Some(LeafRule::ByWeight) => members.weights.get(candidate).is_some_and(|weight| *weight > 0),
                Some(_) => true,
                None => false,
            }
        });
        let clusters = match has_all {
            true => "in the candidate clusters",
            false => "in the candidate clusters of the tree",
        };
        let too_small = format!("{replicas} replicas requested, {available} fit {clusters}");
        return Failure::unschedulable(match fleet.names.len() {
            1 => too_small,
            _ => format!("{too_small}: {}", list(context, fleet, conflict)),
        });
    }
    let bounds = list(context, fleet, conflict);
    Failure::unschedulable(match conflict.len() {
        1 => format!("{replicas} replicas cannot be divided: {bounds}"),
        _ => format!("{replicas} replicas cannot be divided so that all of these hold: {bounds}"),
    })
}

fn list(context: &Context<'_>, fleet: &Fleet, conflict: &[Constraint]) -> String {
    let texts = conflict.iter().map(|constraint| match constraint.kind {
        // A floor requires room on each cluster.
        ConstraintKind::Room {
            candidates: 1..,
            smallest,
            ..
        } if has_floor(conflict, constraint.node) => {
            format!(
                "{}, and for {smallest} on the smallest cluster",
                text(context, fleet, *constraint)
            )
        }
        _ => text(context, fleet, *constraint),
    });
    texts.collect::<Vec<String>>().join("; ")
}

fn has_floor(conflict: &[Constraint], node: usize) -> bool {
    let is_floor = |one: &Constraint| one.node == node && matches!(one.kind, ConstraintKind::Floor(_));
    conflict.iter().any(is_floor)
}

/// A bound as a text, with its figures.
fn text(context: &Context<'_>, fleet: &Fleet, Constraint { node, kind }: Constraint) -> String {
    let name = match fleet.names.get(node).map_or("", String::as_str) {
        "" => "the tree",
        name => name,
    };
    match kind {
        ConstraintKind::Exactly(count) => format!("{name} gets exactly {count}"),
        ConstraintKind::Least(Amount::Count(count)) => format!("{name} gets at least {count}"),
        ConstraintKind::Most(Amount::Count(count)) => format!("{name} gets at most {count}"),
        ConstraintKind::Least(Amount::Percent(percent)) => match total_of_parent(context, fleet, node) {
            Some(total) => format!(
                "{name} gets at least {} ({percent} of {total})",
                percent.floor_of(total)
            ),
            None => format!("{name} gets at least {percent} of its parent's replicas"),
        },
        ConstraintKind::Most(Amount::Percent(percent)) => match total_of_parent(context, fleet, node) {
            Some(total) => format!("{name} gets at most {} ({percent} of {total})", percent.ceil_of(total)),
            None => format!("{name} gets at most {percent} of its parent's replicas"),
        },
        ConstraintKind::Floor(Floor::Always(least)) => format!("each cluster of {name} always gets {least}"),
        ConstraintKind::Floor(Floor::IfAny(least)) => format!("a cluster of {name} gets none or at least {least}"),
        ConstraintKind::Floor(Floor::None) => format!("{name} has no floor"),
        ConstraintKind::Cap(most) => format!("a cluster of {name} gets at most {most}"),
        ConstraintKind::Room {
            candidates, available, ..
        } => {
            let size = fleet.sizes.get(node).copied().unwrap_or(candidates);
            let room = match candidates {
                0 => format!("none of the {size} clusters of {name} is a candidate"),
                _ if candidates < size => {
                    format!("{name} has room for {available} on {candidates} of its {size} clusters")
                }
                _ => format!("{name} has room for {available}"),
            };
            // Spread constraints act before the tree, so the policy makes two demands that exclude each other.
            let is_spread = context.binding().spread_constraints().next().is_some();
            match is_spread && candidates < size {
                true => format!("{room}, by spread constraints or filters"),
                false => room,
            }
        }
    }
}

/// The replicas of a node's parent, if they are known: all of them for a child of the root.
fn total_of_parent(context: &Context<'_>, fleet: &Fleet, node: usize) -> Option<i64> {
    fleet.tree.children(0).contains(&node).then(|| context.replicas())
}
