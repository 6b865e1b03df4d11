//! A division from columns to counts: gathers the candidates of each leaf, finds the counts of all nodes, and divides those of leaves.

use divvy_framework::division::tiers::TierMembers;
use divvy_framework::division::{Cycle, DivisionError, Request, Rounding};

use super::columns::{capacity, check_column, check_length, check_request};
use super::counts::{Possible, upper_bound};
use super::leaf::{Candidates, LeafScratch};
use super::node::{LeafRule, Tree};
use super::quotas::{NoQuotas, Quotas};
use super::search::{Found, Search};
use super::{Buffers, Members, NearestCounts, TreeError};

/// Buffers of a division over a tree.
#[derive(Debug, Default)]
pub(super) struct TreeScratch {
    leaf_of: Vec<u32>,
    members: TierMembers,
    /// One entry per candidate in a leaf, in the order of the leaves.
    upper: Vec<i64>,
    last: Vec<i64>,
    weights: Vec<i64>,
    out: Vec<i64>,
    possible: Possible,
    found: Found,
    quotas: Quotas,
    leaf: LeafScratch,
}

impl TreeScratch {
    /// Reads the columns, and computes the counts of all nodes.
    pub(super) fn find_counts(
        &mut self,
        request: &Request<'_>,
        tree: &Tree,
        members: Members<'_>,
        rounding: Rounding,
        buffers: &mut Buffers,
    ) -> Result<(), TreeError> {
        self.gather(request, tree, members)?;
        self.find_possible(tree, &[]);
        let Self {
            possible,
            found,
            quotas,
            upper,
            ..
        } = self;
        let requested = request.replicas;
        let refused = |error| match error {
            NoQuotas::Impossible => TreeError::Unsatisfiable { requested },
            NoQuotas::TooIntricate => TreeError::TooIntricate,
            NoQuotas::Division(error) => error.into(),
        };
        // Room beyond the replicas matters where growth is divided in proportion to room.
        let largest = upper.iter().fold(0_i64, |sum, &upper| sum.saturating_add(upper));
        let mut search = Search::new(tree, possible, found, largest.max(requested));
        // For a node with children, dividing it shows whether it can have its count.
        if tree.is_leaf(0) && !search.contains(0, requested).map_err(|error| refused(error.into()))? {
            return Err(TreeError::Unsatisfiable { requested });
        }
        quotas.counts[0] = requested;
        (quotas.low[0], quotas.high[0]) = (requested, requested);
        for node in (0..tree.nodes().len()).filter(|&node| !tree.is_leaf(node)) {
            quotas
                .divide(tree, node, rounding, &mut search, buffers)
                .map_err(refused)?;
        }
        Ok(())
    }

    /// The count of each node.
    pub(super) fn counts(&self) -> &[i64] {
        &self.quotas.counts
    }

    /// The minimum and the maximum that a node could have.
    pub(super) fn bounds(&self, node: usize) -> Option<(i64, i64)> {
        let Quotas { low, high, .. } = &self.quotas;
        low.get(node).copied().zip(high.get(node).copied())
    }

    /// True if a tree can hold the replicas of a request, with unlimited room in some leaves.
    pub(super) fn is_possible(
        &mut self,
        request: &Request<'_>,
        tree: &Tree,
        members: Members<'_>,
        unlimited: &[bool],
    ) -> Result<bool, TreeError> {
        self.gather(request, tree, members)?;
        self.find_possible(tree, unlimited);
        let mut search = Search::new(tree, &self.possible, &mut self.found, request.replicas);
        search
            .contains(0, request.replicas)
            .map_err(|_| TreeError::TooIntricate)
    }

    /// The counts nearest to that of a request that a tree can divide.
    pub(super) fn nearest(
        &mut self,
        request: &Request<'_>,
        tree: &Tree,
        members: Members<'_>,
    ) -> Result<NearestCounts, TreeError> {
        self.gather(request, tree, members)?;
        self.find_possible(tree, &[]);
        let room = self.upper.iter().fold(0_i64, |sum, &upper| sum.saturating_add(upper));
        let largest = room.max(request.replicas);
        let mut search = Search::new(tree, &self.possible, &mut self.found, largest);
        let (below, above) = (search.previous(0, request.replicas), search.next(0, request.replicas));
        Ok(NearestCounts {
            below: below.map_err(|_| TreeError::TooIntricate)?,
            above: above.map_err(|_| TreeError::TooIntricate)?,
        })
    }

    /// Candidates of a node.
    pub(super) fn members(&self, node: usize) -> &[u32] {
        self.members.members(node)
    }

