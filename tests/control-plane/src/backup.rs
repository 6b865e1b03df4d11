//! Objects as in a backup of etcd.
//!
//! An API server chooses UID, generation and creation time of every object that is created through it, and refuses an object that
//! is being deleted. A recorded state keeps its own, as a control plane does that is restored from a backup.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use kube::{Client, Config};
use serde_json::{Value, json};

use crate::objects::Kind;
use crate::{ControlPlane, Error};

/// The prefix of kube-apiserver's keys.
const PREFIX: &str = "/registry";

/// Restores objects of Karmada's kinds into the etcd of a control plane. The API server serves them at once.
#[derive(Clone)]
pub struct Backup {
    etcd: Client,
}

impl Backup {
    /// A backup that is restored into this control plane.
    pub fn new(control_plane: &ControlPlane) -> Result<Self, Error> {
        let url = control_plane.etcd_url();
        let failed = Error::request(format!("connecting to {url}"));
        let uri = match url.parse() {
            Ok(uri) => uri,
            Err(error) => return Err(failed(kube::Error::HttpError(http::Error::from(error)))),
        };
        match Client::try_from(Config::new(uri)) {
            Ok(etcd) => Ok(Self { etcd }),
            Err(error) => Err(failed(error)),
        }
    }

    /// Restores an object with everything but its resource version, which is etcd's to choose.
    pub async fn restore(&self, kind: Kind, object: &Value) -> Result<(), Error> {
        let mut object = object.clone();
        object["apiVersion"] = kind.api_version.into();
        object["kind"] = kind.name.into();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
        }
        let key = key(kind, &object);
        let body = json!({"key": STANDARD.encode(&key), "value": STANDARD.encode(object.to_string())});
        self.send("put", &key, &body).await
    }

    /// Removes an object without its finalizers having run.
    pub async fn remove(&self, kind: Kind, object: &Value) -> Result<(), Error> {
        let key = key(kind, object);
        let body = json!({"key": STANDARD.encode(&key)});
        self.send("deleterange", &key, &body).await
    }

    async fn send(&self, operation: &str, key: &str, body: &Value) -> Result<(), Error> {
        let request = Request::post(format!("/v3/kv/{operation}"))
            .header("content-type", "application/json")
            .body(body.to_string().into_bytes())
            .map_err(kube::Error::HttpError);
        let answer = match request {
            Ok(request) => self.etcd.request::<Value>(request).await,
            Err(error) => Err(error),
        };
        answer.map_err(Error::request(format!("{operation} {key}")))?;
        Ok(())
    }
}

/// The key of an object.
fn key(kind: Kind, object: &Value) -> String {
    let group = kind.api_version.split('/').next().unwrap_or_default();
    let metadata = &object["metadata"];
    let parts = [&metadata["namespace"], &metadata["name"]];
    let path: Vec<&str> = parts.into_iter().filter_map(Value::as_str).collect();
    format!("{PREFIX}/{group}/{}/{}", kind.plural, path.join("/"))
}
