//! The first few of an order, without sorting the rest.
//!
//! Remainders go "one each to the first `count` by weight, then last, then tie". Only the *set* matters, so a
//! linear-time selection replaces a sort, and ties are computed only for candidates that are equal at the cut. Ranks
//! that pack into 64 bits, as they do in real fleets, are compared as integers.
//!
//! The order within the set is not determined; a caller that needs it must sort.

use super::cut::{cut_at_count, low_bits};
pub use super::scratch::RankingScratch;
use super::scratch::WideRank;

/// The rank of a candidate: compared from the first number to the last. The larger rank is served first.
pub type Rank = [u64; 3];

/// Calls `chosen` once for each of the first `count` of `candidates`: those with the larger [`Rank`], and among equal
/// ranks those with the smaller `ties` key. With fewer than `count` candidates, calls it for all of them.
///
/// * `candidates`: indices below `u32::MAX`, each once. The iterator is run several times.
/// * `ties`: see [`ties`](super::ties); called only for candidates that are tied at the cut.
/// * `chosen` is called in no particular order.
///
/// ```
/// use divvy_framework::division::ranking::{first_by_rank, RankingScratch};
///
/// let weights = [5, 9, 5, 1];
/// let mut chosen = Vec::new();
/// first_by_rank(2, 0..4, |i| [weights[i], 0, 0], |i| 10 - i as u64, &mut RankingScratch::default(), |i| chosen.push(i));
/// chosen.sort();
/// assert_eq!(chosen, [1, 2]); // 9 first; of the two with 5, index 2 has the smaller key
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
    let packing = Packing::over(candidates.clone().map(&rank));
    if packing.candidates <= count {
        candidates.for_each(chosen);
        return;
    }
    if packing.bits() > u64::BITS {
        first_by_wide_rank(count, candidates, rank, ties, &mut scratch.wide, chosen);
        return;
    }
    // Candidates before the cut are chosen right away; those equal to it compete for what is left of `count` by tie
    // key.
    scratch.tied.clear();
    let mut places_at_cut = count;
    if packing.bits() == 0 {
        scratch.tied.extend(candidates.map(|index| index as u32));
    } else {
        scratch.packed.clear();
        scratch
            .packed
            .extend(candidates.clone().map(|index| packing.pack(rank(index))));
        let cut = cut_at_count(&scratch.packed, count as u64, &mut scratch.cut);
        places_at_cut -= cut.count_before as usize;
        // There are more than `count` candidates, so some key stops.
        let cut = cut.key.unwrap_or(u64::MAX);
        for (index, &packed) in candidates.zip(&scratch.packed) {
            if packed < cut {
                chosen(index);
            } else if packed == cut {
                scratch.tied.push(index as u32);
            }
        }
    }
    first_by_ties(places_at_cut, ties, scratch, chosen);
}

/// Calls `chosen` for the first `count` of the tied candidates.
fn first_by_ties(
    mut count: usize,
    ties: impl Fn(usize) -> u64,
    scratch: &mut RankingScratch,
    mut chosen: impl FnMut(usize),
) {
    let RankingScratch { tied, packed, cut, .. } = scratch;
    if tied.len() <= count {
        tied.iter().for_each(|&index| chosen(index as usize));
        return;
    }
    packed.clear();
    packed.extend(tied.iter().map(|&index| ties(index as usize)));
    let cut = cut_at_count(packed, count as u64, cut);
    count -= cut.count_before as usize;
    let cut = cut.key.unwrap_or(u64::MAX);
    for (&index, &key) in tied.iter().zip(packed.iter()) {
        if key < cut {
            chosen(index as usize);
        } else if key == cut && count > 0 {
            // Tie keys should be distinct. If they are not, the input order decides.
            count -= 1;
            chosen(index as usize);
        }
    }
}

/// [`first_by_rank`] for ranks that do not pack into 64 bits; slower, because it moves whole records.
#[inline]
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

/// The packing of ranks into 64 bits: for each part, the inverted bits in which the ranks differ.
pub(super) struct Packing {
    candidates: usize,
    widths: [u32; 3],
    /// The upper bits of the second part, which all ranks share.
    shared_of_second: u64,
}

impl Packing {
    /// The packing of these ranks.
    pub(super) fn over(ranks: impl Iterator<Item = Rank>) -> Self {
        // Unions and intersections of bits are cheaper to compute than minimum and maximum, and pack nearly as tightly.
        let (mut any, mut all) = ([0; 3], [u64::MAX; 3]);
        let mut candidates = 0;
        for rank in ranks {
            candidates += 1;
            for part in 0..3 {
                any[part] |= rank[part];
                all[part] &= rank[part];
            }
        }
        let widths = match candidates {
            0 => [0; 3],
            _ => std::array::from_fn(|part| u64::BITS - (any[part] ^ all[part]).leading_zeros()),
        };
        Self {
            candidates,
            widths,
            shared_of_second: any[1] & !low_bits(widths[1]),
        }
    }

    #[inline]
    pub(super) fn bits(&self) -> u32 {
        self.widths.iter().sum()
    }

    /// The second part of a packed rank.
    #[inline]
    pub(super) fn second_part(&self, packed: u64) -> u64 {
        let inverted = packed.checked_shr(self.widths[2]).unwrap_or(0);
        self.shared_of_second | (!inverted & low_bits(self.widths[1]))
    }

    /// The packed rank: the smaller is served first. Only valid for a packing of at most 64 bits.
    #[inline]
    pub(super) fn pack(&self, rank: Rank) -> u64 {
        let part = |part: usize| !rank[part] & low_bits(self.widths[part]);
        // If the lower parts take all 64 bits, the upper ones have none, so their shift does not matter.
        let (head, middle) = (self.widths[1] + self.widths[2], self.widths[2]);
        part(0) << (head % u64::BITS) | part(1) << (middle % u64::BITS) | part(2)
    }
}
