//! Selection for constraints by zone or by several properties, with or without a constraint by cluster; beyond Karmada.
//!
//! A cluster may be in several zones, and a choice of regions may leave too few providers, so Karmada's search, which
//! adds up the clusters of disjoint groups, does not apply. The principles are the same: groups are weighted in the
//! same way and tried by descending weight, no more groups are chosen than the minimums require, and the first cluster
//! of each is followed by other clusters of the chosen groups.
//!
//! For each property, the candidates together have at least `minGroups` and at most `maxGroups` values, where a cluster
//! in several zones has each of them. The number of candidates satisfies the constraint by cluster. If any choice of
//! clusters satisfies the constraints, the search finds one: it goes depth first over the kinds of clusters, by
//! descending weight, and backtracks if a branch fails. After [`STEPS_MAXIMUM`] visits to a kind, the search gives up
//! with an error.

use crate::constraints::Limits;
use crate::grouping::Demand;
use crate::kinds::Kinds;
use crate::order::Columns;
use crate::refusal::Refusal;

/// Maximum number of visits to a kind per search, about 20 ms of work. It also limits the depth of the recursion: the
/// number of visits is at least quadratic in the depth of a branch.
pub(crate) const STEPS_MAXIMUM: usize = 1 << 21;

/// State of the search. Kept between calls only to reuse the memory.
#[derive(Debug, Default)]
pub(crate) struct BySeveral {
    /// Kinds with their weights, largest weight first.
    ranked: Vec<(i128, u32)>,
    /// Number of chosen kinds in each group.
    shown: Vec<u32>,
    /// Property of each group.
    property_of: Vec<usize>,
    /// Number of groups per property that contain a chosen kind.
    counts: Vec<usize>,
    /// Kinds for which every extension of the current choice has been visited, as a list and as flags.
    exhausted: Vec<u32>,
    is_exhausted: Vec<bool>,
    /// Chosen kinds in the order of their choice, and as flags that are set when the search is complete.
    chosen: Vec<u32>,
    is_chosen: Vec<bool>,
    /// Kinds whose groups all contain a chosen kind, so that their clusters may fill up the choice.
    is_admitted: Vec<bool>,
}

/// Input of a selection: clusters in order, their kinds, and the limits.
pub(crate) struct Question<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) order: &'a [u32],
    pub(crate) kinds: &'a Kinds,
    /// Name and limits of each property; minimums are satisfied in this order.
    pub(crate) properties: &'a [(&'a str, Limits)],
    pub(crate) cluster_limits: Limits,
    pub(crate) duplicated: bool,
    pub(crate) replicas: i64,
}

impl BySeveral {
    /// Calls `choose` for each candidate, in order of preference.
    ///
    /// # Errors
    /// The binding is unschedulable if no choice satisfies all constraints, or if the search exceeds its work limit. In
    /// either case, no candidate has been chosen.
    pub(crate) fn select(&mut self, question: &Question<'_>, mut choose: impl FnMut(u32)) -> Result<(), Refusal> {
        let kinds = question.kinds;
        refuse_shortage(question)?;
        self.start(question);
        let mut search = Search {
            question,
            state: self,
            steps: STEPS_MAXIMUM,
        };
        if !search.extend()? {
            return Err(Refusal::Contradiction);
        }
        // The first cluster of each chosen kind is enough to satisfy the minimums of all properties.
        let clusters = kinds.clusters();
        for &kind in &self.chosen {
            self.is_chosen[kind as usize] = true;
            choose(clusters.members(kind as usize)[0]);
        }
        // Further clusters must not contribute new values, which could exceed a maximum.
        self.is_admitted.clear();
        let (is_admitted, shown) = (&mut self.is_admitted, &self.shown);
        is_admitted.extend((0..kinds.len()).map(|kind| admits(shown, kinds, kind)));
        let room = question.cluster_limits.maximum.saturating_sub(self.chosen.len());
        question
            .order
            .iter()
            .zip(kinds.by_cluster())
            .filter(|&(&index, &kind)| {
                let kind = kind as usize;
                self.is_admitted.get(kind) == Some(&true)
                    && !(self.is_chosen[kind] && clusters.members(kind)[0] == index)
            })
            .take(room)
            .for_each(|(&index, _)| choose(index));
        Ok(())
    }

    /// Ranks the kinds and resets the state of the previous search.
    fn start(&mut self, question: &Question<'_>) {
        let kinds = question.kinds;
        let largest_minimum = question.properties.iter().map(|(_, limits)| limits.minimum);
        let demand = Demand::new(
            question.duplicated,
            question.replicas,
            largest_minimum.max().unwrap_or(1),
            question.cluster_limits.minimum,
        );
        self.ranked.clear();
        self.ranked.extend((0..).take(kinds.len()).map(|kind: u32| {
            let weight = kinds.clusters().weight(kind as usize, question.columns, demand);
            (weight, kind)
        }));
        // Kinds are numbered by their first clusters, so this keeps equal weights in the order of the clusters.
        self.ranked
            .sort_unstable_by_key(|&(weight, kind)| (std::cmp::Reverse(weight), kind));
        self.shown.clear();
        self.shown.resize(kinds.group_count(), 0);
        self.property_of.clear();
        for property in 0..question.properties.len() {
            let groups = kinds.groups_of_property(property).len();
            self.property_of.extend(std::iter::repeat_n(property, groups));
        }
        self.counts.clear();
        self.counts.resize(question.properties.len(), 0);
        for flags in [&mut self.is_exhausted, &mut self.is_chosen] {
            flags.clear();
            flags.resize(kinds.len(), false);
        }
        self.exhausted.clear();
        self.chosen.clear();
    }

