//! Requests to estimators, encoded once for all clusters.
//!
//! Equal requirements give equal bytes (maps are sorted), so a request is also the key under which its last answers are
//! kept. Comparing bytes rather than hashes rules out an answer to another request.

use std::sync::Arc;

use divvy_karmada::api;
use prost::Message as _;
use prost::bytes::Bytes;

use crate::kubernetes::{NodeSelector, Quantity, Toleration};
use crate::message;

/// A node affinity that does not have the form of a `NodeSelector`.
#[derive(Debug, thiserror::Error)]
#[error("the node affinity cannot be read, so no estimator is asked")]
pub struct InvalidRequirements {
    #[from]
    source: serde_json::Error,
}

/// A question to the estimators of all clusters. Clones share the encoded content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Request(Arc<Content>);

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum Content {
    /// An encoded [`message::ReplicaRequirements`].
    Replicas(Bytes),
    /// Encoded [`message::Component`]s, and the namespace whose quota applies.
    Sets { namespace: String, components: Vec<Bytes> },
}

impl Request {
    /// Asks how many replicas with these requirements fit.
    ///
    /// # Errors
    ///
    /// [`InvalidRequirements`] if the node affinity is unreadable. The general estimate alone counts then.
    pub fn replicas(requirements: &api::ReplicaRequirements) -> Result<Self, InvalidRequirements> {
        let quantities = quantities(&requirements.resource_request);
        let encoded = message::ReplicaRequirements {
            node_claim: requirements.node_claim.as_ref().map(node_claim).transpose()?,
            resource_request: quantities.clone(),
            namespace: requirements.namespace.clone(),
            priority_class_name: requirements.priority_class_name.clone(),
            resource_request_bytes: quantities,
        };
        Ok(Self(Arc::new(Content::Replicas(encoded.encode_to_vec().into()))))
    }

    /// Asks how many complete sets of these components fit, under the quota of `namespace`.
    ///
    /// # Errors
    ///
    /// The same as those of [`Self::replicas`].
    pub fn component_sets(namespace: &str, components: &[api::Component]) -> Result<Self, InvalidRequirements> {
        let encoded = components.iter().map(|component| {
            let encoded = self::component(component)?.encode_to_vec();
            Ok(encoded.into())
        });
        Ok(Self(Arc::new(Content::Sets {
            namespace: namespace.to_owned(),
            components: encoded.collect::<Result<_, InvalidRequirements>>()?,
        })))
    }

    pub(crate) fn content(&self) -> &Content {
        &self.0
    }
}

/// A workload that was assigned to a cluster and does not run there yet. The estimator subtracts it from the free resources.
#[derive(Debug, Clone, PartialEq)]
pub struct AssumedWorkload(pub(crate) message::AssumedWorkload);

impl AssumedWorkload {
    /// A workload in `namespace` with all of its components. One with a single pod template counts as one component.
    ///
    /// # Errors
    ///
    /// The same as those of [`Request::replicas`].
    pub fn new(namespace: &str, components: &[api::Component]) -> Result<Self, InvalidRequirements> {
        Ok(Self(message::AssumedWorkload {
            namespace: namespace.to_owned(),
            components: components.iter().map(component).collect::<Result<_, _>>()?,
        }))
    }
}

fn component(component: &api::Component) -> Result<message::Component, InvalidRequirements> {
    // Karmada's field has no presence in old versions, so it is written even if the component requires nothing.
    let requirements = component.replica_requirements.clone().unwrap_or_default();
    let quantities = quantities(&requirements.resource_request);
    Ok(message::Component {
        name: component.name.clone(),
        replica_requirements: Some(message::ComponentReplicaRequirements {
            node_claim: requirements.node_claim.as_ref().map(node_claim).transpose()?,
            resource_request: quantities.clone(),
            priority_class_name: requirements.priority_class_name,
            resource_request_bytes: quantities,
        }),
        replicas: component.replicas,
    })
}

fn node_claim(claim: &api::NodeClaim) -> Result<message::NodeClaim, InvalidRequirements> {
    let affinity = match &claim.hard_node_affinity {
        Some(affinity) => Some(serde_json::from_value::<NodeSelector>(affinity.clone())?.encode_to_vec()),
        None => None,
    };
    let tolerations = claim.tolerations.iter().map(Toleration::from);
    let tolerations: Vec<Vec<u8>> = tolerations.map(|toleration| toleration.encode_to_vec()).collect();
    Ok(message::NodeClaim {
        node_affinity_bytes: affinity.clone().unwrap_or_default(),
        node_affinity: affinity,
        node_selector: claim.node_selector.clone().into_iter().collect(),
        tolerations: tolerations.clone(),
        tolerations_bytes: tolerations,
    })
}

fn quantities(resources: &api::ResourceList) -> std::collections::BTreeMap<String, Vec<u8>> {
    let encoded = |(name, quantity): (&String, &api::Quantity)| {
        let quantity = Quantity::from(*quantity).encode_to_vec();
        (name.clone(), quantity)
    };
    resources.iter().map(encoded).collect()
}

#[cfg(test)]
mod tests;
