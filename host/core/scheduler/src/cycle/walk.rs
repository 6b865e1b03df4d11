//! Assign with tiers: calls the strategy once per tier, with that tier's candidates and share of the replicas.
//!
//! There are two nested walks: the outer one over overflow tiers, the inner one over the priorities within each.

use divvy_framework_arithmetic::division::tiers::{LastTier, divide_among_tiers};
use divvy_framework_arithmetic::division::{self, DivisionError};
use divvy_framework_memory::Column;
use divvy_framework_view::clusters::{Row, RowSet};

use super::assign::{Division, Share};
use super::columns::Candidates;
use super::error::CycleError;
use super::run::Cycle;

/// Memory of the walks, reused from cycle to cycle. Members are indices into the list of all candidates.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// Members of the current overflow tier.
    members: Vec<usize>,
    /// Distinct ranks of the members, the best first.
    ranks: Vec<u32>,
    /// Index into `ranks` for each member.
    tier_of: Vec<u32>,
    fits_now: Vec<i64>,
    last: Vec<i64>,
    /// Replicas for each rank.
    quotas: Vec<i64>,
    /// Members of the current rank.
    of_rank: Vec<usize>,
    /// Columns of the candidates in the current call.
    candidates: Candidates,
    /// Rows of the clusters that a rule with a positive value matches.
    positive: RowSet,
    scratch: division::Scratch,
}

impl Cycle {
    /// Outer walk: each overflow tier gets the remaining replicas, up to the capacity of its candidates.
    ///
    /// Source: Karmada v1.19-rc, `pkg/scheduler/core/common.go`. A tier's capacity is what fits now plus the last
    /// replicas.
    pub(super) fn walk_overflow(&mut self, division: &Division<'_>, all: &Candidates) -> Result<(), CycleError> {
        // Moved out of `self`, so that the calls can write to the rest of the cycle's memory.
        let mut walk = std::mem::take(&mut self.walk);
        let outcome = self.walk_overflow_with(division, all, &mut walk);
        self.walk = walk;
        outcome
    }

    fn walk_overflow_with(
        &mut self,
        division: &Division<'_>,
        all: &Candidates,
        walk: &mut Walk,
    ) -> Result<(), CycleError> {
        let group = division.input.group;
        let last_overflow = self.tiers.ranks.last().map_or(0, |rank| rank.0);
        let mut left = division.input.plan.replicas;
        for overflow in 0..=last_overflow {
            let ranks = &self.tiers.ranks;
            let is_member = |index: &usize| ranks.get(all.tiers[*index] as usize).map_or(0, |rank| rank.0) == overflow;
            walk.members.clear();
            walk.members.extend((0..all.rows.len()).filter(is_member));
            if walk.members.is_empty() {
                continue;
            }
            // Only overflow bounds a tier here; otherwise the division checks the capacity.
            let quota = if group.overflows {
                let capacity_of = |&index: &usize| all.capacity[index];
                let capacity = walk.members.iter().map(capacity_of).fold(0, i64::saturating_add);
                left.min(capacity)
            } else {
                left
            };
            self.walk_priorities(division, all, quota, walk)?;
            left -= quota;
            if left <= 0 {
                return Ok(());
            }
        }
        // The last overflow tier is bounded as well, so replicas may remain.
        if left > 0 {
            let replicas = division.input.plan.replicas;
            let available = replicas - left;
            return Err(CycleError::Unschedulable {
                plugin: String::new(),
                message: format!(
                    "{replicas} replicas requested, {available} fit in the clusters of the group and its overflow affinities"
                ),
                figures: Some((replicas, available)),
            });
        }
        Ok(())
    }

    /// Inner walk: growth goes to the best priority that has room; shrinkage drains the worst.
    fn walk_priorities(
        &mut self,
        division: &Division<'_>,
        all: &Candidates,
        quota: i64,
        walk: &mut Walk,
    ) -> Result<(), CycleError> {
        let strategy = division.strategy;
        let Walk { members, ranks, .. } = walk;
        ranks.clear();
        ranks.extend(members.iter().map(|&index| all.tiers[index]));
        ranks.sort_unstable();
        ranks.dedup();
        // A single rank needs no division, and some plugins divide among ranks themselves.
        if ranks.len() == 1 || strategy.walks_tiers() {
            let share = Share {
                replicas: quota,
                tier: ranks.first().copied().unwrap_or(0),
                tier_count: self.tiers.ranks.len().max(1) as u32,
            };
            walk.candidates.take_from(all, members);
            self.divide(division, share, Some(&all.rows), &mut walk.candidates)?;
            self.collect(&walk.candidates);
            return Ok(());
        }
        walk.divide_among_ranks(division, all, quota)?;
        let tier_count = walk.ranks.len() as u32;
        for ((&rank, &quota), tier) in walk.ranks.iter().zip(&walk.quotas).zip(0..) {
            // A duplicating strategy gives every candidate the full count, regardless of the rank's quota.
            if quota == 0 && !strategy.duplicates() {
                continue;
            }
            let has_rank = |index: &usize| all.tiers[*index] == rank;
            walk.of_rank.clear();
            walk.of_rank.extend(walk.members.iter().copied().filter(has_rank));
            walk.candidates.take_from(all, &walk.of_rank);
            let share = Share {
                replicas: quota,
                tier,
                tier_count,
            };
            self.divide(division, share, Some(&all.rows), &mut walk.candidates)?;
            self.collect(&walk.candidates);
        }
        Ok(())
    }
}

