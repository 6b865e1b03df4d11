//! RegionShares as a plugin. [`region_shares`] reads percentages as bounds; [`within_groups`] divides under them, as a tree of one
//! level.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod region_shares;

use divvy_framework::binding::Rule;
use divvy_framework::division::groups::{Bounds, GroupsError};
use divvy_framework::division::{Rounding, Scratch, within_groups};
use divvy_framework::groups::RuleGroups;
use divvy_framework::prelude::*;

/// The strategy, which has no configuration.
#[derive(Default)]
struct RegionShares;

/// Buffers reused between calls.
#[derive(Debug, Default)]
struct Memory {
    groups: RuleGroups,
    bounds: Vec<Bounds>,
    division: Scratch,
}

impl Plugin for RegionShares {
    const NAME: &'static str = "region-shares";
    const DESCRIPTION: &'static str = "keeps the shares of regions within minimum and maximum percentages";
}

impl AssignPlugin for RegionShares {
    const STRATEGIES: &'static [&'static str] = &["RegionShares"];
    const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();
    /// Shares apply to groups of clusters regardless of tiers.
    const NEEDS: Needs = Needs::NONE.own_tiers().no_priorities();
    const RULE_LISTS: &'static [RuleList] = &[RuleList::new(
        "regionShareList",
        &[
            RuleField::optional("minPercent").at_least(0),
            RuleField::optional("maxPercent").at_least(0),
        ],
    )];

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let (request, ties, out) = (context.division_request(), context.ties(), result.replicas());
        with_scratch(|memory: &mut Memory| {
            let Memory {
                groups,
                bounds,
                division,
            } = memory;
            groups.read(context)?;
            bounds.clear();
            for rule in context.rules() {
                bounds.push(bounds_of(rule, context.replicas())?);
            }
            let group_of = groups.group_of();
            within_groups(&request, group_of, bounds, Rounding::default(), ties, out, division)
                .map_err(|error| failure(context, error))?;
            if context.wants_explanation() {
                explain(context, bounds, group_of, out);
            }
            Ok(())
        })
    }
}

/// The bounds of an entry in replicas.
fn bounds_of(rule: Rule<'_>, replicas: i64) -> Result<Bounds, Failure> {
    let refused = |message: &str| Failure::preferences(rule.origin(), message);
    let percent = |field: &str, default| match rule.value(field).unwrap_or(default) {
        percent @ 0..=100 => Ok(percent),
        percent => Err(refused(&format!("`{field}`: expected 0 to 100 percent, got {percent}"))),
    };
    let (minimum, maximum) = (percent("minPercent", 0)?, percent("maxPercent", 100)?);
    region_shares::bounds(replicas, minimum, maximum).ok_or_else(|| refused("`minPercent` is above `maxPercent`"))
}

/// Demands that contradict each other or the fleet are unschedulable, with their figures.
fn failure(context: &AssignContext<'_, RegionShares>, error: GroupsError) -> Failure {
    let origin = |group: usize| context.rules().nth(group).map_or("", |rule| rule.origin());
    match error {
        GroupsError::Division(error) => error.into(),
        GroupsError::NoRoom {
            group,
            least,
            available,
        } => Failure::unschedulable(format!(
            "{} requires at least {least} replicas, but its clusters have room for {available}",
            origin(group)
        )),
        other => Failure::unschedulable(other.to_string()),
    }
}

/// Explains `counts` by the total and the bounds of each group. Runs only if an explanation was requested.
fn explain(context: &AssignContext<'_, RegionShares>, bounds: &[Bounds], group_of: &[u32], counts: &[i64]) {
    let mut totals = vec![0; bounds.len() + 1];
    for (&group, count) in group_of.iter().zip(counts) {
        totals[group as usize] += count;
    }
    for (candidate, &group) in context.candidates().zip(group_of) {
        let group = group as usize;
        context.explain(candidate, || {
            let reason = Reason::of(Cause::Proportion);
            let entry = bounds.get(group).zip(context.rules().nth(group));
            let Some((&Bounds { least, most }, rule)) = entry else {
                return reason.text("in no group: in proportion to what fits");
            };
            let total = totals[group];
            let text = format!(
                "{} has {total}, at least {least} and at most {most}: in proportion to what fits",
                rule.origin()
            );
            let reason = reason.text(text).figure("group", total);
            let reason = reason.figure("least", least).figure("most", most);
            match total == least || total == most {
                true => reason.bound(Bound::Rule),
                false => reason,
            }
        });
    }
}

divvy_framework::export_plugin!(RegionShares: Assign);

#[cfg(test)]
mod tests;
