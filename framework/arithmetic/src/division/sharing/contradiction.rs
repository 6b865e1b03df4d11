//! Bounds and room that contradict each other, if no division keeps them all, and the nearest count that can be divided.
//!
//! Each constraint is left out in turn. If there is still no division without it, it was not needed for the contradiction and stays
//! out. Those that remain contradict each other, and none of them can be left out.

use super::super::columns::check_length;
use super::super::error::DivisionError;
use super::super::request::Request;
use super::super::tiers::check_tiers;
use super::Group;

/// A constraint that takes part in a contradiction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constraint {
    /// Number of the group.
    pub group: usize,
    /// The constraint.
    pub limit: Limit,
}

/// The kind of a [`Constraint`], with its figures. The order is that in which the constraints of a group are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Exactly this many replicas: equal bounds.
    Exactly(i64),
    /// The lower bound.
    Least(i64),
    /// The upper bound.
    Most(i64),
    /// The room of the group's candidates.
    Room {
        /// Number of candidates.
        candidates: usize,
        /// Replicas that fit them together, existing ones included; saturates at `i64::MAX`.
        available: i64,
    },
}

impl Limit {
    const fn rank(&self) -> u8 {
        match self {
            Self::Exactly(_) => 0,
            Self::Least(_) => 1,
            Self::Most(_) => 2,
            Self::Room { .. } => 3,
        }
    }
}

/// The reason why a request has no division.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contradiction {
    /// Constraints that no division keeps together, none of which can be left out, in the order of their groups. They do not depend
    /// on that order. Empty if there is a division.
    pub constraints: Vec<Constraint>,
    /// The count to try instead: the largest below the requested one that can be divided, or else the smallest above it. `None` if
    /// no count can be divided.
    pub instead: Option<i64>,
}

/// Finds out why [`share`](super::share) finds a request unsatisfiable.
///
/// # Errors
/// As [`share`](super::share).
pub fn contradiction(
    request: &Request<'_>,
    groups: &[Group],
    group_of: &[u32],
) -> Result<Contradiction, DivisionError> {
    request.change_and_available()?;
    check_length("group_of", group_of.len(), request.fits_now.len())?;
    check_tiers(group_of, groups.len() + 1)?;
    let mut sizes = vec![(0, 0_i64); groups.len()];
    for (candidate, &group) in group_of.iter().enumerate() {
        if let Some((candidates, available)) = sizes.get_mut(group as usize) {
            *candidates += 1;
            *available = available.saturating_add(request.capacity(candidate));
        }
    }
    let mut trial = Trial {
        rooms: sizes.iter().map(|(_, available)| *available).collect(),
        groups: groups.to_vec(),
    };
    let instead = trial.counts().and_then(|(fewest, most)| {
        let below = (fewest <= request.replicas).then(|| request.replicas.min(most));
        let above = (request.replicas <= most).then(|| request.replicas.max(fewest));
        below.filter(|&count| count > 0).or(above).or(below)
    });
    Ok(Contradiction {
        constraints: needed(&mut trial, request.replicas, constraints(groups, &sizes)),
        instead,
    })
}

/// Groups without some of their constraints.
struct Trial {
    groups: Vec<Group>,
    rooms: Vec<i64>,
}

impl Trial {
    /// The smallest and the largest count of all groups together, which saturate; `None` if a group can have none.
    fn counts(&self) -> Option<(i64, i64)> {
        let mut counts = self
            .groups
            .iter()
            .zip(&self.rooms)
            .map(|(group, &room)| group.counts(room));
        counts.try_fold((0_i64, 0_i64), |(fewest, most), (low, high)| {
            (low <= high).then(|| (fewest.saturating_add(low), most.saturating_add(high)))
        })
    }

    fn holds(&self, replicas: i64) -> bool {
        self.counts()
            .is_some_and(|(fewest, most)| (fewest..=most).contains(&replicas))
    }

    fn leave_out(&mut self, Constraint { group, limit }: Constraint) {
        let known = &mut self.groups[group];
        match limit {
            Limit::Exactly(_) => (known.least, known.most) = (None, None),
            Limit::Least(_) => known.least = None,
            Limit::Most(_) => known.most = None,
            Limit::Room { .. } => self.rooms[group] = i64::MAX,
        }
    }
}

/// The constraints that are needed for the contradiction.
fn needed(trial: &mut Trial, replicas: i64, constraints: Vec<Constraint>) -> Vec<Constraint> {
    let mut needed = Vec::new();
    if trial.holds(replicas) {
        return needed;
    }
    for constraint in constraints {
        let before = (trial.groups[constraint.group], trial.rooms[constraint.group]);
        trial.leave_out(constraint);
        if trial.holds(replicas) {
            (trial.groups[constraint.group], trial.rooms[constraint.group]) = before;
            needed.push(constraint);
        }
    }
    needed.sort_by_key(|constraint| (constraint.group, constraint.limit.rank()));
    needed
}

/// All constraints. Room comes first, so that it is left out wherever a bound also makes the contradiction: a bound means more to the
/// author of a policy. Otherwise, tie keys order them.
fn constraints(groups: &[Group], sizes: &[(usize, i64)]) -> Vec<Constraint> {
    let mut constraints = Vec::new();
    for (number, (group, &(candidates, available))) in groups.iter().zip(sizes).enumerate() {
        let mut add = |limit| constraints.push(Constraint { group: number, limit });
        add(Limit::Room { candidates, available });
        match (group.least, group.most) {
            (Some(least), Some(most)) if least == most => add(Limit::Exactly(least)),
            (least, most) => {
                least.into_iter().for_each(|least| add(Limit::Least(least)));
                most.into_iter().for_each(|most| add(Limit::Most(most)));
            }
        }
    }
    constraints.sort_by_key(|constraint| {
        let is_bound = !matches!(constraint.limit, Limit::Room { .. });
        (is_bound, groups[constraint.group].tie, constraint.limit.rank())
    });
    constraints
}
