//! Bindings, workloads and policies, brought together.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::binding::{BindingInput, SkipReason};
use crate::api::{
    BindingScope, Cluster, ObjectMeta, ObjectReference, Placement, PropagationPolicy, ResourceBinding, TypeMeta,
};
use crate::manifests::{Located, Manifests, ObjectName, Problem, Warning, WorkloadResource, object_name};
use crate::policy::{Policies, apply_placement_defaults, apply_policy_defaults, binding_name, claimed_by};
use crate::strategy::{RuleLists, StrategyContext, resolve_strategy};
use crate::workloads::{WorkloadKinds, has_replicas};

/// The name that Karmada gives its own scheduler, and every policy that names none.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// How to bring the input together.
#[derive(Debug, Clone, Default)]
pub struct ResolveOptions {
    /// The strategies that loaded plugins serve.
    pub known_strategies: Vec<String>,
    /// The lists that their plugins declare, by strategy.
    pub rule_lists: RuleLists,
    /// A strategy for every binding, whatever the manifests say.
    pub strategy_override: Option<String>,
    /// This scheduler's name; empty is the default one's.
    pub scheduler_name: String,
    /// Whether the profile makes affinity groups tiers.
    pub affinity_groups_as_tiers: bool,
    /// The kinds that have replicas.
    pub workload_kinds: WorkloadKinds,
}

/// The input of a run.
#[derive(Debug, Default)]
pub struct Resolved {
    /// The clusters, in the order of the input.
    pub clusters: Vec<Located<Cluster>>,
    /// The bindings, sorted by namespace, name and kind.
    pub bindings: Vec<BindingInput>,
    /// Resources that no policy matches and that no binding means, sorted.
    pub unmatched: Vec<ObjectName>,
    /// What was read as best it could be. Those of a binding's strategy are in its request.
    pub warnings: Vec<Warning>,
    /// What must be put right before anything is scheduled.
    pub problems: Vec<Problem>,
}

/// What identifies a resource across its versions: group, kind, namespace, name.
type ResourceKey = (String, String, String, String);

fn key_of(type_meta: &TypeMeta, namespace: &str, name: &str) -> ResourceKey {
    (
        type_meta.group().to_owned(),
        type_meta.kind.clone(),
        namespace.to_owned(),
        name.to_owned(),
    )
}

/// Brings manifests together.
pub fn resolve(manifests: Manifests, options: &ResolveOptions) -> Resolved {
    let Manifests {
        clusters,
        policies,
        bindings,
        mut resources,
        ignored: _,
        problems,
        warnings,
    } = manifests;
    remove_namespaces_of_custom_kinds(&mut resources);
    let mut policies: Vec<PropagationPolicy> = policies.into_iter().map(|located| located.object).collect();
    policies.iter_mut().for_each(apply_policy_defaults);

    let mut resolver = Resolver {
        options,
        policies: Policies::new(&policies),
        warnings,
        unknown_kinds: BTreeSet::new(),
    };
    let workloads: HashMap<ResourceKey, &Located<WorkloadResource>> = resources
        .iter()
        .map(|located| {
            let resource = &located.object.resource;
            (
                key_of(
                    &resource.type_meta,
                    &resource.metadata.namespace,
                    &resource.metadata.name,
                ),
                located,
            )
        })
        .collect();

    let mut bound = HashSet::new();
    let mut inputs = BTreeMap::new();
    for binding in &bindings {
        let reference = &binding.object.spec.resource;
        let type_meta = TypeMeta {
            api_version: reference.api_version.clone(),
            kind: reference.kind.clone(),
        };
        let namespace = match binding.object.scope() {
            BindingScope::Namespaced if reference.namespace.is_empty() => &binding.object.metadata.namespace,
            _ => &reference.namespace,
        };
        let key = key_of(&type_meta, namespace, &reference.name);
        let workload = workloads.get(&key).copied();
        bound.insert(key);
        let input = resolver.of_binding(binding, workload);
        inputs.insert((input.namespace.clone(), input.name.clone(), input.scope), input);
    }
    let mut unmatched = Vec::new();
    for located in &resources {
        let resource = &located.object.resource;
        let metadata = &resource.metadata;
        if bound.contains(&key_of(&resource.type_meta, &metadata.namespace, &metadata.name)) {
            continue;
        }
        match resolver.of_workload(located) {
            // Two resources may share a binding's name, as `a:b` and `a.b` do; Karmada too keeps one.
            Some(input) => {
                let key = (input.namespace.clone(), input.name.clone(), input.scope);
                match inputs.entry(key) {
                    Entry::Vacant(vacant) => {
                        vacant.insert(input);
                    }
                    Entry::Occupied(_) => {
                        let message = format!(
                            "the binding `{}` is in the input already; not given a second one",
                            input.key()
                        );
                        let warning = warning_at(located, message);
                        resolver.warnings.push(warning);
                    }
                }
            }
            None => unmatched.push(object_name(
                &resource.type_meta.kind,
                &metadata.namespace,
                &metadata.name,
            )),
        }
    }
    unmatched.sort();
    let bindings = inputs.into_values().collect();
    Resolved {
        clusters,
        bindings,
        unmatched,
        warnings: resolver.warnings,
        problems,
    }
}

