//! Rows of a snapshot, clusters of a call, and the columns that they index.
//!
//! Both are indices, and a plugin uses both: the third candidate may be in row 40 of the snapshot. Separate types
//! prevent confusing them, at no cost: they are the numbers that cross the boundary.
//!
//! ```compile_fail,E0277
//! use divvy_framework_view::clusters::{Candidate, Clusters};
//! fn region(clusters: Clusters<'_>, candidate: Candidate) -> usize {
//!     clusters.regions()[candidate].index() // a column by row
//! }
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;

/// A [`Row`] or a [`Candidate`].
pub trait ColumnIndex: Copy + sealed::Sealed {
    /// The plain index.
    fn index(self) -> usize;

    /// The index as this type, from a plain index.
    fn from_index(index: usize) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Row {}
    impl Sealed for super::Candidate {}
}

macro_rules! column_index {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The plain index, for tables of the plugin's own and for [`Column::as_slice`].
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The plain index as this type. An index beyond 32 bits becomes one that no snapshot and no call has.
            #[inline]
            pub const fn from_index(index: usize) -> Self {
                if index > u32::MAX as usize {
                    Self(u32::MAX)
                } else {
                    Self(index as u32)
                }
            }

            /// The number that crosses the boundary.
            #[doc(hidden)]
            #[inline]
            pub const fn number(self) -> u32 {
                self.0
            }

            /// Numbers that crossed the boundary.
            #[doc(hidden)]
            #[inline]
            pub fn cast(numbers: &[u32]) -> &[Self] {
                bytemuck::cast_slice(numbers)
            }

            /// The numbers that cross the boundary.
            #[doc(hidden)]
            #[inline]
            pub fn numbers(indices: &[Self]) -> &[u32] {
                bytemuck::cast_slice(indices)
            }
        }

        impl ColumnIndex for $name {
            #[inline]
            fn index(self) -> usize {
                self.index()
            }

            #[inline]
            fn from_index(index: usize) -> Self {
                Self::from_index(index)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

column_index! {
    /// The row of a cluster in a snapshot. Rows are sorted by name, so a row is also the rank of the cluster's name.
    Row
}

column_index! {
    /// A cluster of a call: one of the feasible clusters in Score and Select, one of the candidates in Assign. It indexes
    /// the columns of that call only.
    Candidate
}

/// One value per row of the snapshot, or one per cluster of a call: `column[row]`, `column[candidate]`.
///
/// Indexing past the end panics, as for a slice; [`Self::get`] does not.
pub struct Column<'a, I, T> {
    values: &'a [T],
    index: PhantomData<fn(I)>,
}

impl<I, T> Clone for Column<'_, I, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, T> Copy for Column<'_, I, T> {}

impl<I, T: fmt::Debug> fmt::Debug for Column<'_, I, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(formatter)
    }
}

impl<I, T> Default for Column<'_, I, T> {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl<'a, I, T> Column<'a, I, T> {
    /// A column of these values.
    #[inline]
    pub const fn new(values: &'a [T]) -> Self {
        Self {
            values,
            index: PhantomData,
        }
    }

    /// The values, by plain index, as the functions of `divvy_framework::division` take them.
    #[inline]
    pub const fn as_slice(self) -> &'a [T] {
        self.values
    }

    /// The number of values.
    #[inline]
    pub const fn len(self) -> usize {
        self.values.len()
    }

    /// True if the column has no values.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.values.is_empty()
    }
}

impl<'a, I: ColumnIndex, T: Copy> Column<'a, I, T> {
    /// The value at an index; `None` past the end.
    #[inline]
    pub fn get(self, index: I) -> Option<T> {
        self.values.get(index.index()).copied()
    }

    /// The values, each with its index.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = (I, T)> + DoubleEndedIterator + Clone + use<'a, I, T> {
        self.values
            .iter()
            .enumerate()
            .map(|(index, &value)| (I::from_index(index), value))
    }
}

impl<I: ColumnIndex, T> Index<I> for Column<'_, I, T> {
    type Output = T;

    #[inline]
    fn index(&self, index: I) -> &T {
        &self.values[index.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Column, Row};

    #[test]
    fn an_index_beyond_32_bits_is_in_no_column() {
        let column: Column<'_, Candidate, i64> = Column::new(&[5, 6]);
        assert_eq!(column[Candidate::from_index(1)], 6);
        for index in [2, u32::MAX as usize, u32::MAX as usize + 1, usize::MAX] {
            assert_eq!(column.get(Candidate::from_index(index)), None, "{index}");
        }
    }

    #[test]
    fn a_column_pairs_values_with_their_index() {
        let column: Column<'_, Row, &str> = Column::new(&["a", "b"]);
        let pairs: Vec<(usize, &str)> = column.iter().map(|(row, value)| (row.index(), value)).collect();
        assert_eq!(pairs, [(0, "a"), (1, "b")]);
        assert_eq!(Row::numbers(Row::cast(&[7, 8])), [7, 8]);
    }
}
