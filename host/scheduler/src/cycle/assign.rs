//! Assign: divides the replicas among the candidates. If the policy has tiers, `walk.rs` makes one call per tier.

use divvy_framework::abi::call::{AssignCall, CycleView};
use divvy_framework::abi::{AbiSlice, AbiSliceMut};
use divvy_framework_driver::cycle as driver;

use super::error::CycleError;
use super::run::{Candidates, Cycle, CycleInput, Target};
use super::sink::Texts;
use super::verify::AssignRules;
use crate::scheduler::Strategy;

/// Context shared by all calls to the strategy's plugin in one cycle.
#[derive(Clone, Copy)]
pub(super) struct Division<'a> {
    pub(super) input: &'a CycleInput<'a>,
    pub(super) strategy: &'a Strategy<'a>,
    pub(super) view: &'a CycleView<'a>,
    prepared: *const std::ffi::c_void,
    texts: Option<&'a Texts>,
}

/// One call to the strategy's plugin: the replicas to divide, and the tier they are for.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) replicas: i64,
    pub(super) tier: u32,
    pub(super) tier_count: u32,
}

impl Cycle {
    /// Calls the strategy's plugin, once or once per tier, and collects the targets.
    pub(super) fn assign(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        view: &CycleView<'_>,
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        let prepared = self.prepare(strategy.plugin(), view, texts, || {
            input.profile.strategy_place(strategy.name())
        })?;
        let division = Division {
            input,
            strategy,
            view,
            prepared,
            texts,
        };
        // Moved out of `self`, so that the calls can write to the rest of the cycle's memory.
        let mut candidates = std::mem::take(&mut self.candidates);
        self.gather(input, &mut candidates);
        // The host always walks overflow tiers, because a later tier gets only what the earlier ones cannot hold.
        // Priorities are left to a plugin that handles them itself.
        let outcome = if candidates.tiers.is_empty() || (strategy.walks_tiers() && !input.group.overflows) {
            let share = Share {
                replicas: input.plan.replicas,
                tier: 0,
                tier_count: 1,
            };
            self.divide(&division, share, None, &mut candidates)
        } else {
            self.walk_overflow(&division, &candidates)
        };
        self.candidates = candidates;
        outcome
    }

    /// Copies the columns of the selected clusters into `candidates`, in the order that Select returned.
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

    /// Makes one call: divides the share among `candidates`, verifies the result and adds it to the targets.
    ///
    /// `all_rows` lists the candidates of all tiers; it is `None` if `candidates` are all of them.
    pub(super) fn divide(
        &mut self,
        division: &Division<'_>,
        share: Share,
        all_rows: Option<&[u32]>,
        candidates: &mut Candidates,
    ) -> Result<(), CycleError> {
        let Candidates {
            rows,
            scores,
            last,
            fits_now,
            tiers,
            places,
            result,
        } = candidates;
        // The plugin writes into the host's buffer. A candidate that it skips gets 0 replicas.
        result.clear();
        result.resize(rows.len(), 0);
        let mut call = AssignCall {
            cycle: std::ptr::from_ref(division.view),
            prepared: division.prepared,
            replicas: share.replicas,
            rows: AbiSlice::from_slice(rows),
            scores: AbiSlice::from_slice(scores),
            last: AbiSlice::from_slice(last),
            fits_now: AbiSlice::from_slice(fits_now),
            tiers: AbiSlice::from_slice(tiers),
            places: AbiSlice::from_slice(places),
            tier: share.tier,
            tier_count: share.tier_count,
            all_rows: AbiSlice::from_slice(all_rows.unwrap_or(rows)),
            result: AbiSliceMut::from_mut_slice(result),
            ..AssignCall::default()
        };
        let strategy = division.strategy;
        strategy.plugin().assign(&mut call).map_err(CycleError::of_call)?;
        // No result is used before it has passed the strategy's promises.
        verify(division, share.replicas, candidates)?;
        self.collect(candidates, division.texts);
        Ok(())
    }

    /// Adds the candidates that got replicas to the targets, and keeps the plugin's remarks about them.
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
            // Indices are valid only for this call, rows for the whole cycle.
            for (place, remark) in texts.take_explanations() {
                if let Some(&row) = candidates.rows.get(place as usize) {
                    self.remarks.push((row, remark));
                }
            }
        }
    }
}

fn verify(division: &Division<'_>, replicas: i64, candidates: &Candidates) -> Result<(), CycleError> {
    let Division { input, strategy, .. } = *division;
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