/// Takes the namespace from kinds whose CustomResourceDefinition in the input says that they have none.
fn remove_namespaces_of_custom_kinds(resources: &mut [Located<WorkloadResource>]) {
    let definitions = resources.iter().filter_map(|located| {
        let resource = &located.object.resource;
        let spec = resource
            .value
            .get("spec")
            .filter(|_| resource.type_meta.kind == "CustomResourceDefinition")?;
        let text = |value: Option<&serde_json::Value>| value.and_then(|value| value.as_str()).map(str::to_owned);
        let is_cluster_scoped = text(spec.get("scope"))? == "Cluster";
        let kind = text(spec.get("names").and_then(|names| names.get("kind")))?;
        is_cluster_scoped.then_some((text(spec.get("group"))?, kind))
    });
    let cluster_scoped: HashSet<(String, String)> = definitions.collect();
    for located in resources {
        let resource = &mut located.object.resource;
        if cluster_scoped.contains(&(resource.type_meta.group().to_owned(), resource.type_meta.kind.clone())) {
            resource.metadata.namespace.clear();
        }
    }
}

struct Resolver<'a> {
    options: &'a ResolveOptions,
    policies: Policies<'a>,
    warnings: Vec<Warning>,
    /// Kinds with `spec.replicas` that were warned about.
    unknown_kinds: BTreeSet<TypeMeta>,
}

