//! The demand of a FlinkDeployment, which has two pod templates in one, as Karmada's interpreter reads it.
//!
//! Its replicas are the job managers plus the task managers, and every replica requests the larger of their requests.

use super::kinds::count;
use super::pod::PodTemplate;
use super::{Fields, ResourceInterpreter, spark};
use crate::api::{Component, Quantity, ReplicaRequirements, ResourceList};
use divvy_spanned::FieldPath;
use serde_json::Value;

/// Path of the template that job managers and task managers share.
pub(super) const TEMPLATE: &str = "spec.podTemplate";

/// Job managers plus task managers.
pub(super) fn replicas(fields: &mut impl Fields) -> i32 {
    let (job_managers, task_managers) = managers(fields);
    job_managers.saturating_add(task_managers)
}

/// Job managers and task managers, each with the requests of their own.
pub(super) fn components(interpreter: ResourceInterpreter, fields: &mut impl Fields) -> Vec<Component> {
    let (job_managers, task_managers) = managers(fields);
    let template = FieldPath::dotted(TEMPLATE);
    let shared = fields.field::<PodTemplate>(&template).unwrap_or_default();
    let shared = shared
        .requirements(interpreter, "", &template, fields)
        .unwrap_or_default();
    let mut component = |name: &str, manager: &str, replicas| {
        let mut requirements = ReplicaRequirements {
            resource_request: ResourceList::new(),
            ..shared.clone()
        };
        for resource in ["cpu", "memory"] {
            if let Some(amount) = request(manager, resource, interpreter, fields) {
                requirements.resource_request.insert(resource.to_owned(), amount);
            }
        }
        Component {
            name: name.to_owned(),
            replicas,
            replica_requirements: Some(requirements),
        }
    };
    vec![
        component("jobmanager", "jobManager", job_managers),
        component("taskmanager", "taskManager", task_managers),
    ]
}

/// Job managers (1 by default), and task managers. Without a number of task managers, the slots of one divide the job's
/// parallelism.
fn managers(fields: &mut impl Fields) -> (i32, i32) {
    let at = |path: &str, fields: &mut _| count(fields, &FieldPath::dotted(path));
    let job_managers = at("spec.jobManager.replicas", fields).unwrap_or(1);
    let task_managers = at("spec.taskManager.replicas", fields).unwrap_or_else(|| {
        let parallelism = at("spec.job.parallelism", fields);
        let configuration = FieldPath::dotted("spec.flinkConfiguration").key("taskmanager.numberOfTaskSlots");
        // A map of texts until version 1.12 of Flink's operator; any values since.
        let slots = fields.field::<Value>(&configuration).and_then(|slots| match &slots {
            Value::String(text) => text.trim().parse::<i32>().ok(),
            slots => {
                let whole = slots.as_f64().filter(|slots| slots.fract() == 0.0)?;
                i32::try_from(whole as i64).ok()
            }
        });
        match (parallelism, slots) {
            (Some(parallelism), Some(slots)) if slots > 0 => parallelism / slots + i32::from(parallelism % slots != 0),
            _ => 1,
        }
    });
    (job_managers, task_managers)
}

/// What one manager requests of a resource. Flink's own notation of memory, such as `2048m` for 2 GiB, is a quantity of 2.048 bytes in
/// Karmada; [`ResourceInterpreter::Kubernetes`] reads it as Flink does.
fn request(
    manager: &str,
    resource: &str,
    interpreter: ResourceInterpreter,
    fields: &mut impl Fields,
) -> Option<Quantity> {
    let path = FieldPath::dotted(&format!("spec.{manager}.resource.{resource}"));
    if resource == "memory" && interpreter == ResourceInterpreter::Kubernetes {
        let written = fields.field::<Value>(&path)?;
        let is_own = |text: &str| {
            text.trim_end()
                .ends_with(|letter: char| letter.is_ascii_lowercase() && letter != 'i')
        };
        if let Some(text) = written.as_str().filter(|text| is_own(text)) {
            let bytes = spark::bytes(text);
            // Whole, and exact below 2⁵³. What is no such size is read as a quantity, which says what is wrong with it.
            if (1.0..9e15).contains(&bytes) {
                return Some(Quantity::from_units(bytes as i64));
            }
        }
    }
    let amount = fields.field::<Quantity>(&path)?;
    (!amount.is_negative() && !amount.is_zero()).then_some(amount)
}

/// Raises the requests to those of the larger manager.
pub(super) fn add_requests(
    requirements: &mut Option<ReplicaRequirements>,
    interpreter: ResourceInterpreter,
    namespace: &str,
    fields: &mut impl Fields,
) {
    for manager in ["jobManager", "taskManager"] {
        for resource in ["cpu", "memory"] {
            let Some(amount) = request(manager, resource, interpreter, fields) else {
                continue;
            };
            let requests = &mut requirements
                .get_or_insert_with(|| ReplicaRequirements {
                    namespace: namespace.to_owned(),
                    ..ReplicaRequirements::default()
                })
                .resource_request;
            let current = requests.entry(resource.to_owned()).or_insert(amount);
            *current = (*current).max(amount);
        }
    }
}
