//! Explains why clusters are left out. Runs only if an explanation was requested.

use std::collections::BTreeSet;

use divvy_framework::prelude::*;

use crate::SpreadConstraints;
use crate::constraints::{Limits, Plan};

/// Explains the clusters that the plan left out of a result.
pub(crate) fn explain(context: &SelectContext<'_, SpreadConstraints>, plan: &Plan, result: &SelectResult<'_>) {
    let left_out: Vec<Candidate> = result.left_out().collect();
    match plan {
        Plan::All => {}
        Plan::Clusters(limits) => {
            for candidate in left_out {
                context.explain(candidate, || beyond(*limits));
            }
        }
        Plan::Groups { property, clusters, .. } => {
            let snapshot = context.clusters();
            let column = property.column(&snapshot);
            let value = |candidate| column.value(context.rows().get(candidate)?);
            let is_left_out: BTreeSet<usize> = left_out.iter().map(|candidate| candidate.index()).collect();
            let chosen = context
                .candidates()
                .filter(|candidate| !is_left_out.contains(&candidate.index()));
            let chosen: BTreeSet<Option<usize>> = chosen.map(|candidate| Some(value(candidate)?.index())).collect();
            for candidate in left_out {
                context.explain(candidate, || match value(candidate) {
                    Some(symbol) if !chosen.contains(&Some(symbol.index())) => {
                        let group = format!("{} {}", property.name(), snapshot.text(symbol));
                        Reason::of(Cause::GroupNotChosen).bound(Bound::Rule).text(group)
                    }
                    Some(_) => beyond(*clusters),
                    None => Reason::of(Cause::NoShare)
                        .bound(Bound::Rule)
                        .text(format!("has no {}", property.name())),
                });
            }
        }
        Plan::Several { .. } => {
            for candidate in left_out {
                context.explain(candidate, || {
                    Reason::of(Cause::NotNeeded)
                        .bound(Bound::Rule)
                        .text("the spread constraints are met without it")
                });
            }
        }
    }
}

/// The reason for a cluster for which no slot was left.
fn beyond(limits: Limits) -> Reason {
    let reason = Reason::of(Cause::BeyondMaximum).bound(Bound::Rule);
    match i64::try_from(limits.maximum) {
        Ok(maximum) if limits.maximum < usize::MAX => reason.figure("maximum", maximum),
        _ => reason,
    }
}
