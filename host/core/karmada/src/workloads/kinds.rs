//! The table of kinds with replicas.
//!
//! Kubernetes' own kinds are built in, as are those that Karmada interprets and common ones from Argo Rollouts and OpenKruise.
//! An entry in the profile overrides a built-in one with the same API version and kind.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::components::{self, Set};
use super::flink;
use super::pod::PodTemplate;
use super::{Demand, Fields};
use crate::api::TypeMeta;
use divvy_spanned::{Cause, FieldPath, PathSegment};

/// One kind with replicas: an entry of the profile's `[[workload]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WorkloadKind {
    /// Group and version, e.g. `argoproj.io/v1alpha1`.
    pub api_version: String,
    /// The kind, e.g. `Rollout`.
    pub kind: String,
    /// Path of the replicas, e.g. `spec.replicas`. An object without the field has 1 replica.
    pub replicas: String,
    /// Path of the pod template, e.g. `spec.template`; `None` if the kind has no template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
}

/// Rules by which the demand of a workload is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ResourceInterpreter {
    /// Pods request what Kubernetes' scheduler counts, including sidecars and pod-level resources.
    #[default]
    Kubernetes,
    /// Kinds and requests of Karmada's default interpreters, v1.19: no sidecars, no pod-level resources.
    Karmada,
}

/// Source of the replicas of a kind.
#[derive(Debug, Clone)]
enum Count {
    /// The number at a path; 1 if it is absent.
    At(FieldPath),
    /// The smaller of parallelism (1 if absent) and completions.
    Job,
    /// Always 1.
    One,
    /// The job manager and task managers of a FlinkDeployment.
    Flink,
    /// The head and the workers of a RayService.
    Ray,
}

#[derive(Debug, Clone)]
struct Entry {
    api_version: String,
    kind: String,
    count: Count,
    template: Option<FieldPath>,
}

/// The table of kinds with replicas.
#[derive(Debug, Clone)]
pub struct WorkloadKinds {
    interpreter: ResourceInterpreter,
    entries: Vec<Entry>,
    reads_components: bool,
}

/// API version, kind, and the paths of the replicas and the template. Without a path, there is 1 replica.
type BuiltIn = (&'static str, &'static str, Option<&'static str>, &'static str);

/// Kinds that Karmada's default interpreters read too
/// (`pkg/resourceinterpreter/default`: `native/replica.go`, `thirdparty/resourcecustomizations`).
const INTERPRETED: [BuiltIn; 10] = [
    ("apps/v1", "Deployment", REPLICAS, TEMPLATE),
    ("apps/v1", "ReplicaSet", REPLICAS, TEMPLATE),
    ("apps/v1", "StatefulSet", REPLICAS, TEMPLATE),
    ("apps.kruise.io/v1alpha1", "CloneSet", REPLICAS, TEMPLATE),
    ("apps.kruise.io/v1alpha1", "UnitedDeployment", REPLICAS, TEMPLATE),
    ("apps.kruise.io/v1beta1", "StatefulSet", REPLICAS, TEMPLATE),
    ("apps.kruise.io/v1alpha1", "BroadcastJob", PARALLELISM, TEMPLATE),
    // A Workflow has node selector, affinity and tolerations where a pod has them; its containers are in its steps.
    ("argoproj.io/v1alpha1", "Workflow", PARALLELISM, ""),
    ("kubeflow.org/v1", "Notebook", None, TEMPLATE),
    ("v1", "Pod", None, ""),
];
/// Kinds that Karmada propagates whole.
const FURTHER: [BuiltIn; 3] = [
    ("v1", "ReplicationController", REPLICAS, TEMPLATE),
    ("argoproj.io/v1alpha1", "Rollout", REPLICAS, TEMPLATE),
    ("apps.kruise.io/v1alpha1", "StatefulSet", REPLICAS, TEMPLATE),
];
const REPLICAS: Option<&str> = Some("spec.replicas");
const PARALLELISM: Option<&str> = Some("spec.parallelism");
const TEMPLATE: &str = "spec.template";
/// Last keys of numbers of replicas in kinds with several pod templates.
const COUNTS: [&str; 4] = ["replicas", "minAvailable", "instances", "parallelism"];

impl Default for WorkloadKinds {
    fn default() -> Self {
        Self::new(ResourceInterpreter::default(), &[])
    }
}

impl WorkloadKinds {
    /// The kinds that an interpreter knows, plus `further` ones, which take precedence.
    pub fn new(interpreter: ResourceInterpreter, further: &[WorkloadKind]) -> Self {
        let configured = further.iter().map(|kind| Entry {
            api_version: kind.api_version.clone(),
            kind: kind.kind.clone(),
            count: Count::At(FieldPath::dotted(&kind.replicas)),
            template: kind.template.as_deref().map(FieldPath::dotted),
        });
        let beyond_karmada: &[BuiltIn] = match interpreter {
            ResourceInterpreter::Kubernetes => &FURTHER,
            ResourceInterpreter::Karmada => &[],
        };
        let entry = |api_version: &str, kind: &str, count, template| Entry {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            count,
            template: Some(FieldPath::dotted(template)),
        };
        let built_in = INTERPRETED.iter().chain(beyond_karmada);
        let built_in = built_in.map(|&(api_version, kind, replicas, template)| {
            let count = replicas.map_or(Count::One, |path| Count::At(FieldPath::dotted(path)));
            entry(api_version, kind, count, template)
        });
        let job = entry("batch/v1", "Job", Count::Job, TEMPLATE);
        let flink = entry(
            "flink.apache.org/v1beta1",
            "FlinkDeployment",
            Count::Flink,
            flink::TEMPLATE,
        );
        let ray = Entry {
            api_version: "ray.io/v1".to_owned(),
            kind: "RayService".to_owned(),
            count: Count::Ray,
            template: None,
        };
        Self {
            interpreter,
            entries: configured.chain(built_in).chain([job, flink, ray]).collect(),
            reads_components: false,
        }
    }

