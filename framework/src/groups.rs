//! Groups of clusters: those that the entries of a policy's lists make, and sharing replicas among any.

mod sharing;
#[cfg(all(test, feature = "testing"))]
mod tests;

pub use sharing::Group;

use crate::assign::AssignContext;
use crate::binding::Rule;
use crate::clusters::Clusters;
use crate::plugin::{Failure, Plugin};

/// Marks a cluster that no entry names.
const NONE: u32 = u32::MAX;

/// The groups that the entries of a policy make, for [`division::within_groups`](crate::division::within_groups) and others.
///
/// Keep it from call to call to reuse its memory.
///
/// ```
/// use divvy_framework::groups::RuleGroups;
/// use divvy_framework::prelude::*;
///
/// fn group_of(context: &AssignContext<'_, impl Plugin>) -> Result<Vec<u32>, Failure> {
///     let mut groups = RuleGroups::default();
///     groups.read(context)?;
///     Ok(groups.group_of().to_vec())
/// }
/// ```
#[derive(Debug, Default)]
pub struct RuleGroups {
    entry_of_row: Vec<u32>,
    group_of: Vec<u32>,
}

impl RuleGroups {
    /// Reads the groups from the entries of the policy's lists for this strategy.
    ///
    /// # Errors
    ///
    /// [`Failure::Preferences`], which names the entry, if it matches no cluster or has a cluster in common with an
    /// earlier entry. It checks all clusters of the snapshot, so a contradiction is reported even if a cluster is not a
    /// candidate.
    pub fn read<P: Plugin, Accepted>(&mut self, context: &AssignContext<'_, P, Accepted>) -> Result<(), Failure> {
        let Self { entry_of_row, group_of } = self;
        entry_of_row.clear();
        entry_of_row.resize(context.clusters().len(), NONE);
        for (entry, rule) in (0_u32..).zip(context.rules()) {
            check_matches(rule, &context.clusters())?;
            for row in rule.rows() {
                let Some(owner) = entry_of_row.get_mut(row.index()) else {
                    continue;
                };
                if *owner != NONE {
                    let first = context.rules().nth(*owner as usize).map_or("", |rule| rule.origin());
                    let cluster = context.clusters().get(*row).name();
                    let message = format!("cluster `{cluster}` is already in the group of {first}");
                    return Err(Failure::preferences(rule.origin(), message));
                }
                *owner = entry;
            }
        }
        let groups = context.rules().len() as u32;
        let entries = context.rows().iter().map(|(_, row)| entry_of_row.get(row.index()));
        group_of.clear();
        group_of.extend(entries.map(|entry| entry.map_or(groups, |entry| groups.min(*entry))));
        Ok(())
    }

    /// Reads all entries as one group: 0 for each candidate that an entry names, and 1 for the others. Entries may have clusters in
    /// common.
    ///
    /// # Errors
    ///
    /// [`Failure::Preferences`], which names the entry, if it matches no cluster.
    pub fn read_as_one<P: Plugin, Accepted>(
        &mut self,
        context: &AssignContext<'_, P, Accepted>,
    ) -> Result<(), Failure> {
        let Self { entry_of_row, group_of } = self;
        entry_of_row.clear();
        entry_of_row.resize(context.clusters().len(), 1);
        for rule in context.rules() {
            check_matches(rule, &context.clusters())?;
            for row in rule.rows() {
                if let Some(group) = entry_of_row.get_mut(row.index()) {
                    *group = 0;
                }
            }
        }
        let groups = context.rows().iter().map(|(_, row)| entry_of_row.get(row.index()));
        group_of.clear();
        group_of.extend(groups.map(|group| group.map_or(1, |group| *group)));
        Ok(())
    }

    /// The group of each candidate. After [`Self::read`], the index of its entry among [`AssignContext::rules`], or their number for
    /// a candidate that no entry names.
    pub fn group_of(&self) -> &[u32] {
        &self.group_of
    }
}

/// Refuses an entry that matches no cluster of the snapshot.
///
/// # Errors
///
/// [`Failure::Preferences`] with the names that the entry gives if none of them exists.
fn check_matches(rule: Rule<'_>, clusters: &Clusters<'_>) -> Result<(), Failure> {
    if !rule.rows().is_empty() {
        return Ok(());
    }
    let target = rule.target();
    let target = target.filter(|target| target.cluster_rows(clusters).all(|row| row.is_none()));
    let names = target.into_iter().flat_map(|target| target.cluster_names());
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let message = match names.as_slice() {
        [] => "matches no cluster".to_owned(),
        names => format!("no cluster is named {}", names.join(" or ")),
    };
    Err(Failure::preferences(rule.origin(), message))
}
