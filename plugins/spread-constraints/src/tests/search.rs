//! A literal implementation of Karmada's walk over groups, compared with the search.

use std::cmp::Reverse;

use proptest::prelude::*;

use crate::group_search::{Bounds, Group, GroupSearch, TooManyChoices};

/// Records every path and returns Karmada's choice among them. Groups are name, clusters and weight; the result is
/// names.
pub(super) fn chosen_by_walking(
    groups: &[(String, usize, i64)],
    minimum: usize,
    maximum: usize,
    clusters: usize,
) -> Option<Vec<String>> {
    type Named = (String, usize, i64);
    struct Walk<'a> {
        groups: &'a [Named],
        bounds: Bounds,
        path: Vec<Named>,
        recorded: Vec<Vec<Named>>,
    }
    impl Walk<'_> {
        fn walk(&mut self, from: usize) {
            let sum: usize = self.path.iter().map(|group| group.1).sum();
            let (length, bounds) = (self.path.len(), self.bounds);
            if sum >= bounds.clusters && (bounds.minimum..=bounds.maximum).contains(&length) {
                self.recorded.push(self.path.clone());
                return;
            }
            if length >= bounds.maximum {
                return;
            }
            for index in from..self.groups.len() {
                self.path.push(self.groups[index].clone());
                self.walk(index + 1);
                self.path.pop();
            }
        }
    }
    let mut sorted = groups.to_vec();
    sorted.sort_by_key(|(name, clusters, weight)| (*clusters, Reverse(*weight), name.clone()));
    let bounds = Bounds {
        minimum,
        maximum,
        clusters,
    };
    let mut walk = Walk {
        groups: &sorted,
        bounds,
        path: Vec::new(),
        recorded: Vec::new(),
    };
    walk.walk(0);
    let mut paths = walk.recorded;
    for path in &mut paths {
        path.sort_by_key(|(name, _, weight)| (Reverse(*weight), name.clone()));
    }
    // The sort is stable, so equal paths stay in the order in which they were found.
    paths.sort_by_key(|path| {
        let weight: i64 = path.iter().map(|group| group.2).sum();
        let clusters: usize = path.iter().map(|group| group.1).sum();
        (Reverse(weight), Reverse(clusters))
    });
    let mut best = paths.first()?;
    for path in &paths {
        if path.len() < best.len() && best.starts_with(path) {
            best = path;
        }
    }
    // The empty path is not a choice.
    (!best.is_empty()).then(|| best.iter().map(|group| group.0.clone()).collect())
}

/// The names that the search chooses.
fn chosen(groups: &[(String, usize, i64)], bounds: Bounds) -> Result<Option<Vec<String>>, TooManyChoices> {
    let mut sorted = groups.to_vec();
    sorted.sort_by_key(|(name, clusters, weight)| (*clusters, Reverse(*weight), name.clone()));
    let seen: Vec<Group> = sorted
        .iter()
        .map(|&(_, clusters, weight)| Group {
            clusters,
            weight: i128::from(weight),
        })
        .collect();
    let mut search = GroupSearch::default();
    let found = search.choose(&seen, bounds, |left, right| sorted[left].0.cmp(&sorted[right].0))?;
    Ok(found.map(|indices| indices.iter().map(|&index| sorted[index].0.clone()).collect()))
}

fn named(groups: &[(usize, i64)]) -> Vec<(String, usize, i64)> {
    groups
        .iter()
        .enumerate()
        .map(|(index, &(clusters, weight))| (format!("g{}", index * 5 % 17), clusters, weight))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn the_search_chooses_what_the_walk_chooses(
        groups in prop::collection::vec((1..5_usize, 0..4_i64), 0..11),
        minimum in 0..6_usize,
        more in 0..8_usize,
        clusters in 0..20_usize,
    ) {
        let groups = named(&groups);
        let bounds = Bounds { minimum, maximum: minimum + more, clusters };
        prop_assert_eq!(
            chosen(&groups, bounds),
            Ok(chosen_by_walking(&groups, bounds.minimum, bounds.maximum, bounds.clusters))
        );
    }
}

#[test]
fn a_choice_is_shortened_to_its_shortest_recorded_prefix() {
    // All three groups together have the largest weight, but the heaviest group alone is enough.
    let groups = named(&[(1, 5), (1, 4), (9, 20)]);
    let bounds = Bounds {
        minimum: 1,
        maximum: 3,
        clusters: 3,
    };
    assert_eq!(chosen(&groups, bounds), Ok(Some(vec!["g10".to_owned()])));
}

#[test]
fn a_hundred_groups_in_any_number_are_quick() {
    let groups: Vec<(usize, i64)> = (0..100)
        .map(|index| (1 + index % 13, (index * 37 % 11) as i64))
        .collect();
    let bounds = Bounds {
        minimum: 2,
        maximum: 60,
        clusters: 300,
    };
    let choice = chosen(&named_uniquely(&groups), bounds).expect("it is within the limit");
    assert!(choice.is_some_and(|choice| (2..=60).contains(&choice.len())));
}

#[test]
fn beyond_the_work_limit_the_search_returns_an_error() {
    let groups: Vec<(usize, i64)> = (0..5_000).map(|index| (1, index)).collect();
    let bounds = Bounds {
        minimum: 2,
        maximum: 4_000,
        clusters: 3_000,
    };
    assert_eq!(chosen(&named_uniquely(&groups), bounds), Err(TooManyChoices));
}

fn named_uniquely(groups: &[(usize, i64)]) -> Vec<(String, usize, i64)> {
    groups
        .iter()
        .enumerate()
        .map(|(index, &(clusters, weight))| (format!("g{index}"), clusters, weight))
        .collect()
}
