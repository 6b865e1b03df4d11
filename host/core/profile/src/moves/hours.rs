//! Hours of the week in which moves may be made, and durations of moves.

use std::fmt;
use std::time::Duration;

use divvy_framework_abi::row::{OffsetRow, WeeklyRow};
use divvy_framework_abi::text::Span;
use divvy_framework_calls::tables::WeeklyHours;
use divvy_framework_view::weekly::Weekly;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::duration::{deserialize_within, schema_of_text};
use crate::table::Zones;

/// The longest duration: four weeks.
const LONGEST: Duration = Duration::from_secs(28 * 24 * 3600);

/// Description of the valid durations.
const DURATION: &str = "a duration from 0s to 4 weeks, such as \"10m\" or \"1h\"";

/// Hours that recur on days of the week, such as `Mon-Fri 22:00-06:00 Europe/Berlin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveHours {
    text: String,
    hours: WeeklyHours,
}

/// A duration of moves, up to four weeks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MoveDuration(Duration);

impl MoveHours {
    /// True if the hours include a point in time, in milliseconds since 1970.
    pub fn contain(&self, milliseconds: i64) -> bool {
        let (row, offsets) = self.parts();
        Weekly::new(row, offsets).at(milliseconds).is_some()
    }

    /// The next time at which the hours begin, in milliseconds since 1970; `None` if there is none.
    pub fn begin_after(&self, milliseconds: i64) -> Option<i64> {
        let (row, offsets) = self.parts();
        Weekly::new(row, offsets)
            .after(milliseconds)
            .map(|period| period.begins)
    }

    fn parts(&self) -> (WeeklyRow, &[OffsetRow]) {
        let offsets = self.hours.zone().offsets();
        let span = Span {
            start: 0,
            length: u32::try_from(offsets.len()).unwrap_or(u32::MAX),
        };
        (self.hours.row(span), offsets)
    }
}

impl MoveDuration {
    /// The duration in milliseconds.
    pub fn milliseconds(self) -> i64 {
        i64::try_from(self.0.as_millis()).unwrap_or(i64::MAX)
    }
}

impl fmt::Display for MoveHours {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Display for MoveDuration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}ms", self.0.as_millis())
    }
}

impl Serialize for MoveHours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl Serialize for MoveDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MoveHours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut zones = Zones::default();
        match WeeklyHours::parse(&text, |name| zones.offsets(name)) {
            Ok(hours) => Ok(Self { text, hours }),
            Err(fault) => Err(D::Error::invalid_value(
                Unexpected::Str(&text),
                &fault.to_string().as_str(),
            )),
        }
    }
}

impl<'de> Deserialize<'de> for MoveDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_within(deserializer, Duration::ZERO..=LONGEST, DURATION).map(Self)
    }
}

schema_of_text!(MoveHours, MoveDuration);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_those_of_their_zone() {
        let hours: MoveHours = serde_json::from_value("Mon-Fri 22:00-06:00 Europe/Berlin".into()).unwrap();
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_millisecond();
        // A Thursday in winter, one hour ahead of UTC.
        assert!(!hours.contain(at("2026-11-26T20:59:59Z")));
        assert!(hours.contain(at("2026-11-26T21:00:00Z")));
        assert!(hours.contain(at("2026-11-28T04:59:59Z")));
        assert!(!hours.contain(at("2026-11-28T05:00:00Z")));
        assert_eq!(
            hours.begin_after(at("2026-11-28T05:00:00Z")),
            Some(at("2026-11-30T21:00:00Z"))
        );
        assert_eq!(
            serde_json::to_value(&hours).unwrap(),
            "Mon-Fri 22:00-06:00 Europe/Berlin"
        );
    }

    #[test]
    fn invalid_hours_and_durations_are_refused_with_what_was_expected() {
        for (text, expected) in [
            ("22:00-06:00", "days, hours and a time zone"),
            ("Mon 22:00-06:00 Europe/Atlantis", "a time zone of the IANA database"),
            ("Monday 22:00-06:00 UTC", "instead of `Monday`"),
        ] {
            let error = serde_json::from_value::<MoveHours>(text.into())
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected) && error.contains(text), "{error}");
        }
        for text in ["", "-1s", "29d", "700h", "ten minutes"] {
            let error = serde_json::from_value::<MoveDuration>(text.into())
                .unwrap_err()
                .to_string();
            assert!(error.contains(DURATION), "{text}: {error}");
        }
        let read: MoveDuration = serde_json::from_value("10m".into()).unwrap();
        assert_eq!(read.milliseconds(), 600_000);
    }
}
