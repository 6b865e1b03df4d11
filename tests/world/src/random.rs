//! Random numbers, all from one seed.
//!
//! Each part of the world has a stream of its own, so that an event that is taken out of a script changes as little as possible
//! of the rest.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream of this name under a seed.
    pub fn new(seed: u64, stream: &str) -> Self {
        let mixed = stream.bytes().fold(seed ^ 0x9e37_79b9_7f4a_7c15, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// A number below a limit; 0 if the limit is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        match limit {
            0 => 0,
            // The bias of a remainder is below one in a billion for the limits that occur here.
            limit => self.0.next_u64() % limit,
        }
    }

    /// A count below a limit; 0 if the limit is not positive.
    pub fn count(&mut self, limit: i64) -> i64 {
        i64::try_from(self.below(u64::try_from(limit).unwrap_or(0))).unwrap_or(0)
    }

    /// A number from `low` to `high`, both inclusive.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// An index below a length; 0 if the length is 0.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// True in this many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several values.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.index(values.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_stream_repeats_and_differs_from_others() {
        let numbers = |seed, stream| {
            let mut random = Random::new(seed, stream);
            (0..8).map(|_| random.below(1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(7, "network"), numbers(7, "network"));
        assert_ne!(numbers(7, "network"), numbers(7, "members"));
        assert_ne!(numbers(7, "network"), numbers(8, "network"));
    }
}
