//! A workload that does not exist: requests, and the placement of an existing binding, or none.

use std::sync::Arc;

use divvy_karmada::api::{ClusterAffinity, ReplicaRequirements, ResourceBinding, ResourceList};
use divvy_karmada::detector::Binding;
use divvy_scheduler::strategy::STRATEGY_ANNOTATION;

use crate::choice::{BindingPattern, ClusterChoice};
use crate::selection::nearest_bindings;
use crate::situation::Situation;

/// Name of the workload in tables and documents.
const NAME: &str = "hypothetical";

/// A workload that does not exist.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hypothetical {
    /// Requests of one replica; if empty, those of the binding in `placed_as`.
    pub requests: ResourceList,
    /// Strategy, as if its policy named it.
    pub strategy: Option<String>,
    /// The binding whose placement, policy and priority it has.
    pub placed_as: Option<BindingPattern>,
    /// The clusters it may use, if not those of the placement.
    pub clusters: Vec<ClusterChoice>,
}

/// Reason why a hypothetical workload cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HypotheticalError {
    /// No binding matches.
    #[error("`--replicas-of {pattern}` matches no binding")]
    NoBinding {
        /// The pattern.
        pattern: String,
        /// Bindings with nearly that name.
        nearest: Vec<String>,
    },
    /// Several bindings match.
    #[error("`--replicas-of {pattern}` matches {count} bindings, and takes one")]
    SeveralBindings {
        /// The pattern.
        pattern: String,
        /// Number of matches.
        count: usize,
        /// The first two.
        first: [String; 2],
    },
    /// The binding is for several pod templates, or for a resource without replicas.
    #[error("`{binding}` has no single number of replicas")]
    NoReplicas {
        /// Key of the binding.
        binding: String,
    },
    /// A choice includes no cluster.
    #[error("`--clusters {choice}` matches no cluster")]
    NoCluster {
        /// The choice.
        choice: String,
    },
}

impl HypotheticalError {
    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoBinding { nearest, .. } => crate::selection::did_you_mean(nearest),
            Self::SeveralBindings {
                first: [one, other], ..
            } => Some(format!("name one of them: `{one}`, `{other}`, …")),
            Self::NoReplicas { .. } | Self::NoCluster { .. } => None,
        }
    }
}

impl Hypothetical {
    /// The workload as a binding with one replica.
    ///
    /// # Errors
    ///
    /// A [`HypotheticalError`] if a name matches nothing.
    pub fn binding(&self, situation: &Situation) -> Result<Binding, HypotheticalError> {
        let mut binding = match &self.placed_as {
            Some(pattern) => Binding::clone(one(pattern, situation)?),
            None => Binding {
                object: Box::new(ResourceBinding {
                    kind: "ResourceBinding".to_owned(),
                    ..ResourceBinding::default()
                }),
                ..Binding::default()
            },
        };
        let object = &mut binding.object;
        object.metadata.name = NAME.to_owned();
        object.metadata.uid.clear();
        object.status = Default::default();
        let spec = &mut object.spec;
        if spec.resource.kind.is_empty() {
            spec.resource.api_version = "apps/v1".to_owned();
            spec.resource.kind = "Deployment".to_owned();
        }
        spec.resource.name = NAME.to_owned();
        spec.resource.uid.clear();
        spec.replicas = Some(1);
        spec.components.clear();
        spec.clusters.clear();
        spec.graceful_eviction_tasks.clear();
        spec.required_by.clear();
        spec.reschedule_triggered_at = None;
        spec.suspension = None;
        if !self.requests.is_empty() || spec.replica_requirements.is_none() {
            spec.replica_requirements = Some(Arc::new(ReplicaRequirements {
                resource_request: self.requests.clone(),
                ..ReplicaRequirements::default()
            }));
        }
        let placement = Arc::make_mut(spec.placement.get_or_insert_default());
        if !self.clusters.is_empty() {
            placement.cluster_affinities.clear();
            placement.cluster_affinity = Some(ClusterAffinity::by_names(self.names(situation)?));
        }
        if let Some(strategy) = &self.strategy {
            let annotations = &mut object.metadata.annotations;
            annotations.insert(STRATEGY_ANNOTATION.to_owned(), strategy.clone());
        }
        binding.pending.clear();
        binding.source = None;
        Ok(binding)
    }

    fn names(&self, situation: &Situation) -> Result<Vec<String>, HypotheticalError> {
        let mut names = Vec::new();
        for choice in &self.clusters {
            let before = names.len();
            let clusters = situation
                .clusters
                .values()
                .filter(|entry| choice.includes(&entry.object));
            names.extend(clusters.map(|entry| entry.object.metadata.name.clone()));
            if names.len() == before {
                let choice = choice.to_string();
                return Err(HypotheticalError::NoCluster { choice });
            }
        }
        Ok(names)
    }
}

/// The only binding that a pattern includes.
fn one<'a>(pattern: &BindingPattern, situation: &'a Situation) -> Result<&'a Arc<Binding>, HypotheticalError> {
    let mut found = situation.bindings.iter().filter(|binding| pattern.includes(binding));
    let Some(first) = found.next() else {
        return Err(HypotheticalError::NoBinding {
            pattern: pattern.to_string(),
            nearest: nearest_bindings(pattern, situation.bindings.iter().map(Arc::as_ref)),
        });
    };
    if let Some(second) = found.next() {
        return Err(HypotheticalError::SeveralBindings {
            pattern: pattern.to_string(),
            count: 2 + found.count(),
            first: [first.key(), second.key()],
        });
    }
    if first.object.spec.components.len() > 1 || !first.is_workload() {
        let binding = first.key();
        return Err(HypotheticalError::NoReplicas { binding });
    }
    Ok(first)
}
