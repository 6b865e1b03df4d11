//! Asks the estimators of all clusters at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::join_all;

use crate::address::{Addressing, ServiceLookup};
use crate::answers::Answers;
use crate::breaker::{Admission, Breaker, BreakerOptions, BreakerState};
use crate::call::call;
use crate::connection::{Connection, Transport};
use crate::error::CallError;
use crate::estimate::{Estimate, Unanswered};
use crate::request::{AssumedWorkload, Request};

/// Options for all estimators. The defaults are Karmada's where it has the option.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimatorOptions {
    /// Names and port of the estimators.
    pub addressing: Addressing,
    /// Plaintext or TLS.
    pub transport: Transport,
    /// Time for one call, connecting included. Each cluster has its own.
    pub deadline: Duration,
    /// Maximum age of a last answer that replaces that of a failed call; with zero, none does.
    pub last_known_age_max: Duration,
    /// Last answers kept per cluster, one per distinct request. One takes about 100 bytes; the encoded request is shared
    /// by all clusters.
    pub last_known_max: usize,
    /// Limits at which a failing estimator is no longer asked.
    pub breaker: BreakerOptions,
    /// True if estimators of clusters in sync mode `Pull` cannot be reached, so they are not asked.
    pub exclude_pull_clusters: bool,
    /// True if the estimators subtract workloads that were assigned and do not run yet: those of Karmada 1.19 with their
    /// feature gate on. Others ignore them.
    pub assumed_workloads: bool,
}

impl Default for EstimatorOptions {
    fn default() -> Self {
        Self {
            addressing: Addressing::default(),
            transport: Transport::default(),
            deadline: Duration::from_secs(3),
            last_known_age_max: Duration::from_secs(60),
            last_known_max: 64,
            breaker: BreakerOptions::default(),
            exclude_pull_clusters: false,
            assumed_workloads: false,
        }
    }
}

/// A cluster to ask.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Name of the cluster.
    pub cluster: &'a str,
    /// True for the sync mode `Pull`.
    pub pull: bool,
    /// Workloads that were assigned to the cluster and do not run there yet; empty unless the estimators understand
    /// them (Karmada 1.19, feature gate).
    pub assumed: &'a [AssumedWorkload],
}

impl<'a> Target<'a> {
    /// A `Push` cluster without assumed workloads.
    pub fn new(cluster: &'a str) -> Self {
        Self {
            cluster,
            pull: false,
            assumed: &[],
        }
    }
}

/// The state of one cluster's estimator, for metrics.
#[derive(Debug, Clone)]
pub struct EstimatorState {
    /// Name of the cluster.
    pub cluster: String,
    /// State of its breaker.
    pub breaker: BreakerState,
    /// Time since the last answer to any request; `None` if there was none.
    pub last_answer_age: Option<Duration>,
    /// Requests whose last answer is kept.
    pub answers: usize,
    /// The last error since the last answer.
    pub error: Option<Arc<CallError>>,
}

/// The estimators of a fleet: connections, breakers and last answers, by cluster.
///
/// Clusters appear when they are first asked and stay until [`Self::retain`] forgets them.
pub struct Estimators {
    options: EstimatorOptions,
    services: Arc<dyn ServiceLookup>,
    by_cluster: Mutex<HashMap<String, Arc<Estimator>>>,
}

impl Estimators {
    /// Estimators that are connected when they are first asked.
    pub fn new(options: EstimatorOptions, services: Arc<dyn ServiceLookup>) -> Self {
        Self {
            options,
            services,
            by_cluster: Mutex::default(),
        }
    }

