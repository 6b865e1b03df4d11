//! Sharing among groups of candidates: each takes its share by weight, by keeping what it has, or as the rest, within bounds and room.
//!
//! The division meets these goals exactly, in this order:
//!
//! 1. Every count is within the bounds of its group and the room of its candidates. If no division achieves that, the error is
//!    [`SharingError::Unsatisfiable`], and [`contradiction()`] names the bounds that conflict.
//! 2. The counts of the groups follow three rules, one after another (`quotas`): the rest is as small as possible, existing replicas stay as
//!    far as possible, and shares are in proportion to weights, by largest remainder.
//! 3. Each group divides its count by its own rule (`within`).
//!
//! In a fresh cycle, no replicas exist. Groups are independent of each other but for their sum: a group can have every count from its
//! minimum to its maximum or its room, so all together can have every count from the sum of the former to that of the latter. Groups within
//! groups, floors per candidate and percentages leave gaps, which need a search: the plugin `tree` has it. This is the arithmetic of
//! `AssignContext::share_among` and of [`within_groups`](super::within_groups).

mod contradiction;
mod quotas;
mod within;

pub use contradiction::{Constraint, Contradiction, Limit, contradiction};

use super::columns::check_length;
use super::error::DivisionError;
use super::request::{Cycle, Request};
use super::rounding::Rounding;
use super::scratch::Scratch;
use super::tiers::TierMembers;
use quotas::Quotas;
use within::Within;

/// How a group takes its share, within its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// Keeps what it has. Replicas that groups with weights cannot take go to such groups in proportion to the room below their upper
    /// bounds; replicas that those need are taken from such groups in proportion to what is above their lower bounds.
    #[default]
    Keeps,
    /// In proportion to this weight, which is positive.
    Weight(u32),
    /// Only what no other group can take. At most one group; a second one [keeps](Self::Keeps).
    Rest,
}

/// Rule by which a group divides its count over its candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// Keeps present replicas. Growth is divided in proportion to the room that is left, and shrinkage in proportion to the present
    /// replicas.
    #[default]
    ByRoom,
    /// As evenly as possible.
    Evenly,
    /// Keeps present replicas, on as few candidates as possible.
    Fewest,
}

/// A group of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Group {
    /// Its share among the groups.
    pub share: Share,
    /// Minimum replicas, 0 or more.
    pub least: Option<i64>,
    /// Maximum replicas, 0 or more.
    pub most: Option<i64>,
    /// How it divides its count.
    pub rule: Rule,
    /// Tie key: among equal groups, the one with the smaller key is served first. The keys should differ.
    pub tie: u64,
}

impl Group {
    /// The smallest and the largest count that the group can have, given the room of its candidates. It can have none if the first
    /// exceeds the second.
    fn counts(&self, room: i64) -> (i64, i64) {
        (self.least.unwrap_or(0).max(0), self.most.unwrap_or(i64::MAX).min(room))
    }
}

/// Why a division has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SharingError {
    /// No division keeps all bounds: [`contradiction()`] finds those that contradict each other.
    #[error("no division of {requested} replicas keeps all bounds")]
    Unsatisfiable {
        /// Replicas to divide.
        requested: i64,
    },
    /// The columns are inconsistent.
    #[error(transparent)]
    Division(#[from] DivisionError),
}

/// Buffers of a division.
#[derive(Debug, Default)]
pub(super) struct SharingScratch {
    members: TierMembers,
    /// One entry per candidate in a group, in the order of the groups: replicas that fit beyond the existing ones, and these.
    fits: Vec<i64>,
    last: Vec<i64>,
    out: Vec<i64>,
    quotas: Quotas,
    within: Within,
}

/// Shares replicas among groups; see the [module](self). `out` has one entry per candidate, is overwritten and adds up to
/// `request.replicas`.
///
/// * `group_of`: the group of each candidate, an index of `groups`; `groups.len()` for a candidate in no group, which gets nothing.
/// * `rounding`: rounding of changes in proportion to room. Shares by weight are always rounded by largest remainder.
/// * `ties`: tie order of the candidates, smaller keys first.
///
/// # Errors
/// A [`SharingError`]. Columns of different lengths, negative entries and sums beyond 64 bits are a [`DivisionError`].
pub fn share(
    request: &Request<'_>,
    groups: &[Group],
    group_of: &[u32],
    rounding: Rounding,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), SharingError> {
    check_length("out", out.len(), request.fits_now.len())?;
    let mut memory = std::mem::take(&mut scratch.sharing);
    let shared = memory.gather(request, groups, group_of).and_then(|()| {
        let has_counts = memory.quotas.divide(request.replicas, groups, rounding, scratch)?;
        match has_counts {
            true => Ok(memory.divide_groups(groups, rounding, ties, out, scratch)?),
            false => Err(SharingError::Unsatisfiable {
                requested: request.replicas,
            }),
        }
    });
    scratch.sharing = memory;
    shared
}

impl SharingScratch {
    /// Gathers the columns of the candidates by group.
    fn gather(&mut self, request: &Request<'_>, groups: &[Group], group_of: &[u32]) -> Result<(), SharingError> {
        request.change_and_available()?;
        check_length("group_of", group_of.len(), request.fits_now.len())?;
        let Self {
            members,
            fits,
            last,
            quotas,
            ..
        } = self;
        members.rebuild_from_tiers(group_of, groups.len() + 1)?;
        fits.clear();
        last.clear();
        quotas.clear();
        for (number, group) in groups.iter().enumerate() {
            let (mut room, mut present) = (0_i64, 0);
            for &member in members.members(number) {
                let member = member as usize;
                let there = match request.cycle {
                    Cycle::Steady => request.last[member],
                    Cycle::Fresh => 0,
                };
                let capacity = request.capacity(member);
                fits.push(capacity - there);
                last.push(there);
                room = room.saturating_add(capacity);
                // Cannot overflow: the sum of the last replicas has been checked.
                present += there;
            }
            quotas.push(group.counts(room), present);
        }
        Ok(())
    }

    /// Divides the count of each group over its candidates.
    fn divide_groups(
        &mut self,
        groups: &[Group],
        rounding: Rounding,
        ties: impl Fn(usize) -> u64,
        counts: &mut [i64],
        scratch: &mut Scratch,
    ) -> Result<(), DivisionError> {
        let Self {
            members,
            fits,
            last,
            out,
            quotas,
            within,
        } = self;
        out.clear();
        out.resize(fits.len(), 0);
        let mut start = 0;
        for (number, group) in groups.iter().enumerate() {
            let members = members.members(number);
            let range = start..start + members.len();
            start = range.end;
            let request = Request::new(
                quotas.counts[number],
                &fits[range.clone()],
                &last[range.clone()],
                Cycle::Steady,
            );
            let tie = |index: usize| ties(members[index] as usize);
            within.divide(group.rule, &request, rounding, tie, &mut out[range.clone()], scratch)?;
            for (&member, &count) in members.iter().zip(&out[range]) {
                counts[member as usize] = count;
            }
        }
        for &outsider in members.members(groups.len()) {
            counts[outsider as usize] = 0;
        }
        Ok(())
    }
}
