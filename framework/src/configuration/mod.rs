//! Typed configuration and preferences: serde underneath, with errors that say where and what.
//!
//! A plugin names a type for its configuration (a table of the profile) and one for its preferences (JSON that a policy
//! carries) and derives [`Configuration`] or [`Preferences`] on it. The same definition gives the JSON Schema that the
//! plugin's metadata shows and the reader that refuses unknown keys. Reading never panics, whatever the input.
//!
//! Keys of a configuration are `kebab-case`, as in the rest of a profile, keys of preferences `camelCase`, as in
//! every Kubernetes object; variants of an enum without fields are `kebab-case` in both.

pub use divvy_documents::{ValueError, read_value};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// Configuration of a plugin: any type with `#[derive(Configuration)]`.
///
/// ```
/// use divvy_framework::prelude::*;
///
/// /// How the rounding is done.
/// #[derive(Debug, Default, PartialEq, Configuration)]
/// #[serde(default)]
/// struct Rounding {
///     /// Decimal places to keep.
///     places: u32,
/// }
///
/// let given = serde_json::json!({ "places": 2 });
/// assert_eq!(Rounding::read(&given).unwrap(), Rounding { places: 2 });
///
/// let error = Rounding::read(&serde_json::json!({ "plaices": 2 })).unwrap_err();
/// assert_eq!(error.to_string(), "unknown key `plaices`");
/// assert_eq!(error.hint().unwrap(), "did you mean `places`?");
/// ```
pub trait Configuration: Sized {
    /// Reads the type from a JSON value.
    ///
    /// # Errors
    ///
    /// A [`ValueError`] with the path of the first key or value that does not fit.
    fn read(value: &serde_json::Value) -> Result<Self, ValueError>;

    /// The JSON Schema of the type, as JSON text.
    fn schema() -> String;
}

impl<T: DeserializeOwned + JsonSchema> Configuration for T {
    fn read(value: &serde_json::Value) -> Result<Self, ValueError> {
        read_value(value)
    }

    fn schema() -> String {
        schemars::schema_for!(T).as_value().to_string()
    }
}

/// Preferences that a policy states for a strategy in free form: any type with `#[derive(Preferences)]`.
///
/// It is [`Configuration`] under the name that fits its use.
pub trait Preferences: Configuration {}

impl<T: Configuration> Preferences for T {}

/// The configuration of a plugin that has none: an empty table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoConfiguration {}

/// The preferences of a plugin that reads none: anything but an empty object is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoPreferences {}

#[cfg(test)]
mod tests;
