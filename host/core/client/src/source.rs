//! Where the configuration of a connection comes from: a kubeconfig, those of `KUBECONFIG`, or the pod.

use std::io;
use std::path::{Path, PathBuf};

use http::header::{HeaderName, HeaderValue};
use kube::Config;
use kube::client::ClientBuilder;
use kube::config::Kubeconfig;

use super::ConnectionOptions;
use super::configuration::{Configured, Outside, configure};
use super::error::{ConnectionError, KubeconfigProblem};
use super::exec::{self, ExecFailure};
use super::kubeconfig::{choose, merge, parse};
use super::wording::worded;
use crate::files::FileVersions;

/// What a plugin for credentials is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plugins {
    /// Credentials that it has printed for this process are used until they expire: a command that connects twice asks a person once.
    Known,
    /// It runs.
    Run,
}

/// Reads the configuration of a connection. Notes every file that it reads, and runs the user's plugin for credentials, so it must not be
/// called by a thread of the runtime.
pub(super) fn load(
    options: &ConnectionOptions,
    files: &mut FileVersions,
    plugins: Plugins,
) -> Result<Configured, ConnectionError> {
    let mut configured = match sources(options.kubeconfig.as_deref()) {
        sources if sources.is_empty() => from_pod(options, files)?,
        sources => from_files(&sources, options.context.as_deref(), files, plugins)?,
    };
    let agent = HeaderValue::from_str(&options.user_agent)
        .map_err(|_| ConnectionError::UserAgent(options.user_agent.clone()))?;
    let config = &mut configured.config;
    config.headers.push((HeaderName::from_static("user-agent"), agent));
    config.default_retry = false;
    Ok(configured)
}

/// The kubeconfigs to read; none in a pod. Of several in `KUBECONFIG`, those that do not exist are left out, as by kubectl.
fn sources(named: Option<&Path>) -> Vec<PathBuf> {
    if let Some(file) = named {
        return vec![file.to_owned()];
    }
    let variable = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let paths: Vec<PathBuf> = std::env::split_paths(&variable)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if let Some(first) = paths.first() {
        let existing: Vec<PathBuf> = paths.iter().filter(|path| path.exists()).cloned().collect();
        return match existing.is_empty() {
            true => vec![first.clone()],
            false => existing,
        };
    }
    let home = std::env::home_dir().map(|home| home.join(".kube").join("config"));
    home.filter(|file| file.exists()).into_iter().collect()
}

fn from_files(
    sources: &[PathBuf],
    context: Option<&str>,
    files: &mut FileVersions,
    plugins: Plugins,
) -> Result<Configured, ConnectionError> {
    let mut merged = Kubeconfig::default();
    for file in sources {
        let wrong = |problem| wrong(file, problem);
        files.note(file);
        let bytes = std::fs::read(file).map_err(|error| wrong(KubeconfigProblem::Unreadable(error)))?;
        let read = parse(&bytes, file.parent()).map_err(wrong)?;
        merged = merge(merged, read).map_err(wrong)?;
    }
    // Of several files, the first is named for what is missing in all.
    let first = sources.first().cloned().unwrap_or_default();
    let chosen = choose(merged, context).map_err(|problem| wrong(&first, problem))?;
    let mut read = |file: &Path| {
        files.note(file);
        std::fs::read(file)
    };
    let mut outside = Outside {
        read: &mut read,
        run: match plugins {
            Plugins::Known => &exec::known_or_run,
            Plugins::Run => &exec::run_anew,
        },
        environment: &|name| std::env::var(name).ok(),
    };
    configure(chosen, &mut outside).map_err(|problem| wrong(&first, problem))
}

fn wrong(file: &Path, problem: KubeconfigProblem) -> ConnectionError {
    ConnectionError::Kubeconfig {
        file: file.to_owned(),
        problem: Box::new(problem),
    }
}

/// The configuration of a pod: its service account. The token is read again when its file changes; kube reads the authorities again.
fn from_pod(options: &ConnectionOptions, files: &mut FileVersions) -> Result<Configured, ConnectionError> {
    let unconfigured = |cause: &str| {
        let text = format!("there is no `~/.kube/config`, `KUBECONFIG` is not set, and {cause}");
        Err(ConnectionError::NotConfigured(text))
    };
    if let Some(context) = &options.context {
        return unconfigured(&format!(
            "a context was chosen (`{context}`), which only a kubeconfig has"
        ));
    }
    let mut config = match Config::incluster() {
        Ok(config) => config,
        Err(_) => return unconfigured("this process does not run in a pod with a service account"),
    };
    if let Some(file) = config.auth_info.token_file.take() {
        files.note(&file);
        let token = std::fs::read_to_string(&file).unwrap_or_default().trim().to_owned();
        if token.is_empty() || HeaderValue::from_str(&token).is_err() {
            return unconfigured(&format!("the pod's service account has no token in {file}"));
        }
        config.auth_info.token = Some(token.into());
    }
    Ok(Configured { config, expires: None })
}

/// Checks the bytes of a kubeconfig up to the client that would be made of it, without reading another file or running a plugin.
///
/// # Errors
///
/// A [`ConnectionError`] that names a file `kubeconfig`.
pub fn check_kubeconfig(bytes: &[u8]) -> Result<(), ConnectionError> {
    let wrong = |problem| wrong(Path::new("kubeconfig"), problem);
    let chosen = parse(bytes, Some(Path::new("/nowhere"))).and_then(|read| choose(read, None));
    let mut read = |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    let mut outside = Outside {
        read: &mut read,
        run: &|_| Err(ExecFailure::new("no plugin is run")),
        environment: &|_| None,
    };
    let configured = chosen
        .and_then(|chosen| configure(chosen, &mut outside))
        .map_err(wrong)?;
    ClientBuilder::try_from(configured.config)
        .map(drop)
        .map_err(|error| ConnectionError::Client(worded(&error)))
}
