//! The arithmetic of Divvy's decisions: how replicas are divided, and what chance is left to decide.
//!
//! Pure functions, for strategies and for hosts alike: a host walks the tiers of a policy with the same [`division`] with which a
//! plugin divides, and breaks ties in the same order. Nothing here knows clusters, policies or plugins. Of the ABI it uses the hash
//! alone, because the hash decides ties and streams of chance.
//!
//! Authors see both modules as `divvy_framework::division` and `divvy_framework::random`.

pub mod division;
pub mod random;
