//! Bursts that `divvy run` decides as one plan: `[profile.jointly]`.

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

/// Ready bindings from which they are decided as one plan, if the profile does not say.
const WAITING: u32 = 20;
/// Bindings of one plan at most, if the profile does not say.
const AT_MOST: u32 = 200;
/// Bindings of one plan at most, whatever the profile says: the scheduler does nothing else meanwhile.
const LARGEST: u32 = 1_000;

/// Bursts: many bindings that are ready to be decided at the same time, and that `divvy run` decides as one plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct JointlyConfiguration {
    /// Bindings ready to be decided from which they are decided as one plan, from 2 to 1,000. 20 if absent.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 1000)))]
    pub waiting: Option<u32>,
    /// Bindings of one plan at most, from 2 to 1,000, the highest priorities first; the others follow in the next one. 200 if absent.
    /// Nothing else is decided while a plan is made.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 1000)))]
    pub at_most: Option<u32>,
}

impl JointlyConfiguration {
    /// These settings, with missing ones taken from `base`.
    pub(crate) fn over(self, base: Self) -> Self {
        Self {
            waiting: self.waiting.or(base.waiting),
            at_most: self.at_most.or(base.at_most),
        }
    }

    /// Bindings ready to be decided from which they are decided as one plan.
    pub fn waiting(&self) -> usize {
        self.waiting.unwrap_or(WAITING) as usize
    }

    /// Bindings of one plan at most.
    pub fn at_most(&self) -> usize {
        self.at_most.unwrap_or(AT_MOST) as usize
    }
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let count = i64::deserialize(deserializer)?;
    let known = u32::try_from(count).ok().filter(|count| (2..=LARGEST).contains(count));
    let expected = &"a number of bindings from 2 to 1000";
    known
        .map(Some)
        .ok_or_else(|| D::Error::invalid_value(Unexpected::Signed(count), expected))
}
