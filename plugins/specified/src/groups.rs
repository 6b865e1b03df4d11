//! Groups of candidates, read from the entries of the policy.
//!
//! An entry with a count is a separate group. Entries without counts (a plain list of regions) together form one group,
//! whose count is the binding's replicas. Invalid entries are rejected here, over all clusters of the snapshot rather
//! than only the candidates, so that a contradiction is reported even while one of its clusters is not feasible. The
//! division is in [`specified`](crate::specified).

use divvy_framework::binding::Rule;
use divvy_framework::clusters::Clusters;
use divvy_framework::division::tiers::TierMembers;
use divvy_framework::prelude::*;

use crate::Specified;
use crate::specified::{Group, SpecifiedError};

/// Marks a cluster that no entry names.
const NONE: u32 = u32::MAX;

/// Groups of one binding. Kept between calls only to reuse the memory.
#[derive(Debug, Default)]
pub struct Groups {
    counts: Vec<i64>,
    /// Entry that names each cluster of the snapshot, or [`NONE`].
    entry_of_row: Vec<u32>,
    /// Group of each candidate; candidates in no group have the number of groups.
    group_of: Vec<u32>,
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
            entry_of_row,
            group_of,
            members,
        } = self;
        counts.clear();
        entry_of_row.clear();
        entry_of_row.resize(context.clusters().len(), NONE);
        // Without counts, all entries belong to a single group, and clusters may appear in several entries.
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
                return Err(refused(rule, &without_cluster(rule, &context.clusters())));
            }
            for row in rule.rows() {
                // The whole snapshot is checked, not only the candidates.
                let Some(owner) = entry_of_row.get_mut(row.index()) else {
                    continue;
                };
                if are_counted && *owner != NONE {
                    let first = context.rules().nth(*owner as usize).map_or("", |rule| rule.origin());
                    let cluster = context.clusters().get(*row).name();
                    return Err(refused(
                        rule,
                        &format!("cluster `{cluster}` is already in the group of {first}"),
                    ));
                }
                *owner = entry;
            }
        }
        // Candidates outside all groups become the last "tier", so that one pass collects the members of all groups.
        let groups = counts.len() as u32;
        group_of.clear();
        group_of.extend(
            context
                .rows()
                .iter()
                .map(|(_, row)| match entry_of_row.get(row.index()) {
                    Some(&entry) if entry != NONE => {
                        if are_counted {
                            entry
                        } else {
                            0
                        }
                    }
                    _ => groups,
                }),
        );
        Ok(members.rebuild_from_tiers(group_of, counts.len() + 1)?)
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

/// Why an entry matches no cluster: the names that it gives, if none of them exists.
fn without_cluster<'a>(rule: Rule<'a>, clusters: &Clusters<'a>) -> String {
    let target = rule
        .target()
        .filter(|target| target.cluster_rows(clusters).all(|row| row.is_none()));
    let names = target.into_iter().flat_map(|target| target.cluster_names());
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "matches no cluster".to_owned(),
        names => format!("no cluster is named {}", names.join(" or ")),
    }
}

fn refused(rule: Rule<'_>, message: &str) -> Failure {
    Failure::preferences(rule.origin(), message)
}
