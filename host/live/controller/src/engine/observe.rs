//! Changes of objects, and the bindings that they wake (`pkg/scheduler/event_handler.go`).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::{BindingScope, Cluster, PolicyScope, PropagationPolicy};
use divvy_profile::WhenClustersChange;

use super::effects::{Count, Effect, Effects, Wake};
use super::life::{Life, Why};
use super::lives::Group;
use super::peers::observed;
use super::{Engine, Moment, binding_scope};
use crate::condition::{Cause, Retry};
use crate::holdings::Usage;
use crate::lease::Term;
use crate::objects::{BindingDocument, BindingKey, Kind, Object, ObjectKey};
use crate::observe::IncomingEvent;
use crate::placements::LivePlacements;
use crate::serve::Unconfirmed;
use crate::store::{ClusterChange, PolicyKey, Record};
use crate::watch::Change;
use divvy_scheduler::decide::affinity::{ClusterProperties, concerns, selects};
use divvy_scheduler::decide::ownership::is_ours;

/// Time between two checks for transitions that only time causes.
const TICK: Duration = Duration::from_secs(1);

/// The way by which a version of an object arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A list, which does not show earlier changes.
    List,
    /// A watch.
    Watch,
    /// The answer to a write.
    Answer,
}

impl Engine {
    /// Handles a change of an object.
    pub fn observe(&mut self, change: Change, moment: &Moment) {
        let effects = match change {
            Change::ListBegins(kind) => {
                self.list_begins(kind);
                Effects::default()
            }
            Change::Unreadable(kind, key) => {
                self.unreadable(kind, &key);
                Effects::default()
            }
            Change::Listed(_, object) => self.applied(object, Source::List, moment),
            Change::Applied(_, object) => self.applied(object, Source::Watch, moment),
            Change::Deleted(kind, key) => self.deleted(kind, &key, moment),
            Change::ListEnds(kind) => self.list_ends(kind, moment),
        };
        self.carry_out(effects, moment.instant);
    }

    /// Begins to decide, or stops, because the lease was won or lost. In a new term, results in flight are forgotten and every
    /// binding is looked at again, because another scheduler may have written in between.
    pub fn lead(&mut self, term: Option<Term>, moment: &Moment) {
        if term == self.term {
            return;
        }
        self.drop_burst(moment);
        self.term = term;
        // The next term looks at every binding and finds the times in their annotations.
        for key in self.lives.keys(Group::Compared).clone() {
            self.forget_guess(&key);
        }
        self.lives.forget_all();
        self.pauses.clear();
        let mut effects = Effects::default();
        effects.push(Effect::ShowNoMoves);
        effects.count(Count::Leads(term.map(|term| term.0)));
        if self.is_deciding() {
            effects.append(self.start(moment));
        }
        self.carry_out(effects, moment.instant);
    }

    /// Handles the passing of time.
    pub fn tick(&mut self, now: Instant) {
        let effects = self.passed(now);
        self.carry_out(effects, now);
    }

    fn passed(&mut self, now: Instant) -> Effects {
        let mut effects = Effects::default();
        while self.is_deciding()
            && let Some((why, key)) = self.lives.take_due(now)
        {
            if matches!(why, Why::Step | Why::Return) {
                self.permit_surge(&key);
            }
            if why == Why::Step {
                // What its move gave may count as ready from now on, even if the binding itself cannot be decided.
                self.claim_may_change(&key);
            }
            let wake = match why {
                Why::Expiry | Why::Step | Why::Return | Why::Plan => Wake::Around,
                Why::Confirmation => Wake::Confirmation,
            };
            effects.look(&key, wake);
        }
        // There are many holdings, and they can end a second late.
        let is_due = self
            .ticked
            .is_none_or(|ticked| now.saturating_duration_since(ticked) >= TICK);
        if !is_due {
            return effects;
        }
        self.ticked = Some(now);
        effects.append(self.resume_plugins(now));
        let gone = self.guard.expire(now);
        if !gone.is_empty() {
            tracing::warn!(
                clusters = gone.join(", "),
                "missing clusters count as gone: the time limit passed"
            );
            effects.append(self.wake_for(Cause::MissingClusters));
        }
        if let Some(bindings) = self.lines.failures.take_left_out(now) {
            tracing::warn!(
                bindings,
                "further bindings were not scheduled; their conditions and events say why"
            );
        }
        self.capacity.takings.expire(now);
        self.capacity.assumed.expire(now);
        effects.append(self.give_up_holdings(now));
        effects
    }

