//! The arithmetic of Specified: the counts that the user specifies, each for a group of clusters.
//!
//! The rule is `proposals/specified-replicas.md`, stories 1 to 3 and "Mitigations" (README, "Rule"). The count of a
//! group is its total, and within the group the *change* relative to the last result is spread evenly. Capacity is not
//! considered. The members of each group are resolved beforehand: clusters that were filtered out are no longer
//! members, but the total of the group stays the same.

use divvy_framework::division::apportionment::equal_shares;
use divvy_framework::division::even_change::change_evenly;
use divvy_framework::division::{DivisionError, Scratch};

/// A group of candidates and the replicas that they get together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group<'a> {
    /// Indices of the candidates in the group, without duplicates.
    pub members: &'a [u32],
    /// Total of the group, 0 or more.
    pub replicas: i64,
}

/// Why the counts cannot be satisfied. Groups are numbered from 0, in the order given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecifiedError {
    /// The counts do not add up to the binding's replicas. The binding is `Unschedulable`, and its last result stays.
    #[error("the specified counts sum to {specified}, but the binding has {requested} replicas")]
    SumMismatch {
        /// Sum of the groups' counts.
        specified: i128,
        /// The binding's replicas.
        requested: i128,
    },
    /// A group with a positive count has no candidate. The binding is `Unschedulable`, and its last result stays.
    #[error("group {group} has {replicas} replicas and no candidate left")]
    NoCandidate {
        /// Number of the group.
        group: usize,
        /// Count of the group.
        replicas: i64,
    },
    /// A candidate is in two groups, or twice in one group. [`groups`](crate::groups) rejects such policies beforehand.
    #[error("candidate {candidate} is in group {first_group} and in group {second_group}")]
    Overlap {
        /// Index of the candidate.
        candidate: u32,
        /// Number of the first group with the candidate.
        first_group: usize,
        /// Number of the second group with the candidate; may be the same group.
        second_group: usize,
    },
    /// A group contains an index that is out of range, which is a bug of the caller.
    #[error("group {group} names candidate {candidate}, but there are only {candidates}")]
    UnknownCandidate {
        /// Number of the group.
        group: usize,
        /// Index that is out of range.
        candidate: u32,
        /// Number of candidates.
        candidates: usize,
    },
    /// Columns of different lengths, negative counts, or no candidate at all.
    #[error(transparent)]
    Division(#[from] DivisionError),
}

/// Buffers reused between calls.
#[derive(Debug, Default)]
pub struct SpecifiedScratch {
    division: Scratch,
    /// Group of each candidate plus 1; 0 for candidates in no group.
    group_of: Vec<usize>,
    members_last: Vec<i64>,
    members_out: Vec<i64>,
}

/// Divides `replicas` into the counts of the groups, and each count within its group by an even change from `last`.
///
/// * `last`: last replicas of each candidate, 0 or more. Candidates in no group get nothing.
/// * `ties`: tie order, smaller keys first.
/// * `out`: one entry per candidate, overwritten; sums to `replicas` on success.
///
/// # Errors
/// See [`SpecifiedError`]. Overlapping groups are reported before mismatched sums, because a contradictory policy is
/// wrong for any number of replicas.
pub fn divide<'a>(
    replicas: i64,
    groups: impl IntoIterator<Item = Group<'a>, IntoIter: Clone>,
    last: &[i64],
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut SpecifiedScratch,
) -> Result<(), SpecifiedError> {
    let groups = groups.into_iter();
    if last.len() != out.len() {
        let (expected, actual) = (out.len(), last.len());
        return Err(DivisionError::LengthMismatch {
            column: "last",
            expected,
            actual,
        }
        .into());
    }
    check_groups(replicas, groups.clone(), out.len(), &mut scratch.group_of)?;
    out.fill(0);
    let SpecifiedScratch {
        division,
        members_last,
        members_out,
        ..
    } = scratch;
    // Each group is an independent division, over copies of its members' columns.
    for Group { members, replicas } in groups {
        members_last.clear();
        members_last.extend(members.iter().map(|&member| last[member as usize]));
        members_out.clear();
        members_out.resize(members.len(), 0);
        let tie_of = |position: usize| ties(members[position] as usize);
        change_evenly(replicas, members_last, tie_of, members_out, division)?;
        for (&member, &count) in members.iter().zip(members_out.iter()) {
            out[member as usize] = count;
        }
    }
    Ok(())
}

/// Divides `replicas` for a policy without a preference: StaticWeight's rule with equal weights
/// (`proposals/specified-replicas.md`, comment on `SpecifyPreference`).
///
/// # Errors
/// Returns [`NoWeight`](DivisionError::NoWeight) if `replicas` is positive and there is no candidate. Other errors
/// report columns of different lengths or negative input, which are bugs of the caller.
pub fn divide_without_preference(
    replicas: i64,
    last: &[i64],
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut SpecifiedScratch,
) -> Result<(), SpecifiedError> {
    Ok(equal_shares(replicas, last, ties, out, &mut scratch.division)?)
}

/// Checks that the groups are disjoint, sum to `replicas`, and have candidates for their counts.
fn check_groups<'a>(
    replicas: i64,
    groups: impl Iterator<Item = Group<'a>> + Clone,
    candidates: usize,
    group_of: &mut Vec<usize>,
) -> Result<(), SpecifiedError> {
    group_of.clear();
    group_of.resize(candidates, 0);
    let mut specified = 0_i128;
    for (group, Group { members, replicas }) in groups.clone().enumerate() {
        if replicas < 0 {
            return Err(DivisionError::Negative {
                column: "groups",
                index: group,
                value: replicas,
            }
            .into());
        }
        specified += i128::from(replicas);
        for &candidate in members {
            let Some(owner) = group_of.get_mut(candidate as usize) else {
                return Err(SpecifiedError::UnknownCandidate {
                    group,
                    candidate,
                    candidates,
                });
            };
            if *owner > 0 {
                let first_group = *owner - 1;
                return Err(SpecifiedError::Overlap {
                    candidate,
                    first_group,
                    second_group: group,
                });
            }
            *owner = group + 1;
        }
    }
    let requested = i128::from(replicas);
    if specified != requested {
        return Err(SpecifiedError::SumMismatch { specified, requested });
    }
    // Checked last: a group without candidates may be temporary, while the problems above are in the policy.
    match groups
        .enumerate()
        .find(|(_, group)| group.members.is_empty() && group.replicas > 0)
    {
        Some((group, Group { replicas, .. })) => Err(SpecifiedError::NoCandidate { group, replicas }),
        None => Ok(()),
    }
}
