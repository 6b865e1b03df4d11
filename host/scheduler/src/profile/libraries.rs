//! The libraries of a profile's plugins: where each is found, in which process it runs, and how it is opened there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use divvy_isolation::{
    IsolatedLibrary, IsolationError, LibraryRequest, MissingFacility, Worker, WorkerLibrary, WorkerOptions,
};
use divvy_loader::artifact::{ArtifactError, BLOBS_FOLDER, ContentDigest, find_artifact};
use divvy_loader::{LoadError, LoadOptions, PluginDirectories, PluginFile, PluginLibrary};
use divvy_profile::{Isolation, PinnedArtifact, PluginTable, ProfileConfiguration, is_bundled};

use super::error::RegistryError;
use crate::plugin::{ConstructError, PluginInstance};

/// Bytes of memory that a worker may have for each of its libraries.
const MEMORY: u64 = 1 << 30;

/// A plugin's file, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Path of the file.
    pub path: PathBuf,
    /// True if the profile or the command line names the file, and not only the plugin.
    pub is_given: bool,
    /// SHA-256 checksum that the file must have, in hexadecimal, if the profile names the artifact that it belongs to.
    pub checksum: Option<String>,
}

impl Located {
    /// A file that was found by the name of its plugin.
    pub fn found(path: PathBuf) -> Self {
        Self {
            path,
            is_given: false,
            checksum: None,
        }
    }

    /// A file that the profile or the command line names.
    pub fn given(path: PathBuf) -> Self {
        Self {
            is_given: true,
            ..Self::found(path)
        }
    }
}

/// Opens the libraries of a profile, each in the process in which its plugins run.
#[derive(Debug)]
pub struct Libraries<'a> {
    configuration: &'a ProfileConfiguration,
    directories: PluginDirectories,
    /// The workers, by the libraries that each may open and what each may read.
    workers: BTreeMap<(BTreeSet<WorkerLibrary>, Vec<PathBuf>), Arc<Worker>>,
}

impl<'a> Libraries<'a> {
    /// The libraries of a profile, in these directories and its own.
    pub fn new(configuration: &'a ProfileConfiguration, directories: &PluginDirectories) -> Self {
        Self {
            configuration,
            directories: directories
                .clone()
                .followed_by(configuration.plugin_directories.iter().cloned()),
            workers: BTreeMap::new(),
        }
    }

    /// The directories, in the order in which they are searched.
    pub fn directories(&self) -> &PluginDirectories {
        &self.directories
    }

    /// The file of a plugin: the one that the profile gives, or the first in the directories; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Artifact`] if the profile names an artifact that is not in the directories, or that is not what its digest names.
    pub fn locate(&self, name: &str) -> Result<Option<Located>, RegistryError> {
        let table = self.table(name);
        if let Some(artifact) = table.and_then(|table| table.artifact.as_ref()) {
            return self.locate_artifact(name, artifact).map(Some);
        }
        let given = table.and_then(|table| table.path.clone());
        // A name with a slash is a path, and does not have to match the plugin's own name.
        let given = given.or_else(|| name.contains('/').then(|| PathBuf::from(name)));
        Ok(match given {
            Some(path) => Some(Located::given(path)),
            None => self.directories.find(name).map(Located::found),
        })
    }

    /// The files in which [`Self::locate`] looks for the artifact that the profile names for a plugin; none if it names none.
    pub fn artifact_candidates(&self, name: &str) -> Vec<PathBuf> {
        let artifact = self.table(name).and_then(|table| table.artifact.as_ref());
        let folders = self.directories.iter();
        let file = |artifact: &PinnedArtifact| {
            folders
                .map(|folder| folder.join(BLOBS_FOLDER).join(artifact.digest()))
                .collect()
        };
        artifact.map_or_else(Vec::new, file)
    }

    fn locate_artifact(&self, name: &str, artifact: &PinnedArtifact) -> Result<Located, RegistryError> {
        let failed = |error| RegistryError::Artifact {
            plugin: name.to_owned(),
            reference: artifact.to_string(),
            error: Box::new(error),
        };
        let digest = ContentDigest::of_hexadecimal(artifact.digest()).map_err(|error| {
            failed(ArtifactError::InvalidDocument {
                what: artifact.to_string(),
                message: error.to_string(),
            })
        })?;
        let stored = find_artifact(self.directories.iter(), &digest).map_err(failed)?;
        Ok(Located {
            checksum: Some(stored.checksum),
            ..Located::given(stored.path)
        })
    }

