//! The arithmetic of Divvy's decisions: division of replicas, and reproducible randomness.
//!
//! Pure functions, for strategies and for hosts alike: a host walks the tiers of a policy with the same [`division`]
//! with which a plugin divides, and breaks ties in the same order. Nothing here knows clusters, policies or plugins.
//! The hash is all that it uses of the ABI, because the hash decides ties and seeds random streams.
//!
//! Authors see both modules as `divvy_framework::division` and `divvy_framework::random`.

pub mod division;
pub mod random;
