//! Clusters by group, in the order of preference within each group, and what a group is worth.
//!
//! Groups are numbered as they first appear in the order, and the members of all groups lie in one list, so that a warm
//! call allocates nothing. The worth is Karmada's (`group_clusters.go`): how many replicas the group can take in
//! thousands, and the mean score of the clusters that take them below that.

use divvy_framework::clusters::Symbol;

use crate::order::Columns;

/// The number that stands for "in no group".
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// How the replicas of the binding go to clusters, as far as the worth of a group depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Every cluster takes them all.
    Each { replicas: i64 },
    /// The clusters share them: each group is to have so many clusters, which hold so many together.
    Share { replicas: i64, clusters: usize },
}

impl Demand {
    /// What is demanded of each of at least `groups` groups, whose clusters shall number at least `clusters` together.
    pub(crate) fn new(duplicated: bool, replicas: i64, groups: usize, clusters: usize) -> Self {
        if duplicated {
            return Self::Each { replicas };
        }
        let divisor = i64::try_from(groups.max(1)).unwrap_or(i64::MAX);
        let rest = i64::from(replicas % divisor > 0);
        Self::Share {
            replicas: replicas / divisor + rest,
            // Karmada lets each group strive for the clusters of all groups.
            clusters: clusters.max(groups),
        }
    }
}

/// The clusters of each group. Kept between calls for its memory alone.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// Per group the end of its members; the group before ends where it begins.
    ends: Vec<u32>,
    members: Vec<u32>,
}

impl Groups {
    /// Distributes the clusters of `order` to `count` groups. `groups` names the group of each entry of `order`.
    pub(crate) fn fill(&mut self, count: usize, order: &[u32], groups: &[u32]) {
        self.ends.clear();
        self.ends.resize(count, 0);
        for &group in groups {
            if let Some(size) = self.ends.get_mut(group as usize) {
                *size += 1;
            }
        }
        let mut start = 0;
        for end in &mut self.ends {
            start += std::mem::replace(end, start);
        }
        self.members.clear();
        self.members.resize(start as usize, 0);
        for (&place, &group) in order.iter().zip(groups) {
            if let Some(end) = self.ends.get_mut(group as usize) {
                self.members[*end as usize] = place;
                *end += 1;
            }
        }
    }

    /// The number of groups.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The clusters of a group, in order; at least one.
    pub(crate) fn of(&self, group: usize) -> &[u32] {
        let start = match group {
            0 => 0,
            group => self.ends[group - 1] as usize,
        };
        &self.members[start..self.ends[group] as usize]
    }

    /// What a group is worth.
    pub(crate) fn weight(&self, group: usize, columns: Columns<'_>, demand: Demand) -> i128 {
        weight(self.of(group), columns, demand)
    }
}

/// What clusters, in order, are worth as a group. Never negative.
pub(crate) fn weight(clusters: &[u32], columns: Columns<'_>, demand: Demand) -> i128 {
    let (taken, scores, among) = match demand {
        Demand::Each { replicas } => {
            let roomy = || clusters.iter().filter(|&&place| columns.available(place) >= replicas);
            let count = roomy().count();
            let scores = roomy().map(|&place| i128::from(columns.score(place))).sum();
            (count as i128, scores, count)
        }
        Demand::Share {
            replicas,
            clusters: enough,
        } => {
            let wanted = i128::from(replicas);
            let (mut held, mut scores, mut counted) = (0, 0, 0);
            for &place in clusters {
                held += i128::from(columns.available(place));
                scores += i128::from(columns.score(place));
                counted += 1;
                if counted >= enough && held >= wanted {
                    break;
                }
            }
            (held.min(wanted), scores, counted)
        }
    };
    let mean: i128 = scores / (among.max(1) as i128);
    (taken * 1000 + mean).max(0)
}

/// Numbers values as they appear. Kept between calls for its memory alone.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// Per symbol its number plus one; all zero between calls.
    numbers: Vec<u32>,
    values: Vec<Symbol>,
}

impl Numbering {
    /// Forgets all numbers, for values of a snapshot with so many symbols.
    pub(crate) fn reset(&mut self, symbols: usize) {
        // Only what was touched: a snapshot has many more symbols than groups.
        for value in self.values.drain(..) {
            self.numbers[value.index()] = 0;
        }
        if self.numbers.len() < symbols {
            self.numbers.resize(symbols, 0);
        }
    }

    /// The number of a value.
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

    /// The values, by their numbers.
    pub(crate) fn values(&self) -> &[Symbol] {
        &self.values
    }
}