    /// Gathers the columns of the candidates by leaf.
    fn gather(&mut self, request: &Request<'_>, tree: &Tree, given: Members<'_>) -> Result<(), DivisionError> {
        check_request(request)?;
        let (candidates, nodes) = (request.fits_now.len(), tree.nodes().len());
        check_length("leaf_of", given.leaf_of.len(), candidates)?;
        if !given.weights.is_empty() {
            check_column("weights", given.weights, candidates)?;
        }
        let Self {
            leaf_of,
            members,
            upper,
            last,
            weights,
            quotas,
            ..
        } = self;
        let weight_of = |candidate: usize| given.weights.get(candidate).copied().unwrap_or(0);
        let none = nodes as u32;
        let divides_by_weight = |leaf: u32| {
            let leaf = tree.nodes().get(leaf as usize);
            leaf.is_some_and(|node| node.leaf.rule == LeafRule::ByWeight)
        };
        leaf_of.clear();
        leaf_of.extend(given.leaf_of.iter().enumerate().map(|(candidate, &leaf)| {
            match divides_by_weight(leaf) && weight_of(candidate) == 0 {
                true => none,
                false => leaf,
            }
        }));
        members.rebuild_from_tiers(leaf_of, nodes + 1)?;
        quotas.reset(nodes);
        for column in [&mut *upper, &mut *last, &mut *weights] {
            column.clear();
        }
        for (node, properties) in tree.nodes().iter().enumerate() {
            let members = members.members(node);
            if let (Some(&member), false) = (members.first(), tree.is_leaf(node)) {
                return Err(DivisionError::TierOutOfRange {
                    index: member as usize,
                    tier: node as u32,
                    tiers: nodes,
                });
            }
            let mut present = 0;
            for &member in members {
                let member = member as usize;
                let there = match request.cycle {
                    Cycle::Steady => request.last[member],
                    Cycle::Fresh => 0,
                };
                upper.push(upper_bound(&properties.leaf, capacity(request, member)));
                last.push(there);
                weights.push(weight_of(member));
                // Cannot overflow: the sum of the last replicas has been checked.
                present += there;
            }
            quotas.last[node] = present;
        }
        for node in (0..nodes).rev() {
            quotas.last[node] += tree.children(node).map(|child| quotas.last[child]).sum::<i64>();
        }
        Ok(())
    }

    /// Computes the counts that the nodes can have, with unlimited room in some leaves.
    fn find_possible(&mut self, tree: &Tree, unlimited: &[bool]) {
        let Self {
            members,
            upper,
            possible,
            ..
        } = self;
        possible.reset(tree.nodes().len());
        let mut start = 0;
        for (node, properties) in tree.nodes().iter().enumerate().filter(|(node, _)| tree.is_leaf(*node)) {
            let members = members.members(node);
            let end = start + members.len();
            match unlimited.get(node) {
                Some(true) => possible.set_unlimited_leaf(node, &properties.leaf, members.len()),
                _ => possible.set_leaf(node, &properties.leaf, &upper[start..end]),
            }
            start = end;
        }
        // Children come after their parents.
        for node in (0..tree.nodes().len()).rev().filter(|&node| !tree.is_leaf(node)) {
            possible.set_inner(tree, node);
        }
    }

    pub(super) fn divide_leaves(
        &mut self,
        tree: &Tree,
        rounding: Rounding,
        ties: impl Fn(usize) -> u64,
        counts: &mut [i64],
        buffers: &mut Buffers,
    ) -> Result<(), TreeError> {
        let Self {
            members,
            upper,
            last,
            weights,
            out,
            quotas,
            leaf,
            ..
        } = self;
        out.clear();
        out.resize(upper.len(), 0);
        let mut start = 0;
        for (node, properties) in tree.nodes().iter().enumerate().filter(|(node, _)| tree.is_leaf(*node)) {
            let members = members.members(node);
            let range = start..start + members.len();
            start = range.end;
            let candidates = Candidates {
                upper: &upper[range.clone()],
                last: &last[range.clone()],
                weights: &weights[range.clone()],
            };
            let tie = |index: usize| ties(members[index] as usize);
            let part = (&properties.leaf, quotas.counts[node]);
            leaf.divide(part, candidates, rounding, tie, &mut out[range.clone()], buffers)?;
            for (&member, &count) in members.iter().zip(&out[range]) {
                counts[member as usize] = count;
            }
        }
        for &outsider in members.members(tree.nodes().len()) {
            counts[outsider as usize] = 0;
        }
        Ok(())
    }
}
