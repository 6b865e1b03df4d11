//! Select: picks the candidates among the feasible clusters.

use divvy_framework::abi::call::{CycleView, SelectCall};
use divvy_framework::abi::{AbiSlice, AbiSliceMut};

use super::error::CycleError;
use super::run::{Cycle, CycleInput};
use super::sink::Texts;
use super::verify;
use crate::plugin::CallError;
use crate::scheduler::Strategy;

impl Cycle {
    /// Calls the profile's Select plugin and keeps the candidates in its order, as indices into the feasible clusters.
    pub(super) fn select(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        view: &CycleView<'_>,
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        let plugin = input.profile.select();
        let prepared = self.prepare(plugin, view, texts, || input.profile.select_place())?;
        let feasible = &self.feasible;
        self.selected.clear();
        self.selected.resize(feasible.rows.len(), 0);
        let mut count = [0_u64];
        let mut call = SelectCall {
            cycle: std::ptr::from_ref(view),
            prepared,
            rows: AbiSlice::from_slice(&feasible.rows),
            scores: AbiSlice::from_slice(&feasible.scores),
            last: AbiSlice::from_slice(&feasible.last),
            fits_now: AbiSlice::from_slice(&feasible.fits_now),
            available: AbiSlice::from_slice(&feasible.available),
            tiers: AbiSlice::from_slice(&feasible.tiers),
            needed: if strategy.duplicates() { -1 } else { input.plan.needed },
            candidates: AbiSliceMut::from_mut_slice(&mut self.selected),
            count: AbiSliceMut::from_mut_slice(&mut count),
            ..SelectCall::default()
        };
        // Karmada distinguishes a failed selection from a lack of capacity, so it has its own variant.
        plugin.select(&mut call).map_err(|error| match error {
            CallError::Unschedulable { plugin, message, .. } => CycleError::NotSelectable { plugin, message },
            other => CycleError::of_call(other),
        })?;
        let rows = &feasible.rows;
        let chosen = verify::check_selection(plugin.name(), &self.selected, count[0], &mut self.marks, |place| {
            input.fleet.name(rows[place]).to_owned()
        })?
        .len();
        self.selected.truncate(chosen);
        // Nothing can be assigned to an empty selection, even if the plugin accepts it.
        if chosen == 0 {
            return Err(CycleError::NotSelectable {
                plugin: plugin.name().to_owned(),
                message: "no clusters available to schedule".to_owned(),
            });
        }
        Ok(())
    }
}
