//! Division under bounds: each group of candidates has a minimum and a maximum number of replicas.
//!
//! First the quotas of the groups are worked out, then each quota is divided within its group by
//! [dynamic weight](super::dynamic).
//!
//! * Steady: each group keeps what it has, as far as its bounds and its room allow. Missing replicas go to the groups in
//!   proportion to the room that is left below their upper bounds; surplus replicas are taken from them in proportion to what
//!   they have above their lower bounds.
//! * Fresh: each group gets its minimum, and the rest goes to the groups in proportion to the room below their upper
//!   bounds.
//!
//! Candidates in no group are a group of their own without bounds. This is a short form of [sharing](super::sharing) among groups that
//! keep what they have.

use super::columns::check_length;
use super::error::DivisionError;
use super::request::Request;
use super::rounding::Rounding;
use super::scratch::Scratch;
use super::sharing::{Group, SharingError, share};
use super::tiers::check_tiers;

/// Minimum and maximum replicas of a group, both 0 or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Minimum number of replicas.
    pub least: i64,
    /// Maximum number of replicas.
    pub most: i64,
}

impl Bounds {
    /// Any number of replicas.
    pub const NONE: Self = Self {
        least: 0,
        most: i64::MAX,
    };
}

/// Why a division under bounds has no result. Groups are numbered from 0, in the order of their bounds.
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
    /// The lower bounds add up to more than the replicas to divide.
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
        /// Maximum replicas of all groups together, each limited by its upper bound and its room.
        available: i64,
    },
    /// The candidates have room for fewer replicas than requested, or the columns are inconsistent.
    #[error(transparent)]
    Division(#[from] DivisionError),
}

/// Buffers of a division under bounds.
#[derive(Debug, Default)]
pub(super) struct GroupsScratch {
    /// The groups, then those in none.
    groups: Vec<Group>,
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
    request.change_and_available()?;
    check_length("group_of", group_of.len(), request.fits_now.len())?;
    check_tiers(group_of, bounds.len() + 1)?;
    check_bounds(bounds)?;
    let mut groups = std::mem::take(&mut scratch.groups.groups);
    groups.clear();
    groups.extend(
        (0..)
            .zip(bounds.iter().chain([&Bounds::NONE]))
            .map(|(tie, bounds)| Group {
                least: Some(bounds.least),
                most: Some(bounds.most),
                tie,
                ..Group::default()
            }),
    );
    // Each candidate is in a group: those in none are the last one.
    let divided = share(request, &groups, group_of, rounding, ties, out, scratch);
    scratch.groups.groups = groups;
    divided.map_err(|error| match error {
        SharingError::Division(error) => error.into(),
        SharingError::Unsatisfiable { .. } => contradiction(request, group_of, bounds),
    })
}

fn check_bounds(bounds: &[Bounds]) -> Result<(), GroupsError> {
    for (group, &Bounds { least, most }) in bounds.iter().enumerate() {
        if least < 0 {
            let (column, index, value) = ("bounds", group, least);
            return Err(DivisionError::Negative { column, index, value }.into());
        }
        if least > most {
            return Err(GroupsError::Crossed { group, least, most });
        }
    }
    Ok(())
}

/// The bounds that cannot be kept, as an error.
fn contradiction(request: &Request<'_>, group_of: &[u32], bounds: &[Bounds]) -> GroupsError {
    let mut rooms = vec![0_i64; bounds.len() + 1];
    for (candidate, &group) in group_of.iter().enumerate() {
        if let Some(room) = rooms.get_mut(group as usize) {
            *room = room.saturating_add(request.capacity(candidate));
        }
    }
    let sum = |counts: &mut dyn Iterator<Item = i64>| counts.fold(0_i64, i64::saturating_add);
    let requested = request.replicas;
    let available = sum(&mut rooms.iter().copied());
    if available < requested {
        return request.unschedulable(available).into();
    }
    for (group, (&Bounds { least, .. }, &available)) in bounds.iter().zip(&rooms).enumerate() {
        if available < least {
            return GroupsError::NoRoom {
                group,
                least,
                available,
            };
        }
    }
    let least = sum(&mut bounds.iter().map(|bounds| bounds.least));
    if least > requested {
        return GroupsError::TooFew { requested, least };
    }
    let all = bounds.iter().chain([&Bounds::NONE]).zip(&rooms);
    let available = sum(&mut all.map(|(bounds, &room)| bounds.most.min(room)));
    GroupsError::TooMany { requested, available }
}
