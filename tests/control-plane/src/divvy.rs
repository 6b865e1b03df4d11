//! The real `divvy` binary, running as a scheduler.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use divvy_built::{Bundled, repository};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::Error;
use crate::process::{Input, Process};

/// Settings with which `divvy run` is started.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// The kubeconfig, which also names the user.
    pub kubeconfig: PathBuf,
    /// The profile: the name of a built-in one, or a file, relative to the repository.
    pub profile: PathBuf,
    /// The folder with the bundled plugins; `None` for the one that they are built in.
    pub plugins: Option<PathBuf>,
    /// Further arguments.
    pub further: Vec<String>,
}

impl Configuration {
    /// A scheduler that decides as Karmada's does.
    pub fn new(kubeconfig: &Path) -> Self {
        Self {
            kubeconfig: kubeconfig.to_owned(),
            profile: "karmada".into(),
            plugins: None,
            further: Vec::new(),
        }
    }

    /// The same, with capacity held for results until clusters report it.
    #[must_use]
    pub fn holding(self) -> Self {
        Self {
            profile: "tests/control-plane/holding.toml#holding".into(),
            ..self
        }
    }

    /// The same, where clusters report late or never.
    #[must_use]
    pub fn with_rare_reports(mut self) -> Self {
        let limits = ["--cluster-report-period=10m", "--holding-limit=10m"];
        self.further.extend(limits.map(str::to_owned));
        self
    }
}

/// A running scheduler. Dropping it kills the process.
#[derive(Debug)]
pub struct Divvy {
    /// The process.
    pub process: Process,
    /// The address of probes and metrics.
    pub address: String,
}

impl Divvy {
    /// A command of the binary, in the repository's folder. Built once per test run.
    pub fn command() -> Result<Command, Error> {
        let mut command = Command::new(binary()?);
        command.current_dir(repository());
        Ok(command)
    }

    /// Starts `divvy run`. Its output is appended to `divvy.log` in the folder. Returns before it is ready.
    pub fn start(folder: &Path, configuration: &Configuration) -> Result<Self, Error> {
        let folder_of_plugins = match &configuration.plugins {
            Some(folder) => folder,
            None => plugins()?,
        };
        let address = format!("127.0.0.1:{}", crate::ports::free()?);
        let mut command = Self::command()?;
        command
            .arg("run")
            .arg("--profile")
            .arg(&configuration.profile)
            .arg("--plugin-directory")
            .arg(folder_of_plugins)
            .arg("--kubeconfig")
            .arg(&configuration.kubeconfig)
            .arg(format!("--listen={address}"))
            .args(&configuration.further);
        // SAFETY: between fork and exec only this one system call is made, which allocates nothing and takes no lock.
        unsafe {
            // The scheduler has no lifeline, so the kernel ends it when the thread that runs the test is gone.
            command.pre_exec(|| set_parent_process_death_signal(Some(Signal::KILL)).map_err(Into::into));
        }
        let process = Process::spawn("divvy", &mut command, &folder.join("divvy.log"), Input::Empty)?;
        Ok(Self { process, address })
    }
}

/// The binary.
pub fn binary() -> Result<&'static Path, Error> {
    bundled().map(|bundled| bundled.binary.as_path())
}

/// A program that is installed, such as `divvy-scheduler`.
pub fn program(name: &str) -> Result<&'static Path, Error> {
    let binary = bundled()?.artifacts.binary(name);
    binary.map_err(|output| Error::Build { output })
}

/// The folder that the bundled plugins are built in. It has other files, too.
pub fn plugins() -> Result<&'static Path, Error> {
    bundled().map(|bundled| bundled.plugins.as_path())
}

fn bundled() -> Result<&'static Bundled, Error> {
    divvy_built::bundled().map_err(|output| Error::Build {
        output: output.to_owned(),
    })
}

/// The library of a crate in `tests/fixtures/plugins`.
pub fn fixture_plugin(name: &str) -> Result<PathBuf, Error> {
    let library = divvy_built::fixture(name).map_err(|output| Error::Build { output })?;
    Ok(library.to_owned())
}
