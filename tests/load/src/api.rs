//! Requests to an API server, with JSON as it is sent and read.

use divvy_controller::objects::Kind;
use http::{Method, Request, header};
use kube::Client;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::LoadError;

/// Objects of an API server.
#[derive(Clone)]
pub struct Api {
    client: Client,
    /// Creations that are under way, awaited or not.
    creations: TaskTracker,
}

impl Api {
    /// The objects that a client may access.
    pub fn new(client: Client) -> Self {
        let creations = TaskTracker::new();
        Self { client, creations }
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The object or list at a path, with its query.
    ///
    /// # Errors
    ///
    /// [`LoadError::Request`], here and below.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, LoadError> {
        self.send(Method::GET, path, None).await
    }

    /// Creates an object in a collection. The request is sent and answered even if nobody awaits this any more:
    /// [`settle`](Self::settle) does.
    pub async fn create<T: DeserializeOwned + Send + 'static>(
        &self,
        path: &str,
        object: &Value,
    ) -> Result<T, LoadError> {
        let (api, path, object) = (self.clone(), path.to_owned(), object.clone());
        let creation = self
            .creations
            .spawn(async move { api.send(Method::POST, &path, Some(&object)).await });
        // Nothing but the runtime's end ends the task before its request.
        creation.await.unwrap_or(Err(LoadError::Interrupted))
    }

    /// Returns once no creation is under way: an API server carries one out whose client has gone, so that what is deleted before
    /// comes back.
    pub async fn settle(&self) {
        self.creations.close();
        self.creations.wait().await;
    }

    /// Sends a merge patch.
    pub async fn merge<T: DeserializeOwned>(&self, path: &str, patch: &Value) -> Result<T, LoadError> {
        self.send(Method::PATCH, path, Some(patch)).await
    }

    /// Deletes an object, or all that a collection's query selects.
    pub async fn delete(&self, path: &str) -> Result<(), LoadError> {
        self.send::<Value>(Method::DELETE, path, None).await.map(drop)
    }

    /// Deletes everything that a query selects in a collection, and returns once nothing is left.
    pub async fn delete_all(&self, collection: &str, query: &str) -> Result<(), LoadError> {
        loop {
            let left: Value = self.get(&format!("{collection}?limit=1&{query}")).await?;
            if left["items"].as_array().is_none_or(Vec::is_empty) {
                return Ok(());
            }
            // The API server gives up after a minute if there are many. What is left is deleted by the next request.
            match self.delete(&format!("{collection}?{query}")).await {
                Err(error) if error.status() != Some(504) => return Err(error),
                _ => {}
            }
        }
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, LoadError> {
        let content = match method {
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        let failed = |source: kube::Error| LoadError::Request {
            method: method.to_string(),
            path: path.to_owned(),
            source: Box::new(source),
        };
        let request = Request::builder()
            .method(method.clone())
            .uri(path)
            .header(header::CONTENT_TYPE, content)
            .body(body.map(|body| body.to_string().into_bytes()).unwrap_or_default())
            .map_err(|error| failed(kube::Error::HttpError(error)))?;
        self.client.request(request).await.map_err(failed)
    }
}

impl LoadError {
    /// HTTP status of a request that the API server refused.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Request { source, .. } => match source.as_ref() {
                kube::Error::Api(status) => Some(status.code),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Path of a binding in a namespace.
pub fn binding_path(namespace: &str, name: &str) -> String {
    format!("{}/{name}", Kind::Binding.path(namespace))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use axum::extract::State;
    use axum::routing::get;
    use axum::{Json, Router};
    use serde_json::json;

    use super::*;

    const PATH: &str = "/objects";

    /// Objects of an API server that takes a second for a creation, and carries it out whether its client waits or not.
    fn slow() -> Api {
        async fn create(State(objects): State<Arc<AtomicUsize>>) -> Json<Value> {
            let creation = async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                objects.fetch_add(1, Ordering::Relaxed);
            };
            tokio::spawn(creation).await.unwrap();
            Json(json!({}))
        }
        async fn list(State(objects): State<Arc<AtomicUsize>>) -> Json<Value> {
            Json(json!({"items": vec![json!({}); objects.load(Ordering::Relaxed)]}))
        }
        async fn delete(State(objects): State<Arc<AtomicUsize>>) -> Json<Value> {
            objects.store(0, Ordering::Relaxed);
            Json(json!({}))
        }
        let objects = get(list).post(create).delete(delete);
        let server = Router::new().route(PATH, objects).with_state(Arc::default());
        Api::new(Client::new(server, "default"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_creation_that_nobody_awaits_any_more_is_over_before_everything_is_deleted() {
        let api = slow();
        let create = api.create::<Value>(PATH, &Value::Null);
        let interrupted = tokio::time::timeout(Duration::from_millis(1), create).await;
        assert!(interrupted.is_err());
        api.settle().await;
        api.delete_all(PATH, "").await.unwrap();
        tokio::time::sleep(Duration::from_secs(10)).await;
        let left: Value = api.get(PATH).await.unwrap();
        assert_eq!(left["items"], json!([]));
    }
}
