//! Schedules bindings under a profile, one group of clusters after another, with outcomes in Karmada's terms.

use std::sync::Arc;

use divvy_karmada::api::TargetCluster;
use divvy_karmada::detector::Binding;

use super::groups::{Attempt, Circumstances, Estimates, try_groups};
use super::outcome::{Decision, Outcome, TargetFigures, target_figures, targets_with_names};
use crate::cycle::{Cycle, CycleError, CycleInput, Detail, Skipped, Target};
use crate::fleet::estimate::estimate;
use crate::fleet::{FleetSnapshot, Footprint, Ledger};
use crate::placements::{Peers, Placements, targets_of};
use crate::plan::{Plan, PlanInput, PlanResult, Plans};
use crate::profile::Profile;

/// Schedules bindings under one profile and reuses its plans and memory.
#[derive(Debug)]
pub struct Scheduler {
    profile: Arc<Profile>,
    /// `None` if no binding is decided twice.
    plans: Option<Plans>,
    cycle: Cycle,
    /// Targets of the latest cycle that succeeded.
    targets: Vec<Target>,
    /// The clusters that explanations list; `None` if nothing is explained.
    detail: Option<Detail>,
    ledger: Option<Ledger>,
    time: Option<i64>,
    placements: Option<Arc<Placements>>,
}

/// How one decision is made.
#[derive(Clone, Copy)]
struct Manner<'a> {
    /// True if the replicas are divided from scratch.
    fresh: bool,
    /// True if the result takes capacity from the ledger.
    books: bool,
    /// Room that each cluster has at most; `None` for all that is free.
    room: Option<&'a dyn Estimates>,
    /// Plugins that are not called.
    without: &'a [Skipped],
}

impl Manner<'_> {
    /// That of an ordinary decision on a binding.
    fn of(binding: &Binding) -> Self {
        Self {
            fresh: binding.is_fresh(),
            books: true,
            room: None,
            without: &[],
        }
    }
}

impl Scheduler {
    /// Creates a scheduler that decides each binding independently and without explanations.
    pub fn new(profile: Arc<Profile>) -> Self {
        Self {
            profile,
            plans: Some(Plans::default()),
            cycle: Cycle::new(),
            targets: Vec::new(),
            detail: None,
            ledger: None,
            time: None,
            placements: None,
        }
    }

    /// Turns explanations of every cluster on or off.
    #[must_use]
    pub fn explaining(self, explains: bool) -> Self {
        self.explaining_in(explains.then_some(Detail::Full))
    }

    /// Explains decisions in this detail; nothing if it is `None`.
    #[must_use]
    pub fn explaining_in(mut self, detail: Option<Detail>) -> Self {
        self.detail = detail;
        self
    }

    /// Does not keep plans, for bindings that are decided only once. Plans would be the largest part of the memory.
    #[must_use]
    pub fn keeping_no_plans(mut self) -> Self {
        self.plans = None;
        self
    }

    /// Decides as of a time, in milliseconds since 1970. Without one, a plugin that needs the time fails the decisions that it
    /// takes part in.
    #[must_use]
    pub fn deciding_at(mut self, time: Option<i64>) -> Self {
        self.time = time;
        self
    }

    /// Decides with these placements of other bindings. Without any, a plugin that needs them fails the decisions on bindings
    /// that are in a group; [`decide`] then takes those of its bindings.
    #[must_use]
    pub fn knowing(mut self, placements: Option<Arc<Placements>>) -> Self {
        self.placements = placements.filter(|_| self.profile.needs_placements());
        self
    }

    /// Decides with the placements of these bindings, unless others are known already or no plugin needs any.
    #[must_use]
    pub fn knowing_placements_of(mut self, bindings: &[Binding]) -> Self {
        if self.profile.needs_placements() && self.placements.is_none() {
            self.placements = Some(Arc::new(Placements::of(bindings)));
        }
        self
    }

