//! The worked example of a pace: the steps of an undisturbed move.
//!
//! ```toml
//! total = 10
//! max-surge = 3
//! steps = ["member1=10 member2=3", "member2=10"]
//!
//! [clusters]
//! member1 = { current = 10 }
//! member2 = { target = 10, room = 9 }
//! ```
//!
//! `max-surge` and `max-unavailable` are 0 if absent, and room is unlimited. All replicas are ready before each step.

use std::collections::BTreeMap;

use divvy_scheduler::cycle::MovingCluster;
use serde::Deserialize;

use super::example::worked_example;
use crate::moves::{Walk, member};
use crate::scheduling::Host;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Example {
    total: i64,
    #[serde(default)]
    max_surge: i64,
    #[serde(default)]
    max_unavailable: i64,
    clusters: BTreeMap<String, Cluster>,
    steps: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cluster {
    #[serde(default)]
    current: i64,
    #[serde(default)]
    target: i64,
    room: Option<i64>,
}

/// Checks the steps in the README of a bundled pace.
#[track_caller]
pub(super) fn check_worked_example(folder: &str) {
    let example: Example = worked_example(folder);
    let members = example.clusters.iter().map(|(name, cluster)| {
        let member = MovingCluster {
            room: cluster.room.unwrap_or(i64::MAX),
            ..member(cluster.current, cluster.target)
        };
        (name.as_str(), member)
    });
    let walk = Walk {
        max_surge: example.max_surge,
        max_unavailable: example.max_unavailable,
        ..Walk::new(example.total, members)
    };
    let host = Host::extending(&format!("[profile.moves]\npace = '{folder}'\n"));
    assert_eq!(walk.steps(&host), example.steps, "plugins/{folder}/README.md");
}
