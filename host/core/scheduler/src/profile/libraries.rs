//! The libraries of a profile's plugins: where each is found, in which process it runs, and how it is opened there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use divvy_isolation::{
    IsolatedLibrary, IsolationError, LibraryRequest, MissingFacility, Worker, WorkerLibrary, WorkerOptions,
};
use divvy_loader::{LoadOptions, PluginDirectories, PluginFile, PluginLibrary};
use divvy_profile::{Isolation, PluginTable, ProfileConfiguration, is_bundled};
use divvy_spanned::names;

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
    pub fn locate(&self, name: &str) -> Option<Located> {
        let given = self.table(name).and_then(|table| table.path.clone());
        // A name with a slash is a path, and does not have to match the plugin's own name.
        let given = given.or_else(|| name.contains('/').then(|| PathBuf::from(name)));
        match given {
            Some(path) => Some(Located { path, is_given: true }),
            None => self
                .directories
                .find(name)
                .map(|path| Located { path, is_given: false }),
        }
    }

    /// The errors about those of these plugins that are in none of the directories; a single one if the directories hold no plugin at all. For
    /// who can read no folder later.
    pub fn missing<'name>(&self, names: impl IntoIterator<Item = &'name str>) -> Vec<RegistryError> {
        let missing = names.into_iter().filter(|name| self.locate(name).is_none());
        let errors: Vec<RegistryError> = missing.map(|name| self.not_found(name)).collect();
        match errors.len() > 1 && self.directories.list().is_empty() {
            true => vec![RegistryError::NothingFound {
                searched: self.directories.iter().map(ToOwned::to_owned).collect(),
            }],
            false => errors,
        }
    }

    /// The error about a plugin that is in none of the directories.
    pub fn not_found(&self, name: &str) -> RegistryError {
        let present = self.directories.list();
        RegistryError::NotFound {
            plugin: name.to_owned(),
            searched: self.directories.iter().map(ToOwned::to_owned).collect(),
            nearest: names::nearest(name, present.keys().map(String::as_str)).map(ToOwned::to_owned),
        }
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
        let options = LoadOptions {
            may_change: self.directories.may_change(),
            name: (!name.contains('/')).then_some(name),
            checksum: table.and_then(|table| table.sha256.as_deref()),
            allow_uncertified: table.is_some_and(|table| table.allow_uncertified),
        };
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
                let Some(located) = self.locate(other) else { continue };
                if self.isolation(other, &located) == Isolation::None {
                    continue;
                }
                let Ok(path) = std::path::absolute(&located.path) else {
                    continue;
                };
                let table = self.table(other);
                let has_checksum = table.is_some_and(|table| table.sha256.is_some());
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
