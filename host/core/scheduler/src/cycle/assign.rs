//! Assign: divides the replicas among the candidates. If the policy has tiers, `walk.rs` makes one call per tier.

use divvy_framework_abi::call::{AssignCall, PrepareCall};
use divvy_framework_abi::sized::kind;
use divvy_framework_abi::{Address, Slice, SliceMut};
use divvy_framework_calls::cycle as calls;
use divvy_framework_calls::stated::Stated;
use divvy_framework_memory::{Column, Slot};
use divvy_framework_view::clusters::Row;

use super::columns::Candidates;
use super::error::CycleError;
use super::run::{Cycle, CycleInput, DENSE, Target};
use super::values::Values;
use super::verify::{AssignRules, Violation};
use super::views::Views;
use crate::profile::Strategy;

/// Context shared by all calls to the strategy's plugin in one cycle.
#[derive(Clone, Copy)]
pub(super) struct Division<'a> {
    pub(super) input: &'a CycleInput<'a>,
    pub(super) strategy: &'a Strategy<'a>,
    pub(super) views: Views<'a>,
    prepared: Address,
}

/// One call to the strategy's plugin: the replicas to divide, and the tier they are for.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) replicas: i64,
    pub(super) tier: u32,
    pub(super) tier_count: u32,
}

impl Cycle {
    /// Calls the strategy's plugin, once or once per tier, and collects the targets, sorted by row.
    pub(super) fn assign(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        views: Views<'_>,
    ) -> Result<(), CycleError> {
        views.calling(|| input.profile.strategy_index(strategy.name()));
        let division = Division {
            input,
            strategy,
            views,
            prepared: Address::NULL,
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
                .map(|()| self.collect_all(&candidates, input.fleet.len()))
        } else {
            self.walk_prepared(&division, &candidates)
                .map(|()| self.sort_targets(input.fleet.len()))
        };
        self.candidates = candidates;
        outcome
    }

    /// Walks the tiers. A plugin that prepares state does so only once for all of them.
    fn walk_prepared(&mut self, division: &Division<'_>, candidates: &Candidates) -> Result<(), CycleError> {
        let views = division.views;
        let mut seen = Slot::new();
        let mut call = PrepareCall {
            cycle: views.cycle_for(division.strategy.plugin(), &mut seen),
            policy: views.policy(),
            point: kind::ASSIGN,
            ..PrepareCall::DEFAULT
        };
        views.check_known(division.strategy.plugin())?;
        let prepared = division.strategy.plugin().prepare(&mut call, views.texts());
        self.valid_until.take(call.valid_until);
        let prepared = prepared.map_err(CycleError::from_call)?;
        let division = Division {
            prepared: prepared.address(),
            ..*division
        };
        self.walk_overflow(&division, candidates)
    }

    /// Copies the columns of the selected clusters into `candidates`, in the order that Select returned.
    fn gather(&mut self, input: &CycleInput<'_>, candidates: &mut Candidates) {
        candidates.gather(&self.feasible, &self.selected);
        candidates.policy_index.clear();
        if calls::policy_indices(input.fleet.snapshot(), &input.group.record, &mut self.by_row) {
            let by_row = &self.by_row;
            candidates
                .policy_index
                .extend(candidates.rows.iter().map(|&row| by_row[row as usize]));
        }
    }

    /// Divides the share among `candidates`, so that none that is cordoned gets more than it has.
    ///
    /// `all_rows` lists the candidates of all tiers; it is `None` if `candidates` are all of them.
    pub(super) fn divide(
        &mut self,
        division: &Division<'_>,
        share: Share,
        all_rows: Option<&[u32]>,
        candidates: &mut Candidates,
    ) -> Result<(), CycleError> {
        if self.cordons.is_empty() {
            return self.divide_once(division, share, all_rows, candidates);
        }
        // In a walk over tiers, reasons of the tiers before stay.
        let mark = division.views.mark();
        self.divide_once(division, share, all_rows, candidates)?;
        let rows: Column<u32> = all_rows.unwrap_or(&candidates.rows).iter().copied().collect();
        self.hold_cordoned(division, share, &rows, candidates, mark)
    }

