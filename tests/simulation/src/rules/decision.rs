//! Rules b and c: the capacity that a decision takes, and the replicas that it takes away.

use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_controller::holdings::HeldPart;
use divvy_controller::objects::{BindingKey, Kind, ObjectKey};
use divvy_controller::serve::{Insight, ObjectPath, Unexplained};
use divvy_controller::write::WriteJob;
use divvy_karmada::api::{Quantity, Timestamp};
use divvy_world::agenda::Millis;
use divvy_world::member::Usage;
use divvy_world::plane::{EPOCH, cluster_number, requests_of};
use serde_json::Value;

use super::Rule;
use super::moves::is_marked;
use super::plans::is_planned;
use crate::oracle::{HeldList, Opinion, Oracle, Targets, targets_of};
use crate::script::{Action, ProfileName};
use crate::world::{Process, World};

/// Time after replicas were taken from a cluster in which sums may be above what is allocatable on clusters that a decision does
/// not touch: pods that end hide the growth that settles holdings, which then end by their limit.
const HIDDEN: Millis = 65_000;

/// Time after a start for which results are held that clusters may have reported already.
const STARTED: Millis = 25_000;

/// Seconds for which capacity may be held without a report: the limit of holdings, in whole seconds, and two looks at the clock.
const HELD_SECONDS: i64 = 63;

/// Time for which vanished clusters stop writes that take replicas away.
pub(super) const MISSING: Millis = 300_000;

/// Milliseconds by which a request for a reschedule may be older than the last scheduling and still count: both are in whole
/// seconds, and the process may have seen it arrive.
const RESCHEDULE_SECONDS: i64 = 60;