impl<'a> Resolver<'a> {
    /// The input of a binding that is in the manifests.
    fn of_binding(
        &mut self,
        located: &Located<ResourceBinding>,
        workload: Option<&Located<WorkloadResource>>,
    ) -> BindingInput {
        let binding = &located.object;
        let spec = &binding.spec;
        let demand = workload.and_then(|workload| workload.object.demand.as_ref());
        if let Some(workload) = workload {
            self.warn_of_unknown_kind(workload);
        }
        let policy = self.policy_of_binding(binding, workload);
        let follows = !spec.required_by.is_empty() && spec.placement.is_none();
        let skip = if binding.metadata.is_deleting() {
            Some(SkipReason::Deleting)
        } else if spec.suspension.as_ref().and_then(|suspension| suspension.scheduling) == Some(true) {
            Some(SkipReason::Suspended)
        } else if follows {
            let names = spec.required_by.iter().map(|other| match other.namespace.as_str() {
                "" => other.name.clone(),
                namespace => format!("{namespace}/{}", other.name),
            });
            Some(SkipReason::Follows(names.collect()))
        } else {
            None
        };
        let has_no_placement = spec.placement.is_none() && policy.is_none();
        if has_no_placement && skip.is_none() {
            self.warnings.push(Warning {
                source_of: Some(located.source.clone()),
                object: Some(object_name(
                    &binding.kind,
                    &binding.metadata.namespace,
                    &binding.metadata.name,
                )),
                message: "the binding has no placement and no policy in the input; read as every cluster, duplicated"
                    .to_owned(),
                hint: None,
            });
        }
        let placement = spec.placement.as_ref().or(policy.map(|policy| &policy.spec.placement));
        let mut resource = spec.resource.clone();
        if resource.namespace.is_empty() && binding.scope() == BindingScope::Namespaced {
            resource.namespace.clone_from(&binding.metadata.namespace);
        }
        let scheduler_name = match (spec.scheduler_name.as_str(), policy) {
            ("", Some(policy)) => &policy.spec.scheduler_name,
            _ => &spec.scheduler_name,
        };
        let has_components = !spec.components.is_empty();
        let replicas = spec
            .replicas
            .or(demand.filter(|_| !has_components).map(|demand| demand.replicas));
        let requirements = spec.replica_requirements.clone().or_else(|| {
            demand
                .filter(|_| !has_components)
                .and_then(|demand| demand.requirements.clone())
        });
        self.assemble(Parts {
            scope: binding.scope(),
            metadata: &binding.metadata,
            is_binding: true,
            policy,
            placement,
            resource,
            replicas: i64::from(replicas.unwrap_or(0)),
            scheduler_name,
            skip,
            source: &located.source,
            fill: |input: &mut BindingInput| {
                input.requirements = requirements;
                input.components = spec.components.clone();
                input.last = spec
                    .clusters
                    .iter()
                    .map(|last| (last.name.clone(), i64::from(last.replicas)))
                    .collect();
                input.evicted_from = spec
                    .graceful_eviction_tasks
                    .iter()
                    .map(|task| task.from_cluster.clone())
                    .collect();
                input.fresh = BindingInput::is_fresh(spec, &binding.status);
                input
                    .observed_affinity
                    .clone_from(&binding.status.scheduler_observed_affinity_name);
                input.priority = spec.schedule_priority.map_or(0, |priority| priority.priority);
            },
        })
    }

