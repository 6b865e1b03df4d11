//! Accurate estimates for a decision: the clusters that are asked, the question, and the answers.
//!
//! Estimates come over the network, so they are fetched before the decision, which then never waits. A binding whose
//! requirements change meanwhile is asked about again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use divvy_estimator::{AssumedWorkload, Estimate, Estimators, Request, Target};
use divvy_karmada::api::{Component, ReplicaRequirements};

use crate::objects::BindingKey;
use crate::observe::Metrics;

/// A question to estimators about one binding.
#[derive(Debug, Clone)]
pub struct EstimateJob {
    /// Span of the decision, under which the question is.
    pub(crate) span: tracing::Span,
    /// The binding.
    pub key: Arc<BindingKey>,
    /// Its requirements.
    pub request: Request,
    /// The clusters to ask.
    pub clusters: Vec<AskedCluster>,
}

/// A cluster whose estimator is asked.
#[derive(Debug, Clone)]
pub struct AskedCluster {
    /// Its name.
    pub name: String,
    /// True for the sync mode `Pull`.
    pub(crate) pull: bool,
    /// Replicas that were assigned to it and do not run there yet; empty unless estimators get them.
    pub(crate) assumed: Vec<AssumedWorkload>,
}

/// The answers about one binding.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The requirements that were asked about.
    pub request: Request,
    /// The answers by cluster. Clusters without one are missing.
    pub fits: HashMap<String, Answer>,
}

/// One estimator's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Replicas that fit.
    pub count: i64,
    /// Time of the question. The answer does not reflect anything later.
    pub asked: Instant,
}

impl Answers {
    /// No answer from any cluster.
    pub(crate) fn none(request: Request) -> Self {
        Self {
            request,
            fits: HashMap::new(),
        }
    }
}

/// The request about a binding in this namespace: about sets of components, or else about replicas. `None` if there is nothing to ask: it has
/// no replicas, or its requirements cannot be read, so that the general estimate alone counts.
pub(crate) fn request(
    namespace: &str,
    components: &[Component],
    replicas: i64,
    requirements: Option<&ReplicaRequirements>,
) -> Option<Request> {
    let request = if !components.is_empty() {
        Request::component_sets(namespace, components)
    } else if replicas > 0 {
        Request::replicas(requirements.unwrap_or(&ReplicaRequirements::default()))
    } else {
        return None;
    };
    request
        .inspect_err(|error| tracing::warn!(%error, "no estimator is asked"))
        .ok()
}

/// Asks the estimators of a job's clusters.
pub(crate) async fn ask(estimators: &Estimators, job: EstimateJob, metrics: &Metrics) -> Answers {
    let started = Instant::now();
    let targets: Vec<Target<'_>> = job
        .clusters
        .iter()
        .map(|cluster| Target {
            pull: cluster.pull,
            assumed: &cluster.assumed,
            ..Target::new(&cluster.name)
        })
        .collect();
    let estimates = estimators.estimate(&targets, &job.request).await;
    metrics.estimates(&estimates, started.elapsed());
    let fits = job.clusters.into_iter().zip(&estimates);
    Answers {
        request: job.request,
        fits: fits
            .filter_map(|(cluster, estimate)| Some((cluster.name, answer(estimate, started)?)))
            .collect(),
    }
}

/// The answer in an estimate, for a question that was asked now.
fn answer(estimate: &Estimate, now: Instant) -> Option<Answer> {
    let asked = match estimate {
        // If the age reaches back before the start of the clock, now is as good: no taking on record is older.
        Estimate::LastKnown { age, .. } => now.checked_sub(*age).unwrap_or(now),
        Estimate::Answered(_) | Estimate::Absent(_) => now,
    };
    let count = estimate.count()?;
    Some(Answer { count, asked })
}
