//! Reading objects from JSON.
//!
//! The code that serde derives is generic over the parser, so each crate that parsed an object itself would compile all of its
//! types again. These functions are compiled here, once.

use serde_json::{Error, Value};

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

/// A type that is read from a JSON value.
pub trait ReadValue: Sized {
    /// Reads a value.
    ///
    /// # Errors
    ///
    /// An error of `serde_json` if a field has another type.
    fn from_value(value: Value) -> Result<Self, Error>;
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
    Cluster Placement PropagationPolicy ResourceBinding
}

// What a watch parses as values first.
read! {
    ReadValue: from_value, Value, serde_json::from_value,
    ClusterSpec ClusterStatus PropagationSpec ResourceBindingSpec ResourceBindingStatus
}
