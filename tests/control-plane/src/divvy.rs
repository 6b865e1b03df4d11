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
        let mut command = Command::new(&build()?.binary);
        command.current_dir(repository());
        Ok(command)
    }

    /// Starts `divvy run`. Its output is appended to `divvy.log` in the folder. Returns before it is ready.
    pub fn start(folder: &Path, configuration: &Configuration) -> Result<Self, Error> {
        let build = build()?;
        let address = free_address()?;
        let mut command = Self::command()?;
        command
            .arg("run")
            .arg("--profile")
            .arg(&configuration.profile)
            .arg("--plugin-directory")
            .arg(configuration.plugins.as_ref().unwrap_or(&build.plugins))
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

/// The binary, built with the profile of the tests.
pub fn binary() -> Result<&'static Path, Error> {
    build().map(|build| build.binary.as_path())
}

/// The folder that the bundled plugins are built in. It has other files, too.
pub fn plugins() -> Result<&'static Path, Error> {
    build().map(|build| build.plugins.as_path())
}

fn build() -> Result<&'static Build, Error> {
    BUILD.as_ref().map_err(|output| Error::Build { output: output.clone() })
}

/// The library of a crate in `tests/fixtures/plugins`.
pub fn fixture_plugin(name: &str) -> Result<PathBuf, Error> {
    let package = format!("divvy-fixture-{name}");
    let mut command = cargo();
    command
        .args([
            "build",
            "--message-format=json-render-diagnostics",
            "--package",
            &package,
        ])
        .arg("--manifest-path")
        .arg(repository().join("tests/fixtures/plugins/Cargo.toml"))
        .arg("--target-dir")
        .arg(repository().join("target"));
    let messages = messages(&mut command).map_err(|output| Error::Build { output })?;
    let library = libraries(&messages).find(|file| file.contains(&package.replace('-', "_")));
    library.map(PathBuf::from).ok_or_else(|| Error::Build {
        output: format!("cargo reported no library of `{package}`"),
    })
}

/// The binary and the plugins, built with the profile of the tests.
struct Build {
    binary: PathBuf,
    plugins: PathBuf,
}

/// Built once per test run. The paths come from Cargo's messages, because a test that guessed them would sooner or later run a
/// stale file.
static BUILD: LazyLock<Result<Build, String>> = LazyLock::new(build_all);

fn build_all() -> Result<Build, String> {
    let mut command = cargo();
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
    let messages = messages(&mut command)?;
    let mut binaries = messages.iter().filter(|message| message["target"]["name"] == "divvy");
    let binary = binaries.find_map(|message| message["executable"].as_str());
    let plugin = libraries(&messages).find(|file| file.contains("divvy_plugin_"));
    let plugins = plugin.and_then(|plugin| Path::new(plugin).parent());
    match (binary, plugins) {
        (Some(binary), Some(plugins)) => Ok(Build {
            binary: binary.into(),
            plugins: plugins.to_owned(),
        }),
        _ => Err("cargo reported no binary `divvy` or no plugin".to_owned()),
    }
}

/// Runs Cargo. Returns its messages, or what it printed if it failed.
fn messages(command: &mut Command) -> Result<Vec<Value>, String> {
    let output = command
        .current_dir(repository())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let lines = output.stdout.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// The shared libraries in Cargo's messages.
fn libraries(messages: &[Value]) -> impl Iterator<Item = &str> {
    let files = messages.iter().flat_map(|message| message["filenames"].as_array());
    let files = files.flatten().filter_map(Value::as_str);
    files.filter(|file| file.ends_with(".so"))
}

/// A command for the Cargo that runs the tests, without the variables that it set for this package: with them, the build script
/// of ring would run again, and everything that depends on it would be compiled anew.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
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
