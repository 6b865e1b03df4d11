//! Reads manifests as operators have them: YAML or JSON, several documents per file, files, folders, standard input.
//!
//! The reader returns objects with their locations, and all problems of all files; it does not stop at the first one.
//! It applies no default except the namespace, does not match policies (`divvy_karmada`) or know strategies
//! (`divvy_scheduler`), and opens only the inputs it is given.
//!
//! There are two paths to the same result. Valid JSON goes from text straight into the types, which makes a dump of
//! thousands of clusters cheap. YAML, and JSON with errors, goes through a tree that knows its lines
//! (`divvy_spanned`). A YAML library with its own deserializer was considered and rejected, because it stops at the
//! first problem.

mod broken;
mod chunk;
mod fields;
mod inputs;
mod known;
mod labels;
mod list;
mod lists;
mod naming;
mod object;
mod overlay;
mod reader;
mod refusals;
mod scope;
mod shared;
mod templates;
#[cfg(test)]
mod tests;
mod unknown;
mod validation;

pub use divvy_spanned::{Cause, FieldPath, ObjectName, PathSegment, Problem, Source, Warning};
pub use inputs::{Input, read, read_text};
pub use labels::WorkloadLabels;
pub use overlay::{OverlayChange, OverlayKind};
pub use unknown::Validation;

use std::collections::BTreeSet;
use std::path::PathBuf;

use divvy_karmada::api::{Cluster, FederatedResourceQuota, OverridePolicy, PropagationPolicy, ResourceBinding};
use divvy_karmada::detector::{AnnotationLines, Detected, Detector, Location, ResourceKey};
use divvy_karmada::workloads::{WorkloadKinds, WorkloadResource};

/// Default limit for the size of an input, in bytes. For comparison, a dump of 5,000 clusters is 50 MB.
pub const BYTES_MAX: u64 = 2 << 30;

/// Options for reading manifests.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The kinds with replicas.
    pub workload_kinds: WorkloadKinds,
    /// True to keep each cluster's JSON, for plugins that ask for it.
    pub keep_cluster_json: bool,
    /// Maximum size of a file or of standard input, in bytes. A larger input is a problem and is not read.
    pub bytes_max: u64,
    /// Treatment of unknown fields of Karmada's objects, of unknown kinds in its groups, and of unknown annotations.
    pub validation: Validation,
    /// The annotations with the prefix `divvy.io/` that are read; empty to accept any. One that ends in a dot permits
    /// all that begin with it.
    pub annotations: Vec<String>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            workload_kinds: WorkloadKinds::default(),
            keep_cluster_json: false,
            bytes_max: BYTES_MAX,
            validation: Validation::default(),
            annotations: Vec::new(),
        }
    }
}

/// An object with its location in the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    /// The object.
    pub object: T,
    /// Location of the object.
    pub source: Source,
    /// Lines of Divvy's annotations; empty unless the object is a policy.
    pub annotation_lines: AnnotationLines,
    /// The object as JSON, if [`ReadOptions::keep_cluster_json`] requests it.
    pub json: Option<Box<str>>,
}

/// The contents of all inputs.
#[derive(Debug, Clone, Default)]
pub struct Manifests {
    /// Valid clusters.
    pub clusters: Vec<Located<Cluster>>,
    /// Valid policies of both scopes.
    pub policies: Vec<Located<PropagationPolicy>>,
    /// Valid bindings of both scopes. Boxed, because they are passed on unchanged.
    pub bindings: Vec<Located<Box<ResourceBinding>>>,
    /// All other valid objects: workloads, and resources that are propagated whole.
    pub resources: Vec<Located<Box<WorkloadResource>>>,
    /// Valid override policies of both scopes, which change copies of workloads after they are scheduled.
    pub overrides: Vec<Located<OverridePolicy>>,
    /// Valid quotas of the results in a namespace.
    pub quotas: Vec<Located<FederatedResourceQuota>>,
    /// Number of Karmada's own objects that nothing here reads (`Work`, `Remedy`, …).
    pub ignored: usize,
    /// Problems. The caller must not schedule anything unless this is empty.
    pub problems: Vec<Problem>,
    /// Oddities that do not prevent scheduling.
    pub warnings: Vec<Warning>,
    /// The files that were read, in folders too.
    pub files: Vec<PathBuf>,
    /// Workloads whose labels an overlay changed, and whose policy it left alone.
    relabelled: BTreeSet<ResourceKey>,
}

impl Manifests {
    /// Moves the policies, bindings, resources and warnings into a detector and returns its bindings. Clusters and
    /// problems stay.
    pub fn detect(&mut self, workload_kinds: WorkloadKinds) -> Detected {
        let unknown_templates = templates::resolve(&mut self.resources);
        let mut detector = Detector::new(workload_kinds);
        // Each list is taken as a whole, so that its memory is free for the bindings.
        for policy in std::mem::take(&mut self.policies) {
            let location = Location {
                source: policy.source,
                annotation_lines: policy.annotation_lines,
            };
            detector.apply_policy(policy.object, Some(location));
        }
        for binding in std::mem::take(&mut self.bindings) {
            detector.apply_binding(binding.object, Some(binding.source));
        }
        detector.reserve_resources(self.resources.len());
        for resource in std::mem::take(&mut self.resources) {
            detector.apply_resource(resource.object, Some(resource.source));
        }
        for resource in std::mem::take(&mut self.relabelled) {
            detector.mark_relabelled(resource);
        }
        let mut detected = detector.detect();
        detected
            .warnings
            .splice(0..0, self.warnings.drain(..).chain(unknown_templates));
        detected
    }
}
