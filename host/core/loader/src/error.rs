//! Errors of loading plugins, one variant per cause.

use std::path::{Path, PathBuf};

use divvy_framework_abi::AbiVersion;

use crate::unbuilt;

/// Reason why a plugin could not be loaded or constructed. The profile that uses it cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file does not exist.
    #[error("plugin file `{path}` does not exist", path = .path.display())]
    FileMissing {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("plugin file `{path}` cannot be read", path = .path.display())]
    FileUnreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The file is not a shared library.
    #[error("`{path}` is not a shared library: {actual}", path = .path.display())]
    NotALibrary {
        /// Path of the file.
        path: PathBuf,
        /// Description of its content.
        actual: String,
    },
    /// The library was built for another processor architecture.
    #[error("`{path}` is built for {actual}, this divvy for {expected}", path = .path.display())]
    WrongArchitecture {
        /// Path of the file.
        path: PathBuf,
        /// The host's architecture, as Rust names it.
        expected: &'static str,
        /// The library's architecture, as Rust names it.
        actual: &'static str,
    },
    /// The file is a shared library but not a plugin.
    #[error("`{path}` is a shared library but not a divvy plugin: {missing}", path = .path.display())]
    NoModule {
        /// Path of the file.
        path: PathBuf,
        /// The missing part of a plugin.
        missing: String,
    },
    /// The plugin was built with an SDK from before the first version of the ABI.
    #[error("plugin file `{path}` was built before ABI 1.0", path = .path.display())]
    BuiltBeforeFirstVersion {
        /// Path of the file.
        path: PathBuf,
    },
    /// The library holds several plugins, and the profile does not name one of them.
    #[error("`{path}` holds several plugins: `{}`", .names.join("`, `"), path = .path.display())]
    SeveralPlugins {
        /// Path of the file.
        path: PathBuf,
        /// Names of the plugins.
        names: Vec<String>,
    },
    /// The plugin needs a newer host than this one.
    #[error("plugin `{plugin}` ({path}) needs ABI {needed} or newer, this divvy has ABI {actual}", path = .path.display())]
    NeedsNewerHost {
        /// Name of the plugin.
        plugin: String,
        /// Path of the file.
        path: PathBuf,
        /// Minimum version of the host's ABI.
        needed: AbiVersion,
        /// The host's ABI version.
        actual: AbiVersion,
    },
    /// The plugin requires features that this host does not have.
    #[error("plugin `{plugin}` ({path}) requires features that this divvy does not have: {bits:#x}", path = .path.display())]
    UnknownFeatures {
        /// Name of the plugin.
        plugin: String,
        /// Path of the file.
        path: PathBuf,
        /// The unknown bits.
        bits: u64,
    },
    /// The plugin's descriptor contradicts its record or is incomplete.
    #[error("plugin `{plugin}` ({path}) has an invalid descriptor: {message}", path = .path.display())]
    InvalidDescriptor {
        /// Name of the plugin.
        plugin: String,
        /// Path of the file.
        path: PathBuf,
        /// The problem.
        message: String,
    },
    /// The plugin was built for another major version of the ABI.
    #[error(
        "plugin `{plugin}` ({path}) has ABI {actual}{}, this divvy has ABI {expected}",
        sdk(.sdk_version),
        path = .path.display()
    )]
    AbiMismatch {
        /// Name of the plugin.
        plugin: String,
        /// Path of the file.
        path: PathBuf,
        /// The host's ABI version.
        expected: AbiVersion,
        /// The plugin's ABI version.
        actual: AbiVersion,
        /// Version of the SDK that the plugin was built with; empty without one, as in C.
        sdk_version: String,
    },
    /// A list that the plugin declares cannot be read, which means that the plugin was not built with the SDK.
    #[error("plugin `{plugin}` ({path}) declares a list that cannot be read: {message}", path = .path.display())]
    InvalidRuleList {
        /// Name of the plugin.
        plugin: String,
        /// Path of the file.
        path: PathBuf,
        /// The parser's message.
        message: String,
    },
    /// A table that the plugin declares cannot be read, which means that the plugin was not built with the SDK.
    #[error("plugin `{plugin}` ({path}) declares a table that cannot be read: {message}", path = .path.display())]
    InvalidTable {
        /// Name of the plugin.
        plugin: String,
        /// Path of the file.
        path: PathBuf,
        /// The parser's message.
        message: String,
    },
    /// The plugin hands over more documents of a kind, or a longer one, than a host accepts.
    #[error(
        "plugin `{plugin}` ({path}) hands over too much: {documents}: expected at most {expected}, found {actual}",
        path = .path.display()
    )]
    TooMuchHandedOver {
        /// Name of the plugin.
        plugin: String,
        /// Path of the file.
        path: PathBuf,
        /// Kind of the documents.
        documents: &'static str,
        /// The limit, with its unit.
        expected: String,
        /// Number that exceeds it.
        actual: u64,
    },
    /// The file's checksum is not the one in the profile.
    #[error(
        "plugin file `{path}` has checksum sha256:{actual}, the profile names sha256:{expected}",
        path = .path.display()
    )]
    ChecksumMismatch {
        /// Path of the file.
        path: PathBuf,
        /// SHA-256 checksum in the profile, in hexadecimal.
        expected: String,
        /// SHA-256 checksum of the file, in hexadecimal.
        actual: String,
    },
    /// The dynamic linker cannot open the library.
    #[error("`{path}` cannot be opened: {message}", path = .path.display())]
    OpenFailed {
        /// Path of the file.
        path: PathBuf,
        /// Message of the dynamic linker.
        message: String,
    },
    /// The library needs another one that lies beside it.
    #[error("`{path}` needs `{library}` from its own folder, by `$ORIGIN`", path = .path.display())]
    LibraryBeside {
        /// Path of the file.
        path: PathBuf,
        /// Name of the other library.
        library: String,
    },
    /// The library was built for another C library.
    #[error("`{path}` is built for {actual}, and this divvy for glibc", path = .path.display())]
    OtherCLibrary {
        /// Path of the file.
        path: PathBuf,
        /// That C library.
        actual: &'static str,
    },
    /// The library needs others that this machine does not have.
    #[error("`{path}` needs {}, which this machine does not have", listed(.libraries), path = .path.display())]
    LibrariesMissing {
        /// Path of the file.
        path: PathBuf,
        /// Names of the libraries.
        libraries: Vec<String>,
    },
    /// The library needs symbols that no library has.
    #[error("`{path}` needs {}, which no library has", listed(.symbols), path = .path.display())]
    SymbolsMissing {
        /// Path of the file.
        path: PathBuf,
        /// Names of the symbols.
        symbols: Vec<String>,
    },
    /// The plugin's types have a different layout from the host's.
    #[error("plugin `{plugin}` ({path}) has another type layout than this divvy: {summary}", path = .path.display())]
    LayoutMismatch {
        /// Name of the plugin.
        plugin: String,
        /// Path of the file.
        path: PathBuf,
        /// The first difference, in one line.
        summary: String,
        /// Full report of the layout check.
        detail: String,
    },
    /// The plugin carries no certificate, so its types cannot be checked, and the profile does not allow that.
    #[error("plugin `{plugin}` ({path}){} carries no certificate", written_in(.language), path = .path.display())]
    Uncertified {
        /// Name of the plugin.
        plugin: String,
        /// Path of the file.
        path: PathBuf,
        /// Programming language of the plugin; empty if unknown.
        language: String,
    },
    /// The plugin's record announces a certificate that cannot be read.
    #[error("the certificate of plugin `{plugin}` ({path}) cannot be read: {message}", path = .path.display())]
    CertificateUnreadable {
        /// Name of the plugin.
        plugin: String,
        /// Path of the file.
        path: PathBuf,
        /// The problem.
        message: String,
    },
    /// The file's name or path belongs to one plugin and its content to another.
    #[error("`{path}` holds plugin `{actual}`, expected `{expected}`", path = .path.display())]
    WrongName {
        /// Path of the file.
        path: PathBuf,
        /// The requested name.
        expected: String,
        /// The plugin's own name.
        actual: String,
    },
    /// The plugin rejected its configuration.
    #[error("configuration of plugin `{plugin}`: {message}")]
    Configuration {
        /// Name of the plugin.
        plugin: String,
        /// The problem, with the path of the key.
        message: String,
        /// Path of the invalid key.
        path: String,
        /// Suggested fix, if one is known.
        hint: Option<String>,
    },
    /// The plugin's constructor returned an error.
    #[error("plugin `{plugin}` could not be constructed: {message}")]
    ConstructorError {
        /// Name of the plugin.
        plugin: String,
        /// Message of the plugin.
        message: String,
    },
    /// The plugin's constructor panicked.
    #[error("plugin `{plugin}` panicked in its constructor: {message}{}", at(.location))]
    ConstructorPanic {
        /// Name of the plugin.
        plugin: String,
        /// Message of the panic.
        message: String,
        /// File and line in the plugin's source; empty if unknown.
        location: String,
    },
}

