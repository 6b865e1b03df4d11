//! Clusters by group, in order of preference within each group, and the weights of groups.
//!
//! Groups are numbered by their first appearance in the order, and the members of all groups share one list, so that a
//! warm call does not allocate. The weight is Karmada's (`group_clusters.go`): 1000 per replica that the group can
//! take, plus the mean score of the clusters that take them.

use divvy_framework::clusters::Symbol;

use crate::order::Columns;

/// Group number of a cluster in no group.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// Replicas that a group should take, on which its weight depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Every cluster takes all replicas.
    Each { replicas: i64 },
    /// The replicas are divided: each group aims at this many replicas on this many clusters.
    Share { replicas: i64, clusters: usize },
}

impl Demand {
    /// Demand on each of at least `groups` groups that together have at least `clusters` clusters.
    pub(crate) fn new(duplicated: bool, replicas: i64, groups: usize, clusters: usize) -> Self {
        if duplicated {
            return Self::Each { replicas };
        }
        let divisor = i64::try_from(groups.max(1)).unwrap_or(i64::MAX);
        let rest = i64::from(replicas % divisor > 0);
        Self::Share {
            replicas: replicas / divisor + rest,
            // In Karmada each group aims at the number of clusters for all groups.
            clusters: clusters.max(groups),
        }
    }
}

/// Clusters of each group. Kept between calls only to reuse the memory.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// End of each group's members; a group begins where the previous one ends.
    ends: Vec<u32>,
    members: Vec<u32>,
}

impl Groups {
    /// Distributes the clusters of `order` among `count` groups. `groups` has the group of each entry of `order`.
    pub(crate) fn fill(&mut self, count: usize, order: &[u32], groups: &[u32]) {
        self.ends.clear();
        self.ends.resize(count, 0);
        for &group in groups {
            if let Some(size) = self.ends.get_mut(group as usize) {
                *size += 1;
            }
        }
        // Turn sizes into starts; filling in the members then advances each start to the end of its group.
        let mut start = 0;
        for end in &mut self.ends {
            start += std::mem::replace(end, start);
        }
        self.members.clear();
        self.members.resize(start as usize, 0);
        for (&index, &group) in order.iter().zip(groups) {
            if let Some(end) = self.ends.get_mut(group as usize) {
                self.members[*end as usize] = index;
                *end += 1;
            }
        }
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Clusters of a group, in order; at least one.
    pub(crate) fn members(&self, group: usize) -> &[u32] {
        let start = match group {
            0 => 0,
            group => self.ends[group - 1] as usize,
        };
        &self.members[start..self.ends[group] as usize]
    }

    /// Weight of a group; see [`weight`].
    pub(crate) fn weight(&self, group: usize, columns: Columns<'_>, demand: Demand) -> i128 {
        weight(self.members(group), columns, demand)
    }
}

/// Weight of a group with these clusters, in order. Never negative.
pub(crate) fn weight(clusters: &[u32], columns: Columns<'_>, demand: Demand) -> i128 {
    let (taken, scores, among) = match demand {
        Demand::Each { replicas } => {
            let roomy = || clusters.iter().filter(|&&index| columns.available(index) >= replicas);
            let count = roomy().count();
            let scores = roomy().map(|&index| i128::from(columns.score(index))).sum();
            (count as i128, scores, count)
        }
        Demand::Share {
            replicas,
            clusters: enough,
        } => {
            let wanted = i128::from(replicas);
            let (mut held, mut scores, mut counted) = (0, 0, 0);
            for &index in clusters {
                held += i128::from(columns.available(index));
                scores += i128::from(columns.score(index));
                counted += 1;
                if counted >= enough && held >= wanted {
                    break;
                }
            }
            (held.min(wanted), scores, counted)
        }
    };
    let among = among.max(1);
    let mean = match (i64::try_from(scores), i64::try_from(among)) {
        // Scores hardly ever need 128 bits, whose division takes several times as long.
        (Ok(scores), Ok(among)) => i128::from(scores / among),
        _ => scores / among as i128,
    };
    (taken * 1000 + mean).max(0)
}

/// Numbers values by their first appearance. Kept between calls only to reuse the memory.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// Number of each symbol plus 1; 0 for symbols without a number.
    numbers: Vec<u32>,
    values: Vec<Symbol>,
}

impl Numbering {
    /// Resets all numbers, for values of a snapshot with this many symbols.
    pub(crate) fn reset(&mut self, symbols: usize) {
        // Reset only the used entries: a snapshot has many more symbols than groups.
        for value in self.values.drain(..) {
            self.numbers[value.index()] = 0;
        }
        if self.numbers.len() < symbols {
            self.numbers.resize(symbols, 0);
        }
    }

    /// Returns the number of a value, assigning the next one to a new value.
    #[inline]
    pub(crate) fn number(&mut self, value: Symbol) -> u32 {
        let Some(slot) = self.numbers.get_mut(value.index()) else {
            return NO_GROUP;
        };
        if *slot == 0 {
            self.values.push(value);
            *slot = self.values.len() as u32;
        }
        *slot - 1
    }

    /// Values, indexed by their numbers.
    pub(crate) fn values(&self) -> &[Symbol] {
        &self.values
    }
}
