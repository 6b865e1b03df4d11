//! Workloads that requests to estimators include: results that do not run yet, by Karmada's rule.
//!
//! Each result is assumed with its whole footprint on every cluster, until the resource is healthy there or five minutes have passed
//! (the feature gate SchedulingOvercommitProtection, Karmada v1.19-rc, `pkg/scheduler/cache`). Only requests to estimators read this;
//! [`crate::holdings`] holds capacity for decisions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_karmada::api::TargetCluster;
use divvy_scheduler::fleet::Footprint;

use crate::objects::{AggregatedStatus, BindingKey, Health};

/// Time after which a workload is no longer assumed, even if it never became healthy.
const ASSUMED_MAX: Duration = Duration::from_secs(300);

/// Results that do not run yet, by binding.
#[derive(Debug, Default)]
pub(crate) struct AssumedResults {
    results: HashMap<Arc<BindingKey>, AssumedResult>,
}

#[derive(Debug)]
struct AssumedResult {
    footprint: Footprint,
    clusters: Vec<AssumedTarget>,
    since: Instant,
}

#[derive(Debug)]
struct AssumedTarget {
    cluster: String,
    /// Pods of each template.
    pods: Vec<i64>,
    /// Fingerprint of the cluster's aggregated status at the decision.
    fingerprint: Option<u64>,
}

impl AssumedResults {
    /// Assumes a result, in place of an earlier one of the binding.
    pub(crate) fn assume(
        &mut self,
        key: &Arc<BindingKey>,
        targets: &[TargetCluster],
        aggregated: &[AggregatedStatus],
        footprint: &Footprint,
        now: Instant,
    ) {
        let clusters = targets.iter().map(|target| AssumedTarget {
            cluster: target.name.clone(),
            pods: footprint.pods(target),
            fingerprint: fingerprint(aggregated, &target.name),
        });
        let result = AssumedResult {
            footprint: footprint.clone(),
            clusters: clusters.collect(),
            since: now,
        };
        self.results.insert(Arc::clone(key), result);
    }

    /// Records the state of a binding's resource. An entry from before the decision describes an earlier state.
    pub(crate) fn observe(&mut self, key: &BindingKey, aggregated: &[AggregatedStatus]) {
        let Some(result) = self.results.get_mut(key) else {
            return;
        };
        result.clusters.retain(|target| {
            let entry = aggregated.iter().find(|entry| *entry.cluster == *target.cluster);
            !entry.is_some_and(|entry| entry.health == Health::Healthy && Some(entry.fingerprint) != target.fingerprint)
        });
        if result.clusters.is_empty() {
            self.results.remove(key);
        }
    }

    /// The bindings whose results are assumed, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Arc<BindingKey>> {
        self.results.keys()
    }

    /// Forgets workloads that were assumed for too long.
    pub(crate) fn expire(&mut self, now: Instant) {
        self.results
            .retain(|_, result| now.saturating_duration_since(result.since) < ASSUMED_MAX);
    }

    /// Forgets a binding.
    pub(crate) fn remove(&mut self, key: &BindingKey) {
        self.results.remove(key);
    }

    /// Every binding and cluster, with the name and the pods of each template that has any.
    pub(crate) fn pods(&self) -> impl Iterator<Item = (&Arc<BindingKey>, &str, Vec<(&str, i64)>)> {
        let mut results: Vec<_> = self.results.iter().collect();
        results.sort_unstable_by_key(|(key, _)| *key);
        results.into_iter().flat_map(|(key, result)| {
            result.clusters.iter().map(move |target| {
                let names = result
                    .footprint
                    .templates()
                    .iter()
                    .map(|template| template.name.as_str());
                let pods = names.zip(target.pods.iter().copied()).filter(|(_, pods)| *pods > 0);
                (key, target.cluster.as_str(), pods.collect())
            })
        })
    }
}

fn fingerprint(aggregated: &[AggregatedStatus], cluster: &str) -> Option<u64> {
    let entry = aggregated.iter().find(|entry| *entry.cluster == *cluster);
    entry.map(|entry| entry.fingerprint)
}

#[cfg(test)]
mod tests {
    use divvy_karmada::api::BindingScope;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_whole_result_is_assumed_until_it_is_healthy_or_old() {
        let key = Arc::new(BindingKey {
            scope: BindingScope::Namespaced,
            namespace: "default".to_owned(),
            name: "web".to_owned(),
        });
        let target = |name: &str| TargetCluster {
            name: name.to_owned(),
            replicas: 3,
            ..TargetCluster::default()
        };
        let status = |fingerprint| AggregatedStatus {
            cluster: "a".into(),
            health: Health::Healthy,
            applied: true,
            replicas: Some(3),
            ready_replicas: None,
            is_rolling_out: false,
            started: None,
            has_ended: false,
            fingerprint,
        };
        let footprint = Footprint::new(&serde_json::from_value(json!({"replicas": 6})).expect("a specification"));
        let (mut assumed, now) = (AssumedResults::default(), Instant::now());
        let of = |assumed: &AssumedResults| -> Vec<(String, i64)> {
            assumed
                .pods()
                .map(|(_, cluster, pods)| (cluster.to_owned(), pods[0].1))
                .collect()
        };
        assumed.assume(&key, &[target("a"), target("b")], &[status(1)], &footprint, now);
        assert_eq!(of(&assumed), [("a".to_owned(), 3), ("b".to_owned(), 3)]);
        // The entry is the one from before the decision.
        assumed.observe(&key, &[status(1)]);
        assert_eq!(of(&assumed).len(), 2);
        assumed.observe(&key, &[status(2)]);
        assert_eq!(of(&assumed), [("b".to_owned(), 3)]);
        assumed.expire(now + ASSUMED_MAX);
        assert_eq!(of(&assumed), []);
    }
}