impl LoadError {
    /// Name of the plugin at fault; `None` for a fault of a file that is found before its plugin is known.
    pub fn plugin(&self) -> Option<&str> {
        match self {
            Self::NeedsNewerHost { plugin, .. }
            | Self::UnknownFeatures { plugin, .. }
            | Self::InvalidDescriptor { plugin, .. }
            | Self::AbiMismatch { plugin, .. }
            | Self::InvalidRuleList { plugin, .. }
            | Self::InvalidTable { plugin, .. }
            | Self::TooMuchHandedOver { plugin, .. }
            | Self::LayoutMismatch { plugin, .. }
            | Self::Uncertified { plugin, .. }
            | Self::CertificateUnreadable { plugin, .. }
            | Self::WrongName { expected: plugin, .. }
            | Self::Configuration { plugin, .. }
            | Self::ConstructorError { plugin, .. }
            | Self::ConstructorPanic { plugin, .. } => Some(plugin),
            Self::FileMissing { .. }
            | Self::FileUnreadable { .. }
            | Self::NotALibrary { .. }
            | Self::WrongArchitecture { .. }
            | Self::NoModule { .. }
            | Self::BuiltBeforeFirstVersion { .. }
            | Self::SeveralPlugins { .. }
            | Self::ChecksumMismatch { .. }
            | Self::LibraryBeside { .. }
            | Self::OtherCLibrary { .. }
            | Self::LibrariesMissing { .. }
            | Self::SymbolsMissing { .. }
            | Self::OpenFailed { .. } => None,
        }
    }

