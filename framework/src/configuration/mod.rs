//! Typed configuration and preferences, based on serde, with errors that name the location and the problem.
//!
//! A plugin declares a type for its configuration (a table of the profile) and one for its preferences (JSON that a
//! policy carries), and derives [`Configuration`] or [`Preferences`] on it. The definition gives both the JSON Schema
//! in the plugin's metadata and the reader, which rejects unknown keys. Reading never panics, regardless of the input.
//!
//! Configuration keys are `kebab-case`, as in the rest of a profile; preference keys are `camelCase`, as in every
//! Kubernetes object. Enum variants without fields are `kebab-case` in both.
//!
//! `#[schemars(range(min = 1, max = 9))]` on a field with a number, and `#[schemars(length(min = 1))]` on one with a text or a list, show in
//! the schema and are enforced when the value is read, also if the field is an `Option`.

pub(crate) mod bounds;
mod readable;
mod target;

pub use divvy_spanned::names::nearest;
pub use divvy_spanned::{ValueError, read_value};
pub use readable::Readable;
pub use target::{
    ClusterMatch, ClusterTarget, Field, FieldOperator, FieldRequirement, FieldSelector, LabelOperator,
    LabelRequirement, LabelSelector,
};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// A plugin's configuration: any type with `#[derive(Configuration)]`.
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of a configuration",
    label = "this type cannot be read from a profile or a policy",
    note = "write `#[derive(Configuration)]` above the definition of `{Self}`, or `#[derive(Preferences)]` if a policy carries it"
)]
pub trait Configuration: Sized {
    /// Reads the type from a JSON value.
    ///
    /// # Errors
    ///
    /// A [`ValueError`] with the path of the first unexpected key or value. The host rejects the profile and reports
    /// key and line.
    fn read(value: &serde_json::Value) -> Result<Self, ValueError>;

    /// The JSON Schema of the type, as JSON text.
    fn schema() -> String;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Configuration for T {
    fn read(value: &serde_json::Value) -> Result<Self, ValueError> {
        read_value(value)
    }

    fn schema() -> String {
        schemars::schema_for!(T).as_value().to_string()
    }
}

/// Free-form preferences that a policy carries for a strategy: any type with `#[derive(Preferences)]`.
///
/// This is [`Configuration`] under the name that fits its use. If preferences cannot be read, the host reports an
/// `Error` in the policy, and the binding keeps its last result.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the type of preferences",
    label = "this type cannot be read from a policy",
    note = "write `#[derive(Preferences)]` above the definition of `{Self}`"
)]
pub trait Preferences: Configuration {}

#[diagnostic::do_not_recommend]
impl<T: Configuration> Preferences for T {}

/// The configuration of a plugin without settings: an empty table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoConfiguration {}

impl Readable for NoConfiguration {
    type Itself = Self;
}

/// The preferences of a plugin that reads none: the host rejects anything but an empty object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoPreferences {}

impl Readable for NoPreferences {
    type Itself = Self;
}

#[cfg(test)]
mod tests;