    /// Treats missing clusters as gone, because a person confirmed it.
    ///
    /// # Errors
    ///
    /// An [`Unconfirmed`], and nothing changes, unless this process decides and every one of the clusters is missing.
    pub fn confirm_missing_clusters(&mut self, clusters: &[String], now: Instant) -> Result<(), Unconfirmed> {
        if !self.is_deciding() {
            return Err(Unconfirmed::NotDeciding);
        }
        if let Some(cluster) = clusters.iter().find(|cluster| !self.guard.is_missing(cluster)) {
            return Err(Unconfirmed::NotMissing {
                cluster: cluster.clone(),
                missing: self.missing_clusters(),
            });
        }
        self.guard.confirm(clusters);
        tracing::warn!(
            clusters = clusters.join(", "),
            "missing clusters are gone: a person confirmed it"
        );
        if !self.guard.is_on() {
            let effects = self.wake_for(Cause::MissingClusters);
            self.carry_out(effects, now);
        }
        Ok(())
    }

    /// Prepares the first decisions after a start, once everything is listed and this process leads.
    fn start(&mut self, moment: &Moment) -> Effects {
        self.capacity.takings.clear();
        let mut effects = self.change_placements(LivePlacements::take_back_all);
        let keys: Vec<Arc<BindingKey>> = self.bindings.iter().map(|(key, _)| Arc::clone(key)).collect();
        let mut named = BTreeSet::new();
        for (_, record) in self.bindings.iter().filter(|(_, record)| record.is_ours) {
            named.extend(record.clusters.names());
        }
        let clusters = &self.clusters;
        self.guard
            .started(named, |name| clusters.contains(name), moment.instant);
        if self.guard.is_on() {
            self.report_missing();
        }
        effects.append(Effects::looks(keys, Wake::Changed(IncomingEvent::BindingAdd)));
        tracing::info!(
            bindings = self.bindings.len(),
            clusters = self.clusters.len(),
            "deciding"
        );
        effects
    }

    fn list_begins(&mut self, kind: Kind) {
        if let Some(began) = self.listing.again.get_mut(&kind) {
            *began = true;
        }
        match kind {
            Kind::Binding | Kind::ClusterBinding => {
                if let Some(scope) = binding_scope(kind) {
                    self.bindings.begin_relist(scope);
                }
            }
            Kind::Cluster => self.clusters.begin_relist(),
            Kind::Policy => self.policies.begin_relist(PolicyScope::Namespaced),
            Kind::ClusterPolicy => self.policies.begin_relist(PolicyScope::Cluster),
            Kind::Quota => {}
        }
    }

    fn list_ends(&mut self, kind: Kind, moment: &Moment) -> Effects {
        match kind {
            Kind::Binding | Kind::ClusterBinding => {
                let gone = binding_scope(kind).map(|scope| self.bindings.unlisted(scope));
                for key in gone.into_iter().flatten() {
                    // One at a time, as if each had been deleted: all of them may free room for the same bindings.
                    let effects = self.binding_gone(&key);
                    self.carry_out(effects, moment.instant);
                }
            }
            Kind::Cluster => {
                for name in self.clusters.unlisted() {
                    self.cluster_gone(&name, moment.instant);
                }
            }
            Kind::Policy => self.policies.end_relist(PolicyScope::Namespaced),
            Kind::ClusterPolicy => self.policies.end_relist(PolicyScope::Cluster),
            Kind::Quota => {}
        }
        // A list that began before more of its objects was kept is not enough.
        if self.listing.again.get(&kind) == Some(&true) {
            self.listing.again.remove(&kind);
        }
        match self.listing.synced.insert(kind) && self.is_deciding() {
            true => self.start(moment),
            false => Effects::default(),
        }
    }

    fn applied(&mut self, object: Object, source: Source, moment: &Moment) -> Effects {
        match object {
            Object::Binding(document) => self.binding_applied(*document, source, moment),
            Object::Cluster(cluster) => self.cluster_applied(&cluster, source, moment.instant),
            Object::Policy(policy) => self.policy_applied(&policy),
            Object::Quota(key, _) => self.quota_changed(&key.namespace),
        }
    }

