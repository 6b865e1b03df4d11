//! Any other object: a workload, or a resource that is propagated whole.
//!
//! The location of the replicas and the pod template is configurable (`crate::workloads::WorkloadKinds`) and so cannot be part of
//! a type. They are read from the whole object, and only a small part is kept, because a dump has hundreds of thousands.

use serde_json::Value;

use super::dependency::{Dependency, dependencies};
use super::{ObjectMeta, TypeMeta};

/// Fields of a specification that set a number of replicas.
const COUNTS: [&str; 3] = ["replicas", "parallelism", "completions"];

/// An object that is not a cluster, policy or binding.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// `apiVersion` and `kind`.
    pub type_meta: TypeMeta,
    /// Name, namespace, labels, annotations.
    pub metadata: ObjectMeta,
    /// True if it has a number at `spec.replicas`, as scalable kinds do.
    pub has_replicas: bool,
    /// True if its specification sets a number of replicas, and does not leave it to an autoscaler.
    pub sets_count: bool,
    /// The priority, if it is a `PriorityClass`.
    pub priority: Option<i32>,
    /// The kind that it defines, if it is a CustomResourceDefinition.
    pub defines: Option<Box<CustomKind>>,
    /// The workload whose pod template it uses instead of its own, if it is a Rollout with a `workloadRef`.
    pub template_of: Option<Box<TemplateReference>>,
    /// Objects of its namespace that its pods refer to, sorted.
    pub dependencies: Box<[Dependency]>,
}

/// A workload in the same namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateReference {
    /// Its type.
    pub type_meta: TypeMeta,
    /// Its name.
    pub name: String,
}

/// A kind of a CustomResourceDefinition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomKind {
    /// The API group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// True if its objects have no namespace.
    pub is_cluster_scoped: bool,
}

impl Resource {
    /// The kept part of an object.
    pub fn new(type_meta: TypeMeta, metadata: ObjectMeta, object: &Value) -> Self {
        let spec = object.get("spec");
        let field = |key: &str| spec.and_then(|spec| spec.get(key));
        let defines = spec.filter(|_| type_meta.kind == "CustomResourceDefinition");
        Self {
            has_replicas: field("replicas").is_some_and(Value::is_number),
            sets_count: COUNTS
                .iter()
                .any(|key| field(key).is_some_and(|value| !value.is_null())),
            priority: priority(&type_meta, object),
            template_of: spec.and_then(|spec| template_of(&type_meta, spec)).map(Box::new),
            defines: defines.and_then(custom_kind).map(Box::new),
            dependencies: dependencies(&type_meta, object),
            type_meta,
            metadata,
        }
    }
}

fn priority(type_meta: &TypeMeta, object: &Value) -> Option<i32> {
    let is_class = type_meta.group() == "scheduling.k8s.io" && type_meta.kind == "PriorityClass";
    let value = object.get("value").filter(|_| is_class)?;
    i32::try_from(value.as_i64()?).ok()
}

/// The `workloadRef` of a Rollout of Argo Rollouts. Its own template wins, as in that controller.
fn template_of(type_meta: &TypeMeta, spec: &Value) -> Option<TemplateReference> {
    let is_rollout = type_meta.group() == "argoproj.io" && type_meta.kind == "Rollout";
    let has_template = spec.get("template").is_some_and(Value::is_object);
    let reference = spec.get("workloadRef").filter(|_| is_rollout && !has_template)?;
    let text = |key: &str| reference.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(TemplateReference {
        type_meta: TypeMeta {
            api_version: text("apiVersion")?,
            kind: text("kind")?,
        },
        name: text("name")?,
    })
}

fn custom_kind(definition: &Value) -> Option<CustomKind> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    Some(CustomKind {
        group: text(definition.get("group"))?,
        kind: text(definition.get("names").and_then(|names| names.get("kind")))?,
        is_cluster_scoped: definition.get("scope").and_then(Value::as_str) == Some("Cluster"),
    })
}
