//! Divides a node's count over its children, in three steps.
//!
//! 1. A child that takes only the rest gets what the others cannot take.
//! 2. Children that keep what they have do so within their bounds. If the children with weights then cannot take all
//!    that is left, or need more, the difference is divided among the former: growth in proportion to the room below
//!    their upper bounds, shrinkage in proportion to what is above their lower bounds.
//! 3. Children with weights share what is left: [`shares`](divvy_framework::division::shares).
//!
//! If a child cannot have the count that is due, because of a gap, its step takes the [nearest](super::nearest) counts
//! that are possible for it and for the steps that follow.

use divvy_framework::division::shares::Shares;
use divvy_framework::division::{DivisionError, Rounding};

use super::Buffers;
use super::nearest::{Variable, nearest};
use super::node::{Share, Tree};
use super::search::{Search, TooIntricate};

/// Why the children of a node get no counts.
#[derive(Debug)]
pub(super) enum NoQuotas {
    /// No counts of the children add up to the node's.
    Impossible,
    /// The search for them was given up.
    TooIntricate,
    /// The columns are inconsistent.
    Division(DivisionError),
}

impl From<TooIntricate> for NoQuotas {
    fn from(_: TooIntricate) -> Self {
        Self::TooIntricate
    }
}

impl From<DivisionError> for NoQuotas {
    fn from(error: DivisionError) -> Self {
        Self::Division(error)
    }
}

/// The step that decides the count of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Rest,
    Keeps,
    Weighs,
}

/// Columns by node (bounds, existing replicas, the result), and memory for a division.
#[derive(Debug, Default)]
pub(super) struct Quotas {
    pub(super) low: Vec<i64>,
    pub(super) high: Vec<i64>,
    pub(super) last: Vec<i64>,
    pub(super) counts: Vec<i64>,
    shares: Shares,
    /// The children that a step decides.
    members: Vec<usize>,
    /// Columns over `members`.
    kept: Vec<i64>,
    weights: Vec<i64>,
    changes: Vec<i64>,
}

impl Quotas {
    /// Makes room for the nodes of a tree.
    pub(super) fn reset(&mut self, nodes: usize) {
        for column in [&mut self.low, &mut self.high, &mut self.last, &mut self.counts] {
            column.clear();
            column.resize(nodes, 0);
        }
    }

    /// Writes the counts of the children of `node`, whose own count is known.
    pub(super) fn divide(
        &mut self,
        tree: &Tree,
        node: usize,
        rounding: Rounding,
        search: &mut Search<'_>,
        buffers: &mut Buffers,
    ) -> Result<(), NoQuotas> {
        let (count, children) = (self.counts[node], tree.children(node));
        let (mut has_gaps, mut fewest, mut most) = (false, 0_i128, 0_i128);
        for child in children.clone() {
            let (low, high) = search.domain(child, count)?.ok_or(NoQuotas::Impossible)?;
            (self.low[child], self.high[child]) = (low, high);
            (fewest, most) = (fewest + i128::from(low), most + i128::from(high));
            has_gaps |= search.may_have_gaps(child);
        }
        if !(fewest..=most).contains(&count.into()) {
            return Err(NoQuotas::Impossible);
        }
        self.take_steps(tree, node, rounding, None, buffers)?;
        // The counts that are due may fall into no gap, although there are gaps.
        let mut are_possible = true;
        for child in children.filter(|_| has_gaps) {
            are_possible = are_possible && search.contains(child, self.counts[child])?;
        }
        match are_possible {
            true => Ok(()),
            false => self.take_steps(tree, node, rounding, Some(search), buffers),
        }
    }

    /// Takes the steps one after another. With a search, each moves to possible counts.
    fn take_steps(
        &mut self,
        tree: &Tree,
        node: usize,
        rounding: Rounding,
        mut search: Option<&mut Search<'_>>,
        buffers: &mut Buffers,
    ) -> Result<(), NoQuotas> {
        let (mut left, children) = (self.counts[node], tree.children(node));
        let rest = children.clone().find(|&child| tree.nodes()[child].share == Share::Rest);
        let step_of = |child: usize| match tree.nodes()[child].share {
            Share::Weight(_) => Step::Weighs,
            Share::Rest if rest == Some(child) => Step::Rest,
            Share::Rest | Share::Keeps => Step::Keeps,
        };
        for step in [Step::Rest, Step::Keeps, Step::Weighs] {
            self.members.clear();
            self.members
                .extend(children.clone().filter(|&child| step_of(child) == step));
            if self.members.is_empty() {
                continue;
            }
            let later = || children.clone().filter(|&child| step_of(child) > step);
            match step {
                Step::Rest => self.aim_at_rest(left, later()),
                Step::Keeps => self.aim_at_last(tree, left, later(), rounding, buffers)?,
                Step::Weighs => self.aim_at_shares(tree, left, buffers)?,
            }
            if let Some(search) = search.as_deref_mut() {
                self.move_to_possible(tree, left, later(), search)?;
            }
            let taken: i128 = self.members.iter().map(|&member| i128::from(self.counts[member])).sum();
            left = i64::try_from(i128::from(left) - taken).map_err(|_| NoQuotas::Impossible)?;
        }
        match left {
            0 => Ok(()),
            _ => Err(NoQuotas::Impossible),
        }
    }

