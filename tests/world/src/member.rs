//! A member cluster: nodes, pods of propagated workloads, foreign pods, and its reports.

use std::collections::BTreeMap;

use divvy_controller::objects::ObjectKey;
use serde_json::{Value, json};

use crate::agenda::Millis;
use crate::random::Random;

/// Grades of Karmada's default resource models: minimum of CPU in thousandths, and of memory in MiB.
const GRADES: [(i64, i64); 9] = [
    (0, 0),
    (1_000, 4 * 1024),
    (2_000, 16 * 1024),
    (4_000, 32 * 1024),
    (8_000, 64 * 1024),
    (16_000, 128 * 1024),
    (32_000, 256 * 1024),
    (64_000, 512 * 1024),
    (128_000, 1024 * 1024),
];

/// Requests of one pod.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Requests {
    /// CPU in thousandths.
    pub cpu: i64,
    /// Memory in MiB.
    pub memory: i64,
}

/// Pods of one template that a cluster is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Number of pods.
    pub pods: i64,
    /// Requests of each.
    pub requests: Requests,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    number: u32,
    room: Requests,
    pods: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Pending { since: Millis },
    Bound { node: u32, ready_at: Millis },
    Ready { node: u32 },
}

#[derive(Debug, Clone, Copy)]
struct Pod {
    requests: Requests,
    state: State,
    /// True if it has been ready.
    was_ready: bool,
}

/// Sums over pods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of pods.
    pub pods: i64,
    /// Their requests.
    pub requests: Requests,
}

/// A member cluster.
#[derive(Debug)]
pub struct Member {
    nodes: Vec<Node>,
    nodes_ever: u32,
    /// True if nodes are reported by resource models, as Karmada does by default.
    pub has_models: bool,
    /// Pods by binding and by the index of the pod template.
    pods: BTreeMap<(ObjectKey, usize), Vec<Pod>>,
    /// Pods that belong to no binding.
    foreign: Vec<Pod>,
    /// Bindings whose pods crash, until a time.
    crashing: BTreeMap<ObjectKey, Millis>,
    /// Time until which nothing is reported.
    pub silent_until: Millis,
    /// Time until which lists of pods fail, so that reports count none.
    pub blind_until: Millis,
    /// Delay of reports.
    pub report_delay: Millis,
    /// True if the control plane cannot reach it.
    pub is_unreachable: bool,
    /// Time until which it applies nothing, and no state of a workload is collected, although it counts as Ready.
    pub lags_until: Millis,
}

impl Usage {
    fn add(&mut self, requests: Requests) {
        self.pods += 1;
        self.requests.cpu += requests.cpu;
        self.requests.memory += requests.memory;
    }

    /// Adds another sum.
    pub fn add_all(&mut self, other: Self) {
        self.pods += other.pods;
        self.requests.cpu += other.requests.cpu;
        self.requests.memory += other.requests.memory;
    }

    fn remove(&mut self, requests: Requests) {
        self.pods -= 1;
        self.requests.cpu -= requests.cpu;
        self.requests.memory -= requests.memory;
    }

    fn list(self) -> Value {
        json!({
            "cpu": format!("{}m", self.requests.cpu),
            "memory": format!("{}Mi", self.requests.memory),
            "pods": self.pods.to_string(),
        })
    }
}

impl Member {
    /// A cluster with nodes of these CPUs.
    pub fn new(cpus: &[i64], has_models: bool) -> Self {
        let mut member = Self {
            nodes: Vec::new(),
            nodes_ever: 0,
            has_models,
            pods: BTreeMap::new(),
            foreign: Vec::new(),
            crashing: BTreeMap::new(),
            silent_until: 0,
            blind_until: 0,
            report_delay: 0,
            is_unreachable: false,
            lags_until: 0,
        };
        for cpu in cpus {
            member.add_node(*cpu);
        }
        member
    }

    /// Adds a node with this many CPUs.
    pub fn add_node(&mut self, cpu: i64) {
        self.nodes_ever += 1;
        self.nodes.push(Node {
            number: self.nodes_ever,
            room: Requests {
                cpu: cpu * 1000,
                memory: cpu * 4 * 1024,
            },
            pods: 110,
        });
    }

