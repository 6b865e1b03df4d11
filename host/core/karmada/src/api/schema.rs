//! JSON Schemas of the types that serde does not derive, for the feature `schema`.
//!
//! A word is described by its type alone: Karmada restricts some words to an enumeration and leaves others open, and a reader
//! here accepts them all. The words that are known are listed under [`KNOWN_WORDS`].

use std::borrow::Cow;

use divvy_framework_view::words;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::words::Word;
use super::{
    ClusterAffinity, ClusterPreference, ClusterPreferences, OverflowClusterAffinity, Quantity,
    ReplicaSchedulingStrategy, ReplicaSchedulingType, Timestamp,
};

/// The keyword that lists the known words of a string. No validator knows it.
const KNOWN_WORDS: &str = "x-known-words";

impl JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["integer", "string"]})
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

impl<E: words::Word> JsonSchema for Word<E> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Word".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = json_schema!({"type": "string"});
        schema.insert(KNOWN_WORDS.to_owned(), Self::KNOWN.into());
        schema
    }
}

/// A schema of an affinity with further properties beside its own.
fn affinity_with(generator: &mut SchemaGenerator, further: impl IntoIterator<Item = (&'static str, Schema)>) -> Schema {
    let mut schema = ClusterAffinity::json_schema(generator);
    if let Some(properties) = schema.get_mut("properties").and_then(|value| value.as_object_mut()) {
        for (name, property) in further {
            properties.insert(name.to_owned(), property.to_value());
        }
    }
    schema
}

impl JsonSchema for OverflowClusterAffinity {
    fn schema_name() -> Cow<'static, str> {
        "OverflowClusterAffinity".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = generator.subschema_for::<String>();
        affinity_with(generator, [("affinityName", name)])
    }
}

/// Describes Karmada's fields; any other key is open.
impl JsonSchema for ReplicaSchedulingStrategy {
    fn schema_name() -> Cow<'static, str> {
        "ReplicaSchedulingStrategy".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "replicaSchedulingType": generator.subschema_for::<Word<ReplicaSchedulingType>>(),
                "replicaDivisionPreference": {"type": "string"},
                "extendReplicaDivisionPreference": {"type": "string"},
                ClusterPreferences::KEY: generator.subschema_for::<ClusterPreferences>(),
            },
            "additionalProperties": true,
        })
    }
}

/// Describes Karmada's fields; any other key is open.
impl JsonSchema for ClusterPreference {
    fn schema_name() -> Cow<'static, str> {
        "ClusterPreference".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "targetCluster": generator.subschema_for::<ClusterAffinity>(),
                "weight": {"type": "integer", "format": "int64"},
            },
            "additionalProperties": true,
        })
    }
}