    /// The rest: what all others together cannot take.
    fn aim_at_rest(&mut self, left: i64, others: impl Iterator<Item = usize>) {
        let most = others.fold(0_i64, |most, other| most.saturating_add(self.high[other]));
        for &member in &self.members {
            self.counts[member] = self.low[member].max(left.saturating_sub(most));
        }
    }

    /// Keeps present replicas as far as the bounds and the children with weights allow.
    fn aim_at_last(
        &mut self,
        tree: &Tree,
        left: i64,
        weighing: impl Iterator<Item = usize>,
        rounding: Rounding,
        buffers: &mut Buffers,
    ) -> Result<(), DivisionError> {
        let Self {
            low,
            high,
            last,
            counts,
            members,
            kept,
            weights,
            changes,
            ..
        } = self;
        kept.clear();
        kept.extend(
            members
                .iter()
                .map(|&member| last[member].clamp(low[member], high[member])),
        );
        let sum: i128 = kept.iter().map(|&kept| i128::from(kept)).sum();
        let others = weighing.fold((0_i128, 0_i128), |(fewest, most), child| {
            (fewest + i128::from(low[child]), most + i128::from(high[child]))
        });
        let total = sum.max(i128::from(left) - others.1).min(i128::from(left) - others.0);
        let grows = total > sum;
        weights.clear();
        weights.extend(members.iter().zip(kept.iter()).map(|(&member, &kept)| match grows {
            true => high[member] - kept,
            false => kept - low[member],
        }));
        changes.clear();
        changes.resize(members.len(), 0);
        // A change is at most the replicas to divide, or those that exist.
        let change = i64::try_from((total - sum).abs()).map_err(|_| DivisionError::SumTooLarge { column: "last" })?;
        if change > 0 {
            let tie = |index: usize| tree.nodes()[members[index]].tie;
            rounding.divide(change, weights, kept, tie, changes, &mut buffers.division)?;
        }
        for ((&member, &kept), &change) in members.iter().zip(kept.iter()).zip(changes.iter()) {
            counts[member] = if grows { kept + change } else { kept - change };
        }
        Ok(())
    }

    /// Shares in proportion to weights.
    fn aim_at_shares(&mut self, tree: &Tree, left: i64, buffers: &mut Buffers) -> Result<(), DivisionError> {
        self.shares.clear();
        for &member in &self.members {
            let Share::Weight(weight) = tree.nodes()[member].share else {
                continue;
            };
            let bounds = (self.low[member], self.high[member]);
            self.shares.push(weight.into(), bounds, self.last[member]);
        }
        let tie = |index: usize| tree.nodes()[self.members[index]].tie;
        let shares = self.shares.divide(left, tie, &mut buffers.ranking)?;
        for (&member, &share) in self.members.iter().zip(shares) {
            self.counts[member] = share;
        }
        Ok(())
    }

    /// Replaces the counts of a step by the nearest ones that are possible together with some of the steps that follow.
    fn move_to_possible(
        &mut self,
        tree: &Tree,
        left: i64,
        later: impl Iterator<Item = usize>,
        search: &mut Search<'_>,
    ) -> Result<(), NoQuotas> {
        let variable = |child: usize, target: Option<i64>| Variable {
            node: Some(child),
            low: self.low[child],
            high: self.high[child],
            target,
            last: self.last[child],
            tie: tree.nodes()[child].tie,
        };
        let members = self.members.iter();
        let variables = members.map(|&member| variable(member, Some(self.counts[member])));
        let variables: Vec<Variable> = variables.chain(later.map(|child| variable(child, None))).collect();
        let counts = nearest(search, &variables, left.into())?.ok_or(NoQuotas::Impossible)?;
        for (&member, &count) in self.members.iter().zip(&counts) {
            self.counts[member] = count;
        }
        Ok(())
    }
}
