//! The rule as a whole: runs a selector, with the buffers that all selectors share.
//!
//! It works on columns of numbers and, for groups, on the values of each cluster. Reporting refusals and passing
//! results to the host is left to the plugin.

use std::cmp::Ordering;

use divvy_framework::clusters::Symbol;

use crate::by_cluster::{self, Exchange, Largest};
use crate::by_group::{self, ByGroup};
use crate::by_several::{self, BySeveral};
use crate::constraints::Limits;
use crate::grouping::{Demand, Groups, NO_GROUP, Numbering};
use crate::kinds::Kinds;
use crate::order::{Columns, Order};
use crate::refusal::Refusal;

/// Feasible clusters, and the requirements of the binding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Feasible<'a> {
    pub(crate) columns: Columns<'a>,
    /// True if every candidate takes all replicas.
    pub(crate) duplicated: bool,
    pub(crate) replicas: i64,
    /// Replicas that the candidates must hold together; `None` if capacity does not matter.
    pub(crate) needed: Option<i64>,
    pub(crate) exchange: Exchange,
    /// Number of symbols in the snapshot; every value has a smaller index.
    pub(crate) symbols: usize,
}

/// Buffers reused between calls. Results never depend on contents from an earlier call.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    order: Order,
    largest: Largest,
    numbering: Numbering,
    groups_of: Vec<u32>,
    groups: Groups,
    by_group: ByGroup,
    kinds: Kinds,
    by_several: BySeveral,
}

impl Scratch {
    /// Chooses every feasible cluster, in order.
    pub(crate) fn all(&mut self, feasible: &Feasible<'_>, choose: impl FnMut(u32)) {
        let columns = feasible.columns;
        let indices = self.order.sort(columns, columns.len());
        indices.iter().copied().for_each(choose);
    }

    /// Chooses a number of clusters.
    ///
    /// # Errors
    /// The binding is unschedulable if no choice satisfies the limits; `choose` has then not been called.
    pub(crate) fn by_cluster(
        &mut self,
        feasible: &Feasible<'_>,
        limits: Limits,
        choose: impl FnMut(u32),
    ) -> Result<(), Refusal> {
        let candidates = by_cluster::select(
            &mut self.order,
            &mut self.largest,
            feasible.columns,
            limits,
            feasible.needed,
            feasible.exchange,
        )?;
        candidates.iter().copied().for_each(choose);
        Ok(())
    }

    /// Chooses clusters by groups. `value` returns the value of the cluster with an index, `compare` the order of two values.
    ///
    /// # Errors
    /// The binding is unschedulable if no choice satisfies the limits; `choose` has then not been called.
    pub(crate) fn by_group(
        &mut self,
        feasible: &Feasible<'_>,
        (property, group_limits): (&str, Limits),
        cluster_limits: Limits,
        value: impl Fn(u32) -> Option<Symbol>,
        compare: impl Fn(Symbol, Symbol) -> Ordering,
        choose: impl FnMut(u32),
    ) -> Result<(), Refusal> {
        let columns = feasible.columns;
        let order: &[u32] = self.order.sort(columns, columns.len());
        let numbering = &mut self.numbering;
        numbering.reset(feasible.symbols);
        self.groups_of.clear();
        self.groups_of.extend(
            order
                .iter()
                .map(|&index| value(index).map_or(NO_GROUP, |value| numbering.number(value))),
        );
        let values = numbering.values();
        self.groups.fill(values.len(), order, &self.groups_of);
        let question = by_group::Question {
            columns,
            order,
            groups_of: &self.groups_of,
            groups: &self.groups,
            property,
            group_limits,
            cluster_limits,
            demand: Demand::new(
                feasible.duplicated,
                feasible.replicas,
                group_limits.minimum,
                cluster_limits.minimum,
            ),
        };
        let compare = |left, right| compare(values[left as usize], values[right as usize]);
        self.by_group.select(&question, compare, choose)
    }

    /// Chooses clusters by zones or several properties. `values` appends the values of a property for the cluster with
    /// an index.
    ///
    /// # Errors
    /// The binding is unschedulable if no choice satisfies the limits; `choose` has then not been called.
    pub(crate) fn by_several(
        &mut self,
        feasible: &Feasible<'_>,
        properties: &[(&str, Limits)],
        cluster_limits: Limits,
        values: impl Fn(usize, u32, &mut Vec<Symbol>),
        choose: impl FnMut(u32),
    ) -> Result<(), Refusal> {
        let columns = feasible.columns;
        let order: &[u32] = self.order.sort(columns, columns.len());
        self.kinds.begin(order.len());
        for property in 0..properties.len() {
            self.kinds.refine(order, feasible.symbols, |index, into| {
                values(property, index, into);
            });
        }
        self.kinds.finish(order);
        let question = by_several::Question {
            columns,
            order,
            kinds: &self.kinds,
            properties,
            cluster_limits,
            duplicated: feasible.duplicated,
            replicas: feasible.replicas,
        };
        self.by_several.select(&question, choose)
    }
}
