//! The target that a plan has for a binding: an annotation that whoever carries out the plan writes, and the scheduler removes.
//!
//! A plan for a fleet is made outside the scheduler, from the bindings as they were then. So a target is of one version of its binding: the
//! generation and the result. If either is another, the binding leaves the plan, unless it is on its way to the very target, which its
//! [mark](super::mark) shows. Nothing else is remembered, so any process can go on with a plan, and a plan ends by removing its annotations.

use std::collections::BTreeMap;

use divvy_karmada::api::{ResourceBinding, TargetCluster};
use serde::{Deserialize, Serialize};

use super::change::AtOnce;
use super::mark::{MARK_BYTES_MAX, Mark, destination};

pub use crate::input::PLANNED_ANNOTATION;

/// The version of the form.
const VERSION: u32 = 1;

/// Largest number of bytes of a plan's name.
pub const PLAN_NAME_MAX: usize = 63;

/// What a plan wants of a binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedTarget {
    version: u32,
    /// Name of the plan, such as `2026-11-29-1`.
    pub plan: String,
    /// Generation of the binding of which the plan was made.
    pub generation: i64,
    /// Replicas by cluster before the plan, without those that have none.
    pub from: BTreeMap<String, i64>,
    /// Replicas by cluster under the plan, without those that have none.
    pub target: BTreeMap<String, i64>,
    /// Time after which the target counts no more, in milliseconds since 1970.
    pub until: i64,
}

/// A binding as its planned target is compared with it.
#[derive(Debug, Clone, Copy)]
pub struct PlannedBinding<'a> {
    /// Its generation.
    pub generation: i64,
    /// Its result.
    pub result: &'a [TargetCluster],
    /// Replicas that it asks for.
    pub total: i64,
    /// Its mark, if it has a valid one.
    pub mark: Option<&'a Mark>,
    /// The current time, in milliseconds since 1970.
    pub now: i64,
}

/// Where a binding stands in its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It has its target, and is not on its way.
    Reached,
    /// It is on its way to its target.
    UnderWay,
    /// It has another result, or is on its way to another target.
    Before,
}

/// Reason why a binding leaves its plan. Its text follows "it leaves the plan: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeavesPlan {
    /// Not a planned target.
    #[error("annotation `divvy.io/planned-target`: {reason}")]
    Unreadable {
        /// What is wrong.
        reason: String,
    },
    /// Too long.
    #[error("annotation `divvy.io/planned-target` has {bytes} bytes, expected at most {MARK_BYTES_MAX}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Of another version of Divvy.
    #[error("annotation `divvy.io/planned-target` has version {version}, expected {VERSION}")]
    OtherVersion {
        /// Its version.
        version: u32,
    },
    /// Counts that no result has.
    #[error("annotation `divvy.io/planned-target` gives cluster `{cluster}` {replicas} replicas")]
    Count {
        /// The cluster.
        cluster: String,
        /// The count.
        replicas: i64,
    },
    /// The target is not one of this binding.
    #[error("the planned target has {actual} replicas, expected {expected}")]
    Sum {
        /// Replicas of the target.
        actual: i64,
        /// Replicas that the binding asks for.
        expected: i64,
    },
    /// It was not carried out in time.
    #[error("its time has passed")]
    Expired,
    /// The specification is not that of which the plan was made.
    #[error("its specification has changed since the plan was made")]
    Changed,
    /// The result is not that of which the plan was made.
    #[error("it has another result than when the plan was made")]
    OtherResult,
    /// A cluster of the target is gone.
    #[error("cluster `{cluster}` of the planned target is gone, or is being deleted")]
    UnknownCluster {
        /// The cluster.
        cluster: String,
    },
    /// The binding's filters do not let it use a cluster.
    #[error("its filters do not let it use cluster `{cluster}`")]
    Refused {
        /// The cluster.
        cluster: String,
    },
    /// The plugins decide otherwise with exactly the planned room.
    #[error("its plugins decide otherwise with the planned room: {decision}")]
    DecidedOtherwise {
        /// What they decide.
        decision: String,
    },
    /// The profile moves nothing in steps.
    #[error("the profile has no `[profile.moves]`, so nothing is moved in steps")]
    NoMoves,
    /// It is not moved in steps.
    #[error("it is not moved in steps: {0}")]
    NotInSteps(AtOnce),
}

impl PlannedTarget {
    /// A target of one version of a binding.
    pub fn new(
        plan: String,
        generation: i64,
        from: BTreeMap<String, i64>,
        target: BTreeMap<String, i64>,
        until: i64,
    ) -> Self {
        let without_empty = |mut counts: BTreeMap<String, i64>| {
            counts.retain(|_, replicas| *replicas != 0);
            counts
        };
        Self {
            version: VERSION,
            plan,
            generation,
            from: without_empty(from),
            target: without_empty(target),
            until,
        }
    }

