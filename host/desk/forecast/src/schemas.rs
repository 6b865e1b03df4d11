//! The JSON Schemas of all documents.

use crate::cluster_view::ClusterViewsDocument;
use crate::document::{Document, FailuresDocument};
use crate::headroom::document::HeadroomDocument;
use crate::policies::document::PoliciesDocument;
use crate::rebalance::document::RebalanceDocument;
use crate::survive::document::SurviveDocument;

/// JSON Schemas of the documents that `divvy diff`, `headroom`, `policies`, `rebalance` and `survive` write, by the name of their file.
pub fn schemas() -> [(&'static str, serde_json::Value); 7] {
    // Schemas of the serialised form, in which fields that are left out when empty are not required.
    let generator = || {
        schemars::generate::SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator()
    };
    [
        ("diff.json", generator().into_root_schema_for::<Document>().to_value()),
        (
            "without-each.json",
            generator().into_root_schema_for::<FailuresDocument>().to_value(),
        ),
        (
            "clusters.json",
            generator().into_root_schema_for::<ClusterViewsDocument>().to_value(),
        ),
        (
            "headroom.json",
            generator().into_root_schema_for::<HeadroomDocument>().to_value(),
        ),
        (
            "policies.json",
            generator().into_root_schema_for::<PoliciesDocument>().to_value(),
        ),
        (
            "rebalance.json",
            generator().into_root_schema_for::<RebalanceDocument>().to_value(),
        ),
        (
            "survive.json",
            generator().into_root_schema_for::<SurviveDocument>().to_value(),
        ),
    ]
}
