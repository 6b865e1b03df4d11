//! Explains the count of each candidate. Runs only if an explanation was requested.

use divvy_framework::division::Rounding;
use divvy_framework::division::explanation::{ProportionalShares, Remainder};
use divvy_framework::prelude::*;

use crate::Specified;
use crate::groups::Groups;

/// Explains `counts`, the result of the policy's groups.
pub(crate) fn explain(context: &AssignContext<'_, Specified>, groups: &Groups, counts: &[i64]) {
    note_spread_constraints(context);
    let counts: Column<'_, Candidate, i64> = Column::new(counts);
    for (number, group) in groups.iter().enumerate() {
        let members = || {
            group
                .members
                .iter()
                .map(|&member| Candidate::from_index(member as usize))
        };
        let change = |candidate| counts[candidate] - context.last()[candidate];
        let total: i64 = members().map(change).sum();
        // When growing, candidates with the fewest last replicas come first; when shrinking, those with the most.
        let rank = |candidate| {
            let last = context.last()[candidate].cast_unsigned();
            [if total > 0 { u64::MAX - last } else { last }, 0, 0]
        };
        // An emptied candidate could not shrink further at any rank, so it does not compete for the remainder.
        let contends = |&candidate: &Candidate| total > 0 || counts[candidate] > 0;
        // Every contender has at least the smallest change; those with more have one of the remainder.
        let least = members()
            .filter(contends)
            .map(|candidate| change(candidate).abs())
            .min();
        let is_served = |candidate| least.is_some_and(|least| change(candidate).abs() > least);
        let contenders = members().filter(contends);
        let remainder = Remainder::of(contenders.map(|candidate| (rank(candidate), is_served(candidate))));
        let origin = groups.origin(context, number);
        for candidate in members() {
            context.explain(candidate, || {
                let reason = Reason::of(Cause::Count)
                    .text(origin)
                    .figure("count", group.replicas)
                    .figure("members", i64::try_from(group.members.len()).unwrap_or(i64::MAX))
                    .figure("last", context.last()[candidate])
                    .figure("change", change(candidate))
                    .bound(Bound::Rule);
                if total < 0 && counts[candidate] == 0 {
                    return reason;
                }
                let decider = if total > 0 {
                    Decider::FewestLast
                } else {
                    Decider::MostLast
                };
                remainder.explain(reason, rank(candidate), is_served(candidate), &[decider])
            });
        }
    }
    for &outsider in groups.outsiders() {
        context.explain(Candidate::from_index(outsider as usize), || {
            Reason::of(Cause::NoShare).bound(Bound::Rule).text("not in any group")
        });
    }
}

/// Explains `counts`, which are equal shares because the policy has no preference.
pub(crate) fn explain_equal_shares(context: &AssignContext<'_, Specified>, counts: &[i64]) {
    note_spread_constraints(context);
    context.note(|| "the policy specifies no counts: all clusters have equal weight".to_owned());
    let weights = vec![1; counts.len()];
    let (replicas, last) = (context.replicas(), context.last().as_slice());
    let shares = ProportionalShares::new(replicas, &weights, last, counts, Rounding::FloorThenRank);
    for candidate in context.candidates() {
        context.explain(candidate, || shares.reason(candidate.index(), "weight"));
    }
}

fn note_spread_constraints(context: &AssignContext<'_, Specified>) {
    if context.binding().spread_constraints().next().is_some() {
        context.note(|| "spread constraints are ignored: the policy specifies the counts".to_owned());
    }
}
