//! The text hash that both sides of the boundary compute: FNV-1a over the bytes, then the finaliser of SplitMix64.
//!
//! Symbol tables and tie orders are built on it, so it is part of the ABI and never changes within a major version. It
//! does not resist an attacker who chooses the texts: anyone who can name clusters is trusted not to provoke
//! collisions.

const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// The 64-bit hash of a text.
///
/// ```
/// use divvy_framework_abi::hash::hash_text;
/// assert_eq!(hash_text(""), 0xf52a_15e9_a9b5_e89b);
/// assert_ne!(hash_text("member1"), hash_text("member2"));
/// ```
pub const fn hash_text(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut state = FNV_OFFSET_BASIS;
    let mut position = 0;
    while position < bytes.len() {
        state = (state ^ bytes[position] as u64).wrapping_mul(FNV_PRIME);
        position += 1;
    }
    mix(state)
}

/// The finaliser of SplitMix64: a bijection on 64 bits in which every input bit reaches every output bit.
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