    /// Another scheduler that decides in the same way, with plans and memory of its own: for another thread. It continues with
    /// the ledger as it is now.
    #[must_use]
    pub fn another(&self) -> Self {
        Self {
            plans: self.plans.as_ref().map(|_| Plans::default()),
            detail: self.detail,
            ledger: self.ledger.clone(),
            time: self.time,
            placements: self.placements.clone(),
            ..Self::new(Arc::clone(&self.profile))
        }
    }

    /// The placements of other bindings: with a ledger, as the results so far have left them.
    pub fn placements(&self) -> Option<&Arc<Placements>> {
        self.placements.as_ref()
    }

    /// Records that a binding no longer has clusters: no cluster fits it, and its result is removed. Does nothing
    /// without a ledger.
    pub fn cleared(&mut self, binding: &Binding) {
        self.placed(binding, &[]);
    }

    /// True if results of the binding are recorded for its peers.
    pub(super) fn tracks(&self, binding: &Binding) -> bool {
        let is_member = binding.object.spec.workload_affinity_groups.is_some();
        is_member && self.ledger.is_some() && self.placements.is_some()
    }

    /// Records the clusters of a result for the peers of its binding.
    pub(super) fn placed(&mut self, binding: &Binding, targets: &[(String, i64)]) {
        if self.tracks(binding)
            && let Some(placements) = self.placements.as_mut()
        {
            let targets = targets.iter().map(|(cluster, replicas)| TargetCluster {
                name: cluster.clone(),
                // The cycle divides at most the binding's replicas, which are 32 bits wide.
                replicas: i32::try_from(*replicas).unwrap_or(i32::MAX),
                ..TargetCluster::default()
            });
            let targets: Vec<TargetCluster> = targets.collect();
            Arc::make_mut(placements).place(&binding.object, targets_of(&targets));
        }
    }

    /// The peers of the binding; `None` if no plugin needs them or they are not known.
    pub fn peers(&self, binding: &Binding) -> Option<Peers> {
        let is_needed = self.profile.needs_placements();
        is_needed
            .then(|| Peers::of(binding, self.placements.as_deref()))
            .flatten()
    }

    /// Turns the ledger on or off. With a ledger, capacity that one result takes is not available to later bindings, and
    /// plugins that need the placements of other bindings see it.
    #[must_use]
    pub fn assuming(mut self, assumes: bool) -> Self {
        self.ledger = assumes.then(Ledger::default);
        self
    }

    /// Continues with the ledger of an earlier scheduler. `None` turns the ledger off.
    #[must_use]
    pub fn continuing(mut self, ledger: Option<Ledger>) -> Self {
        self.ledger = ledger;
        self
    }

    /// Capacity that earlier results have taken; `None` without a ledger.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// The ledger, to book more capacity; `None` without a ledger.
    pub fn ledger_mut(&mut self) -> Option<&mut Ledger> {
        self.ledger.as_mut()
    }

    /// Time of all decisions, in milliseconds since 1970; `None` if it is not known.
    pub fn time(&self) -> Option<i64> {
        self.time
    }

    /// The profile that decides.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// Returns the plan of a binding, which is rebuilt only if its input has changed.
    pub fn plan(&mut self, binding: &Binding) -> PlanResult {
        match &mut self.plans {
            Some(plans) => plans.plan(&self.profile, binding),
            None => Arc::new(Plan::under(&self.profile, &PlanInput::new(binding))),
        }
    }

    /// Schedules a binding against a snapshot. A failure becomes [`Outcome::Failed`]; later bindings are not affected.
    pub fn schedule(&mut self, binding: &Binding, fleet: &FleetSnapshot) -> Decision {
        self.decide(binding, fleet, Manner::of(binding))
    }

