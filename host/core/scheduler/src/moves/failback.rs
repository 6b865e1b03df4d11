//! Replicas that left a cluster against its policy's wish, and their way back.
//!
//! Karmada's taint manager evicts from a cluster that is not well, and the replicas stay where they went. What left, and when, is kept
//! on the binding. Once the cluster has been Ready for the window without a gap, a target takes back at most that, as far as the policy
//! still wants it there, and moves nothing else. A cluster that flaps is never Ready for the window, so it causes no move.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::input::FAILBACK_ANNOTATION;

/// Maximum number of clusters that are remembered; of more, those that lost replicas last.
const CLUSTERS_MAX: usize = 256;

/// Largest annotation that is read, in bytes.
const BYTES_MAX: usize = 64 << 10;

/// What left clusters against the policy's wish, by cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Left(BTreeMap<String, Departure>);

/// What left one cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Departure {
    /// Replicas.
    pub replicas: i32,
    /// Time at which the last of them left, in milliseconds since 1970.
    pub at: i64,
}

impl Left {
    /// Reads the annotation. One that cannot be read, or that is too long, counts as absent: nothing goes back because of it.
    pub fn read(text: Option<&str>) -> Self {
        let text = text.filter(|text| text.len() <= BYTES_MAX);
        let mut left: Self = text
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        left.0.retain(|_, departure| departure.replicas >= 0);
        left
    }

    /// Text of the annotation; `None` if nothing left.
    pub fn write(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let text = serde_json::to_string(self);
        debug_assert!(text.is_ok(), "what left clusters cannot be written as JSON: {text:?}");
        text.ok()
    }

    /// What left a cluster.
    pub fn departure(&self, cluster: &str) -> Option<Departure> {
        self.0.get(cluster).copied()
    }

    /// True if replicas left a cluster that have not come back.
    pub fn remains(&self) -> bool {
        self.clusters().next().is_some()
    }

    /// Names of the clusters that replicas left and have not come back to.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        let left = self.0.iter().filter(|(_, departure)| departure.replicas > 0);
        left.map(|(name, _)| name.as_str())
    }

    /// Remembers that replicas left a cluster. What left it before counts as well. A departure of the same time is the same one, seen
    /// again, which may have come back meanwhile.
    pub fn leave(&mut self, cluster: &str, replicas: i32, at: i64) {
        let before = self.departure(cluster);
        if replicas <= 0 || before.is_some_and(|before| before.at >= at) {
            return;
        }
        let replicas = replicas.saturating_add(before.map_or(0, |before| before.replicas));
        self.0.insert(cluster.to_owned(), Departure { replicas, at });
        while self.0.len() > CLUSTERS_MAX {
            let oldest = self.0.iter().min_by_key(|(_, departure)| departure.at);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else {
                break;
            };
            self.0.remove(&oldest);
        }
    }

    /// Subtracts what came back: a cluster that gets replicas needs them no more. A departure of which nothing is left is kept until
    /// [`retain`](Self::retain), so that it is known if it is seen again.
    pub fn come_back(&mut self, cluster: &str, replicas: i64) {
        if let Some(departure) = self.0.get_mut(cluster) {
            let rest = i64::from(departure.replicas).saturating_sub(replicas.max(0));
            departure.replicas = i32::try_from(rest.max(0)).unwrap_or(i32::MAX);
        }
    }

    /// Forgets the departures of which nothing is left, except those that may be seen again: by their cluster and time.
    pub fn retain(&mut self, is_seen: impl Fn(&str, i64) -> bool) {
        self.0
            .retain(|cluster, departure| departure.replicas > 0 || is_seen(cluster, departure.at));
    }

    /// Forgets everything: the policy or the replicas changed, and the whole result was decided anew.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    /// The replicas that each cluster may take back now. `ready_since` returns the time since which a cluster has been Ready, in
    /// milliseconds since 1970; `None` if it is not. Both times must be a window ago: a cluster may have been Ready all the time.
    pub fn due(&self, window: i64, now: i64, ready_since: impl Fn(&str) -> Option<i64>) -> BTreeMap<&str, i64> {
        let is_past = |since: i64| now.saturating_sub(since) >= window;
        let back = self.0.iter().filter(|(name, departure)| {
            let ready = ready_since(name);
            departure.replicas > 0 && ready.is_some_and(is_past) && is_past(departure.at)
        });
        back.map(|(name, departure)| (name.as_str(), i64::from(departure.replicas)))
            .collect()
    }

    /// The next time at which a cluster that is Ready may take replicas back, in milliseconds since 1970; `None` if there is none.
    pub fn next(&self, window: i64, now: i64, ready_since: impl Fn(&str) -> Option<i64>) -> Option<i64> {
        let left = self.0.iter().filter(|(_, departure)| departure.replicas > 0);
        let times = left.filter_map(|(name, departure)| {
            let since = ready_since(name)?.max(departure.at);
            Some(since.saturating_add(window))
        });
        times.filter(|time| *time > now).min()
    }
}

