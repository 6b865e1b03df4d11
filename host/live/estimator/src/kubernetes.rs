//! Kubernetes' own protobuf of a quantity, a node selector and a toleration.
//!
//! Estimators read these with the generated code of `k8s.io/api` and `k8s.io/apimachinery`. That code writes a field
//! without presence even if it is empty, which `required` reproduces, so the bytes equal Kubernetes' own. The tests
//! compare them with bytes that Kubernetes' Go library wrote.

use divvy_karmada::api;
use serde::{Deserialize, Deserializer};

/// `k8s.io.apimachinery.pkg.api.resource.Quantity`: the canonical text.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Quantity {
    #[prost(string, required, tag = "1")]
    pub(crate) string: String,
}

impl From<api::Quantity> for Quantity {
    fn from(quantity: api::Quantity) -> Self {
        Self {
            string: quantity.to_string(),
        }
    }
}

/// `k8s.io.api.core.v1.NodeSelector`. Terms are alternatives.
#[derive(Clone, PartialEq, prost::Message, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeSelector {
    #[prost(message, repeated, tag = "1")]
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) node_selector_terms: Vec<NodeSelectorTerm>,
}

/// `k8s.io.api.core.v1.NodeSelectorTerm`. All of its requirements must hold.
#[derive(Clone, PartialEq, prost::Message, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeSelectorTerm {
    #[prost(message, repeated, tag = "1")]
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) match_expressions: Vec<NodeSelectorRequirement>,
    #[prost(message, repeated, tag = "2")]
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) match_fields: Vec<NodeSelectorRequirement>,
}

/// `k8s.io.api.core.v1.NodeSelectorRequirement`.
#[derive(Clone, PartialEq, prost::Message, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeSelectorRequirement {
    #[prost(string, required, tag = "1")]
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) key: String,
    #[prost(string, required, tag = "2")]
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) operator: String,
    #[prost(string, repeated, tag = "3")]
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) values: Vec<String>,
}

/// `k8s.io.api.core.v1.Toleration`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Toleration {
    #[prost(string, required, tag = "1")]
    pub(crate) key: String,
    #[prost(string, required, tag = "2")]
    pub(crate) operator: String,
    #[prost(string, required, tag = "3")]
    pub(crate) value: String,
    #[prost(string, required, tag = "4")]
    pub(crate) effect: String,
    #[prost(int64, optional, tag = "5")]
    pub(crate) toleration_seconds: Option<i64>,
}

impl From<&api::Toleration> for Toleration {
    fn from(toleration: &api::Toleration) -> Self {
        let operator = toleration.operator.as_ref().map_or("", api::Word::as_str);
        let effect = toleration.effect.as_ref().map_or("", api::Word::as_str);
        Self {
            key: toleration.key.clone(),
            operator: operator.to_owned(),
            value: toleration.value.clone(),
            effect: effect.to_owned(),
            toleration_seconds: toleration.toleration_seconds,
        }
    }
}

/// Reads `null` as the default, as Go does.
fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    //! The expected bytes were written by `k8s.io/api` and `k8s.io/apimachinery` v0.36.3: `Marshal()` of each object.

    use prost::Message as _;
    use serde_json::json;

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_quantity_has_the_bytes_that_kubernetes_writes() {
        for (text, bytes) in [
            ("0", "0a0130"),
            ("1", "0a0131"),
            ("250m", "0a043235306d"),
            ("1Gi", "0a03314769"),
            ("1536Mi", "0a06313533364d69"),
            ("1.5Gi", "0a06313533364d69"),
            ("0.5", "0a043530306d"),
            ("12e6", "0a0431326536"),
            ("1000m", "0a0131"),
            ("100n", "0a043130306e"),
        ] {
            let quantity: api::Quantity = text.parse().expect("a quantity");
            assert_eq!(hex(&Quantity::from(quantity).encode_to_vec()), bytes, "{text}");
        }
    }

    #[test]
    fn a_node_selector_has_the_bytes_that_kubernetes_writes() {
        for (selector, bytes) in [
            (
                json!({"nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {"key": "zone", "operator": "In", "values": ["a", "b"]},
                            {"key": "gpu", "operator": "Exists", "values": null},
                        ],
                        "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}],
                    },
                    {},
                ]}),
                "0a3d0a100a047a6f6e651202496e1a01611a01620a0d0a036770751206457869737473121a0a0d6d657461646174612e6e61\
                 6d6512054e6f74496e1a026e310a00",
            ),
            (json!({}), ""),
        ] {
            let read: NodeSelector = serde_json::from_value(selector).expect("a node selector");
            assert_eq!(hex(&read.encode_to_vec()), bytes);
        }
    }

    #[test]
    fn a_toleration_has_the_bytes_that_kubernetes_writes() {
        for (toleration, bytes) in [
            (json!({}), "0a0012001a002200"),
            (
                json!({"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}),
                "0a096465646963617465641205457175616c1a03677075220a4e6f5363686564756c65",
            ),
            (
                json!({"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}),
                "0a0012064578697374731a0022094e6f4578656375746528ac02",
            ),
            (json!({"key": "k", "tolerationSeconds": 0}), "0a016b12001a0022002800"),
            (
                json!({"key": "k", "tolerationSeconds": -1}),
                "0a016b12001a00220028ffffffffffffffffff01",
            ),
        ] {
            let read: api::Toleration = serde_json::from_value(toleration).expect("a toleration");
            assert_eq!(hex(&Toleration::from(&read).encode_to_vec()), bytes);
        }
    }
}