    /// Asks the estimators of all `targets` at once; returns one estimate per target, in their order.
    ///
    /// Returns when each has answered or failed, after the deadline at the latest. Must run in a tokio runtime with
    /// timers and I/O. Dropping the future abandons the calls.
    pub async fn estimate(&self, targets: &[Target<'_>], request: &Request) -> Vec<Estimate> {
        join_all(targets.iter().map(|target| self.ask(target, request))).await
    }

    /// True if requests list the workloads that do not run yet.
    pub fn wants_assumed_workloads(&self) -> bool {
        self.options.assumed_workloads
    }

    /// Forgets the estimators of clusters for which `exists` is false, with their connections and last answers.
    pub fn retain(&self, exists: impl Fn(&str) -> bool) {
        self.clusters().retain(|cluster, _| exists(cluster));
    }

    /// The state of every estimator that was asked so far, sorted by cluster.
    pub fn states(&self) -> Vec<EstimatorState> {
        let estimators: Vec<_> = self
            .clusters()
            .iter()
            .map(|(cluster, estimator)| (cluster.clone(), Arc::clone(estimator)))
            .collect();
        let now = now();
        let mut states: Vec<_> = estimators
            .into_iter()
            .map(|(cluster, estimator)| {
                let health = estimator.health();
                EstimatorState {
                    cluster,
                    breaker: health.breaker.state(),
                    last_answer_age: health.answered.map(|answered| now.saturating_duration_since(answered)),
                    answers: health.answers.len(),
                    error: health.error.clone(),
                }
            })
            .collect();
        states.sort_unstable_by(|one, other| one.cluster.cmp(&other.cluster));
        states
    }

    async fn ask(&self, target: &Target<'_>, request: &Request) -> Estimate {
        if target.pull && self.options.exclude_pull_clusters {
            return Estimate::Absent(Unanswered::Excluded);
        }
        let estimator = self.estimator(target.cluster);
        let Some(admission) = estimator.health().breaker.admit(now()) else {
            return self.last_known(&estimator, request, Unanswered::BreakerOpen);
        };
        let mut attempt = Attempt {
            estimator: &estimator,
            admission,
            ended: false,
        };
        let deadline = self.options.deadline;
        let asked = now();
        let answer = tokio::time::timeout(deadline, self.call(&estimator, target, request)).await;
        attempt.ended = true;
        match answer.unwrap_or(Err(CallError::Deadline { deadline })) {
            Ok(count) => {
                estimator.answered(target.cluster, request, count, asked);
                count.map_or(Estimate::Absent(Unanswered::Declined), Estimate::Answered)
            }
            Err(error) => {
                let error = Arc::new(error);
                estimator.failed(target.cluster, admission, &error);
                self.last_known(&estimator, request, Unanswered::Failed(error))
            }
        }
    }

    async fn call(
        &self,
        estimator: &Estimator,
        target: &Target<'_>,
        request: &Request,
    ) -> Result<Option<i64>, CallError> {
        let EstimatorOptions {
            addressing,
            transport,
            deadline,
            ..
        } = &self.options;
        // A host that drops packets must leave time for the next address and for the call itself.
        let patience = *deadline / 3;
        let services = &*self.services;
        let connection = &estimator.connection;
        let channel = connection.channel(target.cluster, addressing, transport, services, patience);
        call(
            channel.await?,
            target.cluster,
            request.content(),
            target.assumed,
            *deadline,
        )
        .await
    }

    /// The last answer to the same request, if it is young enough.
    fn last_known(&self, estimator: &Estimator, request: &Request, cause: Unanswered) -> Estimate {
        let age_max = self.options.last_known_age_max;
        let last = match age_max {
            Duration::ZERO => None,
            age_max => estimator.health().answers.last(request, now(), age_max),
        };
        match last {
            Some((count, age)) => Estimate::LastKnown { count, age, cause },
            None => Estimate::Absent(cause),
        }
    }

    fn estimator(&self, cluster: &str) -> Arc<Estimator> {
        let mut clusters = self.clusters();
        if let Some(estimator) = clusters.get(cluster) {
            return Arc::clone(estimator);
        }
        let estimator = Arc::new(Estimator {
            connection: Connection::default(),
            health: Mutex::new(Health {
                breaker: Breaker::new(self.options.breaker),
                answers: Answers::new(self.options.last_known_max),
                answered: None,
                error: None,
            }),
        });
        clusters.insert(cluster.to_owned(), Arc::clone(&estimator));
        estimator
    }

    fn clusters(&self) -> MutexGuard<'_, HashMap<String, Arc<Estimator>>> {
        self.by_cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One cluster's estimator.
struct Estimator {
    connection: Connection,
    health: Mutex<Health>,
}

struct Health {
    breaker: Breaker,
    answers: Answers,
    /// Time of the last answer.
    answered: Option<Instant>,
    error: Option<Arc<CallError>>,
}

impl Estimator {
    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an answer. Its age counts from the request, because it need not reflect anything later.
    fn answered(&self, cluster: &str, request: &Request, count: Option<i64>, asked: Instant) {
        let now = now();
        let mut health = self.health();
        if health.breaker.state() != BreakerState::Closed {
            tracing::info!(cluster, "the estimator answers again");
        }
        health.breaker.succeeded();
        health.answered = Some(now);
        health.error = None;
        match count {
            Some(count) => health.answers.record(request, count, asked),
            // The estimator had a figure before and has none now, so the old one must not come back.
            None => health.answers.remove(request),
        }
    }

    fn failed(&self, cluster: &str, admission: Admission, error: &Arc<CallError>) {
        let mut health = self.health();
        health.error = Some(Arc::clone(error));
        if error.concerns_request() {
            // The estimator is up and can answer other requests.
            health.breaker.succeeded();
            tracing::debug!(cluster, %error, "the estimator refused a request");
        } else if health.breaker.failed(admission, now()) {
            drop(health);
            // The estimator may have moved, so the next trial starts with its address.
            self.connection.reset();
            tracing::warn!(cluster, %error, "the estimator keeps failing and is not asked for a while");
        } else {
            tracing::debug!(cluster, %error, "no estimate");
        }
    }
}

/// Returns the breaker's permission if a call is dropped before it ends.
struct Attempt<'a> {
    estimator: &'a Estimator,
    admission: Admission,
    ended: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.estimator.health().breaker.abandoned(self.admission, now());
        }
    }
}

/// The runtime's clock, which tests can stop.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
