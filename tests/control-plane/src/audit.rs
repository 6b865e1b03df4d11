//! The API server's audit log: writers, writes, times and answers.
//!
//! Writes to Karmada's resources, Leases and Events are logged with their bodies, other writes without. Reads are not logged.

use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom};
use std::path::PathBuf;

use divvy_karmada::api::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Error;

/// The policy that [`AuditLog`] expects, in the format of `--audit-policy-file`.
pub(crate) fn policy() -> Value {
    let writes = ["create", "update", "patch", "delete", "deletecollection"];
    let groups = [
        "work.karmada.io",
        "policy.karmada.io",
        "cluster.karmada.io",
        "coordination.k8s.io",
        "events.k8s.io",
    ];
    let mut resources: Vec<Value> = groups.iter().map(|group| json!({"group": group})).collect();
    resources.push(json!({"group": "", "resources": ["events"]}));
    json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        // One entry per request, written with its answer.
        "omitStages": ["RequestReceived", "ResponseStarted"],
        "rules": [
            {"level": "RequestResponse", "verbs": writes, "resources": resources, "omitManagedFields": true},
            {"level": "Metadata", "verbs": writes},
            {"level": "None"},
        ],
    })
}

/// The audit log of a control plane, or its part that belongs to a test.
#[derive(Debug, Clone)]
pub struct AuditLog {
    path: PathBuf,
    /// Position of the first entry, in bytes.
    start: u64,
}

/// One write and its answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Write {
    /// `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: String,
    /// The user.
    pub user: UserInfo,
    /// The client's `User-Agent`.
    #[serde(default)]
    pub user_agent: String,
    /// The object.
    #[serde(default)]
    pub object_ref: ObjectReference,
    /// The answer's status.
    pub response_status: ResponseStatus,
    /// Body of the request; for a patch, the patch.
    #[serde(default)]
    pub request_object: Value,
    /// Body of the answer: the object as it is after the write.
    #[serde(default)]
    pub response_object: Value,
    /// Arrival of the request, to the microsecond.
    pub request_received_timestamp: Timestamp,
    /// Time of the answer, to the microsecond.
    pub stage_timestamp: Timestamp,
}

/// The user of a request.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct UserInfo {
    /// Name of the user.
    pub username: String,
}

/// The object of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    /// The plural name, e.g. `resourcebindings`.
    pub resource: String,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// The name; empty if the API server generated it.
    pub name: String,
    /// `status` for a write to that subresource; empty for the object itself.
    pub subresource: String,
}

/// The status of an answer.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ResponseStatus {
    /// The HTTP status.
    pub code: u16,
    /// Reason of a refusal, as a word for programs.
    #[serde(default)]
    pub reason: String,
    /// Reason of a refusal, as a sentence for people.
    #[serde(default)]
    pub message: String,
}

impl Write {
    /// True if the API server carried the write out.
    pub fn succeeded(&self) -> bool {
        (200..300).contains(&self.response_status.code)
    }

    /// The name of the object, also of one whose name the API server generated.
    pub fn name(&self) -> &str {
        let generated = self.response_object["metadata"]["name"].as_str();
        match self.object_ref.name.as_str() {
            "" => generated.unwrap_or_default(),
            name => name,
        }
    }
}

impl AuditLog {
    /// The log in a file. The API server creates it with the first write.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, start: 0 }
    }

    /// The same log without the writes so far.
    pub(crate) fn rest(self) -> Result<Self, Error> {
        let start = match std::fs::metadata(&self.path) {
            Ok(file) => file.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(Error::file(&self.path)(error)),
        };
        Ok(Self { start, ..self })
    }

    /// All writes so far, in the order of their answers. A line that is just being written is left out.
    pub fn writes(&self) -> Result<Vec<Write>, Error> {
        let mut file = std::fs::File::open(&self.path).map_err(Error::file(&self.path))?;
        file.seek(SeekFrom::Start(self.start))
            .map_err(Error::file(&self.path))?;
        let mut reader = BufReader::new(file);
        let mut writes = Vec::new();
        let mut line = String::new();
        loop {
            line.clear();
            reader.read_line(&mut line).map_err(Error::file(&self.path))?;
            if !line.ends_with('\n') {
                return Ok(writes);
            }
            writes.push(serde_json::from_str(&line).map_err(|error| Error::Content {
                path: self.path.clone(),
                message: format!("line {}: {error}", writes.len() + 1),
            })?);
        }
    }

    /// The writes by a user, in the order of their answers.
    pub fn writes_by(&self, user: crate::users::User) -> Result<Vec<Write>, Error> {
        let mut writes = self.writes()?;
        writes.retain(|write| write.user.username == user.name);
        Ok(writes)
    }
}
