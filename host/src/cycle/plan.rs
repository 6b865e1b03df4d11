//! What a binding asks for, worked out once when it is read: tables for plugins, the demand for the estimate, the groups
//! of clusters to try.

use divvy_framework::division::ties;
use divvy_framework_driver::binding::{AffinityWriter, BindingRecord, BindingRecordBuilder};
use divvy_framework_view::binding::{SpreadConstraint, Toleration};
use divvy_framework_view::words::{SelectorField, SelectorOperator, SpreadField, TaintEffect, TolerationOperator};

use crate::api::{self, ClusterAffinity, ReplicaRequirements, Word};
use crate::fleet::estimate::{ComponentDemand, Demand};
use crate::fleet::units;
use crate::inputs::BindingInput;
use crate::strategy::{PreferenceRule, StrategyRequest};

/// What a binding asks for.
#[derive(Debug, Clone)]
pub struct BindingPlan {
    /// `<namespace>/<name>`.
    pub key: String,
    /// The strategy.
    pub strategy: String,
    /// Replicas to divide.
    pub replicas: i64,
    /// Whether every candidate is listed with 0 replicas instead of a division: no workload, or several components.
    pub whole: bool,
    /// What is estimated.
    pub demand: Demand,
    /// What one replica requests, for the ledger.
    pub requests: Vec<(String, i64)>,
    /// Replicas that the candidates must hold together where the strategy looks at that.
    pub needed: i64,
    /// Seed of the binding.
    pub seed: u64,
    /// The groups of clusters to try, in order. Never empty.
    pub groups: Vec<AffinityGroup>,
    /// Whether groups are tiers: one group holds them all.
    pub groups_are_tiers: bool,
}

/// One group of clusters to try.
#[derive(Debug, Clone)]
pub struct AffinityGroup {
    /// Its name; empty if the placement has no groups.
    pub name: String,
    /// The binding's tables with this group's affinity.
    pub record: BindingRecord,
    /// Whether the affinities of the record are tiers that overflow into one another.
    pub overflows: bool,
}

/// What a policy says that no strategy can follow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A priority below 1.
    #[error("{origin}: priority {priority} is below 1")]
    PriorityBelowOne {
        /// Where it stands.
        origin: String,
        /// The priority.
        priority: i64,
    },
    /// A priority is missing.
    #[error("{origin}: missing `priority`")]
    PriorityMissing {
        /// Where it should stand.
        origin: String,
    },
    /// Priorities beside a strategy that has no tiers.
    #[error("`clusterPriority` cannot be combined with strategy `{strategy}`")]
    PriorityNotSupported {
        /// The strategy.
        strategy: String,
    },
}

/// How a profile wants plans to be made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// The profile's seed.
    pub seed: u64,
    /// Whether bindings of several components with a cluster constraint of exactly one are estimated as whole sets:
    /// Karmada's feature gate MultiplePodTemplatesScheduling.
    pub component_sets: bool,
}

impl BindingPlan {
    /// The plan of a binding with its strategy.
    ///
    /// # Errors
    ///
    /// A [`PlanError`] if the policy's priorities make no sense.
    pub fn new(input: &BindingInput, request: &StrategyRequest, options: PlanOptions) -> Result<Self, PlanError> {
        let identity = if input.uid.is_empty() {
            format!("{}/{}/{}", input.kind(), input.namespace, input.name)
        } else {
            input.uid.clone()
        };
        let requests = requests_of(input.requirements.as_ref());
        let is_set = options.component_sets && !input.components.is_empty() && has_one_cluster_constraint(input);
        let divides = (input.replicas > 0 || input.requirements.is_some()) && input.components.len() <= 1;
        let mut plan = Self {
            key: input.key(),
            strategy: request.strategy.clone(),
            replicas: input.replicas,
            whole: !divides,
            demand: demand_of(input, &requests, is_set),
            requests,
            needed: if is_set { 1 } else { input.replicas },
            seed: ties::seed_for(options.seed, &identity),
            groups: Vec::new(),
            groups_are_tiers: request.affinity_groups_as_tiers && input.placement.cluster_affinities.len() > 1,
        };
        let priorities = priorities_of(input, request, plan.groups_are_tiers)?;
        let groups = groups_of(input, plan.groups_are_tiers);
        let workload = input.is_workload();
        for (name, mut affinities, overflows) in groups {
            // Only what has replicas can overflow.
            if overflows && !workload {
                affinities.truncate(1);
            }
            let overflows = overflows && affinities.len() > 1;
            let record = record_of(input, request, &identity, &affinities, &priorities);
            plan.groups.push(AffinityGroup {
                name,
                record,
                overflows,
            });
        }
        Ok(plan)
    }

