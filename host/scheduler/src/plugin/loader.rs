//! The loader: the only file of the host that opens libraries.
//!
//! Opening a library runs its code, so the file is checked first: it must be a shared library, carry the record of a
//! plugin for this ABI, say that it works with this host, carry a certificate unless the profile allows otherwise, and
//! have the profile's checksum if there is one. Only then is it opened, and its certificate compared with the host's
//! types in both directions: within one minor version more or less, either side may have more at the end of a struct.
//!
//! Libraries are never closed, because references to a plugin's code and static data can live as long as the process.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use abi_stable::StableAbi;
use abi_stable::abi_stability::abi_checking::{CheckingGlobals, check_layout_compatibility_with_globals};
use abi_stable::library::{AbiHeaderRef, LibHeader};
use divvy_framework::abi::call::CallFunction;
use divvy_framework::abi::certificate::CertificateRef;
use divvy_framework::abi::descriptor::{Descriptor, Library, PointDescriptor, StrategyDescriptor, feature};
use divvy_framework::abi::section::{MAGIC_BEFORE_1_0, PluginRecord, SECTION_NAME, record_flag};
use divvy_framework::abi::service::{
    ConstructCall, ConstructFunction, DescribeCall, DescribeFunction, DestroyFunction, document, failure,
};
use divvy_framework::abi::sized::{SizePrefixed, kind};
use divvy_framework::abi::{
    ABI_VERSION, AbiVersion, Address, CERTIFICATE_SYMBOL, Function, LIBRARY_SYMBOL, PluginText, Pointer, Slice, Str,
};
use object::{Object, ObjectSection};
use sha2::{Digest, Sha256};

use super::error::LoadError;
use super::instance::{InProcess, PluginInstance};
use super::services::{CallSink, HostServices, Reported};
use crate::strategy::RuleList;

/// Conditions under which a library is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions<'a> {
    /// Name of the plugin to load; `None` for the only one in the library.
    pub name: Option<&'a str>,
    /// SHA-256 checksum that the file must have, in hexadecimal.
    pub checksum: Option<&'a str>,
    /// True if the library may be opened without a certificate.
    pub allow_uncertified: bool,
}

/// A plugin of a library that was checked and opened, with its metadata.
#[derive(Clone)]
pub struct PluginLibrary {
    name: &'static str,
    version: &'static str,
    description: &'static str,
    sdk_version: &'static str,
    points: Vec<PointDescriptor>,
    strategies: Vec<StrategyDescriptor>,
    rule_lists: Vec<RuleList>,
    functions: Functions,
    path: PathBuf,
    checksum: String,
    abi_version: AbiVersion,
    certified: bool,
}

/// The functions of a plugin.
#[derive(Debug, Clone, Copy)]
struct Functions {
    construct: ConstructFunction,
    destroy: DestroyFunction,
    call: CallFunction,
    describe: Option<DescribeFunction>,
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

/// A library's file, read but not opened, with the records that it carries.
#[derive(Debug)]
pub struct PluginFile {
    path: PathBuf,
    bytes: Vec<u8>,
    /// At least one.
    records: Vec<PluginRecord>,
}

impl PluginFile {
    /// Reads a file and the records in it, without running any of its code.
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
        let section = section.and_then(|section| section.data().ok()).unwrap_or(&[]);
        if section.starts_with(&MAGIC_BEFORE_1_0) {
            return Err(LoadError::BuiltBeforeFirstVersion { path });
        }
        let records = PluginRecord::read_all(section);
        if records.is_empty() {
            return Err(LoadError::NoModule {
                path,
                missing: "it has no record in a section `.divvy.plugin`".to_owned(),
            });
        }
        Ok(Self { path, bytes, records })
    }

