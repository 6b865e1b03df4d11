//! Specified's arithmetic: the counts that the user gives, each for a group of clusters.
//!
//! The rule is `proposals/specified-replicas.md`, stories 1 to 3 and "Mitigations" (README, "Rule"). A group's
//! count is its total, and inside the group the *change* against the last result is spread evenly. Capacity plays no
//! part. Which clusters a group's affinity names is resolved before; members that were filtered out are already gone,
//! while the group's total stays.

use divvy_framework::division::apportionment::equal_shares;
use divvy_framework::division::even_change::change_evenly;
use divvy_framework::division::{DivisionError, Scratch};

/// A group: its candidates and the replicas they get together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group<'a> {
    /// Indices of the candidates in the group, each once.
    pub members: &'a [u32],
    /// The group's total, 0 or more.
    pub replicas: i64,
}

/// Why the counts cannot be obeyed. Groups are numbered from 0, in the order given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecifiedError {
    /// The counts do not add up to the binding's replicas; `Unschedulable`, the last result stays.
    #[error("the specified counts sum to {specified}, but the binding has {requested} replicas")]
    SumMismatch {
        /// Sum of the groups' counts.
        specified: i128,
        /// The binding's replicas.
        requested: i128,
    },
    /// A group with a positive count has no candidate; `Unschedulable`.
    #[error("group {group} has {replicas} replicas and no candidate left")]
    NoCandidate {
        /// The group.
        group: usize,
        /// Its count.
        replicas: i64,
    },
    /// A cluster is in two groups; an error in the policy. Also a cluster named twice by one group.
    #[error("candidate {candidate} is in group {first_group} and in group {second_group}")]
    Overlap {
        /// Index of the candidate.
        candidate: u32,
        /// The group that names it first.
        first_group: usize,
        /// The group that names it again.
        second_group: usize,
    },
    /// A group names a candidate that does not exist; a fault of the caller.
    #[error("group {group} names candidate {candidate}, but there are only {candidates}")]
    UnknownCandidate {
        /// The group.
        group: usize,
        /// The index it names.
        candidate: u32,
        /// Number of candidates.
        candidates: usize,
    },
    /// Columns that do not belong together, or negative counts.
    #[error(transparent)]
    Division(#[from] DivisionError),
}

/// Memory reused from call to call.
#[derive(Debug, Default)]
pub struct SpecifiedScratch {
    division: Scratch,
    /// For each candidate one more than its group, 0 for none.
    group_of: Vec<usize>,
    members_last: Vec<i64>,
    members_out: Vec<i64>,
}

/// Divides `replicas` into the groups' counts, and each count inside its group by an even change from `last`.
///
/// * `last`: what each candidate has now, 0 or more. Candidates in no group get nothing.
/// * `ties`: the tie order, smaller keys first. `out`: one entry a candidate, overwritten, sums to `replicas`.
///
/// # Errors
/// See [`SpecifiedError`]. Faults of the policy (overlap) are found before the sums are compared, since a policy that
/// contradicts itself is wrong for any number of replicas.
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

/// What Specified does without a preference: StaticWeight's rule with equal weights
/// (`proposals/specified-replicas.md`, comment on `SpecifyPreference`).
///
/// # Errors
/// [`NoWeight`](DivisionError::NoWeight) if there is no candidate for a positive number of replicas; lengths that
/// differ; negative input.
pub fn divide_without_preference(
    replicas: i64,
    last: &[i64],
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut SpecifiedScratch,
) -> Result<(), SpecifiedError> {
    Ok(equal_shares(replicas, last, ties, out, &mut scratch.division)?)
}

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
    match groups
        .enumerate()
        .find(|(_, group)| group.members.is_empty() && group.replicas > 0)
    {
        Some((group, Group { replicas, .. })) => Err(SpecifiedError::NoCandidate { group, replicas }),
        None => Ok(()),
    }
}