    /// The group to begin with: the one that was used last, the first if a reschedule was asked for.
    pub fn first_group(&self, observed: &str, fresh: bool) -> usize {
        if fresh || observed.is_empty() {
            return 0;
        }
        self.groups.iter().position(|group| group.name == observed).unwrap_or(0)
    }
}

/// Whether a spread constraint asks for exactly one cluster.
fn has_one_cluster_constraint(input: &BindingInput) -> bool {
    input.placement.spread_constraints.iter().any(|constraint| {
        constraint.spread_by_field == Some(SpreadField::Cluster.into())
            && constraint.min_groups == 1
            && constraint.max_groups == 1
    })
}

fn requests_of(requirements: Option<&ReplicaRequirements>) -> Vec<(String, i64)> {
    requirements.map_or_else(Vec::new, |requirements| {
        requirements
            .resource_request
            .iter()
            .map(|(resource, quantity)| (resource.clone(), units(resource, *quantity)))
            .collect()
    })
}

fn demand_of(input: &BindingInput, requests: &[(String, i64)], is_set: bool) -> Demand {
    if is_set {
        Demand::Sets(
            input
                .components
                .iter()
                .map(|component| ComponentDemand {
                    replicas: i64::from(component.replicas),
                    requests: requests_of(component.replica_requirements.as_ref()),
                })
                .collect(),
        )
    } else if input.replicas == 0 && input.components.is_empty() {
        Demand::Nothing
    } else if input.requirements.is_some() {
        Demand::Requests(requests.to_vec())
    } else {
        Demand::Pods
    }
}

/// Target and priority of each entry; groups as tiers become descending priorities.
fn priorities_of<'a>(
    input: &'a BindingInput,
    request: &'a StrategyRequest,
    groups_are_tiers: bool,
) -> Result<Vec<(&'a ClusterAffinity, i64)>, PlanError> {
    let own = request.rules_key == PRIORITY_LIST;
    let rules: &[PreferenceRule] = match &request.cluster_priority {
        Some(rules) => rules,
        None if own => &request.rules,
        None => &[],
    };
    if request.cluster_priority.is_some() && matches!(request.strategy.as_str(), "Duplicated" | "Specified") {
        return Err(PlanError::PriorityNotSupported {
            strategy: request.strategy.clone(),
        });
    }
    let mut priorities = Vec::new();
    for rule in rules {
        let Some(&priority) = rule.fields.get(PRIORITY_FIELD) else {
            return Err(PlanError::PriorityMissing {
                origin: rule.origin.clone(),
            });
        };
        if priority < 1 {
            return Err(PlanError::PriorityBelowOne {
                origin: rule.origin.clone(),
                priority,
            });
        }
        priorities.push((&rule.target, priority));
    }
    if priorities.is_empty() && groups_are_tiers {
        let terms = &input.placement.cluster_affinities;
        for (number, term) in (0_i64..).zip(terms) {
            let priority = terms.len() as i64 - number;
            priorities.push((&term.affinity, priority));
        }
    }
    Ok(priorities)
}

/// The key of the list by which a policy gives clusters priorities, and the key of the number in it.
const PRIORITY_LIST: &str = "preferredPriorityList";
const PRIORITY_FIELD: &str = "priority";

/// An affinity with the name of its group.
type NamedAffinity<'a> = (&'a str, &'a ClusterAffinity);

/// Name, affinities and whether they overflow, of each group to try.
fn groups_of(input: &BindingInput, groups_are_tiers: bool) -> Vec<(String, Vec<NamedAffinity<'_>>, bool)> {
    let placement = &input.placement;
    if let Some(affinity) = &placement.cluster_affinity {
        return vec![(String::new(), vec![("", affinity)], false)];
    }
    let terms = &placement.cluster_affinities;
    if terms.is_empty() {
        return vec![(String::new(), Vec::new(), false)];
    }
    if groups_are_tiers {
        let all = terms
            .iter()
            .map(|term| (term.affinity_name.as_str(), &term.affinity))
            .collect();
        return vec![(String::new(), all, false)];
    }
    terms
        .iter()
        .map(|term| {
            let mut affinities = vec![(term.affinity_name.as_str(), &term.affinity)];
            affinities.extend(
                term.overflow_affinities
                    .iter()
                    .map(|tier| (tier.affinity_name.as_str(), &tier.affinity)),
            );
            (term.affinity_name.clone(), affinities, true)
        })
        .collect()
}

