//! Memory that divisions reuse.
//!
//! A scheduler divides thousands of times per second over the same fleet. Each function of [`division`](super) takes
//! its caller's [`Scratch`], grows it in the first call and allocates nothing in later calls of the same size. A
//! scratch holds no state: results never depend on what an earlier call left behind, and a new one gives the same
//! result.

use super::cut::CutScratch;
use super::groups::GroupsScratch;
use super::sharing::SharingScratch;
use super::webster::Seat;

/// Reusable buffers for the functions of [`division`](super).
///
/// ```
/// use divvy_framework::division::{apportionment, Scratch};
///
/// let mut scratch = Scratch::default();
/// let mut out = [0; 3];
/// for replicas in 0..100 {
///     // Only the first call that breaks a tie allocates.
///     apportionment::floor_and_rank(replicas, &[2, 1, 1], &[0; 3], |i| i as u64, &mut out, &mut scratch)?;
/// }
/// # Ok::<(), divvy_framework::division::DivisionError>(())
/// ```
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) ranking: RankingScratch,
    pub(super) seats: Vec<Seat>,
    pub(super) prefix: PrefixScratch,
    pub(super) gathered: GatheredScratch,
    pub(super) groups: GroupsScratch,
    pub(super) sharing: SharingScratch,
}

/// Buffers of [`ranking`](super::ranking).
#[derive(Debug, Default)]
pub struct RankingScratch {
    /// Packed ranks of all contenders; then the tie keys of those that are tied.
    pub(super) packed: Vec<u64>,
    pub(super) cut: CutScratch,
    /// Ranks that do not pack into 64 bits, with tie key and index.
    pub(super) wide: Vec<WideRank>,
    /// The contenders that are equal at the cut; only some of them are chosen.
    pub(super) tied: Vec<u32>,
}

/// A rank that does not pack, in the order of comparison: inverted rank, tie key, index.
pub(super) type WideRank = ([u64; 3], u64, u32);

/// Buffers of the prefix selection in [`aggregate`](super::aggregate).
#[derive(Debug, Default)]
pub(super) struct PrefixScratch {
    /// Sort keys of all candidates, packed.
    pub(super) packed: Vec<u64>,
    pub(super) cut: CutScratch,
    /// Sort keys that do not pack into 64 bits.
    pub(super) wide: Vec<([u64; 3], u32)>,
    /// Indices of the candidates in the prefix.
    pub(super) members: Vec<u32>,
    /// Their columns; the weights are their capacities.
    pub(super) columns: SubsetColumns,
}

/// Intermediate columns of a division.
#[derive(Debug, Default)]
pub(super) struct GatheredScratch {
    /// Capacities, or sums of them.
    pub(super) weights: Vec<i64>,
    /// Replicas to add after a ranking.
    pub(super) out: Vec<i64>,
}

/// Contiguous columns of a subset of the candidates.
#[derive(Debug, Default)]
pub(super) struct SubsetColumns {
    pub(super) weights: Vec<i64>,
    pub(super) last: Vec<i64>,
    pub(super) out: Vec<i64>,
}

impl SubsetColumns {
    /// Gathers both columns over `members` and makes room for the result.
    #[inline]
    pub(super) fn fill_from(&mut self, members: &[u32], weight: impl Fn(u32) -> i64, last: impl Fn(u32) -> i64) {
        self.weights.clear();
        self.weights.extend(members.iter().map(|&member| weight(member)));
        self.last.clear();
        self.last.extend(members.iter().map(|&member| last(member)));
        self.out.clear();
        self.out.resize(members.len(), 0);
    }
}
