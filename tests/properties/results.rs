//! Sums, capacity, and independence of the order of the input.

use proptest::prelude::*;

use super::configuration;
use super::situation::{decide, dividing, situations};
use crate::scheduling::{scheduled, told};

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn counts_are_positive_and_sum_to_the_replicas(situation in situations()) {
        for strategy in dividing().map(|dividing| dividing.name) {
            let Some(counts) = situation.divide(strategy) else { continue };
            prop_assert!(counts.iter().all(|count| *count >= 0), "{strategy}: {counts:?}");
            prop_assert_eq!(counts.iter().sum::<i64>(), situation.replicas, "{}: {:?}", strategy, counts);
        }
    }

    #[test]
    fn duplicated_gives_every_cluster_the_full_count(situation in situations()) {
        let decision = situation.decide("Duplicated");
        let targets = scheduled(&decision);
        prop_assert_eq!(targets.len(), situation.places.len());
        prop_assert!(targets.values().all(|count| *count == situation.replicas), "{targets:?}");
    }

    #[test]
    fn strategies_that_respect_capacity_stay_within_it_and_use_all_of_it(situation in situations()) {
        for strategy in dividing().filter(|dividing| dividing.respects_capacity).map(|dividing| dividing.name) {
            let counts = situation.divide(strategy);
            // Lack of capacity is the only reason for having no result, unless groups have bounds.
            let has_bounds = ["RegionShares", "Tree"].contains(&strategy) && situation.has_preferences;
            if !has_bounds {
                prop_assert_eq!(counts.is_some(), situation.replicas <= situation.capacity(), "{}", strategy);
            }
            for (place, count) in situation.places.iter().zip(counts.unwrap_or_default()) {
                prop_assert!(count <= place.capacity(), "{strategy}: {count} on {place:?}");
            }
        }
    }

    #[test]
    fn strategies_that_ignore_capacity_are_never_unschedulable_for_lack_of_it(situation in situations()) {
        for strategy in dividing().filter(|dividing| !dividing.respects_capacity).map(|dividing| dividing.name) {
            prop_assert!(situation.divide(strategy).is_some(), "{strategy}");
        }
    }

    #[test]
    fn the_order_of_documents_changes_nothing(situation in situations(), order in any::<prop::sample::Index>()) {
        for strategy in dividing().map(|dividing| dividing.name).chain(["Duplicated"]) {
            let mut objects = situation.objects(strategy);
            let expected = told(&decide(objects.clone()));
            let count = objects.len();
            objects.rotate_left(order.index(count));
            prop_assert_eq!(&told(&decide(objects.clone())), &expected, "{}", strategy);
            objects.reverse();
            prop_assert_eq!(&told(&decide(objects)), &expected, "{}", strategy);
        }
    }

    #[test]
    fn a_retry_gives_the_same_answer(situation in situations()) {
        for strategy in dividing().map(|dividing| dividing.name) {
            prop_assert_eq!(situation.divide(strategy), situation.divide(strategy), "{}", strategy);
        }
    }
}