fn record_of(
    input: &BindingInput,
    request: &StrategyRequest,
    identity: &str,
    affinities: &[NamedAffinity<'_>],
    priorities: &[(&ClusterAffinity, i64)],
) -> BindingRecord {
    let preferences = request
        .preferences
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let resource = &input.resource;
    let mut builder = BindingRecordBuilder::new();
    builder
        .identity(&input.namespace, &input.name, identity)
        .resource(
            &resource.api_version,
            &resource.kind,
            &resource.namespace,
            &resource.name,
            &resource.uid,
        )
        .strategy(&request.strategy, &preferences)
        .replicas(input.replicas, input.is_workload())
        .fresh(input.fresh)
        .replica_requests(requests_of(input.requirements.as_ref()));
    for (name, affinity) in affinities {
        builder.placement_affinity(|writer| write_affinity(affinity, writer.name(name)));
    }
    for component in &input.components {
        let requests = requests_of(component.replica_requirements.as_ref());
        builder.component(&component.name, i64::from(component.replicas), requests);
    }
    for (cluster, replicas) in &input.last {
        builder.last(cluster, *replicas);
    }
    for cluster in &input.evicted_from {
        builder.eviction(cluster);
    }
    for toleration in &input.placement.cluster_tolerations {
        builder.toleration(view_of_toleration(toleration));
    }
    for constraint in &input.placement.spread_constraints {
        builder.spread_constraint(view_of_constraint(constraint));
    }
    for rule in &request.rules {
        let values = rule.fields.iter().map(|(field, &value)| (field, value));
        builder.rule(&rule.origin, values, |writer| write_affinity(&rule.target, writer));
    }
    for (target, priority) in priorities {
        builder.priority(*priority, |writer| write_affinity(target, writer));
    }
    for (key, value) in &input.labels {
        builder.label(key, value);
    }
    for (key, value) in &input.annotations {
        builder.annotation(key, value);
    }
    builder.build()
}

/// Writes an affinity, all but the name of its group.
fn write_affinity(affinity: &ClusterAffinity, writer: &mut AffinityWriter<'_>) {
    writer
        .cluster_names(&affinity.cluster_names)
        .exclude(&affinity.exclude_clusters);
    if let Some(selector) = &affinity.label_selector {
        for (key, value) in &selector.match_labels {
            writer.label(key, SelectorOperator::In, [value]);
        }
        for requirement in &selector.match_expressions {
            let operator = requirement.operator.known().unwrap_or(SelectorOperator::Unknown);
            writer.label(&requirement.key, operator, &requirement.values);
        }
    }
    if let Some(selector) = &affinity.field_selector {
        for requirement in &selector.match_expressions {
            let field = SelectorField::named(&requirement.key).unwrap_or(SelectorField::Unknown);
            let operator = requirement.operator.known().unwrap_or(SelectorOperator::Unknown);
            writer.field(field, operator, &requirement.values);
        }
    }
}

fn view_of_toleration(toleration: &api::Toleration) -> Toleration<'_> {
    Toleration {
        key: &toleration.key,
        operator: match &toleration.operator {
            None => TolerationOperator::Equal,
            Some(Word::Unknown(word)) if word.is_empty() => TolerationOperator::Equal,
            Some(word) => word.known().unwrap_or(TolerationOperator::Unknown),
        },
        value: &toleration.value,
        effect: match &toleration.effect {
            None => TaintEffect::Any,
            Some(Word::Unknown(word)) if word.is_empty() => TaintEffect::Any,
            Some(word) => word.known().unwrap_or(TaintEffect::Unknown),
        },
        seconds: toleration.toleration_seconds,
    }
}

fn view_of_constraint(constraint: &api::SpreadConstraint) -> SpreadConstraint<'_> {
    let field = constraint.spread_by_field.as_ref().and_then(Word::known);
    SpreadConstraint {
        field: match constraint.spread_by_label.as_str() {
            "" => field.unwrap_or(SpreadField::Cluster),
            _ => SpreadField::Label,
        },
        label: &constraint.spread_by_label,
        minimum_groups: constraint.min_groups,
        maximum_groups: constraint.max_groups,
    }
}
