//! The demand of a FlinkDeployment, which has two pod templates in one, as Karmada's interpreter reads it.
//!
//! Its replicas are the job managers plus the task managers, and every replica requests the larger of their requests.

use super::Fields;
use super::kinds::count;
use crate::api::{Quantity, ReplicaRequirements};
use divvy_spanned::FieldPath;
use serde_json::Value;

/// Path of the template that job managers and task managers share.
pub(super) const TEMPLATE: &str = "spec.podTemplate";

/// Job managers (1 by default) plus task managers. Without a number of task managers, the slots of one divide the job's
/// parallelism.
pub(super) fn replicas(fields: &mut impl Fields) -> i32 {
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
    job_managers.saturating_add(task_managers)
}

/// Raises the requests to those of the larger manager.
pub(super) fn add_requests(requirements: &mut Option<ReplicaRequirements>, namespace: &str, fields: &mut impl Fields) {
    for manager in ["jobManager", "taskManager"] {
        for resource in ["cpu", "memory"] {
            let path = FieldPath::dotted(&format!("spec.{manager}.resource.{resource}"));
            let Some(amount) = fields
                .field::<Quantity>(&path)
                .filter(|amount| !amount.is_negative() && !amount.is_zero())
            else {
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
