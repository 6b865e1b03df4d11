//! Texts, columns and addresses as they cross the boundary: plain pairs of an address and a length.
//!
//! Every address and every length takes eight bytes on every target, so that the offset of a field never depends on
//! the target. A null address is an empty column or text, whatever its length.
//!
//! A value of these types borrows its memory. Nothing that one side allocates is freed by the other.

use std::borrow::Cow;
use std::ffi::c_void;
use std::marker::PhantomData;

#[cfg(feature = "certificate")]
use abi_stable::{StableAbi, abi_stability::GetStaticEquivalent_, type_layout::TypeLayout};

#[cfg(feature = "certificate")]
use crate::signature::{Pointee, Signature, certified};

/// Words of four bytes that fill an address up to eight bytes: none on a 64-bit target.
pub(crate) const FILL: usize = (8 - size_of::<*const c_void>()) / 4;

/// The address of a struct that lives for `'a`; null for "none".
#[repr(C)]
pub struct Pointer<'a, T> {
    address: *const T,
    fill: [u32; FILL],
    lifetime: PhantomData<&'a T>,
}

// The certificate compares what a pointer points to by name. It also lists these structs themselves, so that they can grow.
#[cfg(feature = "certificate")]
// SAFETY: the type behind it has no lifetimes, and represents `Pointer` with this target and no other type.
unsafe impl<'a, T: Pointee> GetStaticEquivalent_ for Pointer<'a, T> {
    type StaticEquivalent = <certified::Pointer<'a, T::Certified> as GetStaticEquivalent_>::StaticEquivalent;
}

#[cfg(feature = "certificate")]
// SAFETY: both types are `repr(C)` with the same fields.
unsafe impl<'a, T: Pointee> StableAbi for Pointer<'a, T> {
    type IsNonZeroType = abi_stable::reexports::False;
    const LAYOUT: &'static TypeLayout = <certified::Pointer<'a, T::Certified> as StableAbi>::LAYOUT;
}

impl<T> Clone for Pointer<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pointer<'_, T> {}

// SAFETY: a pointer gives access to shared references only, which `T: Sync` lets other threads use.
unsafe impl<T: Sync> Send for Pointer<'_, T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Sync> Sync for Pointer<'_, T> {}

impl<'a, T> Pointer<'a, T> {
    /// The pointer that means "none".
    pub const NULL: Self = Self {
        address: std::ptr::null(),
        fill: [0; FILL],
        lifetime: PhantomData,
    };

    /// The address of `value`.
    #[inline]
    pub const fn new(value: &'a T) -> Self {
        Self {
            address: std::ptr::from_ref(value),
            fill: [0; FILL],
            lifetime: PhantomData,
        }
    }

    /// The address; null for "none".
    #[inline]
    pub const fn address(self) -> *const T {
        self.address
    }
}

/// The address of a value whose type the other side does not know; null for "none".
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "certificate", derive(StableAbi))]
pub struct Address {
    address: *mut c_void,
    fill: [u32; FILL],
}

impl Address {
    /// The address that means "none".
    pub const NULL: Self = Self::new(std::ptr::null_mut());

    /// The address `address`.
    #[inline]
    pub const fn new(address: *mut c_void) -> Self {
        Self {
            address,
            fill: [0; FILL],
        }
    }

    /// The address of `value`, to be read only.
    #[inline]
    pub const fn of<T>(value: &T) -> Self {
        Self::new(std::ptr::from_ref(value).cast_mut().cast())
    }

    /// The address.
    #[inline]
    pub const fn get(self) -> *mut c_void {
        self.address
    }

    /// True for "none".
    #[inline]
    pub fn is_null(self) -> bool {
        self.address.is_null()
    }
}

/// A function of the other side; null for "none". `F` is an `extern "C"` function pointer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Function<F> {
    function: Option<F>,
    fill: [u32; FILL],
}

#[cfg(feature = "certificate")]
// SAFETY: the type behind it represents `Function` with this signature and no other type.
unsafe impl<F: Signature> GetStaticEquivalent_ for Function<F> {
    type StaticEquivalent = <certified::Function<F::Certified> as GetStaticEquivalent_>::StaticEquivalent;
}

