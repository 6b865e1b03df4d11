//! The types that a field of a configuration can have.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8, NonZeroU16, NonZeroU32,
    NonZeroU64, NonZeroU128, NonZeroUsize, Saturating, Wrapping,
};
use std::ops::{Bound, Range, RangeInclusive};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::division::tree::Amount;

/// A type that a field of a configuration or of preferences can have: numbers, texts, lists and maps of the standard library,
/// and every type with `#[derive(Configuration)]` or `#[derive(Preferences)]`.
///
/// A type with its own implementations of serde's `Deserialize` and schemars' `JsonSchema` needs one more line: `impl
/// Readable for Own { type Itself = Self; }`. A field with `#[serde(with = …)]` can have any type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a configuration or preferences",
    label = "the type of this field needs a derive of its own",
    note = "write `#[derive(Configuration)]` above the definition of `{Self}`, or `#[derive(Preferences)]` if it belongs to \
            preferences"
)]
pub trait Readable {
    /// The type itself. The derives refer to the type by this name, so the compiler checks the trait before anything
    /// else.
    type Itself;
}

macro_rules! plain {
    ($($kind:ty),+ $(,)?) => {
        $(
            impl Readable for $kind {
                type Itself = Self;
            }
        )+
    };
}

plain! {
    bool, char, String, Box<str>, (), f32, f64, PathBuf, Duration, SystemTime,
    i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize,
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize,
    NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
    IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6,
    serde_json::Value, serde_json::Number, serde_json::Map<String, serde_json::Value>, Amount,
}

// Containers also refer to the types in them by this name, so a missing derive is the only error.
macro_rules! holding {
    ($($container:ident<$($part:ident),+>),+ $(,)?) => {
        $(
            impl<$($part: Readable),+> Readable for $container<$($part),+> {
                type Itself = $container<$($part::Itself),+>;
            }
        )+
    };
}

holding! {
    Option<T>, Box<T>, Vec<T>, VecDeque<T>, LinkedList<T>, BinaryHeap<T>, BTreeSet<T>, BTreeMap<K, V>,
    Range<T>, RangeInclusive<T>, Bound<T>, Wrapping<T>, Saturating<T>,
}

impl<T: Readable, S> Readable for HashSet<T, S> {
    type Itself = HashSet<T::Itself, S>;
}

impl<K: Readable, V: Readable, S> Readable for HashMap<K, V, S> {
    type Itself = HashMap<K::Itself, V::Itself, S>;
}

impl<T: Readable, const N: usize> Readable for [T; N] {
    type Itself = [T::Itself; N];
}

macro_rules! tuples {
    ($(($($part:ident),+))+) => {
        $(
            impl<$($part: Readable),+> Readable for ($($part,)+) {
                type Itself = ($($part::Itself,)+);
            }
        )+
    };
}

tuples! {
    (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G) (A, B, C, D, E, F, G, H)
}
