//! The first few of an order, without sorting the rest.
//!
//! Remainders are handed out "one each to the first `count` by weight, then last, then tie". Only the *set* matters,
//! so a selection in linear time replaces a sort, and ties are drawn only between the candidates that are equal at the
//! cut. Ranks that pack into 64 bits (weights and counts of real fleets do) are compared as integers.
//!
//! It does not tell the order inside the set; a caller that needs it must sort.

pub use super::scratch::RankingScratch;
use super::scratch::WideRank;

/// The rank of a candidate: compared from the first number to the last, the larger served first.
pub type Rank = [u64; 3];

/// Calls `chosen` once for each of the first `count` of `candidates`: those with the larger [`Rank`], and between equal
/// ranks the smaller `ties` key. With fewer than `count` candidates, for all of them.
///
/// * `candidates`: indices below `u32::MAX`, each once. Gone through several times.
/// * `ties`: see [`ties`](super::ties); called only for candidates tied at the cut.
/// * `chosen` is called in no particular order.
///
/// ```
/// use divvy_framework::division::ranking::{first_by_rank, RankingScratch};
///
/// let weights = [5, 9, 5, 1];
/// let mut chosen = Vec::new();
/// first_by_rank(2, 0..4, |i| [weights[i], 0, 0], |i| 10 - i as u64, &mut RankingScratch::default(), |i| chosen.push(i));
/// chosen.sort();
/// assert_eq!(chosen, [1, 2]); // 9 first; of the two with 5 the smaller key, which is that of index 2
/// ```
pub fn first_by_rank(
    count: usize,
    candidates: impl Iterator<Item = usize> + Clone,
    rank: impl Fn(usize) -> Rank,
    ties: impl Fn(usize) -> u64,
    scratch: &mut RankingScratch,
    mut chosen: impl FnMut(usize),
) {
    if count == 0 {
        return;
    }
    let Some(packing) = Packing::over(candidates.clone().map(&rank)) else {
        return;
    };
    if packing.candidates <= count {
        candidates.for_each(chosen);
        return;
    }
    if packing.bits() > u64::BITS {
        first_by_wide_rank(count, candidates, rank, ties, &mut scratch.wide, chosen);
        return;
    }
    let (cut, mut places_at_cut) = if packing.bits() == 0 {
        (0, count)
    } else {
        scratch.packed.clear();
        scratch
            .packed
            .extend(candidates.clone().map(|index| packing.pack(rank(index))));
        let (before, &mut cut, _) = scratch.packed.select_nth_unstable(count - 1);
        let ahead = before.iter().filter(|&&packed| packed < cut).count();
        (cut, count - ahead)
    };
    scratch.tied.clear();
    for index in candidates {
        let packed = packing.pack(rank(index));
        if packed < cut {
            chosen(index);
        } else if packed == cut {
            scratch.tied.push(index as u128);
        }
    }
    if places_at_cut < scratch.tied.len() {
        for tied in &mut scratch.tied {
            *tied |= u128::from(ties(index_of(*tied))) << 32;
        }
        scratch.tied.select_nth_unstable(places_at_cut - 1);
    } else {
        places_at_cut = scratch.tied.len();
    }
    for &tied in &scratch.tied[..places_at_cut] {
        chosen(index_of(tied));
    }
}

/// The index in the low 32 bits of a tied entry.
fn index_of(tied: u128) -> usize {
    (tied & u128::from(u32::MAX)) as usize
}

/// [`first_by_rank`] for ranks that spread over more than 64 bits; slower, since whole records move.
fn first_by_wide_rank(
    count: usize,
    candidates: impl Iterator<Item = usize>,
    rank: impl Fn(usize) -> Rank,
    ties: impl Fn(usize) -> u64,
    records: &mut Vec<WideRank>,
    mut chosen: impl FnMut(usize),
) {
    records.clear();
    records.extend(candidates.map(|index| (rank(index).map(|part| !part), ties(index), index as u32)));
    records.select_nth_unstable(count - 1);
    for &(_, _, index) in &records[..count] {
        chosen(index as usize);
    }
}

/// How ranks pack into 64 bits: each part as its distance from the largest, in as few bits as that takes.
pub(super) struct Packing {
    candidates: usize,
    largest: Rank,
    widths: [u32; 3],
}

impl Packing {
    /// The packing of these ranks; none if there are none.
    pub(super) fn over(ranks: impl Iterator<Item = Rank>) -> Option<Self> {
        let mut smallest = [u64::MAX; 3];
        let mut largest = [u64::MIN; 3];
        let mut candidates = 0;
        for rank in ranks {
            candidates += 1;
            for part in 0..3 {
                smallest[part] = smallest[part].min(rank[part]);
                largest[part] = largest[part].max(rank[part]);
            }
        }
        if candidates == 0 {
            return None;
        }
        let widths = std::array::from_fn(|part| u64::BITS - (largest[part] - smallest[part]).leading_zeros());
        Some(Self {
            candidates,
            largest,
            widths,
        })
    }

    pub(super) fn bits(&self) -> u32 {
        self.widths.iter().sum()
    }

    /// The smaller is served first. Only for a packing of at most 64 bits.
    pub(super) fn pack(&self, rank: Rank) -> u64 {
        let distance: Rank = std::array::from_fn(|part| self.largest[part] - rank[part]);
        // A part of width 64 leaves no width for the others; a plain shift by 64 would overflow.
        let shift = |value: u64, width: u32| value.checked_shl(width).unwrap_or(0);
        let head = shift(distance[0], self.widths[1]) | distance[1];
        shift(head, self.widths[2]) | distance[2]
    }

    /// The second part of a packed rank.
    pub(super) fn second_part(&self, packed: u64) -> u64 {
        let mask = u64::MAX.checked_shr(u64::BITS - self.widths[1]).unwrap_or(0);
        let distance = packed.checked_shr(self.widths[2]).unwrap_or(0) & mask;
        self.largest[1] - distance
    }
}
