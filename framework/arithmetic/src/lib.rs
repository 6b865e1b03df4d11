//! The arithmetic of Divvy's decisions: division of replicas, costs, and reproducible randomness.
//!
//! Pure functions, for strategies and for hosts alike: a host walks the tiers of a policy with the same [`division`]
//! with which a plugin divides, breaks ties in the same order, and adds up the same [`cost`]s. Nothing here knows
//! clusters, policies or plugins. The hash is all that it uses of the ABI, because the hash decides ties and seeds
//! random streams.
//!
//! Authors see the modules as `divvy_framework::division`, `divvy_framework::cost` and `divvy_framework::random`.

pub mod cost;
pub mod division;
pub mod random;