#[cfg(feature = "certificate")]
// SAFETY: both types are `repr(C)` with the same fields.
unsafe impl<F: Signature> StableAbi for Function<F> {
    type IsNonZeroType = abi_stable::reexports::False;
    const LAYOUT: &'static TypeLayout = <certified::Function<F::Certified> as StableAbi>::LAYOUT;
}

impl<F: Copy> Function<F> {
    /// The function that means "none".
    pub const NULL: Self = Self {
        function: None,
        fill: [0; FILL],
    };

    /// The function `function`.
    #[inline]
    pub const fn new(function: F) -> Self {
        Self {
            function: Some(function),
            fill: [0; FILL],
        }
    }

    /// The function; `None` if the other side has none.
    #[inline]
    pub const fn get(self) -> Option<F> {
        self.function
    }
}

/// A column to read: an address and a number of elements.
#[repr(C)]
#[cfg_attr(feature = "certificate", derive(StableAbi))]
pub struct Slice<'a, T> {
    data: *const T,
    fill: [u32; FILL],
    length: u64,
    #[cfg_attr(feature = "certificate", sabi(unsafe_opaque_field))]
    lifetime: PhantomData<&'a ()>,
}

impl<T> Clone for Slice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slice<'_, T> {}

// SAFETY: a column gives access to shared references only, which `T: Sync` lets other threads use.
unsafe impl<T: Sync> Send for Slice<'_, T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Sync> Sync for Slice<'_, T> {}

impl<'a, T> Slice<'a, T> {
    /// Largest length of a slice of these elements.
    const LENGTH_MAX: u64 = isize::MAX as u64 / if size_of::<T>() == 0 { 1 } else { size_of::<T>() as u64 };

    /// The empty column.
    pub const EMPTY: Self = Self {
        data: std::ptr::null(),
        fill: [0; FILL],
        length: 0,
        lifetime: PhantomData,
    };

    /// The elements of `elements`.
    #[inline]
    pub const fn new(elements: &'a [T]) -> Self {
        Self {
            data: elements.as_ptr(),
            fill: [0; FILL],
            length: elements.len() as u64,
            lifetime: PhantomData,
        }
    }

    /// The elements; none if the address is null, or if the length exceeds what any memory can hold.
    #[inline]
    pub const fn as_slice(&self) -> &'a [T] {
        if self.data.is_null() || self.length > Self::LENGTH_MAX {
            return &[];
        }
        // SAFETY: `new` takes a slice that lives for `'a`; a column from the other side does so by the contract of the
        // calls.
        unsafe { std::slice::from_raw_parts(self.data, self.length as usize) }
    }
}

/// A column to write: an address and a number of elements.
#[repr(C)]
#[cfg_attr(feature = "certificate", derive(StableAbi))]
pub struct SliceMut<'a, T> {
    data: *mut T,
    fill: [u32; FILL],
    length: u64,
    #[cfg_attr(feature = "certificate", sabi(unsafe_opaque_field))]
    lifetime: PhantomData<&'a mut ()>,
}

impl<T> Clone for SliceMut<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SliceMut<'_, T> {}

impl<'a, T> SliceMut<'a, T> {
    /// The empty column.
    pub const EMPTY: Self = Self {
        data: std::ptr::null_mut(),
        fill: [0; FILL],
        length: 0,
        lifetime: PhantomData,
    };

    /// The elements of `elements`, which stay borrowed as long as the value lives.
    #[inline]
    pub const fn new(elements: &'a mut [T]) -> Self {
        Self {
            data: elements.as_mut_ptr(),
            fill: [0; FILL],
            length: elements.len() as u64,
            lifetime: PhantomData,
        }
    }

    /// The elements; none if the address is null.
    ///
    /// # Safety
    ///
    /// The value is `Copy`, so the caller ensures that nothing else reads or writes the elements meanwhile.
    #[inline]
    pub unsafe fn as_mut_slice(self) -> &'a mut [T] {
        if self.data.is_null() {
            return &mut [];
        }
        // SAFETY: `new` takes a slice that lives for `'a`; the caller ensures that nothing else uses the elements.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.length as usize) }
    }
}

