//! Aggregated's rule: as few clusters as possible.
//!
//! The candidates are ordered, the shortest prefix that has room for the replicas is kept, and the replicas are divided
//! within it (Karmada v1.19-rc, `pkg/scheduler/core/division_algorithm.go`):
//!
//! | case | capacities | order of the prefix |
//! |---|---|---|
//! | steady growth: the extra replicas | fits now | has replicas first, capacity descending, `order` |
//! | steady shrinkage: the new total | last | capacity descending, `order` |
//! | fresh: the new total | fits now + last | capacity descending, `order` |
//!
//! Growth is added to the last result: clusters outside the prefix keep their replicas. A fresh cycle starts from
//! scratch, so existing replicas count there only as part of the capacity, as in Karmada.
//!
//! For parity with Karmada, `order` is the index among the selected candidates, or, when shrinking, the index among the
//! binding's last clusters (v1.19-rc sorts either list stably by capacity).
//!
//! The prefix is found by counting, not by sorting; see `cut`.

use super::columns::check_length;
use super::cut::find_cut;
use super::error::DivisionError;
use super::ranking::{Packing, Rank};
use super::request::{Change, Request};
use super::rounding::Rounding;
use super::scratch::{PrefixScratch, Scratch};

/// The rule that divides the replicas within the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// In proportion to the capacities, like Karmada.
    Proportional(Rounding),
    /// Each cluster is filled before the next one is used, as `proposals/priority-aggregated.md` ("Controller logic
    /// changes") proposes.
    Pack,
}

impl Default for Fill {
    #[inline]
    fn default() -> Self {
        Self::Proportional(Rounding::default())
    }
}

/// Divides over as few candidates as possible; see the [module](self).
///
/// * `order`: the final criterion for the order of the prefix, the smaller first, such as a candidate's rank by its
///   index in the policy's list, then by name. The values must be distinct; values below the number of clusters are
///   fastest.
/// * `ties`: the tie order of the rounding, see [`ties`](super::ties).
/// * `out` has one entry per candidate, is overwritten and adds up to `request.replicas`.
///
/// # Errors
/// [`Unschedulable`](DivisionError::Unschedulable) if the candidates together have room for fewer than
/// `request.replicas`. Other errors for columns of different lengths, negative input and a sum of `last` that exceeds
/// 64 bits.
///
/// ```
/// use divvy_framework::division::{aggregate::{aggregate, Fill}, Cycle, Request, Scratch};
///
/// let (mut out, mut scratch) = ([0; 4], Scratch::default());
/// let mut divide = |replicas, last, fill| {
///     let request = Request::new(replicas, &[10, 10, 10, 4], last, Cycle::Steady);
///     aggregate(&request, fill, |i| i as u64, |i| i as u64, &mut out, &mut scratch).map(|()| out)
/// };
/// assert_eq!(divide(16, &[0, 0, 0, 0], Fill::default())?, [8, 8, 0, 0]);
/// assert_eq!(divide(16, &[0, 0, 0, 0], Fill::Pack)?, [10, 6, 0, 0]);
/// // The last cluster has replicas and room for three more, so no other cluster is used.
/// assert_eq!(divide(5, &[0, 0, 0, 2], Fill::Pack)?, [0, 0, 0, 5]);
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
pub fn aggregate(
    request: &Request<'_>,
    fill: Fill,
    order: impl Fn(usize) -> u64,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    let candidates = request.fits_now.len();
    check_length("out", out.len(), candidates)?;
    let imitates_karmada = fill == Fill::Proportional(Rounding::Karmada);
    match request.change(imitates_karmada)? {
        Change::Nothing => {
            out.copy_from_slice(request.last);
            Ok(())
        }
        Change::Growth(extra) => {
            out.copy_from_slice(request.last);
            let rank = |index: usize| {
                let has_replicas = u64::from(request.last[index] > 0);
                [has_replicas, request.fits_now[index].cast_unsigned(), !order(index)]
            };
            add_to_prefix(extra, request.last, fill, rank, ties, out, scratch)
        }
        Change::Shrinkage => {
            out.fill(0);
            let rank = |index: usize| [0, request.last[index].cast_unsigned(), !order(index)];
            add_to_prefix(request.replicas, request.last, fill, rank, ties, out, scratch)
        }
        Change::Anew => {
            out.fill(0);
            let rank = |index: usize| [0, request.capacity(index).cast_unsigned(), !order(index)];
            add_to_prefix(request.replicas, request.last, fill, rank, ties, out, scratch)
        }
    }
}

