//! The plan of a binding: everything that is computed once, before any cluster is considered.
//!
//! - [`PlanInput`]: everything that a plan reads, with its hash. [`Decidable`]: a binding that has one, in whatever form it is kept.
//! - [`Plan`]: the strategy, the demand to estimate, the tables for plugins, and the groups of clusters to try.
//! - [`Plans`]: a cache of plans.
//!
//! A plan depends on one profile, but not on a snapshot, on freshness or on the observed affinity group.

mod cache;
mod tables;
#[cfg(test)]
mod tests;

pub use crate::input::{Annotations, Decidable, PlanInput, TextMap};
pub use cache::{PlanResult, Plans};

use divvy_framework_arithmetic::division::ties;
use divvy_framework_calls::binding::BindingRecord;

use crate::fleet::estimate::{ComponentDemand, Demand};
use crate::fleet::requests;
use crate::guard::{Defect, guarded};
use crate::plugin::BindingValues;
use crate::profile::{PlanOptions, Profile, Strategy};
use crate::strategy::{
    Declarations, InvalidBinding, StrategyContext, StrategyRequest, StrategySource, resolve_strategy,
};
use divvy_karmada::api::{ClusterAffinity, Placement, ResourceList, SpreadConstraint, SpreadField};
use divvy_karmada::policy::default_spread_constraint;
use divvy_spanned::Warning;
use tables::{NamedAffinity, binding_tables};

/// Everything about a binding that is computed once.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Name of the strategy.
    pub strategy: String,
    /// Source of the strategy's name.
    pub source: StrategySource,
    /// Mistakes in the binding or its policy that were tolerated.
    pub warnings: Vec<Warning>,
    /// Replicas to divide.
    pub replicas: i64,
    /// Replicas from which fewer are divided if not all of them fit; `None` if only all of them are. Less than
    /// [`replicas`](Self::replicas).
    pub quorum: Option<i64>,
    /// True if nothing is divided and every candidate becomes a target with 0 replicas: for resources without replicas,
    /// and for those with several components.
    pub whole: bool,
    /// True if the spread constraints apply even if the strategy otherwise ignores them.
    pub keeps_spread_constraints: bool,
    /// Demand for which room is estimated on each cluster.
    pub demand: Demand,
    /// Requests of one replica, for the ledger.
    pub requests: Vec<(String, i64)>,
    /// Replicas or sets that the candidates must hold together, unless the strategy duplicates.
    pub needed: i64,
    /// Seed for breaking ties, from the profile's seed and the binding's identity.
    pub seed: u64,
    /// The preferences that annotations of the binding or its policy carry for plugins.
    pub preferences: Vec<LocatedPreferences>,
    /// True if plugins see the priority, and the metadata of policy and workload.
    pub has_metadata: bool,
    /// The groups of clusters to try, in order. Never empty.
    pub groups: Vec<AffinityGroup>,
}

/// One group of clusters to try.
#[derive(Debug, Clone)]
pub struct AffinityGroup {
    /// Name of the group; empty if the placement has no groups.
    pub name: String,
    /// Tables for plugins, with this group's affinity.
    pub record: BindingRecord,
    /// True if the affinities of the record are tiers, each overflowing into the next.
    pub overflows: bool,
    /// Values that plugins keep for the binding.
    pub values: BindingValues,
}

/// Reason why a binding has no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The binding or its policy is invalid, and its author has to correct it.
    #[error(transparent)]
    Invalid(#[from] InvalidBinding),
    /// Divvy panicked while it made the plan.
    #[error(transparent)]
    Defect(#[from] Defect),
}

impl PlanError {
    fn guarded<T>(make: impl FnOnce() -> Result<T, InvalidBinding>) -> Result<T, Self> {
        Ok(guarded(make)??)
    }
}

impl AffinityGroup {
    /// True if the group's clusters are in tiers.
    pub fn has_tiers(&self) -> bool {
        self.overflows || self.record.has_priorities()
    }
}

/// An annotation with preferences for a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedPreferences {
    /// Name of the plugin.
    pub plugin: String,
    /// The object and its annotation, for messages.
    pub origin: String,
    /// Name of the annotation.
    pub annotation: String,
}

impl Plan {
    /// Makes the plan of a binding under a profile.
    ///
    /// # Errors
    ///
    /// [`PlanError::Invalid`] if its strategy or preferences are invalid, [`PlanError::Defect`] if Divvy panics. The binding is not
    /// scheduled and keeps its previous result; other bindings are not affected.
    pub fn under(profile: &Profile, input: &PlanInput<'_>) -> Result<Self, PlanError> {
        PlanError::guarded(|| Self::new(input, profile.declarations(), profile.plan_options()))
    }