    /// Schedules a binding as [`Self::schedule`] does, and passes the row, the replicas and the figures of each cluster of the result
    /// to `take`, sorted by name. The decision then has no clusters: their names would be the largest part of it.
    pub fn schedule_rows(
        &mut self,
        binding: &Binding,
        fleet: &FleetSnapshot,
        take: &mut dyn FnMut(u32, i64, TargetFigures),
    ) -> Decision {
        let (decision, is_scheduled) = self.decide_rows(binding, fleet, Manner::of(binding));
        if let (true, Ok(plan)) = (is_scheduled, decision.plan.as_ref()) {
            for (target, figures) in target_figures(&self.cycle, &self.targets, plan) {
                take(target.row, target.replicas, figures);
            }
        }
        decision
    }

    /// Schedules a binding as [`Self::schedule`] does, without the plugins that an earlier decision on it went on without: for an
    /// explanation of that decision.
    pub fn schedule_like(&mut self, earlier: &Decision, binding: &Binding, fleet: &FleetSnapshot) -> Decision {
        let manner = Manner {
            without: &earlier.without,
            ..Manner::of(binding)
        };
        self.decide(binding, fleet, manner)
    }

    /// Schedules a binding as [`Self::schedule`] does, as if each cluster had at most this room. The figures of the result are those of what
    /// is free in truth.
    pub fn schedule_within(&mut self, binding: &Binding, fleet: &FleetSnapshot, room: &dyn Estimates) -> Decision {
        let manner = Manner {
            books: false,
            room: Some(room),
            ..Manner::of(binding)
        };
        let (mut decision, is_scheduled) = self.decide_rows(binding, fleet, manner);
        let plan = Arc::clone(&decision.plan);
        if let (true, Ok(plan)) = (is_scheduled, plan.as_ref()) {
            decision.name_targets(&self.cycle, &self.targets, fleet);
            let rows: Vec<u32> = self.targets.iter().map(|target| target.row).collect();
            let mut free = vec![0; rows.len()];
            let (clusters, ledger) = (fleet.snapshot().clusters(), self.ledger.as_ref());
            estimate(&clusters, &rows, &plan.demand, plan.replicas, ledger, &mut free);
            for (figures, free) in decision.figures.iter_mut().zip(free) {
                figures.fits_now = figures.fits_now.map(|_| free);
            }
            self.take(binding, fleet);
        }
        decision
    }

    /// Schedules a binding from scratch, as if a reschedule had been requested, and takes no capacity for the result.
    pub fn rescheduled(&mut self, binding: &Binding, fleet: &FleetSnapshot) -> Decision {
        let manner = Manner {
            fresh: true,
            books: false,
            room: None,
            without: &[],
        };
        self.decide(binding, fleet, manner)
    }

    /// Schedules a binding as [`Self::schedule`] does, but takes no capacity for the result. The decision is explained if
    /// `explains` is true, regardless of [`Self::explaining`].
    pub fn tried(&mut self, binding: &Binding, fleet: &FleetSnapshot, explains: bool) -> Decision {
        let detail = std::mem::replace(&mut self.detail, explains.then_some(Detail::Full));
        let manner = Manner {
            books: false,
            ..Manner::of(binding)
        };
        let decision = self.decide(binding, fleet, manner);
        self.detail = detail;
        decision
    }

    /// Gives back the capacity that a result of a binding has taken. Does nothing without a ledger.
    pub fn give_back<'target>(
        &mut self,
        binding: &Binding,
        targets: impl IntoIterator<Item = (&'target str, i64)>,
        fleet: &FleetSnapshot,
    ) {
        let plan = self.plan(binding);
        let (Some(ledger), Ok(_)) = (self.ledger.as_mut(), plan.as_ref()) else {
            return;
        };
        let (footprint, last) = (Footprint::new(&binding.object.spec), &binding.object.spec.clusters);
        let clusters = fleet.snapshot().clusters();
        for (cluster, replicas) in targets {
            let Some(row) = clusters.row(cluster) else { continue };
            let growth = footprint.growth(&assigned(cluster, replicas), last);
            footprint.release(ledger, row.index(), &growth);
        }
    }

