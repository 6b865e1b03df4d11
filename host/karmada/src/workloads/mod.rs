//! What a workload asks for: its replicas, and what one replica needs.
//!
//! Karmada learns this from interpreters, of which the built-in ones read the pod template
//! (`pkg/resourceinterpreter/default/native/replica.go`). Here a table says for each kind where the count and
//! the template are; the profile's `[[workload]]` extends it. Everything the table does not name is
//! propagated whole: DaemonSets, CronJobs, ConfigMaps. Webhook and Lua interpreters are not run.

mod kinds;
mod pod;

pub use kinds::{WorkloadKind, WorkloadKinds};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{ReplicaRequirements, Resource};
use divvy_documents::{Cause, FieldPath};

/// What a workload asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Demand {
    /// The replicas.
    pub replicas: i32,
    /// What one replica needs; `None` where the kind has no pod template.
    pub requirements: Option<ReplicaRequirements>,
}

/// A resource with its demand.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadResource {
    /// The resource.
    pub resource: Resource,
    /// Its demand; `None` if it is propagated whole.
    pub demand: Option<Demand>,
}

/// Fields of an object, read one by one, with a place to leave what is wrong with them.
pub trait Fields {
    /// The field at a path, or `None` if it is absent or null. A field of another type is reported, and
    /// whatever of it can be read is given.
    fn field<T: DeserializeOwned + Default>(&mut self, path: &FieldPath) -> Option<T>;

    /// Reports a field.
    fn report(&mut self, path: FieldPath, cause: Cause);
}

/// The value at a path of plain keys.
pub fn value_at<'value>(value: &'value Value, path: &FieldPath) -> Option<&'value Value> {
    use divvy_documents::PathSegment;
    path.segments().iter().try_fold(value, |value, segment| match segment {
        PathSegment::Key(key) => value.get(key),
        PathSegment::Index(index) => value.get(index),
    })
}

/// Whether an object has a number at `spec.replicas`, as scalable kinds do.
pub fn has_replicas(resource: &Resource) -> bool {
    value_at(&resource.value, &FieldPath::dotted("spec.replicas")).is_some_and(Value::is_number)
}