    /// The policy that made a binding: the one that it names, or that claims or matches its workload.
    fn policy_of_binding(
        &self,
        binding: &ResourceBinding,
        workload: Option<&Located<WorkloadResource>>,
    ) -> Option<&'a PropagationPolicy> {
        if claimed_by(&binding.metadata).is_some() {
            return self.policies.claimant(&binding.metadata);
        }
        let resource = &workload?.object.resource;
        self.policies.policy_for(&resource.type_meta, &resource.metadata)
    }

    /// The input of a workload that has no binding; `None` if no policy matches.
    fn of_workload(&mut self, located: &Located<WorkloadResource>) -> Option<BindingInput> {
        let resource = &located.object.resource;
        let policy = self.policies.policy_for(&resource.type_meta, &resource.metadata)?;
        self.warn_of_unknown_kind(located);
        let metadata = ObjectMeta {
            name: binding_name(&resource.type_meta.kind, &resource.metadata.name),
            namespace: resource.metadata.namespace.clone(),
            ..ObjectMeta::default()
        };
        let is_namespaced = !metadata.namespace.is_empty();
        let demand = located.object.demand.clone();
        Some(self.assemble(Parts {
            scope: if is_namespaced {
                BindingScope::Namespaced
            } else {
                BindingScope::Cluster
            },
            metadata: &metadata,
            is_binding: false,
            policy: Some(policy),
            placement: Some(&policy.spec.placement),
            resource: ObjectReference {
                api_version: resource.type_meta.api_version.clone(),
                kind: resource.type_meta.kind.clone(),
                namespace: resource.metadata.namespace.clone(),
                name: resource.metadata.name.clone(),
                uid: resource.metadata.uid.clone(),
                resource_version: resource.metadata.resource_version.clone(),
            },
            replicas: i64::from(demand.as_ref().map_or(0, |demand| demand.replicas)),
            scheduler_name: &policy.spec.scheduler_name,
            skip: resource.metadata.is_deleting().then_some(SkipReason::Deleting),
            source: &located.source,
            fill: |input: &mut BindingInput| input.requirements = demand.and_then(|demand| demand.requirements),
        }))
    }

    fn assemble<Fill: FnOnce(&mut BindingInput)>(&self, parts: Parts<'_, Fill>) -> BindingInput {
        let written = parts.placement.cloned().unwrap_or_default();
        let strategy = resolve_strategy(&StrategyContext {
            placement: &written,
            binding: parts.is_binding.then_some(parts.metadata),
            policy: parts.policy.map(|policy| &policy.metadata),
            total: parts.policy.and_then(|policy| policy.spec.replicas),
            replicas: parts.replicas,
            known: &self.options.known_strategies,
            rule_lists: &self.options.rule_lists,
            strategy_override: self.options.strategy_override.as_deref(),
            affinity_groups_as_tiers: self.options.affinity_groups_as_tiers,
        });
        let mut placement = written;
        apply_placement_defaults(&mut placement);
        let mut input = BindingInput {
            scope: parts.scope,
            namespace: parts.metadata.namespace.clone(),
            name: parts.metadata.name.clone(),
            uid: parts.metadata.uid.clone(),
            generation: parts.metadata.generation,
            labels: parts.metadata.labels.clone(),
            annotations: parts.metadata.annotations.clone(),
            resource: parts.resource,
            replicas: parts.replicas,
            requirements: None,
            components: Vec::new(),
            last: Vec::new(),
            evicted_from: Vec::new(),
            placement,
            fresh: false,
            observed_affinity: String::new(),
            priority: 0,
            is_foreign: self.is_foreign(parts.scheduler_name),
            scheduler_name: parts.scheduler_name.to_owned(),
            policy: parts
                .policy
                .map(|policy| object_name(&policy.kind, &policy.metadata.namespace, &policy.metadata.name).to_string()),
            skip: parts.skip,
            strategy,
            source: parts.source.clone(),
        };
        (parts.fill)(&mut input);
        input
    }

    /// Whether a binding names another scheduler. One that names none leaves the choice to whoever runs.
    fn is_foreign(&self, scheduler_name: &str) -> bool {
        let own = match self.options.scheduler_name.as_str() {
            "" => DEFAULT_SCHEDULER,
            own => own,
        };
        !scheduler_name.is_empty() && scheduler_name != own
    }

    fn warn_of_unknown_kind(&mut self, located: &Located<WorkloadResource>) {
        let resource = &located.object.resource;
        let type_meta = &resource.type_meta;
        let is_unknown = located.object.demand.is_none() && has_replicas(resource);
        if !is_unknown
            || self.options.workload_kinds.contains(type_meta)
            || !self.unknown_kinds.insert(type_meta.clone())
        {
            return;
        }
        let message = format!(
            "the kind `{}` of `{}` has `spec.replicas`, but no `[[workload]]` table names it; propagated whole",
            type_meta.kind, type_meta.api_version
        );
        let hint = format!(
            "add `[[workload]]` with `api-version = \"{}\"`, `kind = \"{}\"`, `replicas = \"spec.replicas\"` and, if it has one, `template = \"spec.template\"` to the profile",
            type_meta.api_version, type_meta.kind
        );
        self.warnings.push(warning_at(located, message).with_hint(hint));
    }
}

/// A warning about a resource.
fn warning_at(located: &Located<WorkloadResource>, message: String) -> Warning {
    let resource = &located.object.resource;
    let metadata = &resource.metadata;
    Warning {
        source_of: Some(located.source.clone()),
        object: Some(object_name(
            &resource.type_meta.kind,
            &metadata.namespace,
            &metadata.name,
        )),
        message,
        hint: None,
    }
}

/// What bindings and workloads have in common, and what is filled in after that.
struct Parts<'a, Fill> {
    scope: BindingScope,
    metadata: &'a ObjectMeta,
    is_binding: bool,
    policy: Option<&'a PropagationPolicy>,
    placement: Option<&'a Placement>,
    resource: ObjectReference,
    replicas: i64,
    scheduler_name: &'a str,
    skip: Option<SkipReason>,
    source: &'a crate::manifests::Source,
    fill: Fill,
}
