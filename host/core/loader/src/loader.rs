//! The loader, which decides what is opened; `opening` alone opens it.
//!
//! Opening a library runs its code, so the file is checked first. It must
//!
//! - be a shared library for this architecture,
//! - carry the record of a plugin for this ABI that works with a host of this version,
//! - carry a certificate, unless the profile allows otherwise,
//! - have the profile's checksum, if there is one,
//! - have descriptors that can be read from the file and agree with the record.
//!
//! Then it is opened, and its certificate is compared with the host's types in both directions: the newer side may have more at the
//! end of a struct.
//!
//! Libraries are never closed, because references to a plugin's code and static data can live as long as the process.

use std::collections::BTreeSet;
use std::env::consts::ARCH;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use abi_stable::StableAbi;
use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::library::{AbiHeaderRef, LibHeader};
use divvy_framework_abi::certificate::CertificateRef;
use divvy_framework_abi::descriptor::{Descriptor, Library};
use divvy_framework_abi::section::{MAGIC_BEFORE_1_0, PluginRecord, record_flag};
use divvy_framework_abi::sized::SizePrefixed;
use divvy_framework_abi::{ABI_VERSION, AbiVersion, CERTIFICATE_SYMBOL, LIBRARY_SYMBOL};
use object::{Architecture, Object};

use crate::description::LibraryDescription;
use crate::descriptors::{self, DescribedPlugin};
use crate::error::LoadError;
use crate::file::LibraryFile;
use crate::functions::read_table;
use crate::library::PluginLibrary;
use crate::linking::{self, Dynamic};
use crate::opening::{keep_copy, one_line, open, open_copy, was_exchanged};

/// Conditions under which a library is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions<'a> {
    /// Name of the plugin to load; `None` for the only one in the library.
    pub name: Option<&'a str>,
    /// SHA-256 checksum that the file must have, in hexadecimal.
    pub checksum: Option<&'a str>,
    /// True if the library may be opened without a certificate.
    pub allow_uncertified: bool,
    /// True if the file may be written to while the library is in use, so that it is opened from a private copy.
    pub may_change: bool,
}

/// A library's file, read but not opened, with the records that it carries.
#[derive(Debug)]
pub struct PluginFile {
    path: PathBuf,
    file: LibraryFile,
    /// At least one.
    records: Vec<PluginRecord>,
}

/// Contents of a file that passed the checks.
struct Checked {
    record: PluginRecord,
    /// All plugins of the library, by their descriptors.
    plugins: Vec<DescribedPlugin>,
}

impl Checked {
    /// Checks what the plugin says about itself once its library is open.
    fn check_description(&self, description: &LibraryDescription, path: &Path) -> Result<(), LoadError> {
        let plugin = self.record.name();
        // `descriptors::check` has found it.
        let described = self.plugins.iter().find(|described| described.name == plugin);
        described.map_or(Ok(()), |described| description.check(described.stated(), &plugin, path))
    }
}

