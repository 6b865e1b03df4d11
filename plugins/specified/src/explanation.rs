//! Why each candidate got what it got. Runs only if somebody asked.

use divvy_framework::division::Rounding;
use divvy_framework::division::explanation::{ProportionalShares, Remainder};
use divvy_framework::prelude::*;

use crate::Specified;
use crate::groups::Groups;

/// Explains `counts`, which the policy's groups give.
pub(crate) fn explain(context: &AssignContext<'_, Specified>, groups: &Groups, counts: &[i64]) {
    note_spread_constraints(context);
    for (number, group) in groups.iter().enumerate() {
        let members = || group.members.iter().map(|&member| member as usize);
        let change = |place: usize| counts[place] - context.last()[place];
        let total: i64 = members().map(change).sum();
        // Growing, who has fewest comes first; shrinking, who has most.
        let rank = |place: usize| {
            let last = context.last()[place].cast_unsigned();
            [if total > 0 { u64::MAX - last } else { last }, 0, 0]
        };
        // Who is emptied could give no more, whatever its rank.
        let contends = |&place: &usize| total > 0 || counts[place] > 0;
        let least = members().filter(contends).map(|place| change(place).abs()).min();
        let is_served = |place: usize| least.is_some_and(|least| change(place).abs() > least);
        let remainder = Remainder::of(members().filter(contends).map(|place| (rank(place), is_served(place))));
        let origin = groups.origin(context, number);
        for place in members() {
            context.explain(place, || {
                let head = format!(
                    "{origin} gives {} over {} clusters; last {}, change {:+}",
                    group.replicas,
                    group.members.len(),
                    context.last()[place],
                    change(place)
                );
                let names = [if total > 0 {
                    "fewest last replicas"
                } else {
                    "most last replicas"
                }];
                let served = is_served(place);
                match remainder.rule(rank(place), served, &names) {
                    _ if total < 0 && counts[place] == 0 => format!("{head}, emptied"),
                    Some(rule) if served => format!("{head}, one of the remainder with it ({rule})"),
                    Some(rule) => format!("{head}, none of the remainder ({rule})"),
                    None => head,
                }
            });
        }
    }
    for &place in groups.outsiders() {
        context.explain(place as usize, || "in no group".to_owned());
    }
}

/// Explains `counts`, which are equal shares for want of a preference.
pub(crate) fn explain_equal_shares(context: &AssignContext<'_, Specified>, counts: &[i64]) {
    note_spread_constraints(context);
    context.note(|| "the policy specifies no counts: all clusters weigh the same".to_owned());
    let weights = vec![1; counts.len()];
    let (replicas, last) = (context.replicas(), context.last());
    let shares = ProportionalShares::new(replicas, &weights, last, counts, Rounding::FloorThenRank);
    for place in 0..counts.len() {
        context.explain(place, || shares.text(place, "weight"));
    }
}

fn note_spread_constraints(context: &AssignContext<'_, Specified>) {
    if context.binding().spread_constraints().next().is_some() {
        context.note(|| "spread constraints are ignored: the policy specifies the counts".to_owned());
    }
}
