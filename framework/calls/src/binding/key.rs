//! The hasher of the texts that a record has already.

use std::hash::Hasher;

/// Hashes the key of a text by the hash that it begins with, in which every bit depends on every byte of the text already. The
/// standard library's hasher took two fifths of the instructions of a record.
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
