//! Runs of Filter, Score and Select that also check the host's rules, with the host's own code, and run each step
//! twice.
//!
//! [`Scenario::assign_checked`] does the same for Assign, and checks its promises as well.

use std::fmt::Debug;

use divvy_framework_abi::descriptor::feature;
use divvy_framework_calls::rules::check_scores;

use super::Scenario;
use super::explanation::Explanation;
use crate::configuration::Preferences;
use crate::filter::FilterPlugin;
use crate::plugin::{Failure, Promises};
use crate::score::ScorePlugin;
use crate::select::SelectPlugin;

/// Panics if a plugin gives different answers to the same question, or if requesting an explanation changes its answer.
#[track_caller]
pub(super) fn check_same<T: PartialEq + Debug>(plugin: &str, what: &str, first: &T, second: &Result<T, Failure>) {
    assert!(
        second.as_ref() == Ok(first),
        "plugin `{plugin}` answers differently {what}: {first:?}, then {second:?}"
    );
}

fn judges_each_alone(promises: Promises) -> bool {
    promises.bits() & feature::EACH_ALONE != 0
}

impl Scenario {
    /// Names of the clusters for whose entries in a column `is_meant` holds.
    fn names_where<T>(&self, column: &[T], is_meant: impl Fn(&T) -> bool) -> Vec<String> {
        let names = self.cluster_names().into_iter().zip(column);
        names
            .filter(|(_, value)| is_meant(value))
            .map(|(name, _)| name)
            .collect()
    }

    /// Runs Filter like [`Self::feasible`], and also returns the plugin's explanation.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    pub fn feasible_explained<T: Preferences + 'static, P: FilterPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<(Vec<String>, Explanation), Failure> {
        let (filtered, explanation) = self.filter_with(plugin, true)?;
        Ok((self.names_where(&filtered.codes, |code| *code == 0), explanation))
    }

    /// Runs Filter, and returns the names of the clusters that the plugin cordons.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    pub fn cordoned<T: Preferences + 'static, P: FilterPlugin<T>>(&self, plugin: &P) -> Result<Vec<String>, Failure> {
        let (filtered, _) = self.filter_with(plugin, false)?;
        Ok(self.names_where(&filtered.cordoned, |cordoned| *cordoned != 0))
    }

    /// Runs Filter like [`Self::feasible`]. The plugin must give the same answer a second time, and when no reasons are
    /// requested.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    ///
    /// # Panics
    ///
    /// If the plugin answers differently, breaks its promise to judge each cluster alone, or rejects a cluster for the binding
    /// without the parts that it acts on.
    #[track_caller]
    pub fn feasible_checked<T: Preferences + 'static, P: FilterPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<Vec<String>, Failure> {
        self.rejections_checked(plugin)?;
        self.feasible(plugin)
    }

    /// Runs Filter and returns name and reason of each rejected cluster. The plugin must give the same answer a second
    /// time, and when no reasons are requested.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    ///
    /// # Panics
    ///
    /// If the plugin answers differently, breaks its promise to judge each cluster alone, or rejects a cluster for the binding
    /// without the parts that it acts on.
    #[track_caller]
    pub fn rejections_checked<T: Preferences + 'static, P: FilterPlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<Vec<(String, String)>, Failure> {
        let (feasible, rejections) = self.filter(plugin)?;
        let again = self.filter(plugin).map(|(_, rejections)| rejections);
        check_same(P::NAME, "the second time", &rejections, &again);
        let unexplained = self
            .filter_with(plugin, false)
            .map(|(filtered, _)| self.names_where(&filtered.codes, |code| *code == 0));
        check_same(P::NAME, "without reasons", &feasible, &unexplained);
        let (explained, _) = self.filter_with(plugin, true)?;
        let cordoned = self.names_where(&explained.cordoned, |cordoned| *cordoned != 0);
        check_same(P::NAME, "without reasons", &cordoned, &self.cordoned(plugin));
        if judges_each_alone(P::PROMISES) {
            self.check_each_alone(P::NAME, false, |scenario| scenario.feasible(plugin));
            self.check_each_alone(P::NAME, false, |scenario| scenario.cordoned(plugin));
        }
        self.check_parts(P::NAME, P::ACTS_ON, |scenario| {
            let (filtered, explanation) = scenario.filter_with(plugin, true)?;
            let mut named = scenario.names_where(&filtered.codes, |code| *code != 0);
            named.extend(scenario.names_where(&filtered.cordoned, |cordoned| *cordoned != 0));
            Ok((named, explanation))
        });
        Ok(rejections)
    }

    /// Runs Score like [`Self::scores`]. Every score must be from 0 to 100, and the plugin must give the same answer a
    /// second time and when it explains.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    ///
    /// # Panics
    ///
    /// If a score is out of range, with the host's message, if the plugin answers differently, if it breaks its promise to
    /// judge each cluster alone, or if it gives a score other than 0 for the binding without the parts that it acts on.
    #[track_caller]
    pub fn scores_checked<T: Preferences + 'static, P: ScorePlugin<T>>(&self, plugin: &P) -> Result<Vec<i64>, Failure> {
        let (scores, _) = self.score_with(plugin, false)?;
        let names = self.cluster_names();
        if let Err(violation) = check_scores(P::NAME, &scores, |index| names[index].clone()) {
            panic!("{violation}");
        }
        let again = self.score_with(plugin, false).map(|(scores, _)| scores);
        check_same(P::NAME, "the second time", &scores, &again);
        let explained = self.score_with(plugin, true).map(|(scores, _)| scores);
        check_same(P::NAME, "when it explains", &scores, &explained);
        if judges_each_alone(P::PROMISES) {
            // Scores may change, so only a failure breaks the promise.
            self.check_each_alone(P::NAME, true, |scenario| {
                scenario.scores(plugin).map(|_| scenario.cluster_names())
            });
        }
        self.check_parts(P::NAME, P::ACTS_ON, |scenario| {
            let (scores, explanation) = scenario.score_with(plugin, true)?;
            Ok((scenario.names_where(&scores, |score| *score != 0), explanation))
        });
        Ok(scores)
    }

    /// Runs Select like [`Self::candidates`]. Every candidate must be a cluster of the call, without duplicates, and
    /// the plugin must give the same answer a second time and when it explains.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`].
    ///
    /// # Panics
    ///
    /// If the selection breaks a rule of the host, with the host's message, if the plugin answers differently, or if it breaks
    /// its promise to judge each cluster alone.
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
        if judges_each_alone(P::PROMISES) && self.judges_alone_at_select() {
            self.check_each_alone(P::NAME, true, |scenario| scenario.candidates(plugin));
        }
        Ok(candidates)
    }
}
