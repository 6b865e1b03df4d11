//! Selection for a constraint by disjoint groups, with or without a constraint by cluster.
//!
//! This is Karmada's rule for regions (`select_clusters_by_region.go`), extended to providers and labels: choose the
//! groups, take the first cluster of each, and fill up from the chosen groups to the maximum of clusters. The capacity
//! of the candidates is not checked: it affects the weights of groups, and the strategy reports a shortage.

use std::cmp::Ordering;

use crate::constraints::Limits;
use crate::group_search::{Bounds, Group, GroupSearch};
use crate::grouping::{Demand, Groups};
use crate::order::Columns;
use crate::refusal::Refusal;

/// Buffers for choosing groups. Kept between calls only to reuse the memory.
#[derive(Debug, Default)]
pub(crate) struct ByGroup {
    search: GroupSearch,
    /// Groups sorted by number of clusters, weight and name, each with its number.
    ranked: Vec<(u32, Group)>,
    sorted: Vec<Group>,
    is_chosen: Vec<bool>,
}

/// Input of a selection: clusters in order, the group of each, the groups, and their limits.
pub(crate) struct Question<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) order: &'a [u32],
    /// Group of each entry of `order`.
    pub(crate) groups_of: &'a [u32],
    pub(crate) groups: &'a Groups,
    /// Name of the property in messages.
    pub(crate) property: &'a str,
    pub(crate) group_limits: Limits,
    pub(crate) cluster_limits: Limits,
    pub(crate) demand: Demand,
}

impl ByGroup {
    /// Calls `choose` for each candidate, in order of preference. `compare` returns the order of the names of two groups.
    ///
    /// # Errors
    /// The binding is unschedulable if no choice of groups satisfies the limits, or if the search exceeds its work
    /// limit. In either case, no candidate has been chosen.
    pub(crate) fn select(
        &mut self,
        question: &Question<'_>,
        compare: impl Fn(u32, u32) -> Ordering,
        mut choose: impl FnMut(u32),
    ) -> Result<(), Refusal> {
        let Question {
            groups,
            group_limits,
            cluster_limits,
            ..
        } = *question;
        if groups.len() < group_limits.minimum {
            return Err(Refusal::TooFewGroups {
                property: question.property.to_owned(),
                feasible: groups.len(),
                minimum: group_limits.minimum,
            });
        }
        self.rank(question, &compare);
        let (ranked, sorted) = (&self.ranked, &self.sorted);
        let bounds = Bounds {
            minimum: group_limits.minimum,
            maximum: group_limits.maximum,
            clusters: cluster_limits.minimum,
        };
        let chosen = self
            .search
            .choose(sorted, bounds, |left, right| compare(ranked[left].0, ranked[right].0))
            .map_err(|_| Refusal::TooManyChoices { groups: groups.len() })?
            .ok_or(Refusal::TooFewClustersInGroups {
                minimum: cluster_limits.minimum,
            })?;
        // The first cluster of every chosen group comes first, so that each group is represented regardless of the
        // maximum.
        self.is_chosen.clear();
        self.is_chosen.resize(groups.len(), false);
        let mut clusters = 0;
        for &position in chosen {
            let (group, Group { clusters: size, .. }) = ranked[position];
            self.is_chosen[group as usize] = true;
            clusters += size;
            choose(groups.members(group as usize)[0]);
        }
        let slots = clusters.min(cluster_limits.maximum);
        fill(question, &self.is_chosen, slots.saturating_sub(chosen.len()), choose);
        Ok(())
    }

    /// Computes the weights of the groups and sorts them in the order that the search expects.
    fn rank(&mut self, question: &Question<'_>, compare: &impl Fn(u32, u32) -> Ordering) {
        let Question {
            groups,
            columns,
            demand,
            ..
        } = *question;
        self.ranked.clear();
        self.ranked.extend((0..).take(groups.len()).map(|group: u32| {
            let clusters = groups.members(group as usize).len();
            let weight = groups.weight(group as usize, columns, demand);
            (group, Group { clusters, weight })
        }));
        self.ranked.sort_unstable_by(|(left, a), (right, b)| {
            let by_size = a.clusters.cmp(&b.clusters);
            let by_weight = b.weight.cmp(&a.weight);
            by_size.then(by_weight).then_with(|| compare(*left, *right))
        });
        self.sorted.clear();
        self.sorted.extend(self.ranked.iter().map(|&(_, group)| group));
    }
}

/// Calls `choose` for up to `slots` further clusters of the chosen groups, in order, skipping the first of each group.
fn fill(question: &Question<'_>, is_chosen: &[bool], slots: usize, choose: impl FnMut(u32)) {
    question
        .order
        .iter()
        .zip(question.groups_of)
        .filter(|&(&index, &group)| {
            is_chosen.get(group as usize) == Some(&true) && question.groups.members(group as usize)[0] != index
        })
        .take(slots)
        .map(|(&index, _)| index)
        .for_each(choose);
}
