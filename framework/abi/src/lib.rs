//! The binary interface between the Divvy scheduler and its plugins.
//!
//! Plugin authors never use this crate directly: `divvy-framework` wraps it, and the header in `include/` has the same
//! definitions in C. The crate has only what both sides must agree on to the byte:
//!
//! - [`section`]: the record in the library file from which a host reads versions before it opens the library.
//! - [`descriptor`]: the plugins that a library exports, as static data with four functions each.
//! - [`service`]: construction, failures, and the services of the host.
//! - [`reason`]: reasons for the decisions of a plugin, as data.
//! - [`call`]: the calls that a constructed plugin answers.
//! - [`view`]: the views that every call of a cycle can read. [`row`]: the rows of their tables.
//! - [`arena`]: the clusters of a snapshot, as one block of primitive columns.
//! - [`descriptor::limit`] and [`service::limit`]: limits on what a plugin exports, and on what it passes to the host.
//! - [`text`]: strings of a binding, as spans of one string, each with its hash.
//! - [`sized`]: structs that can grow. [`mod@column`]: slices and texts. [`signature`]: the types of functions.
//! - [`definition`]: all of these as data, from which the tests write `layout.txt` and the C header.
//! - `certificate`: the layouts of all types, for a check at load time (feature `certificate`).
//!
//! # Compatible changes
//!
//! The version of this crate is the ABI version, independent of the SDK's and the host's. Within one major version,
//! only these changes are allowed; each bumps the minor version:
//!
//! - fields at the end of a struct that begins with size and kind;
//! - columns at the end of the arena's directory;
//! - fields at the end of a record;
//! - kinds, codes, features and other numbers: a reader refuses or ignores those that it does not know, as the
//!   documentation of each states.
//!
//! The layout of everything else is frozen. In particular rows of tables never change: a table grows by a parallel
//! column. A plugin from an older minor version keeps loading, and so does a plugin from a newer one unless it says
//! that it does not work with this host: fields that the other side does not know read as their defaults.

#![cfg_attr(
    feature = "certificate",
    allow(
        non_local_definitions,
        non_camel_case_types,
        reason = "the code that abi_stable's derives generate"
    )
)]

pub mod arena;
pub mod call;
pub mod carry;
#[cfg(feature = "certificate")]
pub mod certificate;
pub mod column;
pub mod definition;
pub mod descriptor;
pub mod hash;
pub mod reason;
pub mod row;
pub mod section;
pub mod service;
pub mod signature;
pub mod sized;
pub mod text;
pub mod view;

pub use column::{Address, Function, PluginText, Pointer, Slice, SliceMut, Str};
pub use sized::kind;

/// The version of an ABI. Two sides are compatible if their major versions are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbiVersion {
    /// Bumped by every change other than an addition at a growing end.
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

/// The least minor version of a host with which plugins of this ABI version work.
pub const LEAST_MINOR: u32 = 0;

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

/// The symbol under which a library exports its [`descriptor::Library`]. It carries the major version.
pub const LIBRARY_SYMBOL: &str = "divvy_plugin_v1";

/// The symbol under which a library exports its certificate.
pub const CERTIFICATE_SYMBOL: &str = "divvy_certificate_v1";
