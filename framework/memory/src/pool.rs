//! A text that grows.

use std::ops::Deref;

use crate::Column;

/// A text that the host writes and plugins can only read: a `String` in the memory of [`Words`](crate::Words).
#[derive(Debug, Clone, Default)]
pub struct Pool(Column<u8>);

impl Pool {
    /// An empty text, without memory.
    pub const fn new() -> Self {
        Self(Column::new())
    }

    /// Empties the text. The memory stays.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds to the end.
    pub fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }
}

impl Deref for Pool {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: only whole texts are added.
        unsafe { std::str::from_utf8_unchecked(&self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_added_one_behind_the_other() {
        let mut pool = Pool::new();
        pool.push_str("zürich");
        pool.push_str(" 1");
        assert_eq!(&*pool, "zürich 1");
        pool.clear();
        assert!(pool.is_empty());
    }
}
