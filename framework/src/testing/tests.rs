//! Tests of the test kit itself: the input that a plugin sees through it.

use crate::prelude::*;
use crate::testing::{ClusterBuilder, Scenario};

/// Reports its input.
#[derive(Default)]
struct Witness;

impl Plugin for Witness {
    const NAME: &'static str = "witness";
    const DESCRIPTION: &'static str = "says what it sees";
}

impl PreparePlugin for Witness {
    type Prepared = Vec<String>;

    fn prepare(&self, context: &PrepareContext<'_, Self>) -> Result<Vec<String>, Failure> {
        Ok(context.binding().last().map(|last| last.cluster.to_owned()).collect())
    }
}

impl AssignPlugin for Witness {
    type Preferences = NoPreferences;

    const STRATEGIES: &'static [&'static str] = &["Witness"];
    const PROMISES: Promises = Promises::NONE;
    const RULE_LISTS: &'static [RuleList] = &[RuleList::new("weights", &[RuleField::required("weight")])];

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        let mut weights = Vec::new();
        context.largest_rule_value("weight", -1, &mut weights);
        result.replicas().copy_from_slice(&weights);
        context.note(|| {
            context
                .prepared()
                .map_or_else(|_| String::new(), |names| names.join(","))
        });
        for place in 0..context.len() {
            context.explain(place, || context.cluster(place).name().to_owned());
        }
        Ok(())
    }
}

fn scenario() -> Scenario {
    Scenario::new()
        .cluster(ClusterBuilder::new("c").last(3))
        .cluster(ClusterBuilder::new("a"))
        .cluster(ClusterBuilder::new("b").last(0))
        .lost("z", 9)
        .rule(&["a", "c"], "weight", 2)
        .rule(&["c", "nowhere"], "weight", 5)
}

#[test]
fn clusters_are_numbered_by_name_and_the_largest_matching_rule_counts() {
    let expected = vec![2, -1, 5];
    assert_eq!(
        scenario().assign_in_order(&Witness, &[2, 0, 1]).expect("it assigns"),
        expected
    );
    assert_eq!(scenario().assign(&Witness).expect("it assigns"), expected);
}

#[test]
fn texts_are_made_only_on_request() {
    let (_, said) = scenario().assign_explained(&Witness).expect("it assigns");
    assert_eq!(said.notes, ["b,c,z"]);
    assert_eq!(said.explanations[2], (2, "c".to_owned()));
}

/// Promises everything, but gives all replicas to one candidate.
#[derive(Default)]
struct Liar;

impl Plugin for Liar {
    const NAME: &'static str = "liar";
    const DESCRIPTION: &'static str = "promises everything";
}

impl AssignPlugin for Liar {
    type Preferences = NoPreferences;

    const STRATEGIES: &'static [&'static str] = &["Liar"];
    const PROMISES: Promises = Promises::NONE.respects_capacity().order_independent().inert();

    fn assign(&self, context: &AssignContext<'_, Self>, result: &mut AssignResult<'_>) -> Result<(), Failure> {
        // Move replicas away from where they were, so that no result is a fixed point.
        let present = context.last().iter().position(|&last| last > 0);
        let start = present.map_or(0, |place| place + 1);
        result.set(start % context.len(), context.replicas());
        Ok(())
    }
}

#[test]
fn broken_promises_are_found() {
    let cluster = |name, fits_now| ClusterBuilder::new(name).fits_now(fits_now);
    let fleet = |[a, b]: [i64; 2]| Scenario::new().cluster(cluster("a", a)).cluster(cluster("b", b));
    let broken = |scenario: Scenario| scenario.check_promises(&Liar).expect_err("a promise is broken");
    assert!(broken(fleet([1, 9]).replicas(2)).contains("capacity 1"));
    assert!(broken(fleet([9, 9]).replicas(2)).contains("in the order [1, 0]"));
    let alone = Scenario::new().cluster(cluster("a", 9)).replicas(2);
    assert_eq!(alone.check_promises(&Liar), Ok(()));
}
