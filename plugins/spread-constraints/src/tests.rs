//! Tests of the plugin through the SDK's test kit: named cases, properties, and comparisons with literal
//! implementations of Karmada's rules.

mod cases;
mod karmada;
mod search;
mod several;

use divvy_framework::binding::{SpreadConstraint, SpreadField};
use divvy_framework::prelude::{ConfiguredPlugin, Failure};
use divvy_framework::testing::{ClusterBuilder, Scenario};

use crate::constraints::{AbsentMaximum, SpreadBy};
use crate::{SpreadConstraints, SpreadConstraintsConfiguration};

fn plugin(configuration: SpreadConstraintsConfiguration) -> SpreadConstraints {
    SpreadConstraints::new(configuration).expect("it needs nothing")
}

fn by(field: SpreadField, minimum: i64, maximum: i64) -> SpreadConstraint<'static> {
    SpreadConstraint::by(field, minimum, maximum)
}

fn by_label(label: &str, minimum: i64, maximum: i64) -> SpreadConstraint<'_> {
    SpreadConstraint::by_label(label, minimum, maximum)
}

/// The candidates, or the text of the refusal.
fn outcome(scenario: &Scenario) -> Result<Vec<String>, String> {
    outcome_with(scenario, SpreadConstraintsConfiguration::default())
}

/// With the configuration that decides as Karmada does.
fn outcome_as_karmada(scenario: &Scenario) -> Result<Vec<String>, String> {
    outcome_with(
        scenario,
        SpreadConstraintsConfiguration {
            absent_maximum: AbsentMaximum::Zero,
            spread_by: SpreadBy::ClusterAndRegion,
        },
    )
}

fn outcome_with(scenario: &Scenario, configuration: SpreadConstraintsConfiguration) -> Result<Vec<String>, String> {
    match scenario.candidates(&plugin(configuration)) {
        Ok(candidates) => Ok(candidates),
        Err(Failure::Unschedulable { message, .. }) => Err(message),
        Err(other) => panic!("not a refusal: {other}"),
    }
}

/// A cluster with room for `fits_now` replicas.
fn roomy(name: &str, fits_now: i64) -> ClusterBuilder {
    ClusterBuilder::new(name).fits_now(fits_now)
}

fn check(name: &str, scenario: &Scenario, expected: &[&str]) {
    let expected: Vec<String> = expected.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(outcome(scenario), Ok(expected), "{name}");
}

fn check_refused(name: &str, scenario: &Scenario, message: &str) {
    assert_eq!(outcome(scenario), Err(message.to_owned()), "{name}");
}

/// A field that a newer host knows: the constraint is neither ignored nor read as another.
#[test]
fn a_constraint_by_an_unknown_field_is_an_error() {
    for constraint in [by(SpreadField::Unknown, 1, 1), by(SpreadField::from_code(77), 1, 1)] {
        let fleet = Scenario::new().cluster(ClusterBuilder::new("a"));
        let plugin = plugin(SpreadConstraintsConfiguration::default());
        let candidates = fleet.spread_constraint(constraint).candidates(&plugin);
        assert_eq!(
            candidates.map_err(|failure| failure.to_string()),
            Err("it does not know the field of a spread constraint".to_owned())
        );
    }
}

/// Name of each cluster that is left out, with the reason.
fn left_out(scenario: &Scenario) -> Vec<(String, String)> {
    let plugin = plugin(SpreadConstraintsConfiguration::default());
    let (_, said) = scenario.candidates_explained(&plugin).expect("it selects");
    let names = scenario.cluster_names();
    let named = |(index, reason): &(usize, String)| (names[*index].clone(), reason.clone());
    said.explanations.iter().map(named).collect()
}

#[test]
fn every_cluster_that_is_left_out_has_a_reason() {
    let fleet = || {
        Scenario::new()
            .replicas(4)
            .cluster(roomy("a", 9).region("eu").zone("eu-1"))
            .cluster(roomy("b", 8).region("eu").zone("eu-1"))
            .cluster(roomy("c", 3).region("us").zone("us-1"))
    };
    let reasons = |scenario: Scenario| {
        let lines = left_out(&scenario)
            .into_iter()
            .map(|(name, reason)| format!("{name}: {reason}"));
        lines.collect::<Vec<_>>()
    };
    assert_eq!(reasons(fleet()), Vec::<String>::new());
    assert_eq!(
        reasons(fleet().spread_constraint(by(SpreadField::Cluster, 1, 1))),
        [
            "b: others come first, at most 1 may be chosen",
            "c: others come first, at most 1 may be chosen"
        ]
    );
    let both = fleet().spread_constraint(by(SpreadField::Cluster, 1, 1));
    assert_eq!(
        reasons(both.spread_constraint(by(SpreadField::Region, 1, 1))),
        [
            "b: others come first, at most 1 may be chosen",
            "c: region us is not chosen"
        ]
    );
    assert_eq!(
        reasons(fleet().spread_constraint(by(SpreadField::Zone, 1, 1))),
        ["c: the spread constraints are met without it"]
    );
}
