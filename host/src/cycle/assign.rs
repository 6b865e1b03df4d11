//! Assign: how many replicas each candidate gets, tier by tier where the policy has tiers.

use divvy_framework::abi::call::{AssignCall, CycleView};
use divvy_framework::abi::{AbiSlice, AbiSliceMut};
use divvy_framework::division::tiers::{LastTier, divide_among_tiers};
use divvy_framework::division::{self, DivisionError};
use divvy_framework::driver;

use super::error::CycleError;
use super::run::{Candidates, Cycle, CycleInput, Target};
use super::sink::Texts;
use super::verify::AssignRules;
use crate::scheduler::Strategy;

/// One call of the strategy: over which candidates, how many replicas.
#[derive(Clone, Copy)]
struct Share {
    replicas: i64,
    tier: u32,
    tier_count: u32,
}

impl Cycle {
    /// Calls the strategy's plugin and collects the clusters of the result.
    pub(super) fn assign(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        view: &CycleView<'_>,
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        if let Some(texts) = texts {
            texts.calling(input.profile.strategy_place(strategy.name()));
        }
        let prepared = strategy.plugin().prepare(view).map_err(CycleError::of_call)?;
        let prepared = self.keep(prepared);
        let mut candidates = std::mem::take(&mut self.candidates);
        self.gather(input, &mut candidates);
        let outcome = self.assign_tiers(input, strategy, view, prepared, &mut candidates, texts);
        self.candidates = candidates;
        outcome
    }

    /// The columns of the candidates, in the order of Select.
    fn gather(&mut self, input: &CycleInput<'_>, candidates: &mut Candidates) {
        let feasible = &self.feasible;
        let chosen = || self.selected.iter().map(|&place| place as usize);
        candidates.rows.clear();
        candidates.rows.extend(chosen().map(|place| feasible.rows[place]));
        candidates.scores.clear();
        candidates.scores.extend(chosen().map(|place| feasible.scores[place]));
        candidates.last.clear();
        candidates
            .last
            .extend(chosen().map(|place| feasible.last[place].max(0)));
        candidates.fits_now.clear();
        candidates
            .fits_now
            .extend(chosen().map(|place| feasible.fits_now[place]));
        candidates.tiers.clear();
        if !feasible.tiers.is_empty() {
            candidates.tiers.extend(chosen().map(|place| feasible.tiers[place]));
        }
        candidates.places.clear();
        if driver::places_in_policy(input.fleet.snapshot(), &input.group.record, &mut self.by_row) {
            let by_row = &self.by_row;
            candidates
                .places
                .extend(candidates.rows.iter().map(|&row| by_row[row as usize]));
        }
    }

    fn assign_tiers(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        view: &CycleView<'_>,
        prepared: *const std::ffi::c_void,
        candidates: &mut Candidates,
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        let replicas = input.plan.replicas;
        if candidates.tiers.is_empty() || (strategy.walks_tiers() && !input.group.overflows) {
            let share = Share {
                replicas,
                tier: 0,
                tier_count: 1,
            };
            let all = std::mem::take(&mut candidates.rows);
            let outcome = call(strategy, view, prepared, share, &all, &all, candidates);
            candidates.rows = all;
            outcome?;
            self.verify(input, strategy, replicas, candidates)?;
            self.collect(candidates, texts);
            return Ok(());
        }
        self.walk_overflow(input, strategy, view, prepared, candidates, texts)
    }

