//! Manifests as operators have them: YAML or JSON, many documents per file, files, folders, standard input.
//!
//! The reader gives back objects with their places, and every problem of every file; it never gives up at
//! the first. It applies no default but the namespace, matches no policy and names no strategy
//! (`divvy_karmada`, `divvy_scheduler`), and it opens nothing but the inputs it was given.
//!
//! Two roads lead to one result. Valid JSON goes from text straight into the types, which is what makes a
//! dump of thousands of clusters cheap. YAML, and JSON in which something is wrong, goes by way of a tree that
//! knows its lines (`divvy_documents`). A YAML library that deserialises by itself was rejected, because it stops at the first
//! problem and says nothing about the others.

mod fields;
mod inputs;
mod reader;
mod scope;
#[cfg(test)]
mod tests;
mod validation;

pub use divvy_documents::{Cause, FieldPath, ObjectName, PathSegment, Problem, Source, Warning};
pub use inputs::{Input, read, read_text};

use divvy_karmada::api::{Cluster, PropagationPolicy, ResourceBinding};
use divvy_karmada::detector::{Detected, Detector};
use divvy_karmada::workloads::{WorkloadKinds, WorkloadResource};

/// The largest input that is read unless options say otherwise: a dump of 5,000 clusters is 50 MB.
pub const BYTES_MAX: u64 = 2 << 30;

/// How to read.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The kinds that have replicas.
    pub workload_kinds: WorkloadKinds,
    /// True to keep each cluster's JSON, for plugins that ask for it.
    pub keep_cluster_json: bool,
    /// The largest file, or standard input, that is read.
    pub bytes_max: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            workload_kinds: WorkloadKinds::default(),
            keep_cluster_json: false,
            bytes_max: BYTES_MAX,
        }
    }
}

/// An object and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    /// The object.
    pub object: T,
    /// Its place.
    pub source: Source,
    /// Its JSON, where it was asked for.
    pub json: Option<Box<str>>,
}

/// All that was read.
#[derive(Debug, Default)]
pub struct Manifests {
    /// Clusters.
    pub clusters: Vec<Located<Cluster>>,
    /// Policies of both scopes.
    pub policies: Vec<Located<PropagationPolicy>>,
    /// Bindings of both scopes.
    pub bindings: Vec<Located<ResourceBinding>>,
    /// Everything else.
    pub resources: Vec<Located<WorkloadResource>>,
    /// Karmada's own objects that no scheduler reads (`Work`, `OverridePolicy`, …): their number.
    pub ignored: usize,
    /// Problems; while there is one, nothing is scheduled.
    pub problems: Vec<Problem>,
    /// Oddities that were read as best they could be.
    pub warnings: Vec<Warning>,
}

impl Manifests {
    /// The bindings of the policies, bindings and workloads, which are taken out; clusters and problems stay.
    pub fn detect(&mut self, workload_kinds: WorkloadKinds) -> Detected {
        let mut detector = Detector::new(workload_kinds);
        for policy in self.policies.drain(..) {
            detector.apply_policy(policy.object);
        }
        for binding in self.bindings.drain(..) {
            detector.apply_binding(binding.object, Some(binding.source));
        }
        for resource in self.resources.drain(..) {
            detector.apply_resource(resource.object, Some(resource.source));
        }
        let mut detected = detector.detect();
        detected.warnings.splice(0..0, self.warnings.drain(..));
        detected
    }
}
