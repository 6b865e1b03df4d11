//! The arithmetic of dividing replicas over candidates, shared by all strategies, including third-party ones.
//!
//! Pure functions over columns with one entry per candidate. They write the result to `out` and reuse memory through
//! [`Scratch`]. Nothing here knows about clusters, policies or the ABI.
//!
//! * [`ties`]: the order in which equal candidates are served.
//! * [`apportionment`]: whole shares in proportion to weights, floors first; [`webster`]: by highest averages;
//!   [`Rounding`]: the choice among them.
//! * [`level_fill`]: even division under capacities. [`even_change`]: an even change from the last result.
//! * [`dynamic`] and [`aggregate`]: shares in proportion to room, over all candidates or over as few as possible.
//! * [`tiers`]: quotas of tiers that are served one after another. [`groups`]: minimum and maximum replicas for groups
//!   of candidates; [`sharing`]: groups that share by weight, by count and within bounds.
//! * [`shares`]: shares in proportion to weights within bounds. [`keeping`]: the candidates that keep the most replicas together.
//!   [`tree`]: amounts in preferences.
//! * [`ranking`]: the first few of an order, without sorting the rest.
//!
//! # Guarantees
//!
//! * The counts in `out` are never negative, and they add up to the requested total. After an error, the contents of
//!   `out` are unspecified.
//! * No input causes a panic: inconsistent columns are a [`DivisionError`].
//! * The result depends on the order of the input only if two candidates have the same tie key.
//! * The running time is linear in the candidates and independent of the number of replicas: no loop runs once per
//!   replica.
//! * All arithmetic is exact: products that may exceed 64 bits are computed in 128 bits.
//! * A second call of the same size allocates nothing.
//!
//! ```
//! use divvy_framework::division::{apportionment, ties, Scratch};
//!
//! // Five replicas over three equal clusters: two get one more, drawn by the binding's UID.
//! let seed = ties::seed_for(42, "9a4f3a0e-6f0e-4a55-8c2f-4a1e0a3f7b11");
//! let identities = ["member1", "member2", "member3"].map(ties::identity_hash);
//! let (mut out, mut scratch) = ([0; 3], Scratch::default());
//! apportionment::equal_shares(5, &[0; 3], |i| ties::tie_key(seed, identities[i]), &mut out, &mut scratch)?;
//! assert_eq!(out.iter().sum::<i64>(), 5);
//! assert!(out.iter().all(|&count| count == 1 || count == 2));
//! # Ok::<(), divvy_framework::division::DivisionError>(())
//! ```

pub mod aggregate;
pub mod apportionment;
pub mod dynamic;
pub mod even_change;
pub mod groups;
pub mod keeping;
pub mod level_fill;
pub mod ranking;
pub mod shares;
pub mod sharing;
pub mod tiers;
pub mod ties;
pub mod tree;
pub mod webster;

mod columns;
mod cut;
mod error;
mod quotient;
mod request;
mod rounding;
mod scratch;
mod seat_bound;

pub use error::DivisionError;
pub use groups::within_groups;
pub use request::{Cycle, Request};
pub use rounding::Rounding;
pub use scratch::Scratch;

#[cfg(test)]
mod tests;
