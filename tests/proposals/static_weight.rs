//! `static-weight-evenly.md`: the five user stories. Over many bindings, a first step must produce exactly the results
//! that its rule allows; a later step starts from the printed first result and must produce exactly the printed
//! alternatives.

use std::collections::BTreeSet;

use crate::manifests::{binding, cluster, rules};
use crate::renamed_strategies::{self, Names};

/// The proposal's clusters.
const MEMBERS: [&str; 4] = ["member1", "member2", "member3", "member4"];

/// Number of bindings, large enough not to miss a result with a probability of 1 in 6.
const UIDS: u32 = 300;

/// One step of a story: weights of the first clusters, replicas, the last result, and all allowed results.
struct Step<'a> {
    weights: &'a [i64],
    replicas: i64,
    last: &'a [i64],
    allowed: &'a [&'a [i64]],
}

#[track_caller]
fn check(steps: &[Step<'_>]) {
    for (step, served) in steps
        .iter()
        .flat_map(|step| renamed_strategies::static_weight().map(|served| (step, served)))
    {
        let Names { strategy, list, .. } = served.names;
        let members = &MEMBERS[..step.weights.len()];
        let weight_of = members.iter().copied().zip(step.weights.iter().copied());
        let last = MEMBERS.iter().copied().zip(step.last.iter().copied());
        let mut objects: Vec<_> = members.iter().map(|name| cluster(name, 100).into()).collect();
        objects.push(
            binding("web", step.replicas)
                .strategy(strategy)
                .preferences(&rules(list, "weight", weight_of))
                .last(last)
                .into(),
        );
        let results = served.host.results_by_uid(objects, members, UIDS);
        let found: BTreeSet<&[i64]> = results.keys().map(Vec::as_slice).collect();
        let allowed: BTreeSet<&[i64]> = step.allowed.iter().copied().collect();
        assert_eq!(
            found, allowed,
            "{strategy}: {} replicas from {:?}",
            step.replicas, step.last
        );
    }
}

#[test]
fn story_1_expanded_replicas() {
    check(&[
        Step {
            weights: &[2, 1, 1, 1],
            replicas: 7,
            last: &[],
            allowed: &[&[3, 2, 1, 1], &[3, 1, 2, 1], &[3, 1, 1, 2]],
        },
        Step {
            weights: &[2, 1, 1, 1],
            replicas: 8,
            last: &[3, 2, 1, 1],
            allowed: &[&[4, 2, 1, 1]],
        },
    ]);
}

#[test]
fn story_2_reduced_replicas() {
    check(&[
        Step {
            weights: &[2, 1, 1, 1],
            replicas: 9,
            last: &[],
            allowed: &[&[4, 2, 2, 1], &[4, 2, 1, 2], &[4, 1, 2, 2]],
        },
        Step {
            weights: &[2, 1, 1, 1],
            replicas: 8,
            last: &[4, 2, 2, 1],
            allowed: &[&[4, 2, 1, 1], &[4, 1, 2, 1]],
        },
    ]);
}

#[test]
fn story_3_modified_weights() {
    check(&[
        Step {
            weights: &[1, 1, 1, 1],
            replicas: 6,
            last: &[],
            allowed: &[
                &[2, 2, 1, 1],
                &[2, 1, 2, 1],
                &[2, 1, 1, 2],
                &[1, 2, 2, 1],
                &[1, 2, 1, 2],
                &[1, 1, 2, 2],
            ],
        },
        Step {
            weights: &[2, 1, 1, 1],
            replicas: 6,
            last: &[2, 1, 2, 1],
            allowed: &[&[3, 1, 1, 1]],
        },
        Step {
            weights: &[2, 1, 1, 1],
            replicas: 7,
            last: &[2, 1, 2, 1],
            allowed: &[&[3, 1, 2, 1]],
        },
    ]);
}

#[test]
fn story_4_expanded_clusters() {
    check(&[
        Step {
            weights: &[1, 1, 1],
            replicas: 5,
            last: &[],
            allowed: &[&[2, 2, 1], &[2, 1, 2], &[1, 2, 2]],
        },
        Step {
            weights: &[1, 1, 1, 1],
            replicas: 5,
            last: &[2, 1, 2],
            allowed: &[&[1, 1, 2, 1], &[2, 1, 1, 1]],
        },
    ]);
}

#[test]
fn story_5_reduced_clusters() {
    check(&[
        Step {
            weights: &[1, 1, 1, 1],
            replicas: 5,
            last: &[],
            allowed: &[&[2, 1, 1, 1], &[1, 2, 1, 1], &[1, 1, 2, 1], &[1, 1, 1, 2]],
        },
        Step {
            weights: &[1, 1, 1],
            replicas: 5,
            last: &[2, 1, 1, 1],
            allowed: &[&[2, 2, 1], &[2, 1, 2]],
        },
    ]);
}
