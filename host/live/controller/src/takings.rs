//! Replicas that were assigned recently and that an estimator's answer does not reflect.
//!
//! An estimator counts the free room on its cluster's nodes when it is asked. By the time of the decision, other decisions
//! have taken some of it: a few after a new answer, many after a last answer that is a minute old. The room that was taken
//! since the question is subtracted, in replicas of the binding that is being decided, under every profile.
//!
//! Unlike a holding, an entry does not end when the cluster reports it, because an old answer does not change. It ends with its binding, and
//! when the result shrinks.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::decision::Estimates;
use divvy_scheduler::fleet::Footprint;
use divvy_scheduler::fleet::estimate::Demand;

use crate::estimates::Answers;
use crate::objects::BindingKey;

/// Time for which takings are remembered. Answers are never older.
const REMEMBERED: Duration = Duration::from_secs(300);

/// Replicas that decisions assigned and took away, in the order of the decisions.
#[derive(Debug, Default)]
pub(crate) struct Takings {
    entries: VecDeque<Taking>,
}

#[derive(Debug)]
struct Taking {
    key: Arc<BindingKey>,
    at: Instant,
    footprint: Footprint,
    /// Pods of each template that each cluster was given in addition; negative numbers were taken away.
    growth: Vec<(String, Vec<i64>)>,
}

impl Takings {
    /// Records the change of a result from the last one. Even one that changes nothing has an entry, which [`Self::retract`] removes.
    pub(crate) fn push(
        &mut self,
        key: &Arc<BindingKey>,
        result: &[TargetCluster],
        last: &[TargetCluster],
        footprint: &Footprint,
        now: Instant,
    ) {
        let given = result
            .iter()
            .map(|target| (target.name.clone(), footprint.growth(target, last)));
        let left = last
            .iter()
            .filter(|last| result.iter().all(|target| target.name != last.name));
        let taken_away = left.map(|last| {
            let pods = footprint.pods(last).into_iter().map(|pods| -pods);
            (last.name.clone(), pods.collect())
        });
        let growth: Vec<(String, Vec<i64>)> = given
            .chain(taken_away)
            .filter(|(_, growth)| growth.iter().any(|pods| *pods != 0))
            .collect();
        self.entries.push_back(Taking {
            key: Arc::clone(key),
            at: now,
            footprint: match growth.is_empty() {
                true => Footprint::default(),
                false => footprint.clone(),
            },
            growth,
        });
    }

    /// Removes the last entry of a binding whose write failed.
    pub(crate) fn retract(&mut self, key: &BindingKey) {
        // The write began recently, so its entry is among the last.
        if let Some(index) = self.entries.iter().rposition(|taking| *taking.key == *key) {
            self.entries.remove(index);
        }
    }

    /// Forgets a binding that is gone. Returns true if it had any entry.
    pub(crate) fn remove(&mut self, key: &BindingKey) -> bool {
        let before = self.entries.len();
        self.entries.retain(|taking| *taking.key != *key);
        self.entries.len() < before
    }

    /// The bindings of the entries.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Arc<BindingKey>> {
        self.entries.iter().map(|taking| &taking.key)
    }

    /// Forgets entries that are older than any answer.
    pub(crate) fn expire(&mut self, now: Instant) {
        let is_old = |taking: &Taking| now.saturating_duration_since(taking.at) >= REMEMBERED;
        while self.entries.front().is_some_and(is_old) {
            self.entries.pop_front();
        }
    }

    /// True if nothing is remembered.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// The replicas that each cluster was given after its answer was requested.
    pub(crate) fn since(&self, answers: &Answers) -> Taken {
        let mut taken = Taken::default();
        let Some(earliest) = answers.fits.values().map(|answer| answer.asked).min() else {
            return taken;
        };
        let recent = self.entries.iter().rev().take_while(|taking| taking.at >= earliest);
        // What a binding was given and has lost again is as free as it was.
        let mut lost: HashMap<(&BindingKey, &str, usize), i64> = HashMap::new();
        for taking in recent {
            for (cluster, pods) in &taking.growth {
                let is_later = answers
                    .fits
                    .get(cluster)
                    .is_some_and(|answer| taking.at >= answer.asked);
                if is_later {
                    for (index, (template, pods)) in taking.footprint.templates().iter().zip(pods).enumerate() {
                        let mut pods = *pods;
                        if pods < 0 || !lost.is_empty() {
                            let lost = lost.entry((&taking.key, cluster, index)).or_default();
                            let returned = pods.min(*lost);
                            *lost -= returned;
                            pods -= returned;
                        }
                        taken.add(cluster, pods.max(0), &template.requests);
                    }
                }
            }
        }
        taken
    }
}