impl World<'_> {
    /// Judges a decision, which is about to be written.
    pub(crate) fn judge_decision(&mut self, incarnation: u64, job: &WriteJob) {
        let key = object_key(job);
        self.judge_effort(&key);
        let Some(new) = result_of(job) else { return };
        self.books.turns.insert(key.clone(), self.books.decisions);
        self.books.decisions += 1;
        let Some(slot) = self.slot_of(incarnation) else { return };
        let Some(process) = self.processes[slot].as_ref() else {
            return;
        };
        let Some(binding) = process.view.get(Kind::Binding, &key).cloned() else {
            return;
        };
        let last = targets_of(&binding);
        if let Some(text) = overdue(process, self.wall()) {
            self.breach(Rule::B, text);
            return;
        }
        for part in process.engine.held() {
            let since = (part.began.seconds() - EPOCH) * 1_000;
            let since = Millis::try_from(since).unwrap_or(0);
            self.books.note_held(part.cluster, since, self.now, HIDDEN);
        }
        let is_noted = self
            .books
            .decided
            .get(&key)
            .is_some_and(|(of, decided)| Arc::ptr_eq(of, &binding) && *decided == new);
        let is_of_burst = is_noted || process.engine.unsent().next().is_some();
        // Others of a burst are held already, although they are written later.
        for job in process.engine.unsent() {
            let key = object_key(job);
            if let (Some(result), Some(binding)) = (result_of(job), process.view.get(Kind::Binding, &key)) {
                self.books.decided.insert(key, (Arc::clone(binding), result));
            }
        }
        self.books
            .decided
            .insert(key.clone(), (Arc::clone(&binding), new.clone()));
        self.books.known.insert(key.clone(), process.clusters_seen());
        self.books.ready_seen.insert(key.clone(), Self::ready_clusters(process));
        self.books
            .leaving_seen
            .insert(key.clone(), Self::leaving_clusters(process));
        let found = self
            .over_capacity(process, &last, &new)
            .or_else(|| self.over_committed(process, &key, &last, &new));
        if let Some(text) = found {
            if !self.script.setup.is_closed {
                self.books.overcommitted += 1;
            } else {
                let change = format!("{} → {}", key.name, described(&new));
                self.breach(Rule::B, format!("after the decision {change}: {text}"));
                return;
            }
        }
        self.books.note_shrinking(&last, &new, self.now);
        // A step of a move follows the decision that began it.
        if takes_away(&last, &new) && !is_marked(&binding) {
            self.books.takings += 1;
            self.judge_taking(slot, &binding, (&last, &new), job, is_of_burst);
        }
    }

    /// A cluster on which more is reported and held than allocatable; `None` if there is none, or if the rule does not apply.
    fn over_capacity(&self, process: &Process, last: &Targets, new: &Targets) -> Option<String> {
        if self.is_ever_ignored() {
            return None;
        }
        let mut held: BTreeMap<(&str, &str), i64> = BTreeMap::new();
        let parts: Vec<_> = process.engine.held().collect();
        for part in &parts {
            for (resource, quantity) in &part.resources {
                *held.entry((part.cluster, *resource)).or_default() += *quantity;
            }
        }
        let has_led = self.now > self.books.led_at + STARTED;
        process.view.of_kind(Kind::Cluster).find_map(|(key, cluster)| {
            let has_grown = replicas_on(new, &key.name) > replicas_on(last, &key.name);
            let is_calm = has_led && self.books.is_calm(&key.name, self.now, HIDDEN);
            let there = parts.iter().filter(|part| part.cluster == key.name);
            if !(has_grown || is_calm) || there.clone().next().is_none() {
                return None;
            }
            let asked_by = self.asked_of(process, &key.name);
            let mut asked = Usage::default();
            asked_by.values().for_each(|usage| asked.add_all(*usage));
            let is_calm = is_calm && !self.runs_more(&key.name, &asked_by);
            [
                ("cpu", asked.requests.cpu),
                ("memory", asked.requests.memory),
                ("pods", asked.pods),
            ]
            .into_iter()
            .find_map(|(resource, asked)| {
                let held = held.get(&(key.name.as_str(), resource)).copied().unwrap_or(0);
                let (reported, allocatable) = figures(cluster, resource);
                let asked = if resource == "memory" { asked << 20 } else { asked };
                let is_twice = is_calm && self.script.setup.is_closed && reported + held > asked;
                let is_over = reported + held > allocatable;
                (held > 0 && (is_over || is_twice)).then(|| {
                    let there: Vec<String> = there.clone().map(ToString::to_string).collect();
                    format!(
                        "{} has {resource} {reported} reported and {held} held, of {allocatable}; \
                             all results take {asked} ({})",
                        key.name,
                        there.join(", ")
                    )
                })
            })
        })
    }

    /// True if a member still runs pods of a binding that its result does not give it any more, whatever it lacks of others: it is cut off,
    /// or Karmada keeps what it evicts.
    fn runs_more(&self, cluster: &str, asked: &BTreeMap<&ObjectKey, Usage>) -> bool {
        let Some(member) = cluster_number(cluster).and_then(|number| self.plane.members.get(number)) else {
            return false;
        };
        member.bindings().iter().any(|key| {
            let (usage, asked) = (member.usage_of(key), asked.get(key).copied().unwrap_or_default());
            usage.pods > asked.pods
                || usage.requests.cpu > asked.requests.cpu
                || usage.requests.memory > asked.requests.memory
        })
    }

    /// A cluster that the decision gives more, and on which all results then take more than is allocatable: capacity was given up before
    /// a report had it. `None` if there is none, or if the rule does not apply.
    fn over_committed(&self, process: &Process, key: &ObjectKey, last: &Targets, new: &Targets) -> Option<String> {
        if !self.script.setup.is_closed || self.is_ever_ignored() {
            return None;
        }
        let has_led = self.now > self.books.led_at + STARTED;
        process.view.of_kind(Kind::Cluster).find_map(|(cluster, object)| {
            let has_grown = replicas_on(new, &cluster.name) > replicas_on(last, &cluster.name);
            if !has_grown || !has_led || !self.books.is_calm(&cluster.name, self.now, HIDDEN) {
                return None;
            }
            let written = self
                .plane
                .server
                .of_kind(Kind::Binding)
                .filter(|(written, _)| *written != key);
            let written = written.map(|(_, binding)| (&**binding, targets_of(binding)));
            let decided = process
                .view
                .get(Kind::Binding, key)
                .map(|binding| (&**binding, new.clone()));
            let mut sum = Usage::default();
            for (binding, targets) in written.chain(decided) {
                sum.add_all(requests_on(binding, replicas_on(&targets, &cluster.name).unwrap_or(0)));
            }
            let resources = [
                ("cpu", sum.requests.cpu),
                ("memory", sum.requests.memory << 20),
                ("pods", sum.pods),
            ];
            resources.into_iter().find_map(|(resource, taken)| {
                let (reported, allocatable) = figures(object, resource);
                (taken > allocatable).then(|| {
                    let held = process.engine.held().filter(|part| part.cluster == cluster.name);
                    let held: Vec<String> = held.map(|part| part.to_string()).collect();
                    format!(
                        "all results take {resource} {taken} on {}, of {allocatable}; it reports {reported}, and {} is held",
                        cluster.name,
                        held.join(", ")
                    )
                })
            })
        })
    }

    /// True if a profile holds nothing at any time of this life.
    fn is_ever_ignored(&self) -> bool {
        let is_ignored = |name: ProfileName| name == ProfileName::Karmada;
        let mut steps = self.script.steps.iter();
        is_ignored(self.script.setup.profile)
            || steps.any(|step| matches!(step.action, Action::Reload { profile } if is_ignored(profile)))
    }

    /// What the result of each binding takes on a cluster: the one that is written, and one that a process decided on the state that it has
    /// seen.
    fn asked_of<'a>(&'a self, process: &'a Process, cluster: &str) -> BTreeMap<&'a ObjectKey, Usage> {
        let seen = process.view.of_kind(Kind::Binding);
        let all: BTreeMap<_, _> = self.plane.server.of_kind(Kind::Binding).chain(seen).collect();
        let asked = all.into_keys().map(|key| {
            let decided = self.books.decided.get(key);
            let versions = [
                self.plane.server.get(Kind::Binding, key),
                process.view.get(Kind::Binding, key),
                // Until its write has ended, it holds what the pods requested when it was made.
                decided.map(|(binding, _)| binding),
            ];
            let decided = decided.and_then(|(_, decided)| replicas_on(decided, cluster));
            let mut most = Usage::default();
            for binding in versions.into_iter().flatten() {
                let replicas = replicas_on(&targets_of(binding), cluster).max(decided).unwrap_or(0);
                let usage = requests_on(binding, replicas);
                most.pods = most.pods.max(usage.pods);
                most.requests.cpu = most.requests.cpu.max(usage.requests.cpu);
                most.requests.memory = most.requests.memory.max(usage.requests.memory);
            }
            (key, most)
        });
        asked.collect()
    }

    fn judge_taking(
        &mut self,
        slot: usize,
        binding: &Arc<Value>,
        (last, new): (&Targets, &Targets),
        job: &WriteJob,
        is_of_burst: bool,
    ) {
        let now = self.now;
        let moment = self.moment();
        let Some(process) = self.processes[slot].as_ref() else {
            return;
        };
        let name = job.key.name.clone();
        let change = format!("{name}: {} → {}", described(last), described(new));
        let missing = process.view.missing(now, MISSING);
        if !missing.is_empty() {
            self.breach(Rule::C, format!("{change}, while {} are missing", missing.join(", ")));
            return;
        }
        let clusters = process.view.of_kind(Kind::Cluster).map(|(_, cluster)| &**cluster);
        let oracle = Oracle::new(self.profiles.side(process.profile), clusters, moment.milliseconds);
        let is_requested = is_reschedule_requested(binding);
        let opinion = oracle.opinions([&**binding]).into_iter().next();
        let clears = matches!(&opinion, Some((_, Opinion::Decided(_, Err(refusal)))) if refusal.clears);
        let is_without_reason = matches!(opinion, None | Some((_, Opinion::Satisfied | Opinion::Skipped)));
        // What left a cluster against its policy's wish goes back without one of Karmada's reasons.
        let may_go_back = process.profile.moves().is_some_and(|moves| moves.failback.is_some());
        if is_without_reason && !is_requested && !may_go_back && !is_planned(binding) {
            let explanation = explanation(process, &job.key);
            let (requested, answered) = (
                &binding["spec"]["rescheduleTriggeredAt"],
                &binding["status"]["lastScheduledTime"],
            );
            let times = format!("a reschedule was requested at {requested}, the last scheduling was at {answered}");
            self.breach(Rule::C, format!("{change}, without a reason; {times}; {explanation}"));
            return;
        }
        // What estimators said is not known offline. What a move takes and when is judged by rule g.
        if self.script.setup.asks_estimators || process.profile.moves().is_some() {
            return;
        }
        let held: HeldList = process
            .engine
            .held()
            .filter(|part| **part.binding != *job.key || part.began != moment.wall)
            .flat_map(|part| {
                let cluster = part.cluster.to_owned();
                part.resources
                    .into_iter()
                    .map(move |(resource, quantity)| (cluster.clone(), resource.to_owned(), quantity))
            })
            .collect();
        // With models, what an engine shows as held is more than what it reckons with.
        let has_models = self.script.setup.clusters.iter().any(|cluster| cluster.has_models);
        let held = if has_models { HeldList::new() } else { held };
        let key = object_key(job);
        // The binding's own holdings of this second may be those of an earlier decision.
        let has_own = |part: HeldPart<'_>| **part.binding == *job.key && part.began == moment.wall;
        let is_repeated = self.decisions_within_the_second(&key) > 1 && process.engine.held().any(has_own);
        // Of a burst, what was held at the decision is not what is held once it is written.
        let is_ambiguous = is_repeated || is_of_burst;
        let mut views = vec![(HeldList::new(), "with nothing held")];
        if !is_ambiguous {
            views.push((held, "with what is held"));
        }
        for (held, words) in views {
            let is_fresh = if is_requested { vec![false, true] } else { vec![false] };
            let decisions = is_fresh
                .into_iter()
                .filter_map(|fresh| oracle.decision(binding, &held, fresh));
            let decisions: Vec<_> = decisions.collect();
            let is_allowed = decisions
                .iter()
                .any(|decision| allows(decision.as_ref().ok(), last, new));
            let is_cleared = clears && new.is_empty();
            if !is_allowed && !is_cleared {
                let offline = decisions.iter().map(|decision| match decision {
                    Ok(targets) => described(targets),
                    Err(refusal) => refusal.message.clone(),
                });
                let offline: Vec<String> = offline.collect();
                let explanation = explanation(process, &job.key);
                let offline = offline.join(" or ");
                self.breach(Rule::C, format!("{change}; offline, {words}: {offline}; {explanation}"));
                return;
            }
        }
    }
}

