//! Score and Select, run on a scenario.

use divvy_framework_calls::rules::{Violation, check_scores, check_selection};

use super::Scenario;
use super::explanation::Explanation;
use super::scenario::within_range;
use crate::configuration::Preferences;
use crate::cycle::CallContext;
use crate::export::Given;
use crate::plugin::Failure;
use crate::score::{ScoreContext, ScorePlugin, ScoreResult};
use crate::select::{SelectContext, SelectPlugin, SelectResult};

impl Scenario {
    /// Runs Score and normalisation, and returns one score per cluster.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`], or the rule of the host that its scores break.
    pub fn scores<T: Preferences + 'static, P: ScorePlugin<T>>(&self, plugin: &P) -> Result<Vec<i64>, Failure> {
        self.score_within_range(plugin, false).map(|(scores, _)| scores)
    }

    /// Runs Score like [`Self::scores`], and also returns the plugin's explanation.
    ///
    /// # Errors
    ///
    /// As [`Self::scores`].
    pub fn scores_explained<T: Preferences + 'static, P: ScorePlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<(Vec<i64>, Explanation), Failure> {
        self.score_within_range(plugin, true)
    }

    /// Scores that the host would accept.
    fn score_within_range<T: Preferences + 'static, P: ScorePlugin<T>>(
        &self,
        plugin: &P,
        explain: bool,
    ) -> Result<(Vec<i64>, Explanation), Failure> {
        let (scores, explanation) = self.score_with(plugin, explain)?;
        let names = self.cluster_names();
        check_scores(P::NAME, &scores, |index| names[index].clone())
            .map_err(|violation| Failure::internal(violation.to_string()))?;
        Ok((scores, explanation))
    }

    pub(super) fn score_with<T: Preferences + 'static, P: ScorePlugin<T>>(
        &self,
        plugin: &P,
        explain: bool,
    ) -> Result<(Vec<i64>, Explanation), Failure> {
        let rows = self.rows();
        let columns = self.columns(&rows);
        let preferences = Given::<T>::new(self.preferences_as()?);
        self.run(explain, P::NEEDS, |cycle| {
            let mut scores = vec![0; rows.len()];
            // Score comes before the totals and before the tiers.
            let context = ScoreContext {
                call: CallContext {
                    scores: &[],
                    tiers: &[],
                    ..columns.context(plugin, &cycle, &rows, &preferences)
                },
                preferences: &preferences,
            };
            let mut result = ScoreResult::new(&mut scores);
            plugin.score(&context, &mut result)?;
            plugin.normalize(&context, &mut result)?;
            within_range(result.dropped)?;
            Ok(scores)
        })
    }

    /// Runs Select with all clusters feasible, and returns the names of the candidates in the plugin's order.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`], or the rule of the host that its selection breaks.
    pub fn candidates<T: Preferences + 'static, P: SelectPlugin<T>>(&self, plugin: &P) -> Result<Vec<String>, Failure> {
        self.select_with(plugin, false).map(|(chosen, _)| chosen)
    }

    /// Runs Select like [`Self::candidates`], and also returns the plugin's explanation.
    ///
    /// # Errors
    ///
    /// As [`Self::candidates`].
    pub fn candidates_explained<T: Preferences + 'static, P: SelectPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<(Vec<String>, Explanation), Failure> {
        self.select_with(plugin, true)
    }

    fn select_with<T: Preferences + 'static, P: SelectPlugin<T>>(
        &self,
        plugin: &P,
        explain: bool,
    ) -> Result<(Vec<String>, Explanation), Failure> {
        let (chosen, explanation) = self.selection(plugin, explain)?;
        let chosen = chosen.map_err(|violation| Failure::internal(violation.to_string()))?;
        Ok((chosen, explanation))
    }

    /// The names of the candidates, or the rule of the host that the selection breaks.
    #[allow(clippy::type_complexity, reason = "a selection or a violation, and an explanation")]
    pub(super) fn selection<T: Preferences + 'static, P: SelectPlugin<T>>(
        &self,
        plugin: &P,
        explain: bool,
    ) -> Result<(Result<Vec<String>, Violation>, Explanation), Failure> {
        let rows = self.rows();
        let columns = self.columns(&rows);
        let preferences = Given::<T>::new(self.preferences_as()?);
        let needed = self.needed.unwrap_or(if self.duplicated { -1 } else { self.replicas });
        let names = self.cluster_names();
        self.run(explain, P::NEEDS, |cycle| {
            let mut candidates = vec![0; rows.len()];
            let context = SelectContext {
                call: columns.context(plugin, &cycle, &rows, &preferences),
                preferences: &preferences,
                needed,
            };
            let mut result = SelectResult::new(&mut candidates);
            plugin.select(&context, &mut result)?;
            let written = result.written();
            let name = |index: usize| names[index].clone();
            let chosen = check_selection(P::NAME, &candidates, written, &mut Vec::new(), name);
            Ok(chosen.map(|chosen| chosen.iter().map(|&index| name(index as usize)).collect()))
        })
    }
}
