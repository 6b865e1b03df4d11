//! Requests about bindings, and their answers.

use divvy_controller::objects::{Kind, ObjectKey};
use http::Method;
use serde_json::{Value, json};

use super::Server;
use crate::agenda::Millis;

/// A request about one binding.
#[derive(Debug, Clone)]
pub struct Request {
    /// The process that sends it.
    pub process: u64,
    /// Its verb.
    pub verb: Verb,
    /// The kind of the binding.
    pub kind: Kind,
    /// The binding.
    pub key: ObjectKey,
    /// The patch; null for a read.
    pub body: Value,
}

/// The verb of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Read the object.
    Get,
    /// Patch the object without its status.
    Patch,
    /// Patch the status.
    PatchStatus,
    /// Anything else, which the scheduler must not do.
    Unexpected,
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub struct Reply {
    /// HTTP status.
    pub code: u16,
    /// Body.
    pub body: String,
}

impl Reply {
    /// An error.
    pub fn error(code: u16, reason: &str, message: &str) -> Self {
        Self::with_details(code, reason, message, &json!({}))
    }

    /// An error with details.
    pub fn with_details(code: u16, reason: &str, message: &str, details: &Value) -> Self {
        let body = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "code": code, "reason": reason, "message": message, "details": details,
        });
        Self {
            code,
            body: body.to_string(),
        }
    }

    /// The refusal with a code, as an API server words it.
    pub fn refusal(code: u16) -> Self {
        match code {
            403 => Self::error(code, "Forbidden", "bindings is forbidden: RBAC: not yet ready"),
            409 => conflict(),
            410 => Self::error(code, "Gone", "the object is gone"),
            422 => Self::error(code, "Invalid", "the object is invalid"),
            429 => Self::with_details(
                code,
                "TooManyRequests",
                "too many requests",
                &json!({"retryAfterSeconds": 1}),
            ),
            503 => Self::error(
                code,
                "ServiceUnavailable",
                "the server is currently unable to handle the request",
            ),
            code => Self::error(
                code,
                "InternalError",
                "an error on the server has prevented the request from succeeding",
            ),
        }
    }

    fn object(object: &Value) -> Self {
        Self {
            code: 200,
            body: object.to_string(),
        }
    }
}

/// The answer to a write that was made from another version.
fn conflict() -> Reply {
    Reply::error(
        409,
        "Conflict",
        "the object has been modified; please apply your changes to the latest version",
    )
}

/// Reads a request from its parts.
pub fn requested(process: u64, method: &Method, path: &str, body: &[u8]) -> Request {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (kind, namespace, rest) = match parts.as_slice() {
        [
            "apis",
            "work.karmada.io",
            "v1alpha2",
            "namespaces",
            namespace,
            "resourcebindings",
            rest @ ..,
        ] => (Kind::Binding, *namespace, rest),
        [
            "apis",
            "work.karmada.io",
            "v1alpha2",
            "clusterresourcebindings",
            rest @ ..,
        ] => (Kind::ClusterBinding, "", rest),
        _ => (Kind::Binding, "", &[][..]),
    };
    let (name, verb) = match (rest, method) {
        ([name], &Method::GET) => (*name, Verb::Get),
        ([name], &Method::PATCH) => (*name, Verb::Patch),
        ([name, "status"], &Method::PATCH) => (*name, Verb::PatchStatus),
        _ => ("", Verb::Unexpected),
    };
    Request {
        process,
        verb,
        kind,
        key: ObjectKey {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        },
        body: serde_json::from_slice(body).unwrap_or_default(),
    }
}

/// Answers a read.
pub fn read(server: &Server, request: &Request) -> Reply {
    match server.get(request.kind, &request.key) {
        Some(object) => Reply::object(object),
        None => Reply::error(404, "NotFound", "the binding was not found"),
    }
}

/// The refusal of a patch whose preconditions do not hold, which comes before admission; `None` if they do.
pub fn unmet(server: &Server, request: &Request) -> Option<Reply> {
    let Some(object) = server.get(request.kind, &request.key) else {
        return Some(Reply::error(404, "NotFound", "the binding was not found"));
    };
    let (wanted, found) = (&request.body["metadata"], &object["metadata"]);
    if !wanted["uid"].is_null() && wanted["uid"] != found["uid"] {
        let causes =
            json!({"causes": [{"reason": "FieldValueInvalid", "message": "immutable", "field": "metadata.uid"}]});
        return Some(Reply::with_details(
            422,
            "Invalid",
            "metadata.uid: field is immutable",
            &causes,
        ));
    }
    let differs = !wanted["resourceVersion"].is_null() && wanted["resourceVersion"] != found["resourceVersion"];
    differs.then(conflict)
}

/// Carries out a patch with its preconditions.
pub fn write(server: &mut Server, now: Millis, request: &Request) -> Reply {
    if let Some(refusal) = unmet(server, request) {
        return refusal;
    }
    let mut patch = request.body.clone();
    if let Some(metadata) = patch["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
        metadata.remove("uid");
    }
    let is_status = request.verb == Verb::PatchStatus;
    server.change(now, request.kind, &request.key, |object| {
        let before = object.clone();
        json_patch::merge(object, &patch);
        // Each of the two ways of writing leaves the other's part alone.
        if is_status {
            object["spec"] = before["spec"].clone();
            object["metadata"] = before["metadata"].clone();
        } else {
            match before.get("status") {
                Some(status) => object["status"] = status.clone(),
                None => _ = object.as_object_mut().and_then(|object| object.remove("status")),
            }
        }
    });
    read(server, request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(server: &mut Server, path: &str, body: &Value) -> u16 {
        let path = format!("/apis/work.karmada.io/v1alpha2/namespaces/n/resourcebindings/{path}");
        let request = requested(1, &Method::PATCH, &path, body.to_string().as_bytes());
        write(server, 0, &request).code
    }

    #[test]
    fn a_patch_has_preconditions_and_leaves_the_other_part_alone() {
        let mut server = Server::default();
        let object = json!({"metadata": {"name": "a", "namespace": "n", "uid": "u"}, "spec": {"replicas": 1}});
        server.create(0, Kind::Binding, object);
        let body =
            json!({"metadata": {"uid": "u", "resourceVersion": "1"}, "spec": {"clusters": []}, "status": {"x": 1}});
        assert_eq!(patch(&mut server, "b", &body), 404);
        assert_eq!(patch(&mut server, "a", &body), 200);
        assert_eq!(patch(&mut server, "a", &body), 409);
        let status =
            json!({"metadata": {"uid": "u", "resourceVersion": "2"}, "spec": {"replicas": 7}, "status": {"x": 2}});
        assert_eq!(patch(&mut server, "a/status", &status), 200);
        assert_eq!(patch(&mut server, "a", &json!({"metadata": {"uid": "other"}})), 422);
        let (_, object) = server.of_kind(Kind::Binding).next().unwrap();
        assert_eq!(object["spec"], json!({"replicas": 1, "clusters": []}));
        assert_eq!(object["status"], json!({"x": 2}));
    }
}
