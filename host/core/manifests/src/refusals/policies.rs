//! The rules for propagation policies of both scopes: `ValidatePropagationSpec`.

use divvy_karmada::api::{
    ClusterAffinityTerm, Placement, PolicyScope, PropagationPolicy, ReplicaSchedulingType, SpreadField, Word,
};
use divvy_karmada::policy::wire::WEIGHTED;
use divvy_spanned::{FieldPath, Node, NodeValue};

use super::Refused;

/// The mode in which a grace period has an effect, and the default.
const GRACEFULLY: &str = "Gracefully";

impl Refused<'_> {
    /// Checks a policy, in the order of Karmada's rules.
    pub(crate) fn policy(&mut self, policy: &PropagationPolicy) {
        let spec = FieldPath::dotted("spec");
        self.selectors(policy, &spec.key("resourceSelectors"));
        self.placement(&policy.spec.placement, &spec.key("placement"));
        self.failover(&spec);
        self.suspension(policy, &spec);
    }

    fn selectors(&mut self, policy: &PropagationPolicy, path: &FieldPath) {
        let own = Some(policy.metadata.namespace.as_str()).filter(|_| policy.scope() == PolicyScope::Namespaced);
        for (index, selector) in policy.spec.resource_selectors.iter().enumerate() {
            let path = path.index(index);
            self.selector_namespace(&path, &selector.namespace, own);
            if policy.spec.preemption == "Always" && selector.name.is_empty() {
                let reason = "`name` is missing, which Karmada requires with `preemption: Always`";
                self.invalid(path, reason);
            }
        }
    }

    fn placement(&mut self, placement: &Placement, path: &FieldPath) {
        for (index, term) in placement.cluster_affinities.iter().enumerate() {
            let path = path.key("clusterAffinities").index(index);
            self.affinity_name(&path, &term.affinity_name);
            if !term.overflow_affinities.is_empty() {
                self.overflow(term, divides_by_room(placement), &path.key("overflowAffinities"));
            }
        }
        self.spread(placement, &path.key("spreadConstraints"));
        self.workload_affinity(placement, &path.key("workloadAffinity"));
    }

    /// An absent or empty name is reported as missing.
    fn affinity_name(&mut self, group: &FieldPath, name: &str) {
        if !name.is_empty() {
            self.label_key(group.key("affinityName"), name);
        }
    }

    fn overflow(&mut self, term: &ClusterAffinityTerm, divides_by_room: bool, path: &FieldPath) {
        let mut names = vec![&term.affinity_name];
        for (index, tier) in term.overflow_affinities.iter().enumerate() {
            let path = path.index(index);
            let name = &tier.affinity_name;
            self.affinity_name(&path, name);
            if !name.is_empty() && names.contains(&name) {
                let reason = format!("`{name}` is already the name of the group or of another tier of it");
                self.invalid(path.key("affinityName"), reason);
            }
            names.push(name);
        }
        if term.affinity.is_empty() {
            let reason = "the group has no affinity of its own, from which replicas could overflow";
            self.invalid(path.clone(), reason);
        } else if !divides_by_room {
            let reason = "replicas overflow only if they are divided by room: aggregated, or by dynamic weights";
            self.invalid(path.clone(), reason);
        }
    }

    fn spread(&mut self, placement: &Placement, path: &FieldPath) {
        let mut fields = Vec::new();
        for (index, constraint) in placement.spread_constraints.iter().enumerate() {
            let field = constraint.spread_by_field.as_ref().and_then(Word::known);
            // The webhook fills in a constraint without a field and without a label.
            let is_default = constraint
                .spread_by_field
                .as_ref()
                .is_none_or(|field| field.as_str().is_empty())
                && constraint.spread_by_label.is_empty();
            let Some(field) = field.or(is_default.then_some(SpreadField::Cluster)) else {
                continue;
            };
            if fields.contains(&field) {
                let path = path.index(index).key("spreadByField");
                self.invalid(path, format!("several constraints spread by `{}`", Word::from(field)));
            }
            fields.push(field);
        }
        if !fields.is_empty() && !fields.contains(&SpreadField::Cluster) {
            let reason = format!(
                "a constraint by `cluster` is missing, which Karmada requires beside one by `{}`",
                Word::from(fields[0])
            );
            self.invalid(path.clone(), reason);
        }
    }

    fn workload_affinity(&mut self, placement: &Placement, path: &FieldPath) {
        let groups = placement.workload_affinity.as_ref();
        let affinity = groups.and_then(|groups| groups.affinity.as_ref());
        let anti_affinity = groups.and_then(|groups| groups.anti_affinity.as_ref());
        for (name, term) in [("affinity", affinity), ("antiAffinity", anti_affinity)] {
            if let Some(term) = term {
                let path = path.key(name).key("groupByLabelKey");
                self.label_key(path, &term.group_by_label_key);
            }
        }
        if let (Some(affinity), Some(anti_affinity)) = (affinity, anti_affinity)
            && affinity.group_by_label_key == anti_affinity.group_by_label_key
        {
            let key = &affinity.group_by_label_key;
            let path = path.key("antiAffinity").key("groupByLabelKey");
            self.invalid(
                path,
                format!("`{key}` groups workloads for both affinity and anti-affinity"),
            );
        }
    }

    fn failover(&mut self, spec: &FieldPath) {
        let path = spec.key("failover");
        for name in ["application", "cluster"] {
            self.state_preservation(&path.key(name).key("statePreservation").key("rules"));
        }
        let path = path.key("application");
        let application = self.node.at(&path);
        let Some(application) = application.filter(|node| matches!(node.value, NodeValue::Mapping(_))) else {
            return;
        };
        let dependencies = self.node.at(&spec.key("propagateDeps"));
        if !dependencies.is_some_and(|node| matches!(node.value, NodeValue::Bool(true))) {
            self.invalid(
                path.clone(),
                "`propagateDeps: true` is missing, which Karmada requires beside it",
            );
        }
        let conditions = application.get("decisionConditions");
        let seconds = conditions.and_then(|conditions| integer(conditions.get("tolerationSeconds")));
        if let Some(seconds) = seconds.filter(|seconds| *seconds < 0) {
            let path = path.key("decisionConditions").key("tolerationSeconds");
            self.invalid(path, format!("expected at least 0, got `{seconds}`"));
        }
        let Some(seconds) = integer(application.get("gracePeriodSeconds")) else {
            return;
        };
        let path = path.key("gracePeriodSeconds");
        if seconds <= 0 {
            self.invalid(path, format!("expected at least 1, got `{seconds}`"));
        } else if application.text("purgeMode").is_some_and(|mode| mode != GRACEFULLY) {
            self.invalid(path, format!("it has an effect only with `purgeMode: {GRACEFULLY}`"));
        }
    }

    /// The state of a workload travels in labels, which must be keys of labels.
    fn state_preservation(&mut self, path: &FieldPath) {
        let Some(NodeValue::List(rules)) = self.node.at(path).map(|node| &node.value) else {
            return;
        };
        for (index, rule) in rules.iter().enumerate() {
            if let Some(name) = rule.text("aliasLabelName") {
                self.label_key(path.index(index).key("aliasLabelName"), name);
            }
        }
    }

    fn suspension(&mut self, policy: &PropagationPolicy, spec: &FieldPath) {
        let Some(suspension) = &policy.spec.suspension else {
            return;
        };
        let clusters = suspension.dispatching_on_clusters.as_ref();
        if suspension.dispatching == Some(true) && clusters.is_some_and(|clusters| !clusters.cluster_names.is_empty()) {
            let path = spec.key("suspension").key("dispatchingOnClusters");
            self.invalid(path, "`dispatching: true` and names of clusters cannot both be given");
        }
    }
}

fn integer(node: Option<&Node>) -> Option<i64> {
    match node?.value {
        NodeValue::Integer(value) => Some(value),
        _ => None,
    }
}

/// True if replicas are divided by room: aggregated, by dynamic weights, or by a strategy that Karmada does not have.
fn divides_by_room(placement: &Placement) -> bool {
    placement.replica_scheduling.as_ref().is_some_and(|scheduling| {
        let kind = scheduling.replica_scheduling_type.as_ref();
        let weights = scheduling.weight_preference.as_ref();
        let is_divided = kind.is_none_or(|kind| *kind != ReplicaSchedulingType::Duplicated);
        is_divided
            && match scheduling.replica_division_preference.as_str() {
                // Without weights, Karmada divides evenly.
                WEIGHTED => weights.is_some_and(|weights| weights.is_dynamic()),
                // The webhook fills in `Weighted`.
                "" => {
                    !scheduling.extend_replica_division_preference.is_empty()
                        || weights.is_some_and(|weights| weights.is_dynamic())
                }
                _ => true,
            }
    })
}
