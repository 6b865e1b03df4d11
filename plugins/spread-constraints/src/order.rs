//! The order of the feasible clusters: tier ascending, score descending, available replicas descending, name ascending.
//!
//! A comparison sort with a name at its end costs more than the rest of a cycle. Here a cluster is one integer: the
//! distances of its tier, score and availability from the best of the fleet, in as few bits as the fleet's span takes, and
//! its place below them. Places ascend with names, so a stable radix sort need not look at them at all. Figures that span
//! too much for 64 bits fall back to comparing.

/// What is known of each feasible cluster, one entry a cluster in each column, in the order of names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    /// Empty: no tiers.
    pub(crate) tiers: &'a [u32],
    /// Total scores; as many as there are clusters.
    pub(crate) scores: &'a [i64],
    /// Replicas that fit now plus those that are there. Empty: nothing was estimated.
    pub(crate) available: &'a [i64],
}

impl Columns<'_> {
    /// The number of clusters.
    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    #[inline]
    pub(crate) fn tier(&self, place: u32) -> u32 {
        self.tiers.get(place as usize).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn score(&self, place: u32) -> i64 {
        self.scores.get(place as usize).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn available(&self, place: u32) -> i64 {
        self.available.get(place as usize).copied().unwrap_or(0)
    }
}

/// Up to this many clusters a sort beats counting digits.
const FEW: usize = 96;

/// Bits of a digit of the radix sort at most: its counters stay in the nearest cache.
const DIGIT_BITS: u32 = 10;

/// The places of the clusters in order, with the memory that making it takes.
#[derive(Debug, Default)]
pub(crate) struct Order {
    keys: Vec<u64>,
    spare: Vec<u64>,
    places: Vec<u32>,
}

impl Order {
    /// Puts the clusters into order, of which only the first `wanted` need be right: the others follow in any order.
    pub(crate) fn sort(&mut self, columns: Columns<'_>, wanted: usize) -> &mut [u32] {
        let count = columns.len();
        self.places.clear();
        self.places.extend((0..).take(count));
        let packing = Packing::over(columns);
        if packing.rank_bits() == 0 {
            // All are equal but for their names, whose order they have.
        } else if packing.bits() <= u64::BITS {
            self.keys.clear();
            self.keys
                .extend(self.places.iter().map(|&place| packing.key(columns, place)));
            self.sort_keys(&packing, wanted);
            let mask = (1 << packing.place_bits) - 1;
            for (place, key) in self.places.iter_mut().zip(&self.keys) {
                *place = (key & mask) as u32;
            }
        } else {
            self.places.sort_unstable_by_key(|&place| {
                let tier = columns.tier(place);
                (tier, !columns.score(place), !columns.available(place), place)
            });
        }
        &mut self.places
    }

    /// The places as the last [`Self::sort`], and whoever changed them since, left them.
    pub(crate) fn places(&self) -> &[u32] {
        &self.places
    }

    fn sort_keys(&mut self, packing: &Packing, wanted: usize) {
        let count = self.keys.len();
        if count <= FEW {
            self.keys.sort_unstable();
        } else if wanted < count / 4 {
            let (head, _, _) = self.keys.select_nth_unstable(wanted);
            head.sort_unstable();
        } else {
            radix_sort(&mut self.keys, &mut self.spare, packing.place_bits, packing.rank_bits());
        }
    }
}

/// How the clusters of one call pack into integers.
struct Packing {
    best: (u32, i64, i64),
    tier_bits: u32,
    score_bits: u32,
    available_bits: u32,
    place_bits: u32,
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
            place_bits: usize::BITS - columns.len().leading_zeros(),
        }
    }

    /// Bits of everything but the place.
    fn rank_bits(&self) -> u32 {
        self.tier_bits + self.score_bits + self.available_bits
    }

    fn bits(&self) -> u32 {
        self.rank_bits() + self.place_bits
    }

    /// The smaller comes first. Only for a packing of at most 64 bits.
    #[inline]
    fn key(&self, columns: Columns<'_>, place: u32) -> u64 {
        let tier = u64::from(columns.tier(place).abs_diff(self.best.0));
        let score = columns.score(place).abs_diff(self.best.1);
        let available = columns.available(place).abs_diff(self.best.2);
        // There is at least one cluster, so a place takes a bit and no shift reaches 64.
        let head = tier << self.score_bits | score;
        (head << self.available_bits | available) << self.place_bits | u64::from(place)
    }
}

/// The smallest and the largest entry of a column; an empty one spans nothing.
fn span<T: Copy + Ord + Default>(column: &[T]) -> (T, T) {
    let Some(&first) = column.first() else {
        return (T::default(), T::default());
    };
    column.iter().fold((first, first), |(least, most), &entry| {
        (least.min(entry), most.max(entry))
    })
}

/// Sorts keys by the `bits` bits above the lowest `skipped`, digit by digit from the lowest; equal ones stay in order.
fn radix_sort(keys: &mut Vec<u64>, spare: &mut Vec<u64>, skipped: u32, bits: u32) {
    let passes = bits.div_ceil(DIGIT_BITS);
    let digit_bits = bits.div_ceil(passes);
    let mask = (1_u64 << digit_bits) - 1;
    spare.clear();
    spare.resize(keys.len(), 0);
    for pass in 0..passes {
        let shift = skipped + pass * digit_bits;
        let digit = |key: u64| (key >> shift & mask) as usize;
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
