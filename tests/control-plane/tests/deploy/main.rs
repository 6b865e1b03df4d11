//! `examples/deploy` on the real API server: manifests, the chart, rights, flow control; and the lease under these rights.

mod alerts;
mod chart;
mod image;
mod lease;
mod lookup;
mod manifests;
mod profile;
mod rights;
mod subchart;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use divvy_control_plane_tests::objects::{NAMESPACE, Objects};
use divvy_control_plane_tests::users::ADMIN;
use divvy_control_plane_tests::{ControlPlane, Error, Pool, Pooled, source_folder};
use http::{Method, Request, StatusCode};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use tempfile::TempDir;

type Failure = Box<dyn std::error::Error>;

/// Time for what the API server does in the background.
const PATIENCE: Duration = Duration::from_secs(60);

/// A control plane with the namespace of Karmada's components.
struct Fixture<Servers = Pooled> {
    control_plane: Servers,
    admin: Client,
    // Removed after the processes have ended, because fields are dropped in order.
    _folder: TempDir,
}

impl Fixture {
    async fn start() -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let control_plane = Pool::shared().take(folder.path()).await?;
        Self::on(control_plane, folder).await
    }
}

impl Fixture<ControlPlane> {
    /// One whose servers may be killed.
    async fn with_own_servers() -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let control_plane = ControlPlane::start(folder.path()).await?;
        Self::on(control_plane, folder).await
    }
}

impl<Servers: AsRef<ControlPlane>> Fixture<Servers> {
    async fn on(control_plane: Servers, folder: TempDir) -> Result<Self, Failure> {
        let admin = control_plane.as_ref().client(ADMIN).await?;
        let namespace = json!({"metadata": {"name": "karmada-system"}});
        Objects::new(admin.clone()).create(NAMESPACE, &namespace).await?;
        Ok(Self {
            control_plane,
            admin,
            _folder: folder,
        })
    }

    /// Applies the manifests for Karmada's API server and returns a client that acts as Divvy's service account.
    async fn deploy(&self) -> Result<Client, Failure> {
        self.deploy_folders(&["karmada"]).await
    }

    /// The same with the manifests of these folders, one after the other.
    async fn deploy_folders(&self, folders: &[&str]) -> Result<Client, Failure> {
        for folder in folders {
            for manifest in manifests::of_folder(folder)? {
                manifest.apply(&self.admin, "").await?;
            }
        }
        let path = "/api/v1/namespaces/karmada-system/serviceaccounts/divvy/token";
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let (status, answer) = send(&self.admin, Method::POST, path, "application/json", request.to_string()).await?;
        let token = answer["status"]["token"]
            .as_str()
            .ok_or_else(|| format!("no token: {status} {answer}"))?;

        let mut kubeconfig = Kubeconfig::read_from(self.control_plane.as_ref().kubeconfig(ADMIN))?;
        for user in &mut kubeconfig.auth_infos {
            user.auth_info.get_or_insert_default().token = Some(token.to_owned().into());
        }
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        config.default_retry = false;
        Ok(Client::try_from(config)?)
    }
}

/// Sends a request and returns the status and the body, errors included.
async fn send(
    client: &Client,
    method: Method,
    path: &str,
    media: &str,
    body: String,
) -> Result<(StatusCode, Value), Failure> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media);
    let response = client.send(request.body(Body::from(body.into_bytes()))?).await?;
    let status = response.status();
    let body = response.into_body().collect_bytes().await?;
    Ok((status, serde_json::from_slice(&body)?))
}

/// Repeats a request until it is answered as wanted, and fails with the last answer.
async fn eventually<T, Attempt>(wanted: &str, mut attempt: impl FnMut() -> Attempt) -> Result<T, Failure>
where
    Attempt: Future<Output = Result<Result<T, String>, Failure>>,
{
    let start = Instant::now();
    loop {
        match attempt().await? {
            Ok(found) => return Ok(found),
            Err(last) if start.elapsed() > PATIENCE => return Err(format!("{wanted}; last: {last}").into()),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// A folder or file of `examples/deploy`.
fn deployed(path: &str) -> PathBuf {
    source_folder().join("../../examples/deploy").join(path)
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(Error::file(path))
}
