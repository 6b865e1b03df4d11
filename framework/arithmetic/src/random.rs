//! Reproducible randomness, seeded from the profile's seed and the binding's UID, with fixed algorithms.
//!
//! A plugin must not use a clock or a global generator: the same snapshot, binding, profile, seed and time must give
//! the same result, to the replica. Two sources cover nearly every need. The [tie order](crate::division::ties) gives
//! each cluster a key derived from the binding's seed and the cluster's name, so ties break the same way for any order
//! of the clusters. [`Generator`] is a stream for everything else. It is xoshiro256++ by David Blackman and Sebastiano Vigna
//! (<https://prng.di.unimi.it>), written here: ten lines that must never change are no reason for two crates in every plugin, whose stream
//! could change with a release.

use divvy_framework_abi::hash::{hash_text, mix};

/// A seeded stream of random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator([u64; 4]);

impl Generator {
    /// The stream of a seed for one purpose. Streams for different purposes are independent.
    ///
    /// ```
    /// use divvy_framework::random::Generator;
    ///
    /// let mut generator = Generator::new(7, "average");
    /// assert_eq!(generator.next_u64(), Generator::new(7, "average").next_u64());
    /// assert_ne!(Generator::new(7, "average").next_u64(), Generator::new(7, "specified").next_u64());
    /// ```
    pub fn new(seed: u64, purpose: &str) -> Self {
        // As the authors recommend, SplitMix64 fills the state. Its finaliser is a bijection, so the state is never all zeros.
        let mut state = mix(seed ^ hash_text(purpose));
        Self([(); 4].map(|()| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        }))
    }

    /// The next number, uniform over 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let number = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        number
    }

    /// A uniform number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Multiplies instead of dividing. The few products whose low half would favour some numbers are drawn again.
        let threshold = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts `items` in a random order; each order is equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Generator;

    /// The first numbers of the authors' own implementation in C, from the same state.
    #[test]
    fn the_stream_is_that_of_xoshiro() {
        let mut generator = Generator([1, 2, 3, 4]);
        let first = [(); 4].map(|()| generator.next_u64());
        assert_eq!(
            first,
            [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]
        );
    }

    /// The stream is part of the contract: a recorded decision must be the same years later.
    #[test]
    fn the_stream_never_changes() {
        let mut generator = Generator::new(7, "average");
        let first: Vec<u64> = (0..3).map(|_| generator.next_u64()).collect();
        assert_eq!(first, STREAM);
    }

    const STREAM: [u64; 3] = [
        12_591_194_072_276_815_914,
        14_319_617_692_143_817_298,
        1_831_854_066_789_045_067,
    ];

    #[test]
    fn numbers_below_a_bound_are_equally_frequent() {
        let mut generator = Generator::new(1, "test");
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[generator.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert_eq!((generator.below(0), generator.below(1)), (0, 0));
    }

    #[test]
    fn a_shuffled_list_has_the_same_items() {
        let mut items: Vec<u32> = (0..50).collect();
        Generator::new(1, "test").shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
