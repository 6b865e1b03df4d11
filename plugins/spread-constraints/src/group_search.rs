//! Which groups to choose: Karmada's search (`select_groups.go`), with its results and without its cost.
//!
//! Karmada sorts the groups by size, weight and name and walks every ascending path through them. A path is recorded, and
//! not extended, as soon as it has enough groups and enough clusters; of all recorded paths it takes the one with the
//! largest sum of weights, then of clusters, then the one found first, and finally shortens it to the shortest recorded
//! path with which it begins, heaviest group first. That is exponential: 14 regions make thousands of paths, 100 make it
//! hang.
//!
//! What a path can still become depends only on how far the walk is, how many groups the path has, and how many clusters
//! (up to the number demanded). So the best completion is computed once for each such state, backwards, and the path read
//! off forwards. Taking a group before leaving it out, where both are equally good, gives the path that the walk finds
//! first. The number of states is the product of the three ranges; past [`STATES_MAXIMUM`] the search refuses.

/// A group, as the search sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    /// How many clusters it has; at least one.
    pub(crate) clusters: usize,
    /// What it is worth; not negative.
    pub(crate) weight: i128,
}

/// What a choice must satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Least number of groups.
    pub(crate) minimum: usize,
    /// Largest number of groups.
    pub(crate) maximum: usize,
    /// Least number of clusters in the groups together.
    pub(crate) clusters: usize,
}

/// How many states a search may have: about 30 ms of work. 100 groups in any number, with 1,600 clusters demanded, are
/// within it.
pub(crate) const STATES_MAXIMUM: usize = 1 << 24;

/// How many states a search may have whose memory is worth keeping for the next one.
const STATES_KEPT: usize = 1 << 16;

/// More choices are open than the search may look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyChoices;

/// The memory of searches, and the result of the last.
#[derive(Debug, Default)]
pub(crate) struct GroupSearch {
    /// Per number of groups and of clusters so far: the worth of the best completion.
    best: Vec<i128>,
    /// Per group and state: whether the best completion takes the group.
    takes: Vec<bool>,
    chosen: Vec<usize>,
}

/// The worth of a path that cannot be completed. Sums of real worths stay far above it.
const DEAD: i128 = i128::MIN / 2;

/// The states of one search.
#[derive(Debug, Clone, Copy)]
struct States {
    bounds: Bounds,
    /// Whether the maximum is no limit: then numbers of groups above the minimum are all the same.
    unlimited: bool,
    counts: usize,
    sums: usize,
}

impl States {
    fn new(groups: &[Group], bounds: Bounds) -> Self {
        let unlimited = bounds.maximum >= groups.len();
        Self {
            bounds,
            unlimited,
            counts: if unlimited { bounds.minimum + 1 } else { bounds.maximum },
            sums: bounds.clusters + 1,
        }
    }

    /// Whether a path with so many groups and clusters is recorded, and so ends.
    fn ends(&self, count: usize, sum: usize) -> bool {
        count >= self.bounds.minimum && sum >= self.bounds.clusters
    }

    /// The state after taking a group.
    fn take(&self, count: usize, sum: usize, group: Group) -> (usize, usize) {
        let count = match self.unlimited {
            true => (count + 1).min(self.bounds.minimum),
            false => count + 1,
        };
        (count, (sum + group.clusters).min(self.bounds.clusters))
    }
}

