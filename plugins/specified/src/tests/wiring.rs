//! Tests of the plugin through the contexts that the host uses: groups, errors, promises, explanations.

use divvy_framework::prelude::*;
use divvy_framework::testing::{AffinityBuilder, ClusterBuilder, Scenario};
use proptest::prelude::*;

use crate::Specified;

fn plugin() -> Specified {
    Specified
}

fn fleet(last: &[i64]) -> Scenario {
    last.iter()
        .enumerate()
        .fold(Scenario::new(), |scenario, (number, &last)| {
            scenario.cluster(ClusterBuilder::new(&format!("member{number}")).last(last))
        })
}

fn uncounted(scenario: Scenario, clusters: &[&str], origin: &str) -> Scenario {
    scenario.rule_for("staticSpecifyList", origin, &[], |target| {
        _ = target.cluster_names(clusters)
    })
}

fn refusal(scenario: &Scenario) -> String {
    match scenario.assign(&plugin()) {
        Err(Failure::Preferences(error)) => error.to_string(),
        other => panic!("expected the preferences to be refused, got {other:?}"),
    }
}

fn unschedulable(result: Result<Vec<i64>, Failure>) -> String {
    match result {
        Err(Failure::Unschedulable { message, .. }) => message,
        other => panic!("expected it to be unschedulable, got {other:?}"),
    }
}

#[test]
fn counts_apply_to_groups() {
    let scenario =
        fleet(&[2, 1, 4])
            .replicas(11)
            .rule(&["member0"], "replicas", 3)
            .rule(&["member1", "member2"], "replicas", 8);
    assert_eq!(scenario.assign(&plugin()), Ok(vec![3, 3, 5]));
}

#[test]
fn entries_without_counts_form_one_group() {
    let scenario = uncounted(fleet(&[2, 1, 4]), &["member0"], "idcs[0]");
    let scenario = uncounted(scenario, &["member1", "member2"], "idcs[1]");
    assert_eq!(scenario.clone().replicas(11).assign(&plugin()), Ok(vec![3, 3, 5]));
    assert_eq!(scenario.clone().replicas(3).assign(&plugin()), Ok(vec![1, 0, 2]));
    assert_eq!(
        refusal(&scenario.rule(&["member0"], "replicas", 3)),
        "idcs[0]: `replicas` is missing, but other entries have it"
    );
}

#[test]
fn without_a_preference_all_clusters_have_equal_weight() {
    let (counts, said) = fleet(&[0; 3]).replicas(6).assign_explained(&plugin()).expect("it fits");
    assert_eq!(counts, [2; 3]);
    assert_eq!(said.explanations[0].1, "weight 1 of 3: 2.0 → 2");
}

#[test]
fn contradictions_name_the_entry() {
    let scenario = fleet(&[0; 3]).replicas(4);
    assert_eq!(
        refusal(
            &scenario
                .clone()
                .rule(&["member1"], "replicas", 2)
                .rule(&["member0", "member1"], "replicas", 2)
        ),
        "rules[1]: cluster `member1` is already in the group of rules[0]"
    );
    assert_eq!(
        refusal(&scenario.clone().rule(&["elsewhere"], "replicas", 4)),
        "rules[0]: no cluster is named `elsewhere`"
    );
    assert_eq!(
        refusal(&scenario.clone().rule(&["elsewhere", "nowhere"], "replicas", 4)),
        "rules[0]: no cluster is named `elsewhere` or `nowhere`"
    );
    let excluded = |target: &mut AffinityBuilder| _ = target.cluster_names(["member1"]).exclude(["member1"]);
    assert_eq!(
        refusal(
            &scenario
                .clone()
                .rule_for("rules", "rules[0]", &[("replicas", 4)], excluded)
        ),
        "rules[0]: matches no cluster"
    );
    assert_eq!(
        refusal(&scenario.rule(&["member1"], "replicas", -4)),
        "rules[0]: expected 0 replicas or more, got -4"
    );
}

#[test]
fn counts_that_cannot_be_satisfied_are_unschedulable() {
    let scenario = fleet(&[0; 3]).replicas(4);
    let huge = scenario
        .clone()
        .rule(&["member0"], "replicas", i64::MAX)
        .rule(&["member1"], "replicas", i64::MAX);
    assert_eq!(
        unschedulable(huge.assign(&plugin())),
        "the specified counts sum to 18446744073709551614, but the binding has 4 replicas"
    );
    let without_candidate = scenario.rule(&["member0"], "replicas", 4);
    assert_eq!(
        unschedulable(without_candidate.assign_in_tier(&plugin(), &[1, 2], (0, 1))),
        "rules[0] gives 4 replicas, and none of its clusters is a candidate"
    );
}

#[test]
fn explanations_name_group_change_and_rule() {
    let scenario = fleet(&[2, 1, 4])
        .replicas(8)
        .rule(&["member1", "member2"], "replicas", 8);
    let (_, said) = scenario.assign_explained(&plugin()).expect("it fits");
    let mut explanations = said.explanations;
    explanations.sort();
    let texts: Vec<&str> = explanations.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "not in any group",
            "rules[0] gives 8 over 2 clusters; last 1, change +2, with one of the remainder (fewest last replicas)",
            "rules[0] gives 8 over 2 clusters; last 4, change +1, none of the remainder (fewest last replicas)",
        ]
    );
}

proptest! {
    #[test]
    fn promises_hold(rows in prop::collection::vec((0..9_i64, 0..3_usize), 1..9), counts: [u8; 2]) {
        let last: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let names: Vec<String> = (0..rows.len()).map(|number| format!("member{number}")).collect();
        let mut scenario = fleet(&last);
        let mut replicas = 0;
        for (group, &count) in counts.iter().enumerate() {
            let members = rows.iter().zip(&names).filter(|(row, _)| row.1 == group);
            let members: Vec<&str> = members.map(|(_, name)| name.as_str()).collect();
            if !members.is_empty() {
                scenario = scenario.rule(&members, "replicas", count.into());
                replicas += i64::from(count);
            }
        }
        prop_assert_eq!(scenario.replicas(replicas).check_promises(&plugin()), Ok(()));
    }
}