impl Walk {
    /// Divides `quota` among the ranks, into `self.quotas`.
    fn divide_among_ranks(&mut self, division: &Division<'_>, all: &Candidates, quota: i64) -> Result<(), CycleError> {
        let all_participate = !self.find_participants(division, all);
        let Self {
            members,
            ranks,
            tier_of,
            fits_now,
            last,
            quotas,
            positive,
            scratch,
            ..
        } = self;
        // Candidates that do not take part offer no room, so their rank gets only what the others can hold.
        let column = |column: &[i64], of_members: &mut Vec<i64>| {
            of_members.clear();
            of_members.extend(members.iter().map(|&index| {
                let participates = all_participate || positive.contains(Row::from_index(all.rows[index] as usize));
                if participates { column[index] } else { 0 }
            }));
        };
        column(&all.fits_now, fits_now);
        column(&all.last, last);
        tier_of.clear();
        let tier = |&index: &usize| ranks.binary_search(&all.tiers[index]).unwrap_or(0) as u32;
        tier_of.extend(members.iter().map(tier));
        quotas.clear();
        quotas.resize(ranks.len(), 0);
        let request = division::Request::new(
            quota,
            fits_now,
            last,
            if division.input.fresh {
                division::Cycle::Fresh
            } else {
                division::Cycle::Steady
            },
        );
        let last_tier = if division.strategy.last_tier_overflows() {
            LastTier::TakesTheRest
        } else {
            LastTier::WithinCapacity
        };
        divide_among_tiers(&request, tier_of, last_tier, quotas, scratch).map_err(too_small)
    }

    /// Finds the candidates whose room counts towards a rank's capacity: if the strategy's rules decide, those with a
    /// positive value. Returns `false` if there are none or the rules do not decide; then all candidates count.
    fn find_participants(&mut self, division: &Division<'_>, all: &Candidates) -> bool {
        if !division.strategy.rules_decide_tiers() {
            return false;
        }
        let record = &division.input.group.record;
        let policy = division.views.policy;
        self.positive.reset(division.input.fleet.len());
        for (rule, span) in policy.rule_spans.as_slice().iter().enumerate() {
            if record.rule_is_positive(rule) {
                for &row in Row::cast(span.of(policy.rule_rows.as_slice())) {
                    self.positive.insert(row);
                }
            }
        }
        Row::cast(&all.rows).iter().any(|&row| self.positive.contains(row))
    }
}

impl Candidates {
    /// Replaces the columns with those of `members`, which are indices into `all`.
    pub(super) fn take_from(&mut self, all: &Self, members: &[usize]) {
        fn column<T: Copy>(own: &mut Column<T>, all: &[T], members: &[usize]) {
            own.clear();
            // A column that this cycle does not use is empty, so a member may be missing from it.
            own.extend(members.iter().filter_map(|&index| all.get(index).copied()));
        }
        column(&mut self.rows, &all.rows, members);
        column(&mut self.scores, &all.scores, members);
        column(&mut self.last, &all.last, members);
        column(&mut self.last_index, &all.last_index, members);
        column(&mut self.fits_now, &all.fits_now, members);
        column(&mut self.capacity, &all.capacity, members);
        column(&mut self.tiers, &all.tiers, members);
        column(&mut self.policy_index, &all.policy_index, members);
    }
}

/// Converts the error of a division among ranks. The host divides there, so no plugin is named.
fn too_small(error: DivisionError) -> CycleError {
    match error {
        DivisionError::Unschedulable { requested, available } => CycleError::Unschedulable {
            plugin: String::new(),
            message: format!("{requested} replicas requested, {available} fit in the candidate clusters"),
            figures: Some((requested, available)),
        },
        other => CycleError::Unschedulable {
            plugin: String::new(),
            message: other.to_string(),
            figures: None,
        },
    }
}