    /// The target that a binding has from this plan; `None` if it has none, or one that cannot be read.
    pub fn of(binding: &ResourceBinding, plan: &str) -> Option<Self> {
        let text = binding.metadata.annotations.get(PLANNED_ANNOTATION)?;
        Self::parse(text).ok().filter(|planned| planned.plan == plan)
    }

    /// Reads the annotation.
    ///
    /// # Errors
    ///
    /// The cause for which it cannot be read, whatever the binding is.
    pub fn parse(text: &str) -> Result<Self, LeavesPlan> {
        if text.len() > MARK_BYTES_MAX {
            return Err(LeavesPlan::TooLong { bytes: text.len() });
        }
        let unreadable = |error: serde_json::Error| LeavesPlan::Unreadable {
            reason: error.to_string(),
        };
        let value = divvy_spanned::unique_value(text).map_err(unreadable)?;
        let read: Self = serde_json::from_value(value).map_err(unreadable)?;
        if read.version != VERSION {
            return Err(LeavesPlan::OtherVersion { version: read.version });
        }
        let is_name = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
        if read.plan.is_empty() || read.plan.len() > PLAN_NAME_MAX || !read.plan.chars().all(is_name) {
            return Err(LeavesPlan::Unreadable {
                reason: format!(
                    "`plan` has {} bytes, expected 1 to {PLAN_NAME_MAX} letters, digits, `-`, `_` or `.`",
                    read.plan.len()
                ),
            });
        }
        let mut counts = read.from.iter().chain(&read.target);
        let wrong = counts.find(|(_, replicas)| !(1..=i64::from(i32::MAX)).contains(*replicas));
        if let Some((cluster, replicas)) = wrong {
            return Err(LeavesPlan::Count {
                cluster: cluster.clone(),
                replicas: *replicas,
            });
        }
        Ok(read)
    }

    /// Text of the annotation, the same for equal targets.
    ///
    /// # Errors
    ///
    /// It would be [too long](LeavesPlan::TooLong).
    pub fn write(&self) -> Result<String, LeavesPlan> {
        let text = serde_json::to_string(self).map_err(|error| LeavesPlan::Unreadable {
            reason: error.to_string(),
        })?;
        match text.len() <= MARK_BYTES_MAX {
            true => Ok(text),
            false => Err(LeavesPlan::TooLong { bytes: text.len() }),
        }
    }

    /// Compares the target with its binding. `is_there` is true for the name of a cluster that exists and is not being deleted.
    ///
    /// # Errors
    ///
    /// The reason why the binding leaves the plan.
    pub fn progress(
        &self,
        binding: &PlannedBinding<'_>,
        is_there: impl Fn(&str) -> bool,
    ) -> Result<Progress, LeavesPlan> {
        let present = counts(binding.result);
        if present == self.target && binding.mark.is_none() {
            return Ok(Progress::Reached);
        }
        if self.until < binding.now {
            return Err(LeavesPlan::Expired);
        }
        if let Some(gone) = self.target.keys().find(|name| !is_there(name)) {
            return Err(LeavesPlan::UnknownCluster { cluster: gone.clone() });
        }
        let actual = self.target.values().sum();
        if actual != binding.total {
            return Err(LeavesPlan::Sum {
                actual,
                expected: binding.total,
            });
        }
        let destination = binding.mark.map(|mark| {
            let mut destination = mark.target(binding.result);
            destination.retain(|_, replicas| *replicas > 0);
            destination
        });
        if destination.as_ref() == Some(&self.target) {
            return Ok(Progress::UnderWay);
        }
        if self.generation != binding.generation {
            return Err(LeavesPlan::Changed);
        }
        // One that is on its way has been given another target: that of a plan which is given up.
        if binding.mark.is_none() && present != self.from {
            return Err(LeavesPlan::OtherResult);
        }
        Ok(Progress::Before)
    }

    /// The target as a result, sorted by cluster.
    pub fn result(&self) -> Vec<TargetCluster> {
        let targets = self.target.iter().map(|(name, replicas)| TargetCluster {
            name: name.clone(),
            // At most `i32::MAX`, by `parse`.
            replicas: i32::try_from(*replicas).unwrap_or(i32::MAX),
            ..TargetCluster::default()
        });
        targets.collect()
    }