    /// Reads the components of kinds with several pod templates, as Karmada does with its feature gate
    /// MultiplePodTemplatesScheduling. Beside Kubernetes' rules, kinds that have replicas as well keep those.
    #[must_use]
    pub fn reading_components(mut self, reads: bool) -> Self {
        self.reads_components = reads;
        self
    }

    /// The components to read of a kind.
    fn set(&self, type_meta: &TypeMeta) -> Option<Set> {
        let set = Set::of(type_meta).filter(|_| self.reads_components)?;
        let has_replicas = self.find(type_meta).is_some();
        (self.interpreter == ResourceInterpreter::Karmada || !has_replicas).then_some(set)
    }

    fn find(&self, type_meta: &TypeMeta) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.api_version == type_meta.api_version && entry.kind == type_meta.kind)
    }

    /// True if the table contains a kind.
    pub fn contains(&self, type_meta: &TypeMeta) -> bool {
        self.find(type_meta).is_some() || Set::of(type_meta).is_some()
    }

    /// True if a JSON pointer leads to a number of replicas of a kind, or to a field that contains it.
    pub fn sets_replicas(&self, type_meta: &TypeMeta, pointer: &str) -> bool {
        let segments: Vec<&str> = pointer
            .trim_matches('/')
            .split('/')
            .filter(|segment| !segment.is_empty())
            .collect();
        let is_count = segments.last().is_some_and(|last| COUNTS.contains(last));
        let contains = |path: &FieldPath| {
            let path: Vec<String> = path
                .segments()
                .iter()
                .map(|segment| match segment {
                    PathSegment::Key(key) => key.clone(),
                    PathSegment::Index(index) => index.to_string(),
                })
                .collect();
            path.len() >= segments.len() && path.iter().zip(&segments).all(|(key, segment)| key == segment)
        };
        let of_set =
            Set::of(type_meta).is_some() && segments.first() == Some(&"spec") && (is_count || segments.len() == 1);
        let entry = self.find(type_meta);
        of_set
            || entry.is_some_and(|entry| match &entry.count {
                Count::At(path) => contains(path),
                Count::Job => ["spec.parallelism", "spec.completions"]
                    .iter()
                    .any(|path| contains(&FieldPath::dotted(path))),
                Count::One => false,
                Count::Flink | Count::Ray => segments.first() == Some(&"spec") && (is_count || segments.len() == 1),
            })
    }

    /// The demand of an object; `None` if it is propagated whole. Invalid fields are reported through `fields`, and the
    /// demand is then not reliable.
    pub fn demand(&self, type_meta: &TypeMeta, namespace: &str, fields: &mut impl Fields) -> Option<Demand> {
        if let Some(set) = self.set(type_meta) {
            let components = set.read(self.interpreter, fields);
            return (!components.is_empty()).then(|| Demand {
                components,
                ..Demand::default()
            });
        }
        let entry = self.find(type_meta)?;
        if matches!(entry.count, Count::Ray) {
            let (replicas, requirements) = components::ray_service(self.interpreter, namespace, fields);
            return Some(Demand {
                replicas,
                requirements: requirements.map(Arc::new),
                components: Vec::new(),
            });
        }
        let replicas = match &entry.count {
            Count::At(path) => count(fields, path).unwrap_or(1),
            Count::Job => {
                let parallelism = count(fields, &FieldPath::dotted("spec.parallelism")).unwrap_or(1);
                let completions = count(fields, &FieldPath::dotted("spec.completions"));
                completions.map_or(parallelism, |completions| parallelism.min(completions))
            }
            Count::One | Count::Ray => 1,
            Count::Flink => flink::replicas(fields),
        };
        let mut requirements = entry.template.as_ref().and_then(|path| {
            let template = fields.field::<PodTemplate>(path).unwrap_or_default();
            template.requirements(self.interpreter, namespace, path, fields)
        });
        if matches!(entry.count, Count::Flink) {
            flink::add_requests(&mut requirements, self.interpreter, namespace, fields);
        }
        Some(Demand {
            replicas,
            requirements: requirements.map(Arc::new),
            components: Vec::new(),
        })
    }
}

/// The number at a path; a negative one is reported and read as 0.
pub(super) fn count(fields: &mut impl Fields, path: &FieldPath) -> Option<i32> {
    let count = fields.field::<i32>(path)?;
    if count < 0 {
        let reason = format!("expected a count of at least 0, got `{count}`");
        fields.report(path.clone(), Cause::InvalidValue { reason });
        return Some(0);
    }
    Some(count)
}
