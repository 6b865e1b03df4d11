//! The arithmetic of Divvy's decisions: division of replicas, the steps of moves, costs, and reproducible randomness.
//!
//! Pure functions, for strategies and for hosts alike: a host walks the tiers of a policy with the same [`division`]
//! with which a plugin divides, breaks ties in the same order, and adds up the same [`cost`]s. Nothing here knows
//! clusters, policies or plugins. Of the ABI, it uses the hash, which decides ties and seeds random streams, and the numbers
//! of reasons for waiting.
//!
//! Authors see the modules as `divvy_framework::division`, `divvy_framework::pace`, `divvy_framework::cost` and
//! `divvy_framework::random`.

pub mod cost;
pub mod division;
pub mod pace;
pub mod random;
