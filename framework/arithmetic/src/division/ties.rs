//! The order in which equal candidates are served.
//!
//! A binding's ties are broken by an order of the clusters that depends only on the profile's seed, the binding's UID
//! and the clusters' names: not on the order of the input, and not on the clock. So a retry gives the same answer,
//! adding an unrelated cluster does not change the order of the others, and over many bindings every subset of equal
//! candidates is served equally often (`proposals/static-weight-evenly.md`, "Expected goals").
//!
//! Deliberately, this does not use a random number generator: the order of two clusters must not depend on how many
//! others came before them. Each candidate's key is a pure function of (seed, name), and the smaller key is served
//! first. The functions of [`division`](super) take the keys as a closure `Fn(usize) -> u64`, so another order, such as
//! Karmada's order by name, can be passed instead. The keys should be distinct; equal keys fall back to the position in
//! the input.
//!
//! The algorithms are part of the contract, because a recorded decision must replay identically years later: 64-bit
//! FNV-1a over the UTF-8 bytes, then the finaliser of SplitMix64.
//!
//! ```
//! use divvy_framework::division::ties::{identity_hash, seed_for, tie_key};
//!
//! let seed = seed_for(7, "0c8f6e0e-8a55-4a39-a3a5-6f1d3c1e6b0f");
//! let keys = ["member1", "member2"].map(|name| tie_key(seed, identity_hash(name)));
//! assert_ne!(keys[0], keys[1]);
//! // Independent of any other cluster, and the same on every machine.
//! assert_eq!(keys[1], tie_key(seed, identity_hash("member2")));
//! ```

use divvy_framework_abi::hash;

/// Mixes 64 bits so that each output bit depends on each input bit: the finaliser of SplitMix64 (Steele, Lea, Flood:
/// "Fast splittable pseudorandom number generators", 2014; constants of variant 13). A bijection, so different inputs
/// never collide.
#[must_use]
#[inline]
pub const fn mix64(value: u64) -> u64 {
    hash::mix(value)
}

/// The fixed 64-bit hash of a cluster's name: FNV-1a over its UTF-8 bytes, then [`mix64`]. It is computed once per
/// snapshot, which also uses it to look up names.
#[must_use]
#[inline]
pub const fn identity_hash(name: &str) -> u64 {
    hash::hash_text(name)
}

/// The seed of one binding's ties, derived from the profile's seed and the binding's UID.
///
/// For a binding without a UID (a plain manifest), the caller passes its kind, namespace and name instead, joined.
#[must_use]
#[inline]
pub const fn seed_for(profile_seed: u64, uid: &str) -> u64 {
    // Mix the seed first, so that neighbouring seeds (0, 1, 2, …) do not merely swap bits of the same order.
    mix64(mix64(profile_seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ identity_hash(uid))
}

/// The tie key of a candidate: the smaller key is served first.
///
/// `seed` comes from [`seed_for`], `identity_hash` from [`identity_hash`].
#[must_use]
#[inline]
pub const fn tie_key(seed: u64, identity_hash: u64) -> u64 {
    mix64(seed ^ identity_hash)
}

/// True if, for this UID, Karmada serves equal candidates in descending rather than ascending order of names.
///
/// Source: Karmada v1.19-rc, `pkg/util/helper/binding.go`: bit 0 of the 32-bit FNV-1a hash of the *resource's* UID
/// (`spec.resource.uid`); 1 means descending. Without a UID, as in a manifest that was never applied, names ascend.
///
/// ```
/// use divvy_framework::division::ties::{karmada_descends, karmada_tie_key};
///
/// assert!(!karmada_descends(""));
/// let descends = karmada_descends("b");
/// assert!(descends);
/// // Ranks of the names in byte order: member2 comes before member1 in descending order.
/// assert!(karmada_tie_key(descends, 1) < karmada_tie_key(descends, 0));
/// ```
#[must_use]
#[inline]
pub const fn karmada_descends(resource_uid: &str) -> bool {
    let bytes = resource_uid.as_bytes();
    if bytes.is_empty() {
        // The hash of nothing is odd, but `tieBreakerByUID` does not ask for it.
        return false;
    }
    let mut hash = 0x811c_9dc5_u32;
    let mut position = 0;
    while position < bytes.len() {
        hash = (hash ^ bytes[position] as u32).wrapping_mul(0x0100_0193);
        position += 1;
    }
    hash & 1 == 1
}

/// The tie key of a candidate in Karmada's order: `name_rank` is the rank of its name in byte order, ascending.
#[must_use]
#[inline]
pub const fn karmada_tie_key(descends: bool, name_rank: u64) -> u64 {
    if descends { !name_rank } else { name_rank }
}
