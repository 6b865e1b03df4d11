//! The loader: the only file of the host that opens libraries.
//!
//! Opening a library runs its code, so the file is checked first: it must be a shared library, carry a plugin's record
//! for this ABI, and have the profile's checksum if there is one. Only then is it opened, and its type layout is
//! compared in both directions. Within one major version, an older plugin lacks what was appended since and a newer one
//! has more; both are accepted. `abi_stable`'s own entry points are not used, because they keep one module per type
//! (the second plugin would be the first one again) and accept only newer plugins.
//!
//! Libraries are never closed, because references to a plugin's code and static data can live as long as the process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use abi_stable::StableAbi;
use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::library::{AbiHeaderRef, LibHeader, LibraryError, ROOT_MODULE_LOADER_NAME_WITH_NUL};
use divvy_framework::abi::module::{PluginModuleRef, extension_point, need, promise};
use divvy_framework::abi::object::failure;
use divvy_framework::abi::section::{PluginRecord, SECTION_NAME};
use divvy_framework::abi::{ABI_VERSION, AbiStr, AbiVersion};
use object::{Object, ObjectSection};
use sha2::{Digest, Sha256};

use super::error::LoadError;
use super::instance::PluginInstance;
use super::log;
use crate::strategy::{RuleField, RuleList};

/// A plugin's library, checked and opened, with its metadata.
#[derive(Clone)]
pub struct PluginLibrary {
    module: PluginModuleRef,
    rule_lists: Vec<RuleList>,
    path: PathBuf,
    checksum: String,
    abi_version: AbiVersion,
}

impl std::fmt::Debug for PluginLibrary {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PluginLibrary")
            .field("name", &self.name())
            .field("version", &self.version())
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A plugin's file, read but not opened, with the record that it carries.
#[derive(Debug)]
pub struct PluginFile {
    path: PathBuf,
    bytes: Vec<u8>,
    record: PluginRecord,
}

impl PluginFile {
    /// Reads a file and the record in it, without running any of its code.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the file is missing or unreadable, or is not a shared library or not a plugin.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        let path = std::path::absolute(path).map_err(|source| LoadError::FileUnreadable {
            path: path.to_owned(),
            source,
        })?;
        let bytes = fs::read(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => LoadError::FileMissing { path: path.clone() },
            _ => LoadError::FileUnreadable {
                path: path.clone(),
                source,
            },
        })?;
        let file = object::File::parse(bytes.as_slice()).map_err(|error| LoadError::NotALibrary {
            path: path.clone(),
            actual: what_it_is(&bytes, &error),
        })?;
        let section = file.section_by_name(SECTION_NAME);
        let record = section
            .and_then(|section| section.data().ok().and_then(PluginRecord::read))
            .ok_or_else(|| LoadError::NoModule {
                path: path.clone(),
                missing: "it has no section `.divvy.plugin`",
            })?;
        Ok(Self { path, bytes, record })
    }

    /// The plugin's name, from its record.
    pub fn name(&self) -> String {
        self.record.name()
    }

    /// The SHA-256 checksum of the file, in hexadecimal.
    pub fn checksum(&self) -> String {
        Sha256::digest(&self.bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Opens the library.
    ///
    /// If `checksum` (SHA-256 in hexadecimal) is given, the library is opened from a private copy of the bytes that
    /// were hashed, so that the file cannot be replaced in between.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the ABI, the checksum or the type layout does not match, or the system cannot open the
    /// library. An ABI or checksum that does not match is reported before any of the library's code runs.
    pub fn open(self, checksum: Option<&str>) -> Result<PluginLibrary, LoadError> {
        let plugin = self.record.name();
        let abi_version = self.record.abi_version();
        // The record is the only part of a library that can be read across major versions.
        if abi_version.major != ABI_VERSION.major {
            return Err(LoadError::AbiMismatch {
                plugin,
                path: self.path,
                expected: ABI_VERSION,
                actual: abi_version,
                sdk_version: self.record.sdk_version(),
            });
        }
        let actual = self.checksum();
        // A private copy also serves for a path whose file has changed, since the linker would return the old library.
        let library = match checksum {
            Some(expected) if !expected.eq_ignore_ascii_case(&actual) => {
                return Err(LoadError::ChecksumMismatch {
                    path: self.path,
                    expected: expected.to_owned(),
                    actual,
                });
            }
            Some(_) => open_copy(&self.path, &self.bytes)?,
            None if was_exchanged(&self.path, &actual) => open_copy(&self.path, &self.bytes)?,
            None => open(&self.path, &self.path)?,
        };
        let header = header(&self.path, library)?;
        check_layout(&plugin, &self.path, header)?;
        // SAFETY: the layout was checked against this very type, in one direction or the other.
        let module = unsafe { header.init_root_module_with_unchecked_layout::<PluginModuleRef>() };
        let module = module.map_err(|error| LoadError::ModuleFailed {
            plugin,
            path: self.path.clone(),
            message: match error {
                LibraryError::RootModule { err, .. } => one_line(&err),
                other => one_line(&other),
            },
        })?;
        // Lists are parsed once, so that an invalid one is an error of the plugin rather than of each binding.
        let lists = module.rule_lists();
        let rule_lists = lists.as_slice().iter().map(|text| rule_list(text.as_str())).collect();
        let rule_lists: Result<Vec<RuleList>, String> = rule_lists;
        let rule_lists = rule_lists.map_err(|message| LoadError::InvalidRuleList {
            plugin: module.name().as_str().to_owned(),
            path: self.path.clone(),
            message,
        })?;
        Ok(PluginLibrary {
            module,
            rule_lists,
            path: self.path,
            checksum: actual,
            abi_version,
        })
    }
}

/// Parses a declared list: a JSON object, or `list:field`, the form that the first libraries of this ABI use.
fn rule_list(text: &str) -> Result<RuleList, String> {
    match text.split_once(':') {
        Some((name, field)) if !text.starts_with('{') => Ok(RuleList {
            name: name.to_owned(),
            fields: vec![RuleField {
                name: field.to_owned(),
                minimum: None,
                required: true,
            }],
            priorities: false,
        }),
        _ => serde_json::from_str(text).map_err(|error| error.to_string()),
    }
}

/// Describes a file that is not a library, for the error message.
fn what_it_is(bytes: &[u8], error: &object::Error) -> String {
    if bytes.is_empty() {
        "it is empty".to_owned()
    } else if std::str::from_utf8(bytes).is_ok() {
        "it is a text file".to_owned()
    } else {
        error.to_string().to_lowercase()
    }
}

/// True if a file with other bytes was opened from this path before. The dynamic linker identifies a library by its
/// path and would return the older one.
fn was_exchanged(path: &Path, checksum: &str) -> bool {
    static OPENED: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let first = opened.entry(path.to_owned()).or_insert_with(|| checksum.to_owned());
    first != checksum
}

fn open(shown: &Path, path: &Path) -> Result<&'static libloading::Library, LoadError> {
    // SAFETY: opening runs the library's constructors. The record in its file says that it is a plugin of this ABI, and
    // an operator vouches for its code by putting it where plugins are searched for.
    let opened = unsafe { libloading::Library::new(path) };
    let library = opened.map_err(|error| LoadError::OpenFailed {
        path: shown.to_owned(),
        message: one_line(&error),
    })?;
    Ok(Box::leak(Box::new(library)))
}

