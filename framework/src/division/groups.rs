//! Division under bounds: each group of candidates has a least and a greatest number of replicas.
//!
//! First the quotas of the groups are worked out, then each quota is divided within its group by
//! [dynamic weight](super::dynamic).
//!
//! * Steady: each group keeps what it has, as far as its bounds and its room allow. Missing replicas go to the groups in
//!   proportion to the room that is left below their upper bounds; surplus replicas are taken from them in proportion to what
//!   they have above their lower bounds.
//! * Fresh: each group gets its least number, and the rest goes to the groups in proportion to the room below their upper bounds.
//!
//! Candidates in no group are a group of their own without bounds.

use super::columns::check_length;
use super::dynamic::divide_by_dynamic_weight;
use super::error::DivisionError;
use super::request::{Cycle, Request};
use super::rounding::Rounding;
use super::scratch::Scratch;
use super::tiers::TierMembers;

/// Fewest and most replicas of a group, both 0 or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Fewest replicas.
    pub least: i64,
    /// Most replicas.
    pub most: i64,
}

impl Bounds {
    /// Any number of replicas.
    pub const NONE: Self = Self {
        least: 0,
        most: i64::MAX,
    };
}

/// Reason why a division under bounds has no result. Groups are numbered from 0, in the order of their bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupsError {
    /// The lower bound of a group is above its upper bound.
    #[error("group {group} must have at least {least} and at most {most} replicas")]
    Crossed {
        /// Number of the group.
        group: usize,
        /// Its lower bound.
        least: i64,
        /// Its upper bound.
        most: i64,
    },
    /// The lower bounds add up to more than there is to divide.
    #[error("{requested} replicas are too few: the groups must have at least {least} together")]
    TooFew {
        /// Replicas to divide.
        requested: i64,
        /// Sum of the lower bounds.
        least: i64,
    },
    /// The candidates of a group have room for fewer replicas than its lower bound.
    #[error("group {group} must have at least {least} replicas, but only {available} fit")]
    NoRoom {
        /// Number of the group.
        group: usize,
        /// Its lower bound.
        least: i64,
        /// Replicas that fit its candidates, existing ones included.
        available: i64,
    },
    /// The candidates have room for the replicas, but the upper bounds do not.
    #[error(
        "{requested} replicas are too many: the groups can have at most {available} together, by capacity and upper bounds"
    )]
    TooMany {
        /// Replicas to divide.
        requested: i64,
        /// Most replicas of all groups together, each limited by its upper bound and its room.
        available: i64,
    },
    /// The candidates have room for fewer replicas than requested, or the columns are inconsistent.
    #[error(transparent)]
    Division(#[from] DivisionError),
}

/// Buffers of a division under bounds.
#[derive(Debug, Default)]
pub(super) struct GroupsScratch {
    members: TierMembers,
    /// One entry per group: its quota, its upper bound, and its weight for the rest.
    quotas: Vec<i64>,
    ceilings: Vec<i64>,
    weights: Vec<i64>,
    shares: Vec<i64>,
    /// Columns of the members of one group.
    fits_now: Vec<i64>,
    last: Vec<i64>,
    out: Vec<i64>,
}

/// Divides under bounds for groups; see the [module](self). `out` has one entry per candidate, is overwritten and adds up to
/// `request.replicas`.
///
/// * `group_of`: the group of each candidate, an index of `bounds`; `bounds.len()` for a candidate in no group.
///
/// # Errors
/// A [`GroupsError`] with the figures that contradict each other. Other errors for columns of different lengths, negative input and
/// sums that exceed 64 bits.
///
/// ```
/// use divvy_framework::division::{groups::Bounds, within_groups, Cycle, Request, Rounding, Scratch};
///
/// // Two candidates in Europe, which must get at least half of the ten replicas, and one elsewhere with more room.
/// let bounds = [Bounds { least: 5, most: 10 }];
/// let request = Request::new(10, &[8, 2, 90], &[0; 3], Cycle::Fresh);
/// let (mut out, mut scratch) = ([0; 3], Scratch::default());
/// within_groups(&request, &[0, 0, 1], &bounds, Rounding::FloorThenRank, |i| i as u64, &mut out, &mut scratch)?;
/// assert_eq!(out, [4, 1, 5]);
/// # Ok::<(), divvy_framework::division::groups::GroupsError>(())
/// ```
pub fn within_groups(
    request: &Request<'_>,
    group_of: &[u32],
    bounds: &[Bounds],
    rounding: Rounding,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), GroupsError> {
    let mut groups = std::mem::take(&mut scratch.groups);
    let divided = groups
        .find_quotas(request, group_of, bounds, rounding, scratch)
        .and_then(|()| groups.divide(request, rounding, ties, out, scratch));
    scratch.groups = groups;
    divided
}