    /// Names of the plugins in the library, from their records.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.records.iter().map(PluginRecord::name).collect();
        names.dedup();
        names
    }

    /// The SHA-256 checksum of the file, in hexadecimal.
    pub fn checksum(&self) -> String {
        Sha256::digest(&self.bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
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
    /// A [`LoadError`] if the name, the ABI, the checksum or the certificate does not match, or the system cannot open
    /// the library. Everything that the record says is checked before any of the library's code runs.
    pub fn open(self, options: LoadOptions<'_>) -> Result<PluginLibrary, LoadError> {
        let record = self.record(options.name)?;
        let plugin = record.name();
        self.check_record(&record, &plugin, options.allow_uncertified)?;
        let actual = self.checksum();
        // A private copy also serves for a path whose file has changed, since the linker would return the old library.
        let library = match options.checksum {
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
        let exported = exported(&self.path, library)?;
        if record.is_certified() {
            check_certificate(&plugin, &self.path, library)?;
        }
        let descriptor = descriptor(&self.path, exported, &plugin)?;
        self.describe(&record, &descriptor, actual)
    }

    /// Checks what the record says, before any code of the library runs.
    fn check_record(&self, record: &PluginRecord, plugin: &str, allow_uncertified: bool) -> Result<(), LoadError> {
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
        if !record.is_certified() && !allow_uncertified {
            return Err(LoadError::Uncertified {
                plugin,
                path,
                language: record.language(),
            });
        }
        Ok(())
    }

    /// Reads what the descriptor of a plugin says.
    fn describe(
        self,
        record: &PluginRecord,
        descriptor: &Descriptor,
        checksum: String,
    ) -> Result<PluginLibrary, LoadError> {
        let (plugin, path) = (record.name(), self.path);
        let invalid = |message: &str| LoadError::InvalidDescriptor {
            plugin: plugin.clone(),
            path: path.clone(),
            message: message.to_owned(),
        };
        let abi_version = record.abi_version();
        if (descriptor.abi_minor, descriptor.least_minor) != (abi_version.minor, record.least_minor()) {
            return Err(invalid("its record names other versions"));
        }
        let (Some(construct), Some(destroy), Some(call)) = (
            descriptor.construct.get(),
            descriptor.destroy.get(),
            descriptor.call.get(),
        ) else {
            return Err(invalid("it lacks a function"));
        };
        let points = read_table(&descriptor.points).ok_or_else(|| invalid("an extension point cannot be read"))?;
        let strategies = read_table(&descriptor.strategies).ok_or_else(|| invalid("a strategy cannot be read"))?;
        let point_bits = points.iter().map(|point: &PointDescriptor| point.required);
        let strategy_bits = strategies.iter().map(|strategy: &StrategyDescriptor| strategy.required);
        let unknown = point_bits.chain(strategy_bits).fold(0, |all, bits| all | bits) & !feature::ALL;
        if unknown != 0 {
            return Err(LoadError::UnknownFeatures {
                plugin,
                path,
                bits: unknown,
            });
        }
        let functions = Functions {
            construct,
            destroy,
            call,
            describe: descriptor.describe.get(),
        };
        // Lists are parsed once, so that an invalid one is an error of the plugin rather than of each binding.
        let lists = functions.documents(document::RULE_LISTS).into_iter();
        let rule_lists: Result<Vec<RuleList>, _> = lists.map(|text| serde_json::from_str(&text)).collect();
        let rule_lists = rule_lists.map_err(|error| LoadError::InvalidRuleList {
            plugin: plugin.clone(),
            path: path.clone(),
            message: error.to_string(),
        })?;
        Ok(PluginLibrary {
            name: static_text(descriptor.name),
            version: static_text(descriptor.version),
            description: static_text(descriptor.description),
            sdk_version: static_text(descriptor.sdk_version),
            points,
            strategies,
            rule_lists,
            functions,
            path,
            checksum,
            abi_version,
            certified: record.is_certified(),
        })
    }
}

/// A static text of a library, which is never closed.
fn static_text(text: PluginText<'static>) -> &'static str {
    match text.read() {
        Cow::Borrowed(text) => text,
        // Text that is not UTF-8 is repaired; the copy lives as long as the library.
        Cow::Owned(text) => text.leak(),
    }
}

/// Reads a table of structs that can grow; `None` if one of them is of another kind.
fn read_table<T: SizePrefixed>(table: &Slice<'static, Pointer<'static, T>>) -> Option<Vec<T>> {
    let read = |pointer: &Pointer<'static, T>| {
        // SAFETY: a descriptor points to static data of its library.
        unsafe { T::read(pointer.address()) }
    };
    table.as_slice().iter().map(read).collect()
}

impl Functions {
    /// The documents of a kind of [`document`]; none if the plugin has none.
    fn documents(&self, document: u32) -> Vec<String> {
        unsafe extern "C" fn take(sink: *const c_void, text: PluginText<'_>) {
            // SAFETY: the sink is the list below, which outlives the call.
            let taken = unsafe { &*sink.cast::<std::cell::RefCell<Vec<String>>>() };
            if let Ok(mut taken) = taken.try_borrow_mut() {
                taken.push(text.read().into_owned());
            }
        }
        let Some(describe) = self.describe else {
            return Vec::new();
        };
        let taken = std::cell::RefCell::new(Vec::new());
        let call = DescribeCall {
            document,
            sink: Address::of(&taken),
            take: Function::new(take),
            ..DescribeCall::DEFAULT
        };
        // SAFETY: the call follows the contract, and the list outlives it.
        let code = unsafe { describe(&raw const call) };
        match code {
            0 => taken.into_inner(),
            _ => Vec::new(),
        }
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
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

    // All symbols are resolved now, so that a missing one is an error here rather than the end of the process later.
    // SAFETY: opening runs the library's constructors. The record in its file says that it is a plugin of this ABI, and
    // an operator vouches for its code by putting it where plugins are searched for.
    let opened = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = opened.map_err(|error| LoadError::OpenFailed {
        path: shown.to_owned(),
        message: one_line(&error),
    })?;
    Ok(Box::leak(Box::new(library.into())))
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

/// The exports of an opened library.
fn exported(path: &Path, library: &'static libloading::Library) -> Result<*const Library, LoadError> {
    // SAFETY: the symbol, if there is one, is a static of this type: the header and the SDK reserve the name for it.
    let symbol = unsafe { library.get::<*const Library>(LIBRARY_SYMBOL.as_bytes()) };
    let symbol = symbol.map_err(|_| LoadError::NoModule {
        path: path.to_owned(),
        missing: format!("it exports no `{LIBRARY_SYMBOL}`"),
    })?;
    Ok(*symbol)
}

/// The descriptor of a plugin among the exports of its library.
fn descriptor(path: &Path, exported: *const Library, plugin: &str) -> Result<Descriptor, LoadError> {
    // SAFETY: the symbol is static data, and a struct of another kind is refused.
    let exported = unsafe { Library::read(exported) };
    let invalid = |message: &str| LoadError::InvalidDescriptor {
        plugin: plugin.to_owned(),
        path: path.to_owned(),
        message: message.to_owned(),
    };
    let exported = exported.ok_or_else(|| invalid("the list of plugins cannot be read"))?;
    let plugins = read_table(&exported.plugins).ok_or_else(|| invalid("a plugin cannot be read"))?;
    let found = plugins
        .into_iter()
        .find(|descriptor| descriptor.name.read() == plugin);
    found.ok_or_else(|| invalid("its record names a plugin that the library does not export"))
}

/// Compares the library's types with the host's. Either side may have more at the end of a struct that can grow, so it
/// is enough if one direction is compatible.
fn check_certificate(plugin: &str, path: &Path, library: &'static libloading::Library) -> Result<(), LoadError> {
    let unreadable = |message: String| LoadError::CertificateUnreadable {
        plugin: plugin.to_owned(),
        path: path.to_owned(),
        message,
    };
    // SAFETY: the symbol, if there is one, is a static of this type: the SDK reserves the name for it.
    let symbol = unsafe { library.get::<AbiHeaderRef>(CERTIFICATE_SYMBOL.as_bytes()) };
    let header = *symbol.map_err(|_| unreadable(format!("it exports no `{CERTIFICATE_SYMBOL}`")))?;
    let header: &'static LibHeader = header.upgrade().map_err(|error| unreadable(one_line(&error)))?;
    let theirs = header
        .layout()
        .ok_or_else(|| unreadable("it contains no layouts".to_owned()))?;
    let ours = <CertificateRef as StableAbi>::LAYOUT;
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

    /// The plugin's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The plugin's version.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// One-sentence description of the plugin.
    pub fn description(&self) -> &'static str {
        self.description
    }

    /// Version of the SDK that the plugin was built with; empty without an SDK.
    pub fn sdk_version(&self) -> &'static str {
        self.sdk_version
    }

    /// ABI version that the plugin was built with.
    pub fn abi_version(&self) -> AbiVersion {
        self.abi_version
    }

    /// True if the library carries a certificate, which was checked.
    pub fn is_certified(&self) -> bool {
        self.certified
    }

    /// Absolute path of the library.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// SHA-256 checksum of the library, in hexadecimal.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// True if the plugin answers a kind of calls, given as a value of [`kind`].
    pub fn serves(&self, point: u32) -> bool {
        self.points.iter().any(|known| known.point == point)
    }

    /// Names of the extension points that the plugin serves, in the order of the cycle.
    pub fn extension_points(&self) -> Vec<&'static str> {
        [
            (kind::FILTER, "Filter"),
            (kind::SCORE, "Score"),
            (kind::SELECT, "Select"),
            (kind::ASSIGN, "Assign"),
        ]
        .into_iter()
        .filter(|(point, _)| self.serves(*point))
        .map(|(_, name)| name)
        .collect()
    }

    /// Names of the strategies that the plugin serves.
    pub fn strategies(&self) -> Vec<&'static str> {
        self.strategies
            .iter()
            .map(|strategy| static_text(strategy.name))
            .collect()
    }

    /// Features of a strategy, as bits of [`feature`]; 0 if the plugin does not serve it.
    pub fn features_of(&self, strategy: &str) -> u64 {
        let found = self.strategies.iter().find(|known| known.name.read() == strategy);
        found.map_or(0, |strategy| strategy.required | strategy.optional)
    }

    /// Features that the plugin lists at any of its extension points or strategies, as bits of [`feature`].
    pub fn features(&self) -> u64 {
        let points = self.points.iter().map(|point| point.required | point.optional);
        let strategies = self.strategies.iter().map(|strategy| strategy.required | strategy.optional);
        points.chain(strategies).fold(0, |all, bits| all | bits)
    }

    /// The plugin's promises, in words.
    pub fn promise_names(&self) -> Vec<&'static str> {
        [
            (feature::RESPECTS_CAPACITY, "respects capacity"),
            (feature::DUPLICATES, "duplicates"),
            (feature::ORDER_INDEPENDENT, "order-independent"),
            (feature::INERT, "inert"),
        ]
        .into_iter()
        .filter(|(bit, _)| self.features() & *bit != 0)
        .map(|(_, name)| name)
        .collect()
    }

    /// Policy lists that the plugin's strategies read.
    pub fn rule_lists(&self) -> &[RuleList] {
        &self.rule_lists
    }

    /// JSON Schema of the plugin's configuration; `true`, which accepts everything, if the plugin has none.
    pub fn configuration_schema(&self) -> String {
        self.schema(document::CONFIGURATION_SCHEMA)
    }

    /// JSON Schema of the preferences that the plugin reads; `true`, which accepts everything, if the plugin has none.
    pub fn preferences_schema(&self) -> String {
        self.schema(document::PREFERENCES_SCHEMA)
    }

    fn schema(&self, document: u32) -> String {
        let mut documents = self.functions.documents(document);
        documents.pop().unwrap_or_else(|| "true".to_owned())
    }

    /// Constructs the plugin from its configuration.
    ///
    /// # Errors
    ///
    /// A [`LoadError`] if the plugin rejects its configuration, if its constructor fails or panics, or if it needs a
    /// feature that this host does not have. The host then rejects the profile.
    pub fn construct(&self, configuration: &serde_json::Value) -> Result<PluginInstance, LoadError> {
        let text = configuration.to_string();
        let services = HostServices::for_instance(self.name);
        let sink = CallSink::new(None);
        let mut call = ConstructCall {
            sink: sink.address(),
            services: services.table(),
            configuration: Str::new(&text),
            abi_minor: ABI_VERSION.minor,
            ..ConstructCall::DEFAULT
        };
        // SAFETY: the call follows the contract; what it points to outlives it.
        let code = unsafe { (self.functions.construct)(&raw mut call) };
        if code != 0 {
            return Err(self.not_constructed(sink.reported(code)));
        }
        let in_process = InProcess {
            instance: call.instance.get(),
            call: self.functions.call,
            destroy: self.functions.destroy,
        };
        let unknown = call.required & !feature::ALL;
        if unknown != 0 {
            return Err(LoadError::UnknownFeatures {
                plugin: self.name.to_owned(),
                path: self.path.clone(),
                bits: unknown,
            });
        }
        let features = call.required | call.optional;
        Ok(PluginInstance::new(self.clone(), in_process, services, features))
    }

    fn not_constructed(&self, reported: Reported) -> LoadError {
        let plugin = self.name.to_owned();
        let Reported {
            code,
            message,
            path,
            hint,
            ..
        } = reported;
        match (code, failure::class(code)) {
            (failure::PANIC, _) => LoadError::ConstructorPanic {
                plugin,
                message,
                place: path,
            },
            (_, failure::INPUT) => LoadError::Configuration {
                plugin,
                message,
                path,
                hint,
            },
            _ => LoadError::ConstructorError { plugin, message },
        }
    }
}
