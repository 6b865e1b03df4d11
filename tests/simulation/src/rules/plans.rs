//! Rule h: plans. What a process does for a plan is of the version of which the plan was made, and exactly what the plan says; at rest, no plan is
//! left, and one that has been carried out leaves nothing to plan.
//!
//! A write is for one version of its binding, so the annotation that it meets is one that the process has seen.

use divvy_controller::objects::{Kind, ObjectKey};
use divvy_karmada::api::{ReadJson, ResourceBinding};
use divvy_scheduler::moves::mark::destination;
use divvy_scheduler::moves::planned::{PLANNED_ANNOTATION, PlannedTarget, counts};
use divvy_world::agenda::Millis;
use divvy_world::plane::{EPOCH, cluster_number};
use divvy_world::server::Request;
use serde_json::Value;

use super::Rule;
use super::decision::described;
use super::moves::{is_marked, mark_of};
use super::rest::is_ours;
use crate::oracle::{Targets, targets_of};
use crate::world::World;

/// Time from the decision on a write until it is carried out, at most.
const UNDER_WAY: Millis = 60_000;

impl World<'_> {
    /// Judges a write of a result.
    pub(super) fn judge_plan(&mut self, request: &Request, before: &Value, after: &Value) {
        if targets_of(before) == targets_of(after) || self.is_any_leaving(before, after) {
            return;
        }
        let Some(planned) = planned(before) else { return };
        let (Some(present), Some(next)) = (read(before), read(after)) else {
            return;
        };
        let result = counts(&present.spec.clusters);
        let total = i64::from(present.spec.replicas.unwrap_or(0));
        let is_of_version = planned.generation == present.metadata.generation;
        let is_as_found = is_of_version && (result == planned.from || is_marked(before));
        let now = EPOCH * 1_000 + i64::try_from(self.now.saturating_sub(UNDER_WAY)).unwrap_or(0);
        let found = match (is_marked(before), mark_of(before).is_some()) {
            // It has not begun.
            (false, _) if !is_as_found => Some("although the plan is of another version"),
            (false, _) if planned.until < now => Some("although the time of the plan has passed"),
            (false, _) if result.values().sum::<i64>() < total && counts(&next.spec.clusters) != planned.target => {
                Some("although it waits for the room of a plan")
            }
            // It has been given another target on its way.
            (true, true) if is_of_version && planned.until >= now + 2 * i64::try_from(UNDER_WAY).unwrap_or(0) => {
                let mut on_its_way = destination(&next).unwrap_or_else(|| counts(&next.spec.clusters));
                on_its_way.retain(|_, replicas| *replicas > 0);
                (on_its_way != planned.target).then_some("although its plan has another target")
            }
            _ => None,
        };
        if let Some(text) = found {
            let change = format!(
                "{}: {} → {}",
                request.key.name,
                described(&targets_of(before)),
                described(&targets_of(after))
            );
            self.breach(Rule::H, format!("{change}, {text}: {planned:?}"));
        }
    }

    /// True if a cluster of one of these results is being deleted: what ran there is decided anew.
    fn is_any_leaving(&self, before: &Value, after: &Value) -> bool {
        let mut names = [before, after].into_iter().flat_map(targets_of).map(|(name, _)| name);
        names.any(|name| cluster_number(&name).is_none_or(|number| self.plane.is_leaving(number)))
    }

    /// A plan that has not ended, although the time of every plan has passed, or one that has been carried out and leaves something to plan.
    pub(super) fn plan_at_rest(&self) -> Option<String> {
        let bindings = self.plane.server.of_kind(Kind::Binding).map(|(_, binding)| &**binding);
        let ours: Vec<&Value> = bindings.filter(|binding| is_ours(binding)).collect();
        let name = |binding: &Value| binding["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if let Some(left) = ours.iter().find(|binding| is_planned(binding)) {
            return Some(format!("{} has a planned target at rest", name(left)));
        }
        let is_reached = |key: &ObjectKey, target: &Targets| {
            let binding = self.plane.server.get(Kind::Binding, key);
            binding.is_some_and(|binding| targets_of(binding) == *target)
        };
        let planned = &self.books.planned;
        if planned.is_empty() || !planned.iter().all(|(key, target)| is_reached(key, target)) {
            return None;
        }
        let next = self.oracle().plan(ours.iter().copied());
        let (binding, target) = ours
            .iter()
            .zip(next)
            .find_map(|(binding, target)| Some((binding, target?)))?;
        Some(format!(
            "all is at the targets of the plan, and the next one gives {} {} instead of {}",
            name(binding),
            described(&target),
            described(&targets_of(binding))
        ))
    }
}

/// True if a plan has a target for a binding.
pub(super) fn is_planned(binding: &Value) -> bool {
    binding["metadata"]["annotations"][PLANNED_ANNOTATION].is_string()
}

/// The target that a plan has for a binding that has all its replicas, if it is of its present version.
pub(super) fn in_force(binding: &Value) -> Option<PlannedTarget> {
    let sum: i64 = targets_of(binding).iter().map(|(_, replicas)| replicas).sum();
    let has_all = binding["spec"]["replicas"].as_i64().is_some_and(|total| sum >= total);
    let is_of_version = |planned: &PlannedTarget| binding["metadata"]["generation"] == planned.generation;
    planned(binding).filter(|planned| has_all && is_of_version(planned))
}

fn planned(binding: &Value) -> Option<PlannedTarget> {
    PlannedTarget::parse(binding["metadata"]["annotations"][PLANNED_ANNOTATION].as_str()?).ok()
}

fn read(binding: &Value) -> Option<ResourceBinding> {
    ResourceBinding::from_json(&binding.to_string()).ok()
}
