//! Score: rates each feasible cluster and adds up the plugins' weighted scores.

use divvy_framework::abi::call::{CycleView, ScoreCall};
use divvy_framework::abi::{AbiSlice, AbiSliceMut};

use super::error::CycleError;
use super::run::{Cycle, CycleInput};
use super::sink::Texts;
use super::verify;

impl Cycle {
    /// Calls the Score plugins in the profile's order and adds up their weighted scores.
    pub(super) fn score(
        &mut self,
        input: &CycleInput<'_>,
        view: &CycleView<'_>,
        texts: Option<&Texts>,
    ) -> Result<(), CycleError> {
        let feasible = self.feasible.rows.len();
        self.feasible.scores.clear();
        self.feasible.scores.resize(feasible, 0);
        for (number, (plugin, weight)) in input.profile.scores().enumerate() {
            let prepared = self.prepare(plugin, view, texts, || input.profile.score_place(number))?;
            // A cluster that the plugin does not score gets 0.
            self.score_buffer.clear();
            self.score_buffer.resize(feasible, 0);
            let mut call = ScoreCall {
                cycle: std::ptr::from_ref(view),
                prepared,
                rows: AbiSlice::from_slice(&self.feasible.rows),
                last: AbiSlice::from_slice(&self.feasible.last),
                scores: AbiSliceMut::from_mut_slice(&mut self.score_buffer),
                ..ScoreCall::default()
            };
            plugin.score(&mut call).map_err(CycleError::of_call)?;
            let rows = &self.feasible.rows;
            // Scores are checked before they are weighted, because the totals rely on their range.
            verify::check_scores(plugin.name(), &self.score_buffer, |place| {
                input.fleet.name(rows[place]).to_owned()
            })?;
            for (total, score) in self.feasible.scores.iter_mut().zip(&self.score_buffer) {
                // Scores are at most 100 and weights are bounded by the profile, so this cannot overflow.
                *total += score * weight;
            }
            if texts.is_some() {
                self.plugin_scores.push(self.score_buffer.clone());
            }
        }
        Ok(())
    }
}