    /// Makes one call: divides the share among `candidates` and verifies the result.
    pub(super) fn divide_once(
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
            last_index,
            fits_now,
            capacity,
            tiers,
            policy_index,
            result,
        } = candidates;
        // The plugin writes into the host's buffer. A candidate that it skips gets 0 replicas.
        result.clear();
        result.resize(rows.len(), 0);
        let strategy = division.strategy;
        let plugin = strategy.plugin();
        division.views.check_known(plugin)?;
        let values = Values::for_plugin(plugin, division.input, division.views)?;
        let mut seen = Slot::new();
        let mut call = AssignCall {
            cycle: division.views.cycle_for(plugin, &mut seen),
            snapshot_value: values.snapshot(),
            binding_value: values.binding(),
            policy: division.views.policy(),
            prepared: division.prepared,
            rows: Slice::new(rows),
            scores: Slice::new(scores),
            last: Slice::new(last),
            last_index: Slice::new(last_index),
            fits_now: Slice::new(fits_now),
            capacity: Slice::new(capacity),
            tiers: Slice::new(tiers),
            replicas: share.replicas,
            tier: share.tier,
            tier_count: share.tier_count,
            policy_index: Slice::new(policy_index),
            all_rows: Slice::new(all_rows.unwrap_or(rows)),
            result: SliceMut::new(result),
            ..AssignCall::DEFAULT
        };
        let answer = plugin.assign(&mut call, division.views.texts());
        self.valid_until.take(call.valid_until);
        let stated = Stated::of(&call);
        answer.map_err(CycleError::from_call)?;
        // No result is used before it has passed the strategy's promises.
        verify(division, share.replicas, stated, candidates)
    }

    /// Adds the candidates that got replicas to the targets, sorted by row. `candidates` are all that were selected.
    fn collect_all(&mut self, candidates: &Candidates, clusters: usize) {
        if self.selected.len() < self.feasible.rows.len() / DENSE {
            self.collect(candidates);
            self.sort_targets(clusters);
            return;
        }
        // The feasible clusters are in row order, so results are collected by their indices instead of being sorted.
        let by_index = &mut self.replicas;
        by_index.clear();
        by_index.resize(self.feasible.rows.len(), 0);
        for (&index, &replicas) in self.selected.iter().zip(&candidates.result) {
            by_index[index as usize] = replicas;
        }
        let results = self.feasible.rows.iter().zip(by_index.iter());
        let targets = results.filter(|(_, replicas)| **replicas > 0);
        self.targets
            .extend(targets.map(|(&row, &replicas)| Target { row, replicas }));
    }

    /// Adds the candidates that got replicas to the targets.
    pub(super) fn collect(&mut self, candidates: &Candidates) {
        self.targets.extend(
            candidates
                .rows
                .iter()
                .zip(&candidates.result)
                .filter(|(_, replicas)| **replicas > 0)
                .map(|(&row, &replicas)| Target { row, replicas }),
        );
    }
}

fn verify(division: &Division<'_>, replicas: i64, stated: Stated, candidates: &Candidates) -> Result<(), CycleError> {
    let Division { input, strategy, .. } = *division;
    let rules = AssignRules {
        plugin: strategy.plugin().name(),
        replicas,
        duplicates: strategy.duplicates(),
        respects_capacity: strategy.respects_capacity(),
        capacity: &candidates.capacity,
    };
    rules.check(&candidates.result, |index| {
        input.fleet.name(candidates.rows[index]).to_owned()
    })?;
    let clusters = input.fleet.snapshot().clusters();
    let cluster = |index: usize| clusters.get(Row::from_index(candidates.rows[index] as usize));
    let dividing = (replicas, strategy.duplicates());
    let kept = stated.check(rules.plugin, dividing, &candidates.result, cluster);
    kept.map_err(|broken| Violation::from(broken).into())
}