    fn add(&mut self, kinds: &Kinds, kind: u32) {
        for group in kinds.groups(kind as usize) {
            self.shown[group] += 1;
            if self.shown[group] == 1 {
                self.counts[self.property_of[group]] += 1;
            }
        }
        self.chosen.push(kind);
    }

    fn remove_last(&mut self, kinds: &Kinds) {
        let Some(kind) = self.chosen.pop() else {
            return;
        };
        for group in kinds.groups(kind as usize) {
            self.shown[group] -= 1;
            if self.shown[group] == 0 {
                self.counts[self.property_of[group]] -= 1;
            }
        }
    }
}

/// True if every group of the kind already contains a chosen kind.
fn admits(shown: &[u32], kinds: &Kinds, kind: usize) -> bool {
    kinds.groups(kind).all(|group| shown[group] > 0)
}

/// Reports shortages that need no search: too few groups of a property, or too few clusters.
fn refuse_shortage(question: &Question<'_>) -> Result<(), Refusal> {
    for (property, &(name, limits)) in question.properties.iter().enumerate() {
        let feasible = question.kinds.groups_of_property(property).len();
        if feasible < limits.minimum {
            return Err(Refusal::TooFewGroups {
                property: name.to_owned(),
                feasible,
                minimum: limits.minimum,
            });
        }
    }
    let minimum = question.cluster_limits.minimum;
    let grouped: usize = (0..question.kinds.len())
        .map(|kind| question.kinds.clusters().members(kind).len())
        .sum();
    if grouped < minimum.max(1) {
        return Err(Refusal::TooFewClustersInGroups { minimum });
    }
    Ok(())
}

/// A running search: its input, its state, and the remaining steps.
struct Search<'a, 'question> {
    question: &'a Question<'question>,
    state: &'a mut BySeveral,
    steps: usize,
}

impl Search<'_, '_> {
    /// Chooses further kinds until the choice satisfies the constraints. Returns false, with the choice restored, if
    /// that is impossible.
    fn extend(&mut self) -> Result<bool, Refusal> {
        let lacking = self.lacking();
        if lacking.is_none() && self.has_enough_clusters()? {
            return Ok(true);
        }
        if self.state.chosen.len() >= self.question.cluster_limits.maximum {
            return Ok(false);
        }
        let kinds = self.question.kinds;
        let known = self.state.exhausted.len();
        for rank in 0..kinds.len() {
            self.spend(1)?;
            let (_, kind) = self.state.ranked[rank];
            if self.state.is_exhausted[kind as usize] || !self.is_open(kind as usize, lacking) {
                continue;
            }
            self.state.add(kinds, kind);
            if self.extend()? {
                return Ok(true);
            }
            self.state.remove_last(kinds);
            // Every extension with this kind has been visited, so later branches skip it until the choice so far
            // changes.
            self.state.is_exhausted[kind as usize] = true;
            self.state.exhausted.push(kind);
        }
        for kind in self.state.exhausted.drain(known..) {
            self.state.is_exhausted[kind as usize] = false;
        }
        Ok(false)
    }

    /// First property with fewer groups than its minimum.
    fn lacking(&self) -> Option<usize> {
        let counts = self.state.counts.iter();
        let mut limits = counts.zip(self.question.properties);
        limits.position(|(&count, (_, limits))| count < limits.minimum)
    }

    /// True if the clusters without new groups satisfy the constraint by cluster; at least one is required.
    fn has_enough_clusters(&mut self) -> Result<bool, Refusal> {
        let kinds = self.question.kinds;
        self.spend(kinds.len())?;
        let enough = self.question.cluster_limits.minimum.max(1);
        let mut clusters = 0;
        for kind in 0..kinds.len() {
            if admits(&self.state.shown, kinds, kind) {
                clusters += kinds.clusters().members(kind).len();
            }
        }
        Ok(clusters >= enough)
    }

    /// True if choosing a kind adds a new group (of the lacking property, if there is one) and exceeds no maximum.
    fn is_open(&self, kind: usize, lacking: Option<usize>) -> bool {
        let mut brings = false;
        for (property, (_, limits)) in self.question.properties.iter().enumerate() {
            let new = self.new_groups(kind, property);
            if self.state.counts[property].saturating_add(new) > limits.maximum {
                return false;
            }
            brings |= new > 0 && lacking.is_none_or(|lacking| lacking == property);
        }
        brings
    }

    /// Number of groups of a property that choosing a kind would add.
    fn new_groups(&self, kind: usize, property: usize) -> usize {
        let groups = self.question.kinds.groups(kind);
        groups
            .filter(|&group| self.state.property_of[group] == property && self.state.shown[group] == 0)
            .count()
    }

    /// Counts visited kinds. Returns an error once the search exceeds its work limit.
    fn spend(&mut self, steps: usize) -> Result<(), Refusal> {
        self.steps = self.steps.checked_sub(steps).ok_or_else(|| Refusal::TooManyChoices {
            groups: self.question.kinds.group_count(),
        })?;
        Ok(())
    }
}
