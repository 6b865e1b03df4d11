//! The lives of all bindings, and what finds them: by their turn, by the time at which they are due, by what they wait for, by cluster and by
//! namespace.
//!
//! Every change of a life goes through [`Lives::change`] or [`Lives::update`], which compare what is indexed of it before and after. So no
//! index has to be thought of when a life changes or ends.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

use super::life::{InFlight, Life, Missing, Stage, Why, due_in};
use crate::condition::Cause;
use crate::objects::BindingKey;
use crate::queue::Queue;

/// The lives, by the keys of their bindings.
#[derive(Debug, Default)]
pub(super) struct Lives {
    lives: HashMap<Arc<BindingKey>, Box<Life>>,
    /// The turns of the bindings that are to be looked at.
    pub(super) queue: Queue<Arc<BindingKey>, Cause>,
    due: BTreeSet<(Instant, Why, Arc<BindingKey>)>,
    groups: [BTreeSet<Arc<BindingKey>>; Group::ALL.len()],
    /// Bindings that a cluster concerns, by its name.
    clusters: ByName,
    /// Bindings that a quota has refused, by namespace.
    refused: ByName,
    /// Number of bindings whose last decision failed, by reason.
    failures: BTreeMap<&'static str, usize>,
    /// True once a binding or its policy has had a quorum. Until then, no room has to be looked at.
    pub(super) knows_quorums: bool,
    /// True once the bindings with the mark of a move have been looked for.
    pub(super) knows_moves: bool,
}

/// Bindings that are looked at together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// Those that are being written.
    InFlight,
    /// Those whose estimators are asked.
    Estimating,
    /// Settled ones with missing replicas.
    Settled,
    /// Those whose results plugins had no part in.
    Incomplete,
    /// Those that are moved in steps.
    Moving,
    /// Those of them whose claim has to be found out again.
    Stale,
    /// Those that replicas left.
    Departed,
    /// Those whose decision waits for that of another scheduler.
    Compared,
}

impl Group {
    const ALL: [Self; 8] = [
        Self::InFlight,
        Self::Estimating,
        Self::Settled,
        Self::Incomplete,
        Self::Moving,
        Self::Stale,
        Self::Departed,
        Self::Compared,
    ];

    fn has(self, life: &Life) -> bool {
        match self {
            Self::InFlight => matches!(life.stage, Stage::InFlight(_)),
            Self::Estimating => matches!(life.stage, Stage::Estimating(_)),
            Self::Settled => matches!(life.missing, Some(Missing::Settled(_))),
            Self::Incomplete => life.incomplete.is_some(),
            Self::Moving => life.moving.is_some(),
            Self::Stale => life.is_stale,
            Self::Departed => life.departed.is_some(),
            Self::Compared => life.compared.is_some(),
        }
    }
}

/// Bindings by a name.
#[derive(Debug, Default)]
struct ByName(HashMap<String, BTreeSet<Arc<BindingKey>>>);

impl ByName {
    /// The bindings under a name, in the order of their keys.
    fn get(&self, name: &str) -> impl Iterator<Item = &Arc<BindingKey>> {
        self.0.get(name).into_iter().flatten()
    }

    fn insert(&mut self, name: &str, key: &Arc<BindingKey>) {
        match self.0.get_mut(name) {
            Some(keys) => _ = keys.insert(Arc::clone(key)),
            None => _ = self.0.insert(name.to_owned(), BTreeSet::from([Arc::clone(key)])),
        }
    }

    fn remove(&mut self, name: &str, key: &Arc<BindingKey>) {
        if let Some(keys) = self.0.get_mut(name) {
            keys.remove(key);
            if keys.is_empty() {
                self.0.remove(name);
            }
        }
    }
}

/// What is indexed of a life.
#[derive(Debug, PartialEq, Eq)]
struct Indexed {
    groups: [bool; Group::ALL.len()],
    due: [Option<Instant>; Why::ALL.len()],
    /// Takes no memory for a binding that is neither moved nor written.
    clusters: BTreeSet<String>,
    is_refused: bool,
    failure: Option<&'static str>,
}

