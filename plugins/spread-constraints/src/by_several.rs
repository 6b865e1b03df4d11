//! Constraints by zone, or by several properties at once, with or without one by cluster: beyond Karmada.
//!
//! A cluster may lie in several zones, and a choice of regions may leave too few providers, so Karmada's search over
//! groups whose clusters are simply added up does not carry over. What does is its spirit: the same worth of groups, the
//! most valuable first, no more groups than the minimums need, first one cluster of each, then filled up from what is
//! chosen.
//!
//! The promise: for each property the candidates together show at least `minGroups` and at most `maxGroups` values, where
//! a cluster in several zones shows each of them, and they number what the constraint by cluster says. If any choice of
//! clusters does that, one is found: depth first over the kinds of clusters, from the most valuable down, going back where
//! a branch fails. Past [`STEPS_MAXIMUM`] looks at a kind the search refuses.

use crate::constraints::Limits;
use crate::grouping::Demand;
use crate::kinds::Kinds;
use crate::order::Columns;
use crate::refusal::Refusal;

/// How often a search may look at a kind: about 20 ms of work. It also bounds the depth of the recursion: a branch of that
/// depth has looked at a kind for every pair of its steps.
pub(crate) const STEPS_MAXIMUM: usize = 1 << 21;

/// What the search works with. Kept between calls for its memory alone.
#[derive(Debug, Default)]
pub(crate) struct BySeveral {
    /// Kinds from the most valuable down.
    ranked: Vec<(i128, u32)>,
    /// Per group: how many chosen kinds show it.
    shown: Vec<u32>,
    /// Per group: its property.
    property_of: Vec<usize>,
    /// Per property: how many of its groups are shown.
    counts: Vec<usize>,
    /// Kinds with which every extension of the present choice was looked at, and per kind whether it is one.
    exhausted: Vec<u32>,
    is_exhausted: Vec<bool>,
    /// Kinds in the order in which they were chosen, and per kind whether it is one once the search is over.
    chosen: Vec<u32>,
    is_chosen: Vec<bool>,
    /// Per kind: whether its clusters show nothing but what the chosen ones show.
    is_admitted: Vec<bool>,
}

/// The question: clusters in order, their kinds, and the limits.
pub(crate) struct Question<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) order: &'a [u32],
    pub(crate) kinds: &'a Kinds,
    /// Name and limits of each property, in the order in which minimums are satisfied.
    pub(crate) properties: &'a [(&'a str, Limits)],
    pub(crate) cluster_limits: Limits,
    pub(crate) duplicated: bool,
    pub(crate) replicas: i64,
}

impl BySeveral {
    /// Calls `choose` for each candidate, in order of preference.
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
        let clusters = kinds.clusters();
        for &kind in &self.chosen {
            self.is_chosen[kind as usize] = true;
            choose(clusters.of(kind as usize)[0]);
        }
        self.is_admitted.clear();
        let (is_admitted, shown) = (&mut self.is_admitted, &self.shown);
        is_admitted.extend((0..kinds.len()).map(|kind| admits(shown, kinds, kind)));
        let room = question.cluster_limits.maximum.saturating_sub(self.chosen.len());
        question
            .order
            .iter()
            .zip(kinds.of())
            .filter(|&(&place, &kind)| {
                let kind = kind as usize;
                self.is_admitted.get(kind) == Some(&true) && !(self.is_chosen[kind] && clusters.of(kind)[0] == place)
            })
            .take(room)
            .for_each(|(&place, _)| choose(place));
        Ok(())
    }

    /// Ranks the kinds and forgets the last search.
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
        // Equals stay in the order of their first clusters, in which kinds are numbered.
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

/// Whether the clusters of a kind show nothing but what is shown already.
fn admits(shown: &[u32], kinds: &Kinds, kind: usize) -> bool {
    kinds.groups(kind).all(|group| shown[group] > 0)
}

/// Refuses what no search is needed for: too few groups of a property, too few clusters.
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
        .map(|kind| question.kinds.clusters().of(kind).len())
        .sum();
    if grouped < minimum.max(1) {
        return Err(Refusal::TooFewClustersInGroups { minimum });
    }
    Ok(())
}

/// One search: what is asked, how far it is, and how many steps are left.
struct Search<'a, 'question> {
    question: &'a Question<'question>,
    state: &'a mut BySeveral,
    steps: usize,
}

impl Search<'_, '_> {
    /// Chooses further kinds until the choice satisfies the constraints; whether it came to that.
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
            // Every choice with this kind was looked at now, so no later one needs it, until the choice so far changes.
            self.state.is_exhausted[kind as usize] = true;
            self.state.exhausted.push(kind);
        }
        for kind in self.state.exhausted.drain(known..) {
            self.state.is_exhausted[kind as usize] = false;
        }
        Ok(false)
    }

    /// The first property that shows too few groups.
    fn lacking(&self) -> Option<usize> {
        let counts = self.state.counts.iter();
        let mut limits = counts.zip(self.question.properties);
        limits.position(|(&count, (_, limits))| count < limits.minimum)
    }

    /// Whether the clusters that show nothing but what is shown are enough; at least one must be.
    fn has_enough_clusters(&mut self) -> Result<bool, Refusal> {
        let kinds = self.question.kinds;
        self.spend(kinds.len())?;
        let enough = self.question.cluster_limits.minimum.max(1);
        let mut clusters = 0;
        for kind in 0..kinds.len() {
            if admits(&self.state.shown, kinds, kind) {
                clusters += kinds.clusters().of(kind).len();
            }
        }
        Ok(clusters >= enough)
    }

    /// Whether choosing a kind brings something new, in the lacking property if one is, and breaks no maximum.
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

    /// How many groups of a property a kind shows that are not shown yet.
    fn new_groups(&self, kind: usize, property: usize) -> usize {
        let groups = self.question.kinds.groups(kind);
        groups
            .filter(|&group| self.state.property_of[group] == property && self.state.shown[group] == 0)
            .count()
    }

    fn spend(&mut self, steps: usize) -> Result<(), Refusal> {
        self.steps = self.steps.checked_sub(steps).ok_or_else(|| Refusal::TooManyChoices {
            groups: self.question.kinds.group_count(),
        })?;
        Ok(())
    }
}
