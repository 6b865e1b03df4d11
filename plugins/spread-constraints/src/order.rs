//! Order of the feasible clusters: tier ascending, score descending, available replicas descending, then the given
//! order: by name, unless a previous selector ordered them.
//!
//! A comparison sort that includes names costs more than the rest of a cycle. Instead, each cluster is packed into one
//! integer: the distances of its tier, score and availability from the best in the fleet, in as few bits as their
//! ranges need, followed by its index. Indices ascend in the given order, so a stable radix sort can skip them. If the ranges
//! need more than 64 bits, a comparison sort is used.

/// Columns of the feasible clusters, with one entry per cluster in the given order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    /// Tiers; empty if there are none.
    pub(crate) tiers: &'a [u32],
    /// Total scores; always one per cluster.
    pub(crate) scores: &'a [i64],
    /// Replicas that fit now plus last replicas; empty if nothing was estimated.
    pub(crate) available: &'a [i64],
}

impl Columns<'_> {
    /// Number of clusters.
    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    #[inline]
    pub(crate) fn tier(&self, index: u32) -> u32 {
        self.tiers.get(index as usize).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn score(&self, index: u32) -> i64 {
        self.scores.get(index as usize).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn available(&self, index: u32) -> i64 {
        self.available.get(index as usize).copied().unwrap_or(0)
    }
}

/// Maximum number of clusters for which a comparison sort is faster than a radix sort.
const FEW: usize = 96;

/// Maximum bits per digit of the radix sort, chosen so that the counters fit into the L1 cache.
const DIGIT_BITS: u32 = 10;

/// Indices of the clusters in order, and buffers for sorting.
#[derive(Debug, Default)]
pub(crate) struct Order {
    keys: Vec<u64>,
    spare: Vec<u64>,
    indices: Vec<u32>,
}

impl Order {
    /// Sorts the clusters. Only the first `wanted` are guaranteed to be in order; the others follow in any order.
    pub(crate) fn sort(&mut self, columns: Columns<'_>, wanted: usize) -> &mut [u32] {
        self.indices.clear();
        let all = (0..).take(columns.len());
        let packing = Packing::over(columns);
        if packing.rank_bits() == 0 {
            // All clusters are equal, and they stay in the given order.
            self.indices.extend(all);
        } else if packing.bits() <= u64::BITS {
            packing.write_keys(columns, &mut self.keys);
            self.sort_keys(&packing, wanted);
            let mask = (1 << packing.index_bits) - 1;
            self.indices.extend(self.keys.iter().map(|key| (key & mask) as u32));
        } else {
            self.indices.extend(all);
            self.indices.sort_unstable_by_key(|&index| {
                let tier = columns.tier(index);
                (tier, !columns.score(index), !columns.available(index), index)
            });
        }
        &mut self.indices
    }

    /// Indices after the last [`Self::sort`] and any changes that the caller made to its result.
    pub(crate) fn indices(&self) -> &[u32] {
        &self.indices
    }

    fn sort_keys(&mut self, packing: &Packing, wanted: usize) {
        let count = self.keys.len();
        if count <= FEW {
            self.keys.sort_unstable();
        } else if wanted < count / 4 {
            let (head, _, _) = self.keys.select_nth_unstable(wanted);
            head.sort_unstable();
        } else {
            radix_sort(&mut self.keys, &mut self.spare, packing.index_bits, packing.rank_bits());
        }
    }
}

/// Layout of the integers into which the clusters of one call are packed.
struct Packing {
    best: (u32, i64, i64),
    tier_bits: u32,
    score_bits: u32,
    available_bits: u32,
    index_bits: u32,
}

impl Packing {
    fn over(columns: Columns<'_>) -> Self {
        let (best_tier, worst_tier) = span(columns.tiers);
        let (worst_score, best_score) = span(columns.scores);
        let (least, most) = span(columns.available);
        Self {
            best: (best_tier, best_score, most),
            tier_bits: u32::BITS - worst_tier.abs_diff(best_tier).leading_zeros(),
            score_bits: u64::BITS - best_score.abs_diff(worst_score).leading_zeros(),
            available_bits: u64::BITS - most.abs_diff(least).leading_zeros(),
            index_bits: usize::BITS - columns.len().leading_zeros(),
        }
    }

    /// Number of bits without the index.
    fn rank_bits(&self) -> u32 {
        self.tier_bits + self.score_bits + self.available_bits
    }

    fn bits(&self) -> u32 {
        self.rank_bits() + self.index_bits
    }

    /// Writes the sort keys of the clusters; smaller keys come first. Requires a packing of at most 64 bits.
    ///
    /// Writes one column at a time, so that the loops are short enough to be vectorised.
    fn write_keys(&self, columns: Columns<'_>, keys: &mut Vec<u64>) {
        let (tier, score, available) = self.best;
        // No figure is better than the best one, so the differences are exact in 64 bits without a sign.
        let worse = |best: i64, figure: i64| best.wrapping_sub(figure).cast_unsigned();
        keys.clear();
        keys.extend(columns.scores.iter().map(|&own| worse(score, own)));
        for (key, &own) in keys.iter_mut().zip(columns.tiers) {
            *key |= u64::from(own.wrapping_sub(tier)) << self.score_bits;
        }
        for (key, &own) in keys.iter_mut().zip(columns.available) {
            *key = *key << self.available_bits | worse(available, own);
        }
        // There is at least one cluster, so the index takes at least one bit and no shift reaches 64.
        for (index, key) in (0..).zip(keys) {
            *key = *key << self.index_bits | index;
        }
    }
}

/// Smallest and largest entry of a column; both are the default value for an empty column.
fn span<T: Copy + Ord + Default>(column: &[T]) -> (T, T) {
    let Some(&first) = column.first() else {
        return (T::default(), T::default());
    };
    column.iter().fold((first, first), |(least, most), &entry| {
        (least.min(entry), most.max(entry))
    })
}

/// Sorts keys by the `bits` bits above the lowest `skipped`, digit by digit from the lowest. The sort is stable.
fn radix_sort(keys: &mut Vec<u64>, spare: &mut Vec<u64>, skipped: u32, bits: u32) {
    let passes = bits.div_ceil(DIGIT_BITS);
    let digit_bits = bits.div_ceil(passes);
    let mask = (1_u64 << digit_bits) - 1;
    spare.clear();
    spare.resize(keys.len(), 0);
    for pass in 0..passes {
        let shift = skipped + pass * digit_bits;
        let digit = |key: u64| (key >> shift & mask) as usize;
        // Count the keys per digit, turn the counts into starts, and write each key to the next slot of its digit.
        let mut ends = [0_u32; 1 << DIGIT_BITS];
        for &key in keys.iter() {
            ends[digit(key)] += 1;
        }
        let mut start = 0;
        for end in &mut ends[..1 << digit_bits] {
            start += std::mem::replace(end, start);
        }
        for &key in keys.iter() {
            let slot = &mut ends[digit(key)];
            spare[*slot as usize] = key;
            *slot += 1;
        }
        std::mem::swap(keys, spare);
    }
}
