//! Rules d and e at rest: every binding is as the offline decision would have it, nothing waits forever, and nothing is left
//! over.

use divvy_controller::lease::Role;
use divvy_controller::objects::Kind;
use divvy_scheduler::decide::rules::Reason;
use divvy_world::server::key_of;
use serde_json::Value;

use super::Rule;
use super::decision::{MISSING, described, explained};
use super::moves::{is_marked, mark_of};
use crate::oracle::{Opinion, targets_of};
use crate::script::{Action, Step};
use crate::world::{Process, World};

impl World<'_> {
    /// Judges the state some time after all troubles have ended: what fits must be placed by then.
    pub(crate) fn judge_settled(&mut self) {
        self.note(|| "everything that fits must be placed by now".to_owned());
        // A change of what estimators say is no event: it is noticed when waiting bindings are flushed. Missing clusters stop what takes
        // replicas away until a person says that they are gone, or for some minutes.
        let is_missing = |process: &Process| !process.view.missing(self.now, MISSING).is_empty();
        if self.script.setup.asks_estimators || self.processes.iter().flatten().any(is_missing) {
            return;
        }
        for (binding, opinion) in self.opinions() {
            let Opinion::Decided(reason, Ok(wanted)) = opinion else {
                continue;
            };
            let (name, found) = (name_of(&binding), targets_of(&binding));
            if is_marked(&binding) || self.waits_to_move(&binding) {
                continue;
            }
            if found != wanted && !self.may_be_fresh(&binding) && !self.may_stay(&binding, reason) {
                let (found, wanted) = (described(&found), described(&wanted));
                let condition = scheduled(&binding);
                let text =
                    format!("{name} waits at {found}, offline {wanted} ({reason:?}); its condition: {condition}");
                self.breach(Rule::E, text);
                return;
            }
        }
    }

    /// Judges the state at rest.
    pub(crate) fn judge_rest(&mut self) {
        for (binding, opinion) in self.opinions() {
            let may_stay = matches!(opinion, Opinion::Decided(reason, _) if self.may_stay(&binding, reason));
            let is_left = may_stay && contradiction(&binding, &Opinion::Satisfied).is_none();
            if !is_left
                && !self.may_lack_room(&binding)
                && !self.may_be_fresh(&binding)
                && !self.may_be_on_its_way(&binding)
                && let Some(text) = contradiction(&binding, &opinion)
            {
                let said = self.move_of(&binding);
                self.breach(
                    Rule::D,
                    format!("{}: {text}; of its move it is said: {said:?}", name_of(&binding)),
                );
                return;
            }
        }
        if let Some(text) = self.plan_at_rest() {
            self.breach(Rule::H, text);
            return;
        }
        if let Some(text) = self.mark_at_rest() {
            self.breach(Rule::E, text);
            return;
        }
        self.judge_leftovers();
        self.judge_gauges();
    }

    /// A move that has not ended, although nothing but its own end is left.
    fn mark_at_rest(&self) -> Option<String> {
        let mut bindings = self.plane.server.of_kind(Kind::Binding);
        let (key, binding) =
            bindings.find(|(_, binding)| is_ours(binding) && is_marked(binding) && !self.may_be_on_its_way(binding))?;
        let said = self.explanation_of(binding);
        Some(format!("{} has the mark of a move at rest: {said}", key.name))
    }

    /// True if a move may be on its way at rest, or may not have begun: a pod of it finds no node, so that it is never ready, or one of a move
    /// that uses the budgets which it waits for; it lacks a place among the clusters of a spread constraint; it has given its turn away
    /// because it lacks room, which only others could make; or it cannot be decided, and has kept the mark that was void by then. No quota
    /// refuses anything any more.
    fn may_be_on_its_way(&self, binding: &Value) -> bool {
        let said = self.move_of(binding);
        let finds_no_node = self.finds_no_node(binding);
        let waits = self.waits_to_move(binding) && (finds_no_node || self.is_budget_stuck());
        if waits || said.contains("maxGroups permits no further one") {
            return true;
        }
        let is_released = mark_of(binding).is_some_and(|mark| mark.is_released);
        let lacks_room = is_released && !said.contains("quota");
        is_marked(binding) && (finds_no_node || lacks_room || scheduled(binding)["status"] != "True")
    }

    /// True if a pod of a binding finds no node.
    fn finds_no_node(&self, binding: &Value) -> bool {
        let key = key_of(binding);
        self.plane.members.iter().any(|member| member.unplaced(&key) > 0)
    }

    /// True if a move that is under way uses its part of the budgets for good: a pod of it finds no node.
    fn is_budget_stuck(&self) -> bool {
        let mut bindings = self.plane.server.of_kind(Kind::Binding);
        bindings.any(|(_, binding)| is_marked(binding) && self.finds_no_node(binding))
    }

    /// What engines still do or hold when everything is at rest.
    fn judge_leftovers(&mut self) {
        let leaders = self.processes.iter().flatten();
        let leaders = leaders.filter(|process| matches!(process.role(), Role::Leader(_)));
        let Some(leader) = leaders.into_iter().next() else {
            self.breach(Rule::E, "nobody leads".to_owned());
            return;
        };
        let depth = leader.engine.depth();
        // What waits, or may go back, is asked about from time to time.
        let tasks = match self.script.setup.asks_estimators {
            true => leader.engine.writes_under_way(),
            false => leader.engine.tasks_under_way(),
        };
        let held = leader.engine.held().count();
        let bindings = self.plane.server.of_kind(Kind::Binding).count();
        let clusters = self.plane.server.of_kind(Kind::Cluster).count();
        let sizes = leader.engine.sizes();
        if tasks > 0 || depth.active > 0 || depth.backoff > 0 || held > 0 {
            let text = format!("at rest, there are {tasks} tasks, {held} holdings, and a queue of {depth:?}");
            self.breach(Rule::E, text);
        } else if sizes != (bindings, clusters) {
            let text = format!(
                "{sizes:?} bindings and clusters are in memory, of {:?}",
                (bindings, clusters)
            );
            self.breach(Rule::E, text);
        }
    }

    /// True if a binding lacks room by its own condition, and estimators are asked: they see the room of each node, an offline decision
    /// only the sums.
    fn may_lack_room(&self, binding: &Value) -> bool {
        self.script.setup.asks_estimators && scheduled(binding)["reason"] == "Unschedulable"
    }

    /// True if a reschedule was requested within the second of the last scheduling, so that its times do not say whether it was
    /// answered. The scheduler, which saw it arrive, knows more than an offline decision.
    fn may_be_fresh(&self, binding: &Value) -> bool {
        let requested = &binding["spec"]["rescheduleTriggeredAt"];
        !requested.is_null() && *requested == binding["status"]["lastScheduledTime"]
    }

    /// True if a binding that is decided for this reason may stay as it is. One that goes everywhere is decided whenever it is
    /// woken, but as in Karmada, neither APIs nor conditions of a cluster wake what is satisfied, nor does a cluster that joins again
    /// with other labels after it vanished. Nor does more or less room, by which Select chooses under spread constraints.
    fn may_stay(&self, binding: &Value, reason: Reason) -> bool {
        let changes_offers = |step: &Step| {
            matches!(
                step.action,
                Action::Unserve { .. } | Action::Flap { .. } | Action::Vanish { .. }
            )
        };
        let changes = || self.script.steps.iter().any(changes_offers);
        reason == Reason::GoesEverywhere && (follows_room(binding) || changes())
    }

    /// True if the leader says that the move of a binding waits.
    fn waits_to_move(&self, binding: &Value) -> bool {
        self.move_of(binding).contains("waits for")
    }

    /// What the leader says of a binding's move.
    fn move_of(&self, binding: &Value) -> String {
        let explained = self.explanation_of(binding);
        explained["move"].as_str().unwrap_or_default().to_owned()
    }

    /// The leader's explanation of a binding, or why there is none.
    fn explanation_of(&self, binding: &Value) -> Value {
        let key = key_of(binding);
        let mut leaders = self.processes.iter().flatten();
        let leader = leaders.find(|process| matches!(process.role(), Role::Leader(_)));
        let explanation = leader.map(|leader| explained(leader, &key.namespace, &key.name));
        explanation.map_or(Value::Null, |explanation| {
            explanation.unwrap_or_else(|error| Value::String(error.to_string()))
        })
    }

    /// Every binding with the offline opinion on it.
    fn opinions(&self) -> Vec<(Value, Opinion)> {
        let oracle = self.oracle();
        let scheduled = self.plane.server.of_kind(Kind::Binding).map(|(_, binding)| &**binding);
        let ours: Vec<&Value> = scheduled.filter(|binding| is_ours(binding)).collect();
        let opinions = oracle.opinions(ours.iter().copied());
        opinions
            .into_iter()
            .filter_map(|(name, opinion)| {
                let binding = ours
                    .iter()
                    .find(|binding| binding["metadata"]["name"] == name.as_str())?;
                Some((Value::clone(binding), opinion))
            })
            .collect()
    }
}