impl GroupsScratch {
    fn find_quotas(
        &mut self,
        request: &Request<'_>,
        group_of: &[u32],
        bounds: &[Bounds],
        rounding: Rounding,
        scratch: &mut Scratch,
    ) -> Result<(), GroupsError> {
        let (_, available) = request.change_and_available()?;
        if available < request.replicas {
            return Err(request.unschedulable(available).into());
        }
        check_length("group_of", group_of.len(), request.fits_now.len())?;
        self.members.rebuild_from_tiers(group_of, bounds.len() + 1)?;
        self.quotas.clear();
        self.ceilings.clear();
        for (group, &Bounds { least, most }) in bounds.iter().chain([&Bounds::NONE]).enumerate() {
            check_bounds(group, least, most)?;
            let (mut last, mut room) = (0_i64, 0_i64);
            for &member in self.members.members(group) {
                // Cannot overflow: `change_and_available` has checked the sum of the last replicas.
                last += request.last[member as usize];
                room = room.saturating_add(request.capacity(member as usize));
            }
            if room < least {
                return Err(GroupsError::NoRoom {
                    group,
                    least,
                    available: room,
                });
            }
            let ceiling = most.min(room);
            self.ceilings.push(ceiling);
            self.quotas.push(match request.cycle {
                Cycle::Fresh => least,
                Cycle::Steady => last.clamp(least, ceiling),
            });
        }
        self.check_sums(request.replicas, bounds)?;
        let quota: i128 = self.quotas.iter().map(|&quota| i128::from(quota)).sum();
        let change = i128::from(request.replicas) - quota;
        self.weights.clear();
        if change >= 0 {
            let pairs = self.ceilings.iter().zip(&self.quotas);
            self.weights.extend(pairs.map(|(ceiling, quota)| ceiling - quota));
        } else {
            let least = bounds.iter().map(|bounds| bounds.least).chain([0]);
            self.weights
                .extend(self.quotas.iter().zip(least).map(|(quota, least)| quota - least));
        }
        if change == 0 {
            return Ok(());
        }
        let Ok(moved) = i64::try_from(change.abs()) else {
            return Err(DivisionError::SumTooLarge { column: "last" }.into());
        };
        self.shares.clear();
        self.shares.resize(self.quotas.len(), 0);
        let order = |group: usize| group as u64;
        rounding.divide(moved, &self.weights, &self.quotas, order, &mut self.shares, scratch)?;
        for (quota, &share) in self.quotas.iter_mut().zip(&self.shares) {
            *quota += if change > 0 { share } else { -share };
        }
        Ok(())
    }

    fn check_sums(&self, replicas: i64, bounds: &[Bounds]) -> Result<(), GroupsError> {
        let saturating = |sum: i128| i64::try_from(sum).unwrap_or(i64::MAX);
        let least: i128 = bounds.iter().map(|bounds| i128::from(bounds.least)).sum();
        if least > i128::from(replicas) {
            return Err(GroupsError::TooFew {
                requested: replicas,
                least: saturating(least),
            });
        }
        let most: i128 = self.ceilings.iter().map(|&ceiling| i128::from(ceiling)).sum();
        match most < i128::from(replicas) {
            true => Err(GroupsError::TooMany {
                requested: replicas,
                available: saturating(most),
            }),
            false => Ok(()),
        }
    }

    fn divide(
        &mut self,
        request: &Request<'_>,
        rounding: Rounding,
        ties: impl Fn(usize) -> u64,
        out: &mut [i64],
        scratch: &mut Scratch,
    ) -> Result<(), GroupsError> {
        check_length("out", out.len(), request.fits_now.len())?;
        for (group, &quota) in self.quotas.iter().enumerate() {
            let members = self.members.members(group);
            if quota == 0 {
                members.iter().for_each(|&member| out[member as usize] = 0);
                continue;
            }
            let gather = |column: &mut Vec<i64>, of: &[i64]| {
                column.clear();
                column.extend(members.iter().map(|&member| of[member as usize]));
            };
            gather(&mut self.fits_now, request.fits_now);
            gather(&mut self.last, request.last);
            self.out.clear();
            self.out.resize(members.len(), 0);
            let within = Request::new(quota, &self.fits_now, &self.last, request.cycle);
            let tie_of = |position: usize| ties(members[position] as usize);
            divide_by_dynamic_weight(&within, rounding, tie_of, &mut self.out, scratch)?;
            for (&member, &count) in members.iter().zip(&self.out) {
                out[member as usize] = count;
            }
        }
        Ok(())
    }
}

fn check_bounds(group: usize, least: i64, most: i64) -> Result<(), GroupsError> {
    if least < 0 {
        let column = "bounds";
        let (index, value) = (group, least);
        return Err(DivisionError::Negative { column, index, value }.into());
    }
    match least > most {
        true => Err(GroupsError::Crossed { group, least, most }),
        false => Ok(()),
    }
}
