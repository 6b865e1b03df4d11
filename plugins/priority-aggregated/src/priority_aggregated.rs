//! PriorityAggregated's arithmetic: preferred clusters first, as few as possible of equal priority.
//!
//! The rule is `proposals/priority-aggregated.md`, "Motivation" and "Use case and its behavior": candidates of equal
//! priority form a tier, the tier walk gives each tier its quota, and inside a tier Aggregated's rule divides it. Scores
//! play no part. Which entry of the policy names which cluster, and which priority makes which tier, is resolved before.

use divvy_framework::division::aggregate::{Fill, aggregate};
use divvy_framework::division::tiers::{LastTier, TierMembers, divide_among_tiers};
use divvy_framework::division::{DivisionError, Request, Scratch};

/// Memory reused from call to call.
#[derive(Debug, Default)]
pub struct PriorityAggregatedScratch {
    division: Scratch,
    members: TierMembers,
    quotas: Vec<i64>,
    fits_now: Vec<i64>,
    last: Vec<i64>,
    out: Vec<i64>,
}

/// Divides `request` tier by tier, tier 0 first.
///
/// * `tiers`: the tier of each candidate, below their number; empty for one tier, which is plain Aggregated.
/// * `fill`: how replicas are divided over the clusters that a tier uses.
/// * `order`: rank of a candidate by its place in the policy's list, then name; distinct, smaller first.
/// * `ties`: the tie order of the rounding, smaller keys first.
/// * `out`: one entry a candidate, overwritten, sums to `request.replicas`.
///
/// # Errors
/// [`Unschedulable`](DivisionError::Unschedulable) if the candidates together hold too little, with the figures of all
/// tiers; lengths that differ; negative counts.
pub fn divide(
    request: &Request<'_>,
    tiers: &[u32],
    fill: Fill,
    order: impl Fn(usize) -> u64,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut PriorityAggregatedScratch,
) -> Result<(), DivisionError> {
    let PriorityAggregatedScratch {
        division,
        members,
        quotas,
        fits_now,
        last,
        out: tier_out,
    } = scratch;
    if out.len() != request.fits_now.len() {
        let (expected, actual) = (request.fits_now.len(), out.len());
        return Err(DivisionError::LengthMismatch {
            column: "out",
            expected,
            actual,
        });
    }
    if tiers.is_empty() {
        return aggregate(request, fill, order, ties, out, division);
    }
    // Tiers are numbered densely, so that there are at most as many as candidates.
    let tier_count = tiers.iter().max().map_or(0, |&worst| worst as usize + 1);
    members.rebuild_from_tiers(tiers, tier_count.min(out.len()))?;
    quotas.clear();
    quotas.resize(members.tiers(), 0);
    divide_among_tiers(request, tiers, LastTier::WithinCapacity, quotas, division)?;

    for (tier, &quota) in quotas.iter().enumerate() {
        let members = members.members(tier);
        let gather = |column: &mut Vec<i64>, of: &[i64]| {
            column.clear();
            column.extend(members.iter().map(|&member| of[member as usize]));
        };
        gather(fits_now, request.fits_now);
        gather(last, request.last);
        tier_out.clear();
        tier_out.resize(members.len(), 0);
        // A tier's quota never mixes growth and shrinkage, so the tier's own steady rule fits it.
        aggregate(
            &Request {
                replicas: quota,
                fits_now,
                last,
                cycle: request.cycle,
            },
            fill,
            |position| order(members[position] as usize),
            |position| ties(members[position] as usize),
            tier_out,
            division,
        )?;
        for (&member, &count) in members.iter().zip(tier_out.iter()) {
            out[member as usize] = count;
        }
    }
    Ok(())
}
