//! Questions to estimators: the clusters that are asked before a decision, and the earlier decisions that a question lists.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_estimator::AssumedWorkload;
use divvy_karmada::api::{Component, Placement};

use super::Engine;
use super::candidate::Candidate;
use crate::estimates::{Answers, AskedCluster, EstimateJob, request};
use divvy_scheduler::decide::affinity::selects;

impl Engine {
    /// The question that estimators must answer before the decision; `None` if there is none.
    pub(super) fn question(
        &self,
        candidate: &Candidate,
        placement: &Placement,
        answers: Option<&Answers>,
    ) -> Option<EstimateJob> {
        if !self.estimators.are_asked {
            return None;
        }
        let in_sets = self.active.profile.plan_options().component_sets;
        let record = candidate.record();
        let components = match in_sets {
            true => record.component_list(),
            false => Vec::new(),
        };
        let requirements = record.requirements().map(|requirements| &**requirements);
        let request = request(&candidate.key.namespace, &components, record.replicas(), requirements)?;
        // Answers to other requirements are useless: the binding changed meanwhile.
        if answers.is_some_and(|answers| answers.request == request) {
            return None;
        }
        let mut assumed = match self.estimators.know_assumed {
            true => self.assumed_workloads(),
            false => HashMap::new(),
        };
        let clusters = self
            .clusters
            .present()
            .filter(|(cluster, _)| selects(placement, cluster));
        let clusters = clusters.map(|(cluster, pull)| AskedCluster {
            assumed: assumed.remove(cluster.name.as_str()).unwrap_or_default(),
            name: cluster.name.clone(),
            pull,
        });
        let clusters: Vec<AskedCluster> = clusters.collect();
        (!clusters.is_empty()).then(|| EstimateJob {
            span: tracing::Span::current(),
            key: Arc::clone(&candidate.key),
            request,
            clusters,
        })
    }

    /// Results that do not run yet, as workloads on each cluster.
    fn assumed_workloads(&self) -> HashMap<&str, Vec<AssumedWorkload>> {
        let mut assumed: HashMap<&str, Vec<AssumedWorkload>> = HashMap::new();
        for (key, cluster, held) in self.capacity.assumed.pods() {
            let Some(record) = self.bindings.get(key) else { continue };
            let components: Vec<Component> = held
                .into_iter()
                .map(|(template, pods)| record.component(template, i32::try_from(pods).unwrap_or(i32::MAX)))
                .collect();
            match AssumedWorkload::new(&key.namespace, &components) {
                Ok(workload) => assumed.entry(cluster).or_default().push(workload),
                Err(error) => tracing::debug!(binding = %key, %error, "not reported to estimators"),
            }
        }
        assumed
    }
}