    /// The process in which a plugin runs: that of the profile, otherwise the scheduler's own for a plugin that a built-in profile lists
    /// and whose file is part of this installation of Divvy, and a worker for any other.
    ///
    /// A program that names no worker, with [`divvy_isolation::set_program`], has all plugins in its own process.
    pub fn isolation(&self, name: &str, located: &Located) -> Isolation {
        if let Some(isolation) = self.table(name).and_then(|table| table.isolation) {
            return isolation;
        }
        let is_own = || !located.is_given && is_bundled(name) && self.directories.holds_as_own(&located.path);
        match divvy_isolation::has_program() && !is_own() {
            true => Isolation::Process,
            false => Isolation::None,
        }
    }

    /// Opens a plugin's library under the conditions of its table in the profile.
    ///
    /// # Errors
    ///
    /// A [`RegistryError`] if the file is refused, if its worker cannot be started, ends or hangs, or if the table has keys for another
    /// process than the plugin's.
    pub fn open(&mut self, name: &str, located: &Located) -> Result<OpenLibrary, RegistryError> {
        self.open_file(name, located, PluginFile::read(&located.path)?)
    }

    /// As [`Self::open`], for a file that was read.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn open_file(&mut self, name: &str, located: &Located, file: PluginFile) -> Result<OpenLibrary, RegistryError> {
        let table = self.table(name);
        let own = table.and_then(|table| table.sha256.as_deref());
        // The profile may name both, and each must hold.
        if let (Some(pinned), Some(expected)) = (&located.checksum, own)
            && !pinned.eq_ignore_ascii_case(expected)
        {
            return Err(RegistryError::Load(LoadError::ChecksumMismatch {
                path: located.path.clone(),
                expected: expected.to_owned(),
                actual: pinned.clone(),
            }));
        }
        let options = LoadOptions {
            may_change: self.directories.may_change(),
            name: (!name.contains('/')).then_some(name),
            checksum: located.checksum.as_deref().or(own),
            allow_uncertified: table.is_some_and(|table| table.allow_uncertified),
        };
        let opened = self.open_with(name, located, file, options);
        // The profile names the artifact, and not the checksum of this file.
        let artifact = table.and_then(|table| table.artifact.as_ref());
        opened.map_err(|error| match (error, artifact) {
            (RegistryError::Load(LoadError::ChecksumMismatch { path, expected, actual }), Some(artifact)) => {
                not_as_pinned(name, artifact, &path, &expected, &actual)
            }
            (error, _) => error,
        })
    }

    fn open_with(
        &mut self,
        name: &str,
        located: &Located,
        file: PluginFile,
        options: LoadOptions<'_>,
    ) -> Result<OpenLibrary, RegistryError> {
        let table = self.table(name);
        match self.isolation(name, located) {
            Isolation::None => {
                if let Some(key) = table.and_then(key_for_workers) {
                    return Err(RegistryError::NotIsolated {
                        plugin: name.to_owned(),
                        key,
                    });
                }
                Ok(OpenLibrary::InProcess(file.open(options)?))
            }
            Isolation::Process => self.open_in_worker(name, file, options),
        }
    }

    fn table(&self, name: &str) -> Option<&'a PluginTable> {
        self.configuration.plugin.get(name)
    }

    /// Checks everything that the file says, and has a worker open it.
    fn open_in_worker(
        &mut self,
        name: &str,
        file: PluginFile,
        options: LoadOptions<'_>,
    ) -> Result<OpenLibrary, RegistryError> {
        let record = file.check(options)?;
        let failed = |error: IsolationError| RegistryError::Isolation {
            plugin: record.name(),
            path: file.path().to_owned(),
            error,
        };
        let is_copied = options.checksum.is_some() || options.may_change;
        let own = WorkerLibrary {
            path: file.path().to_owned(),
            is_copied,
        };
        let worker = self.worker(name, own).map_err(failed)?;
        let request = LibraryRequest {
            path: file.path().to_owned(),
            name: Some(record.name()),
            checksum: file.checksum().to_owned(),
            is_copied,
            allow_uncertified: options.allow_uncertified,
        };
        let description = worker.open(&request).map_err(failed)?;
        let deadline = self.table(name).and_then(|table| table.deadline);
        Ok(OpenLibrary::Isolated {
            library: file.opened_elsewhere(options, description)?,
            isolated: IsolatedLibrary {
                request,
                worker,
                deadline: deadline.map(|deadline| deadline.duration()),
            },
        })
    }

    /// The worker of a plugin, whose library is `own`.
    fn worker(&mut self, name: &str, own: WorkerLibrary) -> Result<Arc<Worker>, IsolationError> {
        let mut libraries = BTreeSet::from([own]);
        let table = self.table(name);
        let mut read: Vec<PathBuf> = table.map_or_else(Vec::new, |table| table.read.clone());
        if let Some(shared) = table.and_then(|table| table.worker.as_deref()) {
            // A worker confines itself before it opens anything, so it must know everything that is to be opened in it.
            for other in self.sharing(shared) {
                // One that is not found has an error of its own.
                let Ok(Some(located)) = self.locate(other) else {
                    continue;
                };
                if self.isolation(other, &located) == Isolation::None {
                    continue;
                }
                let Ok(path) = std::path::absolute(&located.path) else {
                    continue;
                };
                let table = self.table(other);
                let has_checksum = located.checksum.is_some() || table.is_some_and(|table| table.sha256.is_some());
                libraries.insert(WorkerLibrary {
                    path,
                    is_copied: has_checksum || self.directories.may_change(),
                });
                read.extend(table.into_iter().flat_map(|table| table.read.iter().cloned()));
            }
        }
        read.sort();
        read.dedup();
        let key = (libraries, read);
        if let Some(known) = self.workers.get(&key) {
            return Ok(Arc::clone(known));
        }
        let (libraries, read) = &key;
        let worker = Worker::new(WorkerOptions {
            libraries: libraries.iter().cloned().collect(),
            read: read.clone(),
            memory: MEMORY.saturating_mul(libraries.len() as u64),
        })?;
        self.workers.insert(key, Arc::clone(&worker));
        Ok(worker)
    }

    /// The plugins of the profile that name this worker.
    fn sharing(&self, worker: &str) -> BTreeSet<&'a str> {
        let names = self.configuration.plugin_names();
        names
            .filter(|name| self.table(name).and_then(|table| table.worker.as_deref()) == Some(worker))
            .collect()
    }
}

