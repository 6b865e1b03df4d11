//! The messages of Karmada's estimator service, version 3 of Protocol Buffers.
//!
//! Source: Karmada v1.19-rc, `pkg/estimator/pb/estimator.proto`. Karmada 1.17 and older read requests, affinities and
//! tolerations from fields that hold Kubernetes' messages (2 in both requirements, 1 and 3 in [`NodeClaim`]); 1.19 reads
//! only the `…Bytes` fields. On the wire, a message is its bytes, so both are written from the same bytes.

use std::collections::BTreeMap;

use prost::bytes::Bytes;

/// Path of the method that counts replicas.
pub(crate) const MAX_AVAILABLE_REPLICAS: &str =
    "/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/MaxAvailableReplicas";

/// Path of the method that counts sets of components.
pub(crate) const MAX_AVAILABLE_COMPONENT_SETS: &str =
    "/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/MaxAvailableComponentSets";

/// Requirements of a replica on its node.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct NodeClaim {
    /// The node affinity, for Karmada 1.17 and older.
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) node_affinity: Option<Vec<u8>>,
    #[prost(btree_map = "string, string", tag = "2")]
    pub(crate) node_selector: BTreeMap<String, String>,
    /// The tolerations, for Karmada 1.17 and older.
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub(crate) tolerations: Vec<Vec<u8>>,
    #[prost(bytes = "vec", tag = "4")]
    pub(crate) node_affinity_bytes: Vec<u8>,
    #[prost(bytes = "vec", repeated, tag = "5")]
    pub(crate) tolerations_bytes: Vec<Vec<u8>>,
}

/// Requirements of one replica.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReplicaRequirements {
    #[prost(message, optional, tag = "1")]
    pub(crate) node_claim: Option<NodeClaim>,
    /// Quantities by resource, for Karmada 1.17 and older.
    #[prost(btree_map = "string, bytes", tag = "2")]
    pub(crate) resource_request: BTreeMap<String, Vec<u8>>,
    #[prost(string, tag = "3")]
    pub(crate) namespace: String,
    #[prost(string, tag = "4")]
    pub(crate) priority_class_name: String,
    #[prost(btree_map = "string, bytes", tag = "5")]
    pub(crate) resource_request_bytes: BTreeMap<String, Vec<u8>>,
}

/// Requirements of one replica of a component.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ComponentReplicaRequirements {
    #[prost(message, optional, tag = "1")]
    pub(crate) node_claim: Option<NodeClaim>,
    /// Quantities by resource, for Karmada 1.17 and older.
    #[prost(btree_map = "string, bytes", tag = "2")]
    pub(crate) resource_request: BTreeMap<String, Vec<u8>>,
    #[prost(string, tag = "3")]
    pub(crate) priority_class_name: String,
    #[prost(btree_map = "string, bytes", tag = "4")]
    pub(crate) resource_request_bytes: BTreeMap<String, Vec<u8>>,
}

/// One component of a set.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Component {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) replica_requirements: Option<ComponentReplicaRequirements>,
    #[prost(int32, tag = "3")]
    pub(crate) replicas: i32,
}

/// A workload that was assigned to the cluster and whose pods are not on nodes yet.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct AssumedWorkload {
    #[prost(string, tag = "1")]
    pub(crate) namespace: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) components: Vec<Component>,
}

/// Asks for the replicas that fit. `replica_requirements` is an encoded [`ReplicaRequirements`], which the requests to
/// all clusters share.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MaxAvailableReplicasRequest {
    #[prost(string, tag = "1")]
    pub(crate) cluster: String,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub(crate) replica_requirements: Option<Bytes>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) assumed_workloads: Vec<AssumedWorkload>,
}

/// The replicas that fit; -1 if the estimator has no figure.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MaxAvailableReplicasResponse {
    #[prost(int32, tag = "1")]
    pub(crate) max_replicas: i32,
}

/// Asks for the sets of components that fit. `components` are encoded [`Component`]s, which the requests to all clusters
/// share.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MaxAvailableComponentSetsRequest {
    #[prost(string, tag = "1")]
    pub(crate) cluster: String,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub(crate) components: Vec<Bytes>,
    #[prost(string, tag = "3")]
    pub(crate) namespace: String,
    #[prost(message, repeated, tag = "4")]
    pub(crate) assumed_workloads: Vec<AssumedWorkload>,
}

/// The sets that fit; -1 if the estimator has no figure.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MaxAvailableComponentSetsResponse {
    #[prost(int32, tag = "1")]
    pub(crate) max_sets: i32,
}
