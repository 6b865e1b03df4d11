//! Contents of a library's file, read without opening the library: target, records and descriptors, for people.

mod glibc;

use std::path::{Path, PathBuf};

use divvy_framework_abi::AbiVersion;
use divvy_framework_abi::section::PluginRecord;

pub use glibc::GlibcVersion;

use crate::descriptors;
pub use crate::descriptors::{DescribedPlugin, DescribedStrategy, DescriptorError, InvalidField};
use crate::error::{self, LoadError};
use crate::file::LibraryFile;
use crate::linking::{self, Dynamic};
use crate::loader::{LoadOptions, PluginFile};

/// Contents of a library's file, read without opening the library.
#[derive(Debug)]
pub struct Inspection {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// SHA-256 checksum of the file, in hexadecimal.
    pub checksum: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Target that the library was built for, such as `x86_64-linux-gnu`.
    pub target: String,
    /// Oldest glibc with which the library loads; `None` if it needs none.
    pub oldest_glibc: Option<GlibcVersion>,
    /// The records of its plugins.
    pub records: Vec<InspectedRecord>,
    /// Its plugins as their descriptors describe them, or the reason why those cannot be read.
    pub plugins: Result<Vec<DescribedPlugin>, DescriptorError>,
}

/// A record in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedRecord {
    /// Name of the plugin.
    pub name: String,
    /// Version of the plugin.
    pub version: String,
    /// Programming language; empty if it is not known.
    pub language: String,
    /// Version of the SDK; empty without one.
    pub sdk_version: String,
    /// ABI version that it was built with.
    pub abi_version: AbiVersion,
    /// Minimum minor ABI version of a host.
    pub least_minor: u32,
    /// True if the library carries a certificate.
    pub is_certified: bool,
}

/// Reason why this host would refuse a library.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The loader refuses the file.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The library needs a newer glibc than this machine has.
    #[error("it needs glibc {needed} or newer, this machine has {actual}")]
    NewerGlibc {
        /// Oldest glibc with which the library loads.
        needed: GlibcVersion,
        /// The glibc of this machine.
        actual: GlibcVersion,
    },
    /// The library is on a file system from which nothing may be executed.
    #[error("its file system forbids to execute what is on it (`noexec`)")]
    NoExecution,
}

impl Refusal {
    /// True if the only obstacle is that no one has allowed the library without a certificate.
    pub fn is_for_lack_of_certificate(&self) -> bool {
        matches!(self, Self::Load(LoadError::Uncertified { .. }))
    }

    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Load(error) => error.hint(),
            Self::NoExecution => Some(error::NO_EXECUTION_HINT.to_owned()),
            Self::NewerGlibc { actual, .. } => Some(format!(
                "build it on a machine with glibc {actual} or older, or with `cargo zigbuild --target x86_64-unknown-linux-gnu.{actual}`"
            )),
        }
    }
}

impl From<&PluginRecord> for InspectedRecord {
    fn from(record: &PluginRecord) -> Self {
        Self {
            name: record.name(),
            version: record.version(),
            language: record.language(),
            sdk_version: record.sdk_version(),
            abi_version: record.abi_version(),
            least_minor: record.least_minor(),
            is_certified: record.is_certified(),
        }
    }
}

impl Inspection {
    /// Reads a file, without running any of its code.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the file is missing or unreadable, or is not a shared library. A library that this host would
    /// refuse can be inspected.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let file = LibraryFile::read(path)?;
        let object = file.parse()?;
        Ok(Self {
            path: file.path().to_owned(),
            checksum: file.checksum().to_owned(),
            bytes: file.bytes().len() as u64,
            target: glibc::target(&object, &Dynamic::read(&object)),
            oldest_glibc: glibc::oldest(&object),
            records: LibraryFile::records(&object)
                .iter()
                .map(InspectedRecord::from)
                .collect(),
            plugins: descriptors::read(&object),
        })
    }

    /// Reason why this host would refuse a plugin of the file under these conditions, as far as files show; `None` if it
    /// would be opened. Problems that only opening reveals, such as a certificate that does not match, are not found.
    ///
    /// That the certificate is missing is the reason only if there is no other: it hides none that stays when the profile allows that.
    pub fn refusal(&self, options: LoadOptions<'_>) -> Option<Refusal> {
        let allowed = LoadOptions {
            allow_uncertified: true,
            ..options
        };
        self.refusal_if_trusted(allowed).or_else(|| {
            let checked = PluginFile::read(&self.path).and_then(|file| file.check(options));
            checked.err().map(Refusal::from)
        })
    }

    /// As [`Self::refusal`], whether the file has a certificate or not.
    fn refusal_if_trusted(&self, options: LoadOptions<'_>) -> Option<Refusal> {
        let file = match PluginFile::read(&self.path) {
            Ok(file) => file,
            Err(error) => return Some(error.into()),
        };
        let checked = file.check(options).and_then(|record| match &self.plugins {
            Ok(plugins) => descriptors::check(plugins, &record, &self.path),
            Err(error) => Err(error.load_error(&record.name(), &self.path)),
        });
        if let Err(error) = checked {
            return Some(error.into());
        }
        if let (Some(needed), Some(actual)) = (self.oldest_glibc, glibc::installed())
            && needed > actual
        {
            return Some(Refusal::NewerGlibc { needed, actual });
        }
        if let Some(error) = file.unresolved() {
            return Some(error.into());
        }
        // A pinned library is opened from memory.
        let is_forbidden = options.checksum.is_none() && linking::forbids_execution(&self.path);
        is_forbidden.then_some(Refusal::NoExecution)
    }
}
