//! Plans of the script: made of the present state, applied and given up as `divvy rebalance` does it.

use std::collections::BTreeMap;

use divvy_controller::objects::{Kind, ObjectKey};
use divvy_karmada::api::{ReadJson, ResourceBinding};
use divvy_scheduler::moves::planned::{PLANNED_ANNOTATION, PlannedTarget, give_up};
use divvy_world::agenda::Millis;
use divvy_world::plane::EPOCH;
use divvy_world::random::Random;
use serde_json::{Value, json};

use super::World;
use crate::oracle::{Oracle, Targets, targets_of};
use crate::rules::is_ours;
use crate::script::Planning;

/// Time after which the plan counts no more that is made once all troubles have ended.
const LAST_PLAN: Millis = 900_000;

impl World<'_> {
    /// Makes a plan and gives each binding its target.
    pub(super) fn plan(&mut self, planning: Planning, lasts: Millis) {
        let bindings = self.plane.server.of_kind(Kind::Binding);
        let ours: Vec<(ObjectKey, Value)> = bindings
            .filter(|(_, binding)| is_ours(binding))
            .map(|(key, binding)| (key.clone(), Value::clone(binding)))
            .collect();
        let (name, targets) = match planning {
            Planning::Place => {
                let targets = self.oracle().plan(ours.iter().map(|(_, binding)| binding));
                (format!("placing-{}", self.now), targets)
            }
            Planning::Anyhow(number) => {
                let mut random = Random::new(number, "plan");
                let targets = ours.iter().map(|(_, binding)| self.anyhow(binding, &mut random));
                (format!("anyhow-{number}"), targets.collect())
            }
        };
        let until = EPOCH * 1_000 + i64::try_from(self.now + lasts).unwrap_or(i64::MAX);
        for ((key, binding), target) in ours.iter().zip(targets) {
            let Some(target) = target else { continue };
            let counts = |targets: Targets| -> BTreeMap<String, i64> { targets.into_iter().collect() };
            let generation = binding["metadata"]["generation"].as_i64().unwrap_or(0);
            self.books.targets += 1;
            if self.is_healed {
                self.books.planned.insert(key.clone(), target.clone());
            }
            let (from, target) = (counts(targets_of(binding)), counts(target));
            let planned = PlannedTarget::new(name.clone(), generation, from, target, until);
            self.annotate(key, Some(&planned));
        }
    }

    /// A plan of what waits, once all troubles have ended.
    pub(super) fn plan_at_the_end(&mut self) {
        if self.profile.moves().is_some() {
            self.note(|| "all that waits and can be placed is planned".to_owned());
            self.plan(Planning::Place, LAST_PLAN);
        }
    }

    /// Gives up every plan that is under way.
    pub(super) fn give_up_plans(&mut self) {
        let bindings = self.plane.server.of_kind(Kind::Binding);
        let planned = bindings.filter_map(|(key, binding)| {
            let object = ResourceBinding::from_json(&binding.to_string()).ok()?;
            let text = object.metadata.annotations.get(PLANNED_ANNOTATION)?;
            let plan = PlannedTarget::parse(text).ok()?;
            Some((key.clone(), give_up(&object, &plan.plan, plan.until)?))
        });
        let planned: Vec<(ObjectKey, Option<PlannedTarget>)> = planned.collect();
        for (key, target) in planned {
            self.annotate(&key, target.as_ref());
        }
    }

    /// Offline decisions of the present state.
    pub(crate) fn oracle(&self) -> Oracle {
        let clusters = self.plane.server.of_kind(Kind::Cluster).map(|(_, cluster)| &**cluster);
        Oracle::new(self.profiles.side(self.profile), clusters, self.moment().milliseconds)
    }

    /// Some other result for a binding that has all its replicas: no good one, and perhaps none that it may have.
    fn anyhow(&self, binding: &Value, random: &mut Random) -> Option<Targets> {
        let mut targets: BTreeMap<String, i64> = targets_of(binding).into_iter().collect();
        let sum: i64 = targets.values().sum();
        let clusters: Vec<String> = self
            .plane
            .server
            .of_kind(Kind::Cluster)
            .map(|(key, _)| key.name.clone())
            .collect();
        let is_divided = binding["spec"]["placement"]["replicaScheduling"]["replicaSchedulingType"] == "Divided";
        let is_whole = sum > 0 && binding["spec"]["replicas"].as_i64() == Some(sum) && is_divided;
        if !is_whole || clusters.is_empty() || random.chance(30) {
            return None;
        }
        for _ in 0..=random.below(3) {
            let names: Vec<String> = targets.keys().cloned().collect();
            let (from, to) = (
                &names[random.index(names.len())],
                &clusters[random.index(clusters.len())],
            );
            let moved = random.count(targets.get(from).copied().unwrap_or(0) + 1);
            *targets.entry(from.clone()).or_default() -= moved;
            *targets.entry(to.clone()).or_default() += moved;
        }
        targets.retain(|_, replicas| *replicas > 0);
        Some(targets.into_iter().collect())
    }

    fn annotate(&mut self, key: &ObjectKey, planned: Option<&PlannedTarget>) {
        let text = planned.and_then(|planned| planned.write().ok());
        self.plane.change_binding(key, |object| {
            set_planned(&mut object["metadata"]["annotations"], text.as_deref());
        });
    }
}

fn set_planned(annotations: &mut Value, text: Option<&str>) {
    match (text, annotations.as_object_mut()) {
        (Some(text), _) => annotations[PLANNED_ANNOTATION] = json!(text),
        (None, Some(annotations)) => _ = annotations.remove(PLANNED_ANNOTATION),
        (None, None) => {}
    }
}