    /// Keeps the previous version of a listed object whose new version cannot be read, because it is not gone.
    fn unreadable(&mut self, kind: Kind, key: &ObjectKey) {
        match kind {
            Kind::Binding => self.bindings.mark_listed(&binding_key(BindingScope::Namespaced, key)),
            Kind::ClusterBinding => self.bindings.mark_listed(&binding_key(BindingScope::Cluster, key)),
            Kind::Cluster => self.clusters.mark_listed(&key.name),
            Kind::Policy => self.policies.mark_listed(&policy_key(PolicyScope::Namespaced, key)),
            Kind::ClusterPolicy => self.policies.mark_listed(&policy_key(PolicyScope::Cluster, key)),
            Kind::Quota => {}
        }
    }

    fn deleted(&mut self, kind: Kind, key: &ObjectKey, moment: &Moment) -> Effects {
        let gone = |scope| Arc::new(binding_key(scope, key));
        match kind {
            Kind::Binding => return self.binding_gone(&gone(BindingScope::Namespaced)),
            Kind::ClusterBinding => return self.binding_gone(&gone(BindingScope::Cluster)),
            Kind::Quota => return self.quota_changed(&key.namespace),
            Kind::Cluster => self.cluster_gone(&key.name, moment.instant),
            Kind::Policy => self.policies.remove(&policy_key(PolicyScope::Namespaced, key)),
            Kind::ClusterPolicy => self.policies.remove(&policy_key(PolicyScope::Cluster, key)),
        }
        Effects::default()
    }

    /// Stores a version of a binding, and wakes it if its specification, its labels or its annotations changed.
    pub(super) fn binding_applied(&mut self, document: BindingDocument, source: Source, moment: &Moment) -> Effects {
        let mut effects = Effects::default();
        let is_listed = source == Source::List;
        let ours = is_ours(&document.object, self.active.profile.scheduler_name());
        let before = self.bindings.get(&document.key()).map(|record| record.clusters.clone());
        let (key, change) = self.bindings.upsert(document, ours, is_listed);
        if change.is_stale {
            return effects;
        }
        if change.aggregated {
            effects.append(self.state_changed(&key, moment.instant));
        }
        // While a binding is being written, its targets are compared once the outcome is known: with those that were decided, because the
        // record may still have those before.
        let is_in_flight = self.lives.get(&key).and_then(Life::in_flight).is_some();
        if is_in_flight {
            self.confirm_result(&key);
            self.outdate_reports(&key);
        } else if source != Source::Answer {
            let before = before.filter(|_| !change.is_new);
            let is_same = self.bindings.get(&key).map(|record| &record.clusters) == before.as_ref();
            match before {
                Some(_) if is_same && (is_listed || !self.capacity.holdings.holds(&key)) => {}
                Some(before) if !is_listed => effects.append(self.targets_changed(&key, &before.targets(), moment)),
                _ => self.targets_found(&key, moment),
            }
        }
        // Bindings of other schedulers are peers as well.
        if self.placements.is_some()
            && let Some(record) = self.bindings.get(&key)
        {
            let placement = observed(&key, record);
            effects.append(self.change_placements(|placements| placements.observe(&key, placement)));
        }
        if !ours {
            effects.append(self.forget_decisions(&key));
            return effects;
        }
        effects.append(self.compare_with_other(&key));
        if !self.is_deciding() {
            return effects;
        }
        // If the state has changed when estimates arrive, they are requested again.
        // While a binding is being written, a new generation may be the write itself: its answer decides.
        let may_step = change.aggregated && self.move_follows(&key);
        if change.aggregated && !may_step {
            // Its replicas that are ready now may permit the steps of others.
            effects.append(self.refresh_claims(moment));
        }
        if change.is_new || change.metadata || change.generation && !is_in_flight || may_step {
            let event = match change.is_new {
                true => IncomingEvent::BindingAdd,
                false => IncomingEvent::BindingUpdate,
            };
            effects.look(&key, Wake::Changed(event));
        } else if change.aggregated {
            effects.append(self.confirm(&key, moment));
        }
        effects
    }

