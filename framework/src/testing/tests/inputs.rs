//! Preferences, metadata, priority and time at every extension point.

use serde_json::json;

use crate::prelude::*;
use crate::testing::{ClusterBuilder, PeerBuilder, Scenario};

/// Preferences of the plugin.
#[derive(Debug, Clone, Default, PartialEq, Preferences)]
#[serde(default)]
struct OnePreferences {
    /// Name of the preferred cluster.
    cluster: String,
}

/// Picks the cluster that its preferences name, at every extension point.
#[derive(Default)]
struct One;

impl Plugin for One {
    const NAME: &'static str = "one";
    const DESCRIPTION: &'static str = "means one cluster";
}

impl PreparePlugin for One {
    type Prepared = String;

    fn prepare(&self, context: &PrepareContext<'_, Self>) -> Result<String, Failure> {
        let preferences = context.preferences::<OnePreferences>()?;
        Ok(preferences.map_or_else(String::new, |preferences| preferences.cluster.clone()))
    }
}

impl FilterPlugin<OnePreferences> for One {
    fn filter(
        &self,
        context: &FilterContext<'_, Self, OnePreferences>,
        result: &mut FilterResult<'_>,
    ) -> Result<(), Failure> {
        let meant = context
            .preferences()
            .map_or("", |preferences| preferences.cluster.as_str());
        let clusters = context.clusters();
        result.retain(
            |row| clusters.get(row).name() == meant,
            |_| "cluster(s) were not meant".to_owned(),
        );
        Ok(())
    }
}

impl ScorePlugin<OnePreferences> for One {
    fn score(
        &self,
        context: &ScoreContext<'_, Self, OnePreferences>,
        result: &mut ScoreResult<'_>,
    ) -> Result<(), Failure> {
        let meant = context.prepared()?;
        assert_eq!(
            context.preferences().map(|preferences| &preferences.cluster),
            Some(meant)
        );
        for candidate in context.candidates() {
            result.set(candidate, i64::from(context.cluster(candidate).name() == meant));
        }
        Ok(())
    }
}

impl SelectPlugin<OnePreferences> for One {
    fn select(
        &self,
        context: &SelectContext<'_, Self, OnePreferences>,
        result: &mut SelectResult<'_>,
    ) -> Result<(), Failure> {
        let meant = context
            .preferences()
            .map_or("", |preferences| preferences.cluster.as_str());
        for candidate in context
            .candidates()
            .filter(|&candidate| context.cluster(candidate).name() == meant)
        {
            result.choose(candidate);
        }
        Ok(())
    }
}

fn scenario() -> Scenario {
    Scenario::new()
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b"))
}

#[test]
fn every_kind_of_plugin_reads_its_preferences() {
    let scenario = scenario().preferences(&json!({ "cluster": "b" }));
    assert_eq!(scenario.feasible(&One), Ok(vec!["b".to_owned()]));
    assert_eq!(scenario.scores(&One), Ok(vec![0, 1]));
    assert_eq!(scenario.candidates(&One), Ok(vec!["b".to_owned()]));
}

#[test]
fn preferences_are_refused_as_the_host_refuses_them() {
    let misspelt = scenario().preferences(&json!({ "clutser": "b" }));
    let refused = |failure: Failure| failure.to_string();
    let expected = Err("unknown key `clutser`".to_owned());
    assert_eq!(misspelt.feasible(&One).map_err(refused), expected);
    assert_eq!(
        misspelt.scores(&One).map_err(refused),
        expected.clone().map(|_: Vec<String>| Vec::new())
    );
    assert_eq!(misspelt.candidates(&One).map_err(refused), expected);
    // A plugin that names no type takes none.
    assert_eq!(
        misspelt.scores(&Clock).map_err(refused).unwrap_err(),
        "unknown key `clutser`"
    );
}

/// Scores by every input that must be declared, which it does at Score but not at Filter.
#[derive(Default)]
struct Clock;

impl Plugin for Clock {
    const NAME: &'static str = "clock";
    const DESCRIPTION: &'static str = "reads the time";
}

impl FilterPlugin for Clock {
    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        context.time().map(|_| ())
    }
}