/// The error for a library of an artifact that was changed since the artifact was pulled.
fn not_as_pinned(name: &str, artifact: &PinnedArtifact, path: &Path, expected: &str, actual: &str) -> RegistryError {
    let what = format!("the library `{}`", path.display());
    let digest = |digits: &str| ContentDigest::of_hexadecimal(digits);
    let error = match (digest(expected), digest(actual)) {
        (Ok(expected), Ok(actual)) => ArtifactError::WrongDigest { what, expected, actual },
        (Err(error), _) | (_, Err(error)) => ArtifactError::InvalidDocument {
            what,
            message: error.to_string(),
        },
    };
    RegistryError::Artifact {
        plugin: name.to_owned(),
        reference: artifact.to_string(),
        error: Box::new(error),
    }
}

/// A key of a plugin's table that counts for workers only.
fn key_for_workers(table: &PluginTable) -> Option<&'static str> {
    [
        ("deadline", table.deadline.is_some()),
        ("read", !table.read.is_empty()),
        ("worker", table.worker.is_some()),
    ]
    .into_iter()
    .find_map(|(key, is_set)| is_set.then_some(key))
}

/// An open library, with a plugin that is not constructed yet.
#[derive(Debug)]
pub enum OpenLibrary {
    /// In this process.
    InProcess(PluginLibrary),
    /// In a worker.
    Isolated {
        /// What the plugin says about itself.
        library: PluginLibrary,
        /// The worker, and what it opened.
        isolated: IsolatedLibrary,
    },
}

impl OpenLibrary {
    /// The library, with its metadata.
    pub fn library(&self) -> &PluginLibrary {
        match self {
            Self::InProcess(library) | Self::Isolated { library, .. } => library,
        }
    }

    /// Facilities that this system lacks, so that the library's worker is confined less than it could be; empty in this process.
    pub fn missing_facilities(&self) -> Vec<MissingFacility> {
        match self {
            Self::InProcess(_) => Vec::new(),
            Self::Isolated { isolated, .. } => isolated.worker.missing(),
        }
    }

    /// Constructs the plugin, in the process that has opened the library.
    ///
    /// # Errors
    ///
    /// A [`RegistryError`] if the plugin refuses its configuration or fails, or if its worker ends or hangs.
    pub fn construct(self, configuration: &serde_json::Value) -> Result<PluginInstance, RegistryError> {
        match self {
            Self::InProcess(library) => Ok(PluginInstance::construct(&library, configuration)?),
            Self::Isolated { library, isolated } => {
                let constructed = PluginInstance::construct_isolated(&library, isolated, configuration);
                constructed.map_err(|error| match error {
                    ConstructError::Load(error) => error.into(),
                    ConstructError::Isolation(error) => RegistryError::Isolation {
                        plugin: library.name().to_owned(),
                        path: library.path().to_owned(),
                        error,
                    },
                })
            }
        }
    }
}

impl From<OpenLibrary> for PluginLibrary {
    fn from(open: OpenLibrary) -> Self {
        match open {
            OpenLibrary::InProcess(library) | OpenLibrary::Isolated { library, .. } => library,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_for_workers_are_found() {
        assert_eq!(key_for_workers(&PluginTable::default()), None);
        let table = PluginTable {
            worker: Some("shared".to_owned()),
            ..PluginTable::default()
        };
        assert_eq!(key_for_workers(&table), Some("worker"));
    }
}
