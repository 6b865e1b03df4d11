//! Objects of an API server as JSON: read, written, waited for.
//!
//! JSON rather than types, because tests must see every field of the API server's objects, including those that none of our types
//! read.

use std::time::{Duration, Instant};

use http::{Method, Request};
use kube::Client;
use serde_json::Value;

use crate::Error;

/// Time that a test waits for a state. It is generous: a machine with two cores may run other tests at the same time.
pub const PATIENCE: Duration = Duration::from_secs(90);
/// Time between two looks at an object that is waited for.
const INTERVAL: Duration = Duration::from_millis(50);

/// A kind of object: its API and its plural name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// API group and version, as in `apiVersion`.
    pub api_version: &'static str,
    /// The kind.
    pub name: &'static str,
    /// The plural name.
    pub plural: &'static str,
}

impl Kind {
    const fn new(api_version: &'static str, name: &'static str, plural: &'static str) -> Self {
        Self {
            api_version,
            name,
            plural,
        }
    }
}

/// `ResourceBinding`.
pub const BINDING: Kind = Kind::new("work.karmada.io/v1alpha2", "ResourceBinding", "resourcebindings");
/// `ClusterResourceBinding`.
pub const CLUSTER_BINDING: Kind = Kind::new(
    "work.karmada.io/v1alpha2",
    "ClusterResourceBinding",
    "clusterresourcebindings",
);
/// `Cluster`.
pub const CLUSTER: Kind = Kind::new("cluster.karmada.io/v1alpha1", "Cluster", "clusters");
/// `PropagationPolicy`.
pub const POLICY: Kind = Kind::new("policy.karmada.io/v1alpha1", "PropagationPolicy", "propagationpolicies");
/// `ClusterPropagationPolicy`.
pub const CLUSTER_POLICY: Kind = Kind::new(
    "policy.karmada.io/v1alpha1",
    "ClusterPropagationPolicy",
    "clusterpropagationpolicies",
);
/// `FederatedResourceQuota`.
pub const QUOTA: Kind = Kind::new(
    "policy.karmada.io/v1alpha1",
    "FederatedResourceQuota",
    "federatedresourcequotas",
);
/// `Deployment`.
pub const DEPLOYMENT: Kind = Kind::new("apps/v1", "Deployment", "deployments");
/// `ConfigMap`.
pub const CONFIG_MAP: Kind = Kind::new("v1", "ConfigMap", "configmaps");
/// `ClusterRole`.
pub const CLUSTER_ROLE: Kind = Kind::new("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles");
/// `ClusterRoleBinding`.
pub const CLUSTER_ROLE_BINDING: Kind = Kind::new(
    "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding",
    "clusterrolebindings",
);
/// `Role`.
pub const ROLE: Kind = Kind::new("rbac.authorization.k8s.io/v1", "Role", "roles");
/// `RoleBinding`.
pub const ROLE_BINDING: Kind = Kind::new("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings");
/// `Namespace`.
pub const NAMESPACE: Kind = Kind::new("v1", "Namespace", "namespaces");
/// `Event` of the core API.
pub const EVENT: Kind = Kind::new("v1", "Event", "events");
/// `Service`.
pub const SERVICE: Kind = Kind::new("v1", "Service", "services");
/// `Lease`.
pub const LEASE: Kind = Kind::new("coordination.k8s.io/v1", "Lease", "leases");

/// The objects of an API server, as one user sees them.
#[derive(Clone)]
pub struct Objects {
    client: Client,
}

impl Objects {
    /// The objects that a client may access.
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// One object. `namespace` is empty for a cluster-scoped kind, here and below.
    pub async fn get(&self, kind: Kind, namespace: &str, name: &str) -> Result<Value, Error> {
        self.send(Method::GET, path(kind, namespace, name, ""), None).await
    }

    /// One object; `None` if it does not exist.
    pub async fn find(&self, kind: Kind, namespace: &str, name: &str) -> Result<Option<Value>, Error> {
        match self.get(kind, namespace, name).await {
            Err(error) if error.status() == Some(404) => Ok(None),
            result => result.map(Some),
        }
    }

