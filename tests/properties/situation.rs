//! Random situations: a fleet, a binding with its last result, and preferences for the strategy under test.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use divvy_framework_abi::descriptor::feature;
use divvy_scheduler::decision::{Decision, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::manifests::{Binding, binding, cluster, list, priorities, weights};
use crate::scheduling::{Host, scheduled};

/// A strategy of the built-in profile that divides replicas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dividing {
    pub(super) name: &'static str,
    /// It promises to stay within capacity: what fits now plus last replicas.
    pub(super) respects_capacity: bool,
    /// It promises that scheduling again changes nothing.
    pub(super) is_inert: bool,
}

/// All strategies of the built-in profile that divide replicas.
pub(super) fn dividing() -> impl Iterator<Item = Dividing> {
    static DIVIDING: LazyLock<Vec<Dividing>> = LazyLock::new(|| {
        let strategies = Host::built_in().profile().strategies();
        let dividing = strategies.filter(|strategy| !strategy.duplicates());
        dividing
            .map(|strategy| Dividing {
                name: strategy.name(),
                respects_capacity: strategy.respects_capacity(),
                is_inert: strategy.plugin().library().features_of(strategy.name()) & feature::INERT != 0,
            })
            .collect()
    });
    DIVIDING.iter().copied()
}

/// Cluster names, not in alphabetical order.
const NAMES: [&str; 8] = ["kiwi", "apple", "fig", "plum", "date", "lime", "pear", "berry"];

/// A cluster of a situation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) name: &'static str,
    pub(super) fits_now: i64,
    /// Last replicas; `None` if the last result does not list the cluster.
    pub(super) last: Option<i64>,
    /// Weight for StaticWeight, priority (above 0) for PriorityAggregated, group for Specified, RegionShares and Tree.
    pub(super) preference: i64,
}

impl Place {
    pub(super) fn last(&self) -> i64 {
        self.last.unwrap_or(0)
    }

    pub(super) fn capacity(&self) -> i64 {
        self.fits_now + self.last()
    }
}

/// Clusters and the request for a division.
#[derive(Debug, Clone)]
pub(super) struct Situation {
    pub(super) places: Vec<Place>,
    pub(super) replicas: i64,
    pub(super) fresh: bool,
    pub(super) has_preferences: bool,
    pub(super) uid: u32,
}

/// Situations with one to eight clusters, and counts in the tens or in the hundreds of millions.
pub(super) fn situations() -> impl Strategy<Value = Situation> {
    let place = (0..=20_i64, proptest::option::of(0..=20_i64), 0..=3_i64);
    let places = proptest::collection::vec(place, 1..=NAMES.len());
    let scale = prop_oneof![3 => Just(1_i64), 1 => Just(9_999_991_i64)];
    (places, 1..=120_i64, scale, any::<bool>(), any::<bool>(), any::<u32>()).prop_map(
        |(places, replicas, scale, fresh, has_preferences, uid)| Situation {
            places: places
                .into_iter()
                .zip(NAMES)
                .map(|((fits_now, last, preference), name)| Place {
                    name,
                    fits_now: fits_now * scale,
                    last: last.map(|last| last * scale),
                    preference,
                })
                .collect(),
            // Not a multiple of the scale, so that there is something to round.
            replicas: if scale == 1 { replicas } else { replicas * scale + 1 },
            fresh,
            has_preferences,
            uid,
        },
    )
}

impl Situation {
    pub(super) fn capacity(&self) -> i64 {
        self.places.iter().map(Place::capacity).sum()
    }

    pub(super) fn last(&self) -> i64 {
        self.places.iter().map(Place::last).sum()
    }

    /// The total of each group, for Specified: the replicas distributed over the groups with members.
    pub(super) fn group_totals(&self) -> BTreeMap<i64, i64> {
        let mut totals: BTreeMap<i64, i64> = self.places.iter().map(|place| (place.preference, 0)).collect();
        let groups = totals.len() as i64;
        let mut left = self.replicas;
        for (number, total) in (0..).zip(totals.values_mut()) {
            // Uneven on purpose; the last group takes what is left.
            *total = if number + 1 == groups { left } else { left / 3 };
            left -= *total;
        }
        totals
    }