    /// Makes the plan of a binding with a profile's strategies and options.
    ///
    /// # Errors
    ///
    /// An [`InvalidBinding`] if its strategy or preferences are invalid. The binding is not scheduled and keeps its
    /// previous result; other bindings are not affected.
    pub fn new(
        input: &PlanInput<'_>,
        declarations: &Declarations,
        options: &PlanOptions,
    ) -> Result<Self, InvalidBinding> {
        let context = StrategyContext {
            declarations,
            strategy_override: options.strategy_override.as_deref(),
            affinity_groups_as_tiers: options.affinity_groups_as_tiers,
        };
        let mut request = resolve_strategy(input, context)?;
        request.warnings.extend(unenforced_affinity(input, options));
        // Without a placement, every cluster is eligible.
        let nowhere = Placement::default();
        let placement = input.placement.unwrap_or(&nowhere);
        let written = placement.spread_constraints.iter();
        let spread_constraints: Vec<SpreadConstraint> = written.map(default_spread_constraint).collect();
        // Karmada estimates complete sets only if they must all run on one cluster.
        let is_set = options.component_sets
            && !input.components.is_empty()
            && spread_constraints.iter().any(is_exactly_one_cluster);
        request.warnings.extend(uncounted_components(input, options, is_set));
        request.warnings.extend(ignored_replicas(input));
        // Only a single pod template can be divided; everything else is listed with 0 replicas.
        let divides = (input.replicas > 0 || input.requests.is_some()) && input.components.len() <= 1;
        // A single group has no other group to be ranked against.
        let groups_are_tiers = request.affinity_groups_as_tiers && placement.cluster_affinities.len() > 1;
        let priorities = priorities(placement, &request, groups_are_tiers);
        let is_workload = input.is_workload;
        let metadata = options.metadata;
        let groups: Vec<AffinityGroup> = groups(placement, groups_are_tiers)
            .into_iter()
            .map(|(name, mut affinities, overflows)| {
                // Only a workload has replicas that can overflow.
                if overflows && !is_workload {
                    affinities.truncate(1);
                }
                AffinityGroup {
                    name,
                    overflows: overflows && affinities.len() > 1,
                    record: binding_tables(input, &request, &spread_constraints, &affinities, &priorities, metadata),
                    values: BindingValues::default(),
                }
            })
            .collect();
        assert!(!groups.is_empty(), "a plan has no affinity group to try");
        let requests = owned(input.requests);
        Ok(Self {
            replicas: input.replicas,
            quorum: request.quorum.filter(|_| divides),
            whole: !divides,
            keeps_spread_constraints: request.has_empty_weights,
            demand: demand(input, &requests, is_set),
            requests,
            needed: if is_set { 1 } else { input.replicas },
            seed: ties::seed_for(options.seed, &input.identity()),
            preferences: located(&request),
            has_metadata: options.metadata,
            groups,
            strategy: request.strategy,
            source: request.source,
            warnings: request.warnings,
        })
    }

    /// True if Select ignores the spread constraints of the binding under its strategy.
    pub fn ignores_spread(&self, strategy: Strategy<'_>) -> bool {
        strategy.ignores_spread() && !self.keeps_spread_constraints
    }

    /// True if each cluster is judged alone after Filter, too: the strategy duplicates, no spread constraints are in force, and
    /// there are no tiers. `group` must be one of the plan's.
    pub fn leaves_clusters_alone(&self, strategy: Strategy<'_>, group: &AffinityGroup) -> bool {
        let is_spread = group.record.has_spread_constraints() && !self.ignores_spread(strategy);
        strategy.duplicates() && !is_spread && !group.has_tiers()
    }

    /// Index of the group to try first: the observed one, or 0 if a reschedule was requested or the observed group is
    /// gone.
    pub fn first_group(&self, observed: &str, fresh: bool) -> usize {
        if fresh || observed.is_empty() {
            return 0;
        }
        self.groups.iter().position(|group| group.name == observed).unwrap_or(0)
    }
}

/// Warns of components whose requests no estimate counts, so that every cluster with a free pod has room for them.
fn uncounted_components(input: &PlanInput<'_>, options: &PlanOptions, is_set: bool) -> Option<Warning> {
    let is_counted = is_set || input.components.is_empty() || input.requests.is_some();
    let hint = match options.component_sets {
        true => UNCOUNTED_HINT.to_owned(),
        false => format!("set `multiple-pod-templates = true` in the profile, and {UNCOUNTED_HINT}"),
    };
    let message = "the room for its components is not counted: only a complete set on exactly one cluster is";
    (!is_counted).then(|| Warning::new(message).with_hint(hint))
}

/// Warns of a number of replicas beside several components, which nothing reads.
fn ignored_replicas(input: &PlanInput<'_>) -> Option<Warning> {
    let replicas = input.replicas;
    (replicas > 0 && input.components.len() > 1).then(|| {
        let message = format!(
            "`spec.replicas` ({replicas}) is not divided beside several components: each cluster of the result gets all of them"
        );
        Warning::new(message).with_hint("remove one of the two")
    })
}

