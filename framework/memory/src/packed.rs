//! Tables of a value that does not change, one behind the other.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::Words;

/// A table that plugins can only read. Tables that were packed together share one block of memory, which is freed with the last of
/// them.
pub struct Packed<T> {
    address: NonNull<T>,
    length: usize,
    /// The memory behind the address; `None` for an empty table.
    words: Option<Arc<Words>>,
    elements: PhantomData<T>,
}

// SAFETY: a table only reads memory that nothing writes to any more.
unsafe impl<T: Send + Sync> Send for Packed<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Packed<T> {}

/// A text that plugins can only read.
#[derive(Clone, Default)]
pub struct PackedText(Packed<u8>);

/// Packs tables into one block of memory.
#[derive(Debug)]
pub struct Packer {
    words: Arc<Words>,
    /// Where the block can be written. Words before `used` are never written again.
    write: NonNull<u64>,
    /// Where it is read.
    read: NonNull<u64>,
    used: usize,
}

/// Words that a [`Packer`] needs for a table.
pub fn packed_words<T>(elements: &[T]) -> usize {
    size_of_val(elements).div_ceil(size_of::<u64>())
}

impl Packer {
    /// A packer for tables that take this number of words together: the sum of [`packed_words`].
    pub fn new(words: usize) -> Self {
        Self::filling(Words::zeroed(words))
    }

    /// As [`Self::new`], for tables that no other process can read.
    pub fn of_this_process(words: usize) -> Self {
        Self::filling(Words::of_this_process(words))
    }

    fn filling(mut words: Words) -> Self {
        let (write, read) = words.addresses();
        Self {
            words: Arc::new(words),
            write,
            read,
            used: 0,
        }
    }

    /// Packs a table. One for which there is no room left gets memory of its own.
    pub fn table<T: Copy>(&mut self, elements: &[T]) -> Packed<T> {
        const {
            assert!(
                align_of::<T>() <= align_of::<u64>(),
                "words are aligned for everything in a table"
            )
        };
        if elements.is_empty() {
            return Packed::default();
        }
        let words = packed_words(elements);
        if self.words.len() - self.used < words {
            return Self::new(words).table(elements);
        }
        let to = self.write.as_ptr().wrapping_add(self.used).cast::<T>();
        // SAFETY: the block has this many words behind those in use, to which no table refers yet. The elements are borrowed, so they are
        // not among them.
        unsafe { to.copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        // SAFETY: the words in use are within the block.
        let address = unsafe { self.read.add(self.used) };
        self.used += words;
        Packed {
            address: address.cast(),
            length: elements.len(),
            words: Some(Arc::clone(&self.words)),
            elements: PhantomData,
        }
    }

    /// Packs a text.
    pub fn text(&mut self, text: &str) -> PackedText {
        PackedText(self.table(text.as_bytes()))
    }
}

impl<T> Deref for Packed<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the packer wrote the elements, nothing writes to them any more, and the table keeps the block.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.length) }
    }
}

impl<T> Clone for Packed<T> {
    /// The same table.
    fn clone(&self) -> Self {
        Self {
            address: self.address,
            length: self.length,
            words: self.words.clone(),
            elements: PhantomData,
        }
    }
}

impl<T> Default for Packed<T> {
    fn default() -> Self {
        Self {
            address: NonNull::dangling(),
            length: 0,
            words: None,
            elements: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Packed<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Packed").field("length", &self.len()).finish()
    }
}

impl<'a, T> IntoIterator for &'a Packed<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Deref for PackedText {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: the bytes are those of a text.
        unsafe { std::str::from_utf8_unchecked(&self.0) }
    }
}

impl fmt::Debug for PackedText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_packed_one_behind_the_other_and_outlive_their_packer() {
        let (bytes, numbers) = (*b"seven..", [1_i64, 2, 3]);
        let mut packer = Packer::new(packed_words(&bytes) + packed_words(&numbers));
        let text = packer.text("seven..");
        let table = packer.table(&numbers);
        assert!(packer.table::<u32>(&[]).is_empty());
        // There is no room left for this one.
        let further = packer.table(&[4_u32; 1_000]);
        drop(packer);
        let again = table.clone();
        drop(table);
        assert_eq!((&*text, &*again, further[999]), ("seven..", &numbers[..], 4));
        for address in [text.as_ptr(), again.as_ptr().cast(), further.as_ptr().cast()] {
            assert!(crate::is_shared(address));
        }
    }
}