impl PluginFile {
    /// Reads a file and the records in it, without running any of its code.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the file is missing or unreadable, or is not a shared library for this architecture or not a plugin.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let file = LibraryFile::read(path)?;
        let path = file.path().to_owned();
        let object = file.parse()?;
        if let Some(actual) = architecture_of(&object).filter(|actual| *actual != ARCH) {
            return Err(LoadError::WrongArchitecture {
                path,
                expected: ARCH,
                actual,
            });
        }
        if LibraryFile::section(&object).starts_with(&MAGIC_BEFORE_1_0) {
            return Err(LoadError::BuiltBeforeFirstVersion { path });
        }
        let records = LibraryFile::records(&object);
        if records.is_empty() {
            return Err(LoadError::NoModule {
                path,
                missing: "it has no record in a section `.divvy.plugin`".to_owned(),
            });
        }
        Ok(Self { path, file, records })
    }

    /// Names of the plugins in the library, from their records, sorted: the linker decides the order of the records, and versions of
    /// one plugin have one name.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.records.iter().map(PluginRecord::name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Absolute path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The SHA-256 checksum of the file, in hexadecimal.
    pub fn checksum(&self) -> &str {
        self.file.checksum()
    }

    /// Checks everything that the file shows, before any code of the library runs, and returns the plugin's record.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the name, the ABI or the checksum does not match, there is no certificate, or the descriptors are invalid.
    pub fn check(&self, options: LoadOptions<'_>) -> Result<PluginRecord, LoadError> {
        self.checked(options).map(|checked| checked.record)
    }

    /// As [`Self::check`], and returns what the plugin's descriptor says, read from the file.
    ///
    /// # Errors
    ///
    /// As [`Self::check`].
    pub fn describe(&self, options: LoadOptions<'_>) -> Result<DescribedPlugin, LoadError> {
        let checked = self.checked(options)?;
        descriptors::check(&checked.plugins, &checked.record, &self.path)?;
        let name = checked.record.name();
        let found = checked.plugins.into_iter().find(|plugin| plugin.name == name);
        found.ok_or_else(|| LoadError::InvalidDescriptor {
            plugin: name,
            path: self.path.clone(),
            message: "its record names a plugin that the library does not export".to_owned(),
        })
    }

    /// The reason why the dynamic linker of this machine cannot open the library, as far as files show.
    pub(crate) fn unresolved(&self) -> Option<LoadError> {
        linking::unresolved(&self.file.parse().ok()?, &self.path)
    }

    /// Like [`Self::check`], but returns everything that was found.
    fn checked(&self, options: LoadOptions<'_>) -> Result<Checked, LoadError> {
        // First, since nothing that another file says is of interest.
        if let Some(expected) = options.checksum {
            self.check_checksum(expected, self.checksum())?;
        }
        let record = self.record(options.name)?;
        let plugin = record.name();
        self.check_record(&record, &plugin)?;
        let object = self.file.parse()?;
        let plugins = descriptors::read(&object).map_err(|error| error.load_error(&plugin, &self.path))?;
        if let Some(library) = Dynamic::read(&object).beside(&self.path) {
            return Err(LoadError::LibraryBeside {
                path: self.path.clone(),
                library,
            });
        }
        // A library with a certificate for other types must fail for that reason, not for fields that this host misreads.
        if !record.is_certified() {
            descriptors::check(&plugins, &record, &self.path)?;
            // Last, so that it hides no cause that stays when the profile allows the library.
            if !options.allow_uncertified {
                let unresolved = linking::unresolved(&object, &self.path);
                return Err(unresolved.unwrap_or_else(|| self.uncertified(&record)));
            }
        }
        Ok(Checked { record, plugins })
    }

    fn check_checksum(&self, expected: &str, actual: &str) -> Result<(), LoadError> {
        match expected.eq_ignore_ascii_case(actual) {
            true => Ok(()),
            false => Err(LoadError::ChecksumMismatch {
                path: self.path.clone(),
                expected: expected.to_owned(),
                actual: actual.to_owned(),
            }),
        }
    }

    /// The record of a plugin: the one for this major ABI version if there are several.
    fn record(&self, name: Option<&str>) -> Result<PluginRecord, LoadError> {
        let mut named = self
            .records
            .iter()
            .filter(|record| name.is_none_or(|name| record.name() == name));
        let first = named.next().ok_or_else(|| LoadError::WrongName {
            path: self.path.clone(),
            expected: name.unwrap_or_default().to_owned(),
            actual: self.names().join("`, `"),
        })?;
        if name.is_none() && self.names().len() > 1 {
            return Err(LoadError::SeveralPlugins {
                path: self.path.clone(),
                names: self.names(),
            });
        }
        let ours = std::iter::once(first)
            .chain(named)
            .find(|record| record.abi_version().major == ABI_VERSION.major);
        Ok(*ours.unwrap_or(first))
    }

    /// Opens the library.
    ///
    /// If a checksum is given, the library is opened from a private copy of the bytes that were hashed, so that the file
    /// cannot be replaced in between.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the name, the ABI, the checksum or the certificate does not match, the descriptors are invalid, or the
    /// system cannot open the library. Everything but the certificate is checked before any of the library's code runs.
    pub fn open(self, options: LoadOptions<'_>) -> Result<PluginLibrary, LoadError> {
        let Checked { record, plugins } = self.checked(options)?;
        let plugin = record.name();
        let actual = self.checksum();
        let opening = divvy_attribution::opening(&self.path);
        // A private copy also serves for a path whose file has changed, since the linker would return the old library.
        let is_copied = options.checksum.is_some() || options.may_change || was_exchanged(&self.path, actual);
        let library = match is_copied {
            true => open_copy(&self.path, self.file.bytes(), actual)?,
            false => open(&self.path, &self.path)?,
        };
        let exported = exported(&self.path, library)?;
        if record.is_certified() {
            if !known_to_match().contains(&exported.addr()) {
                check_certificate(&plugin, &self.path, library)?;
                known_to_match().insert(exported.addr());
            }
            descriptors::check(&plugins, &record, &self.path)?;
        }
        drop(opening);
        let descriptor = descriptor(&self.path, exported, &plugin)?;
        let checksum = actual.to_owned();
        PluginLibrary::new(&record, &descriptor, self.path, checksum)
    }

    /// Makes the private copy from which [`Self::open`] opens the library, for a process that cannot make one later.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if memory for the copy cannot be allocated.
    pub fn keep_copy(&self) -> Result<(), LoadError> {
        keep_copy(&self.path, self.file.bytes(), self.checksum())
    }

    /// The plugin of a library that another process has opened, with the plugin's description from there. Everything that can be
    /// checked without opening the library is checked. What the file states counts; of the description, only the documents are taken,
    /// which the file does not have.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the name, the ABI or the checksum does not match, there is no certificate, or the description is
    /// invalid or differs from the file.
    pub fn opened_elsewhere(
        self,
        options: LoadOptions<'_>,
        description: LibraryDescription,
    ) -> Result<PluginLibrary, LoadError> {
        let checked = self.checked(options)?;
        descriptors::check(&checked.plugins, &checked.record, &self.path)?;
        checked.check_description(&description, &self.path)?;
        let checksum = self.checksum().to_owned();
        PluginLibrary::described(&checked.record, description, None, self.path, checksum)
    }

    /// Checks the record, before any code of the library runs.
    fn check_record(&self, record: &PluginRecord, plugin: &str) -> Result<(), LoadError> {
        let (plugin, path) = (plugin.to_owned(), self.path.clone());
        // A record can be read across major versions.
        if record.abi_version().major != ABI_VERSION.major {
            return Err(LoadError::AbiMismatch {
                plugin,
                path,
                expected: ABI_VERSION,
                actual: record.abi_version(),
                sdk_version: record.sdk_version(),
            });
        }
        if record.least_minor() > ABI_VERSION.minor {
            return Err(LoadError::NeedsNewerHost {
                plugin,
                path,
                needed: AbiVersion {
                    minor: record.least_minor(),
                    ..record.abi_version()
                },
                actual: ABI_VERSION,
            });
        }
        if record.flags() & record_flag::MUST_BE_KNOWN != 0 {
            return Err(LoadError::UnknownFeatures {
                plugin,
                path,
                bits: u64::from(record.flags() & record_flag::MUST_BE_KNOWN),
            });
        }
        Ok(())
    }

    fn uncertified(&self, record: &PluginRecord) -> LoadError {
        LoadError::Uncertified {
            plugin: record.name(),
            path: self.path.clone(),
            language: record.language(),
        }
    }
}

