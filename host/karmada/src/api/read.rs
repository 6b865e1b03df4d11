//! Reading objects from JSON.
//!
//! The code that serde derives is generic over the parser, so each crate that parsed an object itself would compile all of its
//! types again. These functions are compiled here, once.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;
use serde_json::Error;
use serde_json::value::RawValue;

use super::{
    Cluster, ClusterSpec, ClusterStatus, Placement, PropagationPolicy, PropagationSpec, ResourceBinding,
    ResourceBindingSpec, ResourceBindingStatus,
};

/// A type that is read from JSON text.
pub trait ReadJson: Sized {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// An error of `serde_json` if the text is not JSON, if a field has another type, or if a struct is written as a list.
    fn from_json(text: &str) -> Result<Self, Error>;
}

/// A type that is read from the fields of a JSON object, of which each is a text.
pub trait ReadFields: Sized {
    /// Reads fields by their names.
    ///
    /// # Errors
    ///
    /// An error of `serde_json` if a field has another type.
    fn from_fields(fields: BTreeMap<String, &RawValue>) -> Result<Self, Error>;
}

macro_rules! read {
    ($trait:ident: $function:ident, $input:ty, $read:expr, $($name:ident)+) => {$(
        impl $trait for $name {
            fn $function(input: $input) -> Result<Self, Error> {
                $read(input)
            }
        }
    )+};
}

read! {
    ReadJson: from_json, &str, divvy_documents::from_json,
    Cluster ClusterSpec ClusterStatus Placement PropagationPolicy PropagationSpec ResourceBinding
}

// What a watch splits into fields first.
read! {
    ReadFields: from_fields, BTreeMap<String, &RawValue>, from_fields,
    ResourceBindingSpec ResourceBindingStatus
}

fn from_fields<T: DeserializeOwned>(fields: BTreeMap<String, &RawValue>) -> Result<T, Error> {
    T::deserialize(MapDeserializer::new(fields.into_iter()))
}
