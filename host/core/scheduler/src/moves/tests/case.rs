//! A binding that tests of steps change, and the clusters around it.

use divvy_karmada::api::{GracefulEvictionTask, TargetCluster};
use divvy_profile::{Allowances, MoveBudgets, OnExclusion};

use super::super::budgets::{Admission, Applicant, Ledger};
use super::super::look::{Seen, Wish, look};
use super::super::mark::{Mark, Marked, ReadMark, Void, read_mark};
use super::super::readiness::{Report, Reporting};
use super::super::step::{Occasion, Stepped, Terms, Verdict, Write, step};
use super::super::world::World;
use super::{pace, targets};
use crate::cycle::{Moving, PaceAnswer};

pub(super) const TERMS: Terms = Terms {
    allowances: Allowances {
        max_surge: 2,
        max_unavailable: 0,
    },
    is_open: true,
    is_scaled_by_federated_hpa: false,
    is_surge_refused: false,
    exclusion: OnExclusion::Now,
};

/// A binding that its tests change, and the clusters around it.
pub(super) struct Case {
    pub(super) present: Vec<TargetCluster>,
    pub(super) total: i64,
    pub(super) mark: Option<Mark>,
    pub(super) void: Option<Void>,
    pub(super) evicted: Vec<GracefulEvictionTask>,
    pub(super) ready: Vec<(&'static str, i64)>,
    pub(super) room: i64,
    pub(super) leaves: &'static str,
    pub(super) deleting: &'static str,
    pub(super) is_dispatching_suspended: bool,
    pub(super) now: i64,
    pub(super) admission: Admission,
    pub(super) budgets: &'static str,
    pub(super) max_clusters: Option<u32>,
    pub(super) others: Vec<Applicant<'static>>,
    pub(super) misses_clusters: bool,
}

impl World for Case {
    fn exists(&self, _: &str) -> bool {
        true
    }

    fn is_ready(&self, _: &str) -> bool {
        true
    }

    fn is_deleting(&self, cluster: &str) -> bool {
        cluster == self.deleting
    }

    fn is_excluded(&self, cluster: &str) -> bool {
        cluster == self.leaves
    }

    fn room(&self, _: &str) -> i64 {
        self.room
    }

    fn region(&self, _: &str) -> &str {
        ""
    }

    fn max_clusters(&self) -> Option<u32> {
        self.max_clusters
    }

    fn report_time(&self) -> i64 {
        60_000
    }

    fn budgets(&self) -> MoveBudgets {
        serde_json::from_str(self.budgets).unwrap()
    }

    fn others(&self) -> Vec<Applicant<'_>> {
        self.others.clone()
    }

    fn holds_back(&self, present: &[TargetCluster], result: &[TargetCluster]) -> bool {
        self.misses_clusters && present != result
    }
}

impl Case {
    /// Four ready replicas in `a`.
    pub(super) fn new() -> Self {
        Self {
            present: targets(&[("a", 4)]),
            total: 4,
            mark: None,
            void: None,
            evicted: Vec::new(),
            ready: vec![("a", 4)],
            room: i64::MAX,
            leaves: "",
            deleting: "",
            is_dispatching_suspended: false,
            now: 1_000,
            admission: Admission::Goes,
            budgets: "{}",
            max_clusters: None,
            others: Vec::new(),
            misses_clusters: false,
        }
    }

    /// Another move has the only place that budgets permit.
    pub(super) fn take_the_only_place(&mut self) {
        self.budgets = r#"{"bindings": 1}"#;
        self.others = vec![Applicant {
            binding: "default/api",
            priority: 0,
            is_under_way: true,
            is_blocked: false,
            clusters: &[],
        }];
    }

    /// The verdict alone, under the admission of the case.
    pub(super) fn step(&self, wish: Wish<'_>, terms: &Terms) -> Verdict {
        self.seen(wish, |seen| match look(seen, terms.exclusion, self) {
            Err(verdict) => verdict,
            Ok(look) => {
                let ledger = Ledger::admit(self.budgets(), &[]).1;
                look.verdict(terms, &self.admission, &ledger, self, pace).unwrap()
            }
        })
    }

    /// The whole pass.
    pub(super) fn pass(&self, wish: Wish<'_>, terms: &Terms) -> Stepped {
        let pace = |moving: &Moving<'_>| {
            pace(moving).map(|step| PaceAnswer {
                step,
                remarks: Vec::new(),
                valid_until: Some(9),
            })
        };
        self.seen(wish, |seen| step(seen, terms, self, pace).unwrap())
    }

    pub(super) fn seen<R>(&self, wish: Wish<'_>, read: impl FnOnce(Seen<'_>) -> R) -> R {
        let report = |&(cluster, ready): &(&'static str, i64)| Report {
            cluster,
            applied: true,
            ready_replicas: Some(ready),
            fingerprint: u32::try_from(ready).unwrap(),
            ..Report::default()
        };
        let reports: Vec<Report<'_>> = self.ready.iter().map(report).collect();
        let binding = Marked {
            generation: 1,
            asked: 1,
            standard_asked: None,
            result: &self.present,
            total: self.total,
            now: self.now,
        };
        let text = self.mark.as_ref().map(|mark| mark.write().unwrap());
        let mark = read_mark(text.as_deref(), &binding, |_| true);
        let mark = self.void.clone().map_or(mark, |void| {
            Some(ReadMark {
                mark: None,
                void: Some(void),
            })
        });
        read(Seen {
            key: "default/web",
            priority: 3,
            wish,
            generation: 1,
            asked: 1,
            present: &self.present,
            total: self.total,
            evicted: &self.evicted,
            is_dispatching_suspended: self.is_dispatching_suspended,
            mark: mark.as_ref(),
            reports: &reports,
            reporting: Reporting::ReadyReplicas,
            has_counted_health: true,
            now: self.now,
        })
    }

    /// Takes a step that writes something.
    pub(super) fn written(&mut self, wish: Wish<'_>, terms: &Terms) -> (Vec<(String, i32)>, Occasion, bool) {
        let verdict = self.step(wish, terms);
        self.write(&verdict)
    }

    /// Writes what a verdict says; the generation stays 1.
    pub(super) fn write(&mut self, verdict: &Verdict) -> (Vec<(String, i32)>, Occasion, bool) {
        let Verdict::Write(Write {
            result,
            mark,
            observes,
            occasion,
        }) = verdict
        else {
            panic!("expected a write, got {verdict:?}");
        };
        self.present.clone_from(result);
        self.mark = mark.clone().map(|mark| Mark { generation: 1, ..mark });
        let result = result.iter().map(|cluster| (cluster.name.clone(), cluster.replicas));
        (result.collect(), *occasion, *observes)
    }
}