/// A text that the host passes to a plugin. It is UTF-8.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "certificate", derive(StableAbi))]
pub struct Str<'a> {
    bytes: Slice<'a, u8>,
}

impl<'a> Str<'a> {
    /// The empty text.
    pub const EMPTY: Self = Self { bytes: Slice::EMPTY };

    /// The text `text`.
    #[inline]
    pub const fn new(text: &'a str) -> Self {
        Self {
            bytes: Slice::new(text.as_bytes()),
        }
    }

    /// The text.
    #[inline]
    pub const fn as_str(&self) -> &'a str {
        // SAFETY: the host makes its texts with `new`, which takes a `str`.
        unsafe { std::str::from_utf8_unchecked(self.bytes.as_slice()) }
    }
}

/// A text that a plugin passes to the host. A library that was not made with the SDK may pass anything, so the host
/// checks it.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "certificate", derive(StableAbi))]
pub struct PluginText<'a> {
    bytes: Slice<'a, u8>,
}

impl<'a> PluginText<'a> {
    /// The empty text.
    pub const EMPTY: Self = Self { bytes: Slice::EMPTY };

    /// The text `text`.
    #[inline]
    pub const fn new(text: &'a str) -> Self {
        Self {
            bytes: Slice::new(text.as_bytes()),
        }
    }

    /// A text of these bytes, which need not be UTF-8.
    #[inline]
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Self {
            bytes: Slice::new(bytes),
        }
    }

    /// The bytes of the text, which need not be UTF-8.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes.as_slice()
    }

    /// The longest beginning of the text that has at most `limit` bytes and ends between two characters. The rest is
    /// not read.
    #[must_use]
    pub fn cut(&self, limit: u32) -> Self {
        let bytes = self.bytes();
        let limit = limit as usize;
        if bytes.len() <= limit {
            return *self;
        }
        // A character has up to three bytes after its first.
        let is_first = |end: &usize| bytes[*end] & 0b1100_0000 != 0b1000_0000;
        let end = (limit.saturating_sub(3)..=limit).rev().find(is_first);
        Self::from_bytes(&bytes[..end.unwrap_or(limit)])
    }

    /// The text, in which bytes that are not UTF-8 are replaced by U+FFFD.
    pub fn read(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_address_is_an_empty_column_whatever_its_length() {
        let column: Slice<'_, u64> = Slice {
            length: 7,
            ..Slice::EMPTY
        };
        assert!(column.as_slice().is_empty());
        let column = Slice {
            length: u64::MAX,
            ..Slice::new(&[1_u64])
        };
        assert!(column.as_slice().is_empty());
        let column: SliceMut<'_, u64> = SliceMut {
            length: 7,
            ..SliceMut::EMPTY
        };
        // SAFETY: the column is empty, so no element is read or written.
        assert!(unsafe { column.as_mut_slice() }.is_empty());
        assert_eq!(Str::EMPTY.as_str(), "");
    }

    #[test]
    fn text_of_a_plugin_that_is_not_utf_8_is_repaired() {
        let text = PluginText {
            bytes: Slice::new(b"a\xffb"),
        };
        assert_eq!(text.read(), "a\u{fffd}b");
        assert_eq!(PluginText::new("ab").read(), "ab");
    }

    #[test]
    fn a_text_is_cut_between_two_characters() {
        let cut = |text: &'static str, limit| PluginText::new(text).cut(limit).read().into_owned();
        for (text, limit, expected) in [
            ("", 0, ""),
            ("abc", 3, "abc"),
            ("abc", 2, "ab"),
            ("abc", 0, ""),
            ("aäb", 1, "a"),
            ("aäb", 2, "a"),
            ("aäb", 3, "aä"),
            ("a\u{1f600}b", 4, "a"),
            ("a\u{1f600}b", 5, "a\u{1f600}"),
        ] {
            assert_eq!(cut(text, limit), expected, "{text} at {limit}");
        }
        // Bytes that are not UTF-8 are cut at the limit.
        assert_eq!(PluginText::from_bytes(&[0x80; 9]).cut(5).bytes().len(), 5);
    }
}
