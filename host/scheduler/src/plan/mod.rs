//! The plan of a binding: everything that is worked out once, before any cluster is looked at.
//!
//! - [`PlanInput`]: all that a plan reads, with its hash.
//! - [`Plan`]: the strategy, the demand for the estimate, the tables for plugins, the groups of clusters to try.
//! - [`Plans`]: plans that are kept as long as their input is the same.
//!
//! A plan belongs to one profile and to no snapshot. Freshness and the observed affinity group are not part of it.

mod cache;
mod input;
mod tables;

pub use cache::{PlanResult, Plans};
pub use input::PlanInput;

use divvy_framework::division::ties;
use divvy_framework_driver::binding::BindingRecord;

use crate::fleet::estimate::{ComponentDemand, Demand};
use crate::strategy::{
    Declarations, InvalidBinding, StrategyContext, StrategyRequest, StrategySource, resolve_strategy,
};
use divvy_documents::Warning;
use divvy_karmada::api::{ClusterAffinity, Placement, SpreadConstraint, SpreadField};
use divvy_karmada::policy::default_spread_constraint;
use tables::{NamedAffinity, binding_tables, requests};

/// The plan of a binding.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The strategy.
    pub strategy: String,
    /// Where the strategy's name comes from.
    pub source: StrategySource,
    /// Mistakes in the binding or its policy that were read as well as possible.
    pub warnings: Vec<Warning>,
    /// Replicas to divide.
    pub replicas: i64,
    /// True if every candidate is listed with 0 replicas instead of a division: no workload, or several components.
    pub whole: bool,
    /// The demand to estimate.
    pub demand: Demand,
    /// The requests of one replica, for the ledger.
    pub requests: Vec<(String, i64)>,
    /// Replicas that the candidates must hold together where the strategy looks at that.
    pub needed: i64,
    /// Seed of the binding.
    pub seed: u64,
    /// The groups of clusters to try, in order. Never empty.
    pub groups: Vec<AffinityGroup>,
}

/// One group of clusters to try.
#[derive(Debug, Clone)]
pub struct AffinityGroup {
    /// Its name; empty if the placement has no groups.
    pub name: String,
    /// The binding's tables with this group's affinity.
    pub record: BindingRecord,
    /// True if the affinities of the record are tiers that overflow into one another.
    pub overflows: bool,
}

/// How a profile and a run want plans to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// The profile's seed.
    pub seed: u64,
    /// True if bindings of several components with a cluster constraint of exactly one are estimated as whole sets:
    /// Karmada's feature gate MultiplePodTemplatesScheduling.
    pub component_sets: bool,
    /// True if affinity groups are tiers unless an annotation says otherwise.
    pub affinity_groups_as_tiers: bool,
    /// The strategy for every binding, whatever the manifests say.
    pub strategy_override: Option<String>,
}

impl Plan {
    /// The plan of a binding.
    ///
    /// # Errors
    ///
    /// An [`InvalidBinding`] if its strategy or preferences cannot be followed.
    pub fn new(
        input: &PlanInput<'_>,
        declarations: &Declarations,
        options: &PlanOptions,
    ) -> Result<Self, InvalidBinding> {
        let request = resolve_strategy(
            input,
            StrategyContext {
                declarations,
                strategy_override: options.strategy_override.as_deref(),
                affinity_groups_as_tiers: options.affinity_groups_as_tiers,
            },
        )?;
        let nowhere = Placement::default();
        let placement = input.placement.unwrap_or(&nowhere);
        let spread_constraints: Vec<SpreadConstraint> = placement
            .spread_constraints
            .iter()
            .map(default_spread_constraint)
            .collect();
        let is_set = options.component_sets
            && !input.components.is_empty()
            && spread_constraints.iter().any(is_exactly_one_cluster);
        let divides = (input.replicas > 0 || input.requests.is_some()) && input.components.len() <= 1;
        let groups_are_tiers = request.affinity_groups_as_tiers && placement.cluster_affinities.len() > 1;
        let priorities = priorities(placement, &request, groups_are_tiers);
        let is_workload = input.is_workload;
        let groups = groups(placement, groups_are_tiers)
            .into_iter()
            .map(|(name, mut affinities, overflows)| {
                // Only a workload has replicas that can overflow.
                if overflows && !is_workload {
                    affinities.truncate(1);
                }
                AffinityGroup {
                    name,
                    overflows: overflows && affinities.len() > 1,
                    record: binding_tables(input, &request, &spread_constraints, &affinities, &priorities),
                }
            })
            .collect();
        let requests = owned(requests(input.requests));
        Ok(Self {
            replicas: input.replicas,
            whole: !divides,
            demand: demand(input, &requests, is_set),
            requests,
            needed: if is_set { 1 } else { input.replicas },
            seed: ties::seed_for(options.seed, &input.identity()),
            groups,
            strategy: request.strategy,
            source: request.source,
            warnings: request.warnings,
        })
    }

    /// The index of the group to begin with: the observed one, or the first if a reschedule was requested.
    pub fn first_group(&self, observed: &str, fresh: bool) -> usize {
        if fresh || observed.is_empty() {
            return 0;
        }
        self.groups.iter().position(|group| group.name == observed).unwrap_or(0)
    }
}

fn owned<'a>(requests: impl Iterator<Item = (&'a str, i64)>) -> Vec<(String, i64)> {
    requests
        .map(|(resource, quantity)| (resource.to_owned(), quantity))
        .collect()
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
        Demand::Sets(
            components
                .map(|(_, replicas, component)| ComponentDemand {
                    replicas: *replicas,
                    requests: owned(requests(*component)),
                })
                .collect(),
        )
    } else if input.replicas == 0 && input.components.is_empty() {
        Demand::Nothing
    } else if input.requests.is_some() {
        Demand::Requests(replica_requests.to_vec())
    } else {
        Demand::Pods
    }
}

/// Target and priority of each entry; groups as tiers become descending priorities where no entry gives any.
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

/// Name, affinities and whether they overflow, of each group to try.
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
            let overflow = term.overflow_affinities.iter();
            let overflow = overflow.map(|tier| (tier.affinity_name.as_str(), &tier.affinity));
            let first = (term.affinity_name.as_str(), &term.affinity);
            (
                term.affinity_name.clone(),
                std::iter::once(first).chain(overflow).collect(),
                true,
            )
        })
        .collect()
}
