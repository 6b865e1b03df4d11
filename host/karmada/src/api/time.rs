//! RFC 3339 timestamps, as Kubernetes writes them.
//!
//! A scheduler only compares them (was a reschedule requested after the last scheduling?) and counts their seconds, so
//! a calendar library would be a large dependency for thirty lines of arithmetic. A leap second is read as the last
//! second of its minute.

use std::fmt;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, in nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    nanoseconds: i128,
}

/// A text that is not an RFC 3339 timestamp.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a timestamp like `2026-01-02T15:04:05Z`, got `{text}`")]
pub struct TimestampError {
    /// The text, as it was given.
    pub text: String,
}

const NANOSECONDS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

impl Timestamp {
    /// The timestamp at a number of nanoseconds since 1970.
    pub fn from_nanoseconds(nanoseconds: i128) -> Self {
        Self { nanoseconds }
    }

    /// Nanoseconds since 1970.
    pub fn as_nanoseconds(self) -> i128 {
        self.nanoseconds
    }
}

/// Days from 1970-01-01 to a date in the proleptic Gregorian calendar.
fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March, so that the leap day is the last day of its year.
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day at a number of days since 1970-01-01.
fn date_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Number of days in a month.
fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Reads `length` digits at `start`; `None` if any is missing or not a digit.
fn digits(bytes: &[u8], start: usize, length: usize) -> Option<i64> {
    let field = bytes.get(start..start + length)?;
    field.iter().try_fold(0_i64, |sum, byte| {
        byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'))
    })
}

fn parse(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let (year, month, day) = (digits(bytes, 0, 4)?, digits(bytes, 5, 2)?, digits(bytes, 8, 2)?);
    let (hour, minute) = (digits(bytes, 11, 2)?, digits(bytes, 14, 2)?);
    let second = digits(bytes, 17, 2)?.min(59);
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let well_formed = separators
        .iter()
        .all(|(at, separator)| bytes.get(*at) == Some(separator))
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && digits(bytes, 17, 2)? <= 60;
    if !well_formed {
        return None;
    }

    let mut rest = bytes.get(19..)?;
    let mut fraction = 0_i128;
    if let Some((b'.', after)) = rest.split_first() {
        let length = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return None;
        }
        // Digits beyond the ninth are finer than a nanosecond and are dropped, as in Go.
        let significant = length.min(9);
        fraction = i128::from(digits(after, 0, significant)?);
        for _ in significant..9 {
            fraction *= 10;
        }
        rest = after.get(length..)?;
    }
    let offset_seconds = match rest {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (digits(rest, 1, 2)?, digits(rest, 4, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let offset = hours * 3_600 + minutes * 60;
            if *sign == b'-' { -offset } else { offset }
        }
        _ => return None,
    };
    let seconds =
        days_from_date(year, month, day) * SECONDS_PER_DAY + hour * 3_600 + minute * 60 + second - offset_seconds;
    Some(Timestamp {
        nanoseconds: i128::from(seconds) * NANOSECONDS_PER_SECOND + fraction,
    })
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        parse(text).ok_or_else(|| TimestampError { text: text.to_owned() })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Parsed timestamps always fit, because four-digit years are far below i64::MAX seconds.
        let seconds = i64::try_from(self.nanoseconds.div_euclid(NANOSECONDS_PER_SECOND)).map_err(|_| fmt::Error)?;
        let fraction = self.nanoseconds.rem_euclid(NANOSECONDS_PER_SECOND);
        let (year, month, day) = date_from_days(seconds.div_euclid(SECONDS_PER_DAY));
        let second_of_day = seconds.rem_euclid(SECONDS_PER_DAY);
        write!(
            formatter,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
            second_of_day / 3_600,
            second_of_day / 60 % 60,
            second_of_day % 60
        )?;
        if fraction != 0 {
            let digits = format!("{fraction:09}");
            write!(formatter, ".{}", digits.trim_end_matches('0'))?;
        }
        formatter.write_str("Z")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Timestamp;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a timestamp like `2026-01-02T15:04:05Z`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Timestamp, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}
