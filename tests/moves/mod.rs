//! Paces through the real loader, in this process and in a worker: the steps of moves, what the host refuses, and which hosts and plugins
//! know the extension point.

mod versions;

use divvy_scheduler::cycle::{Cycle, CycleError, CycleInput, Moving, MovingCluster, PaceAnswer, Step, Wait};
use divvy_scheduler::plan::{Plan, PlanInput};

use crate::manifests::{binding, cluster, list};
use crate::scheduling::{Host, read};

/// A cluster with replicas that are there and ready, and room for any number.
pub(crate) fn member(current: i64, target: i64) -> MovingCluster<'static> {
    MovingCluster {
        name: "",
        current,
        present: current,
        ready: current,
        target,
        room: i64::MAX,
    }
}

/// A move of the binding `web`.
#[derive(Debug, Clone)]
pub(crate) struct Walk<'a> {
    /// Sorted by name.
    pub(crate) members: Vec<MovingCluster<'a>>,
    pub(crate) total: i64,
    pub(crate) max_surge: i64,
    pub(crate) max_unavailable: i64,
    pub(crate) max_clusters: Option<u32>,
}

impl<'a> Walk<'a> {
    /// A move without allowances.
    pub(crate) fn new(total: i64, members: impl IntoIterator<Item = (&'a str, MovingCluster<'a>)>) -> Self {
        let members = members
            .into_iter()
            .map(|(name, member)| MovingCluster { name, ..member });
        let mut members: Vec<_> = members.collect();
        members.sort_by_key(|member| member.name);
        Self {
            members,
            total,
            max_surge: 0,
            max_unavailable: 0,
            max_clusters: None,
        }
    }

    /// Ten replicas that move from `old` to `new`, with a surge of three.
    fn usual() -> Self {
        Self {
            max_surge: 3,
            ..Self::new(10, [("new", member(0, 10)), ("old", member(10, 0))])
        }
    }

    /// Asks the pace of a host for the next step. Clusters whose names begin with `gone` are not in the fleet.
    pub(crate) fn ask(&self, host: &Host, explain: bool) -> Result<PaceAnswer, CycleError> {
        let last = self.members.iter().filter(|member| member.current > 0);
        let bound = binding("web", self.total).last(last.map(|member| (member.name, member.current)));
        let names = self.members.iter().map(|member| member.name);
        let names = names.filter(|name| !name.starts_with("gone"));
        let objects = names.map(|name| cluster(name, 100).into());
        let (bindings, fleet) = read(&list(objects.chain([bound.into()]).collect::<Vec<_>>()));
        let plan = Plan::under(host.profile(), &PlanInput::new(&bindings[0])).expect("the binding is valid");
        let moving = Moving {
            clusters: &self.members,
            total: self.total,
            max_surge: self.max_surge,
            max_unavailable: self.max_unavailable,
            max_clusters: self.max_clusters,
        };
        let input = CycleInput::new(host.profile(), &fleet, &plan, &plan.groups[0]);
        let pace = host.profile().pace().expect("the profile has a pace");
        Cycle::new().pace(pace, &input, &moving, explain)
    }

    /// The results of an undisturbed move, each as `cluster=replicas …`, with a reason at the end if it waits.
    pub(crate) fn steps(mut self, host: &Host) -> Vec<String> {
        let mut steps = Vec::new();
        while self.members.iter().any(|member| member.current != member.target) {
            match self.ask(host, false).map(|answer| answer.step) {
                Ok(Step::Next(next)) => {
                    for (member, replicas) in self.members.iter_mut().zip(next) {
                        member.room = member.room.saturating_sub(replicas - member.current);
                        (member.current, member.present, member.ready) = (replicas, replicas, replicas);
                    }
                    let with_replicas = self.members.iter().filter(|member| member.current > 0);
                    let parts: Vec<String> = with_replicas
                        .map(|member| format!("{}={}", member.name, member.current))
                        .collect();
                    steps.push(parts.join(" "));
                }
                Ok(Step::Waits(wait)) => {
                    steps.push(format!("waits for {wait}"));
                    break;
                }
                Err(error) => {
                    steps.push(error.to_string());
                    break;
                }
            }
        }
        steps
    }
}

/// A host with a pace, in this process and in a worker.
fn hosts(pace: &str, configuration: &str) -> [Host; 2] {
    ["isolation = 'none'", "isolation = 'process'\ndeadline = '1s'"].map(|isolation| {
        Host::extending(&format!(
            "[profile.moves]\npace = '{pace}'\n[profile.plugin.{pace}]\n{isolation}\n{configuration}"
        ))
    })
}

#[test]
fn bundled_paces_move_in_this_process_and_in_a_worker() {
    for host in hosts("surge", "") {
        let isolated = host.profile().pace().expect("there is one").is_isolated();
        assert_eq!(
            Walk::usual().steps(&host),
            ["new=3 old=10", "new=6 old=7", "new=9 old=4", "new=10 old=1", "new=10"],
            "isolated: {isolated}"
        );
    }
    for host in hosts("swap", "") {
        let swapping = Walk {
            max_unavailable: 5,
            ..Walk::usual()
        };
        assert_eq!(swapping.steps(&host), ["new=5 old=5", "new=10"]);
        let waiting = Walk::usual().steps(&host);
        assert_eq!(waiting, ["waits for an allowance that permits a step"]);
    }
}

