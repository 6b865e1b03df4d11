//! Groups of candidates, read from the entries of the policy.
//!
//! An entry with a count is a separate group. Entries without counts (a plain list of regions) together form one group,
//! whose count is the binding's replicas. Invalid entries are rejected here, over all clusters of the snapshot rather
//! than only the candidates, so a contradiction is reported even if one of its clusters is not feasible. The division
//! is in [`specified`](crate::specified).

use divvy_framework::binding::Rule;
use divvy_framework::division::tiers::TierMembers;
use divvy_framework::groups::RuleGroups;
use divvy_framework::prelude::*;

use crate::Specified;
use crate::specified::{Group, SpecifiedError};

/// Groups of one binding. Kept between calls only to reuse the memory.
#[derive(Debug, Default)]
pub struct Groups {
    counts: Vec<i64>,
    groups: RuleGroups,
    members: TierMembers,
}

impl Groups {
    /// Reads the groups from the entries of the policy, which must have at least one.
    ///
    /// # Errors
    /// Returns [`Failure::Preferences`], which names the entry, if an entry matches no cluster, a count is below zero,
    /// a cluster is in two groups, or only some of the entries have a count. The host reports it as an error in the
    /// policy and keeps the last result.
    pub(crate) fn read(&mut self, context: &AssignContext<'_, Specified>) -> Result<(), Failure> {
        let Self {
            counts,
            groups,
            members,
        } = self;
        counts.clear();
        // Without counts, all entries belong to a single group, and clusters may appear in several entries.
        if context.rules().all(|rule| rule.value("replicas").is_none()) {
            counts.push(context.replicas());
            groups.read_as_one(context)?;
            return Ok(members.rebuild_from_tiers(groups.group_of(), 2)?);
        }
        for rule in context.rules() {
            match rule.value("replicas") {
                Some(count @ 0..) => counts.push(count),
                Some(count) => return Err(refused(rule, &format!("expected 0 replicas or more, got {count}"))),
                None => return Err(refused(rule, "`replicas` is missing, but other entries have it")),
            }
        }
        groups.read(context)?;
        // Candidates outside all groups become the last "tier", so that one pass collects the members of all groups.
        Ok(members.rebuild_from_tiers(groups.group_of(), counts.len() + 1)?)
    }

    /// The groups with their members and counts, in the order of the policy.
    pub fn iter(&self) -> impl Iterator<Item = Group<'_>> + Clone {
        self.counts.iter().enumerate().map(|(group, &replicas)| Group {
            members: self.members.members(group),
            replicas,
        })
    }

    /// Indices of the candidates in no group.
    pub(crate) fn outsiders(&self) -> &[u32] {
        self.members.members(self.counts.len())
    }

    /// Location of a group in the policy, for messages.
    pub(crate) fn origin<'a>(&self, context: &AssignContext<'a, Specified>, group: usize) -> &'a str {
        context.rules().nth(group).map_or("", |rule| rule.origin())
    }

    /// Failure to report if the counts cannot be satisfied. Mismatched sums and groups without candidates are
    /// unschedulable; other errors are faults of this plugin.
    pub(crate) fn failure(&self, context: &AssignContext<'_, Specified>, error: SpecifiedError) -> Failure {
        match error {
            SpecifiedError::SumMismatch { .. } => Failure::unschedulable(error.to_string()),
            SpecifiedError::NoCandidate { group, replicas } => Failure::unschedulable(format!(
                "{} gives {replicas} replicas, and none of its clusters is a candidate",
                self.origin(context, group)
            )),
            SpecifiedError::Division(error) => error.into(),
            other => Failure::internal(other.to_string()),
        }
    }
}

fn refused(rule: Rule<'_>, message: &str) -> Failure {
    Failure::preferences(rule.origin(), message)
}
