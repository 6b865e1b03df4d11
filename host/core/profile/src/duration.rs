//! Texts of a profile that become values of their own: durations within bounds, and the schema of such texts.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};

/// Reads a duration within bounds. `expected` describes the valid ones.
pub(crate) fn deserialize_within<'de, D: Deserializer<'de>>(
    deserializer: D,
    allowed: RangeInclusive<Duration>,
    expected: &str,
) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    let duration = SignedDuration::from_str(&text).ok();
    let duration = duration.and_then(|duration| Duration::try_from(duration).ok());
    let duration = duration.filter(|duration| allowed.contains(duration));
    duration.ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), &expected))
}

/// Implements `JsonSchema` for types that a profile writes as a text: that of any text, in place.
macro_rules! schema_of_text {
    ($($name:ident),+) => {$(
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                String::json_schema(generator)
            }
        }
    )+};
}
pub(crate) use schema_of_text;
