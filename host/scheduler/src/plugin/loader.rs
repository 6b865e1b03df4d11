//! The loader: the one file of the host that opens libraries.
//!
//! Opening a library runs code of it, so a file is read and judged first: is it a shared library, does it carry the
//! record of a plugin, of this ABI, are its bytes those that the profile names. Only then it is opened, and its type
//! layout compared in both directions: an older plugin lacks what was appended since, a newer one has more, and both are
//! fine within one major version. `abi_stable`'s own entry points are not used, since they keep one module a type (the
//! second plugin would be the first again) and accept a newer plugin alone.
//!
//! Libraries are never closed: code and static data of a plugin may be referred to as long as the process lives.

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

/// A plugin's library, opened and checked: who it is and what it offers.
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

/// What a plugin's file says of itself before it is opened.
#[derive(Debug)]
pub struct PluginFile {
    path: PathBuf,
    bytes: Vec<u8>,
    record: PluginRecord,
}

impl PluginFile {
    /// Reads a file and the record in it, without opening it as a library.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the file is missing, unreadable, no shared library or no plugin.
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

    /// The plugin's name, as its record says.
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
    /// With `checksum` (SHA-256 in hexadecimal) the very bytes that were hashed are opened, from a private copy, so that
    /// nobody can exchange the file in between.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if ABI, checksum or type layout do not match, or the system refuses.
    pub fn open(self, checksum: Option<&str>) -> Result<PluginLibrary, LoadError> {
        let plugin = self.record.name();
        let abi_version = self.record.abi_version();
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

/// A list as a library declares it: a JSON object, or `list:field`, as the first libraries of this ABI have it.
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

/// A guess at what a file is that is no library, for the message.
fn what_it_is(bytes: &[u8], error: &object::Error) -> String {
    if bytes.is_empty() {
        "it is empty".to_owned()
    } else if std::str::from_utf8(bytes).is_ok() {
        "it is a text file".to_owned()
    } else {
        error.to_string().to_lowercase()
    }
}

/// Whether a file with other bytes was opened from this path before. The dynamic linker knows a library by its path, and
/// would give that older one again.
fn was_exchanged(path: &Path, checksum: &str) -> bool {
    static OPENED: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let first = opened.entry(path.to_owned()).or_insert_with(|| checksum.to_owned());
    first != checksum
}

fn open(shown: &Path, path: &Path) -> Result<&'static libloading::Library, LoadError> {
    // SAFETY: opening runs the library's constructors. The record in its file says that it is a plugin of this ABI; that
    // its code behaves is what an operator asserts by putting it where plugins are looked for.
    let opened = unsafe { libloading::Library::new(path) };
    let library = opened.map_err(|error| LoadError::OpenFailed {
        path: shown.to_owned(),
        message: one_line(&error),
    })?;
    Ok(Box::leak(Box::new(library)))
}

/// Opens the bytes from a file in memory. Its descriptor stays open: the dynamic linker knows a library by its file, and
/// a number that was closed and used again would give it the older one.
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

/// Compares the library's types with the host's: what one side lacks at a growing end is fine, so one direction suffices.
fn check_layout(plugin: &str, path: &Path, header: &'static LibHeader) -> Result<(), LoadError> {
    let Some(theirs) = header.layout() else {
        return Err(LoadError::LayoutUnknown {
            plugin: plugin.to_owned(),
            path: path.to_owned(),
        });
    };
    let ours = <PluginModuleRef as StableAbi>::LAYOUT;
    // Fresh globals each time: the shared ones would make the verdict depend on what was loaded before.
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

/// What differs, in one line: of the thousand lines of a layout report the first error tells most, with the type that it
/// was found in and what stands there on both sides.
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

/// The field, or else the type, that a part of a layout report is about.
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
    /// A [`LoadError`], one variant a cause.
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

    /// One sentence on what it does.
    pub fn description(&self) -> &'static str {
        self.module.description().as_str()
    }

    /// The version of the SDK it was built with.
    pub fn sdk_version(&self) -> &'static str {
        self.module.sdk_version().as_str()
    }

    /// The ABI version it was built with.
    pub fn abi_version(&self) -> AbiVersion {
        self.abi_version
    }

    /// The path of its library, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The SHA-256 checksum of its library, in hexadecimal.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// Whether it serves an extension point: a bit of [`extension_point`].
    pub fn serves(&self, point: u32) -> bool {
        self.module.extension_points() & point != 0
    }

    /// The extension points it serves, by name, in the order of the cycle.
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

    /// The strategies it serves.
    pub fn strategies(&self) -> Vec<&'static str> {
        self.module
            .strategies()
            .as_slice()
            .iter()
            .map(|name| name.as_str())
            .collect()
    }

    /// Whether it promises something: a bit of [`promise`].
    pub fn promises(&self, bit: u64) -> bool {
        self.module.promises() & bit != 0
    }

    /// Its promises, in words.
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

    /// Whether it needs something of the host: a bit of [`need`].
    pub fn needs(&self, bit: u64) -> bool {
        self.module.needs() & bit != 0
    }

    /// Whether it needs the raw JSON of clusters.
    pub fn needs_raw_clusters(&self) -> bool {
        self.needs(need::RAW_CLUSTER)
    }

    /// The lists of a policy that its strategies read.
    pub fn rule_lists(&self) -> &[RuleList] {
        &self.rule_lists
    }

    /// The JSON Schema of its configuration.
    pub fn configuration_schema(&self) -> String {
        (self.module.configuration_schema())().into_string()
    }

    /// The JSON Schema of the preferences it reads.
    pub fn preferences_schema(&self) -> String {
        (self.module.preferences_schema())().into_string()
    }

    /// Constructs the plugin.
    ///
    /// # Errors
    ///
    /// A [`LoadError`]: the configuration was refused, or the constructor failed or panicked.
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
