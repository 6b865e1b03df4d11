//! Explains the count of each candidate by the path to its leaf, with the count and the bound of each node. Runs only
//! if an explanation was requested.

use divvy_framework::division::tree::Amount;
use divvy_framework::prelude::*;

use crate::Tree;
use crate::division::{Floor, LeafRule, Members, Memory, Node, Share};
use crate::fleet::Fleet;
use crate::preferences::{Divide, TreePreferences};

/// Explains `counts`, the result, by the counts of the nodes in `division`.
pub(crate) fn explain(
    context: &AssignContext<'_, Tree, TreePreferences>,
    fleet: &Fleet,
    members: Members<'_>,
    counts: &[i64],
    division: &Memory,
) {
    let paths = paths(fleet, division);
    for (candidate, (&leaf, &count)) in context.candidates().zip(members.leaf_of.iter().zip(counts)) {
        context.explain(candidate, || {
            let leaf = leaf as usize;
            let (Some(path), Some(node)) = (paths.get(leaf), fleet.tree.nodes().get(leaf)) else {
                return Reason::of(Cause::NoShare)
                    .bound(Bound::Rule)
                    .text("in no child of the tree");
            };
            let total = division.node_counts().get(leaf).copied().unwrap_or(0);
            let capacity = context.capacity()[candidate];
            let weight = members.weights.get(candidate.index()).copied().unwrap_or(0);
            let (own, bound) = own(node, count, capacity, context.last()[candidate], weight);
            let reason = Reason::of(Cause::Other).text(format!("{path}: {own}"));
            let reason = reason.figure("node", total).figure("capacity", capacity);
            match bound {
                Some(bound) => reason.bound(bound),
                None => reason,
            }
        });
    }
}

/// The path to each node: every node from the root on, with its count and its bound.
fn paths(fleet: &Fleet, division: &Memory) -> Vec<String> {
    let counts = division.node_counts();
    let mut paths: Vec<String> = vec![String::new(); fleet.names.len()];
    if let (Some(root), Some(count)) = (paths.first_mut(), counts.first()) {
        *root = format!("all {count}");
    }
    for parent in 0..fleet.names.len() {
        for child in fleet.tree.children(parent) {
            let Some((node, &count)) = fleet.tree.nodes().get(child).zip(counts.get(child)) else {
                continue;
            };
            let by = bounds(node, count, counts[parent], division.node_bounds(child));
            paths[child] = format!("{}, {} {count} ({by})", paths[parent], fleet.names[child]);
        }
    }
    paths
}

/// How a node took its share, and the bound that its count is at.
fn bounds(node: &Node, count: i64, parent: i64, possible: Option<(i64, i64)>) -> String {
    let share = match node.share {
        Share::Weight(weight) => format!("weight {weight}"),
        Share::Keeps => "no weight".to_owned(),
        Share::Rest => "the rest".to_owned(),
    };
    let least = node.least.map(|amount| (amount, amount_of(amount, parent, false)));
    let most = node.most.map(|amount| (amount, amount_of(amount, parent, true)));
    match (least, most, possible) {
        (Some((Amount::Count(least), _)), Some((Amount::Count(most), _)), _) if least == most => "its count".to_owned(),
        (Some((amount, least)), _, _) if least == count && least > 0 => {
            format!("{share}, at its min of {}", shown(amount, least))
        }
        (_, Some((amount, most)), _) if most == count => format!("{share}, at its max of {}", shown(amount, most)),
        (_, _, Some((least, most))) if least == most && count > 0 => {
            format!("{share}, nothing else is possible below it")
        }
        (_, _, Some((_, most))) if most == count => format!("{share}, all that it has room for"),
        (_, _, Some((least, _))) if least == count && count > 0 => format!("{share}, the fewest possible below it"),
        _ => share,
    }
}

fn amount_of(amount: Amount, parent: i64, rounds_up: bool) -> i64 {
    match amount {
        Amount::Count(count) => count,
        Amount::Percent(percent) if rounds_up => percent.ceil_of(parent),
        Amount::Percent(percent) => percent.floor_of(parent),
    }
}

fn shown(amount: Amount, count: i64) -> String {
    match amount {
        Amount::Count(_) => count.to_string(),
        Amount::Percent(percent) => format!("{count}, {percent}"),
    }
}

/// The leaf's rule for a candidate, and the bound of its count.
fn own(node: &Node, count: i64, capacity: i64, last: i64, weight: i64) -> (String, Option<Bound>) {
    let rule = match node.leaf.rule {
        LeafRule::ByRoom => format!("{}, had {last}", Divide::ByRoom.word()),
        LeafRule::Evenly => Divide::Evenly.word().to_owned(),
        LeafRule::ByWeight => format!("{}, weight {weight}", Divide::ByWeight.word()),
        LeafRule::Fewest => format!("{}, had {last}", Divide::Fewest.word()),
    };
    let cap = node.leaf.cap.unwrap_or(i64::MAX);
    if count > 0 && count == capacity && capacity <= cap {
        return (format!("{rule}, as many as fit"), Some(Bound::Capacity));
    }
    if count == cap {
        return (format!("{rule}, at the cap"), Some(Bound::Cap));
    }
    match node.leaf.floor {
        Floor::Always(least) if count == least && least > 0 => {
            (format!("{rule}, at the floor for all"), Some(Bound::Rule))
        }
        Floor::IfAny(least) if count == least && least > 1 => (format!("{rule}, at the floor"), Some(Bound::Rule)),
        _ => (rule, None),
    }
}
