//! Divides the replicas over groups, in three steps.
//!
//! 1. A group that takes only the rest gets what the others cannot take.
//! 2. Groups that keep what they have do so within their bounds. If the groups with weights then cannot take all that is left, or need
//!    more, the difference is divided among the former: growth in proportion to the room below their upper bounds, shrinkage in proportion
//!    to what is above their lower bounds.
//! 3. Groups with weights [share](super::super::shares) what is left.

use super::super::error::DivisionError;
use super::super::rounding::Rounding;
use super::super::scratch::Scratch;
use super::super::shares::Shares;
use super::{Group, Share};

/// The step that decides the count of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Rest,
    Keeps,
    Weighs,
}

/// Columns by group (possible counts, existing replicas, the result), and memory for a division.
#[derive(Debug, Default)]
pub(super) struct Quotas {
    low: Vec<i64>,
    high: Vec<i64>,
    last: Vec<i64>,
    pub(super) counts: Vec<i64>,
    shares: Shares,
    /// The groups that a step decides.
    members: Vec<usize>,
    /// Columns over `members`.
    kept: Vec<i64>,
    weights: Vec<i64>,
    changes: Vec<i64>,
}

impl Quotas {
    pub(super) fn clear(&mut self) {
        for column in [&mut self.low, &mut self.high, &mut self.last, &mut self.counts] {
            column.clear();
        }
    }

    /// Adds a group.
    pub(super) fn push(&mut self, (low, high): (i64, i64), last: i64) {
        self.low.push(low);
        self.high.push(high);
        self.last.push(last);
        self.counts.push(0);
    }

    /// Writes the counts of the groups. False if there are none that add up to `replicas`.
    pub(super) fn divide(
        &mut self,
        replicas: i64,
        groups: &[Group],
        rounding: Rounding,
        scratch: &mut Scratch,
    ) -> Result<bool, DivisionError> {
        let sum = |column: &[i64]| column.iter().map(|&count| i128::from(count)).sum::<i128>();
        let is_empty = self.low.iter().zip(&self.high).any(|(low, high)| low > high);
        if is_empty || !(sum(&self.low)..=sum(&self.high)).contains(&replicas.into()) {
            return Ok(false);
        }
        let rest = groups.iter().position(|group| group.share == Share::Rest);
        let step_of = |group: usize| match groups[group].share {
            Share::Weight(_) => Step::Weighs,
            Share::Rest if rest == Some(group) => Step::Rest,
            Share::Rest | Share::Keeps => Step::Keeps,
        };
        let mut left = replicas;
        for step in [Step::Rest, Step::Keeps, Step::Weighs] {
            self.members.clear();
            self.members
                .extend((0..groups.len()).filter(|&group| step_of(group) == step));
            let later = (0..groups.len()).filter(|&group| step_of(group) > step);
            match step {
                _ if self.members.is_empty() => {}
                Step::Rest => self.aim_at_rest(left, later),
                Step::Keeps => self.aim_at_last(groups, left, later, rounding, scratch)?,
                Step::Weighs => self.aim_at_shares(groups, left, scratch)?,
            }
            // At most what was left: the possible counts of those that follow add up to the difference.
            left -= self.members.iter().map(|&member| self.counts[member]).sum::<i64>();
        }
        Ok(left == 0)
    }

    /// The rest: what all others together cannot take.
    fn aim_at_rest(&mut self, left: i64, others: impl Iterator<Item = usize>) {
        let most = others.fold(0_i64, |most, other| most.saturating_add(self.high[other]));
        for &member in &self.members {
            self.counts[member] = self.low[member].max(left.saturating_sub(most));
        }
    }

    /// Keeps present replicas as far as the bounds and the groups with weights allow.
    fn aim_at_last(
        &mut self,
        groups: &[Group],
        left: i64,
        weighing: impl Iterator<Item = usize>,
        rounding: Rounding,
        scratch: &mut Scratch,
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
        let others = weighing.fold((0_i128, 0_i128), |(fewest, most), group| {
            (fewest + i128::from(low[group]), most + i128::from(high[group]))
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
            let tie = |index: usize| groups[members[index]].tie;
            rounding.divide(change, weights, kept, tie, changes, scratch)?;
        }
        for ((&member, &kept), &change) in members.iter().zip(kept.iter()).zip(changes.iter()) {
            counts[member] = if grows { kept + change } else { kept - change };
        }
        Ok(())
    }

    /// Shares in proportion to weights.
    fn aim_at_shares(&mut self, groups: &[Group], left: i64, scratch: &mut Scratch) -> Result<(), DivisionError> {
        self.shares.clear();
        for &member in &self.members {
            let Share::Weight(weight) = groups[member].share else {
                continue;
            };
            let bounds = (self.low[member], self.high[member]);
            self.shares.push(weight.into(), bounds, self.last[member]);
        }
        let tie = |index: usize| groups[self.members[index]].tie;
        let shares = self.shares.divide(left, tie, &mut scratch.ranking)?;
        for (&member, &share) in self.members.iter().zip(shares) {
            self.counts[member] = share;
        }
        Ok(())
    }
}
