//! The hasher for finding texts that a record already has.

use std::hash::Hasher;

/// Returns the hash with which a text's key begins: each of its bits already depends on every byte of the text. The
/// standard library's hasher took two fifths of the instructions for a record.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = self.0.rotate_left(1) ^ number;
    }
}