    /// Path of the file at fault; `None` for a fault of a configuration or a constructor.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::FileMissing { path }
            | Self::FileUnreadable { path, .. }
            | Self::NotALibrary { path, .. }
            | Self::WrongArchitecture { path, .. }
            | Self::NoModule { path, .. }
            | Self::BuiltBeforeFirstVersion { path }
            | Self::SeveralPlugins { path, .. }
            | Self::NeedsNewerHost { path, .. }
            | Self::UnknownFeatures { path, .. }
            | Self::InvalidDescriptor { path, .. }
            | Self::AbiMismatch { path, .. }
            | Self::InvalidRuleList { path, .. }
            | Self::InvalidTable { path, .. }
            | Self::TooMuchHandedOver { path, .. }
            | Self::ChecksumMismatch { path, .. }
            | Self::OpenFailed { path, .. }
            | Self::LibraryBeside { path, .. }
            | Self::OtherCLibrary { path, .. }
            | Self::LibrariesMissing { path, .. }
            | Self::SymbolsMissing { path, .. }
            | Self::LayoutMismatch { path, .. }
            | Self::Uncertified { path, .. }
            | Self::CertificateUnreadable { path, .. }
            | Self::WrongName { path, .. } => Some(path),
            Self::Configuration { .. } | Self::ConstructorError { .. } | Self::ConstructorPanic { .. } => None,
        }
    }

    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::FileMissing { path } => Some(
                unbuilt::command_for_file(path)
                    .unwrap_or_else(|| "build the plugin, or correct the path".to_owned()),
            ),
            Self::WrongArchitecture { expected, .. } => Some(format!(
                "use the plugin's build for {expected}, or rebuild it for that target"
            )),
            Self::NoModule { .. } => Some(
                "a plugin's crate ends with `divvy_framework::export_plugin!`; one in another language has a `DIVVY_RECORD` and exports \
                 `divvy_plugin_v1`"
                    .to_owned(),
            ),
            Self::AbiMismatch { expected, .. } => Some(format!(
                "rebuild the plugin with an SDK of ABI {}.x, or use a divvy of its ABI",
                expected.major
            )),
            Self::LayoutMismatch { .. } | Self::CertificateUnreadable { .. } => {
                Some("rebuild the plugin with the released SDK of this ABI version".to_owned())
            }
            Self::BuiltBeforeFirstVersion { .. } => Some("rebuild the plugin with the current SDK".to_owned()),
            Self::NeedsNewerHost { .. } | Self::UnknownFeatures { .. } => {
                Some("use a newer divvy, or an older version of the plugin".to_owned())
            }
            Self::SeveralPlugins { .. } => {
                Some("name one of them in the profile, and give its `path` there".to_owned())
            }
            Self::Uncertified { plugin, .. } => Some(format!(
                "if you trust the file, write `allow-uncertified = true` in `[profile.plugin.{plugin}]`, or pass `--allow-uncertified` beside \
                 its path; a Rust plugin is certified if it is built with the feature `certificate`"
            )),
            Self::ChecksumMismatch { actual, .. } => Some(format!(
                "if the file is the one you mean, write `sha256 = \"{actual}\"` in the profile"
            )),
            Self::Configuration { hint, .. } => hint.clone(),
            Self::OpenFailed { message, .. } => opening_hint(message).map(str::to_owned),
            Self::LibraryBeside { .. } => Some(
                "a library may be opened from a copy in memory, which has no folder: link the other one into the plugin, or link with the \
                 absolute path of its folder (`-Wl,-rpath,/FOLDER`), which the plugin's `read` in the profile then lists"
                    .to_owned(),
            ),
            Self::OtherCLibrary { .. } => Some("build it for glibc, such as for the target x86_64-unknown-linux-gnu".to_owned()),
            Self::LibrariesMissing { .. } => Some(LIBRARY_HINT.to_owned()),
            Self::SymbolsMissing { .. } => Some(SYMBOL_HINT.to_owned()),
            _ => None,
        }
    }

    /// Details of the cause in several lines, for `--verbose`.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::LayoutMismatch { detail, .. } => Some(detail),
            _ => None,
        }
    }
}

