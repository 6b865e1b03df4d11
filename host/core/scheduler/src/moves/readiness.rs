//! The replicas of a cluster that are known to be ready: a lower bound of those that are.
//!
//! A report may describe the time before a step. So a cluster that a step gave more replicas counts as having no more ready ones than
//! before, until its entry in `status.aggregatedStatus` changes. An entry that stays as it is may be right, too: it counts once it has
//! stayed so for the time that reports take. In a cluster from which a step took replicas, or whose entry shows more than it was given,
//! a changed entry may still be an old one. It counts if it answers for the step: Karmada takes a Deployment for Healthy only if it has at
//! least as many replicas as its own specification says. So a Healthy entry with few enough replicas is newer than the step, if all that
//! the cluster may have had before was more. Otherwise, only time counts.

use divvy_karmada::api::TypeMeta;

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
    /// True if some of its replicas are of an older template.
    pub is_rolling_out: bool,
    /// Hash of the whole entry, to notice that it changed.
    pub fingerprint: u32,
}

/// An upper bound of a cluster's ready replicas that no report shows yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// The bound: the least that steps gave the cluster.
    pub replicas: i64,
    /// Fingerprint of the entry that does not show it. In a cluster that was given more than the bound, any other entry ends it; in one that
    /// was left with the bound, an entry that answers for it. `None` if only time ends it.
    pub entry: Option<u32>,
}

/// True if the entries of a resource of this kind that are Healthy have at least as many replicas as the cluster's own object asks for. So Karmada
/// interprets these kinds (`pkg/resourceinterpreter/default/native/healthy.go`); of others, it is not known.
pub fn has_counted_health(kind: &TypeMeta) -> bool {
    kind.api_version.starts_with("apps/") && ["Deployment", "StatefulSet", "ReplicaSet"].contains(&kind.kind.as_str())
}

impl Report<'_> {
    /// The most replicas that the cluster's own object may have asked for when the entry was made, if its health
    /// [counts](has_counted_health); `None` if the entry does not say.
    fn asked(&self) -> Option<i64> {
        let says = self.applied && self.health == Health::Healthy && !self.is_rolling_out;
        // A status leaves 0 out.
        says.then(|| self.replicas.unwrap_or(0))
    }
}

