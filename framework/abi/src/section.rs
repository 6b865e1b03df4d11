//! The records that a plugin library carries in the section `.divvy.plugin` of its file, one per plugin and major ABI
//! version.
//!
//! Opening a library runs its constructors. The host therefore reads the records from the bytes of the file first, and
//! rejects a file that is not a plugin, or that it cannot use, before any of its code runs. Linkers keep the section
//! through stripping and link-time optimisation, and fill gaps between records with zero bytes.
//!
//! Numbers are little endian on every target. A record states its own length, so a newer one may be longer.

use crate::definition::{numbers, structure};

/// The name of the section.
pub const SECTION_NAME: &str = ".divvy.plugin";

/// The first bytes of a record.
pub const MAGIC: [u8; 8] = *b"DivvyABI";

/// The first bytes of a record that was written before ABI 1.0. Such libraries have to be rebuilt.
pub const MAGIC_BEFORE_1_0: [u8; 8] = *b"divvyplg";

/// Bytes reserved for each text of a record.
pub const TEXT_BYTES: usize = 64;

/// Bytes reserved for the language of a record.
pub const LANGUAGE_BYTES: usize = 16;

numbers! {
    /// Bits of [`PluginRecord::flags`]. A host may ignore an unknown bit among the lower sixteen, and refuses a library with
    /// an unknown bit among the upper sixteen.
    pub mod record_flag as "DIVVY_RECORD_" {
        /// The library carries a certificate.
        pub const CERTIFIED: u32 = 1;
        /// The bits that a host must know.
        pub const MUST_BE_KNOWN: u32 = 0xffff_0000;
    }
}

structure! {
    /// The identity of a plugin, readable without opening its library.
    #[repr(C, align(8))]
    #[derive(Debug, Clone, Copy)]
    pub struct PluginRecord {
        /// [`MAGIC`].
        pub magic: [u8; 8],
        /// Length of the record in bytes, a multiple of eight.
        pub length: [u8; 4],
        /// Bits of [`record_flag`].
        pub flags: [u8; 4],
        /// Major ABI version.
        pub abi_major: [u8; 4],
        /// Minor ABI version that the plugin was built with.
        pub abi_minor: [u8; 4],
        /// Least minor version of the host's ABI with which the plugin works.
        pub least_minor: [u8; 4],
        /// Zero.
        pub reserved: [u8; 4],
        /// Programming language, lower case, UTF-8 padded with zero bytes.
        pub language: [u8; LANGUAGE_BYTES],
        /// Version of the SDK, UTF-8 padded with zero bytes; empty without an SDK.
        pub sdk_version: [u8; TEXT_BYTES],
        /// Name of the plugin, UTF-8 padded with zero bytes.
        pub name: [u8; TEXT_BYTES],
        /// Version of the plugin, UTF-8 padded with zero bytes.
        pub version: [u8; TEXT_BYTES],
    }
}

/// The size of a record in bytes.
pub const RECORD_BYTES: usize = size_of::<PluginRecord>();

/// The size of a record of ABI 1.0, the shortest one.
const FIRST_RECORD_BYTES: usize = 32 + LANGUAGE_BYTES + 3 * TEXT_BYTES;

impl PluginRecord {
    /// The record of a plugin in Rust that was built against this ABI.
    ///
    /// # Panics
    ///
    /// At compile time, if a text is longer than its field.
    pub const fn new(sdk_version: &str, name: &str, version: &str) -> Self {
        Self {
            magic: MAGIC,
            length: (RECORD_BYTES as u32).to_le_bytes(),
            flags: [0; 4],
            abi_major: crate::ABI_VERSION.major.to_le_bytes(),
            abi_minor: crate::ABI_VERSION.minor.to_le_bytes(),
            least_minor: crate::LEAST_MINOR.to_le_bytes(),
            reserved: [0; 4],
            language: padded("rust"),
            sdk_version: padded(sdk_version),
            name: padded(name),
            version: padded(version),
        }
    }

    /// This record, with the bits `flags` of [`record_flag`].
    #[must_use]
    pub const fn with_flags(self, flags: u32) -> Self {
        Self {
            flags: flags.to_le_bytes(),
            ..self
        }
    }

    /// This record, of a plugin that works with hosts from the minor version `least_minor` on.
    #[must_use]
    pub const fn with_least_minor(self, least_minor: u32) -> Self {
        Self {
            least_minor: least_minor.to_le_bytes(),
            ..self
        }
    }

    /// Reads the records from the bytes of the section. Stops at the first bytes that are not a record.
    pub fn read_all(section: &[u8]) -> Vec<Self> {
        let mut records = Vec::new();
        let mut rest = section;
        loop {
            let gap = rest.iter().take_while(|byte| **byte == 0).count();
            rest = &rest[gap..];
            let Some((record, length)) = Self::read(rest) else {
                return records;
            };
            records.push(record);
            rest = &rest[length..];
        }
    }

