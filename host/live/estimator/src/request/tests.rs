//! Each request is decoded by the layouts that estimators of Karmada 1.17 and of 1.19 have.

use std::collections::BTreeMap;

use divvy_karmada::api;
use prost::Message;
use serde_json::{Value, json};

use super::{Content, Request};
use crate::kubernetes::{NodeSelector, Quantity, Toleration};
use crate::message::MaxAvailableReplicasRequest;

/// The layout of Karmada 1.17 and older: Kubernetes' messages as fields.
mod old {
    use super::*;

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Replicas {
        #[prost(string, tag = "1")]
        pub(super) cluster: String,
        #[prost(message, optional, tag = "2")]
        pub(super) requirements: Option<Requirements>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Requirements {
        #[prost(message, optional, tag = "1")]
        pub(super) claim: Option<Claim>,
        #[prost(btree_map = "string, message", tag = "2")]
        pub(super) request: BTreeMap<String, Quantity>,
        #[prost(string, tag = "3")]
        pub(super) namespace: String,
        #[prost(string, tag = "4")]
        pub(super) class: String,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Claim {
        #[prost(message, optional, tag = "1")]
        pub(super) affinity: Option<NodeSelector>,
        #[prost(btree_map = "string, string", tag = "2")]
        pub(super) selector: BTreeMap<String, String>,
        #[prost(message, repeated, tag = "3")]
        pub(super) tolerations: Vec<Toleration>,
    }
}

/// The layout of Karmada 1.19: Kubernetes' messages as bytes, and nothing in the old fields.
mod new {
    use super::*;

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Replicas {
        #[prost(string, tag = "1")]
        pub(super) cluster: String,
        #[prost(message, optional, tag = "2")]
        pub(super) requirements: Option<Requirements>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Requirements {
        #[prost(message, optional, tag = "1")]
        pub(super) claim: Option<Claim>,
        #[prost(string, tag = "3")]
        pub(super) namespace: String,
        #[prost(string, tag = "4")]
        pub(super) class: String,
        #[prost(btree_map = "string, bytes", tag = "5")]
        pub(super) request: BTreeMap<String, Vec<u8>>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Claim {
        #[prost(btree_map = "string, string", tag = "2")]
        pub(super) selector: BTreeMap<String, String>,
        #[prost(bytes = "vec", tag = "4")]
        pub(super) affinity: Vec<u8>,
        #[prost(bytes = "vec", repeated, tag = "5")]
        pub(super) tolerations: Vec<Vec<u8>>,
    }
}

fn requirements(json: Value) -> api::ReplicaRequirements {
    serde_json::from_value(json).expect("requirements")
}

fn example() -> api::ReplicaRequirements {
    requirements(json!({
        "nodeClaim": {
            "hardNodeAffinity": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
            ]},
            "nodeSelector": {"disk": "ssd"},
            "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        },
        "resourceRequest": {"cpu": "250m", "memory": "1Gi"},
        "namespace": "shop",
        "priorityClassName": "high",
    }))
}

/// The request to cluster `m1` as it goes out.
fn sent(requirements: &api::ReplicaRequirements) -> Vec<u8> {
    let request = Request::replicas(requirements).expect("a request");
    let Content::Replicas(encoded) = request.content() else {
        panic!("not a request for replicas")
    };
    let message = MaxAvailableReplicasRequest {
        cluster: "m1".to_owned(),
        replica_requirements: Some(encoded.clone()),
        assumed_workloads: Vec::new(),
    };
    message.encode_to_vec()
}

#[test]
fn an_old_estimator_reads_everything_from_the_old_fields() {
    let read = old::Replicas::decode(sent(&example()).as_slice()).expect("the old layout");
    assert_eq!(read.cluster, "m1");
    let requirements = read.requirements.expect("requirements");
    assert_eq!(
        (requirements.namespace.as_str(), requirements.class.as_str()),
        ("shop", "high")
    );
    let amounts: Vec<_> = requirements
        .request
        .iter()
        .map(|(name, quantity)| (name.as_str(), quantity.string.as_str()))
        .collect();
    assert_eq!(amounts, [("cpu", "250m"), ("memory", "1Gi")]);
    let claim = requirements.claim.expect("a node claim");
    assert_eq!(claim.selector, BTreeMap::from([("disk".to_owned(), "ssd".to_owned())]));
    let affinity = claim.affinity.expect("an affinity");
    assert_eq!(affinity.node_selector_terms[0].match_expressions[0].values, ["a"]);
    assert_eq!(claim.tolerations[0].effect, "NoSchedule");
}

#[test]
fn a_new_estimator_reads_everything_from_the_new_fields() {
    let read = new::Replicas::decode(sent(&example()).as_slice()).expect("the new layout");
    let requirements = read.requirements.expect("requirements");
    assert_eq!(
        (requirements.namespace.as_str(), requirements.class.as_str()),
        ("shop", "high")
    );
    let cpu = Quantity::decode(requirements.request["cpu"].as_slice()).expect("a quantity");
    assert_eq!(cpu.string, "250m");
    let claim = requirements.claim.expect("a node claim");
    assert_eq!(claim.selector["disk"], "ssd");
    let affinity = NodeSelector::decode(claim.affinity.as_slice()).expect("an affinity");
    assert_eq!(affinity.node_selector_terms[0].match_expressions[0].key, "zone");
    let toleration = Toleration::decode(claim.tolerations[0].as_slice()).expect("a toleration");
    assert_eq!(
        (toleration.key.as_str(), toleration.operator.as_str()),
        ("gpu", "Exists")
    );
}

#[test]
fn requirements_without_anything_are_still_sent() {
    let read = new::Replicas::decode(sent(&requirements(json!({}))).as_slice()).expect("the new layout");
    assert_eq!(read.requirements, Some(new::Requirements::default()));
}

#[test]
fn equal_requirements_give_equal_requests() {
    let request = |json| Request::replicas(&requirements(json)).expect("a request");
    let one = request(json!({"resourceRequest": {"cpu": "1", "memory": "1Gi"}}));
    assert_eq!(
        one,
        request(json!({"resourceRequest": {"memory": "1024Mi", "cpu": "1000m"}}))
    );
    assert_ne!(one, request(json!({"resourceRequest": {"cpu": "1", "memory": "2Gi"}})));
    assert_ne!(
        one,
        request(json!({"resourceRequest": {"cpu": "1", "memory": "1Gi"}, "namespace": "shop"}))
    );
    let sets = Request::component_sets("", &[]).expect("a request");
    assert_ne!(request(json!({})), sets);
}

#[test]
fn every_component_has_requirements_and_replicas() {
    let components: Vec<api::Component> = serde_json::from_value(json!([
        {"name": "jobmanager", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": "1"}}},
        {"name": "sidecar", "replicas": 2},
    ]))
    .expect("components");
    let request = Request::component_sets("shop", &components).expect("a request");
    let Content::Sets { namespace, components } = request.content() else {
        panic!("not a request for sets")
    };
    assert_eq!(namespace, "shop");
    let read: Vec<_> = components
        .iter()
        .map(|bytes| crate::message::Component::decode(bytes.clone()).expect("a component"))
        .collect();
    assert_eq!((read[0].name.as_str(), read[0].replicas), ("jobmanager", 1));
    assert_eq!((read[1].name.as_str(), read[1].replicas), ("sidecar", 2));
    let first = read[0].replica_requirements.clone().expect("requirements");
    assert_eq!(first.resource_request, first.resource_request_bytes);
    assert_eq!(first.resource_request["cpu"], b"\x0a\x011");
    assert_eq!(read[1].replica_requirements, Some(Default::default()));
}

#[test]
fn an_unreadable_affinity_is_an_error() {
    let broken = requirements(json!({"nodeClaim": {"hardNodeAffinity": {"nodeSelectorTerms": "zone"}}}));
    let error = Request::replicas(&broken).expect_err("an unreadable affinity");
    assert_eq!(
        error.to_string(),
        "the node affinity cannot be read, so no estimator is asked"
    );
}
