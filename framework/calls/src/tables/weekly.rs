//! Hours that recur on days of the week, as a table's file has them: `Mon-Fri 22:00-06:00 Europe/Berlin`.
//!
//! The zone is looked up by the caller, because only hosts have a time zone database.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use divvy_framework_abi::row::{OffsetRow, WeeklyRow};
use divvy_framework_abi::text::Span;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MINUTES: u32 = 24 * 60;

/// A time zone: its offsets from UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZone {
    name: Box<str>,
    offsets: Box<[OffsetRow]>,
}

/// Hours that recur on days of the week.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WeeklyHours {
    days: u32,
    start: u32,
    end: u32,
    zone: Arc<TimeZone>,
}

/// Reason why a text is not hours of a week.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WeeklyFault {
    /// It does not consist of days, hours and a zone.
    #[error("days, hours and a time zone, such as `Mon-Fri 22:00-06:00 Europe/Berlin`")]
    Form,
    /// Its days are wrong.
    #[error("days of the week, such as `Mon-Fri` or `Sat,Sun`, instead of `{day}`")]
    Days {
        /// The part that is not a day.
        day: String,
    },
    /// Its hours are wrong.
    #[error("hours from `00:00` to `24:00`, such as `22:00-06:00`")]
    Hours,
    /// It begins and ends at the same time.
    #[error("hours that end at another time than they begin; a whole day is `00:00-24:00`")]
    NoHours,
    /// Its zone is unknown.
    #[error("a time zone of the IANA database, such as `Europe/Berlin` or `UTC`")]
    UnknownZone {
        /// The zone.
        zone: String,
    },
}

impl Hash for TimeZone {
    /// By its name: its hundreds of offsets would take longer and tell no more zones apart.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl TimeZone {
    /// A zone by its changes, ascending. The first offset counts from the beginning of time; none means UTC.
    pub fn new(name: &str, offsets: impl Into<Box<[OffsetRow]>>) -> Self {
        Self {
            name: name.into(),
            offsets: offsets.into(),
        }
    }

    /// A zone whose clocks never change.
    pub fn fixed(name: &str, seconds: i64) -> Self {
        Self::new(
            name,
            [OffsetRow {
                from: i64::MIN,
                seconds,
            }],
        )
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its changes.
    pub fn offsets(&self) -> &[OffsetRow] {
        &self.offsets
    }
}

impl WeeklyHours {
    /// Reads a text. `zone` looks up a time zone.
    ///
    /// # Errors
    ///
    /// A [`WeeklyFault`], whose text says what was expected.
    pub fn parse(text: &str, zone: impl FnOnce(&str) -> Option<Arc<TimeZone>>) -> Result<Self, WeeklyFault> {
        let mut parts = text.split_ascii_whitespace();
        let (Some(days), Some(hours), Some(name), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(WeeklyFault::Form);
        };
        let days = parse_days(days).map_err(|day| WeeklyFault::Days { day: day.to_owned() })?;
        let (start, end) = hours.split_once('-').ok_or(WeeklyFault::Hours)?;
        let (start, end) = (
            minutes(start).ok_or(WeeklyFault::Hours)?,
            minutes(end).ok_or(WeeklyFault::Hours)?,
        );
        if start == MINUTES {
            return Err(WeeklyFault::Hours);
        }
        if start == end {
            return Err(WeeklyFault::NoHours);
        }
        let zone = zone(name).ok_or_else(|| WeeklyFault::UnknownZone { zone: name.to_owned() })?;
        Ok(Self {
            days,
            start,
            // Hours that end before they begin end on the next day.
            end: if end < start { end + MINUTES } else { end },
            zone,
        })
    }

    /// The zone.
    pub fn zone(&self) -> &Arc<TimeZone> {
        &self.zone
    }

    /// The row that crosses the boundary, beside the zone's offsets.
    pub fn row(&self, offsets: Span) -> WeeklyRow {
        WeeklyRow {
            days: self.days,
            start: self.start,
            end: self.end,
            reserved: 0,
            offsets,
        }
    }
}

/// Days as bits, Monday first: `Mon`, `Mon-Fri`, `Sat,Sun`, `Fri-Mon`.
fn parse_days(text: &str) -> Result<u32, &str> {
    let day = |text| DAYS.iter().position(|day| *day == text);
    let mut days = 0;
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Some(first), Some(last)) = (day(first), day(last)) else {
            return Err(part);
        };
        let count = (last + 7 - first) % 7;
        for number in 0..=count {
            days |= 1 << ((first + number) % 7);
        }
    }
    Ok(days)
}

/// Minutes of the day: `06:30`.
fn minutes(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |text: &str| {
        let is_valid = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_valid.then(|| text.parse::<u32>().ok())?
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let total = hours * 60 + minutes;
    (minutes < 60 && total <= MINUTES).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(u32, u32, u32), WeeklyFault> {
        let zone = |name: &str| (name == "UTC").then(|| Arc::new(TimeZone::fixed(name, 0)));
        WeeklyHours::parse(text, zone).map(|hours| (hours.days, hours.start, hours.end))
    }

    #[test]
    fn days_and_hours_are_read() {
        for (text, expected) in [
            ("Mon 00:00-24:00 UTC", (0b1, 0, 1440)),
            ("Mon-Fri 22:00-06:00 UTC", (0b1_1111, 1320, 1800)),
            ("  Sat,Sun   08:30-08:29  UTC ", (0b110_0000, 510, 509 + 1440)),
            ("Fri-Mon 01:00-02:00 UTC", (0b111_0001, 60, 120)),
            ("Mon-Sun 00:00-00:01 UTC", (0b111_1111, 0, 1)),
            ("Wed-Wed,Mon 23:59-00:00 UTC", (0b101, 1439, 1440)),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn every_fault_says_what_was_expected() {
        let day = |day: &str| WeeklyFault::Days { day: day.to_owned() };
        for (text, expected) in [
            ("", WeeklyFault::Form),
            ("Mon 01:00-02:00", WeeklyFault::Form),
            ("Mon 01:00 - 02:00 UTC", WeeklyFault::Form),
            ("Monday 01:00-02:00 UTC", day("Monday")),
            ("Mon,mon-Fri 01:00-02:00 UTC", day("mon-Fri")),
            ("Mon, 01:00-02:00 UTC", day("")),
            ("Mon 1:00-02:00 UTC", WeeklyFault::Hours),
            ("Mon 01:60-02:00 UTC", WeeklyFault::Hours),
            ("Mon 01:00-24:01 UTC", WeeklyFault::Hours),
            ("Mon 24:00-02:00 UTC", WeeklyFault::Hours),
            ("Mon 01:00 UTC", WeeklyFault::Hours),
            ("Mon +1:00-02:00 UTC", WeeklyFault::Hours),
            ("Mon 01:00-01:00 UTC", WeeklyFault::NoHours),
            (
                "Mon 01:00-02:00 Europe/Atlantis",
                WeeklyFault::UnknownZone {
                    zone: "Europe/Atlantis".to_owned(),
                },
            ),
        ] {
            assert_eq!(parse(text), Err(expected), "{text}");
        }
    }
}
