//! A column that grows.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::Words;

/// Elements that the host writes and plugins can only read: a `Vec` in the memory of [`Words`].
///
/// Shared references read at the addresses that plugins see. Mutable ones write at the host's own.
pub struct Column<T> {
    read: NonNull<T>,
    write: NonNull<T>,
    length: usize,
    capacity: usize,
    /// The memory behind the addresses; `None` as long as the capacity is 0.
    words: Option<Box<Words>>,
    elements: PhantomData<T>,
}

// SAFETY: a column owns its memory, as a `Vec` does.
unsafe impl<T: Send> Send for Column<T> {}
// SAFETY: shared references to a column only read.
unsafe impl<T: Sync> Sync for Column<T> {}

impl<T> Column<T> {
    const ALIGNED: () = assert!(
        align_of::<T>() <= align_of::<u64>(),
        "words are aligned for everything in a column"
    );

    /// A column without elements, and without memory.
    pub const fn new() -> Self {
        Self {
            read: NonNull::dangling(),
            write: NonNull::dangling(),
            length: 0,
            capacity: 0,
            words: None,
            elements: PhantomData,
        }
    }
}

impl<T: Copy> Column<T> {
    /// A column of this length that has `element` everywhere.
    pub fn filled(length: usize, element: T) -> Self {
        let mut column = Self::new();
        column.resize(length, element);
        column
    }

    /// Takes all elements out. The memory stays.
    #[inline]
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Adds an element at the end.
    #[inline]
    pub fn push(&mut self, element: T) {
        if self.length == self.capacity {
            self.grow(1);
        }
        // SAFETY: there is room behind the last element, and only this column writes there.
        unsafe { self.end().write(element) };
        self.length += 1;
    }

    /// Makes the column this long, with `element` in new entries.
    #[inline]
    pub fn resize(&mut self, length: usize, element: T) {
        let missing = length.saturating_sub(self.length);
        if missing > 0 {
            self.reserve(missing);
            let write = self.write.as_ptr();
            for index in self.length..length {
                // SAFETY: `reserve` made room for the missing elements.
                unsafe { write.wrapping_add(index).write(element) };
            }
        }
        self.length = length;
    }

    /// Adds elements at the end.
    #[inline]
    pub fn extend_from_slice(&mut self, elements: &[T]) {
        self.reserve(elements.len());
        // SAFETY: `reserve` made room for the elements. A slice that is borrowed cannot be in memory that this column writes to.
        unsafe { self.end().copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        self.length += elements.len();
    }

    /// Where the next element is written.
    #[inline]
    fn end(&mut self) -> *mut T {
        self.write.as_ptr().wrapping_add(self.length)
    }

    /// Makes room for further elements.
    #[inline]
    pub fn reserve(&mut self, further: usize) {
        if self.capacity - self.length < further {
            self.grow(further);
        }
    }

    #[cold]
    fn grow(&mut self, further: usize) {
        const { Self::ALIGNED };
        let wanted = self.length.saturating_add(further).max(self.capacity.saturating_mul(2));
        let bytes = wanted.saturating_mul(size_of::<T>());
        let mut words = Words::zeroed(bytes.div_ceil(size_of::<u64>()).next_multiple_of(LEAST));
        let (write, read) = words.addresses::<T>();
        // SAFETY: the new memory has room for at least as many elements, and is another than the old one.
        unsafe { write.copy_from_nonoverlapping(self.read, self.length) };
        // An element can be larger than a word, or smaller.
        self.capacity = words.len() * size_of::<u64>() / size_of::<T>();
        (self.read, self.write, self.words) = (read, write, Some(Box::new(words)));
    }
}

/// Words of the smallest memory of a column: four lines of the processor's cache.
const LEAST: usize = 32;

impl<T: Copy> Extend<T> for Column<T> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        let elements = elements.into_iter();
        let (least, most) = elements.size_hint();
        if most != Some(least) {
            for element in elements {
                self.push(element);
            }
            return;
        }
        self.reserve(least);
        // SAFETY: `reserve` made room for as many elements behind the last one, and only this column writes there.
        let room = unsafe { std::slice::from_raw_parts_mut(self.end().cast(), least) };
        let written = room.iter_mut().zip(elements).map(|(slot, element)| {
            let _written: &mut T = MaybeUninit::write(slot, element);
        });
        self.length += written.count();
    }
}

impl<T: Copy> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut column = Self::new();
        column.extend(elements);
        column
    }
}

impl<T> Deref for Column<T> {
    type Target = [T];

    /// The elements, at the addresses that plugins see.
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the first `length` elements are written, and only a mutable reference to the column writes to them.
        unsafe { std::slice::from_raw_parts(self.read.as_ptr(), self.length) }
    }
}

impl<T> DerefMut for Column<T> {
    /// The elements, at the host's own addresses.
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the reference to the column is unique.
        unsafe { std::slice::from_raw_parts_mut(self.write.as_ptr(), self.length) }
    }
}

impl<T: Copy> Default for Column<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy> Clone for Column<T> {
    fn clone(&self) -> Self {
        let mut column = Self::new();
        column.extend_from_slice(self);
        column
    }
}

impl<T: fmt::Debug> fmt::Debug for Column<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T> IntoIterator for &'a Column<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_grows_and_keeps_what_it_has() {
        let mut column = Column::<u32>::new();
        assert!(column.is_empty());
        column.extend(0..5_000);
        column.push(7);
        column.extend_from_slice(&[8, 9]);
        column.resize(5_005, 1);
        column[0] = 4;
        assert_eq!(column.len(), 5_005);
        assert_eq!(column[..3], [4, 1, 2]);
        assert_eq!(column[4_998..], [4_998, 4_999, 7, 8, 9, 1, 1]);
        column.clear();
        column.resize(2, 3);
        assert_eq!(*column, [3, 3]);
        column.resize(1, 5);
        assert_eq!(*column, [3]);
    }

    /// An element of 16 bytes is larger than a word: the capacity of such a column was 0.
    #[test]
    fn the_capacity_is_that_of_the_memory_whatever_the_size_of_an_element() {
        let mut column = Column::<[i64; 2]>::new();
        for number in 0..500 {
            column.extend_from_slice(&[[number, -number]]);
            column.push([number, number]);
            let words = column.words.as_ref().map_or(0, |words| words.len());
            assert_eq!(column.capacity, words / 2);
            assert!(column.len() <= column.capacity);
        }
        assert_eq!(column[996..], [[498, -498], [498, 498], [499, -499], [499, 499]]);
        let mut narrow = Column::<u8>::new();
        narrow.resize(9, 1);
        let words = narrow.words.as_ref().map_or(0, |words| words.len());
        assert_eq!(narrow.capacity, words * 8);
    }

    #[test]
    fn plugins_cannot_write_to_what_they_see() {
        let mut column = Column::<i64>::new();
        column.push(1);
        assert_ne!(column.as_ptr(), column.as_mut_ptr().cast_const());
        assert!(crate::is_shared(column.as_ptr().cast()));
    }
}
