//! One new plugin: its template, its name, and its SDK.

use std::fs;
use std::path::{Path, PathBuf};

use crate::archive::{Files, unpack};
use crate::error::ScaffoldError;
use crate::name::PluginName;

/// The extension point at which a plugin is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionPoint {
    /// Excludes clusters.
    Filter,
    /// Rates clusters.
    Score,
    /// Picks the candidates.
    Select,
    /// Divides the replicas.
    Assign,
    /// Says the next step of a move.
    Pace,
}

/// The language of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Rust, with the SDK.
    Rust,
    /// C99, with the header alone.
    C,
}

/// The SDK with which a plugin in Rust is built. One in C has a copy of the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sdk {
    /// The sources that the binary carries, unpacked under `vendor/`.
    Carried,
    /// A checkout of Divvy.
    Checkout(PathBuf),
    /// A version in the registry.
    Version(String),
}

/// A new plugin.
#[derive(Debug, Clone)]
pub struct Scaffold {
    /// Name of the plugin.
    pub name: PluginName,
    /// The point that it serves.
    pub point: ExtensionPoint,
    /// The language that it is written in.
    pub language: Language,
    /// The SDK that it is built with.
    pub sdk: Sdk,
}

/// The dependency on the SDK in the template's manifest.
const CARRIED: &str = "path = \"vendor/divvy-framework\"";

impl ExtensionPoint {
    fn word(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Score => "score",
            Self::Select => "select",
            Self::Assign => "assign",
            Self::Pace => "pace",
        }
    }
}

impl Language {
    fn word(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::C => "c",
        }
    }
}

impl Scaffold {
    /// Writes the plugin into a new folder. Either everything is written or nothing: the files are written beside the folder,
    /// which then gets its name.
    ///
    /// # Errors
    ///
    /// A [`ScaffoldError`] if the folder exists or cannot be written, or if the SDK is not at its path.
    pub fn write(&self, folder: &Path) -> Result<(), ScaffoldError> {
        if folder.symlink_metadata().is_ok() {
            let folder = folder.to_owned();
            return Err(ScaffoldError::Exists { folder });
        }
        let files = self.files()?;
        let failed = |path: &Path, source| {
            let path = path.to_owned();
            ScaffoldError::Write { path, source }
        };
        let absolute = std::path::absolute(folder).map_err(|source| failed(folder, source))?;
        let parent = absolute.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
        let beside = tempfile::Builder::new().prefix(".divvy-new-").tempdir_in(parent);
        let beside = beside.map_err(|source| failed(parent, source))?;
        // Only its owner can read the temporary folder, but the folder in it has the usual permissions.
        let draft = beside.path().join("plugin");
        for (path, text) in &files {
            let path = draft.join(path);
            let made = path.parent().map_or(Ok(()), fs::create_dir_all);
            made.and_then(|()| fs::write(&path, text))
                .map_err(|source| failed(&path, source))?;
        }
        fs::rename(&draft, &absolute).map_err(|source| failed(folder, source))
    }

    /// The files of the plugin by path.
    ///
    /// # Errors
    ///
    /// Those of [`Self::write`], except for those of writing.
    pub fn files(&self) -> Result<Files, ScaffoldError> {
        let packed = unpack()?;
        let language = self.language.word();
        let templates = [
            "common".to_owned(),
            language.to_owned(),
            format!("{language}-{}", self.point.word()),
        ];
        let mut files = Files::new();
        for template in templates {
            let prefix = format!("templates/{template}/");
            let found = packed
                .iter()
                .filter_map(|(path, text)| Some((path.strip_prefix(&prefix)?, text)));
            files.extend(found.map(|(path, text)| (self.named(path), self.named(text))));
        }
        let sdk = match self.language {
            Language::Rust => &self.sdk,
            Language::C => {
                let header = packed.get("sdk/divvy-framework-abi/include/divvy_plugin.h").cloned();
                files.extend(header.map(|header| ("include/divvy_plugin.h".to_owned(), header)));
                return Ok(files);
            }
        };
        match sdk {
            Sdk::Carried => {
                let sources = packed
                    .iter()
                    .filter_map(|(path, text)| Some((path.strip_prefix("sdk/")?, text)));
                files.extend(sources.map(|(path, text)| (format!("vendor/{path}"), text.clone())));
            }
            Sdk::Checkout(path) => {
                depend(&mut files, &format!("path = {:?}", framework(path)?));
            }
            Sdk::Version(version) => {
                depend(&mut files, &format!("version = {version:?}"));
                // The lock file has the SDK's crates as parts of the plugin's folder.
                files.remove("Cargo.lock");
            }
        }
        Ok(files)
    }

    /// A text of the template with the plugin's name.
    fn named(&self, text: &str) -> String {
        text.replace("plugin-name", self.name.as_str())
            .replace("plugin_name", &self.name.snake_case())
            .replace("PluginName", &self.name.type_name())
    }
}

/// Changes the dependency on the SDK.
fn depend(files: &mut Files, on: &str) {
    if let Some(manifest) = files.get_mut("Cargo.toml") {
        *manifest = manifest.replace(CARRIED, on);
    }
}

/// The folder of the SDK in a checkout, as a manifest names it.
fn framework(checkout: &Path) -> Result<String, ScaffoldError> {
    let checkout = checkout.canonicalize().unwrap_or_else(|_| checkout.to_owned());
    let candidates = [checkout.join("framework"), checkout.clone()];
    let found = candidates.into_iter().find(|folder| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml"));
        manifest.is_ok_and(|manifest| manifest.contains("name = \"divvy-framework\"\n"))
    });
    let Some(found) = found else {
        return Err(ScaffoldError::NotACheckout { path: checkout });
    };
    match found.to_str() {
        Some(path) => Ok(path.to_owned()),
        None => Err(ScaffoldError::PathNotUtf8 { path: found }),
    }
}
