//! Time limits as profiles write them.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::duration::{deserialize_within, schema_of_text};

/// Description of the valid values.
const EXPECTED: &str = "a duration from 1 ms to 1 h, such as \"500ms\" or \"2s\"";

/// Time that a call may take, from a millisecond to an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline(Duration);

impl Deadline {
    /// The time.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}ms", self.0.as_millis())
    }
}

impl Serialize for Deadline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Deadline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let allowed = Duration::from_millis(1)..=Duration::from_secs(3600);
        deserialize_within(deserializer, allowed, EXPECTED).map(Self)
    }
}

schema_of_text!(Deadline);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_durations_within_bounds() {
        let read = |text: &str| serde_json::from_value::<Deadline>(text.into());
        for (text, milliseconds) in [
            ("1ms", 1),
            ("500ms", 500),
            ("2s", 2_000),
            ("1m 30s", 90_000),
            ("1h", 3_600_000),
        ] {
            let deadline = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(deadline.duration(), Duration::from_millis(milliseconds), "{text}");
            assert_eq!(read(&deadline.to_string()).ok(), Some(deadline), "{text}");
        }
        for text in ["", "5", "0s", "-1s", "61m", "soon", "999999999999h"] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains("a duration from 1 ms to 1 h"), "{error}");
        }
    }
}
