//! The policy's part for the called plugin: preferences and, for the strategy's plugin, the entries of its lists.

use divvy_framework_abi::row::RuleRow;
use divvy_framework_abi::view::{CycleView, PolicyView};

use super::{Affinity, Binding};
use crate::clusters::Row;

/// Preferences and rules of a policy for the called plugin.
#[derive(Clone, Copy)]
pub struct Policy<'a> {
    binding: Binding<'a>,
    policy: &'a PolicyView<'a>,
}

impl std::fmt::Debug for Policy<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Policy")
            .field("preferences", &self.preferences_json())
            .field("rules", &self.rules().len())
            .finish_non_exhaustive()
    }
}

impl<'a> Policy<'a> {
    /// The policy's part of a view. For hosts; plugins receive it through their context.
    #[doc(hidden)]
    #[inline]
    pub fn new(view: &'a CycleView<'a>, policy: &'a PolicyView<'a>) -> Self {
        Self {
            binding: Binding::new(view),
            policy,
        }
    }

    /// Free-form preferences as JSON; empty if the policy has none.
    #[inline]
    pub fn preferences_json(&self) -> &'a str {
        // Every call asks, and nearly every policy has none: so the pool of texts is read only if there are any.
        match self.policy.preferences.length {
            0 => "",
            _ => self.binding.read(self.policy.preferences),
        }
    }

    /// Entries of the policy list that the strategy reads, such as `staticWeightList`.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = Rule<'a>> + use<'a> {
        let policy = *self;
        let rows: &'a [RuleRow] = self.policy.rules.as_slice();
        rows.iter()
            .enumerate()
            .map(move |(index, &row)| Rule { policy, index, row })
    }
}

/// One entry of the policy list that the strategy reads: a target and the named numbers for its clusters.
///
/// The host has already resolved the target: [`Self::rows`] are its clusters.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    policy: Policy<'a>,
    index: usize,
    row: RuleRow,
}

impl<'a> Rule<'a> {
    /// The number with that name, such as `weight` or `replicas`; `None` if the entry does not set it.
    pub fn value(&self, field: &str) -> Option<i64> {
        self.values().find(|(name, _)| *name == field).map(|(_, value)| value)
    }

    /// All named numbers of the entry, with their names.
    pub fn values(&self) -> impl Iterator<Item = (&'a str, i64)> + use<'a> {
        let pool = self.policy.binding.view.pool.as_str();
        self.row
            .values
            .of(self.policy.policy.rule_values.as_slice())
            .iter()
            .map(move |row| (row.field.read(pool), row.value))
    }

    /// Rows of all clusters in the snapshot that the entry matches, ascending. They need not be candidates.
    #[inline]
    pub fn rows(&self) -> &'a [Row] {
        let policy = self.policy.policy;
        let span = policy
            .rule_spans
            .as_slice()
            .get(self.index)
            .copied()
            .unwrap_or_default();
        Row::cast(span.of(policy.rule_rows.as_slice()))
    }

    /// True if the entry matches the cluster in that row.
    #[inline]
    pub fn matches(&self, row: Row) -> bool {
        self.rows().binary_search(&row).is_ok()
    }

    /// Location of the entry in the policy, for messages: `staticWeightList[0]`.
    pub fn origin(&self) -> &'a str {
        self.policy.binding.read(self.row.origin)
    }

    /// The affinity that selects the entry's clusters. Most strategies need only [`Self::rows`].
    pub fn target(&self) -> Option<Affinity<'a>> {
        let row = *self
            .policy
            .binding
            .view
            .affinities
            .as_slice()
            .get(self.row.target as usize)?;
        Some(Affinity {
            row,
            tables: self.policy.binding.tables(),
        })
    }
}