    /// Forgets what deciding a binding has left behind, because it is not decided here any more: it is gone, suspended or another
    /// scheduler's, or another process leads.
    ///
    /// Decisions under way end by themselves. What a result takes up and where it is stays known until the binding is gone, because
    /// decisions of other bindings depend on it whoever wrote it; so does the explanation of the last decision here.
    pub(super) fn forget_decisions(&mut self, key: &Arc<BindingKey>) -> Effects {
        self.forget_guess(key);
        let was_moving = self.lives.keys(Group::Moving).contains(key);
        self.lives.forget(key);
        let mut effects = Effects::default();
        effects.show(key, None);
        if was_moving {
            effects.append(self.wake_admitted());
        }
        effects
    }

    /// True if this process decides a binding.
    pub(super) fn decides(&self, key: &BindingKey) -> bool {
        self.is_deciding() && self.bindings.get(key).is_some_and(|record| record.is_ours)
    }

    fn binding_gone(&mut self, key: &Arc<BindingKey>) -> Effects {
        let record = self.bindings.get(key);
        let clusters = record.map(|record| record.clusters.targets()).unwrap_or_default();
        self.bindings.remove(key);
        let had_held = self.capacity.holdings.remove(key) | self.capacity.takings.remove(key);
        let mut effects = self.forget_decisions(key);
        self.capacity.assumed.remove(key);
        self.panel.forget(key);
        effects.append(self.change_placements(|placements| placements.forget(key)));
        if had_held {
            effects.append(self.wake_for(Cause::Capacity));
            let clusters: Vec<&str> = clusters.iter().map(|target| target.name.as_str()).collect();
            effects.append(self.room_grew(&clusters));
        }
        effects
    }

    fn cluster_applied(&mut self, cluster: &Cluster, source: Source, now: Instant) -> Effects {
        let mut effects = Effects::default();
        let name = &cluster.metadata.name;
        let change = self.clusters.upsert(cluster, source == Source::List);
        if change.is_stale {
            return effects;
        }
        // A relist names every cluster again, although few have changed. The others need not be written, so the snapshot stays.
        if change.is_same && !self.listing.again.contains_key(&Kind::Cluster) {
            return effects;
        }
        self.fleet.upsert(cluster, change.is_new);
        let was_missing = self.guard.appeared(name);
        let has_settled = self.capacity.holdings.reported(name, Usage::new(cluster), now);
        let has_room = has_settled || change.has_grown;
        if !self.is_deciding() {
            return effects;
        }
        if was_missing && !self.guard.is_on() {
            tracing::info!(cluster = name, "every missing cluster is back");
            effects.append(self.wake_for(Cause::MissingClusters));
        }
        let may_fit = change.is_new || change.is_spec || change.offers_otherwise;
        if !may_fit && !has_room {
            return effects;
        }
        effects.append(self.room_grew(&[name]));
        if may_fit {
            effects.append(self.wake_moves_on(name, false));
            effects.append(self.wake_departed(name));
        }
        let after = self.clusters.properties(name).cloned();
        let sides: Vec<&ClusterProperties> = change.before.iter().chain(&after).collect();
        if change.is_spec {
            effects.append(self.wake_satisfied(name, &change, &sides));
        }
        let helps = |record: &Record, cause: Cause| {
            let may_help = match cause {
                Cause::Filters => may_fit,
                Cause::Capacity => true,
                Cause::Binding | Cause::MissingClusters | Cause::Suspended | Cause::Deadly => false,
            };
            may_help && may_be_helped(record, &sides)
        };
        self.outdate_failures(helps);
        let parked = self.lives.queue.parked();
        let parked = parked.filter(|(key, cause)| self.bindings.get(key).is_some_and(|record| helps(record, *cause)));
        effects.append(Effects::looks(parked.map(|(key, _)| Arc::clone(key)), Wake::Parked));
        effects
    }

