//! The control plane that is measured: checked to be empty, filled, emptied again.
//!
//! Every object carries the label [`LABEL`], and everything is deleted by that label. A control plane with clusters, bindings
//! or policies that lack it is refused: clusters that do not exist must never be offered to bindings that do.

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

use divvy_controller::objects::Kind;

use crate::LoadError;
use crate::api::Api;
use crate::objects::{LABEL, NAMESPACE, cluster, cluster_name, policy};

/// Requests at a time while objects are created.
const CONCURRENCY: usize = 16;
/// Kinds that a production control plane has objects of.
const GUARDED: [Kind; 5] = [
    Kind::Cluster,
    Kind::Binding,
    Kind::ClusterBinding,
    Kind::Policy,
    Kind::ClusterPolicy,
];

/// A control plane of a measurement.
#[derive(Clone)]
pub struct Plane {
    /// Its objects.
    pub api: Api,
    /// Number of its clusters.
    pub clusters: usize,
    server: String,
}

impl Plane {
    /// A control plane that holds nothing of others. What an interrupted measurement left behind is removed.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotEmpty`] if an object lacks the label of measurements.
    pub async fn claim(api: Api, server: String) -> Result<Self, LoadError> {
        for kind in GUARDED {
            let path = format!("{}?limit=1&labelSelector=!{LABEL}", kind.path(""));
            let others: Value = api.get(&path).await?;
            if let Some(name) = others["items"][0]["metadata"]["name"].as_str() {
                let (kind, name) = (kind.kind(), name.to_owned());
                return Err(LoadError::NotEmpty { server, kind, name });
            }
        }
        let namespaces: Value = api
            .get(&format!("/api/v1/namespaces?fieldSelector=metadata.name={NAMESPACE}"))
            .await?;
        let namespace = &namespaces["items"][0];
        if !namespace.is_null() && namespace["metadata"]["labels"][LABEL].is_null() {
            let (kind, name) = ("Namespace", NAMESPACE.to_owned());
            return Err(LoadError::NotEmpty { server, kind, name });
        }
        let plane = Self {
            api,
            clusters: 0,
            server,
        };
        plane.remove().await?;
        if namespace.is_null() {
            let namespace = json!({
                "apiVersion": "v1",
                "kind": "Namespace",
                // Karmada would propagate a namespace to every cluster.
                "metadata": {"name": NAMESPACE, "labels": {LABEL: "true", "namespace.karmada.io/skip-auto-propagation": "true"}},
            });
            plane.api.create::<Value>("/api/v1/namespaces", &namespace).await?;
        }
        plane
            .api
            .create::<Value>(&Kind::Policy.path(NAMESPACE), &policy())
            .await?;
        Ok(plane)
    }

    /// URL of the API server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Creates clusters with `apis` kinds each.
    ///
    /// # Errors
    ///
    /// [`LoadError::Request`], here and below.
    pub async fn create_clusters(&mut self, count: usize, apis: usize) -> Result<(), LoadError> {
        let path = Kind::Cluster.path("");
        let each = stream::iter(self.clusters..count).map(|number| {
            let (api, path) = (&self.api, &path);
            async move {
                let cluster = cluster(number, apis);
                api.create::<Value>(path, &cluster).await?;
                let status = json!({"status": cluster["status"]});
                let path = format!("{path}/{}/status", cluster_name(number));
                api.merge::<Value>(&path, &status).await.map(drop)
            }
        });
        each.buffer_unordered(CONCURRENCY).try_collect::<()>().await?;
        self.clusters = count;
        Ok(())
    }

    /// Number of events in the namespace.
    pub async fn events(&self) -> Result<usize, LoadError> {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/events?limit=1");
        let page: Value = self.api.get(&path).await?;
        let shown = page["items"].as_array().map_or(0, Vec::len);
        let further = page["metadata"]["remainingItemCount"].as_u64().unwrap_or(0);
        Ok(shown + usize::try_from(further).unwrap_or(usize::MAX))
    }

    /// Deletes all bindings and events, and returns once they are gone.
    pub async fn remove_bindings(&self) -> Result<(), LoadError> {
        self.api.delete_all(&Kind::Binding.path(NAMESPACE), &selected()).await?;
        let events = format!("/api/v1/namespaces/{NAMESPACE}/events");
        self.api.delete_all(&events, "").await
    }

    /// Deletes everything that the measurement created but the namespace, which stays, empty: a control plane without
    /// kube-controller-manager never ends its deletion.
    pub async fn remove(&self) -> Result<(), LoadError> {
        self.api.settle().await;
        self.remove_bindings().await?;
        let policies = Kind::Policy.path(NAMESPACE);
        self.api.delete_all(&policies, &selected()).await?;
        self.api.delete_all(&Kind::Cluster.path(""), &selected()).await
    }
}

fn selected() -> String {
    format!("labelSelector={LABEL}")
}
