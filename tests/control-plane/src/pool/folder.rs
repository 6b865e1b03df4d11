//! Temporary folders that are removed even if this process ends without dropping them, as a test process ends.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::Error;
use crate::process::{Input, Process};

/// Waits for the end of its standard input, and removes the folder. Processes that have just been killed may still write to it.
const REMOVE: &str = "cat; for _ in 1 2 3 4 5 6 7 8 9; do rm -rf \"$1\" && exit; sleep 0.3; done";

/// A temporary folder.
#[derive(Debug)]
pub(super) struct Folder {
    folder: TempDir,
    /// Removes the folder when the pipe to it closes. Killed if the folder was removed before.
    _remover: Process,
}

impl Folder {
    pub(super) fn new() -> Result<Self, Error> {
        let folder = tempfile::tempdir().map_err(Error::file("a temporary folder"))?;
        let mut command = Command::new("sh");
        command.args(["-c", REMOVE, "remover"]).arg(folder.path());
        let remover = Process::spawn("sh", &mut command, &folder.path().join("remover.log"), Input::Lifeline)?;
        Ok(Self {
            folder,
            _remover: remover,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}