    /// Removes the last node; its pods wait for another one. Returns false if it is the only one.
    pub fn remove_node(&mut self, now: Millis) -> bool {
        if self.nodes.len() < 2 {
            return false;
        }
        let Some(node) = self.nodes.pop() else { return false };
        self.foreign.retain(|pod| pod.node() != Some(node.number));
        for pod in self.pods.values_mut().flatten() {
            if pod.node() == Some(node.number) {
                pod.state = State::Pending { since: now };
            }
        }
        true
    }

    /// Lets foreign pods of one CPU each appear where there is room.
    pub fn add_foreign(&mut self, pods: u64) {
        for _ in 0..pods {
            let requests = Requests { cpu: 1000, memory: 512 };
            if let Some(node) = node_for(&self.left(), requests) {
                self.foreign.push(Pod {
                    requests,
                    state: State::Ready { node },
                    was_ready: true,
                });
            }
        }
    }

    /// Removes all foreign pods.
    pub fn clear_foreign(&mut self) {
        self.foreign.clear();
    }

    /// Lets the pods of a binding crash until a time.
    pub fn crash(&mut self, key: &ObjectKey, until: Millis) {
        self.crashing.insert(key.clone(), until);
    }

    /// Ends all troubles.
    pub fn heal(&mut self) {
        self.crashing.clear();
        (self.silent_until, self.blind_until, self.report_delay) = (0, 0, 0);
        self.is_unreachable = false;
        self.lags_until = 0;
    }

    /// True if nothing is applied or collected now.
    pub fn is_cut_off(&self, now: Millis) -> bool {
        self.is_unreachable || now < self.lags_until
    }

    /// Runs what a binding propagates here, pods of each template; nothing for an empty list.
    pub fn apply(&mut self, key: &ObjectKey, wanted: &[Wanted], now: Millis) {
        for (index, wanted) in wanted.iter().enumerate() {
            let pods = self.pods.entry((key.clone(), index)).or_default();
            // Pods of another version are replaced.
            pods.retain(|pod| pod.requests == wanted.requests);
            let count = usize::try_from(wanted.pods).unwrap_or(0);
            // As in Kubernetes, those that wait for a node go first, and then those that are not ready.
            pods.sort_by_key(|pod| match pod.state {
                State::Ready { .. } => 0,
                State::Bound { .. } => 1,
                State::Pending { .. } => 2,
            });
            pods.truncate(count);
            while pods.len() < count {
                pods.push(Pod {
                    requests: wanted.requests,
                    state: State::Pending { since: now },
                    was_ready: false,
                });
            }
        }
        self.pods.retain(|(of, index), _| of != key || *index < wanted.len());
    }

    /// The bindings that have pods here.
    pub fn bindings(&self) -> Vec<ObjectKey> {
        let mut keys: Vec<ObjectKey> = self.pods.keys().map(|(key, _)| key.clone()).collect();
        keys.dedup();
        keys
    }

    /// Lets time pass: pods are bound and become ready. Returns the bindings of which any pod changed.
    pub fn step(&mut self, now: Millis, random: &mut Random) -> Vec<ObjectKey> {
        self.crashing.retain(|_, until| *until > now);
        let is_moving = |(key, pods): &(&(ObjectKey, usize), &Vec<Pod>)| {
            let crashes = self.crashing.contains_key(&key.0);
            crashes || pods.iter().any(|pod| !matches!(pod.state, State::Ready { .. }))
        };
        let moving = self.pods.iter().filter(is_moving);
        let keys: Vec<(ObjectKey, usize)> = moving.map(|(key, _)| key.clone()).collect();
        let mut changed = Vec::new();
        if keys.is_empty() {
            return changed;
        }
        let mut left = self.left();
        for key in keys {
            let count = self.pods.get(&key).map_or(0, Vec::len);
            for index in 0..count {
                let Some(pod) = self.pods.get(&key).and_then(|pods| pods.get(index)).copied() else {
                    continue;
                };
                let state = self.next_state(&key.0, pod, &left, now, random);
                if let (State::Pending { .. }, State::Bound { node, .. }) = (pod.state, state) {
                    let node = left.iter_mut().find(|(number, _)| *number == node);
                    node.into_iter().for_each(|(_, left)| left.remove(pod.requests));
                }
                if state != pod.state {
                    changed.push(key.0.clone());
                }
                if let Some(pod) = self.pods.get_mut(&key).and_then(|pods| pods.get_mut(index)) {
                    pod.state = state;
                    pod.was_ready |= matches!(state, State::Ready { .. });
                }
            }
        }
        changed
    }

