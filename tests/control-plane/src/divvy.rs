//! The real `divvy` binary, running as a scheduler.

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use rustix::process::{Signal, set_parent_process_death_signal};
use serde_json::Value;

use crate::process::{Input, Process};
use crate::{Error, source_folder};

/// What `divvy run` is started with.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// The kubeconfig, which also names the user.
    pub kubeconfig: PathBuf,
    /// The profile, relative to the repository.
    pub profile: PathBuf,
    /// Further arguments.
    pub further: Vec<String>,
}

impl Configuration {
    /// A scheduler that decides as Karmada's does.
    pub fn new(kubeconfig: &Path) -> Self {
        Self {
            kubeconfig: kubeconfig.to_owned(),
            profile: "examples/profiles/karmada.toml".into(),
            further: Vec::new(),
        }
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
        let build = build_once()?;
        let mut command = Command::new(&build.binary);
        command.current_dir(repository());
        Ok(command)
    }

    /// The folder with the plugins of the same build.
    pub fn plugins() -> Result<&'static Path, Error> {
        build_once().map(|build| build.plugins.as_path())
    }

    /// Starts `divvy run`. Its output is appended to `divvy.log` in the folder. Returns before it is ready.
    pub fn start(folder: &Path, configuration: &Configuration) -> Result<Self, Error> {
        let address = free_address()?;
        let mut command = Self::command()?;
        command
            .arg("run")
            .arg("--profile")
            .arg(&configuration.profile)
            .arg("--plugin-directory")
            .arg(Self::plugins()?)
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

/// The binary and the plugins, built with the profile of the tests.
struct Build {
    binary: PathBuf,
    plugins: PathBuf,
}

/// Built once per test run. The paths come from Cargo's messages, because a test that guessed them would sooner or later run a
/// stale file.
static BUILD: LazyLock<Result<Build, String>> = LazyLock::new(build);

fn build_once() -> Result<&'static Build, Error> {
    BUILD.as_ref().map_err(|output| Error::Build { output: output.clone() })
}

fn build() -> Result<Build, String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args([
        "build",
        "--message-format=json-render-diagnostics",
        "--package=divvy-cli",
    ]);
    let plugins = std::fs::read_dir(repository().join("plugins")).map_err(|error| error.to_string())?;
    for folder in plugins.flatten() {
        command.arg(format!(
            "--package=divvy-plugin-{}",
            folder.file_name().to_string_lossy()
        ));
    }
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command
        .current_dir(repository())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let (mut binary, mut plugins) = (None, None);
    for line in output.stdout.split(|byte| *byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            continue;
        };
        if message["target"]["name"] == "divvy" {
            binary = binary.or_else(|| message["executable"].as_str().map(PathBuf::from));
        }
        let files = message["filenames"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        for library in files.filter(|file| file.contains("divvy_plugin_") && file.ends_with(".so")) {
            plugins = plugins.or_else(|| Path::new(library).parent().map(Path::to_owned));
        }
    }
    match (binary, plugins) {
        (Some(binary), Some(plugins)) => Ok(Build { binary, plugins }),
        _ => Err("cargo reported no binary `divvy` or no plugin".to_owned()),
    }
}

/// The root of the repository.
fn repository() -> &'static Path {
    source_folder().ancestors().nth(2).unwrap_or_else(source_folder)
}

/// An address of the loopback interface that nothing listens on.
fn free_address() -> Result<String, Error> {
    let address = "127.0.0.1:0";
    let listener = TcpListener::bind(address).map_err(Error::file(address))?;
    let address = listener.local_addr().map_err(Error::file(address))?;
    Ok(address.to_string())
}