impl Indexed {
    fn new(life: &Life) -> Self {
        Self {
            groups: Group::ALL.map(|group| group.has(life)),
            due: life.due,
            clusters: life.clusters().map(str::to_owned).collect(),
            is_refused: life.is_refused_by_quota,
            failure: life.failure.map(|(reason, _)| reason.as_str()),
        }
    }
}

impl Lives {
    /// What is known of a binding.
    pub(super) fn get(&self, key: &BindingKey) -> Option<&Life> {
        self.lives.get(key).map(|life| &**life)
    }

    /// All lives, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<BindingKey>, &Life)> {
        self.lives.iter().map(|(key, life)| (key, &**life))
    }

    /// Changes a life, which begins if there is none, and ends if nothing is known any more.
    pub(super) fn change<T>(&mut self, key: &Arc<BindingKey>, change: impl FnOnce(&mut Life) -> T) -> T {
        let life = self.lives.entry(Arc::clone(key)).or_default();
        let before = Indexed::new(life);
        let answer = change(life);
        let after = Indexed::new(life);
        let has_ended = life.is_empty();
        if has_ended {
            self.lives.remove(key);
        }
        if before != after {
            self.index(key, &before, &after);
        }
        answer
    }

    /// Changes the life of a binding of which something is known.
    pub(super) fn update<T>(&mut self, key: &Arc<BindingKey>, change: impl FnOnce(&mut Life) -> T) -> Option<T> {
        self.lives.contains_key(key).then(|| self.change(key, change))
    }

    /// Forgets a binding, but not what is under way.
    pub(super) fn forget(&mut self, key: &Arc<BindingKey>) {
        self.queue.done(key);
        self.update(key, Life::forget);
    }

    /// Forgets all bindings, but not what is under way.
    pub(super) fn forget_all(&mut self) {
        let under_way = std::mem::take(self).lives.into_iter();
        for (key, mut life) in under_way {
            life.forget();
            self.change(&key, |empty| *empty = *life);
        }
    }

    /// The bindings of a group, in the order of their keys.
    pub(super) fn of(&self, group: Group) -> impl Iterator<Item = (&Arc<BindingKey>, &Life)> {
        let keys = self.keys(group).iter();
        keys.filter_map(|key| Some((key, self.get(key)?)))
    }

    /// The keys of a group.
    pub(super) fn keys(&self, group: Group) -> &BTreeSet<Arc<BindingKey>> {
        &self.groups[group as usize]
    }

    /// The bindings that a cluster [concerns](Life::clusters), in the order of their keys.
    pub(super) fn on(&self, cluster: &str) -> impl Iterator<Item = (&Arc<BindingKey>, &Life)> {
        let keys = self.clusters.get(cluster);
        keys.filter_map(|key| Some((key, self.get(key)?)))
    }

    /// Takes a write out that has ended.
    pub(super) fn take_in_flight(&mut self, key: &Arc<BindingKey>) -> Option<InFlight> {
        self.lives.get(key)?.in_flight()?;
        let stage = self.change(key, |life| std::mem::take(&mut life.stage));
        match stage {
            Stage::InFlight(in_flight) => Some(*in_flight),
            Stage::Idle | Stage::Estimating(_) => None,
        }
    }

    /// Ends a question to estimators. Returns true if something changed meanwhile; `None` if nothing was asked.
    pub(super) fn take_estimating(&mut self, key: &Arc<BindingKey>) -> Option<bool> {
        let Stage::Estimating(is_outdated) = self.lives.get(key)?.stage else {
            return None;
        };
        self.change(key, |life| life.stage = Stage::Idle);
        Some(is_outdated)
    }

    /// Notes that a binding is looked at, for another reason than its observed generation. Returns true if that is done once what is
    /// under way has ended; otherwise, it belongs into the queue.
    pub(super) fn woken(&mut self, key: &BindingKey) -> bool {
        // Nothing of this is indexed.
        let Some(life) = self.lives.get_mut(key) else {
            return false;
        };
        if let Some(confirmation) = &mut life.confirmation {
            confirmation.is_alone = false;
        }
        life.outdate()
    }

    /// Has those bindings looked at again whose write or question is under way.
    pub(super) fn outdate(&mut self, is_outdated: impl Fn(&Arc<BindingKey>, &Life) -> bool) {
        for group in [Group::InFlight, Group::Estimating] {
            for key in &self.groups[group as usize] {
                // This is not indexed.
                if let Some(life) = self.lives.get_mut(key)
                    && is_outdated(key, life)
                {
                    life.outdate();
                }
            }
        }
    }

    /// Sets the time at which a binding is looked at again, in place of an earlier one: `milliseconds` from now. Without one, the passing
    /// of time changes nothing.
    pub(super) fn set_due(&mut self, key: &Arc<BindingKey>, why: Why, milliseconds: Option<i64>, now: Instant) {
        match milliseconds {
            Some(milliseconds) => self.change(key, |life| life.set_due(why, Some(due_in(milliseconds, now)))),
            None => _ = self.update(key, |life| life.set_due(why, None)),
        }
    }

    /// Takes out a binding whose time has come, the earliest first.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<(Why, Arc<BindingKey>)> {
        let (_, why, key) = self.due.first().filter(|(due, _, _)| *due <= now)?.clone();
        self.change(&key, |life| life.set_due(why, None));
        Some((why, key))
    }

    /// The earliest time at which a binding is looked at.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.first().map(|(due, _, _)| *due)
    }

    /// Takes out the bindings of a namespace that a quota has refused.
    pub(super) fn take_refused(&mut self, namespace: &str) -> Vec<Arc<BindingKey>> {
        let refused: Vec<Arc<BindingKey>> = self.refused.get(namespace).map(Arc::clone).collect();
        for key in &refused {
            self.update(key, |life| life.is_refused_by_quota = false);
        }
        refused
    }

    /// Number of bindings whose last decision failed, by reason.
    pub(super) fn failures(&self) -> &BTreeMap<&'static str, usize> {
        &self.failures
    }

    fn index(&mut self, key: &Arc<BindingKey>, before: &Indexed, after: &Indexed) {
        let groups = self.groups.iter_mut().zip(before.groups).zip(after.groups);
        for ((keys, was_in), is_in) in groups {
            match (was_in, is_in) {
                (false, true) => _ = keys.insert(Arc::clone(key)),
                (true, false) => _ = keys.remove(key),
                _ => {}
            }
        }
        for ((why, was_due), is_due) in Why::ALL.into_iter().zip(before.due).zip(after.due) {
            if was_due == is_due {
                continue;
            }
            if let Some(due) = was_due {
                self.due.remove(&(due, why, Arc::clone(key)));
            }
            if let Some(due) = is_due {
                self.due.insert((due, why, Arc::clone(key)));
            }
        }
        for cluster in before.clusters.difference(&after.clusters) {
            self.clusters.remove(cluster, key);
        }
        for cluster in after.clusters.difference(&before.clusters) {
            self.clusters.insert(cluster, key);
        }
        match (before.is_refused, after.is_refused) {
            (false, true) => self.refused.insert(&key.namespace, key),
            (true, false) => self.refused.remove(&key.namespace, key),
            _ => {}
        }
        if before.failure != after.failure {
            if let Some(reason) = before.failure
                && let Some(bindings) = self.failures.get_mut(reason)
            {
                *bindings -= 1;
                if *bindings == 0 {
                    self.failures.remove(reason);
                }
            }
            if let Some(reason) = after.failure {
                *self.failures.entry(reason).or_default() += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use divvy_karmada::api::{BindingScope, TargetCluster, Timestamp};
    use divvy_scheduler::fleet::estimate::Demand;

    use super::super::Moment;
    use super::*;
    use crate::condition::ScheduledReason;

    fn key(name: &str) -> Arc<BindingKey> {
        Arc::new(BindingKey {
            scope: BindingScope::Namespaced,
            namespace: "shop".to_owned(),
            name: name.to_owned(),
        })
    }

    #[test]
    fn times_come_in_order_and_the_last_one_set_counts() {
        let (a, b, c) = (key("a"), key("b"), key("c"));
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        let mut lives = Lives::default();
        for (key, milliseconds) in [
            (&a, Some(5_000)),
            (&b, Some(3_000)),
            (&c, Some(4_000)),
            (&a, Some(2_000)),
            (&c, None),
        ] {
            lives.set_due(key, Why::Expiry, milliseconds, now);
        }
        assert_eq!(lives.next_due(), Some(at(2)));
        assert_eq!(lives.take_due(at(1)), None);
        assert_eq!(lives.take_due(at(4)), Some((Why::Expiry, a)));
        assert_eq!(lives.take_due(at(4)), Some((Why::Expiry, b)));
        assert_eq!(lives.take_due(at(9)), None);
        assert!(lives.lives.is_empty(), "nothing is known of any of them");
    }

    #[test]
    fn a_life_that_is_forgotten_is_in_no_index() {
        let now = Instant::now();
        let (web, other) = (key("web"), key("other"));
        let mut lives = Lives::default();
        let live = |lives: &mut Lives, key: &Arc<BindingKey>| {
            lives.queue.add(key, 0, now);
            for why in Why::ALL {
                lives.set_due(key, why, Some(0), now);
            }
            lives.change(key, |life| {
                life.missing = Some(Missing::Settled(Demand::Nothing));
                life.incomplete = Some(Box::default());
                life.is_stale = true;
                life.departed = Some(Box::from(["m1".to_owned()]));
                life.is_refused_by_quota = true;
                life.failure = Some((ScheduledReason::Unschedulable, 1));
            });
        };
        live(&mut lives, &web);
        live(&mut lives, &other);
        assert_eq!(lives.failures().values().sum::<usize>(), 2);
        lives.forget(&web);
        assert_eq!(lives.failures().values().sum::<usize>(), 1);
        assert_eq!(lives.keys(Group::Settled).iter().collect::<Vec<_>>(), [&other]);
        lives.forget(&other);
        let left = format!("{lives:?}");
        assert!(!left.contains("web") && !left.contains("other"), "{left}");
        assert!(lives.failures().is_empty() && lives.next_due().is_none());
    }

    #[test]
    fn a_cluster_finds_what_left_it_and_what_is_written_to_it() {
        let moment = Moment {
            instant: Instant::now(),
            wall: Timestamp::from_seconds(0),
            milliseconds: 0,
        };
        let (web, other) = (key("web"), key("other"));
        let mut lives = Lives::default();
        let on = |lives: &Lives, cluster: &str| -> Vec<String> {
            lives.on(cluster).map(|(key, _)| key.name.clone()).collect()
        };
        let target = |name: &str| TargetCluster {
            name: name.to_owned(),
            replicas: 1,
            components: Vec::new(),
        };
        lives.change(&web, |life| {
            life.stage = Stage::InFlight(Box::new(InFlight {
                placed: Some(vec![target("m1"), target("m2")]),
                ..InFlight::new(None, &moment)
            }));
        });
        lives.change(&other, |life| life.departed = Some(Box::from(["m2".to_owned()])));
        assert_eq!(on(&lives, "m1"), ["web"]);
        assert_eq!(on(&lives, "m2"), ["other", "web"]);
        lives.change(&web, |life| life.departed = Some(Box::from(["m2".to_owned()])));
        assert!(lives.take_in_flight(&web).is_some());
        assert_eq!(on(&lives, "m1"), Vec::<String>::new());
        assert_eq!(on(&lives, "m2"), ["other", "web"], "replicas have left it");
        lives.forget(&web);
        assert_eq!(on(&lives, "m2"), ["other"]);
        lives.forget_all();
        assert!(lives.clusters.0.is_empty());
    }

    #[test]
    fn what_is_under_way_ends_by_its_answer() {
        let web = key("web");
        let mut lives = Lives::default();
        lives.change(&web, |life| {
            life.stage = Stage::Estimating(false);
            life.warned = vec!["a mistake".to_owned()];
        });
        assert!(lives.woken(&web), "it is looked at again by the answer");
        lives.forget_all();
        assert!(lives.get(&web).is_some_and(|life| life.traces().next().is_none()));
        assert_eq!(lives.take_estimating(&web), Some(true));
        assert!(lives.get(&web).is_none());
        assert_eq!(lives.take_estimating(&web), None);
    }
}
