//! Reading the record of a binding, and its view for plugins.

use divvy_framework_abi::view::{CycleView, PolicyView, flag};
use divvy_framework_abi::{Slice, Str};

use super::BindingRecord;

impl BindingRecord {
    /// The fields of a cycle's view that come from the binding alone.
    pub(crate) fn view(&self) -> CycleView<'_> {
        CycleView {
            replicas: self.head.replicas,
            pool: Str::new(&self.pool),
            names: self.head.names,
            texts: Slice::new(&self.texts),
            affinities: Slice::new(&self.affinities),
            expressions: Slice::new(&self.expressions),
            placement_affinities: self.head.placement_affinities,
            tolerations: Slice::new(&self.tolerations),
            spread_constraints: Slice::new(&self.spread_constraints),
            requests: Slice::new(&self.requests),
            replica_requests: self.head.replica_requests,
            components: Slice::new(&self.components),
            last: Slice::new(&self.last),
            evictions: Slice::new(&self.evictions),
            labels: Slice::new(&self.labels),
            annotations: Slice::new(&self.annotations),
            priority: self.head.priority,
            policy_labels: Slice::new(&self.policy_labels),
            policy_annotations: Slice::new(&self.policy_annotations),
            workload_labels: Slice::new(&self.workload_labels),
            workload_annotations: Slice::new(&self.workload_annotations),
            ..CycleView::DEFAULT
        }
    }

    /// Name of the binding.
    pub fn name(&self) -> &str {
        self.head.names.name.read(&self.pool)
    }

    /// Namespace of the binding; empty if it has none.
    pub fn namespace(&self) -> &str {
        self.head.names.namespace.read(&self.pool)
    }

    /// Replicas to divide.
    pub fn replicas(&self) -> i64 {
        self.head.replicas
    }

    /// The parts that the binding has, as bits of [`binding_part`](divvy_framework_abi::descriptor::binding_part): all but its workload affinity groups, which are in a
    /// [`PlacementsRecord`](crate::placements::PlacementsRecord).
    pub fn parts(&self) -> u64 {
        self.head.parts
    }

    /// True if the policy carries preferences for the strategy's plugin.
    pub fn has_preferences(&self) -> bool {
        self.head.preferences.length > 0
    }

    /// Preferences for a plugin other than the strategy's; `None` if the policy carries none.
    #[inline]
    pub fn preferences_of(&self, plugin: &str) -> Option<&PolicyView<'_>> {
        let number = self.plugins.iter().position(|known| **known == *plugin)?;
        self.plugin_policies.get(number)
    }

    /// True if the policy gives clusters priorities.
    pub fn has_priorities(&self) -> bool {
        !self.priority_rules.is_empty()
    }

    /// Number of affinities in the placement. More than one forms overflow tiers.
    pub fn placement_affinity_count(&self) -> usize {
        self.head.placement_affinities.length as usize
    }

    /// True if the resource has replicas to divide.
    pub fn is_workload(&self) -> bool {
        self.head.flags & flag::WORKLOAD != 0
    }

    /// True if the placement has spread constraints.
    pub fn has_spread_constraints(&self) -> bool {
        !self.spread_constraints.is_empty()
    }

    /// The last result, as pairs of cluster name and replicas.
    pub fn last(&self) -> impl ExactSizeIterator<Item = (&str, i64)> {
        self.last
            .iter()
            .map(|target| (target.cluster.read(&self.pool), target.replicas))
    }

    /// True if any number of the rule is positive. False for a rule that does not exist.
    pub fn rule_is_positive(&self, rule: usize) -> bool {
        self.rules
            .get(rule)
            .is_some_and(|rule| rule.values.of(&self.rule_values).iter().any(|value| value.value > 0))
    }

    /// Number of rules.
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }
}
