//! The results that are written in steps, and those that are written at once.

use std::collections::BTreeMap;

use divvy_karmada::api::{BindingSuspension, ResourceBinding, StringMap, TargetCluster, TypeMeta};
use divvy_profile::{IncludedKind, MovesConfiguration, WrittenAllowances};

use super::readiness::Reporting;
use crate::decide::ownership::is_ours;
use crate::decide::rules::Sum;

/// Label of a workload whose replicas the members' autoscalers set: Karmada's `RetainReplicasLabel`
/// (`pkg/util/constants.go`).
const RETAIN_REPLICAS: &str = "resourcetemplate.karmada.io/retain-replicas";

/// The way in which a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// The result is the present one.
    Unchanged,
    /// As a whole.
    AtOnce(AtOnce),
    /// In steps.
    Steps,
}

/// Reason why a result is written as a whole. Its text follows "not moved in steps: ".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum AtOnce {
    /// The profile moves nothing in steps.
    #[error("the profile names no pace in `[profile.moves]`")]
    NoPace,
    /// The policy says so.
    #[error("its policy has `\"steps\": false` in `divvy.io/moves`")]
    Policy,
    /// There is no result to move from.
    #[error("it is the first result")]
    FirstResult,
    /// No cluster loses replicas. Replacing what Karmada has evicted is such a result.
    #[error("no cluster loses replicas")]
    OnlyGives,
    /// The result has fewer replicas than the binding asks for, or more.
    #[error("it does not have all replicas that are asked for")]
    Partial,
    /// Replicas are not divided.
    #[error("its replicas are not divided over the clusters")]
    NotDivided,
    /// A Job.
    #[error("Karmada divides the completions of a Job anew with every change of its result")]
    Job,
    /// The members set the replicas.
    #[error("under the label `resourcetemplate.karmada.io/retain-replicas`, members ignore the replicas of a result")]
    RetainedReplicas,
    /// A set of components. It goes to a cluster as a whole, so that there is nothing between its result and its target: a result with
    /// both clusters would run the set twice, and break the spread constraint of one cluster without which Karmada places no sets.
    #[error(
        "its components are one set, which a cluster gets as a whole, so that a step could only be the whole move; `include` does not change that"
    )]
    Components,
    /// A StatefulSet whose policy does not ask for steps.
    #[error(
        "replicas of a StatefulSet in two clusters have the same ordinals; `include: [\"StatefulSet\"]` in `divvy.io/moves` permits it"
    )]
    StatefulSet,
    /// A kind without readiness whose policy does not ask for steps.
    #[error(
        "resources of its kind do not report `readyReplicas`; `include: [\"WithoutReadiness\"]` in `divvy.io/moves` permits it"
    )]
    WithoutReadiness,
}

/// Reason why a binding is not touched at all. Its text follows "not moved: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untouched {
    /// Another scheduler's.
    #[error("it belongs to scheduler `{scheduler}`")]
    OtherScheduler {
        /// Its scheduler.
        scheduler: String,
    },
    /// Its scheduling is suspended.
    #[error("its scheduling is suspended")]
    Suspended,
    /// It is being deleted, or no policy has it.
    #[error("it is being deleted, or belongs to no policy")]
    Unclaimed,
}

/// What a workload is, as far as its moves depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// True for a Job.
    pub is_job: bool,
    /// True for a StatefulSet.
    pub is_stateful_set: bool,
    /// True for a set of components: each cluster of a result gets all of them, and a result has no replicas. A resource with a single
    /// component is divided as if it had none.
    pub is_component_set: bool,
    /// True if the members set the replicas.
    pub retains_replicas: bool,
    /// The form in which its status shows readiness.
    pub reporting: Reporting,
}

impl Workload {
    /// The workload of a binding: a resource of this kind, which [may be a set of
    /// components](crate::fleet::Footprint::is_component_set). `labels` are those of the workload; `reporting` is what its status has shown.
    pub fn new(kind: &TypeMeta, is_component_set: bool, labels: Option<&StringMap>, reporting: Reporting) -> Self {
        let is = |group: &str, name: &str| kind.kind == name && kind.api_version.starts_with(group);
        Self {
            is_job: is("batch/", "Job"),
            is_stateful_set: is("apps/", "StatefulSet"),
            is_component_set,
            retains_replicas: labels
                .and_then(|labels| labels.get(RETAIN_REPLICAS))
                .is_some_and(|value| value == "true"),
            reporting,
        }
    }
}

