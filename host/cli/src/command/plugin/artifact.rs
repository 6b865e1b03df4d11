//! What `divvy plugin push`, `pull` and `key` share: references, places, passwords, and errors as diagnostics.

use std::env;
use std::path::{Path, PathBuf};

use clap::Args;
use divvy_artifacts::{ArtifactsError, Layout, LibraryFacts, Registry, RegistryOptions, Repository};
use divvy_profile::ArtifactReference;

use crate::report::errors::{Diagnostic, Failure};

/// Variable with the password of a secret key.
const PASSWORD_VARIABLE: &str = "DIVVY_KEY_PASSWORD";

/// Where an artifact is, besides its registry.
#[derive(Debug, Clone, Args)]
pub(super) struct PlaceArguments {
    /// Folder that stands for the registry: an OCI image layout. The reference is the artifact's name all the same
    #[arg(long, value_name = "DIR", conflicts_with = "plain_http")]
    layout: Option<PathBuf>,
    /// Allow a registry that is not on this machine to be asked without encryption
    #[arg(long)]
    plain_http: bool,
}

impl PlaceArguments {
    /// The place to pull from.
    pub(super) fn source(&self, reference: &ArtifactReference) -> Result<Box<dyn Repository>, ArtifactsError> {
        match &self.layout {
            Some(folder) => Ok(Box::new(Layout::open(folder, reference)?)),
            None => self.registry(reference),
        }
    }

    /// The place to push to. A folder is created.
    pub(super) fn target(&self, reference: &ArtifactReference) -> Result<Box<dyn Repository>, ArtifactsError> {
        match &self.layout {
            Some(folder) => Ok(Box::new(Layout::create(folder, reference)?)),
            None => self.registry(reference),
        }
    }

    fn registry(&self, reference: &ArtifactReference) -> Result<Box<dyn Repository>, ArtifactsError> {
        let options = RegistryOptions {
            plain_http: self.plain_http,
            credentials: credential_files(),
        };
        Ok(Box::new(Registry::new(reference, &options)?))
    }
}

/// The files in which `docker login`, `podman login` and `oras login` keep credentials.
fn credential_files() -> Vec<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let docker = variable("DOCKER_CONFIG").or_else(|| Some(variable("HOME")?.join(".docker")));
    [
        variable("REGISTRY_AUTH_FILE"),
        docker.map(|folder| folder.join("config.json")),
        variable("XDG_RUNTIME_DIR").map(|folder| folder.join("containers/auth.json")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The password of a secret key: from a file, or from the environment; `None` if the terminal should ask for it.
pub(super) fn password(file: Option<&Path>) -> Result<Option<String>, Failure> {
    let Some(path) = file else {
        return Ok(env::var(PASSWORD_VARIABLE).ok().filter(|password| !password.is_empty()));
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(Diagnostic::new(format!("`{}` cannot be read", path.display())).with_cause(error.to_string()))
    })?;
    Ok(Some(text.lines().next().unwrap_or_default().to_owned()))
}

/// A failure with exit code 2.
pub(super) fn failure(error: &ArtifactsError) -> Failure {
    Failure::usage(Diagnostic {
        hint: error.hint(),
        ..Diagnostic::new(error.to_string())
    })
}

/// Names of the plugins of an artifact, each once.
pub(super) fn plugin_names(facts: &LibraryFacts) -> Vec<&str> {
    let mut names: Vec<&str> = facts.plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    names.dedup();
    names
}