    /// Clusters that get replicas beyond those of a result, with how many.
    pub fn gains<'a>(&'a self, result: &[TargetCluster]) -> BTreeMap<&'a str, i64> {
        let present = counts(result);
        let gains = self.target.iter().map(|(name, replicas)| {
            let before = present.get(name).copied().unwrap_or(0);
            (name.as_str(), replicas - before)
        });
        gains.filter(|(_, more)| *more > 0).collect()
    }
}

/// What becomes of the target of a plan that is given up: its annotation is removed (`Some(None)`), or another target takes its place.
/// `None` if it stays as it is: the binding is not in the plan, or goes back already.
///
/// What has not begun stays. What is on its way goes back to the result from before, which stays known, so that this can be repeated.
pub fn give_up(binding: &ResourceBinding, plan: &str, until: i64) -> Option<Option<PlannedTarget>> {
    let planned = PlannedTarget::of(binding, plan)?;
    if planned.target == planned.from {
        return None;
    }
    let mut destination = destination(binding);
    if let Some(destination) = &mut destination {
        destination.retain(|_, replicas| *replicas > 0);
    }
    Some((destination.as_ref() == Some(&planned.target)).then(|| {
        let (before, generation) = (planned.from, binding.metadata.generation);
        PlannedTarget::new(planned.plan, generation, before.clone(), before, until)
    }))
}