impl PluginLibrary {
    /// Reads, checks and opens the only plugin of a library: [`PluginFile::read`], then [`PluginFile::open`].
    ///
    /// # Errors
    ///
    /// A [`LoadError`], one variant per cause.
    pub fn load(path: &Path, checksum: Option<&str>) -> Result<Self, LoadError> {
        PluginFile::read(path)?.open(LoadOptions {
            checksum,
            ..LoadOptions::default()
        })
    }
}

/// Rust's name for the architecture of a library; `None` for a rare one, about which the dynamic linker decides.
fn architecture_of(file: &object::File<'_>) -> Option<&'static str> {
    Some(match file.architecture() {
        Architecture::Aarch64 => "aarch64",
        Architecture::Arm => "arm",
        Architecture::I386 => "x86",
        Architecture::LoongArch64 => "loongarch64",
        Architecture::PowerPc64 => "powerpc64",
        Architecture::Riscv64 => "riscv64",
        Architecture::S390x => "s390x",
        Architecture::X86_64 => "x86_64",
        _ => return None,
    })
}

/// The exports of an opened library.
fn exported(path: &Path, library: &'static libloading::Library) -> Result<*const Library, LoadError> {
    // SAFETY: the header and the SDK reserve this name for a static of this type, and the descriptors behind it were read from the
    // file before the library was opened (`PluginFile::checked`).
    let symbol = unsafe { library.get::<*const Library>(LIBRARY_SYMBOL.as_bytes()) };
    let symbol = symbol.map_err(|_| LoadError::NoModule {
        path: path.to_owned(),
        missing: format!("it does not export `{LIBRARY_SYMBOL}`"),
    })?;
    Ok(*symbol)
}

/// The descriptor of a plugin among the exports of its library.
fn descriptor(path: &Path, exported: *const Library, plugin: &str) -> Result<Descriptor, LoadError> {
    // SAFETY: the symbol is static data of a library that is never closed; `PluginFile::checked` has read it from the file and
    // checked every address and length in it.
    let exported = unsafe { Library::read(exported) };
    let invalid = |message: &str| LoadError::InvalidDescriptor {
        plugin: plugin.to_owned(),
        path: path.to_owned(),
        message: message.to_owned(),
    };
    let exported = exported.ok_or_else(|| invalid("the list of plugins cannot be read"))?;
    let plugins = read_table(&exported.plugins).ok_or_else(|| invalid("a plugin cannot be read"))?;
    let found = plugins.into_iter().find(|descriptor| descriptor.name.read() == plugin);
    found.ok_or_else(|| invalid("its record names a plugin that the library does not export"))
}

/// Addresses of the exports of libraries whose types match the host's. Libraries are never closed, so an address stays that of one library:
/// whoever constructs a profile again, after a change of it or a quarantine, does not compare its types again.
fn known_to_match() -> MutexGuard<'static, BTreeSet<usize>> {
    static KNOWN: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compares the library's types with the host's. Either side may have more at the end of a struct that can grow, so it
/// is enough if one direction is compatible.
fn check_certificate(plugin: &str, path: &Path, library: &'static libloading::Library) -> Result<(), LoadError> {
    let unreadable = |message: String| LoadError::CertificateUnreadable {
        plugin: plugin.to_owned(),
        path: path.to_owned(),
        message,
    };
    // SAFETY: the SDK reserves this name for a static of this type, and only a library whose record announces a certificate gets
    // here.
    let symbol = unsafe { library.get::<AbiHeaderRef>(CERTIFICATE_SYMBOL.as_bytes()) };
    let header = *symbol.map_err(|_| unreadable(format!("it does not export `{CERTIFICATE_SYMBOL}`")))?;
    let header: &'static LibHeader = header.upgrade().map_err(|error| unreadable(one_line(&error)))?;
    let theirs = header
        .layout()
        .ok_or_else(|| unreadable("it contains no layouts".to_owned()))?;
    let ours = <CertificateRef as StableAbi>::LAYOUT;
    // Each check uses fresh globals, because shared ones would make the result depend on earlier libraries.
    let newer = check_layout_compatibility_with_globals(ours, theirs, &CheckingGlobals::new());
    let Err(errors) = newer else { return Ok(()) };
    if check_layout_compatibility_with_globals(theirs, ours, &CheckingGlobals::new()).is_ok() {
        return Ok(());
    }
    let detail = errors.to_string();
    Err(LoadError::LayoutMismatch {
        plugin: plugin.to_owned(),
        path: path.to_owned(),
        summary: first_difference(&detail),
        detail,
    })
}

/// Summarizes a layout report, which can have a thousand lines, in one: the first error, the type in which it was
/// found, and both sides.
fn first_difference(report: &str) -> String {
    let lines: Vec<&str> = report.lines().map(str::trim).collect();
    let mut errors = lines
        .iter()
        .enumerate()
        .filter_map(|(number, line)| Some((number, line.strip_prefix("Error:")?.trim())));
    let Some((number, error)) = errors.next() else {
        return behind_an_address(&lines).unwrap_or_else(|| "types differ".to_owned());
    };
    let (before, after) = lines.split_at(number);
    let owner = before.iter().rposition(|line| *line == "Layout of expected type:");
    let owner = owner.map_or_else(String::new, |owner| format!("in {}: ", side_of(&before[owner..])));
    let side = |word: &str| {
        after
            .iter()
            .position(|line| *line == word)
            .map(|at| side_of(&after[at + 1..]))
    };
    match (side("Expected:"), side("Found:")) {
        (Some(expected), Some(found)) => format!("{owner}{error}: expected {expected}, found {found}"),
        _ => format!("{owner}{error}"),
    }
}

/// Like [`first_difference`], for a first error about a function's arguments or a pointer's target: those have a tag, which a report
/// describes in its own way.
fn behind_an_address(lines: &[&str]) -> Option<String> {
    let (before, after) = lines.split_at(lines.iter().position(|line| *line == "Extra:")?);
    let owner = before.iter().rposition(|line| *line == "Layout of expected type:")?;
    let field = before[..owner].iter().rev();
    let field = field.filter_map(|line| line.strip_prefix("field_name:")).next()?;
    let side = |from: &str, to: &str| {
        let section = after.iter().skip_while(|line| **line != from).skip(1);
        let text: String = section.take_while(|line| **line != to).copied().collect();
        text.replace('\'', "")
    };
    let (expected, found) = (side("Expected:", "Found:"), side("Found:", "Errors:"));
    Some(format!(
        "in `{field}`: mismatched types behind an address: expected `{expected}`, found `{found}`"
    ))
}

/// The field, or otherwise the type, that a section of a layout report describes.
fn side_of(lines: &[&str]) -> String {
    let part = || lines.iter().take_while(|line| !line.is_empty() && **line != "Found:");
    let value = |key: &str| part().find_map(|line| line.strip_prefix(key));
    match (value("field_name:"), value("type:")) {
        (Some(field), Some(kind)) if part().next().is_some_and(|line| line.starts_with("field_name:")) => {
            format!("`{field}: {kind}`")
        }
        (_, Some(kind)) => format!("`{kind}`"),
        _ => format!("`{}`", part().copied().collect::<Vec<_>>().join(" ")),
    }
}
