//! Accurate estimates for a decision: which clusters are asked for what, and the answers.
//!
//! Estimates come over the network, so they are fetched before the decision, which then never waits. A binding whose
//! requirements change meanwhile is asked about again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use divvy_estimator::{Estimators, Request, Target};
use divvy_karmada::api::ResourceBinding;

use crate::decision::Estimates;
use crate::objects::BindingKey;
use crate::observe::Metrics;

/// A question to estimators about one binding.
#[derive(Debug, Clone)]
pub struct EstimateJob {
    /// The binding.
    pub key: Arc<BindingKey>,
    /// Its requirements.
    pub request: Request,
    /// The clusters to ask, and whether each is of sync mode `Pull`.
    pub clusters: Vec<(String, bool)>,
}

/// The answers about one binding.
#[derive(Debug, Clone)]
pub struct Answers {
    /// The requirements that were asked about.
    pub request: Request,
    /// Replicas that fit, by cluster. Clusters without an answer are missing.
    pub fits: HashMap<String, i64>,
}

impl Answers {
    /// No answer from any cluster.
    pub fn none(request: Request) -> Self {
        Self {
            request,
            fits: HashMap::new(),
        }
    }
}

impl Estimates for Answers {
    fn fits(&self, cluster: &str) -> Option<i64> {
        self.fits.get(cluster).copied()
    }
}

/// The request about a binding; `None` if there is nothing to ask: it has no replicas, or its requirements cannot be
/// read, so that the general estimate alone counts.
pub fn request(binding: &ResourceBinding, in_sets: bool) -> Option<Request> {
    let spec = &binding.spec;
    let request = if in_sets && !spec.components.is_empty() {
        Request::component_sets(&binding.metadata.namespace, &spec.components)
    } else if spec.replicas.unwrap_or(0) > 0 {
        Request::replicas(&spec.replica_requirements.clone().unwrap_or_default())
    } else {
        return None;
    };
    request
        .inspect_err(|error| tracing::warn!(%error, "no estimator is asked"))
        .ok()
}

/// Asks the estimators of a job's clusters.
pub async fn ask(estimators: &Estimators, job: EstimateJob, metrics: &Metrics) -> Answers {
    let started = Instant::now();
    let targets: Vec<Target<'_>> = job
        .clusters
        .iter()
        .map(|(cluster, pull)| Target {
            pull: *pull,
            ..Target::new(cluster)
        })
        .collect();
    let estimates = estimators.estimate(&targets, &job.request).await;
    metrics.estimates(&estimates, started.elapsed());
    let fits = job.clusters.into_iter().zip(&estimates);
    Answers {
        request: job.request,
        fits: fits
            .filter_map(|((cluster, _), estimate)| Some((cluster, estimate.count()?)))
            .collect(),
    }
}
