//! Rule g: under a profile with moves, no write takes ready replicas below what is allowed, gives more than a surge, or exceeds a budget.
//!
//! All sums are of the pods that members really run. What the scheduler believes appears in one place: a replica that no report has shown as
//! ready, or whose cluster is not Ready for the process that decides, may go as if it were not.

use std::collections::{BTreeMap, BTreeSet};

use divvy_controller::objects::{Kind, ObjectKey};
use divvy_judge::steps::{Allowances, Column};
use divvy_scheduler::moves::mark::{MOVE_ANNOTATION, Mark};
use divvy_scheduler::moves::planned::PlannedTarget;
use divvy_world::agenda::Millis;
use divvy_world::plane::{cluster_key, cluster_number};
use divvy_world::server::Request;
use serde_json::Value;

use super::Rule;
use super::decision::{described, replicas_on};
use super::plans::in_force;
use crate::oracle::{Targets, targets_of};
use crate::world::{Process, World};

/// Time after an exchange of profiles for which a write may still follow the one before.
const EXCHANGED: Millis = 30_000;

impl World<'_> {
    /// The clusters that are Ready for a process.
    pub(super) fn ready_clusters(process: &Process) -> BTreeSet<String> {
        let clusters = process.view.of_kind(Kind::Cluster);
        let ready = clusters.filter(|(_, cluster)| is_ready(cluster));
        ready.map(|(key, _)| key.name.clone()).collect()
    }

    /// Judges a result that is written.
    pub(super) fn judge_step(&mut self, request: &Request, before: &Value, after: &Value) {
        let Some(setting) = self.setting_of(request.process) else {
            return;
        };
        let (last, next) = (targets_of(before), targets_of(after));
        if last == next || last.is_empty() || !is_stepped(before) || self.now < self.books.exchanged_at + EXCHANGED {
            return;
        }
        if self.is_overtaken(&request.key, last.iter().chain(&next)) {
            return;
        }
        let total = after["spec"]["replicas"].as_i64().unwrap_or(0);
        let columns = self.columns(&request.key, before, &last, &next);
        if is_marked(before) || is_marked(after) {
            self.books.steps += 1;
        }
        let text = self
            .names_leaving(&request.key, &next)
            .or_else(|| setting.judge(&columns, (sum(&last), sum(&next)), total))
            .or_else(|| self.over_budget(&request.key, before, after, total, setting));
        if let Some(text) = text {
            let change = format!("{}: {} → {}", request.key.name, described(&last), described(&next));
            self.breach(Rule::G, format!("{change} of {total}: {text}"));
        }
    }

    /// True if the deletion of one of these clusters began after the decision, or it is no longer Ready, or gone, or the decision has not
    /// seen that yet.
    fn is_overtaken<'a>(&self, key: &ObjectKey, mut targets: impl Iterator<Item = &'a (String, i64)>) -> bool {
        let sees = |seen: &BTreeMap<ObjectKey, BTreeSet<String>>, name: &String| {
            seen.get(key).is_some_and(|seen| seen.contains(name))
        };
        targets.any(|(name, _)| {
            cluster_number(name).is_some_and(|number| {
                let begins_to_leave = self.plane.is_leaving(number) && !sees(&self.books.leaving_seen, name);
                let is_lost = !self.is_ready_now(number) && sees(&self.books.ready_seen, name);
                begins_to_leave || is_lost
            })
        })
    }

    /// True if a cluster is Ready, whatever processes have seen of it.
    fn is_ready_now(&self, number: usize) -> bool {
        let cluster = self.plane.server.get(Kind::Cluster, &cluster_key(number));
        cluster.is_some_and(|cluster| is_ready(cluster))
    }

    /// A cluster of a result whose deletion the process has seen before it decided: Karmada has removed what runs there.
    fn names_leaving(&self, key: &ObjectKey, next: &Targets) -> Option<String> {
        let leaving = self.books.leaving_seen.get(key)?;
        let named = next.iter().find(|(name, _)| leaving.contains(name))?;
        Some(format!("{} is being deleted", named.0))
    }

    /// The clusters that a process has seen to be deleted.
    pub(super) fn leaving_clusters(process: &Process) -> BTreeSet<String> {
        let clusters = process.view.of_kind(Kind::Cluster);
        let leaving = clusters.filter(|(_, cluster)| !cluster["metadata"]["deletionTimestamp"].is_null());
        leaving.map(|(key, _)| key.name.clone()).collect()
    }

    /// The setting of moves by which a process decides.
    fn setting_of(&self, incarnation: u64) -> Option<&'static Allowances> {
        let process = self.processes[self.slot_of(incarnation)?].as_ref()?;
        process.profile.moves()
    }

    fn columns(&self, key: &ObjectKey, before: &Value, last: &Targets, next: &Targets) -> BTreeMap<String, Column> {
        let seen = self.books.ready_seen.get(key);
        let mut names: BTreeSet<&String> = last.iter().chain(next).map(|(name, _)| name).collect();
        let evicted = names_in(before, "gracefulEvictionTasks", "fromCluster");
        names.extend(&evicted);
        let columns = names.into_iter().filter_map(|name| {
            let number = cluster_number(name)?;
            let member = self.plane.members.get(number)?;
            let is_ready = self.is_ready_now(number);
            let reported = reported(before, name);
            let column = Column {
                ready: member
                    .pods_of(key)
                    .1
                    .max(member.pods_that_were_ready(key).min(reported)),
                reported,
                before: count_on(last, name),
                after: count_on(next, name),
                is_ready,
                counts: is_ready && seen.is_some_and(|seen| seen.contains(name)),
            };
            // Karmada keeps what it evicts until it is replaced, and has removed what runs in a cluster that is being deleted.
            let is_karmadas = evicted.contains(name) || self.plane.is_leaving(number);
            (!is_karmadas).then(|| (name.clone(), column))
        });
        columns.collect()
    }

    /// What exceeds a budget of the profile; `None` if nothing does. What is missing, beyond the total or in a cluster that is being deleted is
    /// written at once, and needs none.
    fn over_budget(
        &self,
        key: &ObjectKey,
        before: &Value,
        after: &Value,
        total: i64,
        setting: &Allowances,
    ) -> Option<String> {
        let (last, next) = (targets_of(before), targets_of(after));
        let gained: Vec<&(String, i64)> = next
            .iter()
            .filter(|(name, count)| *count > count_on(&last, name))
            .collect();
        let leaving = self.books.leaving_seen.get(key);
        let is_left = leaving.is_some_and(|leaving| last.iter().any(|(name, _)| leaving.contains(name)));
        if is_left || sum(&last) < total || gained.is_empty() || self.books.exchanged_at > 0 {
            return None;
        }
        let bindings = self.plane.server.of_kind(Kind::Binding);
        let others: Vec<_> = bindings.filter(|(other, _)| *other != key).collect();
        if !is_marked(before)
            && let Some(limit) = setting.bindings
        {
            let under_way = others.iter().filter(|(_, binding)| is_under_way(binding));
            let under_way: Vec<&str> = under_way.map(|(other, _)| other.name.as_str()).collect();
            if i64::try_from(under_way.len()).unwrap_or(i64::MAX) >= limit {
                return Some(format!(
                    "it begins beside {} under way, of {limit}",
                    under_way.join(", ")
                ));
            }
        }
        let mut unready: BTreeMap<String, i64> = BTreeMap::new();
        // What is missing is given at once, beyond any budget, and may overtake a step that was decided before.
        let turn = self.books.turns.get(key);
        for (other, binding) in others.iter().filter(|(other, _)| self.books.turns.get(other) <= turn) {
            self.add_given(other, binding, &mut unready);
        }
        let of_others = unready.clone();
        self.add_given(key, before, &mut unready);
        for (name, count) in &gained {
            *unready.entry(name.clone()).or_default() += count - count_on(&last, name);
        }
        let all: i64 = unready.values().sum();
        if let Some(limit) = setting.replicas.filter(|limit| all > *limit) {
            return Some(format!(
                "{all} replicas are given and not ready, of {limit}: {unready:?}, {of_others:?} of others"
            ));
        }
        let limit = setting.replicas_per_cluster?;
        // What was missing has been given at once, to any cluster.
        let mut gained = gained
            .iter()
            .map(|(name, _)| (name, unready.get(name).copied().unwrap_or(0)));
        let (name, count) = gained.find(|(_, count)| *count > limit)?;
        Some(format!(
            "{count} replicas are given and not ready in {name}, of {limit}"
        ))
    }

    /// Adds the replicas that a binding's move has given and that are not ready, by what runs or by what is reported, whichever is more.
    fn add_given(&self, key: &ObjectKey, binding: &Value, unready: &mut BTreeMap<String, i64>) {
        let Some(mark) = mark_of(binding) else { return };
        let planned = in_force(binding);
        for (name, current) in targets_of(binding) {
            let is_given = mark.clusters.get(&name).is_some_and(|waypoint| {
                waypoint.bound.is_some() && aim(&planned, &name, waypoint.target).min(waypoint.target) >= current
            });
            let Some(number) = cluster_number(&name).filter(|_| is_given) else {
                continue;
            };
            let ready = self.plane.members[number].pods_of(key).1.max(reported(binding, &name));
            *unready.entry(name).or_default() += (current - ready).max(0);
        }
    }
}

