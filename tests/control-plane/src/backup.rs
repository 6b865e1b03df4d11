//! Objects as in a backup of etcd.
//!
//! An API server chooses UID, generation and creation time of every object that is created through it, and refuses an object that
//! is being deleted. A recorded state keeps its own, as a control plane does that is restored from a backup.

use serde_json::Value;

use crate::etcd::{Etcd, PREFIX};
use crate::objects::Kind;
use crate::{ControlPlane, Error};

/// Restores objects of Karmada's kinds into the etcd of a control plane. The API server serves them at once.
#[derive(Clone)]
pub struct Backup {
    etcd: Etcd,
}

impl Backup {
    /// A backup that is restored into this control plane.
    pub fn new(control_plane: &ControlPlane) -> Result<Self, Error> {
        Ok(Self {
            etcd: Etcd::new(control_plane)?,
        })
    }

    /// Restores an object with everything but its resource version, which is etcd's to choose.
    pub async fn restore(&self, kind: Kind, object: &Value) -> Result<(), Error> {
        let mut object = object.clone();
        object["apiVersion"] = kind.api_version.into();
        object["kind"] = kind.name.into();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
        }
        self.etcd
            .put(&key(kind, &object), object.to_string().as_bytes())
            .await?;
        Ok(())
    }

    /// Removes an object without its finalizers having run.
    pub async fn remove(&self, kind: Kind, object: &Value) -> Result<(), Error> {
        self.etcd.delete(&key(kind, object)).await?;
        Ok(())
    }
}

/// The key of an object.
fn key(kind: Kind, object: &Value) -> String {
    let group = kind.api_version.split('/').next().unwrap_or_default();
    let metadata = &object["metadata"];
    let parts = [&metadata["namespace"], &metadata["name"]];
    let path: Vec<&str> = parts.into_iter().filter_map(Value::as_str).collect();
    format!("{PREFIX}{group}/{}/{}", kind.plural, path.join("/"))
}
