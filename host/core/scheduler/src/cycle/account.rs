//! The explanation of a cycle, from the columns that its steps left behind and the texts of plugins.

use divvy_framework_abi::arena::NO_ROW;

use super::explanation::{ClusterExplanation, Detail, Explanation, LeftOut, Note, PluginScore, Reason};
use super::run::{Cycle, CycleInput};
use super::sink::{DELETING_CODE, Texts};
use crate::fleet::estimate::UNBOUNDED;

impl Cycle {
    /// Builds the explanation from the columns that the steps left behind.
    pub(super) fn account(
        &self,
        input: &CycleInput<'_>,
        texts: &Texts,
        detail: Detail,
        scheduled: bool,
    ) -> Explanation {
        let names = input.profile.plugin_names();
        let note = |text| note(input, text);
        let listing = self.listing(input, texts, detail, scheduled);
        let rows = listing.rows.iter();
        let mut clusters: Vec<ClusterExplanation> = rows
            .map(|&row| ClusterExplanation {
                name: input.fleet.name(row).to_owned(),
                rejected: match self.codes.get(row as usize).copied().unwrap_or(0) {
                    0 => None,
                    DELETING_CODE => Some(Note::deleting()),
                    code => Some(rejection(input, texts, code)),
                },
                ..ClusterExplanation::default()
            })
            .collect();
        for (index, &row) in self.feasible.rows.iter().enumerate() {
            let Some(cluster) = listing.position(row).and_then(|position| clusters.get_mut(position)) else {
                continue;
            };
            let is_listed = self
                .feasible
                .last_index
                .get(index)
                .is_some_and(|&index| index != NO_ROW);
            cluster.last = self.feasible.last.get(index).copied().filter(|_| is_listed);
            cluster.score = self.feasible.scores.get(index).copied();
            let fits_now = self.feasible.fits_now.get(index).copied();
            // A cluster without a limit has no count that helps a reader.
            cluster.fits_now = fits_now.filter(|&fits_now| fits_now < UNBOUNDED);
            cluster.tier = self.feasible.tiers.get(index).map(|rank| rank.saturating_add(1));
            for (plugin, scores) in input.profile.score_names().zip(&self.plugin_scores) {
                let plugin = plugin.to_owned();
                let score = scores.get(index).map(|&score| PluginScore {
                    plugin,
                    score,
                    reason: None,
                });
                cluster.scores.extend(score);
            }
        }
        for &index in &self.selected {
            if let Some(&row) = self.feasible.rows.get(index as usize)
                && let Some(cluster) = listing.position(row).and_then(|position| clusters.get_mut(position))
            {
                cluster.candidate = true;
            }
        }
        // After a failure, targets may remain from tiers that succeeded. They are not a result.
        if scheduled {
            for target in &self.targets {
                if let Some(cluster) = listing
                    .position(target.row)
                    .and_then(|position| clusters.get_mut(position))
                {
                    cluster.replicas = Some(target.replicas);
                }
            }
        }
        for &(row, plugin) in &self.left_out {
            if let Some(cluster) = listing.position(row).and_then(|position| clusters.get_mut(position)) {
                cluster.left_out = Some(LeftOut {
                    plugin: names[plugin].clone(),
                    reason: None,
                });
            }
        }
        let (first_score, first_selector) = (input.profile.score_index(0), input.profile.select_index(0));
        let sayings = texts.sayings();
        for said in sayings.iter() {
            let Some(cluster) = listing
                .position(said.row)
                .and_then(|position| clusters.get_mut(position))
            else {
                continue;
            };
            let plugin = said.plugin;
            let reason = Reason::of(&names[plugin], &sayings.read(said));
            // A plugin that serves several extension points may give a reason at each of them.
            if (first_score..first_selector).contains(&plugin)
                && let Some(score) = cluster.scores.get_mut(plugin - first_score)
            {
                score.reason = Some(reason);
            } else if plugin >= first_selector
                && let Some(left_out) = cluster
                    .left_out
                    .as_mut()
                    .filter(|left_out| left_out.plugin == reason.plugin)
            {
                left_out.reason = Some(reason);
            } else {
                cluster.reasons.push(reason);
            }
        }
        Explanation {
            clusters,
            unlisted: listing.unlisted,
            notes: texts.notes().into_iter().map(note).collect(),
            skipped: self.skipped.clone(),
        }
    }
}

/// A plugin's text as a note. The plugin is an index in [`Profile::plugin_names`](crate::profile::Profile::plugin_names).
pub(super) fn note(input: &CycleInput<'_>, (plugin, text): (usize, String)) -> Note {
    Note {
        plugin: input.profile.plugin_names()[plugin].clone(),
        text,
    }
}

/// The rejection with this code. A plugin without the SDK may write a code to which it has given no reason.
pub(super) fn rejection(input: &CycleInput<'_>, texts: &Texts, code: u32) -> Note {
    match texts.reason(code) {
        Some(reason) => note(input, reason),
        None => Note::unexplained(),
    }
}