/// Answers, less the room that was taken since each.
#[derive(Debug)]
pub(crate) struct Current<'a> {
    answers: &'a Answers,
    taken: Taken,
}

impl<'a> Current<'a> {
    /// The answers, less the room that the last decisions have taken.
    pub(crate) fn new(answers: &'a Answers, takings: &Takings) -> Self {
        Self {
            answers,
            taken: takings.since(answers),
        }
    }

    /// The answers unchanged.
    pub(crate) fn untaken(answers: &'a Answers) -> Self {
        Self {
            answers,
            taken: Taken::default(),
        }
    }
}

impl Estimates for Current<'_> {
    fn fits(&self, cluster: &str, demand: &Demand) -> Option<i64> {
        let answer = self.answers.fits.get(cluster)?;
        let left = answer.count.saturating_sub(self.taken.displaces(cluster, demand));
        Some(left.max(0))
    }
}

/// Capacity that was taken, by cluster.
#[derive(Debug, Default)]
pub(crate) struct Taken(HashMap<String, Amount>);

/// Replicas, and their requests in the units of the snapshot.
#[derive(Debug, Default)]
struct Amount {
    replicas: i64,
    requests: HashMap<String, i64>,
}

impl Taken {
    fn add(&mut self, cluster: &str, replicas: i64, requests: &[(String, i64)]) {
        let amount = self.0.entry(cluster.to_owned()).or_default();
        amount.replicas = amount.replicas.saturating_add(replicas);
        for (resource, quantity) in requests {
            let sum = amount.requests.entry(resource.clone()).or_default();
            *sum = sum.saturating_add(quantity.saturating_mul(replicas));
        }
    }

    /// Replicas (or sets) of a demand that would have fitted into the room that was taken in a cluster, rounded up.
    pub(crate) fn displaces(&self, cluster: &str, demand: &Demand) -> i64 {
        let Some(amount) = self.0.get(cluster) else { return 0 };
        match demand {
            Demand::Nothing => 0,
            // Without requests, only the number of pods bounds it.
            Demand::Pods => amount.replicas,
            Demand::Requests(requests) if requests.is_empty() => amount.replicas,
            Demand::Requests(requests) => amount.displaced(requests.iter().map(|(name, one)| (name.as_str(), *one))),
            Demand::Sets(components) => {
                let mut one_set: HashMap<&str, i64> = HashMap::new();
                for component in components {
                    for (resource, quantity) in &component.requests {
                        let sum = one_set.entry(resource).or_default();
                        *sum = sum.saturating_add(quantity.saturating_mul(component.replicas));
                    }
                }
                amount.displaced(one_set.into_iter())
            }
        }
    }
}

