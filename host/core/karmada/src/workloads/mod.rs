//! The demand of a workload: its replicas, and the requirements of one replica.
//!
//! Karmada gets this from interpreters; the built-in ones read the pod template
//! (`pkg/resourceinterpreter/default/native/replica.go`). Here, a table lists where each kind keeps its replicas and
//! its template, and the profile's `[[workload]]` extends it. Kinds that are not in the table, such as DaemonSets,
//! CronJobs and ConfigMaps, are propagated whole. Webhook and Lua interpreters are not run.

mod components;
mod flink;
mod kinds;
mod pod;
mod spark;

pub use kinds::{ResourceInterpreter, WorkloadKind, WorkloadKinds};

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{Component, ReplicaRequirements, Resource};
use divvy_spanned::{Cause, FieldPath};

/// The replicas of a workload and their requirements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Demand {
    /// Number of replicas.
    pub replicas: i32,
    /// Requirements of one replica, which bindings share; `None` if the kind has no pod template, or the template requires
    /// nothing.
    pub requirements: Option<Arc<ReplicaRequirements>>,
    /// The components, if the workload has several pod templates and these are read; there are no replicas then.
    pub components: Vec<Component>,
}

/// A resource and its demand.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadResource {
    /// The resource.
    pub resource: Resource,
    /// Its demand; `None` if the resource is propagated whole.
    pub demand: Option<Demand>,
}

/// Access to single fields of an object, which collects the problems with them.
pub trait Fields {
    /// The field at a path, or `None` if it is absent or null. A field of the wrong type is reported as a problem, and
    /// the result is the part of it that could be read.
    fn field<T: DeserializeOwned + Default>(&mut self, path: &FieldPath) -> Option<T>;

    /// Reports a problem with a field. The caller then discards the object.
    fn report(&mut self, path: FieldPath, cause: Cause);
}

/// The value at a path; `None` if there is none.
pub fn value_at<'value>(value: &'value Value, path: &FieldPath) -> Option<&'value Value> {
    use divvy_spanned::PathSegment;
    path.segments().iter().try_fold(value, |value, segment| match segment {
        PathSegment::Key(key) => value.get(key),
        PathSegment::Index(index) => value.get(index),
    })
}
