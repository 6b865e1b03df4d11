//! Filter, Score and Select, held to the host's rules: by the host's own code, and twice.
//!
//! [`Scenario::assign_checked`] does the same for Assign, and checks its promises as well.

use std::fmt::Debug;

use divvy_framework_driver::rules::check_scores;

use super::Scenario;
use super::explanation::Explanation;
use crate::configuration::Preferences;
use crate::filter::FilterPlugin;
use crate::plugin::Failure;
use crate::score::ScorePlugin;
use crate::select::SelectPlugin;

/// Panics if a plugin answers differently to the same question, or because it is asked to explain.
#[track_caller]
pub(super) fn check_same<T: PartialEq + Debug>(plugin: &str, what: &str, first: &T, second: &Result<T, Failure>) {
    assert!(
        second.as_ref() == Ok(first),
        "plugin `{plugin}` answers differently {what}: {first:?}, then {second:?}"
    );
}

impl Scenario {
    /// Runs Filter like [`Self::feasible`], and also returns the plugin's explanation.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    pub fn feasible_explained<T: Preferences + 'static, P: FilterPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<(Vec<String>, Explanation), Failure> {
        let (codes, explanation) = self.filter_with(plugin, true)?;
        let names = self.cluster_names().into_iter().zip(codes);
        let feasible = names.filter(|(_, code)| *code == 0).map(|(name, _)| name);
        Ok((feasible.collect(), explanation))
    }

    /// Runs Filter like [`Self::feasible`]. The plugin must answer the same a second time, and without being asked for
    /// reasons.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    ///
    /// # Panics
    ///
    /// If the plugin answers differently.
    #[track_caller]
    pub fn feasible_checked<T: Preferences + 'static, P: FilterPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<Vec<String>, Failure> {
        self.rejections_checked(plugin)?;
        self.feasible(plugin)
    }

    /// Runs Filter and returns the name of each rejected cluster and the reason. The plugin must answer the same a
    /// second time, and without being asked for reasons.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    ///
    /// # Panics
    ///
    /// If the plugin answers differently.
    #[track_caller]
    pub fn rejections_checked<T: Preferences + 'static, P: FilterPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<Vec<(String, String)>, Failure> {
        let (feasible, rejections) = self.filter(plugin)?;
        let again = self.filter(plugin).map(|(_, rejections)| rejections);
        check_same(P::NAME, "the second time", &rejections, &again);
        let unexplained = self.filter_with(plugin, false).map(|(codes, _)| {
            let names = self.cluster_names().into_iter().zip(codes);
            names.filter(|(_, code)| *code == 0).map(|(name, _)| name).collect()
        });
        check_same(P::NAME, "without reasons", &feasible, &unexplained);
        Ok(rejections)
    }

    /// Runs Score like [`Self::scores`]. Every score must be from 0 to 100, and the plugin must answer the same a
    /// second time and when it explains.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    ///
    /// # Panics
    ///
    /// If a score is out of range, with the host's message, or if the plugin answers differently.
    #[track_caller]
    pub fn scores_checked<T: Preferences + 'static, P: ScorePlugin<T>>(&self, plugin: &P) -> Result<Vec<i64>, Failure> {
        let (scores, _) = self.score_with(plugin, false)?;
        let names = self.cluster_names();
        if let Err(violation) = check_scores(P::NAME, &scores, |index| names.get(index).cloned().unwrap_or_default()) {
            panic!("{violation}");
        }
        let again = self.score_with(plugin, false).map(|(scores, _)| scores);
        check_same(P::NAME, "the second time", &scores, &again);
        let explained = self.score_with(plugin, true).map(|(scores, _)| scores);
        check_same(P::NAME, "when it explains", &scores, &explained);
        Ok(scores)
    }

    /// Runs Select like [`Self::candidates`]. Every candidate must be a cluster of the call and be chosen once, and the
    /// plugin must answer the same a second time and when it explains.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    ///
    /// # Panics
    ///
    /// If the selection breaks a rule of the host, with the host's message, or if the plugin answers differently.
    #[track_caller]
    pub fn candidates_checked<T: Preferences + 'static, P: SelectPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<Vec<String>, Failure> {
        let selected = |explain: bool| -> Result<Vec<String>, Failure> {
            let (chosen, _) = self.selection(plugin, explain)?;
            match chosen {
                Ok(names) => Ok(names),
                Err(violation) => panic!("{violation}"),
            }
        };
        let candidates = selected(false)?;
        check_same(P::NAME, "the second time", &candidates, &selected(false));
        check_same(P::NAME, "when it explains", &candidates, &selected(true));
        Ok(candidates)
    }
}
