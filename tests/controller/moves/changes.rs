//! A target that changes while a move is under way, over members that are seconds late, in virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::simulation::Simulation;
use super::{binding, clusters, mark, ready_cluster, weighted};

const PROFILE: &str =
    "[profile.moves]\npace = 'surge'\nmax-surge = 3\nfederated-hpa = false\n[profile.moves.budgets]\nbindings = 1\n";
const REPLICAS: i64 = 12;
/// Seconds from a result to the work that a member applies, from there to ready pods, and from any state to its report.
const WORK: usize = 2;
const START: i64 = 6;
const REPORT: usize = 2;

/// What a member runs of a binding.
#[derive(Debug, Clone, Default)]
struct Running {
    /// The replicas that were asked for in the last seconds, the oldest first.
    asked: Vec<i64>,
    given: i64,
    /// The ready replicas, and the seconds at which the others are.
    ready: i64,
    starting: Vec<i64>,
    /// The states of the last seconds, the oldest first.
    states: Vec<(i64, i64)>,
}

impl Running {
    fn pass(&mut self, asked: i64, second: i64) {
        self.asked.push(asked);
        if self.asked.len() > WORK {
            let given = self.asked.remove(0);
            let removed = self.given - given;
            for _ in 0..removed {
                // A Deployment removes pods that are not ready before others.
                if self.starting.pop().is_none() {
                    self.ready -= 1;
                }
            }
            self.starting.extend((removed..0).map(|_| second + START));
            self.given = given;
        }
        let before = self.starting.len();
        self.starting.retain(|at| *at > second);
        self.ready += i64::try_from(before - self.starting.len()).expect("a count of pods");
        self.states.push((self.given, self.ready));
        if self.states.len() > REPORT {
            self.states.remove(0);
        }
    }

    fn report(&self, cluster: &str) -> Option<Value> {
        let (replicas, ready) = *self.states.first()?;
        let health = if replicas == ready { "Healthy" } else { "Unhealthy" };
        let status = json!({"replicas": replicas, "readyReplicas": ready, "updatedReplicas": replicas});
        let entry = json!({"clusterName": cluster, "applied": true, "health": health, "status": status});
        (replicas > 0).then_some(entry)
    }
}

/// A scheduler, and members that follow its results.
struct Scene {
    simulation: Simulation,
    members: BTreeMap<(&'static str, &'static str), Running>,
    second: i64,
}

impl Scene {
    fn new() -> Self {
        let mut simulation = Simulation::with_profile(PROFILE, &["a", "b", "c"].map(ready_cluster));
        for name in ["web", "next"] {
            simulation.create(name, binding(REPLICAS, &[("a", 1), ("b", 1), ("c", 1)]));
        }
        let mut scene = Self {
            simulation,
            members: BTreeMap::new(),
            second: 0,
        };
        for _ in 0..100 {
            scene.pass();
        }
        assert_eq!(scene.ready("web"), REPLICAS);
        scene.second = 0;
        scene
    }

    fn pass(&mut self) {
        self.second += 1;
        self.simulation.pass(Duration::from_secs(1));
        for name in ["web", "next"] {
            let result = self.simulation.result(name);
            let mut entries = Vec::new();
            for cluster in ["a", "b", "c"] {
                let running = self.members.entry((name, cluster)).or_default();
                running.pass(result.get(cluster).copied().unwrap_or(0), self.second);
                entries.extend(running.report(cluster));
            }
            if self.simulation.binding(name)["status"]["aggregatedStatus"] != json!(entries) {
                self.simulation
                    .patch(name, &json!({"status": {"aggregatedStatus": entries}}));
            }
        }
    }

    fn ready(&self, name: &str) -> i64 {
        let of_binding = self.members.iter().filter(|((binding, _), _)| *binding == name);
        of_binding.map(|(_, running)| running.ready).sum()
    }

    fn place(&mut self, name: &str, weights: &[(&str, i64)]) {
        self.simulation
            .patch(name, &json!({"spec": {"placement": weighted(weights)}}));
    }
}

#[test]
fn a_target_that_changes_back_in_the_middle_of_a_move_leaves_nothing_idle_for_a_minute() {
    let mut scene = Scene::new();
    // In the middle of its move, `web` is to go back. Then `next` waits for its turn.
    let targets: [&[(&str, i64)]; 3] = [
        &[("a", 1), ("b", 3), ("c", 2)],
        &[("a", 1), ("b", 8), ("c", 3)],
        &[("a", 1), ("b", 1), ("c", 1)],
    ];
    let (mut surplus, mut arrived, mut began) = (0, None, None);
    for second in 0..180 {
        if second % 8 == 0
            && let Some(weights) = targets.get(usize::try_from(second / 8).expect("an index"))
        {
            scene.place("web", weights);
        }
        if second == 17 {
            scene.place("next", &[("a", 1), ("b", 2), ("c", 3)]);
        }
        scene.pass();
        let ready = scene.ready("web");
        assert!(ready >= REPLICAS, "{ready} of {REPLICAS} are ready after {second} s");
        surplus += i64::from(ready > REPLICAS);
        let is_there = scene.simulation.result("web") == clusters(&[("a", 4), ("b", 4), ("c", 4)]);
        if second >= 16 && is_there {
            arrived.get_or_insert(second);
        }
        if scene.simulation.result("next") != clusters(&[("a", 4), ("b", 4), ("c", 4)]) {
            began.get_or_insert(second);
        }
    }
    let said =
        format!("{surplus} s with more than {REPLICAS}, there after {arrived:?}, the next began after {began:?}");
    eprintln!("{said}");
    assert!(arrived.is_some_and(|second| second < 60), "{said}");
    assert!(began.is_some_and(|second| second < 60), "{said}");
    assert!(surplus < 45, "{said}");
    assert_eq!(mark(&scene.simulation), None);
}

/// What `examples/deploy/README.md` says of settling: with `[profile.moves]` removed, another scheduler may take over at once.
#[test]
fn moves_whose_target_has_changed_back_are_settled_within_seconds() {
    let mut scene = Scene::new();
    scene.place("web", &[("a", 1), ("b", 3), ("c", 2)]);
    for _ in 0..12 {
        scene.pass();
    }
    scene.place("web", &[("a", 1), ("b", 1), ("c", 1)]);
    let sum = |scene: &Scene| scene.simulation.result("web").values().sum::<i64>();
    while sum(&scene) <= REPLICAS {
        scene.pass();
        assert!(scene.second < 40, "{:?}", scene.simulation.result("web"));
    }
    assert_eq!(scene.simulation.exchange("").refusal, None);
    let mut seconds = 0;
    while sum(&scene) > REPLICAS {
        scene.pass();
        assert!(scene.ready("web") >= REPLICAS);
        seconds += 1;
        assert!(seconds < 30, "{:?}", scene.simulation.result("web"));
    }
    scene.simulation.publish();
    assert_eq!(
        scene.simulation.scraped("divvy_unsettled_moves"),
        ["divvy_unsettled_moves 0"]
    );
}