/// What replicas of a binding request.
fn requests_on(binding: &Value, replicas: i64) -> Usage {
    let mut usage = Usage::default();
    for template in requests_of(binding) {
        let pods = template.pods * replicas;
        usage.pods += pods;
        usage.requests.cpu += pods * template.requests.cpu;
        usage.requests.memory += pods * template.requests.memory;
    }
    usage
}

/// What is held for longer than the limit of holdings; `None` if nothing is.
fn overdue(process: &Process, wall: Timestamp) -> Option<String> {
    let mut parts = process.engine.held();
    let is_overdue = |part: &HeldPart<'_>| part.began.seconds() + HELD_SECONDS < wall.seconds();
    let part = parts.find(is_overdue)?;
    Some(format!("{part} is still held"))
}

/// The reason of the last decision, in the scheduler's own words.
fn explanation(process: &Process, key: &BindingKey) -> String {
    match explained(process, &key.namespace, &key.name) {
        Ok(explanation) => format!("the scheduler says {explanation}"),
        Err(error) => error.to_string(),
    }
}

/// What a process explains of a binding, without the larger parts.
pub(super) fn explained(process: &Process, namespace: &str, name: &str) -> Result<Value, Unexplained> {
    let path = ObjectPath {
        kind: "resourcebinding".to_owned(),
        namespace: Some(namespace.to_owned()),
        name: name.to_owned(),
    };
    let mut explanation = Insight::explain(process.panel.as_ref(), &path)?;
    if let Some(fields) = explanation.as_object_mut() {
        fields.retain(|_, value| value.is_string());
    }
    Ok(explanation)
}

