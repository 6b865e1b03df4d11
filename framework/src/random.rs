//! Reproducible randomness, seeded from the profile's seed and the binding's UID, with fixed algorithms.
//!
//! A plugin must not use a clock or a global generator: the same snapshot, binding, profile and seed must give the same
//! result, to the replica. Two sources cover nearly every need. The [tie order](crate::division::ties) gives each
//! cluster a key derived from the binding's seed and the cluster's name, so ties break the same way whatever the order
//! of the clusters. [`Generator`] is a stream for everything else. It is xoshiro256++, whose stream is fixed, unlike
//! that of `rand::rngs::StdRng`, which may change with any release of rand.

use divvy_framework_abi::hash::{hash_text, mix};
use rand::SeedableRng;
use rand::rand_core::{Infallible, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A seeded stream of random numbers. It implements [`rand::Rng`], so all of rand's distributions work with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator(Xoshiro256PlusPlus);

impl Generator {
    /// The stream of a seed for one purpose. Streams for different purposes are independent.
    ///
    /// ```
    /// use divvy_framework::random::Generator;
    /// use rand::Rng;
    ///
    /// let mut generator = Generator::new(7, "average");
    /// assert_eq!(generator.next_u64(), Generator::new(7, "average").next_u64());
    /// assert_ne!(Generator::new(7, "average").next_u64(), Generator::new(7, "specified").next_u64());
    /// ```
    pub fn new(seed: u64, purpose: &str) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ hash_text(purpose))))
    }
}

impl TryRng for Generator {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}