/// The way in which the result `target` is written over `present`. What Karmada evicts is no longer in `present`, so replacing it only
/// gives. A smaller total takes: what is beyond it is the first that [steps](super::step) take, at once as far as the rest is ready.
pub fn course(
    present: &[TargetCluster],
    target: &[TargetCluster],
    (total, sum): (i64, Sum),
    workload: &Workload,
    profile: Option<&MovesConfiguration>,
    policy: &WrittenAllowances,
) -> Course {
    let (gives, takes) = directions(present, target, workload.is_component_set);
    if !gives && !takes {
        return Course::Unchanged;
    }
    let reason = match hindrance(target, (total, sum), workload, profile, policy) {
        Some(AtOnce::NoPace) => Some(AtOnce::NoPace),
        _ if present.is_empty() => Some(AtOnce::FirstResult),
        _ if !takes => Some(AtOnce::OnlyGives),
        hindrance => hindrance,
    };
    reason.map_or(Course::Steps, Course::AtOnce)
}

/// The reason why a result is not written in steps, whatever is present; `None` if a move to it is.
pub fn hindrance(
    target: &[TargetCluster],
    (total, sum): (i64, Sum),
    workload: &Workload,
    profile: Option<&MovesConfiguration>,
    policy: &WrittenAllowances,
) -> Option<AtOnce> {
    let Some(profile) = profile.filter(|profile| profile.pace.is_some()) else {
        return Some(AtOnce::NoPace);
    };
    let reports = workload.reporting == Reporting::ReadyReplicas;
    let reasons = [
        // Before the replicas, of which such a result has none.
        (workload.is_component_set, AtOnce::Components),
        // Without replicas, a workload goes to every candidate.
        (sum != Sum::Divided || total == 0, AtOnce::NotDivided),
        (replicas(target) != total, AtOnce::Partial),
        (policy.steps == Some(false), AtOnce::Policy),
        (workload.is_job, AtOnce::Job),
        (workload.retains_replicas, AtOnce::RetainedReplicas),
        (
            workload.is_stateful_set && !profile.includes(policy, IncludedKind::StatefulSet),
            AtOnce::StatefulSet,
        ),
        (
            !reports && !profile.includes(policy, IncludedKind::WithoutReadiness),
            AtOnce::WithoutReadiness,
        ),
    ];
    reasons
        .into_iter()
        .find_map(|(applies, reason)| applies.then_some(reason))
}

/// The reason why a scheduler does not touch a binding; `None` if it is its own.
pub fn untouched(binding: &ResourceBinding, scheduler: &str) -> Option<Untouched> {
    if is_ours(binding, scheduler) {
        return None;
    }
    let spec = &binding.spec;
    let is_suspended = spec.suspension.as_ref().and_then(|suspension| suspension.scheduling) == Some(true);
    Some(if spec.scheduler_name != scheduler {
        Untouched::OtherScheduler {
            scheduler: spec.scheduler_name.clone(),
        }
    } else if is_suspended {
        Untouched::Suspended
    } else {
        Untouched::Unclaimed
    })
}

/// True if dispatching is suspended, as a whole or in one of these clusters: a step would not reach its members.
pub fn is_dispatching_suspended<'a>(
    suspension: Option<&BindingSuspension>,
    mut clusters: impl Iterator<Item = &'a str>,
) -> bool {
    let Some(suspension) = suspension else {
        return false;
    };
    let listed = suspension.dispatching_on_clusters.as_ref();
    let is_listed =
        |name: &str| listed.is_some_and(|listed| listed.cluster_names.iter().any(|cluster| cluster == name));
    suspension.dispatching == Some(true) || clusters.any(is_listed)
}

fn replicas(result: &[TargetCluster]) -> i64 {
    result.iter().map(|cluster| i64::from(cluster.replicas)).sum()
}

