//! A block of words.

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;

#[cfg(target_os = "linux")]
use crate::heap::{Block, Readers};

/// Words that the host writes and plugins can only read. Initially zero.
///
/// The host also reads at the addresses that plugins see, so that the processor's cache of addresses holds each page
/// once.
pub struct Words(Storage);

enum Storage {
    #[cfg(target_os = "linux")]
    Protected(Block),
    Ordinary(Box<[u64]>),
}

impl Words {
    /// `length` words, all zero.
    pub fn zeroed(length: usize) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(block) = Block::zeroed(length, Readers::All) {
            return Self(Storage::Protected(block));
        }
        Self(Storage::Ordinary(vec![0; length].into()))
    }

    /// `length` words, all zero, that no other process can read.
    pub fn of_this_process(length: usize) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(block) = Block::zeroed(length, Readers::ThisProcess) {
            return Self(Storage::Protected(block));
        }
        Self(Storage::Ordinary(vec![0; length].into()))
    }

    /// The words, for writing. Plugins see them at other addresses.
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        match &mut self.0 {
            #[cfg(target_os = "linux")]
            Storage::Protected(block) => block.as_mut_slice(),
            Storage::Ordinary(words) => words,
        }
    }

    /// The addresses at which the host writes and at which plugins read.
    pub(crate) fn addresses<T>(&mut self) -> (NonNull<T>, NonNull<T>) {
        let write = NonNull::from(self.as_mut_slice()).cast();
        (write, NonNull::from(&**self).cast())
    }
}

impl Deref for Words {
    type Target = [u64];

    /// The words, at the addresses that plugins see.
    #[inline]
    fn deref(&self) -> &[u64] {
        match &self.0 {
            #[cfg(target_os = "linux")]
            Storage::Protected(block) => block.as_slice(),
            Storage::Ordinary(words) => words,
        }
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Words").field("length", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_zero_at_first_and_hold_what_is_written() {
        let mut words = Words::zeroed(1_000);
        assert!(words.iter().all(|word| *word == 0));
        words.as_mut_slice()[999] = 7;
        assert_eq!((words.len(), words[998], words[999]), (1_000, 0, 7));
        assert!(Words::zeroed(0).is_empty());
    }

    #[test]
    fn words_of_a_dropped_block_are_zero_again() {
        for length in [1, 511, 512, 513, 5_000] {
            let mut words = Words::zeroed(length);
            words.as_mut_slice().fill(u64::MAX);
            drop(words);
            assert!(Words::zeroed(length).iter().all(|word| *word == 0), "{length}");
        }
    }
}
