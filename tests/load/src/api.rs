//! Requests to an API server, with JSON as it is sent and read.

use divvy_controller::objects::Kind;
use http::{Method, Request, header};
use kube::Client;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::LoadError;

/// Objects of an API server.
#[derive(Clone)]
pub struct Api {
    client: Client,
}

impl Api {
    /// The objects that a client may access.
    pub fn new(client: Client) -> Self {
        Self { client }
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

    /// Creates an object in a collection.
    pub async fn create<T: DeserializeOwned>(&self, path: &str, object: &Value) -> Result<T, LoadError> {
        self.send(Method::POST, path, Some(object)).await
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
