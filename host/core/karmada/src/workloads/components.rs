//! The components of workloads with several pod templates, as Karmada's interpreters read them (`componentResource` of
//! `resourcecustomizations`) if the feature gate MultiplePodTemplatesScheduling is on.

use serde_json::Value;

use super::kinds::count;
use super::pod::PodTemplate;
use super::{Fields, ResourceInterpreter, flink, spark};
use crate::api::{Component, ReplicaRequirements, TypeMeta};
use divvy_spanned::FieldPath;

/// Where a kind has its components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// Job manager and task managers of Flink.
    Flink,
    /// Driver and executors of Spark.
    Spark,
    /// The tasks of a Job of Volcano.
    Volcano,
    /// Head and worker groups of Ray, at a path.
    Ray(&'static str),
    /// Named groups at a path: the key of each, whose name in lower case is the component's.
    Groups(&'static str, &'static [&'static str]),
}

/// Kinds with components.
const SETS: [(&str, &str, Set); 8] = [
    ("flink.apache.org/v1beta1", "FlinkDeployment", Set::Flink),
    ("sparkoperator.k8s.io/v1beta2", "SparkApplication", Set::Spark),
    ("batch.volcano.sh/v1alpha1", "Job", Set::Volcano),
    ("ray.io/v1", "RayCluster", Set::Ray("spec")),
    ("ray.io/v1", "RayJob", Set::Ray("spec.rayClusterSpec")),
    (
        "kubeflow.org/v1",
        "PyTorchJob",
        Set::Groups("spec.pytorchReplicaSpecs", &["Master", "Worker"]),
    ),
    (
        "kubeflow.org/v1",
        "TFJob",
        Set::Groups("spec.tfReplicaSpecs", &["PS", "Worker", "Chief", "Master", "Evaluator"]),
    ),
    (
        "kubeflow.org/v2beta1",
        "MPIJob",
        Set::Groups("spec.mpiReplicaSpecs", &["Launcher", "Worker"]),
    ),
];

impl Set {
    /// The components of a kind; `None` if it has none.
    pub(super) fn of(type_meta: &TypeMeta) -> Option<Self> {
        let known = SETS
            .iter()
            .find(|(api_version, kind, _)| *api_version == type_meta.api_version && *kind == type_meta.kind);
        known.map(|(_, _, set)| *set)
    }

    /// Reads the components of an object.
    pub(super) fn read(self, interpreter: ResourceInterpreter, fields: &mut impl Fields) -> Vec<Component> {
        match self {
            Self::Flink => flink::components(interpreter, fields),
            Self::Spark => spark::components(fields),
            Self::Volcano => {
                let tasks = FieldPath::dotted("spec.tasks");
                let paths = items(&tasks, fields).into_iter().enumerate();
                let components = paths.map(|(number, task)| Component {
                    name: name(&task.key("name"), number, fields),
                    replicas: count(fields, &task.key("minAvailable")).unwrap_or(1),
                    replica_requirements: requirements(&task.key("template"), interpreter, fields),
                });
                components.collect()
            }
            Self::Ray(path) => ray(&FieldPath::dotted(path), interpreter, fields),
            Self::Groups(path, keys) => {
                let groups = FieldPath::dotted(path);
                let components = keys.iter().filter_map(|key| {
                    let group = groups.key(key);
                    fields.field::<Value>(&group)?;
                    Some(Component {
                        name: key.to_lowercase(),
                        replicas: count(fields, &group.key("replicas")).unwrap_or(1),
                        replica_requirements: requirements(&group.key("template"), interpreter, fields),
                    })
                });
                components.collect()
            }
        }
    }
}

/// The head, always one, and the worker groups of a cluster of Ray.
pub(super) fn ray(cluster: &FieldPath, interpreter: ResourceInterpreter, fields: &mut impl Fields) -> Vec<Component> {
    let mut components = Vec::new();
    let head = cluster.key("headGroupSpec").key("template");
    if fields.field::<Value>(&head).is_some() {
        components.push(Component {
            name: "ray-head".to_owned(),
            replicas: 1,
            replica_requirements: requirements(&head, interpreter, fields),
        });
    }
    let workers = cluster.key("workerGroupSpecs");
    for (number, group) in items(&workers, fields).into_iter().enumerate() {
        components.push(Component {
            name: name(&group.key("groupName"), number, fields),
            replicas: count(fields, &group.key("replicas")).unwrap_or(0),
            replica_requirements: requirements(&group.key("template"), interpreter, fields),
        });
    }
    components
}

/// Replicas of a RayService, and their requirements: those of the head, with the largest CPU and memory of all groups.
pub(super) fn ray_service(
    interpreter: ResourceInterpreter,
    namespace: &str,
    fields: &mut impl Fields,
) -> (i32, Option<ReplicaRequirements>) {
    let components = ray(&FieldPath::dotted("spec.rayClusterConfig"), interpreter, fields);
    let mut components = components.into_iter();
    let Some(head) = components.next().filter(|head| head.name == "ray-head") else {
        return (0, None);
    };
    let mut replicas = head.replicas;
    let mut requirements = head.replica_requirements.unwrap_or_default();
    for group in components {
        replicas = replicas.saturating_add(group.replicas);
        let requests = group.replica_requirements.map(|own| own.resource_request);
        for (name, amount) in requests.into_iter().flatten() {
            if name != "cpu" && name != "memory" {
                continue;
            }
            let largest = requirements.resource_request.entry(name).or_insert(amount);
            *largest = (*largest).max(amount);
        }
    }
    let requires = requirements != ReplicaRequirements::default();
    namespace.clone_into(&mut requirements.namespace);
    (replicas, requires.then_some(requirements))
}

/// The paths of the items of a list.
fn items(list: &FieldPath, fields: &mut impl Fields) -> Vec<FieldPath> {
    let found = fields.field::<Vec<Value>>(list).unwrap_or_default();
    (0..found.len()).map(|index| list.index(index)).collect()
}

fn name(path: &FieldPath, number: usize, fields: &mut impl Fields) -> String {
    let name = fields.field::<String>(path).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| format!("worker-{}", number + 1))
}

fn requirements(
    template: &FieldPath,
    interpreter: ResourceInterpreter,
    fields: &mut impl Fields,
) -> Option<ReplicaRequirements> {
    // The API of a component has no namespace.
    let pod = fields.field::<PodTemplate>(template)?;
    pod.requirements(interpreter, "", template, fields)
}