/// Opens the bytes from a file in memory. Its descriptor stays open: the dynamic linker identifies a library by its
/// file, so a descriptor number that is closed and reused would return the older one.
fn open_copy(path: &Path, bytes: &[u8]) -> Result<&'static libloading::Library, LoadError> {
    use std::io::Write;
    use std::os::fd::{AsRawFd, IntoRawFd};

    let refused = |source: std::io::Error| LoadError::FileUnreadable {
        path: path.to_owned(),
        source,
    };
    let memory = rustix::fs::memfd_create("divvy-plugin", rustix::fs::MemfdFlags::CLOEXEC)
        .map_err(|error| refused(error.into()))?;
    let mut file = fs::File::from(memory);
    file.write_all(bytes).map_err(refused)?;
    let library = open(path, Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))?;
    let _kept_open = file.into_raw_fd();
    Ok(library)
}

fn header(path: &Path, library: &'static libloading::Library) -> Result<&'static LibHeader, LoadError> {
    // SAFETY: the symbol, if there is one, is a static of this type: only the SDK's macro exports that name.
    let symbol = unsafe { library.get::<AbiHeaderRef>(ROOT_MODULE_LOADER_NAME_WITH_NUL.as_bytes()) };
    let header = *symbol.map_err(|_| LoadError::NoModule {
        path: path.to_owned(),
        missing: "it exports no module",
    })?;
    header.upgrade().map_err(|error| LoadError::OpenFailed {
        path: path.to_owned(),
        message: one_line(&error),
    })
}

/// Compares the library's types with the host's. Either side may have more at the end of an extensible type, so it is
/// enough if one direction is compatible.
fn check_layout(plugin: &str, path: &Path, header: &'static LibHeader) -> Result<(), LoadError> {
    let Some(theirs) = header.layout() else {
        return Err(LoadError::LayoutUnknown {
            plugin: plugin.to_owned(),
            path: path.to_owned(),
        });
    };
    let ours = <PluginModuleRef as StableAbi>::LAYOUT;
    // Each check uses fresh globals, because shared ones would make the result depend on what was loaded before.
    let newer = check_layout_compatibility_with_globals(ours, theirs, &CheckingGlobals::new());
    let Err(errors) = newer else { return Ok(()) };
    if check_layout_compatibility_with_globals(theirs, ours, &CheckingGlobals::new()).is_ok() {
        return Ok(());
    }
    let detail = errors.to_string();
    Err(LoadError::LayoutMismatch {
        plugin: plugin.to_owned(),
        path: path.to_owned(),
        summary: telling_line(&detail),
        detail,
    })
}

/// Summarizes a layout report, which can have a thousand lines, in one: the first error, the type in which it was
/// found, and both sides.
fn telling_line(report: &str) -> String {
    let lines: Vec<&str> = report.lines().map(str::trim).collect();
    let mut errors = lines
        .iter()
        .enumerate()
        .filter_map(|(number, line)| Some((number, line.strip_prefix("Error:")?.trim())));
    let Some((number, error)) = errors.next() else {
        return "types differ".to_owned();
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

fn one_line(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl PluginLibrary {
    /// Reads, checks and opens a plugin's library: [`PluginFile::read`], then [`PluginFile::open`].
    ///
    /// # Errors
    ///
    /// A [`LoadError`], one variant per cause.
    pub fn load(path: &Path, checksum: Option<&str>) -> Result<Self, LoadError> {
        PluginFile::read(path)?.open(checksum)
    }

    /// The plugin's name.
    pub fn name(&self) -> &'static str {
        self.module.name().as_str()
    }

    /// The plugin's version.
    pub fn version(&self) -> &'static str {
        self.module.version().as_str()
    }

    /// One-sentence description of the plugin.
    pub fn description(&self) -> &'static str {
        self.module.description().as_str()
    }

    /// Version of the SDK that the plugin was built with.
    pub fn sdk_version(&self) -> &'static str {
        self.module.sdk_version().as_str()
    }

    /// ABI version that the plugin was built with.
    pub fn abi_version(&self) -> AbiVersion {
        self.abi_version
    }

    /// Absolute path of the library.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// SHA-256 checksum of the library, in hexadecimal.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// True if the plugin serves an extension point, given as a bit of [`extension_point`].
    pub fn serves(&self, point: u32) -> bool {
        self.module.extension_points() & point != 0
    }

    /// Names of the extension points that the plugin serves, in the order of the cycle.
    pub fn extension_points(&self) -> Vec<&'static str> {
        [
            (extension_point::FILTER, "Filter"),
            (extension_point::SCORE, "Score"),
            (extension_point::SELECT, "Select"),
            (extension_point::ASSIGN, "Assign"),
        ]
        .into_iter()
        .filter(|(bit, _)| self.serves(*bit))
        .map(|(_, name)| name)
        .collect()
    }

    /// Names of the strategies that the plugin serves.
    pub fn strategies(&self) -> Vec<&'static str> {
        self.module
            .strategies()
            .as_slice()
            .iter()
            .map(|name| name.as_str())
            .collect()
    }

    /// True if the plugin makes a promise, given as a bit of [`promise`].
    pub fn promises(&self, bit: u64) -> bool {
        self.module.promises() & bit != 0
    }

    /// The plugin's promises, in words.
    pub fn promise_names(&self) -> Vec<&'static str> {
        [
            (promise::RESPECTS_CAPACITY, "respects capacity"),
            (promise::DUPLICATES, "duplicates"),
            (promise::ORDER_INDEPENDENT, "order-independent"),
            (promise::INERT, "inert"),
        ]
        .into_iter()
        .filter(|(bit, _)| self.promises(*bit))
        .map(|(_, name)| name)
        .collect()
    }

    /// True if the plugin has a need, given as a bit of [`need`].
    pub fn needs(&self, bit: u64) -> bool {
        self.module.needs() & bit != 0
    }

    /// True if the plugin needs the raw JSON of clusters.
    pub fn needs_raw_clusters(&self) -> bool {
        self.needs(need::RAW_CLUSTER)
    }

    /// Policy lists that the plugin's strategies read.
    pub fn rule_lists(&self) -> &[RuleList] {
        &self.rule_lists
    }

    /// JSON Schema of the plugin's configuration.
    pub fn configuration_schema(&self) -> String {
        (self.module.configuration_schema())().into_string()
    }

    /// JSON Schema of the preferences that the plugin reads.
    pub fn preferences_schema(&self) -> String {
        (self.module.preferences_schema())().into_string()
    }

    /// Constructs the plugin from its configuration.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the plugin rejects its configuration, or if its constructor fails or panics. The host then
    /// rejects the profile.
    pub fn construct(&self, configuration: &serde_json::Value) -> Result<PluginInstance, LoadError> {
        let text = configuration.to_string();
        let made = (self.module.construct())(AbiStr::from_str(&text), log::for_plugin(self.name()));
        let failure = match made.into_result() {
            Ok(object) => return Ok(PluginInstance::new(self.clone(), object)),
            Err(failure) => failure,
        };
        let plugin = self.name().to_owned();
        let message = failure.message.to_string();
        let hint = (!failure.hint.is_empty()).then(|| failure.hint.to_string());
        Err(match failure.kind {
            failure::CONFIGURATION => LoadError::Configuration {
                plugin,
                message,
                path: failure.path.to_string(),
                hint,
            },
            failure::PANIC => LoadError::ConstructorPanic {
                plugin,
                message,
                place: failure.path.to_string(),
            },
            _ => LoadError::ConstructorError { plugin, message },
        })
    }
}