/// Replicas by cluster, without those that have none.
pub fn counts(result: &[TargetCluster]) -> BTreeMap<String, i64> {
    let targets = result.iter().filter(|target| target.replicas > 0);
    targets
        .map(|target| (target.name.clone(), i64::from(target.replicas)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::mark::Waypoint;
    use super::super::tests::targets;
    use super::*;

    fn by_name(counts: &[(&str, i64)]) -> BTreeMap<String, i64> {
        counts
            .iter()
            .map(|(name, replicas)| ((*name).to_owned(), *replicas))
            .collect()
    }

    fn planned() -> PlannedTarget {
        let (from, target) = (by_name(&[("a", 4)]), by_name(&[("a", 1), ("b", 3)]));
        PlannedTarget::new("p-1".to_owned(), 7, from, target, 2_000)
    }

    /// The binding of which the plan was made, with this result.
    fn binding(result: &[TargetCluster]) -> PlannedBinding<'_> {
        PlannedBinding {
            generation: 7,
            result,
            total: 4,
            mark: None,
            now: 1_000,
        }
    }

    fn progress(result: &[(&str, i32)], change: impl FnOnce(&mut PlannedBinding<'_>)) -> Result<Progress, LeavesPlan> {
        let result = targets(result);
        let mut binding = binding(&result);
        change(&mut binding);
        planned().progress(&binding, |name| name != "gone")
    }

    #[test]
    fn a_target_is_written_in_one_form_and_read_back() {
        let text = planned().write().unwrap();
        assert_eq!(
            text,
            r#"{"version":1,"plan":"p-1","generation":7,"from":{"a":4},"target":{"a":1,"b":3},"until":2000}"#
        );
        assert_eq!(PlannedTarget::parse(&text), Ok(planned()));
    }

    #[test]
    fn what_is_no_target_is_refused_with_its_cause() {
        let text = planned().write().unwrap();
        let parse = |from: &str, to: &str| PlannedTarget::parse(&text.replace(from, to)).unwrap_err().to_string();
        let unreadable = "annotation `divvy.io/planned-target`: ";
        assert!(parse("{\"a\":1,\"b\":3}", "[]").starts_with(unreadable));
        assert!(parse("\"plan\"", "\"plam\"").contains("unknown field `plam`"));
        assert!(parse("\"b\":3", "\"a\":3").contains("a"), "a key twice");
        assert!(parse("p-1", "").contains("`plan` has 0 bytes"));
        assert!(parse("p-1", &"x".repeat(64)).contains("`plan` has 64 bytes"));
        assert!(parse("p-1", "p\\n1").contains("letters, digits"));
        assert_eq!(
            parse("\"version\":1", "\"version\":2"),
            "annotation `divvy.io/planned-target` has version 2, expected 1"
        );
        for wrong in ["0", "-1", "2147483648"] {
            assert_eq!(
                parse("\"b\":3", &format!("\"b\":{wrong}")),
                format!("annotation `divvy.io/planned-target` gives cluster `b` {wrong} replicas")
            );
        }
        let long = text.replace("\"b\":3", &format!("\"{}\":3", "b".repeat(MARK_BYTES_MAX)));
        assert!(matches!(PlannedTarget::parse(&long), Err(LeavesPlan::TooLong { .. })));
    }

    #[test]
    fn a_target_is_of_one_version_of_its_binding() {
        assert_eq!(progress(&[("a", 4)], |_| ()), Ok(Progress::Before));
        assert_eq!(progress(&[("b", 3), ("a", 1), ("c", 0)], |_| ()), Ok(Progress::Reached));
        // Its target is reached, whatever else has changed.
        let reached = progress(&[("b", 3), ("a", 1)], |binding| {
            binding.generation = 9;
            binding.now = 3_000;
        });
        assert_eq!(reached, Ok(Progress::Reached));
        assert_eq!(
            progress(&[("a", 4)], |binding| binding.generation = 8),
            Err(LeavesPlan::Changed)
        );
        assert_eq!(progress(&[("a", 3), ("b", 1)], |_| ()), Err(LeavesPlan::OtherResult));
        assert_eq!(
            progress(&[("a", 4)], |binding| binding.now = 2_001),
            Err(LeavesPlan::Expired)
        );
        let expected = LeavesPlan::Sum { actual: 4, expected: 5 };
        assert_eq!(progress(&[("a", 4)], |binding| binding.total = 5), Err(expected));
    }

    #[test]
    fn a_binding_on_its_way_stays_in_its_plan_only_on_the_way_to_its_target() {
        let mark = |target: i64| Mark {
            clusters: [("a", 4 - target), ("b", target)]
                .into_iter()
                .map(|(name, target)| (name.to_owned(), Waypoint { target, bound: None }))
                .collect(),
            ..Mark::default()
        };
        let (right, other) = (mark(3), mark(2));
        let result = targets(&[("a", 3), ("b", 1)]);
        let with = |mark, generation| {
            let binding = PlannedBinding {
                generation,
                mark: Some(mark),
                ..binding(&result)
            };
            planned().progress(&binding, |_| true)
        };
        assert_eq!(with(&right, 9), Ok(Progress::UnderWay));
        assert_eq!(with(&other, 9), Err(LeavesPlan::Changed));
        // It is given another target on its way: of the present version.
        assert_eq!(with(&other, 7), Ok(Progress::Before));
    }

    #[test]
    fn a_cluster_of_the_target_must_be_there() {
        let mut planned = planned();
        planned.target = by_name(&[("a", 1), ("gone", 3)]);
        let result = targets(&[("a", 4)]);
        let expected = LeavesPlan::UnknownCluster {
            cluster: "gone".to_owned(),
        };
        assert_eq!(
            planned.progress(&binding(&result), |name| name != "gone"),
            Err(expected)
        );
    }

    #[test]
    fn what_is_given_up_stays_goes_back_or_has_arrived() {
        use crate::decide::stored_hash::result_hash;
        use crate::moves::mark::MOVE_ANNOTATION;

        let mut binding = ResourceBinding::default();
        binding.metadata.generation = 9;
        binding.spec.replicas = Some(4);
        binding.spec.clusters = targets(&[("a", 4)]);
        assert_eq!(give_up(&binding, "p-1", 5_000), None);
        let annotate = |binding: &mut ResourceBinding, key: &str, text: String| {
            binding.metadata.annotations.insert(key.to_owned(), text);
        };
        annotate(&mut binding, PLANNED_ANNOTATION, planned().write().unwrap());
        assert_eq!(give_up(&binding, "p-2", 5_000), None, "another plan is not given up");
        assert_eq!(give_up(&binding, "p-1", 5_000), Some(None), "it has not begun");

        let present = targets(&[("a", 3), ("b", 1)]);
        let clusters = [("a", 1), ("b", 3)].map(|(name, target)| (name.to_owned(), Waypoint { target, bound: None }));
        let mark = Mark {
            generation: 9,
            result: result_hash(&present),
            clusters: clusters.into(),
            ..Mark::default()
        };
        binding.spec.clusters = present;
        annotate(&mut binding, MOVE_ANNOTATION, mark.write().unwrap());
        let before = by_name(&[("a", 4)]);
        let back = PlannedTarget::new("p-1".to_owned(), 9, before.clone(), before, 5_000);
        assert_eq!(give_up(&binding, "p-1", 5_000), Some(Some(back.clone())));
        annotate(&mut binding, PLANNED_ANNOTATION, back.write().unwrap());
        assert_eq!(give_up(&binding, "p-1", 6_000), None, "it goes back already");
    }

    #[test]
    fn gains_are_what_a_target_has_beyond_a_result() {
        assert_eq!(planned().gains(&targets(&[("a", 4)])), BTreeMap::from([("b", 3)]));
        assert_eq!(
            planned().gains(&targets(&[("b", 2)])),
            BTreeMap::from([("a", 1), ("b", 1)])
        );
        assert_eq!(planned().result(), targets(&[("a", 1), ("b", 3)]));
    }
}