/// Adds `replicas` to the candidates of the shortest prefix that has room for them. The second part of a rank is the
/// capacity.
fn add_to_prefix(
    replicas: i64,
    last: &[i64],
    fill: Fill,
    rank: impl Fn(usize) -> Rank,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    let Ok(needed @ 1..) = u64::try_from(replicas) else {
        return Ok(());
    };
    let last_of_prefix = find_prefix(needed, out.len(), &rank, &mut scratch.prefix);
    let capacity = |member: u32| rank(member as usize)[1].cast_signed();
    let PrefixScratch { members, columns, .. } = &mut scratch.prefix;
    columns.fill_from(members, capacity, |member| last[member as usize]);
    add_shares(replicas, fill, last_of_prefix, ties, out, scratch)
}

/// Divides `replicas` over the prefix in `scratch`. A function of its own, because it does not depend on the rank: each library
/// contains it once per tie order.
fn add_shares(
    replicas: i64,
    fill: Fill,
    last_of_prefix: u32,
    ties: impl Fn(usize) -> u64,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    let PrefixScratch { members, columns, .. } = &mut scratch.prefix;
    let (members, mut gathered) = (std::mem::take(members), std::mem::take(columns));
    let result = match fill {
        Fill::Pack => {
            // Because the prefix is the shortest one, all of its members except the last are filled.
            let mut left = replicas;
            let filled = members.iter().zip(&gathered.weights);
            for (&member, &capacity) in filled.filter(|(member, _)| **member != last_of_prefix) {
                out[member as usize] += capacity;
                left -= capacity;
            }
            out[last_of_prefix as usize] += left;
            Ok(())
        }
        Fill::Proportional(rounding) => {
            let tie_of = |position: usize| ties(members[position] as usize);
            let divided = rounding.divide(
                replicas,
                &gathered.weights,
                &gathered.last,
                tie_of,
                &mut gathered.out,
                scratch,
            );
            for (&member, &share) in members.iter().zip(&gathered.out) {
                out[member as usize] += share;
            }
            divided
        }
    };
    scratch.prefix.members = members;
    scratch.prefix.columns = gathered;
    result
}

/// Collects in `scratch.members` the shortest prefix, by rank, whose capacities reach `needed`, and returns its last
/// member. The caller guarantees that `needed` is positive and that all capacities together reach it.
fn find_prefix(needed: u64, candidates: usize, rank: &impl Fn(usize) -> Rank, scratch: &mut PrefixScratch) -> u32 {
    scratch.members.clear();
    let packing = Packing::over((0..candidates).map(rank));
    if packing.bits() > u64::BITS {
        return find_wide_prefix(needed, candidates, rank, scratch);
    }
    scratch.packed.clear();
    let keys = (0..candidates).map(|index| packing.pack(rank(index)));
    scratch.packed.extend(keys);
    find_packed_prefix(needed, &packing, scratch)
}

/// The second half of [`find_prefix`], which does not depend on the rank.
fn find_packed_prefix(needed: u64, packing: &Packing, scratch: &mut PrefixScratch) -> u32 {
    let keys = &scratch.packed;
    let capacity = |key: u64| packing.second_part(key);
    let cut = find_cut(keys, capacity, |_, sum, _| sum >= needed, &mut scratch.cut);
    let (cut_key, mut missing) = (cut.key.unwrap_or(u64::MAX), needed - cut.sum_before.min(needed));
    let mut last_of_prefix = 0;
    for (index, &key) in (0..).zip(keys.iter()) {
        if key < cut_key {
            scratch.members.push(index);
        } else if key == cut_key && missing > 0 {
            // Ranks are distinct if the caller's order is. If it is not, take only as many of the equals as needed.
            scratch.members.push(index);
            missing = missing.saturating_sub(capacity(key));
            last_of_prefix = index;
        }
    }
    last_of_prefix
}

/// [`find_prefix`] for ranks that do not pack into 64 bits; slower, because it sorts whole records.
#[inline]
fn find_wide_prefix(needed: u64, candidates: usize, rank: &impl Fn(usize) -> Rank, scratch: &mut PrefixScratch) -> u32 {
    let entries = &mut scratch.wide;
    entries.clear();
    entries.extend((0..candidates).map(|index| (rank(index).map(|part| !part), index as u32)));
    entries.sort_unstable();
    let (mut missing, mut last_of_prefix) = (needed, 0);
    for &(inverted, index) in entries.iter() {
        if missing == 0 {
            break;
        }
        scratch.members.push(index);
        missing = missing.saturating_sub(!inverted[1]);
        last_of_prefix = index;
    }
    debug_assert!(missing == 0, "the capacities of all candidates reach what is needed");
    last_of_prefix
}
