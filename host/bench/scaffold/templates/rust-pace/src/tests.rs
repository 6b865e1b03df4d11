//! Tests of the plugin as ordinary Rust: no library is loaded, and no scheduler runs.

use divvy_framework::testing::{Move, MovingCluster, Step, json};

use super::*;

type Tested = PluginName;

fn plugin(replicas: u32) -> Tested {
    Tested { replicas }
}

/// Four replicas that move from `old` to `new`.
fn moving() -> Move {
    Move::new(4)
        .max_surge(3)
        .cluster(MovingCluster::new("new").target(4))
        .cluster(MovingCluster::new("old").running(4))
}

#[test]
fn each_step_adds_a_few_replicas() {
    let steps = moving().steps(&plugin(2)).unwrap();
    let expected = [[2, 4], [4, 2], [4, 0]];
    assert_eq!(steps, expected.map(|next| Step::Next(next.to_vec())));
}

#[test]
fn it_waits_until_the_new_replicas_are_ready() {
    let unready = MovingCluster::new("new").current(2).present(2).target(4);
    let step = moving().cluster(unready).step_checked(&plugin(2)).unwrap();
    assert_eq!(step, Step::Waits(Wait::Readiness));
}

#[test]
fn settings_are_checked_when_the_profile_is_loaded() {
    let error = Tested::read(&json!({ "replica": 2 })).err().unwrap();
    assert_eq!(error.hint().unwrap(), "did you mean `replicas`?");
    let error = Tested::new(plugin(0)).err().unwrap();
    assert_eq!(error.to_string(), "`replicas` is 0: expected at least 1");
}