    /// Names of the clusters that the profile's filters let a binding use, in the affinity group that it used last.
    /// Empty if there are none, or if the binding has no plan.
    ///
    /// # Errors
    ///
    /// A [`CycleError`] if a filter fails.
    pub fn feasible<'fleet>(
        &mut self,
        binding: &Binding,
        fleet: &'fleet FleetSnapshot,
    ) -> Result<Vec<&'fleet str>, CycleError> {
        let plan = self.plan(binding);
        let Ok(plan) = plan.as_ref() else {
            return Ok(Vec::new());
        };
        let Some(group) = plan.groups.get(plan.first_group(binding.observed_affinity(), false)) else {
            return Ok(Vec::new());
        };
        let peers = self.peers(binding);
        let rows = self.cycle.feasible(&CycleInput {
            time: self.time,
            peers: peers.as_ref(),
            ..CycleInput::new(&self.profile, fleet, plan, group)
        })?;
        Ok(rows.iter().map(|&row| fleet.name(row)).collect())
    }

    fn decide(&mut self, binding: &Binding, fleet: &FleetSnapshot, manner: Manner<'_>) -> Decision {
        let (mut decision, is_scheduled) = self.decide_rows(binding, fleet, manner);
        if is_scheduled {
            decision.name_targets(&self.cycle, &self.targets, fleet);
        }
        decision
    }

    /// Decides without naming the clusters of the result. Also returns true if the targets of the latest cycle are the result.
    fn decide_rows(&mut self, binding: &Binding, fleet: &FleetSnapshot, manner: Manner<'_>) -> (Decision, bool) {
        let plan = self.plan(binding);
        if let Some(reason) = binding.skip_reason() {
            return (self.skipped(binding, &plan, reason.to_string()), false);
        }
        let peers = plan.as_ref().as_ref().ok().and_then(|_| self.peers(binding));
        let circumstances = Circumstances {
            profile: &self.profile,
            fleet,
            ledger: self.ledger.as_ref(),
            estimates: manner.room,
            fresh: manner.fresh,
            time: self.time,
            peers: peers.as_ref(),
            detail: self.detail,
            without: manner.without,
        };
        let decision = Decision::make(&mut self.cycle, &mut self.targets, binding, &plan, &circumstances);
        let is_scheduled = matches!(decision.outcome, Outcome::Scheduled(_));
        if is_scheduled && manner.books {
            self.take(binding, fleet);
        }
        (decision, is_scheduled)
    }

    /// Takes the capacity of the latest result, and records its clusters for the peers of its binding.
    fn take(&mut self, binding: &Binding, fleet: &FleetSnapshot) {
        self.book(binding, &Footprint::new(&binding.object.spec), fleet);
        if self.tracks(binding) {
            let named = self.named_targets(fleet);
            self.placed(binding, &named);
        }
    }

    fn skipped(&self, binding: &Binding, plan: &PlanResult, reason: String) -> Decision {
        Decision {
            binding: binding.key(),
            plan: Arc::clone(plan),
            replicas: binding.replicas(),
            outcome: Outcome::Skipped(reason),
            partial: None,
            affinity: String::new(),
            failed_groups: Vec::new(),
            time: self.time,
            tables: self.profile.shared_tables(),
            valid_until: None,
            peers: None,
            figures: Vec::new(),
            explanation: None,
            without: Vec::new(),
        }
    }

    /// Tries the affinity groups without collecting the details that only a reader needs.
    pub(super) fn try_groups<'a>(
        &mut self,
        binding: &Binding,
        plan: &'a Plan,
        fleet: &FleetSnapshot,
        fresh: bool,
        peers: Option<&Peers>,
    ) -> Attempt<'a> {
        let circumstances = Circumstances {
            profile: &self.profile,
            fleet,
            ledger: self.ledger.as_ref(),
            estimates: None,
            fresh,
            time: self.time,
            peers,
            detail: None,
            without: &[],
        };
        try_groups(&mut self.cycle, binding, plan, &circumstances, &mut self.targets)
    }

    /// Targets of the latest cycle that succeeded, with the names of their clusters.
    pub(super) fn named_targets(&self, fleet: &FleetSnapshot) -> Vec<(String, i64)> {
        targets_with_names(&self.targets, fleet)
    }

    /// Targets of the latest cycle that succeeded, sorted by name.
    pub(super) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Books the growth of the targets of the latest cycle over the last result. Does nothing without a ledger.
    pub(super) fn book(&mut self, binding: &Binding, footprint: &Footprint, fleet: &FleetSnapshot) {
        let Some(ledger) = self.ledger.as_mut() else { return };
        each_growth(&self.targets, binding, footprint, fleet, |row, resource, quantity| {
            let resource = ledger.resource(resource);
            ledger.take(resource, row as usize, quantity);
        });
    }
}