/// Remedy for a library on a file system from which nothing may be executed.
pub(crate) const NO_EXECUTION_HINT: &str = "name the file's `sha256` in the profile, so that it is opened from memory, or mount its folder with the permission to execute";

const LIBRARY_HINT: &str = "install it where the dynamic linker looks for libraries, or link it into the plugin";

const SYMBOL_HINT: &str = "link the library that has it (`-l…`); `-Wl,-z,defs` has the linker report what is missing when the plugin is built";

/// The remedy for what the dynamic linker says.
fn opening_hint(message: &str) -> Option<&'static str> {
    let hints = [
        ("undefined symbol", SYMBOL_HINT),
        ("cannot open shared object file", LIBRARY_HINT),
        (
            "static TLS",
            "the space for thread-local variables of libraries that are opened later is small: build the plugin without \
             `-ftls-model=initial-exec`, or with smaller variables",
        ),
        ("failed to map segment", NO_EXECUTION_HINT),
    ];
    let found = hints.into_iter().find(|(part, _)| message.contains(part));
    found.map(|(_, hint)| hint)
}

/// Names in a message: the first ones, and the number of the others.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        others => format!("{} and {others} more", shown.join(", ")),
    }
}

fn written_in(language: &str) -> String {
    if language.is_empty() {
        String::new()
    } else {
        format!(", written in {language},")
    }
}

fn sdk(version: &str) -> String {
    match version {
        "" => String::new(),
        version => format!(" (SDK {version})"),
    }
}

fn at(location: &str) -> String {
    if location.is_empty() {
        String::new()
    } else {
        format!(" (at {location})")
    }
}
