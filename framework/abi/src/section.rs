//! The record that a plugin library carries in the section `.divvy.plugin` of its file.
//!
//! Opening a library runs its constructors. The host therefore reads this record from the bytes of the file first, and
//! rejects a file that is not a plugin, or that has another ABI, before any of its code runs. Linkers keep the section
//! through stripping and link-time optimisation.

/// The name of the section.
pub const SECTION_NAME: &str = ".divvy.plugin";

/// The first bytes of a record.
pub const MAGIC: [u8; 8] = *b"divvyplg";

/// Bytes reserved for each text of a record. A longer text is truncated here; the module holds it in full.
pub const TEXT_BYTES: usize = 64;

/// The identity of a library, readable without opening it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PluginRecord {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// Major ABI version, little endian.
    pub abi_major: [u8; 4],
    /// Minor ABI version, little endian.
    pub abi_minor: [u8; 4],
    /// Version of the SDK, UTF-8 padded with zero bytes.
    pub sdk_version: [u8; TEXT_BYTES],
    /// Name of the plugin, UTF-8 padded with zero bytes.
    pub name: [u8; TEXT_BYTES],
    /// Version of the plugin, UTF-8 padded with zero bytes.
    pub version: [u8; TEXT_BYTES],
}

/// The size of a record in bytes.
pub const RECORD_BYTES: usize = size_of::<PluginRecord>();

impl PluginRecord {
    /// The record of a plugin built against this ABI.
    pub const fn new(sdk_version: &str, name: &str, version: &str) -> Self {
        Self {
            magic: MAGIC,
            abi_major: crate::ABI_VERSION.major.to_le_bytes(),
            abi_minor: crate::ABI_VERSION.minor.to_le_bytes(),
            sdk_version: padded(sdk_version),
            name: padded(name),
            version: padded(version),
        }
    }

    /// Reads a record from the bytes of the section; `None` if there are too few or they do not begin with [`MAGIC`].
    ///
    /// A longer section is valid: a newer ABI may append fields.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
            let (head, tail) = bytes.split_first_chunk::<N>()?;
            *bytes = tail;
            Some(*head)
        }
        let mut rest = bytes;
        let record = Self {
            magic: take(&mut rest)?,
            abi_major: take(&mut rest)?,
            abi_minor: take(&mut rest)?,
            sdk_version: take(&mut rest)?,
            name: take(&mut rest)?,
            version: take(&mut rest)?,
        };
        (record.magic == MAGIC).then_some(record)
    }

    /// The ABI version that the library was built against.
    pub fn abi_version(&self) -> crate::AbiVersion {
        crate::AbiVersion {
            major: u32::from_le_bytes(self.abi_major),
            minor: u32::from_le_bytes(self.abi_minor),
        }
    }

    /// The version of the SDK that the library was built against.
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

const fn padded(text: &str) -> [u8; TEXT_BYTES] {
    let bytes = text.as_bytes();
    let mut result = [0; TEXT_BYTES];
    let mut position = 0;
    while position < bytes.len() && position < TEXT_BYTES {
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

    #[test]
    fn a_record_reads_back_from_its_bytes() {
        let record = PluginRecord::new("0.1.0", "average", "2.3.4");
        let mut bytes = Vec::new();
        bytes.extend(record.magic);
        bytes.extend(record.abi_major);
        bytes.extend(record.abi_minor);
        bytes.extend(record.sdk_version);
        bytes.extend(record.name);
        bytes.extend(record.version);
        assert_eq!(bytes.len(), RECORD_BYTES);
        let read = PluginRecord::read(&bytes).expect("the bytes are a record");
        assert_eq!(read.abi_version(), crate::ABI_VERSION);
        assert_eq!(read.name(), "average");
        assert_eq!(read.version(), "2.3.4");
        assert_eq!(read.sdk_version(), "0.1.0");
        assert!(PluginRecord::read(&bytes[1..]).is_none());
        assert!(PluginRecord::read(&bytes[..20]).is_none());
        assert!(PluginRecord::read(&[]).is_none());
    }
}
