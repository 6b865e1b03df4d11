//! The replicas of a cluster that are known to be ready: a lower bound of those that are.
//!
//! A report may describe the time before a step. So a cluster that a step gave more replicas counts as having no more ready ones than
//! before, until its entry in `status.aggregatedStatus` changes. An entry that stays as it is may be right, too: it counts once it has
//! stayed so for the time that reports take. In a cluster from which a step took replicas, or whose entry shows more than it was given,
//! a changed entry may still be an old one, so that only time counts.

use divvy_karmada::api::ResourceBinding;

/// The form in which a kind's status shows readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reporting {
    /// `readyReplicas`.
    ReadyReplicas,
    /// The health that Karmada interprets: all replicas, or none.
    Health,
    /// Nothing. Replicas count as ready once the resource is applied and the time that reports take has passed.
    Nothing,
}

/// Health of a resource in a cluster, as Karmada interprets it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Health {
    /// All of it runs.
    Healthy,
    /// Not all of it runs.
    Unhealthy,
    /// Not reported.
    #[default]
    Unknown,
}

/// An entry of `status.aggregatedStatus`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report<'a> {
    /// Name of the cluster.
    pub cluster: &'a str,
    /// True if the resource was applied there.
    pub applied: bool,
    /// Its health there.
    pub health: Health,
    /// `replicas` of its status; `None` if it has none.
    pub replicas: Option<i64>,
    /// `readyReplicas` of its status; `None` if it has none.
    pub ready_replicas: Option<i64>,
    /// Hash of the whole entry, to notice that it changed.
    pub fingerprint: u32,
}

/// An upper bound of a cluster's ready replicas that no report shows yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// The bound: the least that steps gave the cluster.
    pub replicas: i64,
    /// Fingerprint of the entry that does not show it, which ends the bound by changing. `None` if only time ends it.
    pub entry: Option<u32>,
}

impl Reporting {
    /// The form for a binding. Kinds of Kubernetes whose status has `readyReplicas` leave it out where it is 0; of others, an entry that has
    /// it shows that the kind does.
    pub fn new(binding: &ResourceBinding, reports: &[Report<'_>]) -> Self {
        let resource = &binding.spec.resource;
        let is_known = resource.api_version.starts_with("apps/")
            && ["Deployment", "StatefulSet", "ReplicaSet"].contains(&resource.kind.as_str());
        if is_known || reports.iter().any(|report| report.ready_replicas.is_some()) {
            Self::ReadyReplicas
        } else if reports.iter().any(|report| report.health != Health::Unknown) {
            Self::Health
        } else {
            Self::Nothing
        }
    }
}

impl Bound {
    /// No bound: the replicas were given by a move, and are not ready yet.
    pub const GIVEN: Self = Self {
        replicas: i32::MAX as i64,
        entry: None,
    };

    /// The bound of a cluster that a step leaves with fewer replicas: `next`.
    pub fn lowered(next: i64, earlier: Option<Self>) -> Self {
        Self {
            replicas: earlier.map_or(next, |earlier| earlier.replicas.min(next)),
            entry: None,
        }
    }

    /// The bound of a cluster that a step gives more replicas than `current`.
    pub fn raised(current: i64, report: Option<&Report<'_>>, earlier: Option<Self>) -> Self {
        let replicas = earlier.map_or(current, |earlier| earlier.replicas.min(current));
        let shown = report
            .into_iter()
            .flat_map(|report| [report.replicas, report.ready_replicas]);
        let shows_more = shown.flatten().any(|shown| shown > replicas);
        let only_time = shows_more || earlier.is_some_and(|earlier| earlier.entry.is_none());
        Self {
            replicas,
            entry: (!only_time).then(|| fingerprint(report)),
        }
    }

    /// True if the bound still counts. `is_settled` is true once the time that reports take has passed since the last step.
    pub fn counts(self, report: Option<&Report<'_>>, is_settled: bool) -> bool {
        let is_unchanged = self.entry.is_none_or(|entry| entry == fingerprint(report));
        is_unchanged && !is_settled && self != Self::GIVEN
    }
}

/// The replicas of a cluster that are known to be ready, of the `current` ones that the present result gives it. `bound` is one that
/// [counts](Bound::counts). In a cluster that is not Ready, no replicas are.
pub fn ready(
    reporting: Reporting,
    current: i64,
    report: Option<&Report<'_>>,
    is_cluster_ready: bool,
    bound: Option<Bound>,
) -> i64 {
    if !is_cluster_ready {
        return 0;
    }
    let most = bound.map_or(current, |bound| bound.replicas.min(current));
    reported(reporting, current, report).clamp(0, most.max(0))
}

/// The ready replicas that a report shows, of `current` ones.
fn reported(reporting: Reporting, current: i64, report: Option<&Report<'_>>) -> i64 {
    let Some(report) = report.filter(|report| report.applied) else {
        return 0;
    };
    match reporting {
        Reporting::ReadyReplicas => report.ready_replicas.unwrap_or(0),
        Reporting::Health if report.health != Health::Healthy => 0,
        Reporting::Health | Reporting::Nothing => current,
    }
}

/// Fingerprint of an entry; 0 if there is none.
pub(crate) fn fingerprint(report: Option<&Report<'_>>) -> u32 {
    report.map_or(0, |report| report.fingerprint)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SOME: Report<'_> = Report {
        cluster: "a",
        applied: true,
        health: Health::Healthy,
        replicas: Some(4),
        ready_replicas: Some(3),
        fingerprint: 7,
    };