    /// All objects of a kind, of one namespace or of all if it is empty. Each has its `apiVersion` and `kind`.
    pub async fn list(&self, kind: Kind, namespace: &str) -> Result<Vec<Value>, Error> {
        let mut list = self.send(Method::GET, path(kind, namespace, "", ""), None).await?;
        let Value::Array(mut items) = list["items"].take() else {
            return Ok(Vec::new());
        };
        for item in &mut items {
            item["apiVersion"] = kind.api_version.into();
            item["kind"] = kind.name.into();
        }
        Ok(items)
    }

    /// Creates an object, whose metadata names it. A status is written by a second request.
    pub async fn create(&self, kind: Kind, object: &Value) -> Result<Value, Error> {
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        let mut object = object.clone();
        object["apiVersion"] = kind.api_version.into();
        object["kind"] = kind.name.into();
        let created = self
            .send(Method::POST, path(kind, namespace, "", ""), Some(&object))
            .await?;
        let status = object["status"].take();
        if status.is_null() {
            return Ok(created);
        }
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        self.merge_status(kind, namespace, name, &serde_json::json!({"status": status}))
            .await
    }

    /// Changes an object by a merge patch. Returns the object as it is then.
    pub async fn merge(&self, kind: Kind, namespace: &str, name: &str, patch: &Value) -> Result<Value, Error> {
        self.send(Method::PATCH, path(kind, namespace, name, ""), Some(patch))
            .await
    }

    /// Changes an object's status by a merge patch. Returns the object as it is then.
    pub async fn merge_status(&self, kind: Kind, namespace: &str, name: &str, patch: &Value) -> Result<Value, Error> {
        self.send(Method::PATCH, path(kind, namespace, name, "/status"), Some(patch))
            .await
    }

    /// Requests the deletion of an object. One with a finalizer stays, with a deletion timestamp.
    pub async fn delete(&self, kind: Kind, namespace: &str, name: &str) -> Result<(), Error> {
        self.send(Method::DELETE, path(kind, namespace, name, ""), None).await?;
        Ok(())
    }

    /// Waits until an object is as expected, and returns it. Fails after [`PATIENCE`], with the object as it was last.
    /// `expectation` completes the sentence "the binding is not …".
    pub async fn wait(
        &self,
        kind: Kind,
        namespace: &str,
        name: &str,
        expectation: &str,
        is_expected: impl Fn(&Value) -> bool,
    ) -> Result<Value, Error> {
        let start = Instant::now();
        let mut last = Value::Null;
        while start.elapsed() < PATIENCE {
            match self.find(kind, namespace, name).await {
                Ok(Some(object)) if is_expected(&object) => return Ok(object),
                Ok(object) => last = object.unwrap_or_default(),
                // An API server that is being restarted.
                Err(error) if error.status().is_none() => {}
                Err(error) => return Err(error),
            }
            tokio::time::sleep(INTERVAL).await;
        }
        if let Some(metadata) = last["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        Err(Error::Expectation {
            object: format!("{} {namespace}/{name}", kind.name),
            expectation: expectation.to_owned(),
            seconds: PATIENCE.as_secs(),
            last: format!("{last:#}"),
        })
    }

    async fn send(&self, method: Method, path: String, body: Option<&Value>) -> Result<Value, Error> {
        let action = format!("{method} {path}");
        let content_type = if method == Method::PATCH {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type)
            .body(body.map_or_else(Vec::new, |body| body.to_string().into_bytes()))
            .map_err(kube::Error::HttpError);
        let answer = match request {
            Ok(request) => self.client.request(request).await,
            Err(error) => Err(error),
        };
        answer.map_err(Error::request(action))
    }
}

/// The path of an object, of a list if `name` is empty.
fn path(kind: Kind, namespace: &str, name: &str, subresource: &str) -> String {
    let root = if kind.api_version.contains('/') { "apis" } else { "api" };
    let mut path = format!("/{root}/{}", kind.api_version);
    if !namespace.is_empty() {
        path += &format!("/namespaces/{namespace}");
    }
    path += &format!("/{}", kind.plural);
    if !name.is_empty() {
        path += &format!("/{name}{subresource}");
    }
    path
}