impl fmt::Display for Left {
    /// What left, and where: "3 replicas left `a`, 1 left `b`".
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.0.iter().filter(|(_, departure)| departure.replicas > 0);
        for (index, (name, departure)) in left.enumerate() {
            match index {
                0 => write!(formatter, "{} replicas left `{name}`", departure.replicas)?,
                _ => write!(formatter, ", {} left `{name}`", departure.replicas)?,
            }
        }
        Ok(())
    }
}

/// The target that takes back what is due, and moves nothing else. `present` is the result, `wanted` what the policy would have, decided
/// afresh, each by cluster. Clusters give no more than they have beyond what the policy wants there, those with the most first, and of
/// equals the first by name. Returns the present result if nothing can go back.
pub fn target<'a>(
    present: &BTreeMap<&'a str, i64>,
    wanted: &BTreeMap<&str, i64>,
    due: &BTreeMap<&'a str, i64>,
) -> BTreeMap<&'a str, i64> {
    let of = |result: &BTreeMap<&str, i64>, name: &str| result.get(name).copied().unwrap_or(0);
    let mut target = present.clone();
    let beyond = present
        .iter()
        .map(|(&name, replicas)| (name, replicas.saturating_sub(of(wanted, name))));
    let mut givers: Vec<(&str, i64)> = beyond.filter(|(_, beyond)| *beyond > 0).collect();
    givers.sort_by_key(|(name, beyond)| (std::cmp::Reverse(*beyond), *name));
    let mut givers = givers.into_iter();
    let mut giver = givers.next();
    for (&name, &replicas) in due {
        let mut missing = of(wanted, name).saturating_sub(of(present, name)).min(replicas);
        while missing > 0
            && let Some((from, beyond)) = &mut giver
        {
            let moved = missing.min(*beyond);
            missing -= moved;
            *beyond -= moved;
            *target.entry(*from).or_default() -= moved;
            *target.entry(name).or_default() += moved;
            if *beyond == 0 {
                giver = givers.next();
            }
        }
    }
    target.retain(|_, replicas| *replicas > 0);
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map<'a>(result: &[(&'a str, i64)]) -> BTreeMap<&'a str, i64> {
        result.iter().copied().collect()
    }

    #[test]
    fn what_left_is_kept_and_read_back() {
        let mut left = Left::default();
        assert_eq!(left.write(), None);
        left.leave("a", 3, 100);
        left.leave("a", 3, 100);
        left.leave("a", 2, 200);
        left.leave("b", 0, 200);
        let text = left.write().unwrap();
        assert_eq!(text, r#"{"a":{"replicas":5,"at":200}}"#);
        assert_eq!(Left::read(Some(&text)), left);
        assert_eq!(left.to_string(), "5 replicas left `a`");
        left.come_back("a", 4);
        assert_eq!(left.departure("a"), Some(Departure { replicas: 1, at: 200 }));
        left.come_back("a", i64::MAX);
        left.come_back("b", 1);
        assert!(!left.remains());
        // The eviction is seen again, although everything is back.
        left.retain(|cluster, at| (cluster, at) == ("a", 200));
        let text = left.write().unwrap();
        assert_eq!(text, r#"{"a":{"replicas":0,"at":200}}"#);
        left = Left::read(Some(&text));
        left.leave("a", 2, 200);
        assert!(!left.remains());
        left.leave("a", 2, 300);
        assert_eq!(left.clusters().collect::<Vec<_>>(), ["a"]);
        left.come_back("a", 2);
        left.retain(|_, _| false);
        assert_eq!(left, Left::default());
        for hostile in [
            "",
            "[]",
            r#"{"a": 1}"#,
            r#"{"a":{"replicas":-1,"at":0}}"#,
            r#"{"a":{"replicas":99999999999,"at":0}}"#,
        ] {
            assert_eq!(Left::read(Some(hostile)), Left::default(), "{hostile}");
        }
        left.leave("a", i32::MAX, 1);
        left.leave("a", i32::MAX, 2);
        assert_eq!(
            left.departure("a"),
            Some(Departure {
                replicas: i32::MAX,
                at: 2
            })
        );
        left.forget();
        assert_eq!(left.write(), None);
    }

    #[test]
    fn the_newest_departures_are_kept() {
        let mut left = Left::default();
        for number in 0..1_000 {
            left.leave(&format!("{number:048}"), i32::MAX, number);
        }
        assert_eq!(left.0.len(), CLUSTERS_MAX);
        assert!(left.departure(&format!("{:048}", 999)).is_some() && left.departure(&format!("{:048}", 0)).is_none());
        assert_eq!(Left::read(left.write().as_deref()), left);
    }

    #[test]
    fn a_cluster_takes_back_after_it_was_ready_for_the_window() {
        let mut left = Left::default();
        left.leave("a", 3, 1_000);
        let due = |now: i64, since: Option<i64>| left.due(600, now, |_| since).len();
        assert_eq!(due(1_599, Some(0)), 0, "it left too short a time ago");
        assert_eq!(due(1_600, Some(0)), 1);
        assert_eq!(due(2_000, Some(1_401)), 0, "it flapped");
        assert_eq!(due(2_001, Some(1_401)), 1);
        assert_eq!(due(i64::MAX, None), 0);
        assert_eq!(left.next(600, 1_500, |_| Some(1_401)), Some(2_001));
        assert_eq!(left.next(600, 2_001, |_| Some(1_401)), None);
        assert_eq!(left.next(600, 0, |_| None), None);
    }

    #[test]
    fn no_more_goes_back_than_left_and_than_the_policy_wants() {
        let of = |present: &[(&'static str, i64)], wanted: &[(&str, i64)], due: &[(&'static str, i64)]| {
            target(&map(present), &map(wanted), &due.iter().copied().collect())
        };
        let (present, wanted) = ([("b", 6), ("c", 4)], [("a", 5), ("b", 2), ("c", 3)]);
        assert_eq!(of(&present, &wanted, &[]), map(&present));
        assert_eq!(of(&present, &wanted, &[("a", 3)]), map(&[("a", 3), ("b", 3), ("c", 4)]));
        assert_eq!(of(&present, &wanted, &[("a", 9)]), map(&[("a", 5), ("b", 2), ("c", 3)]));
        // The policy wants less there by now, or nothing.
        assert_eq!(
            of(&present, &[("a", 1), ("b", 9)], &[("a", 9)]),
            map(&[("a", 1), ("b", 6), ("c", 3)])
        );
        assert_eq!(of(&present, &[("b", 10)], &[("a", 9)]), map(&present));
        // Nothing else moves, although the policy would have it elsewhere.
        let elsewhere = [("a", 2), ("d", 8)];
        assert_eq!(
            of(&present, &elsewhere, &[("a", 9)]),
            map(&[("a", 2), ("b", 4), ("c", 4)])
        );
        // A cluster that gives everything is left.
        assert_eq!(of(&[("b", 2)], &[("a", 2)], &[("a", 2)]), map(&[("a", 2)]));
    }
}
