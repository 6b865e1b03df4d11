//! Users of the API server: tokens, groups, kubeconfigs.

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;

use crate::Error;

/// A user that the API server knows by a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// Name of the user, as the audit log has it.
    pub name: &'static str,
    /// The groups; `system:masters` may do everything.
    pub groups: &'static [&'static str],
}

/// The group of schedulers. It has no rights until a role is bound to it.
pub const SCHEDULERS: &str = "divvy:schedulers";

/// The group of schedulers in shadow mode. It has no rights until a role is bound to it.
pub const OBSERVERS: &str = "divvy:observers";

/// May do everything. Its kubeconfig has no suffix.
pub const ADMIN: User = User {
    name: "admin",
    groups: &["system:masters"],
};
/// Karmada's other controllers, which the tests play. May do everything.
pub const KARMADA: User = User {
    name: "karmada",
    groups: &["system:masters"],
};
/// A scheduler.
pub const SCHEDULER: User = User {
    name: "scheduler",
    groups: &[SCHEDULERS],
};
/// A second scheduler, so that the audit log distinguishes two that run at once.
pub const SCHEDULER_B: User = User {
    name: "scheduler-b",
    groups: &[SCHEDULERS],
};
/// A scheduler in shadow mode, which cannot write.
pub const OBSERVER: User = User {
    name: "observer",
    groups: &[OBSERVERS],
};
/// Names of all users that schedule.
pub const SCHEDULERS_USERS: [&str; 2] = [SCHEDULER.name, SCHEDULER_B.name];
/// A user without any rights.
pub const STRANGER: User = User {
    name: "stranger",
    groups: &[],
};

/// All users.
pub const ALL: [User; 6] = [ADMIN, KARMADA, SCHEDULER, SCHEDULER_B, OBSERVER, STRANGER];

impl User {
    /// The token. It is no secret: the API server listens on the loopback interface and lives as long as a test.
    pub(crate) fn token(self) -> String {
        format!("token-of-{}", self.name)
    }

    /// The user's kubeconfig in the folder of a control plane.
    pub fn kubeconfig(self, folder: &Path) -> PathBuf {
        if self == ADMIN {
            folder.join("kubeconfig")
        } else {
            folder.join(format!("kubeconfig-{}", self.name))
        }
    }
}

/// The token file, in the format of `--token-auth-file`.
pub(crate) fn token_file() -> String {
    ALL.iter()
        .map(|user| {
            format!(
                "{},{},{},\"{}\"\n",
                user.token(),
                user.name,
                user.name,
                user.groups.join(",")
            )
        })
        .collect()
}

/// Writes a kubeconfig for a server. `certificate` is the file with the server's certificate; `None` for plain HTTP.
pub fn write_kubeconfig(path: &Path, user: User, server: &str, certificate: Option<&Path>) -> Result<(), Error> {
    let mut cluster = json!({"server": server});
    if let Some(certificate) = certificate {
        cluster["certificate-authority"] = json!(certificate);
    }
    // JSON is YAML.
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "control-plane", "cluster": cluster}],
        "users": [{"name": user.name, "user": {"token": user.token()}}],
        "contexts": [{"name": user.name, "context": {"cluster": "control-plane", "user": user.name}}],
        "current-context": user.name,
    });
    std::fs::write(path, format!("{kubeconfig:#}\n")).map_err(Error::file(path))
}

/// A client for a kubeconfig.
pub async fn client(path: &Path) -> Result<Client, Error> {
    let mut config = read(path).await?;
    // A request that is never answered fails its test, instead of hanging it.
    config.read_timeout = Some(std::time::Duration::from_secs(120));
    config.reset_reader_on_write = true;
    Client::try_from(config).map_err(|error| unusable(path, error))
}

/// A client for a kubeconfig that repeats nothing, so that it sees every refusal.
pub async fn client_without_retries(path: &Path) -> Result<Client, Error> {
    let mut config = read(path).await?;
    config.default_retry = false;
    Client::try_from(config).map_err(|error| unusable(path, error))
}

/// A client for the server of a kubeconfig that sends requests as they are: it adds no token and repeats none.
pub(crate) async fn anonymous_client(path: &Path) -> Result<Client, Error> {
    let mut config = read(path).await?;
    config.auth_info = kube::config::AuthInfo::default();
    config.default_retry = false;
    Client::try_from(config).map_err(|error| unusable(path, error))
}

async fn read(path: &Path) -> Result<Config, Error> {
    let kubeconfig = Kubeconfig::read_from(path).map_err(|error| unusable(path, error))?;
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|error| unusable(path, error))
}

fn unusable(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Kubeconfig {
        path: path.to_owned(),
        source: source.into(),
    }
}
