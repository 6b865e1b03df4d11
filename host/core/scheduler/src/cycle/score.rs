//! Score: rates each feasible cluster and adds up the plugins' weighted scores.

use divvy_framework_abi::call::ScoreCall;
use divvy_framework_abi::{Slice, SliceMut};
use divvy_framework_memory::Slot;

use super::error::CycleError;
use super::run::{Cycle, CycleInput};
use super::values::Values;
use super::verify;
use super::views::Views;
use crate::plugin::PluginInstance;

impl Cycle {
    /// Calls the Score plugins in the profile's order and adds up their weighted scores.
    pub(super) fn score(&mut self, input: &CycleInput<'_>, views: Views<'_>) -> Result<(), CycleError> {
        let feasible = self.feasible.rows.len();
        self.feasible.scores.clear();
        self.feasible.scores.resize(feasible, 0);
        for (number, (plugin, weight, acts_on)) in input.profile.score_calls().enumerate() {
            if !views.calls(plugin, acts_on) || self.is_without(plugin) {
                // It would score each cluster 0, or it failed.
                self.keep_scores_of_none(views);
                continue;
            }
            views.calling(|| input.profile.score_index(number));
            let before = self.before_call(views);
            if let Err(error) = self.score_by(plugin, input, views) {
                self.go_on_without(plugin, error, before, views)?;
                self.keep_scores_of_none(views);
                continue;
            }
            for (total, score) in self.feasible.scores.iter_mut().zip(&self.score_buffer) {
                // Scores are at most 100 and weights are bounded by the profile, so this cannot overflow.
                *total += score * weight;
            }
            if views.texts.is_some() {
                self.plugin_scores.push(self.score_buffer.clone());
            }
        }
        Ok(())
    }

    /// Keeps the scores of a plugin that was not called, if they are explained.
    fn keep_scores_of_none(&mut self, views: Views<'_>) {
        if views.texts.is_some() {
            self.plugin_scores.push(vec![0; self.feasible.rows.len()]);
        }
    }

    /// Calls one Score plugin, whose scores are in the buffer then.
    fn score_by(
        &mut self,
        plugin: &PluginInstance,
        input: &CycleInput<'_>,
        views: Views<'_>,
    ) -> Result<(), CycleError> {
        // A cluster that the plugin does not score gets 0.
        self.score_buffer.clear();
        self.score_buffer.resize(self.feasible.rows.len(), 0);
        views.check_known(plugin)?;
        let values = Values::for_plugin(plugin, input, views)?;
        let mut seen = Slot::new();
        let mut call = ScoreCall {
            cycle: views.cycle_for(plugin, &mut seen),
            policy: views.policy_for(plugin),
            snapshot_value: values.snapshot(),
            binding_value: values.binding(),
            rows: Slice::new(&self.feasible.rows),
            last: Slice::new(&self.feasible.last),
            last_index: Slice::new(&self.feasible.last_index),
            fits_now: Slice::new(&self.feasible.fits_now),
            capacity: Slice::new(&self.feasible.capacity),
            result: SliceMut::new(&mut self.score_buffer),
            ..ScoreCall::DEFAULT
        };
        let answer = plugin.score(&mut call, views.texts());
        // A failure can hold for a limited time as well.
        self.valid_until.take(call.valid_until);
        answer.map_err(CycleError::from_call)?;
        let rows = &self.feasible.rows;
        // Scores are checked before they are weighted, because the totals rely on their range.
        verify::check_scores(plugin.name(), &self.score_buffer, |index| {
            input.fleet.name(rows[index]).to_owned()
        })?;
        Ok(())
    }
}