impl GroupSearch {
    /// The positions of the chosen groups in the order in which they rank; none if no choice satisfies the bounds.
    ///
    /// * `groups`: by clusters ascending, then weight descending, then name.
    /// * `names`: compares the names of the groups at two positions.
    pub(crate) fn choose(
        &mut self,
        groups: &[Group],
        bounds: Bounds,
        names: impl Fn(usize, usize) -> std::cmp::Ordering,
    ) -> Result<Option<&[usize]>, TooManyChoices> {
        let clusters: usize = groups.iter().map(|group| group.clusters).sum();
        let least = bounds.minimum.max(1);
        if least > groups.len() || least > bounds.maximum || clusters < bounds.clusters {
            return Ok(None);
        }
        // Nothing is demanded: Karmada records the empty path and goes no further.
        if bounds.minimum == 0 && bounds.clusters == 0 {
            return Ok(None);
        }
        let found = self.walk(groups, bounds)?;
        if self.takes.len() > STATES_KEPT {
            self.best = Vec::new();
            self.takes = Vec::new();
        }
        if !found {
            return Ok(None);
        }
        self.chosen.sort_unstable_by(|&left, &right| {
            let by_weight = groups[right].weight.cmp(&groups[left].weight);
            by_weight.then_with(|| names(left, right))
        });
        let shortest = shortest_recorded(&self.chosen, groups, bounds);
        self.chosen.truncate(shortest);
        Ok(Some(&self.chosen))
    }

    /// Finds the best recorded path, into `chosen`; whether there is one.
    fn walk(&mut self, groups: &[Group], bounds: Bounds) -> Result<bool, TooManyChoices> {
        let states = States::new(groups, bounds);
        let States { counts, sums, .. } = states;
        let layer = counts.checked_mul(sums).ok_or(TooManyChoices)?;
        let all = layer.checked_mul(groups.len()).ok_or(TooManyChoices)?;
        if all > STATES_MAXIMUM {
            return Err(TooManyChoices);
        }
        self.best.clear();
        self.best.resize(layer, DEAD);
        self.takes.clear();
        self.takes.resize(all, false);
        // One layer serves all positions: a state reads only states with more groups or clusters than it has itself, and
        // those are written after it.
        for (position, &group) in groups.iter().enumerate().rev() {
            let takes = &mut self.takes[position * layer..][..layer];
            for count in 0..counts.min(position + 1) {
                for sum in 0..sums {
                    if states.ends(count, sum) {
                        continue;
                    }
                    let (next_count, next_sum) = states.take(count, sum, group);
                    let rest = if states.ends(next_count, next_sum) {
                        0
                    } else if next_count >= counts {
                        DEAD
                    } else {
                        self.best[next_count * sums + next_sum]
                    };
                    let state = count * sums + sum;
                    let taken = worth(group) + rest;
                    if rest != DEAD && taken >= self.best[state] {
                        self.best[state] = taken;
                        takes[state] = true;
                    }
                }
            }
        }
        self.chosen.clear();
        let (mut count, mut sum) = (0, 0);
        for (position, &group) in groups.iter().enumerate() {
            if states.ends(count, sum) {
                break;
            }
            if self.takes[position * layer + count * sums + sum] {
                self.chosen.push(position);
                (count, sum) = states.take(count, sum, group);
            }
        }
        Ok(states.ends(count, sum))
    }
}

/// Weight first, then clusters: one number that adds up.
fn worth(group: Group) -> i128 {
    (group.weight << 32) + group.clusters as i128
}

/// The length of the shortest recorded path with which a recorded path begins, heaviest group first.
///
/// Karmada walks the recorded paths from the best down and shortens again and again. Weights are not negative and every
/// group has a cluster, so of two beginnings the longer comes first there, and the shortest is where it ends.
fn shortest_recorded(chosen: &[usize], groups: &[Group], bounds: Bounds) -> usize {
    let (mut sum, mut last) = (0, 0);
    for (before, &position) in chosen.iter().enumerate() {
        sum += groups[position].clusters;
        last = last.max(position);
        let enough = before + 1 >= bounds.minimum && sum >= bounds.clusters;
        // The path without its last position must not have been recorded, or the walk would have ended there.
        let without_last = sum - groups[last].clusters;
        let ended_before = before >= bounds.minimum && without_last >= bounds.clusters;
        if enough && !ended_before {
            return before + 1;
        }
    }
    chosen.len()
}
