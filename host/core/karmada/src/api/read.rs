//! Reading objects from JSON.
//!
//! The code that serde derives is generic over the parser, so each crate that parsed an object itself would compile all of its
//! types again. These functions are compiled here, once.

use std::collections::{BTreeMap, btree_map};

use divvy_spanned::Strict;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Error};

use super::{
    Cluster, ClusterSpec, ClusterStatus, FederatedResourceQuota, OverridePolicy, Placement, PropagationPolicy,
    PropagationSpec, ResourceBinding, ResourceBindingSpec, ResourceBindingStatus,
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

/// A type that is read from the fields of a JSON object, each as text.
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
    ReadJson: from_json, &str, divvy_spanned::from_json,
    Cluster ClusterSpec ClusterStatus FederatedResourceQuota OverridePolicy Placement PropagationPolicy PropagationSpec ResourceBinding ResourceBindingStatus
}

// Types that a watch reads field by field.
read! {
    ReadFields: from_fields, BTreeMap<String, &RawValue>, from_fields,
    ResourceBindingSpec ResourceBindingStatus
}

fn from_fields<T: DeserializeOwned>(fields: BTreeMap<String, &RawValue>) -> Result<T, Error> {
    T::deserialize(MapAccessDeserializer::new(Fields {
        left: fields.into_iter(),
        value: None,
    }))
}

/// Fields as serde reads them: each value with the parser of [`ReadJson`], so that its type is not compiled again for another parser.
struct Fields<'a> {
    left: btree_map::IntoIter<String, &'a RawValue>,
    /// Value of the key that was read last.
    value: Option<&'a RawValue>,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((name, value)) = self.left.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(name.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        // serde asks for a value only after its key.
        let text = self.value.take().map_or("null", RawValue::get);
        seed.deserialize(Strict(&mut Deserializer::from_str(text)))
    }
}