    fn next_state(&self, key: &ObjectKey, pod: Pod, left: &[(u32, Usage)], now: Millis, random: &mut Random) -> State {
        match pod.state {
            State::Pending { since } if now >= since + 500 => match node_for(left, pod.requests) {
                Some(node) => State::Bound {
                    node,
                    ready_at: now + random.between(500, 4_000),
                },
                None => pod.state,
            },
            State::Bound { node, ready_at } if now >= ready_at && !self.crashing.contains_key(key) => {
                State::Ready { node }
            }
            State::Ready { node } if self.crashing.contains_key(key) => State::Bound {
                node,
                ready_at: now + 1_000,
            },
            state => state,
        }
    }

    /// Pods of a binding, and how many of them are ready.
    pub fn pods_of(&self, key: &ObjectKey) -> (i64, i64) {
        let pods = self.pods.iter().filter(|((of, _), _)| of == key);
        let states = pods.flat_map(|(_, pods)| pods.iter().map(|pod| pod.state));
        states.fold((0, 0), |(all, ready), state| {
            (all + 1, ready + i64::from(matches!(state, State::Ready { .. })))
        })
    }

    /// Pods of a binding that have been ready here, whatever became of them since: a crash is nobody's decision.
    pub fn pods_that_were_ready(&self, key: &ObjectKey) -> i64 {
        let pods = self.pods.iter().filter(|((of, _), _)| of == key);
        let ready = pods.flat_map(|(_, pods)| pods.iter().filter(|pod| pod.was_ready));
        i64::try_from(ready.count()).unwrap_or(0)
    }

    /// Pods of a binding that found no node.
    pub fn unplaced(&self, key: &ObjectKey) -> i64 {
        let pods = self.pods.iter().filter(|((of, _), _)| of == key);
        let pending = pods.flat_map(|(_, pods)| pods.iter().filter(|pod| matches!(pod.state, State::Pending { .. })));
        i64::try_from(pending.count()).unwrap_or(0)
    }

    /// Pods with these requests that still find a node: an estimator's answer.
    pub fn room_for(&self, requests: Requests) -> i64 {
        let room = |(_, left): &(u32, Usage)| {
            let by = |left: i64, one: i64| if one > 0 { left.max(0) / one } else { i64::MAX };
            by(left.requests.cpu, requests.cpu)
                .min(by(left.requests.memory, requests.memory))
                .min(left.pods.max(0))
        };
        self.left().iter().map(room).sum()
    }

    /// What is left on each node, by its number.
    fn left(&self) -> Vec<(u32, Usage)> {
        let nodes = self.nodes.iter().map(|node| {
            let left = Usage {
                pods: node.pods,
                requests: node.room,
            };
            (node.number, left)
        });
        let mut left: Vec<_> = nodes.collect();
        for pod in self.all() {
            let node = left.iter_mut().find(|(number, _)| pod.node() == Some(*number));
            node.into_iter().for_each(|(_, left)| left.remove(pod.requests));
        }
        left
    }

    fn all(&self) -> impl Iterator<Item = &Pod> {
        self.pods.values().flatten().chain(&self.foreign)
    }

