//! The table of kinds with replicas.
//!
//! Kubernetes' own kinds are built in, as are common ones from Argo Rollouts and OpenKruise. An entry in the profile
//! overrides a built-in one with the same API version and kind.

use serde::{Deserialize, Serialize};

use super::pod::PodTemplate;
use super::{Demand, Fields};
use crate::api::TypeMeta;
use divvy_documents::{Cause, FieldPath};

/// One kind with replicas: an entry of the profile's `[[workload]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// How to find the replicas of a kind.
#[derive(Debug, Clone)]
enum Count {
    /// The number at a path; 1 if it is absent.
    At(FieldPath),
    /// The smaller of parallelism (1 if absent) and completions.
    Job,
    /// Always 1.
    One,
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
    entries: Vec<Entry>,
}

/// The built-in kinds with `spec.replicas` and `spec.template`.
const SCALABLE: [(&str, &str); 8] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "ReplicaSet"),
    ("v1", "ReplicationController"),
    ("argoproj.io/v1alpha1", "Rollout"),
    ("apps.kruise.io/v1alpha1", "CloneSet"),
    ("apps.kruise.io/v1alpha1", "StatefulSet"),
    ("apps.kruise.io/v1beta1", "StatefulSet"),
];

impl Default for WorkloadKinds {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl WorkloadKinds {
    /// The built-in kinds, plus `further` ones, which take precedence.
    pub fn new(further: &[WorkloadKind]) -> Self {
        let configured = further.iter().map(|kind| Entry {
            api_version: kind.api_version.clone(),
            kind: kind.kind.clone(),
            count: Count::At(FieldPath::dotted(&kind.replicas)),
            template: kind.template.as_deref().map(FieldPath::dotted),
        });
        let built_in = |(api_version, kind): (&str, &str), count, template| Entry {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            count,
            template: Some(FieldPath::dotted(template)),
        };
        let replicas = || Count::At(FieldPath::dotted("spec.replicas"));
        let scalable = SCALABLE
            .into_iter()
            .map(|kind| built_in(kind, replicas(), "spec.template"));
        let job = built_in(("batch/v1", "Job"), Count::Job, "spec.template");
        let pod = built_in(("v1", "Pod"), Count::One, "");
        Self {
            entries: configured.chain(scalable).chain([job, pod]).collect(),
        }
    }

    fn find(&self, type_meta: &TypeMeta) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.api_version == type_meta.api_version && entry.kind == type_meta.kind)
    }

    /// True if the table contains a kind.
    pub fn contains(&self, type_meta: &TypeMeta) -> bool {
        self.find(type_meta).is_some()
    }

    /// The demand of an object; `None` if it is propagated whole. Invalid fields are reported through `fields`, and the
    /// demand is then not reliable.
    pub fn demand(&self, type_meta: &TypeMeta, namespace: &str, fields: &mut impl Fields) -> Option<Demand> {
        let entry = self.find(type_meta)?;
        let replicas = match &entry.count {
            Count::At(path) => count(fields, path).unwrap_or(1),
            Count::Job => {
                let parallelism = count(fields, &FieldPath::dotted("spec.parallelism")).unwrap_or(1);
                let completions = count(fields, &FieldPath::dotted("spec.completions"));
                completions.map_or(parallelism, |completions| parallelism.min(completions))
            }
            Count::One => 1,
        };
        let requirements = entry.template.as_ref().map(|path| {
            // Without a template the object requests nothing, but it is still a workload.
            let template = fields.field::<PodTemplate>(path).unwrap_or_default();
            template.requirements(namespace, path, fields)
        });
        Some(Demand { replicas, requirements })
    }
}

/// The number at a path; a negative one is reported and read as 0.
fn count(fields: &mut impl Fields, path: &FieldPath) -> Option<i32> {
    let count = fields.field::<i32>(path)?;
    if count < 0 {
        let reason = format!("expected a count of at least 0, got `{count}`");
        fields.report(path.clone(), Cause::InvalidValue { reason });
        return Some(0);
    }
    Some(count)
}