impl Reporting {
    /// The form for a resource of this kind. Kinds of Kubernetes whose status has `readyReplicas` leave it out where it is 0; of others, an entry that has
    /// it shows that the kind does.
    pub fn new(kind: &TypeMeta, reports: &[Report<'_>]) -> Self {
        if has_counted_health(kind) || reports.iter().any(|report| report.ready_replicas.is_some()) {
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

    /// The bound of a cluster that a step leaves with fewer replicas: `next`. `report` is `None` if its health [does not
    /// count](has_counted_health).
    ///
    /// An entry may answer for the step if the cluster cannot have had so few before: neither by the earlier bound, which is the least that
    /// steps gave it, nor by what it had before them, which the present entry shows to be past.
    pub fn lowered(next: i64, report: Option<&Report<'_>>, earlier: Option<Self>) -> Self {
        let is_least = earlier.is_none_or(|earlier| next < earlier.replicas);
        let showed_more = report.and_then(Report::asked).is_some_and(|shown| shown > next);
        Self {
            replicas: earlier.map_or(next, |earlier| earlier.replicas.min(next)),
            entry: (is_least && showed_more).then(|| fingerprint(report)),
        }
    }

    /// The bound of a cluster that a step gives more replicas than `current`.
    pub fn raised(current: i64, report: Option<&Report<'_>>, earlier: Option<Self>) -> Self {
        let replicas = earlier.map_or(current, |earlier| earlier.replicas.min(current));
        let shown = report
            .into_iter()
            .flat_map(|report| [report.replicas, report.ready_replicas]);
        let shows_more = shown.flatten().any(|shown| shown > replicas);
        // Of an earlier step that took replicas, no entry has been seen that answers.
        let is_unanswered = |earlier: Self| earlier.entry.is_none() || earlier.is_left_with(current);
        let only_time = shows_more || earlier.is_some_and(is_unanswered);
        Self {
            replicas,
            entry: (!only_time).then(|| fingerprint(report)),
        }
    }

    /// True if the bound still counts in a cluster that has `current` replicas. `is_settled` is true once the time that reports take has
    /// passed since the last step.
    pub fn counts(self, current: i64, report: Option<&Report<'_>>, is_settled: bool) -> bool {
        let is_ended = match self.entry {
            None => false,
            Some(_) if self.is_left_with(current) => self.is_answered(report),
            Some(entry) => entry != fingerprint(report),
        };
        !is_ended && !is_settled && self != Self::GIVEN
    }

    /// True if the last step left a cluster that has `current` replicas with the bound, and an entry may answer for it.
    fn is_left_with(self, current: i64) -> bool {
        self.entry.is_some() && current <= self.replicas
    }

    /// True if an entry is newer than the step that left the cluster with the bound. Where nothing was left, there is none: Karmada leaves
    /// out what it removes.
    fn is_answered(self, report: Option<&Report<'_>>) -> bool {
        let Some(report) = report else {
            return self.replicas == 0;
        };
        report.asked().is_some_and(|asked| asked <= self.replicas)
    }

    /// True if an entry is about to answer for the step that left a cluster with `current` replicas: it is not one of fewer replicas that
    /// lacks nothing but health.
    pub fn is_about_to_be_answered(self, current: i64, report: Option<&Report<'_>>) -> bool {
        let shows_more = report.is_some_and(|report| report.replicas.is_some_and(|shown| shown > self.replicas));
        self.is_left_with(current) && shows_more
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
    use super::*;

    const SOME: Report<'_> = Report {
        cluster: "a",
        applied: true,
        health: Health::Healthy,
        replicas: Some(4),
        ready_replicas: Some(3),
        is_rolling_out: false,
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
        assert!(bound.counts(8, Some(&stale), false) && bound.counts(8, Some(&late), false));
        assert!(!bound.counts(8, Some(&late), true));
        assert!(!Bound::GIVEN.counts(8, None, false));
        let more = Report {
            replicas: Some(10),
            ..SOME
        };
        assert_eq!(Bound::raised(5, Some(&more), None).entry, None);
        assert_eq!(
            Bound::lowered(4, None, Some(bound)),
            Bound {
                replicas: 4,
                entry: None
            }
        );
        assert_eq!(Bound::lowered(6, None, Some(bound)), bound);
        // A report that may be right ends the bound by changing.
        let bound = Bound::raised(5, Some(&SOME), None);
        assert_eq!(
            bound,
            Bound {
                replicas: 5,
                entry: Some(7)
            }
        );
        assert!(bound.counts(8, Some(&SOME), false) && !bound.counts(8, Some(&late), false));
        assert!(!bound.counts(8, Some(&SOME), true) && !bound.counts(8, None, false));
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

    /// Ten replicas were there, and a step left five.
    #[test]
    fn a_healthy_report_with_few_enough_replicas_answers_for_a_step_that_took_some() {
        let entry = |replicas, ready, health, fingerprint| Report {
            health,
            replicas: Some(replicas),
            ready_replicas: Some(ready),
            fingerprint,
            ..SOME
        };
        let before = entry(10, 10, Health::Healthy, 1);
        let bound = Bound::lowered(5, Some(&before), None);
        assert_eq!(
            bound,
            Bound {
                replicas: 5,
                entry: Some(1)
            }
        );
        let answer = entry(5, 5, Health::Healthy, 2);
        let rolling = Report {
            is_rolling_out: true,
            ..answer
        };
        let unapplied = Report {
            applied: false,
            ..answer
        };
        // Pods are lost, or a template is rolled out: the cluster's own object may still ask for ten.
        let lost = entry(5, 5, Health::Unhealthy, 3);
        for older in [before, entry(6, 6, Health::Healthy, 4), lost, rolling, unapplied] {
            assert!(bound.counts(5, Some(&older), false), "{older:?}");
        }
        assert!(bound.counts(5, None, false), "five are left there");
        assert!(!bound.counts(5, Some(&answer), false) && !bound.counts(5, Some(&before), true));
        // Once it has answered, what is given there ends its wait by the next report. Before, only time does.
        let raised = |report: &Report<'_>, earlier| Bound::raised(5, Some(report), earlier).entry;
        assert_eq!(raised(&answer, None), Some(2));
        assert_eq!(raised(&before, Some(bound)), None);
        assert_eq!(raised(&lost, Some(bound)), None);
        assert!(bound.is_about_to_be_answered(5, Some(&before)));
        assert!(
            !bound.is_about_to_be_answered(5, Some(&lost)),
            "it may lack them for long"
        );
        // Nothing is left: the entry goes, too.
        let bound = Bound::lowered(0, Some(&before), None);
        assert!(bound.counts(0, Some(&before), false) && !bound.counts(0, None, false));
    }

    #[test]
    fn no_report_answers_for_a_count_that_the_cluster_may_have_had_before() {
        let shown = |replicas| Report {
            replicas: Some(replicas),
            ready_replicas: Some(replicas),
            ..SOME
        };
        let lowered = |next, report: Report<'_>, earlier| Bound::lowered(next, Some(&report), earlier).entry;
        // An earlier step has given more than the five of before, and no report shows it.
        let raised = Bound::raised(5, Some(&shown(5)), None);
        assert_eq!(lowered(5, shown(5), Some(raised)), None);
        assert_eq!(lowered(6, shown(8), Some(raised)), None);
        assert_eq!(lowered(4, shown(5), Some(raised)), Some(7));
        // The present report is of a time at which the cluster had no more than now.
        assert_eq!(lowered(5, shown(5), None), None);
        let unhealthy = Report {
            health: Health::Unhealthy,
            ..shown(8)
        };
        assert_eq!(lowered(5, unhealthy, None), None);
        assert_eq!(Bound::lowered(5, None, None).entry, None, "of another kind");
    }

    #[test]
    fn kinds_report_readiness_by_their_group_or_by_having_done_so() {
        let of = |api_version: &str, kind: &str, reports: &[Report<'_>]| {
            let kind = TypeMeta {
                api_version: api_version.to_owned(),
                kind: kind.to_owned(),
            };
            Reporting::new(&kind, reports)
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