#[test]
fn each_column_and_each_limit_reaches_the_plugin() {
    for host in hosts("surge", "") {
        let step = |walk: Walk<'_>| walk.ask(&host, false).map(|answer| answer.step);
        let old = member(10, 0);
        let to = |new: MovingCluster<'static>| Walk {
            max_surge: 3,
            ..Walk::new(10, [("new", new), ("old", old)])
        };
        let target = member(0, 10);
        assert_eq!(
            step(to(MovingCluster { room: 2, ..target })),
            Ok(Step::Next(vec![2, 10]))
        );
        assert_eq!(
            step(to(MovingCluster { room: 0, ..target })),
            Ok(Step::Waits(Wait::Room))
        );
        let unready = MovingCluster {
            ready: 1,
            ..member(3, 10)
        };
        assert_eq!(step(to(unready)), Ok(Step::Next(vec![4, 9])));
        assert_eq!(
            step(to(MovingCluster { ready: 0, ..unready })),
            Ok(Step::Waits(Wait::Readiness))
        );
        let limited = Walk {
            max_clusters: Some(1),
            ..to(target)
        };
        assert_eq!(step(limited), Ok(Step::Waits(Wait::Clusters)));
        let gone = MovingCluster {
            ready: 0,
            ..member(6, 0)
        };
        let lost = Walk::new(10, [("gone", gone), ("new", target), ("old", member(4, 0))]);
        assert_eq!(step(lost), Ok(Step::Next(vec![0, 6, 4])));
    }
}

/// Each breaks one rule. The error names plugin, cluster, expected and actual, and nothing is taken from the answer.
#[test]
fn wrong_answers_are_errors_of_the_plugin() {
    let begun = member(3, 10);
    let usual = Walk::usual;
    let begun = || Walk {
        max_surge: 3,
        ..Walk::new(10, [("new", begun), ("old", member(10, 0))])
    };
    let limited = || Walk {
        max_clusters: Some(1),
        ..usual()
    };
    let full = || Walk {
        max_surge: 3,
        ..Walk::new(
            10,
            [
                (
                    "new",
                    MovingCluster {
                        room: 2,
                        ..member(0, 10)
                    },
                ),
                ("old", member(10, 0)),
            ],
        )
    };
    for (fault, walk, expected) in [
        (
            "below-allowance",
            usual(),
            "plugin `hasty` keeps 0 ready replicas, expected at least 10: it takes 10 from cluster `old`",
        ),
        (
            "above-surge",
            usual(),
            "plugin `hasty` gives 20 replicas, expected at most 13: it adds 10 to cluster `new`",
        ),
        (
            "too-many-clusters",
            limited(),
            "plugin `hasty` gives 2 clusters replicas, expected at most 1: `new` is a further one",
        ),
        (
            "above-room",
            full(),
            "plugin `hasty` gave cluster `new` 3 replicas, but it has room for 2",
        ),
        (
            "beyond-target",
            usual(),
            "plugin `hasty` gave cluster `new` 11 replicas, expected 0 to 10: between its result and its target",
        ),
        (
            "back-and-forth",
            begun(),
            "plugin `hasty` gave cluster `new` 2 replicas, expected 3 to 10: between its result and its target",
        ),
        (
            "no-reason",
            usual(),
            "plugin `hasty` takes no step and names no reason, expected one of them",
        ),
        (
            "step-and-reason",
            usual(),
            "plugin `hasty` waits for replicas to become ready, but gave cluster `new` 3 replicas instead of 0",
        ),
        ("fails", usual(), "plugin `hasty` failed: there is no hurry"),
        ("panics", usual(), "plugin `hasty` panicked: there is no hurry"),
    ] {
        for host in hosts("hasty", &format!("configuration.fault = '{fault}'\n")) {
            let error = walk.ask(&host, false).expect_err(fault).to_string();
            assert!(error.starts_with(expected), "{fault}: {error}");
        }
    }
}

#[test]
fn a_pace_that_hangs_costs_its_worker_only() {
    let [_, host] = hosts("hasty", "configuration.fault = 'hangs'\n");
    let error = Walk::usual()
        .ask(&host, false)
        .expect_err("it does not return")
        .to_string();
    assert!(error.contains("plugin `hasty`") && error.contains("Pace"), "{error}");
}

/// The host asks again for the remark, because only that names the reason.
#[test]
fn a_reason_of_its_own_is_told_by_a_remark() {
    for host in hosts("hasty", "configuration.fault = 'sulks'\n") {
        let answer = Walk::usual().ask(&host, false).expect("waiting is no error");
        assert_eq!(answer.step, Step::Waits(Wait::Other));
        assert_eq!(answer.remarks, ["it is Friday"]);
    }
}

#[test]
fn a_profile_with_moves_names_a_plugin_that_serves_them() {
    for (lines, expected) in [
        ("[profile.moves]\nmax-surge = 3\n", "profile `test` has no `moves.pace`"),
        (
            "[profile.moves]\npace = 'average'\n",
            "plugin `average` does not serve Pace; it serves Assign",
        ),
        (
            "filters = ['surge']\n",
            "plugin `surge` does not serve Filter; it serves Pace",
        ),
        (
            "[profile.moves]\npace = 'surge'\n[profile.plugin.surge]\non-error = 'skip'\n",
            "`surge` cannot be skipped if it fails: the profile uses it for more than filters and scores",
        ),
    ] {
        let errors = Host::try_extending(lines).expect_err(lines);
        let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(told, [expected], "{lines}");
    }
}
