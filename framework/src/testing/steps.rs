//! Score and Select, run on a scenario.

use divvy_framework_driver::rules::check_selection;

use super::Scenario;
use super::explanation::Explanation;
use super::scenario::{Says, within_range};
use crate::cycle::CallContext;
use crate::plugin::Failure;
use crate::score::{ScoreContext, ScorePlugin, ScoreResult};
use crate::select::{SelectContext, SelectPlugin, SelectResult};

impl Scenario {
    /// Runs Score and normalisation, and returns one score per cluster.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    pub fn scores<P: ScorePlugin>(&self, plugin: &P) -> Result<Vec<i64>, Failure> {
        self.score_with(plugin, false).map(|(scores, _)| scores)
    }

    /// Runs Score like [`Self::scores`], and also returns the plugin's explanation.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    pub fn scores_explained<P: ScorePlugin>(&self, plugin: &P) -> Result<(Vec<i64>, Explanation), Failure> {
        self.score_with(plugin, true)
    }

    fn score_with<P: ScorePlugin>(&self, plugin: &P, explain: bool) -> Result<(Vec<i64>, Explanation), Failure> {
        let rows = self.rows();
        let columns = self.columns(&rows);
        self.run(explain, Says::Nothing, P::NEEDS, |cycle| {
            let mut scores = vec![0; rows.len()];
            // Score comes before the totals and before the tiers.
            let context = ScoreContext {
                call: CallContext {
                    scores: &[],
                    tiers: &[],
                    ..columns.context(plugin, cycle, &rows)
                },
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
    pub fn candidates<P: SelectPlugin>(&self, plugin: &P) -> Result<Vec<String>, Failure> {
        self.select_with(plugin, false).map(|(chosen, _)| chosen)
    }

    /// Runs Select like [`Self::candidates`], and also returns the plugin's explanation.
    ///
    /// # Errors
    ///
    /// As [`Self::candidates`].
    pub fn candidates_explained<P: SelectPlugin>(&self, plugin: &P) -> Result<(Vec<String>, Explanation), Failure> {
        self.select_with(plugin, true)
    }

    fn select_with<P: SelectPlugin>(&self, plugin: &P, explain: bool) -> Result<(Vec<String>, Explanation), Failure> {
        let rows = self.rows();
        let columns = self.columns(&rows);
        let needed = self.needed.unwrap_or(if self.duplicated { -1 } else { self.replicas });
        let names = self.cluster_names();
        self.run(explain, Says::Nothing, P::NEEDS, |cycle| {
            let mut candidates = vec![0; rows.len()];
            let context = SelectContext {
                call: columns.context(plugin, cycle, &rows),
                needed,
            };
            let mut result = SelectResult::new(&mut candidates);
            plugin.select(&context, &mut result)?;
            let written = result.written();
            let name = |index: usize| names[index].clone();
            let chosen = check_selection(P::NAME, &candidates, written, &mut Vec::new(), name);
            let chosen = chosen.map_err(|violation| Failure::internal(violation.to_string()))?;
            Ok(chosen.iter().map(|&index| name(index as usize)).collect())
        })
    }
}
