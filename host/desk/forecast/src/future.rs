//! One side of a forecast: every binding as a live scheduler would leave it.
//!
//! A binding is decided only if a live scheduler would decide it (`divvy_scheduler::decide`): a satisfied one keeps its
//! clusters, whatever a new decision would be. Bindings are decided in the order of priority, then name, and each takes its
//! new replicas from the capacity that later ones see, unless the ledger is off.

use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::sync::Arc;

use divvy_karmada::detector::Binding;
use divvy_profile::WhenClustersChange;
use divvy_scheduler::cycle::{CycleError, Detail};
use divvy_scheduler::decide::affinity::{ClusterProperties, concerns};
use divvy_scheduler::decide::clearing::clears;
use divvy_scheduler::decide::policy::{AppliedPolicy, Awaited, Request, request_in_force};
use divvy_scheduler::decide::rules::{Reason, Standing, Sum, reason_to_decide};
use divvy_scheduler::decide::{APPLIED_PLACEMENT, APPLIED_POLICY};
use divvy_scheduler::decision::{Decision, Outcome, Scheduler};
use divvy_scheduler::fleet::{FleetSnapshot, Ledger};
use divvy_scheduler::moves::mark::is_on_its_way;
use divvy_scheduler::placements::Placements;
use divvy_scheduler::plan::PlanInput;
use divvy_scheduler::profile::{ConfiguredProfile, Profile};
use divvy_scheduler::strategy::{StrategyContext, resolve_strategy};

use crate::plans::PlanSummaries;
use crate::situation::{Assignment, Situation, assigned};

/// Scope of explanations. It does not affect any result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Explains {
    /// Nothing.
    #[default]
    Nothing,
    /// Every cluster of every decision, which takes half a kilobyte each.
    Everything,
    /// The clusters of each decision that are in the last or in the new result.
    Assigned,
}

impl Explains {
    /// Removes the plan of a decision of which not everything is explained.
    fn trimmed(self, mut decision: Decision, summaries: &mut PlanSummaries) -> Decision {
        if self != Self::Everything {
            summaries.put_into(&mut decision);
        }
        decision
    }

    /// The clusters that are explained.
    fn detail(self) -> Option<Detail> {
        match self {
            Self::Nothing => None,
            Self::Everything => Some(Detail::Full),
            Self::Assigned => Some(Detail::Assigned),
        }
    }
}

/// Settings with which both sides decide.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// True if each result takes its new replicas from the capacity that later ones see.
    pub assumes: bool,
    /// Scope of explanations.
    pub explains: Explains,
    /// Threads for independent work. Their number does not affect any result.
    pub threads: NonZeroUsize,
    /// Time of all decisions, in milliseconds since 1970. Without one, a plugin that needs the time fails the decisions that
    /// it takes part in, and no result expires.
    pub time: Option<i64>,
}

/// Action of a live scheduler on a binding.
#[derive(Debug, Clone)]
pub enum Fate {
    /// None, for this reason: the binding is not scheduled at all.
    Skipped(String),
    /// None: the binding is satisfied.
    Satisfied,
    /// A decision.
    Decided(Reason, Box<Decision>),
}

/// A binding on one side.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The binding, with the policy's request that is in force.
    pub binding: Arc<Binding>,
    /// Action on the binding.
    pub fate: Fate,
    /// Its clusters on this side, shared with the other side if they are the same.
    pub targets: Arc<Assignment>,
    /// True if a failed decision takes all clusters away, also those where replicas run.
    pub is_cleared: bool,
    /// Relation between the replicas of its results and its own.
    pub sum: Sum,
}

/// One side, decided.
#[derive(Debug)]
pub struct Future {
    /// The bindings, in the order of the situation.
    pub entries: Vec<Entry>,
    /// The clusters.
    pub fleet: FleetSnapshot,
    /// Capacity that results have taken; `None` without a ledger.
    pub ledger: Option<Ledger>,
    /// Placements of bindings in workload affinity groups after all results; `None` if no plugin needs them. Without a ledger,
    /// those before any decision.
    pub placements: Option<Arc<Placements>>,
}

/// A binding before anything is decided.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    /// The binding as in the situation.
    pub(crate) original: Arc<Binding>,
    /// The binding with the policy's request that is in force.
    pub(crate) binding: Arc<Binding>,
    /// Its clusters.
    pub(crate) assigned: Arc<Assignment>,
    pub(crate) sum: Sum,
    pub(crate) skipped: Option<String>,
    /// Reason to decide it even if no cluster leaves.
    pub(crate) reason: Option<Reason>,
}

