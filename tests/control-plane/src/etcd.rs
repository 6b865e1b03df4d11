//! The etcd of a control plane, through its HTTP gateway: what an API server would refuse can be written here.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use kube::{Client, Config};
use serde_json::{Value, json};

use crate::{ControlPlane, Error};

/// The prefix of kube-apiserver's keys.
pub(crate) const PREFIX: &str = "/registry/";
/// The first key after all those with [`PREFIX`].
const END: &str = "/registry0";

/// A client of etcd.
#[derive(Clone)]
pub(crate) struct Etcd {
    client: Client,
}

/// A key with its value, and the revision of its last change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) revision: i64,
    /// Empty if only keys were asked for.
    pub(crate) value: Vec<u8>,
}

impl Etcd {
    /// The etcd of a control plane.
    pub(crate) fn new(control_plane: &ControlPlane) -> Result<Self, Error> {
        let url = control_plane.etcd_url();
        let failed = Error::request(format!("connecting to {url}"));
        let uri = match url.parse() {
            Ok(uri) => uri,
            Err(error) => return Err(failed(kube::Error::HttpError(http::Error::from(error)))),
        };
        match Client::try_from(Config::new(uri)) {
            Ok(client) => Ok(Self { client }),
            Err(error) => Err(failed(error)),
        }
    }

    /// All keys of the API server, without their values.
    pub(crate) async fn keys(&self) -> Result<BTreeMap<String, Entry>, Error> {
        let range = json!({"key": STANDARD.encode(PREFIX), "range_end": STANDARD.encode(END), "keys_only": true});
        self.range(PREFIX, &range).await
    }

    /// All keys of the API server, with their values.
    pub(crate) async fn entries(&self) -> Result<BTreeMap<String, Entry>, Error> {
        let range = json!({"key": STANDARD.encode(PREFIX), "range_end": STANDARD.encode(END)});
        self.range(PREFIX, &range).await
    }

    /// Writes a value. Returns the revision of the change.
    pub(crate) async fn put(&self, key: &str, value: &[u8]) -> Result<i64, Error> {
        let body = json!({"key": STANDARD.encode(key), "value": STANDARD.encode(value)});
        let answer = self.send("put", key, &body).await?;
        integer(key, &answer["header"]["revision"])
    }

    /// Removes a key. Returns the revision of the change.
    pub(crate) async fn delete(&self, key: &str) -> Result<i64, Error> {
        let answer = self
            .send("deleterange", key, &json!({"key": STANDARD.encode(key)}))
            .await?;
        integer(key, &answer["header"]["revision"])
    }

    async fn range(&self, key: &str, range: &Value) -> Result<BTreeMap<String, Entry>, Error> {
        let mut answer = self.send("range", key, range).await?;
        // A field without content is left out.
        let Value::Array(found) = answer["kvs"].take() else {
            return Ok(BTreeMap::new());
        };
        found
            .iter()
            .map(|found| {
                let name = String::from_utf8_lossy(&bytes(key, &found["key"])?).into_owned();
                let revision = integer(&name, &found["mod_revision"])?;
                let value = bytes(&name, &found["value"])?;
                Ok((name, Entry { revision, value }))
            })
            .collect()
    }

    async fn send(&self, operation: &str, key: &str, body: &Value) -> Result<Value, Error> {
        let request = Request::post(format!("/v3/kv/{operation}"))
            .header("content-type", "application/json")
            .body(body.to_string().into_bytes())
            .map_err(kube::Error::HttpError);
        let answer = match request {
            Ok(request) => self.client.request::<Value>(request).await,
            Err(error) => Err(error),
        };
        answer.map_err(Error::request(format!("{operation} {key}")))
    }
}

/// Bytes of an answer, which are in base64; none if the field is left out.
fn bytes(key: &str, field: &Value) -> Result<Vec<u8>, Error> {
    let text = field.as_str().unwrap_or_default();
    STANDARD.decode(text).map_err(|error| unexpected(key, field, &error))
}

/// An integer of an answer, which is a text.
fn integer(key: &str, field: &Value) -> Result<i64, Error> {
    let text = field.as_str().unwrap_or_default();
    text.parse().map_err(|error| unexpected(key, field, &error))
}

fn unexpected(key: &str, field: &Value, error: &dyn std::fmt::Display) -> Error {
    Error::Content {
        path: key.into(),
        message: format!("etcd answered `{field}`: {error}"),
    }
}