    #[test]
    fn what_is_ready_is_what_the_report_shows_within_the_result() {
        let of =
            |reporting, current, report: Option<Report<'_>>| ready(reporting, current, report.as_ref(), true, None);
        assert_eq!(of(Reporting::ReadyReplicas, 4, Some(SOME)), 3);
        assert_eq!(of(Reporting::ReadyReplicas, 2, Some(SOME)), 2);
        assert_eq!(of(Reporting::ReadyReplicas, 4, None), 0);
        for ready_replicas in [None, Some(-3), Some(i64::MIN)] {
            assert_eq!(
                of(Reporting::ReadyReplicas, 4, Some(Report { ready_replicas, ..SOME })),
                0
            );
        }
        let huge = Report {
            ready_replicas: Some(i64::MAX),
            ..SOME
        };
        assert_eq!(of(Reporting::ReadyReplicas, 4, Some(huge)), 4);
        let unapplied = Report { applied: false, ..SOME };
        for reporting in [Reporting::ReadyReplicas, Reporting::Health, Reporting::Nothing] {
            assert_eq!(of(reporting, 4, Some(unapplied)), 0);
            assert_eq!(
                ready(reporting, 4, Some(&SOME), false, None),
                0,
                "the cluster is not Ready"
            );
        }
        assert_eq!(of(Reporting::Health, 4, Some(SOME)), 4);
        for health in [Health::Unhealthy, Health::Unknown] {
            assert_eq!(of(Reporting::Health, 4, Some(Report { health, ..SOME })), 0);
            assert_eq!(of(Reporting::Nothing, 4, Some(Report { health, ..SOME })), 4);
        }
    }

    #[test]
    fn a_report_of_before_a_step_counts_as_far_as_the_step_allows() {
        // Ten replicas were there, five are left, and a step gives three more.
        let stale = Report {
            ready_replicas: Some(10),
            ..SOME
        };
        let bound = Bound::raised(5, Some(&stale), None);
        assert_eq!(
            bound,
            Bound {
                replicas: 5,
                entry: None
            }
        );
        assert_eq!(ready(Reporting::ReadyReplicas, 8, Some(&stale), true, Some(bound)), 5);
        let late = Report {
            ready_replicas: Some(9),
            fingerprint: 8,
            ..SOME
        };
        assert!(bound.counts(Some(&stale), false) && bound.counts(Some(&late), false));
        assert!(!bound.counts(Some(&late), true));
        assert!(!Bound::GIVEN.counts(None, false));
        let more = Report {
            replicas: Some(10),
            ..SOME
        };
        assert_eq!(Bound::raised(5, Some(&more), None).entry, None);
        assert_eq!(
            Bound::lowered(4, Some(bound)),
            Bound {
                replicas: 4,
                entry: None
            }
        );
        assert_eq!(Bound::lowered(6, Some(bound)), bound);
        // A report that may be right ends the bound by changing.
        let bound = Bound::raised(5, Some(&SOME), None);
        assert_eq!(
            bound,
            Bound {
                replicas: 5,
                entry: Some(7)
            }
        );
        assert!(bound.counts(Some(&SOME), false) && !bound.counts(Some(&late), false));
        assert!(!bound.counts(Some(&SOME), true) && !bound.counts(None, false));
        // A further step keeps the smaller bound, and what ends it.
        let earlier = Bound {
            replicas: 2,
            entry: None,
        };
        assert_eq!(Bound::raised(5, Some(&SOME), Some(earlier)), earlier);
        assert_eq!(
            Bound::raised(0, None, None),
            Bound {
                replicas: 0,
                entry: Some(0)
            }
        );
    }

    #[test]
    fn kinds_report_readiness_by_their_group_or_by_having_done_so() {
        let of = |api_version: &str, kind: &str, reports: &[Report<'_>]| {
            let binding = json!({"spec": {"resource": {"apiVersion": api_version, "kind": kind}}});
            Reporting::new(&serde_json::from_value(binding).unwrap(), reports)
        };
        let without = Report {
            ready_replicas: None,
            ..SOME
        };
        let unknown = Report {
            health: Health::Unknown,
            ..without
        };
        assert_eq!(of("apps/v1", "Deployment", &[]), Reporting::ReadyReplicas);
        assert_eq!(of("example.com/v1", "Deployment", &[]), Reporting::Nothing);
        assert_eq!(of("example.com/v1", "Web", &[unknown, SOME]), Reporting::ReadyReplicas);
        assert_eq!(of("example.com/v1", "Web", &[unknown, without]), Reporting::Health);
        assert_eq!(of("example.com/v1", "Web", &[unknown]), Reporting::Nothing);
    }
}