    /// Preferences of the policy for a strategy; none for one that is not named here.
    fn preferences(&self, strategy: &str) -> Option<Value> {
        let pairs = || self.places.iter().map(|place| (place.name, place.preference));
        match strategy {
            _ if !self.has_preferences => None,
            // A cluster without an entry has no weight; an explicit weight of 0 is an error.
            "StaticWeight" => Some(weights(pairs().filter(|(_, weight)| *weight > 0))),
            "PriorityAggregated" => Some(priorities(pairs().filter(|(_, priority)| *priority > 0))),
            "Specified" => {
                let totals = self.group_totals();
                let groups = totals
                    .iter()
                    .map(|(group, total)| json!({ "targetCluster": self.members(*group), "replicas": total }));
                Some(json!({ "staticSpecifyList": groups.collect::<Vec<Value>>() }))
            }
            "RegionShares" => {
                let numbers: BTreeSet<i64> = self.places.iter().map(|place| place.preference).collect();
                // A group that has all clusters gets all replicas.
                let most = if numbers.len() == 1 { 100 } else { 70 };
                let groups = numbers.iter().map(
                    |group| json!({ "targetCluster": self.members(*group), "minPercent": 10, "maxPercent": most }),
                );
                Some(json!({ "regionShareList": groups.collect::<Vec<Value>>() }))
            }
            "Tree" => {
                // Groups by weight and with bounds; one without weight takes the rest.
                let numbers: BTreeSet<i64> = self.places.iter().map(|place| place.preference).collect();
                let group = |group: &i64| match group {
                    0 => json!({ "match": "*", "divide": "fewest" }),
                    group => {
                        let rule = ["evenly", "byRoom", "fewest"][*group as usize - 1];
                        json!({ "match": self.members(*group), "weight": group, "max": "70%", "divide": rule })
                    }
                };
                Some(json!({ "children": numbers.iter().map(group).collect::<Vec<Value>>() }))
            }
            _ => None,
        }
    }

    /// The clusters of a group, as a cluster affinity.
    fn members(&self, group: i64) -> Value {
        let members = self.places.iter().filter(|place| place.preference == group);
        json!({ "clusterNames": members.map(|place| place.name).collect::<Vec<&str>>() })
    }

    fn binding(&self, strategy: &str) -> Binding {
        let last = self
            .places
            .iter()
            .filter_map(|place| place.last.map(|last| (place.name, last)));
        let asked = binding(&format!("web-{}", self.uid), self.replicas)
            .strategy(strategy)
            .last(last);
        let asked = if self.fresh { asked.fresh() } else { asked };
        match self.preferences(strategy) {
            Some(preferences) => asked.preferences(&preferences),
            None => asked,
        }
    }

    /// The manifests of the situation.
    pub(super) fn objects(&self, strategy: &str) -> Vec<Value> {
        let clusters = self
            .places
            .iter()
            .map(|place| cluster(place.name, place.fits_now).into());
        clusters.chain([self.binding(strategy).into()]).collect()
    }

    /// The decision of a strategy.
    pub(super) fn decide(&self, strategy: &str) -> Decision {
        decide(self.objects(strategy))
    }

    /// The counts that a strategy returns, in the order of the situation's clusters; `None` if it is unschedulable.
    pub(super) fn divide(&self, strategy: &str) -> Option<Vec<i64>> {
        let decision = self.decide(strategy);
        match &decision.outcome {
            Outcome::Scheduled(_) => {
                let targets = scheduled(&decision);
                let counts = self
                    .places
                    .iter()
                    .map(|place| targets.get(place.name).copied().unwrap_or(0));
                Some(counts.collect())
            }
            Outcome::Failed(error) => {
                assert_eq!(error.kind(), "Unschedulable", "{strategy}: {error}");
                None
            }
            Outcome::Skipped(reason) => panic!("{strategy}: {reason}"),
        }
    }

    /// The situation after a division: added replicas take room, and removed replicas release it.
    pub(super) fn after(&self, counts: &[i64]) -> Self {
        let mut next = self.clone();
        for (place, &count) in next.places.iter_mut().zip(counts) {
            place.fits_now = (place.capacity() - count).max(0);
            place.last = (count > 0).then_some(count);
        }
        next
    }
}

/// The decision on the only binding among these objects.
pub(super) fn decide(objects: Vec<Value>) -> Decision {
    let mut decisions = Host::built_in().decide_text(&list(objects));
    assert_eq!(decisions.len(), 1);
    decisions.remove(0)
}