    /// Reads the record at the start of `bytes`, and its length; `None` if there is none. Fields that the record is too
    /// short for are zero, as in a record of an older minor version.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
            let (head, tail) = bytes.split_first_chunk::<N>()?;
            *bytes = tail;
            Some(*head)
        }
        let length = bytes.get(MAGIC.len()..)?.first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        if !(FIRST_RECORD_BYTES..=bytes.len()).contains(&length) {
            return None;
        }
        let mut known = [0; RECORD_BYTES];
        let both = length.min(RECORD_BYTES);
        known[..both].copy_from_slice(&bytes[..both]);
        let mut rest = known.as_slice();
        let record = Self {
            magic: take(&mut rest)?,
            length: take(&mut rest)?,
            flags: take(&mut rest)?,
            abi_major: take(&mut rest)?,
            abi_minor: take(&mut rest)?,
            least_minor: take(&mut rest)?,
            reserved: take(&mut rest)?,
            language: take(&mut rest)?,
            sdk_version: take(&mut rest)?,
            name: take(&mut rest)?,
            version: take(&mut rest)?,
        };
        (record.magic == MAGIC).then_some((record, length))
    }

    /// The ABI version that the plugin was built against.
    pub fn abi_version(&self) -> crate::AbiVersion {
        crate::AbiVersion {
            major: u32::from_le_bytes(self.abi_major),
            minor: u32::from_le_bytes(self.abi_minor),
        }
    }

    /// The least minor version of the host's ABI with which the plugin works.
    pub fn least_minor(&self) -> u32 {
        u32::from_le_bytes(self.least_minor)
    }

    /// Bits of [`record_flag`].
    pub fn flags(&self) -> u32 {
        u32::from_le_bytes(self.flags)
    }

    /// True if the library carries a certificate.
    pub fn is_certified(&self) -> bool {
        self.flags() & record_flag::CERTIFIED != 0
    }

    /// The programming language; empty if the record does not state it.
    pub fn language(&self) -> String {
        unpadded(&self.language)
    }

    /// The version of the SDK that the plugin was built against; empty without an SDK.
    pub fn sdk_version(&self) -> String {
        unpadded(&self.sdk_version)
    }

    /// The plugin's name.
    pub fn name(&self) -> String {
        unpadded(&self.name)
    }

    /// The plugin's version.
    pub fn version(&self) -> String {
        unpadded(&self.version)
    }
}

const fn padded<const N: usize>(text: &str) -> [u8; N] {
    let bytes = text.as_bytes();
    assert!(bytes.len() <= N, "a text of a plugin's record is too long");
    let mut result = [0; N];
    let mut position = 0;
    while position < bytes.len() {
        result[position] = bytes[position];
        position += 1;
    }
    result
}

fn unpadded(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(record: PluginRecord, appended: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(record.magic);
        bytes.extend(((RECORD_BYTES + appended.len()) as u32).to_le_bytes());
        bytes.extend(record.flags);
        bytes.extend(record.abi_major);
        bytes.extend(record.abi_minor);
        bytes.extend(record.least_minor);
        bytes.extend(record.reserved);
        bytes.extend(record.language);
        bytes.extend(record.sdk_version);
        bytes.extend(record.name);
        bytes.extend(record.version);
        assert_eq!(bytes.len(), RECORD_BYTES);
        bytes.extend(appended);
        bytes
    }

    #[test]
    fn records_read_back_from_their_bytes_with_gaps_and_appended_fields_between_them() {
        let first = PluginRecord::new("0.1.0", "average", "2.3.4").with_flags(record_flag::CERTIFIED);
        let second = PluginRecord::new("", "zones", "1.0.0");
        let mut section = bytes_of(first, &[7; 16]);
        section.extend([0; 32]);
        section.extend(bytes_of(second, &[]));
        section.extend([0; 8]);
        let read = PluginRecord::read_all(&section);
        let names: Vec<String> = read.iter().map(PluginRecord::name).collect();
        assert_eq!(names, ["average", "zones"]);
        assert_eq!(read[0].abi_version(), crate::ABI_VERSION);
        assert_eq!(
            (read[0].version(), read[0].sdk_version(), read[0].language()),
            ("2.3.4".to_owned(), "0.1.0".to_owned(), "rust".to_owned())
        );
        assert!(read[0].is_certified() && !read[1].is_certified());
    }

    #[test]
    fn bytes_that_are_not_a_record_end_the_section() {
        let record = bytes_of(PluginRecord::new("0.1.0", "average", "2.3.4"), &[]);
        for cut in [0, 1, 20, RECORD_BYTES - 1] {
            assert!(PluginRecord::read_all(&record[..cut]).is_empty(), "{cut}");
        }
        let mut with_rubbish = record.clone();
        with_rubbish.extend(*b"rubbish!");
        assert_eq!(PluginRecord::read_all(&with_rubbish).len(), 1);
        let mut too_long = record;
        too_long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(PluginRecord::read_all(&too_long).is_empty());
    }
}