/// True if an offline result takes at least as much from each cluster as the new one does.
fn allows(offline: Option<&Targets>, last: &Targets, new: &Targets) -> bool {
    offline.is_some_and(|offline| {
        last.iter().all(|(cluster, before)| {
            let kept = replicas_on(offline, cluster).map(|kept| kept.min(*before));
            replicas_on(new, cluster) >= kept
        })
    })
}

pub(super) fn takes_away(last: &Targets, new: &Targets) -> bool {
    last.iter()
        .any(|(cluster, before)| replicas_on(new, cluster) < Some(*before))
}

pub(super) fn replicas_on(targets: &Targets, cluster: &str) -> Option<i64> {
    let target = targets.iter().find(|(name, _)| name == cluster);
    target.map(|(_, replicas)| *replicas)
}

/// True if a reschedule was requested that may not have been answered.
pub(super) fn is_reschedule_requested(binding: &Value) -> bool {
    let (requested, answered) = reschedule_times(binding);
    requested.is_some_and(|requested| answered.is_none_or(|answered| requested + RESCHEDULE_SECONDS >= answered))
}

/// True if a reschedule was requested after the last scheduling.
pub(super) fn is_reschedule_unanswered(binding: &Value) -> bool {
    let (requested, answered) = reschedule_times(binding);
    requested.is_some_and(|requested| answered.is_none_or(|answered| requested > answered))
}