impl Entry {
    /// The decision, if there is one.
    pub fn decision(&self) -> Option<&Decision> {
        match &self.fate {
            Fate::Decided(_, decision) => Some(decision),
            _ => None,
        }
    }

    /// The error, if a decision failed.
    pub fn error(&self) -> Option<&CycleError> {
        match &self.decision()?.outcome {
            Outcome::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// Replicas of the result, if they are fewer than requested.
    pub fn partial(&self) -> Option<i64> {
        let partial = self.decision()?.partial.as_ref()?;
        Some(partial.replicas)
    }

    /// Records a decision.
    fn decide(&mut self, reason: Reason, decision: Decision, side: &ConfiguredProfile) {
        if let Some(targets) = result(&decision, side) {
            self.targets = Arc::new(targets);
            self.is_cleared = matches!(decision.outcome, Outcome::Failed(_));
        }
        self.fate = Fate::Decided(reason, Box::new(decision));
    }

    /// True if nothing is divided: each cluster has the full count, or the resource has no replicas.
    pub fn is_duplicated(&self) -> bool {
        is_duplicated(self.sum, &self.binding)
    }
}

impl Prepared {
    /// Like [`Entry::is_duplicated`].
    pub(crate) fn is_duplicated(&self) -> bool {
        is_duplicated(self.sum, &self.binding)
    }
}

fn is_duplicated(sum: Sum, binding: &Binding) -> bool {
    sum != Sum::Divided || !binding.is_workload() || binding.object.spec.components.len() > 1
}

impl Future {
    /// Decides a situation.
    pub fn decide(situation: &Situation, side: &ConfiguredProfile, options: Options) -> Self {
        let prepared = prepare(situation, side, options, &[]);
        let fleet = situation.snapshot(side.profile.needs_raw_clusters());
        Self::from_prepared(&prepared, situation, fleet, side, options)
    }

    /// Decides two situations side by side. Equal parts of them share their memory.
    pub fn decide_both(
        one: (&Situation, &ConfiguredProfile, Options),
        other: (&Situation, &ConfiguredProfile, Options),
    ) -> (Self, Self) {
        let known = prepare(one.0, one.1, one.2, &[]);
        let prepared = prepare(other.0, other.1, other.2, &known);
        let decide = |prepared: &[Prepared], (situation, side, options): (&Situation, &ConfiguredProfile, Options)| {
            let fleet = situation.snapshot(side.profile.needs_raw_clusters());
            Self::from_prepared(prepared, situation, fleet, side, options)
        };
        std::thread::scope(|scope| {
            let one = scope.spawn(|| decide(&known, one));
            let other = decide(&prepared, other);
            let one = one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (one, other)
        })
    }

    fn from_prepared(
        prepared: &[Prepared],
        situation: &Situation,
        fleet: FleetSnapshot,
        side: &ConfiguredProfile,
        options: Options,
    ) -> Self {
        let mut entries: Vec<Entry> = prepared.iter().map(|prepared| undecided(prepared, situation)).collect();
        let Results {
            decisions,
            ledger,
            placements,
        } = decide_all(prepared, situation, &fleet, side, options);
        for (index, reason, decision) in decisions {
            entries[index].decide(reason, decision, side);
        }
        Self {
            entries,
            fleet,
            ledger,
            placements,
        }
    }
}

/// Decisions of one side, with the ledger and placements after them.
struct Results {
    decisions: Vec<(usize, Reason, Decision)>,
    ledger: Option<Ledger>,
    placements: Option<Arc<Placements>>,
}

/// Decides the bindings that have a reason, by priority, then name.
fn decide_all(
    prepared: &[Prepared],
    situation: &Situation,
    fleet: &FleetSnapshot,
    side: &ConfiguredProfile,
    options: Options,
) -> Results {
    let all = prepared.iter().enumerate();
    let with_reason = all.filter_map(|(index, prepared)| Some((index, reason(prepared, situation)?)));
    let mut order: Vec<(usize, Reason)> = with_reason.collect();
    order.sort_by_cached_key(|&(index, _)| {
        let binding = &prepared[index].binding;
        (Reverse(binding.priority()), binding.key())
    });
    let needs_placements = side.profile.needs_placements();
    let bindings = prepared.iter().map(|prepared| &*prepared.binding);
    let mut placements = needs_placements.then(|| Arc::new(Placements::of(bindings)));
    let scheduler = || {
        Scheduler::new(Arc::clone(&side.profile))
            .keeping_no_plans()
            .assuming(options.assumes)
            .explaining_in(options.explains.detail())
            .deciding_at(options.time)
            .knowing(placements.clone())
    };
    let mut ledger = None;
    let decisions: Vec<Decision> = if options.assumes {
        let mut scheduler = scheduler();
        let bindings: Vec<&Binding> = order.iter().map(|&(index, _)| &*prepared[index].binding).collect();
        let decisions = one_after_another(&bindings, &mut scheduler, fleet, side, options.explains);
        ledger = scheduler.ledger().cloned();
        placements = scheduler.placements().cloned();
        decisions
    } else {
        divvy_parallel::map(&order, options.threads, || {
            let (mut scheduler, mut summaries) = (scheduler(), PlanSummaries::default());
            move |&(index, _)| {
                let decision = scheduler.schedule(&prepared[index].binding, fleet);
                options.explains.trimmed(decision, &mut summaries)
            }
        })
    };
    let decisions = order.into_iter().zip(decisions);
    Results {
        decisions: decisions
            .map(|((index, reason), decision)| (index, reason, decision))
            .collect(),
        ledger,
        placements,
    }
}

/// Decides bindings one after another, each with the results before it. A binding that failed is decided again whenever the
/// placements of its peers differ from those that it saw, because a live scheduler would then wake it. Each binding is placed
/// only once, so this ends.
fn one_after_another(
    bindings: &[&Binding],
    scheduler: &mut Scheduler,
    fleet: &FleetSnapshot,
    side: &ConfiguredProfile,
    explains: Explains,
) -> Vec<Decision> {
    let mut summaries = PlanSummaries::default();
    let mut decide = |scheduler: &mut Scheduler, binding: &Binding| {
        let decision = scheduler.schedule(binding, fleet);
        if result(&decision, side).is_some_and(|targets| targets.is_empty()) {
            scheduler.cleared(binding);
        }
        explains.trimmed(decision, &mut summaries)
    };
    let mut decisions: Vec<Decision> = bindings.iter().map(|binding| decide(scheduler, binding)).collect();
    loop {
        let mut is_settled = true;
        for (decision, binding) in decisions.iter_mut().zip(bindings) {
            // A binding without a plan sees no peers, so their placements cannot help it.
            let may_fit = matches!(decision.outcome, Outcome::Failed(_)) && decision.plan.is_ok();
            if !may_fit || decision.peers == scheduler.peers(binding) {
                continue;
            }
            let mut binding = Binding::clone(binding);
            if result(decision, side).is_some() {
                binding.object.spec.clusters.clear();
            }
            *decision = decide(scheduler, &binding);
            is_settled = false;
        }
        if is_settled {
            return decisions;
        }
    }
}

/// Every binding with the reason to decide it. Bindings that are also in `known` share its memory.
pub(crate) fn prepare(
    situation: &Situation,
    side: &ConfiguredProfile,
    options: Options,
    known: &[Prepared],
) -> Vec<Prepared> {
    let mut known = known.iter().peekable();
    let bindings = situation.bindings.iter().map(|binding| {
        // Both are sorted by identity. A binding that is not found is prepared again.
        while known
            .next_if(|known| known.original.identity() < binding.identity())
            .is_some()
        {}
        (binding, known.next_if(|known| Arc::ptr_eq(&known.original, binding)))
    });
    let bindings: Vec<(&Arc<Binding>, Option<&Prepared>)> = bindings.collect();
    divvy_parallel::map(&bindings, options.threads, || {
        |(binding, known): &(&Arc<Binding>, Option<&Prepared>)| {
            prepare_one(binding, *known, situation, side, options.time)
        }
    })
}

/// A binding with the reason to decide it. Shares the memory of `known` if that is the same binding.
pub(crate) fn prepare_one(
    original: &Arc<Binding>,
    known: Option<&Prepared>,
    situation: &Situation,
    side: &ConfiguredProfile,
    time: Option<i64>,
) -> Prepared {
    let annotations = &original.object.metadata.annotations;
    let (applied_placement, applied_policy) = (annotations.get(APPLIED_PLACEMENT), annotations.get(APPLIED_POLICY));
    let clusters = &original.object.spec.clusters;
    let applied = AppliedPolicy::read(applied_policy.map(String::as_str), clusters);
    let awaited = Awaited {
        workload_version: &original.object.spec.resource.resource_version,
        was_scheduled: applied_placement.is_some(),
        has_changed: original.object.status.scheduler_observed_generation != original.object.metadata.generation,
    };
    let request = request_in_force(original.policy.as_deref(), applied.as_ref(), awaited);
    let (binding, assigned) = match known {
        Some(known) => (Arc::clone(&known.binding), Arc::clone(&known.assigned)),
        None => {
            let policy = request.facts(original.policy.as_ref());
            // Nearly all bindings stay as they were read, and copies would take as much memory as the input.
            let binding = match policy == original.policy {
                true => Arc::clone(original),
                false => Arc::new(Binding {
                    policy,
                    ..Binding::clone(original)
                }),
            };
            (binding, Arc::new(assigned(original)))
        }
    };
    let own = Request::from_annotations(&binding.object.metadata.annotations);
    let named = Request {
        strategy: side
            .profile
            .plan_options()
            .strategy_override
            .clone()
            .or(own.strategy.clone()),
        ..own.clone()
    };
    let skipped = match (&binding.skip_reason(), &binding.object.spec.placement) {
        (Some(reason), _) => Some(reason.to_string()),
        (None, None) => Some("the binding has no placement".to_owned()),
        (None, Some(_)) => None,
    };
    let placement = binding.object.spec.placement.clone().unwrap_or_default();
    let sum = Sum::under(&side.profile, &placement, &named, &request);
    let standing = Standing {
        replicas: binding.replicas(),
        last: &binding.object.spec.clusters,
        observed_affinity: binding.observed_affinity(),
        own: &own,
        placement: &placement,
        // Compared as objects: the text of an annotation is never the same as that of a manifest.
        placement_text: "",
        applied_placement: applied_placement.map(String::as_str),
        sum,
        policy: &request,
        applied: applied.as_ref(),
        is_reschedule_pending: binding.is_fresh(),
        is_moved_by_clusters: is_moved(&binding, situation, side),
        // A live scheduler has looked whenever a cluster reported more room. Without more room, the result stays.
        has_room_grown: true,
        time,
        is_moving: is_on_its_way(&binding.object),
    };
    let reason = reason_to_decide(&standing, |_| false);
    let reason = reason.or_else(|| is_overridden(&binding, &side.profile).then_some(Reason::PolicyChanged));
    Prepared {
        reason: reason.filter(|_| skipped.is_none()),
        original: Arc::clone(original),
        binding,
        assigned,
        sum,
        skipped,
    }
}

/// True if clusters that concern the binding changed, and the profile moves satisfied bindings for that reason.
fn is_moved(binding: &Binding, situation: &Situation, side: &ConfiguredProfile) -> bool {
    if side.when_clusters_change == WhenClustersChange::Stay {
        return false;
    }
    let Some(placement) = &binding.object.spec.placement else {
        return false;
    };
    let changed = situation.changed.iter().filter_map(|name| situation.clusters.get(name));
    changed
        .map(|entry| ClusterProperties::from(&entry.object))
        .any(|cluster| concerns(placement, binding.observed_affinity(), &cluster))
}

/// True if the profile divides by another strategy than the one that the binding asks for, as if the binding's policy had changed.
fn is_overridden(binding: &Binding, profile: &Profile) -> bool {
    let options = profile.plan_options();
    let Some(strategy) = &options.strategy_override else {
        return false;
    };
    let context = StrategyContext {
        declarations: profile.declarations(),
        strategy_override: None,
        affinity_groups_as_tiers: options.affinity_groups_as_tiers,
    };
    let own = resolve_strategy(&PlanInput::new(binding), context);
    own.map_or(true, |own| own.strategy != *strategy)
}

/// The reason to decide a binding in a situation; `None` if it is satisfied or skipped.
pub(crate) fn reason(prepared: &Prepared, situation: &Situation) -> Option<Reason> {
    if prepared.skipped.is_some() {
        return None;
    }
    prepared.reason.or_else(|| {
        let mut targets = prepared.binding.last();
        let leaves = targets.any(|(cluster, _)| situation.is_leaving(cluster));
        leaves.then_some(Reason::ClusterDeleting)
    })
}

/// A binding that is not decided, on those of its clusters that are left.
fn undecided(prepared: &Prepared, situation: &Situation) -> Entry {
    let mut targets = Arc::clone(&prepared.assigned);
    if targets.keys().any(|cluster| situation.gone.contains(cluster)) {
        Arc::make_mut(&mut targets).retain(|cluster, _| !situation.gone.contains(cluster));
    }
    Entry {
        binding: Arc::clone(&prepared.binding),
        fate: match &prepared.skipped {
            Some(reason) => Fate::Skipped(reason.clone()),
            None => Fate::Satisfied,
        },
        targets,
        is_cleared: false,
        sum: prepared.sum,
    }
}

/// The clusters after a decision; `None` if it leaves them unchanged.
fn result(decision: &Decision, side: &ConfiguredProfile) -> Option<Assignment> {
    match &decision.outcome {
        Outcome::Scheduled(targets) => Some(targets.iter().cloned().collect()),
        Outcome::Failed(error) if clears(side.when_no_cluster_fits, error, decision.fits_nowhere()) => {
            Some(Assignment::new())
        }
        Outcome::Failed(_) | Outcome::Skipped(_) => None,
    }
}