/// True if each look at a binding that is not divided may choose other clusters, by their room: it has spread constraints.
pub(super) fn follows_room(binding: &Value) -> bool {
    let placement = &binding["spec"]["placement"];
    let constraints = placement["spreadConstraints"].as_array();
    let is_divided = placement["replicaScheduling"]["replicaSchedulingType"] == "Divided";
    !is_divided && constraints.is_some_and(|constraints| !constraints.is_empty())
}

pub(crate) fn is_ours(binding: &Value) -> bool {
    binding["spec"]["schedulerName"] == "default-scheduler" && binding["spec"]["suspension"]["scheduling"] != true
}

/// The difference between a binding and the offline opinion on it; `None` if there is none.
fn contradiction(binding: &Value, opinion: &Opinion) -> Option<String> {
    let found = targets_of(binding);
    let condition = scheduled(binding);
    let is_observed = binding["status"]["schedulerObservedGeneration"] == binding["metadata"]["generation"];
    match opinion {
        Opinion::Skipped => None,
        Opinion::Satisfied | Opinion::Decided(_, Ok(_)) => {
            if let Opinion::Decided(reason, Ok(wanted)) = opinion
                && found != *wanted
            {
                let (found, wanted) = (described(&found), described(wanted));
                return Some(format!(
                    "it is at {found}, offline {wanted} ({reason:?}); its condition: {condition}"
                ));
            }
            let is_success = condition["status"] == "True" && condition["reason"] == "Success";
            match (is_success, is_observed) {
                (false, _) => Some(format!("it is scheduled, but its condition is {condition}")),
                (true, false) => Some(format!(
                    "its generation is {}, observed {}",
                    binding["metadata"]["generation"], binding["status"]["schedulerObservedGeneration"]
                )),
                (true, true) => None,
            }
        }
        Opinion::Decided(_, Err(refusal)) => {
            let is_failure = condition["status"] == "False" && condition["reason"] == refusal.reason;
            match (is_failure, refusal.clears && !found.is_empty()) {
                (false, _) => Some(format!(
                    "offline {} ({}), but its condition is {condition}",
                    refusal.reason, refusal.message
                )),
                (true, true) => Some(format!("no cluster fits it, but it is at {}", described(&found))),
                (true, false) => None,
            }
        }
    }
}

/// The condition `Scheduled`.
pub(super) fn scheduled(binding: &Value) -> Value {
    let conditions = binding["status"]["conditions"].as_array().into_iter().flatten();
    let mut conditions = conditions.filter(|condition| condition["type"] == "Scheduled");
    conditions.next().cloned().unwrap_or_default()
}

fn name_of(binding: &Value) -> String {
    binding["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}
