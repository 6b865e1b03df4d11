//! The binary interface between the Divvy scheduler and its plugins.
//!
//! Plugin authors never use this crate directly: `divvy-framework` wraps it. It holds only definitions that both sides
//! must agree on to the byte:
//!
//! - [`module`]: the root module that a library exports, with metadata that is readable before any call, and its
//!   header.
//! - [`object`]: the calls that a constructed plugin answers.
//! - [`call`]: the payload of each call, as size-prefixed structs that can grow.
//! - [`arena`]: the clusters of a snapshot, as one block of primitive columns.
//! - [`text`]: strings of a binding, as spans of one string, each with its hash.
//! - [`section`]: the record in the library file from which a host reads the versions before it opens the library.
//!
//! # Compatible changes
//!
//! The version of this crate is the ABI version, independent of the SDK's and the host's. Within one major version,
//! only these changes are allowed: appending fields to the call structs, columns to the arena, methods to
//! [`object::PluginObject`] after its last prefix field, and fields to [`module::PluginModule`] after its last prefix
//! field. Each bumps the minor version. The layout of everything else is frozen. A plugin from an older minor version
//! keeps loading, and so does a plugin from a newer one: fields that the other side does not know read as absent.
//!
//! `abi_stable` carries the interface. Only this crate and the host's loader name it, so it can be replaced without
//! changes to any plugin's source.

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

/// The version of an ABI. Two sides are compatible if their major versions are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbiVersion {
    /// Bumped by every change that is not an addition at a growing end.
    pub major: u32,
    /// Bumped when something is appended.
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

/// Parses the decimal digits of a version part from Cargo, at compile time.
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

/// The symbol under which loaders find a library's header.
pub const LOADER_SYMBOL: &str = "_1as_0lib_1header_0root_bmodule_bloader";
