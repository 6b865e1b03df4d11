//! Accurate estimates for a decision: which clusters are asked for what, and the answers.
//!
//! Estimates come over the network, so they are fetched before the decision, which then never waits. A binding whose
//! requirements change meanwhile is asked about again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use divvy_estimator::{Address, Estimators, LookupError, Request, ServiceLookup, Target};
use divvy_karmada::api::ResourceBinding;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::Service;
use kube::Api;

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

/// Services in Karmada's API, read when an estimator is connected.
pub struct ServicesOfKarmada {
    client: kube::Client,
}

impl ServicesOfKarmada {
    /// Services as this client sees them.
    pub fn new(client: kube::Client) -> Self {
        Self { client }
    }
}

impl ServiceLookup for ServicesOfKarmada {
    fn external_name<'a>(
        &'a self,
        namespace: &'a str,
        service: &'a str,
        port: u16,
    ) -> BoxFuture<'a, Result<Option<Address>, LookupError>> {
        Box::pin(async move {
            let failed = |cause: String| LookupError {
                namespace: namespace.to_owned(),
                service: service.to_owned(),
                cause,
            };
            let api: Api<Service> = Api::namespaced(self.client.clone(), namespace);
            let found = api.get_opt(service).await.map_err(|error| failed(error.to_string()))?;
            found.map(|found| address(&found, port)).transpose().map_err(failed)
        })
    }
}

/// The address that an ExternalName Service names.
fn address(service: &Service, port: u16) -> Result<Address, String> {
    let spec = service.spec.clone().unwrap_or_default();
    let host = spec
        .external_name
        .filter(|_| spec.type_.as_deref() == Some("ExternalName"));
    let Some(host) = host else {
        return Err(format!(
            "its type is {}, not ExternalName",
            spec.type_.as_deref().unwrap_or("ClusterIP")
        ));
    };
    let listed = spec.ports.unwrap_or_default();
    let listed = listed.iter().find(|listed| u16::try_from(listed.port) == Ok(port));
    let target = listed.and_then(|listed| match &listed.target_port {
        Some(k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::Int(target)) => u16::try_from(*target).ok(),
        _ => None,
    });
    Ok(Address {
        host,
        port: target.filter(|target| *target != 0).unwrap_or(port),
    })
}
