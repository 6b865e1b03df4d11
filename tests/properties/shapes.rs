//! The purpose of each strategy.

use proptest::prelude::*;

use super::configuration;
use super::situation::{Place, Situation, situations};

/// Situations without a last result.
fn first() -> impl Strategy<Value = Situation> {
    situations().prop_map(|mut situation| {
        situation.places.iter_mut().for_each(|place| place.last = None);
        situation
    })
}

/// The minimum number of clusters that hold the replicas.
fn fewest(places: &[Place], replicas: i64) -> usize {
    let mut capacity: Vec<i64> = places.iter().map(Place::capacity).collect();
    capacity.sort_unstable_by_key(|capacity| -capacity);
    let mut held = 0;
    let enough = capacity.iter().position(|capacity| {
        held += capacity;
        held >= replicas
    });
    enough.map_or(places.len(), |last| last + 1)
}

proptest! {
    #![proptest_config(configuration())]

    /// Max-min fairness: no replica can move from a cluster to one that has room and at least two fewer.
    #[test]
    fn average_is_max_min_fair(situation in situations()) {
        if let Some(counts) = situation.divide("Average") {
            for (place, count) in situation.places.iter().zip(&counts) {
                let has_room = *count < place.capacity();
                let richest = counts.iter().max().copied().unwrap_or(0);
                prop_assert!(!has_room || richest - count < 2, "{counts:?}");
            }
        }
    }

    /// Shares are rounded down, and each cluster gets at most one of the remainder, larger weights first.
    #[test]
    fn static_weight_keeps_its_proportions(situation in situations()) {
        let counts = situation.divide("StaticWeight").expect("it ignores capacity");
        let is_weighted = situation.has_preferences && situation.places.iter().any(|place| place.preference > 0);
        let weights: Vec<i128> = situation
            .places
            .iter()
            .map(|place| if is_weighted { place.preference.into() } else { 1 })
            .collect();
        let sum: i128 = weights.iter().sum();
        let parts: Vec<(i128, i64, i128)> = weights
            .iter()
            .zip(&situation.places)
            .zip(&counts)
            .map(|((weight, place), count)| {
                let share = i128::from(situation.replicas) * weight / sum;
                (*weight, place.last(), i128::from(*count) - share)
            })
            .collect();
        for (weight, last, extra) in &parts {
            prop_assert!((0..=1).contains(extra), "{counts:?}");
            prop_assert!(*weight > 0 || *extra == 0, "{counts:?}");
            let passed_over = parts.iter().any(|(other, had, got)| (other, had) < (weight, last) && got > extra);
            prop_assert!(!passed_over, "{counts:?}");
        }
    }

    /// Shares of what fits are rounded down, and each cluster gets at most one more.
    #[test]
    fn dynamic_weight_follows_what_fits(situation in first()) {
        if let Some(counts) = situation.divide("DynamicWeight") {
            let sum: i128 = situation.capacity().into();
            for (place, count) in situation.places.iter().zip(&counts) {
                let share = i128::from(situation.replicas) * i128::from(place.capacity()) / sum;
                prop_assert!((0..=1).contains(&(i128::from(*count) - share)), "{counts:?}");
            }
        }
    }

    #[test]
    fn aggregated_uses_as_few_clusters_as_hold_the_replicas(situation in first()) {
        if let Some(counts) = situation.divide("Aggregated") {
            let used = counts.iter().filter(|count| **count > 0).count();
            prop_assert_eq!(used, fewest(&situation.places, situation.replicas), "{:?}", counts);
        }
    }

    /// The rest gets nothing that the other groups could take within their bounds.
    #[test]
    fn tree_gives_the_rest_only_what_no_other_group_can_take(situation in situations()) {
        let situation = Situation { has_preferences: true, ..situation };
        if let Some(counts) = situation.divide("Tree") {
            let sum_of = |wanted: &dyn Fn(&Place) -> i64, group: i64| -> i64 {
                situation.places.iter().filter(|place| place.preference == group).map(wanted).sum()
            };
            let most = (situation.replicas * 70 + 99) / 100;
            let others: i64 = (1..=3).map(|group| most.min(sum_of(&Place::capacity, group))).sum();
            let pairs = situation.places.iter().zip(&counts);
            let rest: i64 = pairs.filter(|(place, _)| place.preference == 0).map(|(_, count)| count).sum();
            prop_assert_eq!(rest, (situation.replicas - others).max(0), "{:?}", counts);
        }
    }

    /// In a fresh cycle, each tier is full before the next one gets replicas.
    #[test]
    fn priority_aggregated_fills_preferred_clusters_first(situation in situations()) {
        let situation = Situation { fresh: true, has_preferences: true, ..situation };
        if let Some(counts) = situation.divide("PriorityAggregated") {
            let places = || situation.places.iter().zip(&counts);
            for (better, got) in places() {
                let worse_has = places().any(|(worse, count)| worse.preference < better.preference && *count > 0);
                prop_assert!(!worse_has || *got == better.capacity(), "{counts:?}");
            }
        }
    }
}
