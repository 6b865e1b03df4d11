//! The replicas that a division keeps from the last result, as defined by the rules of each strategy.

use proptest::prelude::*;

use super::configuration;
use super::situation::{Situation, dividing, situations};

/// Strategies that keep existing replicas when the total grows, and only remove replicas when it shrinks.
const STEADY: [&str; 3] = ["DynamicWeight", "Aggregated", "PriorityAggregated"];

/// Situations of a steady cycle, without a requested reschedule.
fn steady() -> impl Strategy<Value = Situation> {
    situations().prop_map(|situation| Situation {
        fresh: false,
        ..situation
    })
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn scheduling_again_changes_nothing(situation in steady()) {
        for strategy in dividing().filter(|dividing| dividing.is_inert).map(|dividing| dividing.name) {
            let Some(counts) = situation.divide(strategy) else { continue };
            let again = situation.after(&counts).divide(strategy);
            prop_assert_eq!(again, Some(counts), "{}", strategy);
        }
    }

    #[test]
    fn growth_adds_and_shrinkage_takes_away(situation in steady()) {
        for strategy in STEADY {
            let Some(counts) = situation.divide(strategy) else { continue };
            let grows = situation.replicas - situation.last();
            for (place, &count) in situation.places.iter().zip(&counts) {
                let change = count - place.last();
                prop_assert!(change.signum() * grows.signum() >= 0, "{strategy}: {counts:?}");
                // Extra replicas are limited to what fits now.
                prop_assert!(change <= place.fits_now, "{strategy}: {counts:?}");
                if grows == 0 {
                    prop_assert_eq!(change, 0, "{}: {:?}", strategy, counts);
                }
            }
        }
    }

    #[test]
    fn specified_spreads_the_change_of_each_group_evenly(situation in steady()) {
        let counts = situation.divide("Specified").expect("it ignores capacity");
        // Without preferences its rule is StaticWeight's.
        prop_assume!(situation.has_preferences);
        for (group, total) in situation.group_totals() {
            let members = || situation.places.iter().zip(&counts).filter(|(place, _)| place.preference == group);
            prop_assert_eq!(members().map(|(_, count)| count).sum::<i64>(), total, "{:?}", counts);
            let change = total - members().map(|(place, _)| place.last()).sum::<i64>();
            let changes = || members().map(|(place, count)| (place.last(), count - place.last()));
            prop_assert!(changes().all(|(_, part)| part.signum() * change.signum() >= 0), "{counts:?}");
            if change >= 0 {
                let most = changes().map(|(_, part)| part).max();
                let least = changes().map(|(_, part)| part).min();
                prop_assert!(most.unwrap_or(0) - least.unwrap_or(0) <= 1, "{counts:?}");
                // The remainder goes to the clusters with the fewest last replicas.
                for (last, part) in changes() {
                    let unfair = changes().any(|(other, given)| other > last && given > part);
                    prop_assert!(!unfair, "{counts:?}");
                }
            } else {
                // A cluster that reaches zero stops; the changes of the others differ by at most one.
                let most = changes().map(|(_, part)| -part).max().unwrap_or(0);
                for (last, part) in changes().filter(|(last, part)| last + part > 0) {
                    prop_assert!(-part >= most - 1, "{last} gave {part}: {counts:?}");
                }
            }
        }
    }

    #[test]
    fn priority_aggregated_grows_from_the_best_tier_and_shrinks_from_the_worst(situation in steady()) {
        prop_assume!(situation.has_preferences);
        if let Some(counts) = situation.divide("PriorityAggregated") {
            let places = || situation.places.iter().zip(&counts);
            for (better, got) in places() {
                for (worse, given) in places().filter(|(worse, _)| worse.preference < better.preference) {
                    // A worse cluster grows only if the better ones are full.
                    let adds = *given > worse.last();
                    prop_assert!(!adds || *got == better.capacity(), "{counts:?}");
                    // A better cluster shrinks only if the worse ones are empty.
                    let takes = *got < better.last();
                    prop_assert!(!takes || *given == 0, "{counts:?}");
                }
            }
        }
    }

    /// Replicas on a cluster that is no longer a candidate count as growth.
    #[test]
    fn replicas_of_lost_clusters_are_divided_again(situation in steady(), lost in 1..=30_i64) {
        for strategy in STEADY {
            let Some(expected) = situation.divide(strategy) else { continue };
            let mut objects = situation.objects(strategy);
            let binding = objects.last_mut().expect("the binding is the last");
            let targets = binding["spec"]["clusters"].as_array_mut().expect("a list");
            targets.push(serde_json::json!({ "name": "gone", "replicas": lost }));
            let decision = super::situation::decide(objects);
            let found = crate::scheduling::scheduled(&decision);
            let counts: Vec<i64> = situation.places.iter().map(|place| found.get(place.name).copied().unwrap_or(0)).collect();
            prop_assert_eq!(counts, expected, "{}", strategy);
        }
    }
}
