//! Replicas that left a cluster against their policy's wish: what is noted of them, and the decision that takes them back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use divvy_karmada::api::{Placement, TargetCluster, Timestamp};
use divvy_profile::WrittenAllowances;
use divvy_scheduler::decide::rules::Reason;
use divvy_scheduler::moves::change::Course;
use divvy_scheduler::moves::failback::{FAILBACK_ANNOTATION, Left, target};
use divvy_scheduler::moves::look::by_name;

use super::{Candidate, Engine, Moment};
use crate::engine::apply::{Next, Outcome};
use crate::engine::effects::Effects;
use crate::engine::life::{Life, Why};
use crate::engine::lives::Group;
use crate::estimates::Answers;
use crate::objects::BindingKey;

/// Producer of the eviction tasks that replicas leave by against their policy's wish. Those of other producers say that the workload or its
/// pods are not well there, and would not be after a return.
const TAINT_MANAGER: &str = "TaintManager";

impl Candidate {
    fn left(&self) -> Left {
        Left::read(self.record().annotation(FAILBACK_ANNOTATION))
    }
}

impl Life {
    /// Forgets what left its clusters.
    pub(in crate::engine) fn end_departures(&mut self) {
        self.departed = None;
        self.set_due(Why::Return, None);
    }
}

impl Engine {
    /// The time after which what left a cluster goes back, in milliseconds; `None` if nothing does.
    fn failback(&self) -> Option<i64> {
        let moves = self.active.moves.as_ref().filter(|moves| moves.pace.is_some())?;
        Some(moves.failback?.milliseconds())
    }

    /// The annotation about what left once a result is written; the outer `None` leaves it as it is.
    ///
    /// Karmada's eviction tasks say what left. A task stays for a while after its replicas are replaced, so it counts once.
    pub(in crate::engine) fn departures(
        &self,
        candidate: &Candidate,
        result: &[TargetCluster],
        reason: Option<Reason>,
        moment: &Moment,
    ) -> Option<Option<String>> {
        self.failback()?;
        let mut left = candidate.left();
        if let Some(Reason::PlacementChanged | Reason::PolicyChanged | Reason::RescheduleRequested) = reason {
            // The whole result is decided anew.
            left.forget();
        }
        let last = by_name(candidate.last());
        for (name, replicas) in by_name(result) {
            let before = last.get(name).copied().unwrap_or(0);
            left.come_back(name, replicas.saturating_sub(before));
        }
        let mut evicted = BTreeSet::new();
        for task in candidate.record().evictions() {
            if task.producer != TAINT_MANAGER {
                continue;
            }
            let known = left.departure(&task.from_cluster).map(|departure| departure.at);
            let at = task.creation_timestamp.map(Timestamp::milliseconds);
            let at = at.or(known).unwrap_or(moment.milliseconds);
            left.leave(&task.from_cluster, task.replicas.unwrap_or(0), at);
            evicted.insert((task.from_cluster.as_str(), at));
        }
        left.retain(|cluster, at| evicted.contains(&(cluster, at)));
        let written = left.write();
        (candidate.record().annotation(FAILBACK_ANNOTATION) != written.as_deref()).then_some(written)
    }

    /// Decides a settled binding whose clusters may take back what left them. `None` means that nothing goes back now;
    /// `found` then has the time at which it may.
    pub(in crate::engine) fn take_back(
        &mut self,
        candidate: &Candidate,
        placement: &Arc<Placement>,
        answers: Option<&Answers>,
        found: &mut Outcome,
        moment: &Moment,
    ) -> Option<Outcome> {
        let key = &candidate.key;
        let left = candidate.left();
        let Some(window) = self.failback().filter(|_| self.shadow.is_none() && left.remains()) else {
            found.effects.append(self.forget_departed(key));
            return None;
        };
        let now = moment.milliseconds;
        let clusters = &self.clusters;
        let ready_since = |name: &str| clusters.ready_since(name).filter(|_| !clusters.is_deleting(name));
        let (due, next) = (left.due(window, now, ready_since), left.next(window, now, ready_since));
        // What does not go back now may as soon as there is room, or the policy wants it there again.
        let again = (!due.is_empty()).then(|| now.saturating_add(window));
        let next = next.into_iter().chain(again).min().map(|next| next.saturating_sub(now));
        found.look_after(Why::Return, next);
        let names = left.clusters().map(str::to_owned).collect();
        self.lives.change(key, |life| life.departed = Some(names));
        let shown = format!("{left}; they go back once it has been Ready for the time of `failback`");
        found.effects.show(key, Some(shown));
        if due.is_empty() || candidate.partial_of().is_some() {
            return None;
        }
        if let Some(job) = self.question(candidate, placement, answers) {
            return Some(Outcome::new(Next::Ask(Box::new(job))));
        }
        // What the policy would want if there were no result.
        let profile = Arc::clone(&self.active.profile);
        let decision = self.try_out(&candidate.binding, &profile, answers, true, moment.milliseconds, true);
        self.panel.watchdog.decided();
        let (present, wanted) = (candidate.last(), decision.result.as_ref().ok()?);
        let (present, wanted) = (by_name(present), by_name(wanted));
        let target = target(&present, &wanted, &due);
        // Spread constraints choose clusters together, so that a mixture of two choices may break them.
        let are_of = |other: &BTreeMap<&str, i64>| target.keys().eq(other.keys());
        let is_mixed = !placement.spread_constraints.is_empty() && !are_of(&present) && !are_of(&wanted);
        if target == present || is_mixed {
            return None;
        }
        let target = target.into_iter().map(|(name, replicas)| TargetCluster {
            name: name.to_owned(),
            replicas: i32::try_from(replicas).unwrap_or(i32::MAX),
            components: Vec::new(),
        });
        let target: Vec<TargetCluster> = target.collect();
        let words = candidate.written_allowances();
        // What is not moved in steps is not moved for this reason.
        let words = words.unwrap_or_else(|_| WrittenAllowances::default());
        if self.course_of(candidate, placement, &words, (candidate.last(), &target)) != Course::Steps {
            return None;
        }
        let reason = Reason::TakesBack;
        Some(self.resulting(candidate, (placement, answers), &decision, &target, reason, moment))
    }

    /// Forgets that replicas left a binding's clusters.
    pub(in crate::engine) fn forget_departed(&mut self, key: &Arc<BindingKey>) -> Effects {
        let mut effects = Effects::default();
        if self.lives.keys(Group::Departed).contains(key) {
            self.lives.update(key, Life::end_departures);
            effects.show(key, None);
        }
        effects
    }

    /// Looks again at the bindings whose replicas left a cluster that has changed.
    pub(in crate::engine) fn wake_departed(&self, cluster: &str) -> Effects {
        let concerned = self.lives.on(cluster).filter(|(_, life)| {
            let mut clusters = life.departed.iter().flatten();
            clusters.any(|name| name == cluster)
        });
        Effects::around(concerned.map(|(key, _)| Arc::clone(key)))
    }

    /// Looks at the bindings that replicas have left, once.
    pub(super) fn load_departed(&self) -> Effects {
        if self.failback().is_none() {
            return Effects::default();
        }
        let departed = self.bindings.iter();
        let departed = departed.filter(|(_, record)| record.is_ours && record.has_departures());
        Effects::around(departed.map(|(key, _)| Arc::clone(key)))
    }
}