impl Amount {
    /// The scarcest resource decides.
    fn displaced<'a>(&self, requests: impl Iterator<Item = (&'a str, i64)>) -> i64 {
        let counts = requests.filter(|(_, one)| *one > 0).map(|(resource, one)| {
            let taken = self.requests.get(resource).copied().unwrap_or(0);
            taken / one + i64::from(taken % one > 0)
        });
        counts.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimates::Answer;
    use divvy_estimator::Request;
    use divvy_karmada::api::BindingScope;
    use serde_json::json;

    fn key(name: &str) -> Arc<BindingKey> {
        Arc::new(BindingKey {
            scope: BindingScope::Namespaced,
            namespace: "default".to_owned(),
            name: name.to_owned(),
        })
    }

    fn targets(list: &[(&str, i32)]) -> Vec<TargetCluster> {
        let target = |(name, replicas): &(&str, i32)| TargetCluster {
            name: (*name).to_owned(),
            replicas: *replicas,
            ..TargetCluster::default()
        };
        list.iter().map(target).collect()
    }

    fn requests(list: &[(&str, i64)]) -> Vec<(String, i64)> {
        list.iter().map(|(name, one)| ((*name).to_owned(), *one)).collect()
    }

    /// Replicas of two CPUs and ten bytes of memory.
    fn footprint() -> Footprint {
        let requests = json!({"cpu": "2", "memory": "10"});
        let specification = json!({"replicas": 1, "replicaRequirements": {"resourceRequest": requests}});
        Footprint::new(&serde_json::from_value(specification).expect("a specification"))
    }

    /// An answer from cluster `a` to a question of that time.
    fn answers(asked: Instant) -> Answers {
        let request = Request::replicas(&Default::default()).expect("a request");
        let fits = HashMap::from([("a".to_owned(), Answer { count: 10, asked })]);
        Answers { request, fits }
    }

    #[test]
    fn only_what_was_taken_since_the_question_displaces_replicas() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut takings = Takings::default();
        let cpu = requests(&[("cpu", 2000), ("memory", 10)]);
        takings.push(&key("early"), &targets(&[("a", 3)]), &[], &footprint(), after(1));
        let (result, last) = (targets(&[("a", 5), ("b", 9)]), targets(&[("a", 4)]));
        takings.push(&key("late"), &result, &last, &footprint(), after(3));
        for (asked, demand, expected) in [
            (4, Demand::Requests(cpu.clone()), 0),
            (3, Demand::Requests(cpu.clone()), 1),
            (0, Demand::Requests(cpu.clone()), 4),
            // Half a replica is one that no longer fits.
            (3, Demand::Requests(requests(&[("cpu", 1500)])), 2),
            (3, Demand::Requests(requests(&[("gpu", 1)])), 0),
            (0, Demand::Pods, 4),
            (0, Demand::Requests(Vec::new()), 4),
            (0, Demand::Nothing, 0),
        ] {
            let taken = takings.since(&answers(after(asked)));
            assert_eq!(taken.displaces("a", &demand), expected, "asked at {asked}, {demand:?}");
            assert_eq!(taken.displaces("b", &demand), 0, "there is no answer from b");
        }
    }

    #[test]
    fn what_is_deleted_or_shrinks_displaces_nothing_any_more() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let cpu = requests(&[("cpu", 2000)]);
        let mut takings = Takings::default();
        let displaced = |takings: &Takings, asked| {
            let demand = Demand::Requests(cpu.clone());
            takings.since(&answers(after(asked))).displaces("a", &demand)
        };
        let on_a = |replicas: i32| targets(&[("a", replicas)]);
        takings.push(&key("gone"), &on_a(1), &[], &footprint(), after(1));
        takings.push(&key("web"), &on_a(5), &on_a(2), &footprint(), after(1));
        takings.push(&key("web"), &on_a(9), &on_a(5), &footprint(), after(2));
        assert_eq!((displaced(&takings, 1), displaced(&takings, 2)), (8, 4));
        takings.remove(&key("gone"));
        assert_eq!((displaced(&takings, 1), displaced(&takings, 2)), (7, 4));
        takings.push(&key("web"), &on_a(4), &on_a(9), &footprint(), after(3));
        assert_eq!((displaced(&takings, 1), displaced(&takings, 2)), (2, 0));
        takings.push(&key("web"), &on_a(5), &on_a(4), &footprint(), after(4));
        assert_eq!((displaced(&takings, 1), displaced(&takings, 2)), (3, 1));
        // Another binding loses only what was its own.
        takings.push(&key("other"), &[], &on_a(9), &footprint(), after(5));
        assert_eq!((displaced(&takings, 1), displaced(&takings, 2)), (3, 1));
        takings.push(&key("web"), &[], &on_a(5), &footprint(), after(6));
        assert_eq!((displaced(&takings, 1), displaced(&takings, 2)), (0, 0));
        // Its write failed.
        takings.retract(&key("web"));
        assert_eq!((displaced(&takings, 1), displaced(&takings, 2)), (3, 1));
    }

    #[test]
    fn a_write_that_failed_displaces_nothing() {
        let now = Instant::now();
        let cpu = requests(&[("cpu", 2000)]);
        let mut takings = Takings::default();
        takings.push(&key("one"), &targets(&[("a", 1)]), &[], &footprint(), now);
        takings.push(&key("two"), &targets(&[("a", 2)]), &[], &footprint(), now);
        takings.retract(&key("one"));
        takings.retract(&key("never"));
        let displaced = |takings: &Takings| {
            takings
                .since(&answers(now))
                .displaces("a", &Demand::Requests(cpu.clone()))
        };
        assert_eq!(displaced(&takings), 2);
        takings.expire(now + REMEMBERED);
        assert_eq!(displaced(&takings), 0);
    }
}
