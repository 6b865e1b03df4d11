//! Reading objects from JSON.
//!
//! The code that serde derives is generic over the parser, so each crate that parsed an object itself would compile all of its
//! types again. These functions are compiled here, once.

use serde_json::{Error, Value};

use super::{
    ClusterSpec, ClusterStatus, Placement, PropagationSpec, ResourceBinding, ResourceBindingSpec, ResourceBindingStatus,
};

/// A type that is read from JSON.
pub trait ReadJson: Sized {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// An error of `serde_json` if the text is not JSON, or if a field has another type.
    fn from_json(text: &str) -> Result<Self, Error>;

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// As [`Self::from_json`].
    fn from_value(value: Value) -> Result<Self, Error>;
}

macro_rules! read_json {
    ($($name:ident)+) => {$(
        impl ReadJson for $name {
            fn from_json(text: &str) -> Result<Self, Error> {
                serde_json::from_str(text)
            }

            fn from_value(value: Value) -> Result<Self, Error> {
                serde_json::from_value(value)
            }
        }
    )+};
}

read_json! {
    ClusterSpec ClusterStatus Placement PropagationSpec ResourceBinding ResourceBindingSpec ResourceBindingStatus
}
