//! The arithmetic of PriorityAggregated: preferred clusters first, and as few as possible of equal priority.
//!
//! The rule is `proposals/priority-aggregated.md`, "Motivation" and "Use case and its behavior": candidates of equal
//! priority form a tier, the tier walk assigns a quota to each tier, and Aggregated's rule divides the quota within the
//! tier. Scores are not considered. The host has already matched clusters to policy entries and priorities to tiers.

use divvy_framework::division::aggregate::{Fill, aggregate};
use divvy_framework::division::tiers::{LastTier, TierMembers, divide_among_tiers};
use divvy_framework::division::{DivisionError, Request, Scratch};

/// Buffers reused between calls.
#[derive(Debug, Default)]
pub struct PriorityAggregatedScratch {
    division: Scratch,
    members: TierMembers,
    /// Tiers of the candidates, ascending.
    distinct: Vec<u32>,
    /// Index of each candidate's tier in `distinct`.
    dense: Vec<u32>,
    quotas: Vec<i64>,
    fits_now: Vec<i64>,
    last: Vec<i64>,
    out: Vec<i64>,
}

/// Divides `request` tier by tier, tier 0 first.
///
/// * `tiers`: tier of each candidate; empty for a single tier, which is plain Aggregated. Tiers may be missing, because
///   Select left all of their clusters out.
/// * `fill`: how replicas are divided over the selected clusters of a tier.
/// * `order`: rank of a candidate by its position in the policy's list, then name; distinct, smaller first.
/// * `ties`: tie order of the rounding, smaller keys first.
/// * `out`: one entry per candidate, overwritten; sums to `request.replicas` on success.
///
/// # Errors
/// Returns [`Unschedulable`](DivisionError::Unschedulable), with the figures of all tiers, if the candidates together
/// lack capacity. Other errors report columns of different lengths or negative counts, which are bugs of the caller.
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
        distinct,
        dense,
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
    distinct.clear();
    distinct.extend_from_slice(tiers);
    distinct.sort_unstable();
    distinct.dedup();
    dense.clear();
    // Every tier is in the list, so the search cannot fail.
    dense.extend(
        tiers
            .iter()
            .map(|tier| distinct.binary_search(tier).unwrap_or_else(|index| index) as u32),
    );
    members.rebuild_from_tiers(dense, distinct.len())?;
    quotas.clear();
    quotas.resize(members.tiers(), 0);
    divide_among_tiers(request, dense, LastTier::WithinCapacity, quotas, division)?;

    // Each tier is an independent division of its quota, over copies of its members' columns.
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
        // Within one cycle a tier either grows or shrinks, so Aggregated's steady rule applies to it unchanged.
        aggregate(
            &Request::new(quota, fits_now, last, request.cycle),
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
