//! Libraries that a profile has opened in processes of their own.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use divvy_isolation::{IsolationError, LibraryRequest, Worker, WorkerOptions};
use divvy_loader::{LoadOptions, PluginFile, PluginLibrary};
use divvy_profile::PluginTable;

use super::error::RegistryError;
use crate::plugin::{ConstructError, PluginInstance};

/// Bytes of memory that a worker may have.
const MEMORY: u64 = 1 << 30;

/// The workers of a profile, by what each may do. A library with several plugins has one, unless the profile grants them
/// different things.
pub(super) type Workers = BTreeMap<(PathBuf, bool, Vec<PathBuf>, u128), Arc<Worker>>;

/// A plugin of a library that a worker has opened.
pub(super) struct IsolatedLibrary {
    pub(super) library: PluginLibrary,
    request: LibraryRequest,
    worker: Arc<Worker>,
}

impl IsolatedLibrary {
    /// Checks everything that the file says, and has a worker open it.
    pub(super) fn open(
        file: PluginFile,
        options: LoadOptions<'_>,
        table: Option<&PluginTable>,
        workers: &mut Workers,
    ) -> Result<Self, RegistryError> {
        let name = file.check(options)?.name();
        let path = file.path().to_owned();
        let failed = |error: IsolationError| RegistryError::Isolation {
            plugin: name.clone(),
            path: path.clone(),
            error,
        };
        let read = table.map_or_else(Vec::new, |table| table.read.clone());
        let deadline = table
            .and_then(|table| table.deadline)
            .map(|deadline| deadline.duration());
        let is_copied = options.checksum.is_some() || options.may_change;
        let time = deadline.map_or(0, |deadline| deadline.as_millis());
        let key = (path.clone(), is_copied, read.clone(), time);
        let worker = match workers.get(&key) {
            Some(known) => Arc::clone(known),
            None => {
                let options = WorkerOptions {
                    library: path.clone(),
                    is_copied,
                    read,
                    memory: MEMORY,
                    deadline,
                };
                let worker = Worker::new(options).map_err(failed)?;
                workers.insert(key, Arc::clone(&worker));
                worker
            }
        };
        let request = LibraryRequest {
            path: path.clone(),
            name: Some(name.clone()),
            checksum: file.checksum(),
            is_copied,
            allow_uncertified: options.allow_uncertified,
        };
        let description = worker.open(&request).map_err(failed)?;
        Ok(Self {
            library: file.opened_elsewhere(options, description)?,
            request,
            worker,
        })
    }

    /// Has the worker construct the plugin.
    pub(super) fn construct(self, configuration: &serde_json::Value) -> Result<PluginInstance, RegistryError> {
        let Self {
            library,
            request,
            worker,
        } = self;
        let constructed = PluginInstance::construct_isolated(&library, request, worker, configuration);
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
