//! What can go wrong with a plugin: one variant a cause.

use std::path::PathBuf;

use divvy_framework::abi::AbiVersion;

/// Why a plugin could not be loaded or constructed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no file.
    #[error("plugin file `{path}` does not exist", path = .path.display())]
    FileMissing {
        /// The path.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("plugin file `{path}` cannot be read", path = .path.display())]
    FileUnreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("`{path}` is not a shared library: {actual}", path = .path.display())]
    NotALibrary {
        /// The path.
        path: PathBuf,
        /// What it is instead.
        actual: String,
    },
    /// A shared library that is no plugin.
    #[error("`{path}` is a shared library but not a divvy plugin: {missing}", path = .path.display())]
    NoModule {
        /// The path.
        path: PathBuf,
        /// What a plugin would have.
        missing: &'static str,
    },
    /// A plugin of another ABI.
    #[error(
        "plugin `{plugin}` ({path}) has ABI {actual} (SDK {sdk_version}), this divvy has ABI {expected}",
        path = .path.display()
    )]
    AbiMismatch {
        /// The plugin.
        plugin: String,
        /// The path.
        path: PathBuf,
        /// The host's ABI version.
        expected: AbiVersion,
        /// The plugin's ABI version.
        actual: AbiVersion,
        /// The SDK that the plugin was built with.
        sdk_version: String,
    },
    /// A list that the plugin declares cannot be read: it was not built with the SDK.
    #[error("plugin `{plugin}` ({path}) declares a list that cannot be read: {message}", path = .path.display())]
    InvalidRuleList {
        /// The plugin.
        plugin: String,
        /// The path.
        path: PathBuf,
        /// The parser's message.
        message: String,
    },
    /// The bytes are not those that the profile names.
    #[error(
        "plugin file `{path}` has checksum sha256:{actual}, the profile names sha256:{expected}",
        path = .path.display()
    )]
    ChecksumMismatch {
        /// The path.
        path: PathBuf,
        /// The profile's checksum, in hexadecimal.
        expected: String,
        /// The file's checksum, in hexadecimal.
        actual: String,
    },
    /// The system refuses to open it.
    #[error("`{path}` cannot be opened: {message}", path = .path.display())]
    OpenFailed {
        /// The path.
        path: PathBuf,
        /// What the dynamic linker says.
        message: String,
    },
    /// Its types are laid out otherwise.
    #[error("plugin `{plugin}` ({path}) has another type layout than this divvy: {summary}", path = .path.display())]
    LayoutMismatch {
        /// The plugin.
        plugin: String,
        /// The path.
        path: PathBuf,
        /// The telling line.
        summary: String,
        /// Everything that the layout check found.
        detail: String,
    },
    /// It hides its type layout, so that nothing can be checked.
    #[error("plugin `{plugin}` ({path}) carries no type layout to check", path = .path.display())]
    LayoutUnknown {
        /// The plugin.
        plugin: String,
        /// The path.
        path: PathBuf,
    },
    /// Its root module could not be made.
    #[error("plugin `{plugin}` ({path}) failed to give its module: {message}", path = .path.display())]
    ModuleFailed {
        /// The plugin.
        plugin: String,
        /// The path.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// The file is one plugin's, its content another's.
    #[error("`{path}` holds plugin `{actual}`, expected `{expected}`", path = .path.display())]
    WrongName {
        /// The path.
        path: PathBuf,
        /// The name asked for.
        expected: String,
        /// The plugin's own name.
        actual: String,
    },
    /// Its configuration does not fit.
    #[error("configuration of plugin `{plugin}`: {message}")]
    Configuration {
        /// The plugin.
        plugin: String,
        /// What does not fit, with its path.
        message: String,
        /// The path of the offending key.
        path: String,
        /// What would help.
        hint: Option<String>,
    },
    /// Its constructor returned an error.
    #[error("plugin `{plugin}` could not be constructed: {message}")]
    ConstructorError {
        /// The plugin.
        plugin: String,
        /// What it says.
        message: String,
    },
    /// Its constructor panicked.
    #[error("plugin `{plugin}` panicked in its constructor: {message}{}", at(.place))]
    ConstructorPanic {
        /// The plugin.
        plugin: String,
        /// The panic's message.
        message: String,
        /// File and line in the plugin's source; empty if unknown.
        place: String,
    },
}

impl LoadError {
    /// What would help, if it is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::FileMissing { .. } => Some("build it with `cargo build --release`, or correct the path".to_owned()),
            Self::NoModule { .. } => Some("a plugin's crate ends with `divvy_framework::export_plugin!`".to_owned()),
            Self::AbiMismatch { expected, .. } => Some(format!(
                "rebuild the plugin with an SDK of ABI {}.x, or use a divvy of its ABI",
                expected.major
            )),
            Self::LayoutMismatch { .. } | Self::LayoutUnknown { .. } => {
                Some("rebuild the plugin with the released SDK of this ABI version".to_owned())
            }
            Self::ChecksumMismatch { actual, .. } => Some(format!(
                "if the file is the one you mean, write `sha256 = \"{actual}\"` in the profile"
            )),
            Self::Configuration { hint, .. } => hint.clone(),
            _ => None,
        }
    }

    /// More than a line on the cause, for `--verbose`.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::LayoutMismatch { detail, .. } => Some(detail),
            _ => None,
        }
    }
}

fn at(place: &str) -> String {
    if place.is_empty() {
        String::new()
    } else {
        format!(" (at {place})")
    }
}

/// Why a call to a plugin gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The binding cannot be scheduled as things stand; not the plugin's fault.
    #[error("{message}")]
    Unschedulable {
        /// The plugin.
        plugin: String,
        /// Why.
        message: String,
        /// Replicas asked for and replicas that could be placed, if that is the cause.
        figures: Option<(i64, i64)>,
    },
    /// What the policy says makes no sense to the plugin.
    #[error("preferences for plugin `{plugin}`: {message}")]
    Preferences {
        /// The plugin.
        plugin: String,
        /// What does not fit, with its path.
        message: String,
        /// The path of the offending key.
        path: String,
        /// What would help.
        hint: Option<String>,
    },
    /// The plugin says that it is at fault.
    #[error("plugin `{plugin}` failed: {message}")]
    Internal {
        /// The plugin.
        plugin: String,
        /// What it says.
        message: String,
    },
    /// The plugin panicked.
    #[error("plugin `{plugin}` panicked: {message}{}", at(.place))]
    Panic {
        /// The plugin.
        plugin: String,
        /// The panic's message.
        message: String,
        /// File and line in the plugin's source; empty if unknown.
        place: String,
    },
    /// The plugin does not serve what it was called for.
    #[error("plugin `{plugin}` {message}")]
    NotServed {
        /// The plugin.
        plugin: String,
        /// What it does not serve.
        message: String,
    },
    /// The plugin panicked too often in a row and is not called any more.
    #[error("plugin `{plugin}` is quarantined after {panics} panics in a row; the last one: {message}")]
    Quarantined {
        /// The plugin.
        plugin: String,
        /// How many panics.
        panics: u32,
        /// The last panic's message.
        message: String,
    },
}