    /// The outer walk: each overflow tier gets what is left, up to what its candidates hold.
    ///
    /// Source: Karmada v1.19-rc, `pkg/scheduler/core/common.go`. The capacity of a tier is what fits now plus last.
    fn walk_overflow(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        view: &CycleView<'_>,
        prepared: *const std::ffi::c_void,
        all: &Candidates,
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        let ranks = std::mem::take(&mut self.tiers.ranks);
        let overflow_of = |place: usize| ranks.get(all.tiers[place] as usize).map_or(0, |rank| rank.0);
        let last_overflow = (0..all.rows.len()).map(overflow_of).max().unwrap_or(0);
        let mut left = input.plan.replicas;
        let mut outcome = Ok(());
        for tier in 0..=last_overflow {
            let members: Vec<usize> = (0..all.rows.len())
                .filter(|&place| overflow_of(place) == tier)
                .collect();
            if members.is_empty() {
                continue;
            }
            let quota = if input.group.overflows {
                let capacity = members
                    .iter()
                    .map(|&place| all.fits_now[place].saturating_add(all.last[place]))
                    .fold(0, i64::saturating_add);
                left.min(capacity)
            } else {
                left
            };
            outcome = self.walk_priorities(input, strategy, view, prepared, all, &members, quota, texts);
            left -= quota;
            if outcome.is_err() || left <= 0 {
                break;
            }
        }
        self.tiers.ranks = ranks;
        outcome?;
        if left > 0 {
            let available = input.plan.replicas - left;
            return Err(CycleError::Unschedulable {
                plugin: String::new(),
                message: format!(
                    "{} replicas requested, {available} fit in the clusters of the group and its overflow affinities",
                    input.plan.replicas
                ),
                figures: Some((input.plan.replicas, available)),
            });
        }
        Ok(())
    }

