//! From the entries of the policy to groups of candidates.
//!
//! An entry with a count is a group of its own. Entries without one (a plain list of regions) form one group together, whose
//! count is the binding's replicas. What makes no sense is refused here, over all clusters of the snapshot and not only
//! the candidates, so that a contradiction does not wait for the day on which both clusters are feasible. It does not
//! divide; see [`specified`](crate::specified).

use divvy_framework::binding::Rule;
use divvy_framework::division::tiers::TierMembers;
use divvy_framework::prelude::*;

use crate::Specified;
use crate::specified::{Group, SpecifiedError};

/// No group.
const NONE: u32 = u32::MAX;

/// The groups of one binding. Kept from call to call for its memory alone.
#[derive(Debug, Default)]
pub struct Groups {
    counts: Vec<i64>,
    /// For each cluster of the snapshot the entry that names it.
    entry_of_row: Vec<u32>,
    /// For each candidate its group; the number of groups for those in none.
    group_of: Vec<u32>,
    members: TierMembers,
}

impl Groups {
    /// Reads the groups from the entries of the policy, of which there is one at least.
    ///
    /// # Errors
    /// [`Failure::Preferences`] for an entry that matches no cluster, a count below zero, a cluster in two groups, and
    /// for entries with and without a count beside each other.
    pub(crate) fn read(&mut self, context: &AssignContext<'_, Specified>) -> Result<(), Failure> {
        let Self {
            counts,
            entry_of_row,
            group_of,
            members,
        } = self;
        counts.clear();
        entry_of_row.clear();
        entry_of_row.resize(context.clusters().len(), NONE);
        let are_counted = context.rules().any(|rule| rule.value("replicas").is_some());
        if !are_counted {
            counts.push(context.replicas());
        }
        for (entry, rule) in (0_u32..).zip(context.rules()) {
            match rule.value("replicas") {
                Some(count @ 0..) => counts.push(count),
                Some(count) => return Err(refused(rule, &format!("expected 0 replicas or more, got {count}"))),
                None if are_counted => {
                    return Err(refused(rule, "`replicas` is missing, though other entries give it"));
                }
                None => {}
            }
            if rule.rows().is_empty() {
                return Err(refused(rule, "matches no cluster"));
            }
            for &row in rule.rows() {
                let Some(owner) = entry_of_row.get_mut(row as usize) else {
                    continue;
                };
                if are_counted && *owner != NONE {
                    let first = context.rules().nth(*owner as usize).map_or("", |rule| rule.origin());
                    let cluster = context.clusters().get(row as usize).name();
                    return Err(refused(
                        rule,
                        &format!("cluster `{cluster}` is in the group of {first} already"),
                    ));
                }
                *owner = entry;
            }
        }
        let groups = counts.len() as u32;
        group_of.clear();
        group_of.extend(context.rows().iter().map(|&row| match entry_of_row.get(row as usize) {
            Some(&entry) if entry != NONE => {
                if are_counted {
                    entry
                } else {
                    0
                }
            }
            _ => groups,
        }));
        Ok(members.rebuild_from_tiers(group_of, counts.len() + 1)?)
    }

    /// The groups.
    pub fn iter(&self) -> impl Iterator<Item = Group<'_>> + Clone {
        self.counts.iter().enumerate().map(|(group, &replicas)| Group {
            members: self.members.members(group),
            replicas,
        })
    }

    /// The candidates in no group.
    pub(crate) fn outsiders(&self) -> &[u32] {
        self.members.members(self.counts.len())
    }

    /// Where the policy states a group.
    pub(crate) fn origin<'a>(&self, context: &AssignContext<'a, Specified>, group: usize) -> &'a str {
        context.rules().nth(group).map_or("", |rule| rule.origin())
    }

    /// What the host is told when the counts cannot be obeyed.
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