/// Seconds since 1970 of the last request for a reschedule, and of the last scheduling.
fn reschedule_times(binding: &Value) -> (Option<i64>, Option<i64>) {
    let seconds = |value: &Value| {
        let at: Option<Timestamp> = serde_json::from_value(value.clone()).ok();
        at.map(Timestamp::seconds)
    };
    (
        seconds(&binding["spec"]["rescheduleTriggeredAt"]),
        seconds(&binding["status"]["lastScheduledTime"]),
    )
}

/// What a cluster reports as taken of a resource, by the figure that estimates are made from, and what is allocatable, both in
/// the units of estimates.
fn figures(cluster: &Value, resource: &str) -> (i64, i64) {
    let summary = &cluster["status"]["resourceSummary"];
    let of = |list: &str| {
        let quantity: Option<Quantity> = summary[list][resource].as_str().and_then(|text| text.parse().ok());
        let nano = quantity.map_or(0, Quantity::as_nano);
        let unit = if resource == "cpu" { 1_000_000 } else { 1_000_000_000 };
        i64::try_from(nano / unit).unwrap_or(i64::MAX)
    };
    let has_models = cluster["spec"]["resourceModels"].is_array() && resource != "pods";
    let pending = if has_models { 0 } else { of("allocating") };
    (of("allocated") + pending, of("allocatable"))
}

/// A result in words: `c1:2 c2:1`, or `nothing`.
pub(super) fn described(targets: &Targets) -> String {
    if targets.is_empty() {
        return "nothing".to_owned();
    }
    let each: Vec<String> = targets
        .iter()
        .map(|(name, replicas)| format!("{name}:{replicas}"))
        .collect();
    each.join(" ")
}

/// The binding that a write is for.
fn object_key(job: &WriteJob) -> ObjectKey {
    ObjectKey {
        namespace: job.key.namespace.clone(),
        name: job.key.name.clone(),
    }
}

/// The result that a write has, by name of the cluster; `None` if it changes none.
fn result_of(job: &WriteJob) -> Option<Targets> {
    let result = job.specification.as_ref()?.clusters.as_ref()?.iter();
    let mut targets: Targets = result
        .map(|target| (target.name.clone(), i64::from(target.replicas)))
        .collect();
    targets.sort();
    Some(targets)
}