const UNCOUNTED_HINT: &str = "give its policy a spread constraint by `cluster` with `minGroups: 1` and `maxGroups: 1`";

/// Warns of workload affinity that no filter enforces, so that the decision ignores it.
fn unenforced_affinity(input: &PlanInput<'_>, options: &PlanOptions) -> Option<Warning> {
    let field = options
        .enforced_affinity
        .unenforced(input.affinity_groups, input.placement)?;
    let message = format!("`{field}` is ignored: no filter of the profile enforces it");
    Some(Warning::new(message).with_hint(UNENFORCED_HINT))
}

/// Hint for workload affinity that is not enforced.
pub const UNENFORCED_HINT: &str =
    "add a filter that promises to enforce it to `filters` in the profile; `divvy plugin list` shows promises";

/// The preferences of each plugin that gets any.
fn located(request: &StrategyRequest) -> Vec<LocatedPreferences> {
    let own = request.preferences.is_some() || !request.rules.is_empty();
    let own = own.then(|| LocatedPreferences {
        plugin: request.plugin.clone(),
        origin: request.preferences_origin.clone(),
        annotation: request.preferences_annotation.clone(),
    });
    let others = request.plugin_preferences.iter().map(|given| LocatedPreferences {
        plugin: given.plugin.clone(),
        origin: given.origin.clone(),
        annotation: given.annotation.clone(),
    });
    own.into_iter()
        .filter(|own| !own.origin.is_empty())
        .chain(others)
        .collect()
}

fn owned(requested: Option<&ResourceList>) -> Vec<(String, i64)> {
    let requests = requests(requested).map(|(resource, quantity)| (resource.to_owned(), quantity));
    requests.collect()
}

/// Fewest and most clusters by which a placement spreads; no most without a limit. Of several constraints the last counts, and those by other
/// fields do not.
pub fn spread_clusters(placement: &Placement) -> (u64, Option<u32>) {
    let mut constraints = placement.spread_constraints.iter().rev();
    let by_cluster = constraints.find(|constraint| constraint.spread_by_field == Some(SpreadField::Cluster.into()));
    by_cluster.map_or((0, None), |constraint| {
        let most = u32::try_from(constraint.max_groups).ok().filter(|most| *most > 0);
        (u64::try_from(constraint.min_groups).unwrap_or(0), most)
    })
}

/// True if a spread constraint asks for exactly one cluster.
fn is_exactly_one_cluster(constraint: &SpreadConstraint) -> bool {
    constraint.spread_by_field == Some(SpreadField::Cluster.into())
        && constraint.min_groups == 1
        && constraint.max_groups == 1
}

fn demand(input: &PlanInput<'_>, replica_requests: &[(String, i64)], is_set: bool) -> Demand {
    if is_set {
        let components = input.components.iter();
        let demands = components.map(|&(_, replicas, requested)| ComponentDemand {
            replicas,
            requests: owned(requested),
        });
        Demand::Sets(demands.collect())
    } else if input.replicas == 0 && input.components.is_empty() {
        Demand::Nothing
    } else if input.requests.is_some() {
        Demand::Requests(replica_requests.to_vec())
    } else {
        Demand::Pods
    }
}

/// Target and priority of each entry. If no entry gives a priority, groups that are tiers get descending ones.
fn priorities<'a>(
    placement: &'a Placement,
    request: &'a StrategyRequest,
    groups_are_tiers: bool,
) -> Vec<(&'a ClusterAffinity, i64)> {
    let given = request.priorities.iter();
    let mut priorities: Vec<_> = given.map(|(target, priority)| (target, *priority)).collect();
    if priorities.is_empty() && groups_are_tiers {
        let terms = placement.cluster_affinities.iter().rev();
        priorities.extend(terms.zip(1..).map(|(term, priority)| (&term.affinity, priority)));
        priorities.reverse();
    }
    priorities
}

/// Groups to try: the name of each, its affinities, and true if they overflow.
fn groups(placement: &Placement, groups_are_tiers: bool) -> Vec<(String, Vec<NamedAffinity<'_>>, bool)> {
    if let Some(affinity) = &placement.cluster_affinity {
        return vec![(String::new(), vec![("", affinity)], false)];
    }
    let terms = placement.cluster_affinities.iter();
    if terms.len() == 0 || groups_are_tiers {
        let all = terms.map(|term| (term.affinity_name.as_str(), &term.affinity));
        return vec![(String::new(), all.collect(), false)];
    }
    terms
        .map(|term| {
            let mut affinities = vec![(term.affinity_name.as_str(), &term.affinity)];
            let overflow = term.overflow_affinities.iter();
            affinities.extend(overflow.map(|tier| (tier.affinity_name.as_str(), &tier.affinity)));
            (term.affinity_name.clone(), affinities, true)
        })
        .collect()
}