/// Passes on the row, the resource and the quantity of everything that targets add to the last result of their binding.
pub(super) fn each_growth(
    targets: &[Target],
    binding: &Binding,
    footprint: &Footprint,
    fleet: &FleetSnapshot,
    mut each: impl FnMut(u32, &str, i64),
) {
    // Both lists are sorted by name, so that one pass finds every pair. Of two entries with one name the first counts.
    let mut last: Vec<&TargetCluster> = binding.object.spec.clusters.iter().collect();
    last.sort_by(|left, right| left.name.cmp(&right.name));
    let mut last = last.into_iter().peekable();
    let mut target = TargetCluster::default();
    for &Target { row, replicas } in targets {
        let name = fleet.name(row);
        while last.next_if(|last| last.name.as_str() < name).is_some() {}
        // The cycle divides at most the binding's replicas, which are 32 bits wide.
        target.replicas = i32::try_from(replicas).unwrap_or(i32::MAX);
        let before = last.peek().copied().filter(|last| last.name == name);
        for (resource, quantity) in footprint.added(&target, before) {
            each(row, resource, quantity);
        }
    }
}

/// A cluster of a result. The cycle divides at most the binding's replicas, which are 32 bits wide.
fn assigned(cluster: &str, replicas: i64) -> TargetCluster {
    TargetCluster {
        name: cluster.to_owned(),
        replicas: i32::try_from(replicas).unwrap_or(i32::MAX),
        ..TargetCluster::default()
    }
}

/// Schedules many bindings and returns the decisions in the order of the bindings.
///
/// With a ledger, bindings with a higher priority are scheduled first, and those with the same priority in the order of
/// their names. A scheduler that needs the placements of other bindings and knows none takes those of `bindings`.
pub fn decide(scheduler: &mut Scheduler, bindings: &[Binding], fleet: &FleetSnapshot) -> Vec<Decision> {
    let decided = decide_each(scheduler, bindings, fleet, |_, _| ());
    decided.into_iter().map(|(decision, ())| decision).collect()
}

/// Like [`decide`], but passes each decision to `each` as soon as it is made, with the index of its binding. `each` can take parts
/// out of the decision, such as explanations, because those of thousands of decisions would not fit into memory. Its answer is
/// returned with the decision.
pub fn decide_each<T>(
    scheduler: &mut Scheduler,
    bindings: &[Binding],
    fleet: &FleetSnapshot,
    mut each: impl FnMut(usize, &mut Decision) -> T,
) -> Vec<(Decision, T)> {
    if scheduler.profile.needs_placements() && scheduler.placements.is_none() {
        scheduler.placements = Some(Arc::new(Placements::of(bindings)));
    }
    let mut order: Vec<usize> = (0..bindings.len()).collect();
    if scheduler.ledger.is_some() {
        order.sort_by_cached_key(|&index| (std::cmp::Reverse(bindings[index].priority()), bindings[index].key()));
    }
    let mut decisions: Vec<(usize, (Decision, T))> = order
        .into_iter()
        .map(|index| {
            let mut decision = scheduler.schedule(&bindings[index], fleet);
            let answer = each(index, &mut decision);
            (index, (decision, answer))
        })
        .collect();
    decisions.sort_by_key(|(index, _)| *index);
    decisions.into_iter().map(|(_, decision)| decision).collect()
}