/// True if results of a binding are written in steps: those of Deployments that are divided.
fn is_stepped(binding: &Value) -> bool {
    let spec = &binding["spec"];
    let is_divided = spec["placement"]["replicaScheduling"]["replicaSchedulingType"] == "Divided";
    is_divided && spec["resource"]["kind"] == "Deployment" && spec["components"].is_null()
}

/// True if a binding has the mark of a move.
pub(super) fn is_marked(binding: &Value) -> bool {
    binding["metadata"]["annotations"][MOVE_ANNOTATION].is_string()
}

/// The mark of a binding, if it is of its present version.
pub(super) fn mark_of(binding: &Value) -> Option<Mark> {
    let mark = Mark::parse(binding["metadata"]["annotations"][MOVE_ANNOTATION].as_str()?).ok()?;
    (binding["metadata"]["generation"] == mark.generation).then_some(mark)
}

/// The target of a move in a cluster. A plan may turn a move round: what it takes away then is not given any more.
fn aim(planned: &Option<PlannedTarget>, cluster: &str, marked: i64) -> i64 {
    let planned = planned.as_ref();
    planned.map_or(marked, |planned| planned.target.get(cluster).copied().unwrap_or(0))
}

/// True if a move has begun, has not reached its target, and has not given its turn away.
fn is_under_way(binding: &Value) -> bool {
    let targets = targets_of(binding);
    let planned = in_force(binding);
    mark_of(binding).is_some_and(|mark| {
        let mut waypoints = mark.clusters.iter();
        let has_rest =
            waypoints.any(|(name, waypoint)| aim(&planned, name, waypoint.target) != count_on(&targets, name));
        // The mark of a move that has reached its target does not let another one begin.
        let mut waypoints = mark.clusters.iter();
        let has_begun = waypoints.any(|(name, waypoint)| waypoint.target != count_on(&targets, name));
        has_rest && has_begun && !mark.is_released
    })
}

fn is_ready(cluster: &Value) -> bool {
    let mut conditions = cluster["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Ready replicas in a binding's report about a cluster.
fn reported(binding: &Value, cluster: &str) -> i64 {
    let mut entries = binding["status"]["aggregatedStatus"].as_array().into_iter().flatten();
    let entry = entries.find(|entry| entry["clusterName"] == cluster);
    entry
        .and_then(|entry| entry["status"]["readyReplicas"].as_i64())
        .unwrap_or(0)
}

fn names_in(binding: &Value, list: &str, field: &str) -> Vec<String> {
    let entries = binding["spec"][list].as_array().into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry[field].as_str()?.to_owned()))
        .collect()
}

/// Replicas on a cluster, none if the targets do not name it.
fn count_on(targets: &Targets, cluster: &str) -> i64 {
    replicas_on(targets, cluster).unwrap_or(0)
}

fn sum(targets: &Targets) -> i64 {
    targets.iter().map(|(_, replicas)| replicas).sum()
}