/// True if a cluster gets replicas, and true if a cluster loses some. A set of components counts as one.
fn directions(present: &[TargetCluster], target: &[TargetCluster], is_component_set: bool) -> (bool, bool) {
    let count = |cluster: &TargetCluster| match is_component_set {
        true => 1,
        false => i64::from(cluster.replicas),
    };
    let mut changes: BTreeMap<&str, i64> = BTreeMap::new();
    for cluster in target {
        *changes.entry(&cluster.name).or_default() += count(cluster);
    }
    for cluster in present {
        *changes.entry(&cluster.name).or_default() -= count(cluster);
    }
    let changes = || changes.values();
    (changes().any(|change| *change > 0), changes().any(|change| *change < 0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::targets;
    use super::*;
    use crate::fleet::Footprint;

    const DEPLOYMENT: Workload = Workload {
        is_job: false,
        is_stateful_set: false,
        is_component_set: false,
        retains_replicas: false,
        reporting: Reporting::ReadyReplicas,
    };

    fn kind(api_version: &str, kind: &str) -> TypeMeta {
        TypeMeta {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        }
    }

    fn profile() -> MovesConfiguration {
        MovesConfiguration {
            pace: Some("surge".to_owned()),
            ..MovesConfiguration::default()
        }
    }

    fn written(workload: &Workload, policy: &str) -> Course {
        let policy = WrittenAllowances::parse(policy).unwrap();
        let (present, target) = (targets(&[("a", 4)]), targets(&[("b", 4)]));
        course(
            &present,
            &target,
            (4, Sum::Divided),
            workload,
            Some(&profile()),
            &policy,
        )
    }

    #[test]
    fn only_results_that_take_and_give_are_moves() {
        let no_policy = WrittenAllowances::default();
        let of = |present: &[(&str, i32)], target: &[(&str, i32)]| {
            let (present, target) = (targets(present), targets(target));
            course(
                &present,
                &target,
                (replicas(&target), Sum::Divided),
                &DEPLOYMENT,
                Some(&profile()),
                &no_policy,
            )
        };
        assert_eq!(of(&[("a", 4)], &[("b", 4)]), Course::Steps);
        assert_eq!(of(&[("a", 4), ("b", 1)], &[("b", 1), ("a", 4)]), Course::Unchanged);
        assert_eq!(of(&[], &[("a", 4)]), Course::AtOnce(AtOnce::FirstResult));
        assert_eq!(of(&[("a", 4)], &[("a", 3)]), Course::Steps);
        assert_eq!(of(&[("a", 4)], &[("a", 0)]), Course::AtOnce(AtOnce::NotDivided));
        // Karmada has evicted two replicas from `b`.
        assert_eq!(
            of(&[("a", 4)], &[("a", 5), ("c", 1)]),
            Course::AtOnce(AtOnce::OnlyGives)
        );
        // It has, and the decision moves another one.
        assert_eq!(of(&[("a", 4)], &[("a", 3), ("c", 3)]), Course::Steps);
        // A smaller total, of which a part moves.
        assert_eq!(of(&[("a", 9)], &[("a", 3), ("c", 2)]), Course::Steps);
    }

    /// FlinkDeployments, for example. Their results list clusters with 0 replicas.
    #[test]
    fn a_set_of_components_moves_as_a_whole_and_one_component_is_divided() {
        let of = |replicas: i32, names: &[&str]| {
            let components = names.iter().map(|name| json!({"name": name, "replicas": 2}));
            let binding = json!({"spec": {
                "resource": {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment"},
                "replicas": replicas,
                "components": components.collect::<Vec<_>>(),
            }});
            let binding: ResourceBinding = serde_json::from_value(binding).unwrap();
            let is_component_set = Footprint::new(&binding.spec).is_component_set();
            Workload::new(
                &kind("flink.apache.org/v1beta1", "FlinkDeployment"),
                is_component_set,
                None,
                Reporting::Health,
            )
        };
        let set = of(0, &["jobmanager", "taskmanager"]);
        let included = WrittenAllowances::parse(r#"{"include": ["StatefulSet", "WithoutReadiness"]}"#).unwrap();
        let written = |workload: &Workload, present: &[(&str, i32)], target: &[(&str, i32)], total: i64| {
            let (present, target) = (targets(present), targets(target));
            let total = (total, Sum::Divided);
            course(&present, &target, total, workload, Some(&profile()), &included)
        };
        let components = Course::AtOnce(AtOnce::Components);
        assert_eq!(written(&set, &[("a", 0)], &[("b", 0)], 0), components);
        assert_eq!(written(&set, &[("a", 0), ("b", 0)], &[("b", 0)], 0), components);
        assert_eq!(written(&set, &[("b", 0)], &[("b", 0)], 0), Course::Unchanged);
        assert_eq!(written(&set, &[], &[("b", 0)], 0), Course::AtOnce(AtOnce::FirstResult));
        assert_eq!(written(&of(0, &["only"]), &[("a", 0)], &[("b", 0)], 0), components);
        // Others without replicas say nothing of steps.
        assert_eq!(written(&of(0, &[]), &[("a", 0)], &[("b", 0)], 0), Course::Unchanged);
        assert_eq!(written(&of(4, &["only"]), &[("a", 4)], &[("b", 4)], 4), Course::Steps);
    }

    #[test]
    fn every_workload_that_is_not_moved_in_steps_says_why() {
        let workload = DEPLOYMENT;
        let cases = [
            (
                Workload {
                    is_job: true,
                    ..workload
                },
                AtOnce::Job,
            ),
            (
                Workload {
                    retains_replicas: true,
                    ..workload
                },
                AtOnce::RetainedReplicas,
            ),
            (
                Workload {
                    is_component_set: true,
                    ..workload
                },
                AtOnce::Components,
            ),
            (
                Workload {
                    is_stateful_set: true,
                    ..workload
                },
                AtOnce::StatefulSet,
            ),
            (
                Workload {
                    reporting: Reporting::Health,
                    ..workload
                },
                AtOnce::WithoutReadiness,
            ),
            (
                Workload {
                    reporting: Reporting::Nothing,
                    ..workload
                },
                AtOnce::WithoutReadiness,
            ),
        ];
        let everything = r#"{"include": ["StatefulSet", "WithoutReadiness"]}"#;
        for (workload, reason) in cases {
            assert_eq!(written(&workload, "{}"), Course::AtOnce(reason));
            let is_permitted = [AtOnce::StatefulSet, AtOnce::WithoutReadiness].contains(&reason);
            let expected = if is_permitted {
                Course::Steps
            } else {
                Course::AtOnce(reason)
            };
            assert_eq!(written(&workload, everything), expected, "{reason}");
            assert!(!reason.to_string().is_empty());
        }
        assert_eq!(written(&workload, "{}"), Course::Steps);
        assert_eq!(written(&workload, r#"{"steps": true}"#), Course::Steps);
        assert_eq!(
            written(&workload, r#"{"steps": false}"#),
            Course::AtOnce(AtOnce::Policy)
        );
        let (present, target) = (targets(&[("a", 4)]), targets(&[("b", 4)]));
        let policy = WrittenAllowances::default();
        for profile in [None, Some(MovesConfiguration::default())] {
            let course = course(
                &present,
                &target,
                (4, Sum::Divided),
                &workload,
                profile.as_ref(),
                &policy,
            );
            assert_eq!(course, Course::AtOnce(AtOnce::NoPace));
        }
        let partial = course(
            &present,
            &target,
            (5, Sum::Divided),
            &workload,
            Some(&profile()),
            &policy,
        );
        assert_eq!(partial, Course::AtOnce(AtOnce::Partial));
        let duplicated = course(
            &present,
            &target,
            (4, Sum::Duplicated),
            &workload,
            Some(&profile()),
            &policy,
        );
        assert_eq!(duplicated, Course::AtOnce(AtOnce::NotDivided));
    }

    #[test]
    fn a_workload_is_known_by_its_group_and_kind() {
        let of = |api_version: &str, name: &str, labels: &[(&str, &str)]| {
            let labels = labels
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect();
            Workload::new(&kind(api_version, name), false, Some(&labels), Reporting::ReadyReplicas)
        };
        assert_eq!(of("apps/v1", "Deployment", &[(RETAIN_REPLICAS, "false")]), DEPLOYMENT);
        assert!(of("batch/v1", "Job", &[]).is_job && !of("batch.example.com/v1", "Job", &[]).is_job);
        assert!(of("apps/v1", "StatefulSet", &[]).is_stateful_set);
        assert!(!of("apps.kruise.io/v1beta1", "StatefulSet", &[]).is_stateful_set);
        assert!(of("apps/v1", "Deployment", &[(RETAIN_REPLICAS, "true")]).retains_replicas);
    }

    #[test]
    fn bindings_of_others_and_suspended_ones_are_not_touched() {
        let of = |spec: serde_json::Value| -> ResourceBinding {
            let labels = json!({"binding.karmada.io/managed-by": "x"});
            serde_json::from_value(json!({"metadata": {"labels": labels}, "spec": spec})).unwrap()
        };
        let reason = |spec| untouched(&of(spec), "divvy").map(|reason| reason.to_string());
        assert_eq!(reason(json!({"schedulerName": "divvy"})), None);
        assert_eq!(
            reason(json!({"schedulerName": "x"})).as_deref(),
            Some("it belongs to scheduler `x`")
        );
        let suspended = json!({"schedulerName": "divvy", "suspension": {"scheduling": true}});
        assert_eq!(reason(suspended).as_deref(), Some("its scheduling is suspended"));
        let dispatching = |suspension| {
            let binding = of(json!({"schedulerName": "divvy", "suspension": suspension}));
            is_dispatching_suspended(binding.spec.suspension.as_ref(), ["a", "b"].into_iter())
        };
        assert!(!dispatching(json!(null)) && dispatching(json!({"dispatching": true})));
        assert!(dispatching(json!({"dispatchingOnClusters": {"clusterNames": ["b"]}})));
        assert!(!dispatching(json!({"dispatchingOnClusters": {"clusterNames": ["c"]}})));
    }
}