impl ScorePlugin for Clock {
    const NEEDS: Needs = Needs::NONE.time().metadata();

    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        let binding = context.binding();
        let home = binding.policy()?.and_then(|policy| policy.label("home"));
        let weight = binding.workload()?.and_then(|workload| workload.annotation("weight"));
        let weight: i64 = weight.and_then(|weight| weight.parse().ok()).unwrap_or(1);
        let time = context.time()?;
        for candidate in context.candidates() {
            let is_home = Some(context.cluster(candidate).name()) == home;
            result.set(
                candidate,
                if is_home {
                    weight * binding.priority()? + time
                } else {
                    0
                },
            );
        }
        // The earliest counts.
        context.valid_until(time + 9);
        context.valid_until(time + 5);
        context.valid_until(time + 7);
        Ok(())
    }
}

#[test]
fn declared_inputs_are_seen_and_others_are_not() {
    let unknown = scenario().time(3).priority(20);
    assert_eq!(unknown.scores(&Clock), Ok(vec![0, 0]));
    let known = unknown
        .policy_metadata(&[("home", "b")], &[])
        .workload_metadata(&[], &[("weight", "2")]);
    assert_eq!(known.scores(&Clock), Ok(vec![0, 43]));
    let said = |failure: Failure| failure.to_string();
    assert_eq!(
        known.feasible(&Clock).map_err(said).unwrap_err(),
        "reads the time of the decision without declaring `Needs::time`"
    );
    assert_eq!(
        scenario().scores(&Clock).map_err(said).unwrap_err(),
        "the time of the decision is not known"
    );
}

#[test]
fn the_earliest_time_until_which_the_answer_holds_is_kept() {
    let scenario = scenario().time(100);
    assert_eq!(scenario.valid_until(), None);
    assert!(scenario.scores(&Clock).is_ok());
    assert_eq!(scenario.valid_until(), Some(105));
    assert!(scenario.needs(Needs::NONE).feasible(&Clock).is_err());
}

/// Scores by the replicas of peers, which it declares at Score alone.
#[derive(Default)]
struct Social;

impl Plugin for Social {
    const NAME: &'static str = "social";
    const DESCRIPTION: &'static str = "reads the placements of other bindings";
}

impl FilterPlugin for Social {
    fn filter(&self, context: &FilterContext<'_, Self>, _: &mut FilterResult<'_>) -> Result<(), Failure> {
        context.placements().map(|_| ())
    }
}

impl ScorePlugin for Social {
    const NEEDS: Needs = Needs::NONE.placements();

    fn score(&self, context: &ScoreContext<'_, Self>, result: &mut ScoreResult<'_>) -> Result<(), Failure> {
        let placements = context.placements()?;
        if placements.affinity_group() != Some("app=shop") || placements.anti_affinity_group() != Some("group=test") {
            return Err(Failure::internal(format!("{placements:?}")));
        }
        for peer in placements.peers() {
            let weight = match (peer.shares_affinity_group(), peer.shares_anti_affinity_group()) {
                (true, true) => 1,
                (true, false) => 10,
                (false, _) => 20,
            };
            for target in peer.targets() {
                let candidate = context.candidates().find(|&candidate| {
                    target.row == Some(context.rows()[candidate]) && target.cluster == context.cluster(candidate).name()
                });
                match candidate {
                    Some(candidate) => result.set(candidate, weight * target.replicas),
                    None if target.cluster == "gone" && target.row.is_none() => {}
                    None => return Err(Failure::internal(format!("{peer:?}"))),
                }
            }
        }
        Ok(())
    }
}

#[test]
fn placements_of_peers_are_seen_if_they_are_declared() {
    let scenario = scenario()
        .affinity_group("app=shop")
        .peer(PeerBuilder::in_affinity_group("db").on("gone", 9).on("b", 3))
        .peer(PeerBuilder::in_anti_affinity_group("web").on("a", 1))
        .peer(PeerBuilder::in_both_groups("new"));
    assert_eq!(scenario.scores(&Social), Ok(vec![20, 30]));
    // A peer replaces one with the same name.
    let scenario = scenario.peer(PeerBuilder::in_both_groups("web").on("a", 7).on("a", 2));
    assert_eq!(scenario.scores(&Social), Ok(vec![2, 30]));
    assert_eq!(
        scenario
            .feasible(&Social)
            .map_err(|failure| failure.to_string())
            .unwrap_err(),
        "reads the placements of other bindings without declaring `Needs::placements`"
    );
}
