//! Policies that Karmada's API server or its webhook refuses, although all their types are right.
//!
//! The words come from the CRDs (`divvy_karmada::fields`), the rules from `ValidatePropagationSpec` in `pkg/util/validation` and from
//! the webhooks of karmada-io/karmada. An object that came from an API server has passed both, so these findings are reported like
//! unknown fields: as warnings there, and as problems in files.

use divvy_karmada::api::{Placement, PropagationPolicy, SpreadField, is_label_key};
use divvy_karmada::fields::FieldTree;
use divvy_karmada::policy::wire::WEIGHTED;
use divvy_spanned::names::quoted_list;
use divvy_spanned::{Cause, Document, Fault, FieldPath, Node, NodeValue};

/// Words that are checked with their types, or that Divvy extends by names of strategies.
const CHECKED_ELSEWHERE: [&str; 4] = [
    "replicaDivisionPreference",
    "replicaSchedulingType",
    "dynamicWeight",
    "spreadByField",
];
/// The mode in which a grace period has an effect, and the default.
const GRACEFULLY: &str = "Gracefully";

/// What Karmada refuses in a policy, in the order of its rules.
pub(super) fn refusals(policy: &PropagationPolicy, document: &Document<'_>, tree: Option<&FieldTree>) -> Vec<Fault> {
    let node = document.tree(&mut Vec::new());
    let mut refused = Refused {
        node,
        found: Vec::new(),
    };
    if let Some(tree) = tree {
        refused.words(node, tree, &FieldPath::root());
    }
    let spec = FieldPath::dotted("spec");
    refused.placement(&policy.spec.placement, &spec.key("placement"));
    refused.failover(&spec);
    refused.preemption(policy, &spec);
    refused.suspension(policy, &spec);
    refused.found
}

struct Refused<'node> {
    node: &'node Node,
    found: Vec<Fault>,
}

impl Refused<'_> {
    fn invalid(&mut self, path: FieldPath, reason: impl Into<String>) {
        let line = self.node.line_of(&path);
        let cause = Cause::InvalidValue { reason: reason.into() };
        self.found.push(Fault::with_usual_hint(path, line, cause));
    }

    fn too_few(&mut self, tree: &FieldTree, path: &FieldPath) {
        let least = tree.items_min();
        let items = if least == 1 { "item" } else { "items" };
        self.invalid(path.clone(), format!("expected at least {least} {items}"));
    }

    /// Words that are not among those of the CRD, and lists with fewer items than it requires.
    fn words(&mut self, node: &Node, tree: &FieldTree, path: &FieldPath) {
        match &node.value {
            NodeValue::List(items) => {
                if items.len() < tree.items_min() {
                    self.too_few(tree, path);
                }
                for (index, item) in items.iter().enumerate() {
                    if let Some(each) = tree.each() {
                        self.words(item, each, &path.index(index));
                    }
                }
            }
            NodeValue::Mapping(entries) => {
                // Other required fields are checked with their types.
                for (name, field) in tree.fields().into_iter().flatten() {
                    let is_absent = node
                        .get(name)
                        .is_none_or(|value| matches!(value.value, NodeValue::Null));
                    if field.is_required() && field.items_min() > 0 && is_absent {
                        self.too_few(field, &path.key(name));
                    }
                }
                for (key, value) in entries.iter() {
                    let below = tree.fields().and_then(|fields| fields.get(&**key));
                    if let Some(below) = below.filter(|_| !CHECKED_ELSEWHERE.contains(&&**key)) {
                        self.words(value, below, &path.key(key));
                    }
                }
            }
            NodeValue::Text(text) if !tree.allowed().is_empty() && !tree.allowed().contains(&&**text) => {
                let allowed = quoted_list(tree.allowed());
                let one_of = if tree.allowed().len() == 1 { "" } else { "one of " };
                self.invalid(path.clone(), format!("expected {one_of}{allowed}, got `{text}`"));
            }
            _ => {}
        }
    }

    fn placement(&mut self, placement: &Placement, path: &FieldPath) {
        let has_static_weights = placement.replica_scheduling.as_ref().is_some_and(|scheduling| {
            let weights = scheduling.weight_preference.as_ref();
            scheduling.replica_division_preference == WEIGHTED && weights.is_some_and(|weights| !weights.is_dynamic())
        });
        for (index, term) in placement.cluster_affinities.iter().enumerate() {
            let path = path.key("clusterAffinities").index(index);
            let name = &term.affinity_name;
            if !name.is_empty() && !is_label_key(name) {
                let reason = format!("expected letters, digits, `-`, `_` and `.`, got `{name}`");
                self.invalid(path.key("affinityName"), reason);
            }
            if term.overflow_affinities.is_empty() {
                continue;
            }
            let path = path.key("overflowAffinities");
            if term.affinity.is_empty() {
                self.invalid(
                    path,
                    "the group has no affinity of its own, from which replicas could overflow",
                );
            } else if has_static_weights {
                self.invalid(path, "static weights divide all replicas, so that none can overflow");
            }
        }
        self.spread(placement, &path.key("spreadConstraints"));
        let groups = placement.workload_affinity.as_ref();
        let affinity = groups.and_then(|groups| groups.affinity.as_ref());
        let anti_affinity = groups.and_then(|groups| groups.anti_affinity.as_ref());
        if let (Some(affinity), Some(anti_affinity)) = (affinity, anti_affinity)
            && affinity.group_by_label_key == anti_affinity.group_by_label_key
        {
            let key = &affinity.group_by_label_key;
            let path = path.key("workloadAffinity").key("antiAffinity").key("groupByLabelKey");
            self.invalid(
                path,
                format!("`{key}` groups workloads for both affinity and anti-affinity"),
            );
        }
    }

    fn spread(&mut self, placement: &Placement, path: &FieldPath) {
        let mut fields = Vec::new();
        for (index, constraint) in placement.spread_constraints.iter().enumerate() {
            let field = constraint.spread_by_field.as_ref().and_then(|field| field.known());
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
                self.invalid(path, format!("several constraints spread by `{}`", word(field)));
            }
            fields.push(field);
        }
        if !fields.is_empty() && !fields.contains(&SpreadField::Cluster) {
            let reason = format!(
                "a constraint by `cluster` is missing, which Karmada requires beside one by `{}`",
                word(fields[0])
            );
            self.invalid(path.clone(), reason);
        }
    }

    fn failover(&mut self, spec: &FieldPath) {
        let path = spec.key("failover").key("application");
        let application = self.node.at(&path);
        let Some(application) = application.filter(|node| matches!(node.value, NodeValue::Mapping(_))) else {
            return;
        };
        let integer = |node: Option<&Node>| match node?.value {
            NodeValue::Integer(value) => Some(value),
            _ => None,
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

    fn preemption(&mut self, policy: &PropagationPolicy, spec: &FieldPath) {
        if policy.spec.preemption != "Always" {
            return;
        }
        for (index, selector) in policy.spec.resource_selectors.iter().enumerate() {
            if selector.name.is_empty() {
                let path = spec.key("resourceSelectors").index(index);
                self.invalid(
                    path,
                    "`name` is missing, which Karmada requires with `preemption: Always`",
                );
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

fn word(field: SpreadField) -> String {
    divvy_karmada::api::Word::from(field).to_string()
}