    /// Wakes the satisfied bindings that may move because of a change of a cluster's labels or specification, or its deletion.
    fn wake_satisfied(&mut self, name: &str, change: &ClusterChange, sides: &[&ClusterProperties]) -> Effects {
        let reschedules = self.active.when_clusters_change == WhenClustersChange::Reschedule;
        let is_woken = |record: &Record| {
            let follows = (reschedules || record.follows_clusters) && is_concerned(record, sides);
            follows || change.deletion_began && record.clusters.contains(name)
        };
        // A result that is being written may name the cluster, too.
        let placed_there = self.lives.on(name).filter(|(_, life)| life.is_placed_on(name));
        let placed_there: BTreeSet<&Arc<BindingKey>> = placed_there.map(|(key, _)| key).collect();
        let leaves = |key: &Arc<BindingKey>| change.deletion_began && placed_there.contains(key);
        let woken = self
            .bindings
            .iter()
            .filter(|(key, record)| record.is_ours && (is_woken(record) || leaves(key)));
        let woken: Vec<Arc<BindingKey>> = woken.map(|(key, _)| Arc::clone(key)).collect();
        for key in woken.iter().filter(|_| reschedules) {
            if let Some(record) = self.bindings.get_mut(key) {
                record.is_moved_by_clusters = true;
            }
        }
        Effects::around(woken)
    }

    fn cluster_gone(&mut self, name: &str, now: Instant) {
        let is_unannounced = self.clusters.remove(name);
        self.fleet.remove(name);
        self.capacity.holdings.forget_reports(name);
        if is_unannounced {
            self.guard.vanished(name, now);
            self.report_missing();
        }
    }

    fn report_missing(&self) {
        let missing: Vec<&str> = self.guard.missing().collect();
        tracing::error!(
            clusters = missing.join(", "),
            "clusters vanished without having been deleted; until they are back or confirmed to be gone, no replicas are taken away"
        );
    }

    fn policy_applied(&mut self, policy: &PropagationPolicy) -> Effects {
        let claims = self.policies.upsert(policy);
        let Some(claims) = claims.filter(|_| self.is_deciding()) else {
            return Effects::default();
        };
        let is_claimed = |record: &Record| {
            let claim = record.claim.as_deref();
            record.is_ours && claim.is_some_and(|claim| claims.iter().any(|own| own == claim))
        };
        let woken = self.bindings.iter().filter(|(_, record)| is_claimed(record));
        let woken = woken.map(|(key, _)| Arc::clone(key));
        Effects::looks(woken, Wake::Changed(IncomingEvent::PolicyChanged))
    }

    fn quota_changed(&mut self, namespace: &str) -> Effects {
        let refused = self.lives.take_refused(namespace);
        for key in &refused {
            self.permit_surge(key);
        }
        Effects::looks(refused, Wake::Changed(IncomingEvent::PolicyChanged))
    }

    /// Has all bindings looked at that fail for this cause.
    pub(super) fn wake_for(&mut self, wanted: Cause) -> Effects {
        self.outdate_failures(|_, cause| cause == wanted);
        let mut effects = match wanted {
            Cause::MissingClusters => self.wake_moves_of_missing(),
            _ => Effects::default(),
        };
        let parked = self.lives.queue.parked().filter(|(_, cause)| *cause == wanted);
        effects.append(Effects::looks(parked.map(|(key, _)| Arc::clone(key)), Wake::Parked));
        effects
    }

    /// Marks bindings as changed whose failure is still being written when an event removes its cause: they are parked only after the
    /// write, and would miss the event.
    fn outdate_failures(&mut self, helps: impl Fn(&Record, Cause) -> bool) {
        let bindings = &self.bindings;
        self.lives.outdate(|key, life| {
            let failure = life.in_flight().and_then(|in_flight| in_flight.failure.as_ref());
            match (failure.map(|failure| failure.retry), bindings.get(key)) {
                (Some(Retry::After(cause)), Some(record)) => helps(record, cause),
                _ => false,
            }
        });
    }
}

fn binding_key(scope: BindingScope, key: &ObjectKey) -> BindingKey {
    BindingKey {
        scope,
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    }
}

fn policy_key(scope: PolicyScope, key: &ObjectKey) -> PolicyKey {
    (scope, key.namespace.clone(), key.name.clone())
}

/// True if any side of a cluster's change is in a binding's affinity.
fn is_concerned(record: &Record, sides: &[&ClusterProperties]) -> bool {
    let observed = record.observed_group.as_deref().unwrap_or_default();
    let placement = record.readable_placement();
    placement.is_some_and(|placement| sides.iter().any(|cluster| concerns(placement, observed, cluster)))
}

/// True if any side of a cluster's change is in any affinity of a binding that failed in all of its groups.
fn may_be_helped(record: &Record, sides: &[&ClusterProperties]) -> bool {
    let placement = record.readable_placement();
    placement.is_some_and(|placement| sides.iter().any(|cluster| selects(placement, cluster)))
}
