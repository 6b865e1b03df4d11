//! Checks the promise that each cluster is judged alone, by removing one cluster after another.

use std::collections::BTreeSet;

use super::Scenario;
use crate::plugin::{Failure, Needs};

impl Scenario {
    /// Runs a plugin with `taken`, which returns the clusters that it accepts. Panics if removing a cluster changes the
    /// answer about another one, or makes the plugin fail. With `rooms`, also if the other clusters are full.
    #[track_caller]
    pub(super) fn check_each_alone(
        &self,
        plugin: &str,
        rooms: bool,
        taken: impl Fn(&Self) -> Result<Vec<String>, Failure>,
    ) {
        if let Err(broken) = self.each_alone(rooms, taken) {
            panic!("plugin `{plugin}` promises to judge each cluster alone: {broken}");
        }
    }

    /// As [`Self::check_each_alone`], with the difference as an error. A scenario in which the plugin fails breaks nothing.
    pub(super) fn each_alone(
        &self,
        rooms: bool,
        taken: impl Fn(&Self) -> Result<Vec<String>, Failure>,
    ) -> Result<(), String> {
        let Ok(before) = taken(self) else { return Ok(()) };
        let before: BTreeSet<String> = before.into_iter().collect();
        for gone in &self.clusters {
            let name = gone.name.as_str();
            let expected: BTreeSet<&str> = before
                .iter()
                .map(String::as_str)
                .filter(|known| *known != name)
                .collect();
            let mut rest = self.clone();
            rest.clusters.retain(|cluster| cluster.name != name);
            // Its rows stay, as they would in the file.
            rest.has_stray_rows = true;
            if gone.last >= 0 {
                rest = rest.lost(name, gone.last);
            }
            let mut full = rest.clone();
            full.clusters.iter_mut().for_each(|cluster| cluster.fits_now = 0);
            let mut scenarios = vec![(rest, "")];
            if rooms {
                scenarios.push((full, " and without room"));
            }
            for (scenario, room) in scenarios {
                let after = taken(&scenario);
                let keeps = match &after {
                    Ok(after) => after.iter().map(String::as_str).collect::<BTreeSet<&str>>() == expected,
                    // If no cluster is left, the plugin may fail.
                    Err(_) => expected.is_empty(),
                };
                if !keeps {
                    return Err(format!("takes {before:?}, and without `{name}`{room} {after:?}"));
                }
            }
        }
        Ok(())
    }

    /// True if the promise applies at Select: the strategy duplicates, no spread constraints are in force and there are
    /// no tiers.
    pub(super) fn judges_alone_at_select(&self) -> bool {
        let has_tiers = self.clusters.iter().any(|cluster| cluster.tier != 0);
        let is_spread = self.run(false, Needs::NONE, |cycle| {
            let binding = cycle.binding();
            Ok(!binding.ignores_spread_constraints() && binding.spread_constraints().next().is_some())
        });
        self.duplicated && !has_tiers && is_spread.is_ok_and(|(is_spread, _)| !is_spread)
    }
}
