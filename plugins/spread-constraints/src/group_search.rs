//! Choice of groups, with the results of Karmada's search (`select_groups.go`) at a lower cost.
//!
//! Karmada sorts the groups by size, weight and name, and walks every ascending path through them. As soon as a path
//! has enough groups and clusters, it is recorded and not extended further. Of all recorded paths, Karmada takes the
//! one with the largest sum of weights, then of clusters, then the one found first. With its groups sorted by weight,
//! it finally shortens that path to its shortest recorded prefix. This is exponential: 14 regions make thousands of
//! paths, and 100 make it hang.
//!
//! The possible completions of a path depend only on the position of the walk, the number of groups in the path, and
//! the number of clusters in it (up to the required number). So this search computes the best completion for each such
//! state backwards, and then reads off the path forwards. If taking and skipping a group are equally good, taking it
//! yields the path that the walk finds first. The number of states is the product of the three ranges; beyond
//! [`STATES_MAXIMUM`], the search returns an error.

/// Properties of a group that the search uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    /// Number of clusters; at least 1.
    pub(crate) clusters: usize,
    /// Weight of the group; not negative.
    pub(crate) weight: i128,
}

/// Limits that a choice of groups must satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Minimum number of groups.
    pub(crate) minimum: usize,
    /// Maximum number of groups.
    pub(crate) maximum: usize,
    /// Minimum number of clusters in all chosen groups together.
    pub(crate) clusters: usize,
}

/// Maximum number of states in a search, about 30 ms of work. Choosing any number of 100 groups with at least 1,600
/// clusters is within this limit.
pub(crate) const STATES_MAXIMUM: usize = 1 << 24;

/// Maximum number of states for which the memory is kept for the next search.
const STATES_KEPT: usize = 1 << 16;

/// The search would exceed [`STATES_MAXIMUM`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyChoices;

/// Buffers of the search, and its last result.
#[derive(Debug, Default)]
pub(crate) struct GroupSearch {
    /// Value of the best completion, by number of groups and number of clusters so far.
    best: Vec<i128>,
    /// By group and state, true if the best completion takes the group.
    takes: Vec<bool>,
    chosen: Vec<usize>,
}

/// Value of a path that cannot be completed. All other values are sums of numbers that are not negative.
const DEAD: i128 = -1;

/// State space of one search.
#[derive(Debug, Clone, Copy)]
struct States {
    bounds: Bounds,
    /// True if the maximum does not limit the choice. Then all numbers of groups from the minimum on share one state.
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

    /// True if a path with this many groups and clusters is recorded and ends.
    fn ends(&self, count: usize, sum: usize) -> bool {
        count >= self.bounds.minimum && sum >= self.bounds.clusters
    }

    /// Numbers of clusters that a path with this many groups can have without being recorded. Every group has a cluster, so a path
    /// has at least as many clusters as groups, and none at its start.
    fn open_sums(&self, count: usize) -> std::ops::Range<usize> {
        let enough = self.bounds.clusters;
        if count >= self.bounds.minimum {
            // With enough clusters it would be recorded.
            count.min(enough)..enough
        } else if count == 0 {
            // The start. Without a minimum of groups, the case above applies: there, 0 may mean any number of them.
            0..1
        } else {
            count.min(enough)..enough + 1
        }
    }

    /// Number of groups after taking one more.
    fn next_count(&self, count: usize) -> usize {
        match self.unlimited {
            true => (count + 1).min(self.bounds.minimum),
            false => count + 1,
        }
    }

    /// Number of clusters after taking a group, up to the required number.
    fn next_sum(&self, sum: usize, group: Group) -> usize {
        (sum + group.clusters).min(self.bounds.clusters)
    }
}

impl GroupSearch {
    /// Returns the positions of the chosen groups, by weight descending and then name; `None` if no choice satisfies
    /// the bounds.
    ///
    /// * `groups`: sorted by clusters ascending, weight descending, then name.
    /// * `names`: compares the names of the groups at two positions.
    ///
    /// # Errors
    /// Returns [`TooManyChoices`] without searching if the search would be too expensive.
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
        // Without minimums Karmada records the empty path and stops.
        if bounds.minimum == 0 && bounds.clusters == 0 {
            return Ok(None);
        }
        let found = self.walk(groups, bounds)?;
        // A rare large search must not keep its memory.
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

    /// Writes the best recorded path to `chosen`. Returns false if there is none.
    fn walk(&mut self, groups: &[Group], bounds: Bounds) -> Result<bool, TooManyChoices> {
        let states = States::new(groups, bounds);
        let States { counts, sums, .. } = states;
        let layer = counts.checked_mul(sums).ok_or(TooManyChoices)?;
        let all = layer.checked_mul(groups.len()).ok_or(TooManyChoices)?;
        if all > STATES_MAXIMUM {
            return Err(TooManyChoices);
        }
        // After these states come those with too many groups. A recorded path gains nothing more; all other states are
        // dead until a completion is found.
        self.best.clear();
        self.best.resize(layer + sums, DEAD);
        for count in bounds.minimum..=counts {
            self.best[count * sums + bounds.clusters] = 0;
        }
        self.takes.clear();
        self.takes.resize(all, false);
        // One layer is enough for all positions: a state reads only states with more groups or clusters, which are
        // overwritten after it.
        for (position, &group) in groups.iter().enumerate().rev() {
            let takes = &mut self.takes[position * layer..][..layer];
            let worth = worth(group);
            for count in 0..counts.min(position + 1) {
                let (row, next_row) = (count * sums, states.next_count(count) * sums);
                for sum in states.open_sums(count) {
                    let rest = self.best[next_row + states.next_sum(sum, group)];
                    let taken = worth + rest;
                    if rest >= 0 && taken >= self.best[row + sum] {
                        self.best[row + sum] = taken;
                        takes[row + sum] = true;
                    }
                }
            }
        }
        // Follow the best completions from the start to read off the path.
        self.chosen.clear();
        let (mut count, mut sum) = (0, 0);
        for (position, &group) in groups.iter().enumerate() {
            if states.ends(count, sum) {
                break;
            }
            if self.takes[position * layer + count * sums + sum] {
                self.chosen.push(position);
                (count, sum) = (states.next_count(count), states.next_sum(sum, group));
            }
        }
        Ok(states.ends(count, sum))
    }
}

/// Combines weight and clusters, in this order of significance, into one number that can be summed.
fn worth(group: Group) -> i128 {
    (group.weight << 32) + group.clusters as i128
}

/// Length of the shortest recorded prefix of a recorded path, with groups sorted by descending weight.
///
/// Karmada walks the recorded paths from the best down and shortens repeatedly. Weights are not negative and every
/// group has a cluster, so the longer of two prefixes comes first, and the repetition ends at the shortest.
fn shortest_recorded(chosen: &[usize], groups: &[Group], bounds: Bounds) -> usize {
    let (mut sum, mut last) = (0, 0);
    for (before, &position) in chosen.iter().enumerate() {
        sum += groups[position].clusters;
        last = last.max(position);
        let enough = before + 1 >= bounds.minimum && sum >= bounds.clusters;
        // If the walk had already recorded the path without its last position, it would have ended there.
        let without_last = sum - groups[last].clusters;
        let ended_before = before >= bounds.minimum && without_last >= bounds.clusters;
        if enough && !ended_before {
            return before + 1;
        }
    }
    chosen.len()
}
