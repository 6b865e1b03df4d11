//! Room for one value.

use std::ptr::NonNull;

use crate::Words;

/// Room for one value at a time that plugins can only read. It has no memory before it is first used.
#[derive(Debug)]
pub struct Slot {
    read: NonNull<u64>,
    write: NonNull<u64>,
    /// Size of the memory at both addresses, in words.
    length: usize,
    /// True if no other process reads it.
    is_of_this_process: bool,
    /// The memory; `None` as long as its size is 0.
    words: Option<Box<Words>>,
}

// SAFETY: a slot owns its memory, and shows what is there only while it is borrowed mutably.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

impl Slot {
    /// A slot without memory.
    pub const fn new() -> Self {
        Self::with_readers(false)
    }

    const fn with_readers(is_of_this_process: bool) -> Self {
        Self {
            read: NonNull::dangling(),
            write: NonNull::dangling(),
            length: 0,
            is_of_this_process,
            words: None,
        }
    }

    /// A slot without memory, whose value no other process can read.
    pub const fn of_this_process() -> Self {
        Self::with_readers(true)
    }

    /// The value, at an address at which plugins see it.
    #[inline]
    pub fn show<T: Copy>(&mut self, value: T) -> &T {
        const {
            assert!(
                align_of::<T>() <= align_of::<u64>(),
                "words are aligned for everything in a slot"
            )
        };
        let length = size_of::<T>().div_ceil(size_of::<u64>());
        if self.length < length {
            self.grow(length);
        }
        // SAFETY: the memory has room for the value, and is borrowed mutably with the slot.
        unsafe { self.write.cast::<T>().write(value) };
        // SAFETY: the value was written above, and the slot is borrowed as long as the reference lives.
        unsafe { self.read.cast::<T>().as_ref() }
    }

    #[cold]
    fn grow(&mut self, length: usize) {
        let words = match self.is_of_this_process {
            true => Words::of_this_process(length),
            false => Words::zeroed(length),
        };
        let words = self.words.insert(Box::new(words));
        (self.write, self.read) = words.addresses();
        self.length = length;
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_shows_one_value_after_the_other() {
        let mut slot = Slot::new();
        assert_eq!(*slot.show(7_u32), 7);
        let text = String::from("borrowed");
        let shown = slot.show((1_i64, text.as_str(), [3_u8; 100]));
        assert_eq!((shown.0, shown.1, shown.2[99]), (1, "borrowed", 3));
        assert!(crate::is_shared(std::ptr::from_ref(shown).cast()));
        let mut own = Slot::of_this_process();
        let shown = std::ptr::from_ref(own.show(7_u64)).cast();
        assert!(crate::is_protected(shown) && !crate::is_shared(shown));
    }
}
