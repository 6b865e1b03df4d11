//! Texts of a binding: spans of one string, each with the hash of its text.
//!
//! A binding holds many short texts (cluster names, label keys, tolerations). As spans they are plain numbers that
//! cross the boundary without conversion. The hash, computed once when the binding is read, makes a look-up in the
//! snapshot's symbols a single probe instead of a pass over the bytes.

#[cfg(feature = "certificate")]
use abi_stable::StableAbi;
use bytemuck::{Pod, Zeroable};

use crate::definition::structure;
use crate::hash::hash_text;

structure! {
    /// A text: its span of the binding's string, and its hash.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct Text {
        /// First byte.
        pub start: u32,
        /// Length in bytes.
        pub length: u32,
        /// [`hash_text`] of the bytes.
        pub hash: u64,
    }
}

impl Text {
    /// The empty text.
    pub const EMPTY: Self = Self {
        start: 0,
        length: 0,
        hash: hash_text(""),
    };

    /// The text, read from the string that it was made for; empty if the span is not within `pool`.
    #[inline]
    pub fn read(self, pool: &str) -> &str {
        let start = self.start as usize;
        start
            .checked_add(self.length as usize)
            .and_then(|end| pool.get(start..end))
            .unwrap_or("")
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::EMPTY
    }
}

structure! {
    /// A run of rows in a table: `start..start + length`.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
    #[cfg_attr(feature = "certificate", derive(StableAbi))]
    pub struct Span {
        /// First row.
        pub start: u32,
        /// Number of rows.
        pub length: u32,
    }
}

impl Span {
    /// No rows.
    pub const EMPTY: Self = Self { start: 0, length: 0 };

    /// The rows of `table` in this span; empty if the span is not within `table`.
    #[inline]
    pub fn of<T>(self, table: &[T]) -> &[T] {
        let start = self.start as usize;
        start
            .checked_add(self.length as usize)
            .and_then(|end| table.get(start..end))
            .unwrap_or(&[])
    }
}
