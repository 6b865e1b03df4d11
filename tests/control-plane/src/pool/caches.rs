//! The API server's caches of its objects, which follow etcd a moment later. Lists and watches that do not ask for the newest state
//! are answered from them.

use std::collections::BTreeMap;
use std::time::Instant;

use http::Request;
use kube::Client;
use serde_json::Value;

use crate::etcd::PREFIX;
use crate::objects::PATIENCE;
use crate::{ControlPlane, Error};

/// Asks for a list of all resources of all groups in one answer.
const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/// Resources whose keys do not begin with their plural names.
const RENAMED: [(&str, &str); 4] = [
    ("services/specs", "services"),
    ("services/endpoints", "endpoints"),
    ("minions", "nodes"),
    ("controllers", "replicationcontrollers"),
];
/// Matches no object: an answer shows that a cache is new enough, whatever is in it.
const NOTHING: &str = "labelSelector=divvy.io/nothing";

/// The resources of a control plane.
#[derive(Debug)]
pub(super) struct Caches {
    /// Where a resource is listed, by the beginning of its keys: its plural name, after its group if that is not built in.
    paths: BTreeMap<String, String>,
}

impl Caches {
    /// Asks a control plane for its resources.
    pub(super) async fn read(control_plane: &ControlPlane) -> Result<Self, Error> {
        let client = control_plane.administrator().await?;
        let mut paths = BTreeMap::new();
        for root in ["/api", "/apis"] {
            let answer = ask(&client, root, DISCOVERY).await.map_err(Error::request(root))?;
            let answer: Value = serde_json::from_str(&answer).map_err(|error| Error::Content {
                path: root.into(),
                message: error.to_string(),
            })?;
            for (group, version, resource) in resources(&answer) {
                let path = match group {
                    "" => format!("{root}/{version}/{resource}"),
                    group => format!("{root}/{group}/{version}/{resource}"),
                };
                // Resources in several versions or groups have one cache.
                paths.entry(resource.to_owned()).or_insert_with(|| path.clone());
                paths.entry(format!("{group}/{resource}")).or_insert(path);
            }
        }
        Ok(Self { paths })
    }

    /// Waits until the caches have all changes of keys, given with their revisions.
    pub(super) async fn wait(&self, control_plane: &ControlPlane, changes: &[(String, i64)]) -> Result<(), Error> {
        let mut revisions: BTreeMap<&str, i64> = BTreeMap::new();
        for (key, revision) in changes {
            // What has no path is not served: notes of the API server.
            if let Some(path) = self.paths.get(&resource(key)) {
                let newest = revisions.entry(path).or_default();
                *newest = (*newest).max(*revision);
            }
        }
        let client = control_plane.administrator().await?;
        for (path, revision) in revisions {
            let path = format!("{path}?{NOTHING}&resourceVersion={revision}&resourceVersionMatch=NotOlderThan");
            let start = Instant::now();
            // The API server waits, and gives up after three seconds.
            while let Err(error) = ask(&client, &path, "application/json").await {
                if start.elapsed() > PATIENCE {
                    return Err(Error::request(format!("GET {path}"))(error));
                }
            }
        }
        Ok(())
    }
}

/// Group, version and plural name of every resource.
fn resources(discovery: &Value) -> impl Iterator<Item = (&str, &str, &str)> {
    items(&discovery["items"]).flat_map(|group| {
        items(&group["versions"]).flat_map(|version| {
            items(&version["resources"]).map(|resource| {
                let group = group["metadata"]["name"].as_str().unwrap_or_default();
                let version = version["version"].as_str().unwrap_or_default();
                (group, version, resource["resource"].as_str().unwrap_or_default())
            })
        })
    })
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The beginning of a key that names its resource, as in [`Caches::paths`].
fn resource(key: &str) -> String {
    let key = key.strip_prefix(PREFIX).unwrap_or(key);
    for (renamed, resource) in RENAMED {
        if key.starts_with(renamed) {
            return resource.to_owned();
        }
    }
    let mut parts = key.split('/');
    let first = parts.next().unwrap_or_default();
    match parts.next() {
        Some(second) if first.contains('.') => format!("{first}/{second}"),
        _ => first.to_owned(),
    }
}

async fn ask(client: &Client, path: &str, accept: &str) -> Result<String, kube::Error> {
    let request = Request::get(path).header("accept", accept).body(Vec::new());
    client.request_text(request.map_err(kube::Error::HttpError)?).await
}

#[cfg(test)]
mod tests {
    use super::resource;

    #[test]
    fn a_key_names_its_resource() {
        for (key, expected) in [
            ("/registry/configmaps/default/web", "configmaps"),
            ("/registry/namespaces/default", "namespaces"),
            ("/registry/services/specs/default/web", "services"),
            ("/registry/services/endpoints/default/web", "endpoints"),
            (
                "/registry/work.karmada.io/resourcebindings/default/web",
                "work.karmada.io/resourcebindings",
            ),
            ("/registry/cluster.karmada.io/clusters/a", "cluster.karmada.io/clusters"),
        ] {
            assert_eq!(resource(key), expected);
        }
    }
}