    /// Requests of the pods that are bound, and of those that wait.
    pub fn usage(&self) -> (Usage, Usage) {
        let (mut allocated, mut allocating) = (Usage::default(), Usage::default());
        for pod in self.all() {
            match pod.node() {
                Some(_) => allocated.add(pod.requests),
                None => allocating.add(pod.requests),
            }
        }
        (allocated, allocating)
    }

    /// Requests of the pods of a binding, bound or not.
    pub fn usage_of(&self, key: &ObjectKey) -> Usage {
        let pods = self.pods.iter().filter(|((of, _), _)| of == key);
        let mut usage = Usage::default();
        pods.flat_map(|(_, pods)| pods).for_each(|pod| usage.add(pod.requests));
        usage
    }

    /// The resource summary of a report.
    pub fn summary(&self, now: Millis) -> Value {
        let mut allocatable = Usage::default();
        for node in &self.nodes {
            allocatable.pods += node.pods;
            allocatable.requests.cpu += node.room.cpu;
            allocatable.requests.memory += node.room.memory;
        }
        let is_blind = now < self.blind_until;
        let (allocated, allocating) = if is_blind { Default::default() } else { self.usage() };
        let mut summary = json!({
            "allocatable": allocatable.list(),
            "allocated": allocated.list(),
            "allocating": allocating.list(),
        });
        if self.has_models {
            let mut counts = [0_i64; GRADES.len()];
            for (node, (_, left)) in self.nodes.iter().zip(self.left()) {
                let left = if is_blind { node.room } else { left.requests };
                let grade = GRADES
                    .iter()
                    .rposition(|(cpu, memory)| left.cpu >= *cpu && left.memory >= *memory);
                counts[grade.unwrap_or(0)] += 1;
            }
            let counts = counts.iter().enumerate();
            summary["allocatableModelings"] = counts
                .map(|(grade, count)| json!({"grade": grade, "count": count}))
                .collect();
        }
        summary
    }

    /// Karmada's default resource models.
    pub fn models() -> Value {
        let ends = GRADES.iter().skip(1).copied().chain([(1_000_000_000, 1_000_000_000)]);
        let models = GRADES.iter().zip(ends).enumerate();
        models
            .map(|(grade, (from, to))| {
                json!({"grade": grade, "ranges": [
                    {"name": "cpu", "min": format!("{}m", from.0), "max": format!("{}m", to.0)},
                    {"name": "memory", "min": format!("{}Mi", from.1), "max": format!("{}Mi", to.1)},
                ]})
            })
            .collect()
    }
}

/// The first node with room for a pod.
fn node_for(left: &[(u32, Usage)], requests: Requests) -> Option<u32> {
    let fits =
        |left: &Usage| left.pods > 0 && left.requests.cpu >= requests.cpu && left.requests.memory >= requests.memory;
    let mut fitting = left.iter().filter(|(_, left)| fits(left));
    fitting.next().map(|(number, _)| *number)
}

impl Pod {
    fn node(&self) -> Option<u32> {
        match self.state {
            State::Pending { .. } => None,
            State::Bound { node, .. } | State::Ready { node } => Some(node),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_wait_are_bound_and_become_ready_and_reports_follow() {
        let key = ObjectKey {
            namespace: "n".to_owned(),
            name: "a".to_owned(),
        };
        let requests = Requests {
            cpu: 1000,
            memory: 1024,
        };
        let mut member = Member::new(&[2, 2], true);
        let mut random = Random::new(1, "member");
        member.apply(&key, &[Wanted { pods: 5, requests }], 0);
        assert_eq!(member.usage().1.pods, 5);
        for second in 1..10 {
            member.step(second * 1000, &mut random);
        }
        assert_eq!((member.pods_of(&key), member.unplaced(&key)), ((5, 4), 1));
        let summary = member.summary(10_000);
        assert_eq!(summary["allocated"]["cpu"], "4000m");
        assert_eq!(summary["allocating"]["cpu"], "1000m");
        assert_eq!(summary["allocatableModelings"][0]["count"], 2);
        member.apply(&key, &[], 11_000);
        assert_eq!(member.usage(), Default::default());
        assert_eq!(member.room_for(requests), 4);
    }
}
