//! The binary interface between the Divvy scheduler and its plugins.
//!
//! Plugin authors never name this crate: `divvy-framework` wraps it. It holds what both sides must agree on to the
//! byte, and nothing else:
//!
//! - [`module`]: the root module a library exports, with metadata that is readable before any call, and its header.
//! - [`object`]: the calls that a constructed plugin answers.
//! - [`call`]: what a call hands over, as size-prefixed structs that can grow.
//! - [`arena`]: the clusters of a snapshot, as one block of primitive columns.
//! - [`text`]: strings of a binding, as spans into one text with their hash.
//! - [`section`]: the record in the library file by which a host learns versions before it opens the library.
//!
//! # How it may change
//!
//! The version of this crate is the ABI version, apart from the SDK's and the host's. Within one major version fields
//! are only appended to the call structs, columns to the arena, methods to [`object::PluginObject`] after its last
//! prefix field, and fields to [`module::PluginModule`] after its last prefix field; the minor version then grows. The
//! layout of everything else is frozen. A plugin from an older minor version keeps loading, and a plugin from a newer
//! one loads too: what the other side does not know reads as absent.
//!
//! `abi_stable` carries the interface: it is named here and in the host's loader alone, so that it can be replaced
//! without a change to any plugin's source.

#![allow(
    non_local_definitions,
    non_camel_case_types,
    reason = "the code that abi_stable's derives generate"
)]

pub mod arena;
pub mod call;
pub mod hash;
pub mod module;
pub mod object;
pub mod section;
pub mod text;

pub use abi_stable::std_types::{RResult as AbiResult, RSlice as AbiSlice, RSliceMut as AbiSliceMut};
pub use abi_stable::std_types::{RStr as AbiStr, RString as AbiString};

/// The version of an ABI: two sides work together if their majors are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbiVersion {
    /// Grows when anything but an addition at a growing end changes.
    pub major: u32,
    /// Grows when something was appended.
    pub minor: u32,
}

impl std::fmt::Display for AbiVersion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// The ABI version of this crate: its own major and minor version.
pub const ABI_VERSION: AbiVersion = AbiVersion {
    major: decimal(env!("CARGO_PKG_VERSION_MAJOR")),
    minor: decimal(env!("CARGO_PKG_VERSION_MINOR")),
};

/// Reads the decimal digits that Cargo gives for a version part.
const fn decimal(text: &str) -> u32 {
    let digits = text.as_bytes();
    let mut value = 0;
    let mut position = 0;
    while position < digits.len() {
        value = value * 10 + (digits[position] - b'0') as u32;
        position += 1;
    }
    value
}

/// The symbol by which loaders find a library's header.
pub const LOADER_SYMBOL: &str = "_1as_0lib_1header_0root_bmodule_bloader";
