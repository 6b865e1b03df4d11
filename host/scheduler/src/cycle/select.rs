//! Select: picks the candidates among the feasible clusters.

use divvy_framework::abi::call::SelectCall;
use divvy_framework::abi::view::PolicyView;
use divvy_framework::abi::{Slice, SliceMut};

use super::error::CycleError;
use super::run::{Cycle, CycleInput};
use super::values::Values;
use super::verify;
use super::views::Views;
use crate::plugin::CallError;
use crate::scheduler::Strategy;

impl Cycle {
    /// Calls the profile's Select plugin and keeps the candidates in its order, as indices into the feasible clusters.
    pub(super) fn select(
        &mut self,
        input: &CycleInput<'_>,
        strategy: &Strategy<'_>,
        views: Views<'_>,
    ) -> Result<(), CycleError> {
        let plugin = input.profile.select();
        views.calling(|| input.profile.select_place());
        let feasible = &self.feasible;
        self.selected.clear();
        self.selected.resize(feasible.rows.len(), 0);
        views.check_time(plugin)?;
        let values = Values::of(plugin, input, views)?;
        let mut policy = PolicyView::DEFAULT;
        let mut call = SelectCall {
            cycle: views.cycle(),
            policy: views.policy_of(plugin, &mut policy),
            snapshot_value: values.snapshot(),
            binding_value: values.binding(),
            rows: Slice::new(&feasible.rows),
            scores: Slice::new(&feasible.scores),
            last: Slice::new(&feasible.last),
            last_index: Slice::new(&feasible.last_index),
            fits_now: Slice::new(&feasible.fits_now),
            capacity: Slice::new(&feasible.capacity),
            tiers: Slice::new(&feasible.tiers),
            needed: if strategy.duplicates() { -1 } else { input.plan.needed },
            candidates: SliceMut::new(&mut self.selected),
            ..SelectCall::DEFAULT
        };
        // Karmada distinguishes a failed selection from a lack of capacity, so it has its own variant.
        let answer = plugin.select(&mut call, views.texts()).map_err(|error| match error {
            CallError::Unschedulable { plugin, message, .. } => CycleError::NotSelectable { plugin, message },
            other => CycleError::of_call(other),
        });
        self.valid_until.take(call.valid_until);
        answer?;
        let count = call.count;
        let rows = &feasible.rows;
        let chosen = verify::check_selection(plugin.name(), &self.selected, count, &mut self.marks, |place| {
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