    /// The inner walk: growth goes to the best priority that has room, shrinkage drains the worst.
    #[allow(
        clippy::too_many_arguments,
        reason = "one call of one walk; a struct would only rename them"
    )]
    fn walk_priorities(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        view: &CycleView<'_>,
        prepared: *const std::ffi::c_void,
        all: &Candidates,
        members: &[usize],
        quota: i64,
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        let mut distinct: Vec<u32> = members.iter().map(|&place| all.tiers[place]).collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == 1 || strategy.walks_tiers() {
            let share = Share {
                replicas: quota,
                tier: distinct.first().copied().unwrap_or(0),
                tier_count: self.tiers.ranks.len().max(1) as u32,
            };
            return self.assign_members(input, strategy, view, prepared, all, members, share, texts);
        }
        let participates = self.participants(strategy, input, all);
        let column = |column: &[i64]| -> Vec<i64> {
            members
                .iter()
                .map(|&place| if participates(place) { column[place] } else { 0 })
                .collect()
        };
        let (fits_now, last) = (column(&all.fits_now), column(&all.last));
        let tier_of: Vec<u32> = members
            .iter()
            .map(|&place| distinct.binary_search(&all.tiers[place]).unwrap_or(0) as u32)
            .collect();
        let mut quotas = vec![0; distinct.len()];
        let request = division::Request {
            replicas: quota,
            fits_now: &fits_now,
            last: &last,
            cycle: if input.group.record.is_fresh() {
                division::Cycle::Fresh
            } else {
                division::Cycle::Steady
            },
        };
        let last_tier = if strategy.last_tier_overflows() {
            LastTier::TakesTheRest
        } else {
            LastTier::WithinCapacity
        };
        divide_among_tiers(&request, &tier_of, last_tier, &mut quotas, &mut self.tiers.division).map_err(too_small)?;
        let tier_count = distinct.len() as u32;
        for ((&rank, quota), tier) in distinct.iter().zip(quotas).zip(0..) {
            let of_tier: Vec<usize> = members
                .iter()
                .copied()
                .filter(|&place| all.tiers[place] == rank)
                .collect();
            if quota == 0 && !strategy.duplicates() {
                continue;
            }
            let share = Share {
                replicas: quota,
                tier,
                tier_count,
            };
            self.assign_members(input, strategy, view, prepared, all, &of_tier, share, texts)?;
        }
        Ok(())
    }

    /// Which candidates a tier's capacity counts: for a strategy whose rules decide, those with a positive value, unless
    /// no candidate at all has one.
    fn participants<'c>(
        &self,
        strategy: &Strategy<'_>,
        input: &CycleInput<'_>,
        all: &'c Candidates,
    ) -> impl Fn(usize) -> bool + use<'c> {
        let mut positive = std::collections::BTreeSet::new();
        if strategy.rules_decide_tiers() {
            let mut resolution = driver::Resolution::default();
            resolution.resolve(input.fleet.snapshot(), &input.group.record);
            for rule in 0..input.group.record.rule_count() {
                if input.group.record.rule_is_positive(rule) {
                    positive.extend(resolution.rule_rows(rule).iter().copied());
                }
            }
            positive.retain(|row| all.rows.contains(row));
        }
        move |place: usize| positive.is_empty() || positive.contains(&all.rows[place])
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "one call of one walk; a struct would only rename them"
    )]
    fn assign_members(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        view: &CycleView<'_>,
        prepared: *const std::ffi::c_void,
        all: &Candidates,
        members: &[usize],
        share: Share,
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        let mut tier = Candidates {
            rows: members.iter().map(|&place| all.rows[place]).collect(),
            scores: members.iter().map(|&place| all.scores[place]).collect(),
            last: members.iter().map(|&place| all.last[place]).collect(),
            fits_now: members.iter().map(|&place| all.fits_now[place]).collect(),
            tiers: members.iter().map(|&place| all.tiers[place]).collect(),
            places: members
                .iter()
                .filter_map(|&place| all.places.get(place).copied())
                .collect(),
            result: Vec::new(),
        };
        let rows = std::mem::take(&mut tier.rows);
        let outcome = call(strategy, view, prepared, share, &rows, &all.rows, &mut tier);
        tier.rows = rows;
        outcome?;
        self.verify(input, strategy, share.replicas, &tier)?;
        self.collect(&tier, texts);
        Ok(())
    }

    fn verify(
        &self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        replicas: i64,
        candidates: &Candidates,
    ) -> Result<(), CycleError> {
        let rules = AssignRules {
            plugin: strategy.plugin().name(),
            replicas,
            duplicates: strategy.duplicates(),
            respects_capacity: strategy.respects_capacity(),
            fits_now: &candidates.fits_now,
            last: &candidates.last,
        };
        rules.check(&candidates.result, |place| {
            input.fleet.name(candidates.rows[place]).to_owned()
        })?;
        Ok(())
    }

    /// Takes over the candidates that got replicas, and what was said of them.
    fn collect(&mut self, candidates: &Candidates, texts: Option<&Texts>) {
        self.targets.extend(
            candidates
                .rows
                .iter()
                .zip(&candidates.result)
                .filter(|(_, replicas)| **replicas > 0)
                .map(|(&row, &replicas)| Target { row, replicas }),
        );
        if let Some(texts) = texts {
            for (place, remark) in texts.take_explanations() {
                if let Some(&row) = candidates.rows.get(place as usize) {
                    self.remarks.push((row, remark));
                }
            }
        }
    }
}

fn call(
    strategy: &Strategy<'_>,
    view: &CycleView<'_>,
    prepared: *const std::ffi::c_void,
    share: Share,
    rows: &[u32],
    all_rows: &[u32],
    candidates: &mut Candidates,
) -> Result<(), CycleError> {
    candidates.result.clear();
    candidates.result.resize(rows.len(), 0);
    let mut call = AssignCall {
        cycle: std::ptr::from_ref(view),
        prepared,
        replicas: share.replicas,
        rows: AbiSlice::from_slice(rows),
        scores: AbiSlice::from_slice(&candidates.scores),
        last: AbiSlice::from_slice(&candidates.last),
        fits_now: AbiSlice::from_slice(&candidates.fits_now),
        tiers: AbiSlice::from_slice(&candidates.tiers),
        places: AbiSlice::from_slice(&candidates.places),
        tier: share.tier,
        tier_count: share.tier_count,
        all_rows: AbiSlice::from_slice(all_rows),
        result: AbiSliceMut::from_mut_slice(&mut candidates.result),
        ..AssignCall::default()
    };
    strategy.plugin().assign(&mut call).map_err(CycleError::of_call)
}

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
